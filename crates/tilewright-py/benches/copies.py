"""How fast strided copies are next to those of torch and NumPy, in one run, by turns.

    python crates/tilewright-py/benches/copies.py         # in an environment with the wheel and torch
    python crates/tilewright-py/benches/copies.py --small # calls and what ``accelerate`` costs alone

Each row is one copy, out of cache: the median of rounds in which every library has its turn. GB/s counts bytes read and
bytes written. Sources and destinations are each library's own.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import tilewright as tw
import tilewright.torch as ours

ROUNDS = 7


def taken(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def turns(works: dict[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """The median time of each, in seconds; each has its turn in every round."""
    for work in works.values():
        work()
    times = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(taken(work))
    return {name: statistics.median(some) for name, some in times.items()}


def filled(shape: tuple[int, ...], dtype: Any) -> Any:
    """A tensor of any bytes."""
    size = torch.empty(0, dtype=dtype).element_size()
    raw = torch.randint(0, 100, (*shape[:-1], shape[-1] * size), dtype=torch.uint8)
    return raw.view(dtype)


CASES: list[tuple[str, tuple[int, ...], Any, tuple[int, ...]]] = [
    ("fp8 slab, last dims transposed", (16, 5120, 4096), torch.float8_e4m3fn, (0, 2, 1)),
    ("bf16 transpose", (8192, 8192), torch.bfloat16, (1, 0)),
    ("bf16 transpose, odd", (8191, 8193), torch.bfloat16, (1, 0)),
    ("f32 transpose", (8192, 4096), torch.float32, (1, 0)),
    ("f32 transpose, odd", (8191, 4097), torch.float32, (1, 0)),
    ("u8 transpose", (8192, 8192), torch.uint8, (1, 0)),
    ("f64 transpose", (4096, 4096), torch.float64, (1, 0)),
    ("f32 NHWC to NCHW", (32, 112, 112, 64), torch.float32, (0, 3, 1, 2)),
    ("f32 NCHW to NHWC", (32, 64, 112, 112), torch.float32, (0, 2, 3, 1)),
    ("bf16 NHWC to NCHW, 3 channels", (64, 448, 448, 3), torch.bfloat16, (0, 3, 1, 2)),
    ("f32 heads, 0 2 1 3", (8, 2048, 32, 128), torch.float32, (0, 2, 1, 3)),
    ("f32 plain, dense", (8192, 8192), torch.float32, (0, 1)),
]


def large(threads: int) -> None:
    torch.set_num_threads(threads)
    print(f"\n{threads} threads; ms (GB/s), and how many times ours is faster\n")
    print("| copy | ours | torch | NumPy | to torch | to NumPy |\n|---|---|---|---|---|---|")
    for name, shape, dtype, order in CASES:
        source = filled(shape, dtype).permute(order)
        out, theirs = (torch.empty(source.shape, dtype=dtype) for _ in range(2))
        words = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[source.element_size()]
        array, target = source.view(words).numpy(), out.clone().view(words).numpy()
        works: dict[str, Callable[[], object]] = {
            "ours": lambda: tw.copy_(out, source, threads=threads),
            "torch": lambda: theirs.copy_(source),
            "numpy": lambda: np.copyto(target, array),
        }
        times = turns(works, 3 if name.startswith("fp8") else ROUNDS)
        assert torch.equal(out.view(words), theirs.view(words)) and (target == theirs.view(words).numpy()).all()
        moved = 2 * source.numel() * source.element_size()
        cells = [f"{1e3 * one:.1f} ({moved / one / 1e9:.2f})" for one in times.values()]
        ratios = [f"{times[other] / times['ours']:.2f}" for other in ["torch", "numpy"]]
        print("|", " | ".join([name, *cells, *ratios]), "|", flush=True)
    # Rows that strides set apart: plain runs.
    source = filled((8192, 8192), torch.float32)[:, :4096]
    out, theirs = (torch.empty(source.shape) for _ in range(2))
    works = {"ours": lambda: tw.copy_(out, source, threads=threads), "torch": lambda: theirs.copy_(source)}
    times = turns({**works, "numpy": lambda: np.copyto(theirs.numpy(), source.numpy())})
    moved = 2 * source.numel() * source.element_size()
    cells = [f"{1e3 * one:.1f} ({moved / one / 1e9:.2f})" for one in times.values()]
    ratios = [f"{times[other] / times['ours']:.2f}" for other in ["torch", "numpy"]]
    print("|", " | ".join(["f32 plain runs, every second half row", *cells, *ratios]), "|", flush=True)


def each(works: dict[str, Callable[[], object]], count: int = 20_000) -> dict[str, float]:
    """The time of one call in microseconds."""

    def many(work: Callable[[], object]) -> Callable[[], object]:
        return lambda: [work() for _ in range(count)]

    return {name: 1e6 * one / count for name, one in turns({n: many(w) for n, w in works.items()}, 9).items()}


def small() -> None:
    torch.set_num_threads(1)
    source, out = torch.rand(16, 16).t(), torch.empty(16, 16)
    array, target = source.numpy(), np.empty((16, 16), np.float32)
    works: dict[str, Callable[[], object]] = {
        "tw.copy_ of tensors": lambda: tw.copy_(out, source),
        "torch's copy_": lambda: out.copy_(source),
        "tw.copy_ of arrays": lambda: tw.copy_(target, array),
        "NumPy's copyto": lambda: np.copyto(target, array),
    }
    for name, one in each(works).items():
        print(f"1 kB transposed, {name}: {one:.2f} us")
    for name, work in {
        "copy_ of 1 kB": lambda: out.copy_(source),
        "a sum of 1 kB": lambda: torch.add(out, out),
        "a view": lambda: out.t(),
    }.items():
        plain = each({"plain": work})["plain"]
        with ours.accelerate():
            inside = each({"plain": work})["plain"]
        print(f"{name}: {plain:.2f} us, under accelerate {inside:.2f} us")
    for side in [32, 64, 96, 128, 192, 256, 512]:
        source, out = torch.rand(side, side).t(), torch.empty(side, side)
        with ours.accelerate(least=1):
            inside = each({"plain": lambda: out.copy_(source)}, 1000)["plain"]
        plain = each({"plain": lambda: out.copy_(source)}, 1000)["plain"]
        print(f"f32[{side},{side}] transposed, {4 * side * side} bytes: torch {plain:.2f} us, accelerated {inside:.2f} us")


if __name__ == "__main__":
    small()
    if "--small" not in sys.argv:
        for threads in [1, 2]:
            large(threads)
