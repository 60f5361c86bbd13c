"""How fast the package is next to the Rust call, and what a call costs.

    cargo run --release -p tilewright --example large     # the Rust call, same array and layouts
    python crates/tilewright-py/benches/speed.py         # in an environment with the wheel
"""

import sys
import time
from collections.abc import Callable

import numpy as np

import tilewright as tw


def best(work: Callable[[], object], rounds: int) -> float:
    """The shortest of some rounds, in seconds."""
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken)


def each(work: Callable[[], object], count: int = 20_000) -> float:
    """The time of one call in microseconds, the best of five rounds."""

    def many() -> None:
        for _ in range(count):
            work()

    return best(many, 5) / count * 1e6


def large(threads: int) -> None:
    side = 8192 * 2
    # Begins on a cache line, as torch's tensors do and NumPy's arrays seldom.
    array = tw.relayout(np.arange(side * side // 2, dtype=np.float32).reshape(side, side // 2), to="row-major")
    for to in ["col-major", "(m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0"]:
        plan = tw.Plan.of(array, to=to)
        # A result begins on a cache line; an array of NumPy's own does not, and takes several times as long.
        out = plan.run(array, threads=threads)
        seconds = best(lambda: plan.run(array, out, threads=threads), 7)
        print(f"512 MiB f32 {array.shape} to {to}, {threads} threads: {seconds * 1e3:.1f} ms")


def small() -> None:
    array = np.arange(256, dtype=np.float32).reshape(16, 16)
    plan, out = tw.Plan.of(array, to="col-major"), np.empty((16, 16), np.float32)
    print(f"1 kB, Plan.run(src, out): {each(lambda: plan.run(array, out)):.2f} us")
    print(f"1 kB, Plan.run(src): {each(lambda: plan.run(array)):.2f} us")
    print(f"1 kB, relayout(src, to=…, out=out): {each(lambda: tw.relayout(array, to='col-major', out=out)):.2f} us")
    print(f"1 kB, relayout(src, to=…): {each(lambda: tw.relayout(array, to='col-major')):.2f} us")
    print(f"1 kB, numpy's copyto(out, src.T): {each(lambda: np.copyto(out, array.T)):.2f} us")


if __name__ == "__main__":
    small()
    if "--small" not in sys.argv:
        large(1)
        large(2)
