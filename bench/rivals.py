"""Measures and checks NumPy, torch and jax on the cases of bench/definitions, in turns with memcpy over the same bytes.

    python bench/rivals.py CASES.json OUT.json --threads N [--quick]

as `cargo xtask bench --rivals` runs it. CASES.json is what `tilewright bench --list --json` prints. A case
is a few boxes with strides on both sides: NumPy and torch copy between strided views of two buffers that are
kept, which spares them the temporaries of reshape, transpose and pad; jax transposes, into an output of its
own, cases of one dense box. A library skips cases that it cannot express.

    python bench/rivals.py --program TILEWRIGHT --random N --seed S --threads N [--quick] [--max-bytes 512M]

as `cargo xtask bench --rivals --random N` runs it, compares NumPy and torch with the program on random cases,
in buffers at the same offsets: the program, a library and the program again, case by case, so that the three
are seconds apart. The result is the library's time over the mean of the program's two; with one thread
processor time. Where the program is
behind by more than 5 %, all is measured again, and only that counts. Without --quick the bytes that come
out are compared by their checksum.
"""

import argparse
import concurrent.futures
import ctypes
import json
import math
import os
import statistics
import subprocess
import time

BEHIND = 0.95
SPARE = 4096
GOLDEN = 0x9E3779B97F4A7C15
STALE = 0
LEAST_SECONDS = 1e-3


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="?")
    parser.add_argument("out", nargs="?")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--program")
    parser.add_argument("--random")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--max-bytes", default="512M")
    asked = parser.parse_args()
    wants = (asked.program, asked.random) if asked.program or asked.random else (asked.cases, asked.out)
    if None in wants:
        parser.error("give CASES.json and OUT.json, or --program and --random")
    return asked


ASKED = arguments()
if ASKED.threads == 1 and hasattr(os, "sched_setaffinity"):
    # Before any library counts the cores: some cannot be told later.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

# Random cases with one thread: processor time, which other work on the machine does not disturb.
CLOCK = time.process_time if ASKED.random and ASKED.threads == 1 else time.perf_counter

import numpy as np  # noqa: E402  (after the cores are chosen)

np.seterr(over="ignore")


def mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def parts(words, part=1 << 20):
    for first in range(0, words, part):
        last = min(words, first + part)
        yield first, last, np.arange(first + 1, last + 1, dtype=np.uint64) * np.uint64(GOLDEN)


def fill(words):
    for first, last, steps in parts(len(words)):
        words[first:last] = mix(steps)


def checksum(data):
    whole = np.zeros(-(-len(data) // 8) * 8, np.uint8)
    whole[: len(data)] = data
    words = whole.view(np.uint64)
    total = 0
    for first, last, steps in parts(len(words)):
        total += int(mix(words[first:last] + steps).sum(dtype=np.uint64))
    return total % (1 << 64)


class Memcpy:
    """memcpy, each thread one part."""

    def __init__(self, threads):
        self.threads = threads
        self.pool = concurrent.futures.ThreadPoolExecutor(threads) if threads > 1 else None

    def __call__(self, dst, src, count):
        to, from_ = dst.ctypes.data, src.ctypes.data
        if self.pool is None:
            ctypes.memmove(to, from_, count)
            return
        part = (-(-count // self.threads) + 4095) // 4096 * 4096
        jobs = [
            self.pool.submit(ctypes.memmove, to + at, from_ + at, min(part, count - at))
            for at in range(0, count, part)
        ]
        for job in jobs:
            job.result()


def loops(box):
    return [one[0] for one in box["loops"]], [one[1] for one in box["loops"]], [one[2] for one in box["loops"]]


NUMPY = {8: "uint8", 16: "uint16", 32: "float32", 64: "float64", 128: "complex128"}
TORCH = {8: "uint8", 16: "float16", 32: "float32", 64: "float64", 128: "complex128"}


def whole_bytes(case):
    return case["boxes"] is not None and case["src_bits"] == case["dst_bits"] and case["src_bits"] in NUMPY


def numpy_job(case, src, dst, _threads):
    if (case["src_bits"], case["dst_bits"]) in ((4, 8), (8, 4)):
        return numpy_nibbles(case, src, dst)
    if not whole_bytes(case):
        return None
    size, dtype = case["src_bits"] // 8, NUMPY[case["src_bits"]]
    pairs = []
    for box in case["boxes"]:
        shape, source, target = loops(box)

        def view(data, first, strides):
            data = data[: len(data) // size * size].view(dtype)[first:]
            return np.lib.stride_tricks.as_strided(data, shape, [size * one for one in strides])

        pairs.append((view(dst, box["dst"], target), view(src, box["src"], source)))

    def run():
        for to, from_ in pairs:
            np.copyto(to, from_)

    return run, lambda: dst


def numpy_nibbles(case, src, dst):
    """Converts between two nibbles of a byte, low one first, and a byte for each."""
    boxes = case["boxes"]
    if not case["dtype"] == "s4" or len(boxes) != 1 or len(boxes[0]["loops"]) != 1:
        return None
    count = boxes[0]["loops"][0][0]
    if boxes[0]["loops"][0] != [count, 1, 1] or count % 2:
        return None
    half = np.empty(count // 2, np.int8)

    def widen():
        packed, out = src.view(np.int8), dst.view(np.int8)
        np.left_shift(packed, 4, out=half)
        np.right_shift(half, 4, out=out[0::2])
        np.right_shift(packed, 4, out=out[1::2])

    def narrow():
        np.left_shift(src[1::2], 4, out=dst)
        np.bitwise_and(src[0::2], 15, out=half.view(np.uint8))
        np.bitwise_or(dst, half.view(np.uint8), out=dst)

    return (widen if case["src_bits"] == 4 else narrow), lambda: dst


def torch_job(case, src, dst, threads):
    if not whole_bytes(case) or any(min(one) < 0 for box in case["boxes"] for one in box["loops"]):
        return None
    torch.set_num_threads(threads)
    size, dtype = case["src_bits"] // 8, getattr(torch, TORCH[case["src_bits"]])
    from_, to = (torch.from_numpy(data[: len(data) // size * size]).view(dtype) for data in (src, dst))
    pairs = []
    for box in case["boxes"]:
        shape, source, target = loops(box)
        pairs.append((to.as_strided(shape, target, box["dst"]), from_.as_strided(shape, source, box["src"])))

    def run():
        for target, source in pairs:
            target.copy_(source)

    return run, lambda: dst


def dense(strides, extents):
    expected = 1
    for stride, extent in sorted(zip(strides, extents)):
        if stride != expected:
            return None
        expected *= extent
    return expected


def jax_job(case, src, dst, _threads):
    if not whole_bytes(case) or len(case["boxes"]) != 1:
        return None
    box, size = case["boxes"][0], case["src_bits"] // 8
    extents, source, target = loops(box)
    bytes_ = [(dense(one, extents) or 0) * size for one in (source, target)]
    if bytes_ != [case["src_bytes"], case["dst_bytes"]] or box["src"] or box["dst"]:
        return None
    order = sorted(range(len(extents)), key=lambda axis: -source[axis])
    shape = [extents[axis] for axis in order]
    permutation = [order.index(axis) for axis in sorted(range(len(extents)), key=lambda axis: -target[axis])]
    array = jax.numpy.asarray(src.view(NUMPY[case["src_bits"]]).reshape(shape))
    transpose = jax.jit(lambda x: jax.numpy.transpose(x, permutation))
    held = [transpose(array).block_until_ready()]

    def run():
        held[0] = transpose(array).block_until_ready()

    return run, lambda: np.asarray(held[0]).reshape(-1).view(np.uint8)


class Turns:
    """Seconds of a run, from turns of at least a millisecond of runs each; the first turn is not counted."""

    def __init__(self, run):
        self.run, self.runs, self.times = run, None, []

    def turn(self):
        began = CLOCK()
        for _ in range(self.runs or 1):
            self.run()
        took = (CLOCK() - began) / (self.runs or 1)
        if self.runs is None:
            self.runs = max(1, min(4096, int(LEAST_SECONDS / max(took, 1e-9))))
        else:
            self.times.append(took)


def line_begin(data):
    """The bytes from the first cache line on."""
    return data[-data.ctypes.data % 64 :]


def measure(case, job, src, dst, memcpy, threads, checks=True):
    first, to = case.get("offsets", (0, 0))
    src, dst = src[first:], dst[to:]
    source, target = src[: case["src_bytes"]], dst[: case["dst_bytes"]]
    made = job(case, source, target, threads)
    if made is None:
        return None
    run, result = made
    target[:] = STALE
    run()
    right = not checks or checksum(result()) == int(case["checksum"], 16)
    mean = (case["src_bytes"] + case["dst_bytes"]) // 2
    ours, theirs = Turns(run), Turns(lambda: memcpy(dst, src, mean))
    least, budget = (2, 0.1) if ASKED.quick else (3, 0.5)
    began, turn = time.perf_counter(), 0
    while turn <= least or (turn <= 25 and time.perf_counter() - began < budget):
        theirs.turn()
        ours.turn()
        turn += 1
    seconds, copied = statistics.median(ours.times), statistics.median(theirs.times)
    moved = case["src_bytes"] + case["dst_bytes"]
    return {
        "name": case["name"],
        "size": case["size"],
        "threads": threads,
        "bytes": moved,
        "seconds": seconds,
        "gb_per_s": moved / 1e9 / seconds,
        "memcpy_gb_per_s": moved / 1e9 / copied,
        "ratio": copied / seconds,
        "right": right,
    }


def rivals(threads):
    """Returns the installed libraries; NumPy copies with one thread only."""
    global torch, jax
    found = [("numpy", numpy_job)] if threads == 1 else []
    try:
        import torch

        found.append(("torch", torch_job))
    except ImportError as error:
        print(f"torch: skipped, {error}")
    try:
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        import jax

        jax.config.update("jax_enable_x64", True)
        found.append(("jax", jax_job))
    except ImportError as error:
        print(f"jax: skipped, {error}")
    return found


def main():
    with open(ASKED.cases, encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    found = rivals(ASKED.threads)
    most = max(max(case["src_bytes"], case["dst_bytes"]) for case in cases)
    src = np.empty(-(-most // 8), np.uint64)
    fill(src)
    src, dst = src.view(np.uint8), np.ones(-(-most // 8) * 8, np.uint8)
    memcpy, rows = Memcpy(ASKED.threads), []
    for case in cases:
        for name, job in found:
            row = measure(case, job, src, dst, memcpy, ASKED.threads)
            if row is not None:
                rows.append({"rival": name, **row})
                wrong = "" if row["right"] else "  WRONG"
                print(
                    f"{name:14} {row['name']:40} {row['threads']:>7} {row['bytes'] / 1e6:>7.1f} {row['gb_per_s']:>7.2f}"
                    f" {row['memcpy_gb_per_s']:>7.2f} {row['ratio']:>6.2f}{wrong}",
                    flush=True,
                )
    with open(ASKED.out, "w", encoding="utf-8") as file:
        json.dump({"cases": rows}, file)


def ours(count, seed, *more):
    """Returns the program's measurements of random cases."""
    words = [ASKED.program, "bench", "--random", count, "--seed", seed, "--max-bytes", ASKED.max_bytes, "--json"]
    return json.loads(subprocess.run([*words, *more], check=True, capture_output=True, text=True).stdout)["cases"]


class Duel:
    """The program and libraries on random cases."""

    def __init__(self, cases):
        most = max(max(case["src_bytes"], case["dst_bytes"]) for case in cases)
        words = -(-most // 8)
        self.data = np.empty(words, np.uint64)
        fill(self.data)
        self.data = self.data.view(np.uint8)
        self.src, self.dst = (line_begin(np.ones(8 * words + 2 * SPARE, np.uint8)) for _ in range(2))
        self.memcpy = Memcpy(ASKED.threads)
        self.options = ["--threads", str(ASKED.threads), *(["--quick"] if ASKED.quick else [])]

    def program(self, case):
        return ours("1", case["name"].removeprefix("random-"), *self.options)[0]

    def turn(self, case, job):
        """Returns the library's row with its time over the program's; None if it cannot express the case."""
        if not whole_bytes(case):
            return None
        before = self.program(case)
        told = {**case, "checksum": before["checksum"]}
        first = case["offsets"][0]
        self.src[first : first + case["src_bytes"]] = self.data[: case["src_bytes"]]
        row = measure(told, job, self.src, self.dst, self.memcpy, ASKED.threads, checks=not ASKED.quick)
        if row is None:
            return None
        clock = "seconds" if CLOCK is time.perf_counter or before["cpu_seconds"] is None else "cpu_seconds"
        seconds = math.sqrt(before[clock] * self.program(case)[clock])
        return {**row, "ahead": row["seconds"] / seconds, "ours": row["bytes"] / 1e9 / seconds}


def shown(case):
    dims = ",".join(map(str, case["dims"]))
    return f"{case['dtype']}[{dims}]  {case['from']}  ->  {case['to']}  at {case['offsets'][0]},{case['offsets'][1]}"


def random_cases():
    cases = ours(ASKED.random, ASKED.seed, "--list")
    duel = Duel(cases)
    found = [one for one in rivals(ASKED.threads) if one[0] != "jax"]
    behind, ratios = [], {}
    print(f"{'library':8} {'case':16} {'theirs':>7} {'ours':>7} GB/s   ahead")
    for case in cases:
        for name, job in found:
            row = duel.turn(case, job)
            if row is not None and row["ahead"] < BEHIND:
                row = duel.turn(case, job)
            if row is None:
                continue
            wrong = "" if row["right"] else "  WRONG"
            line = f"{name:8} {case['name']:16} {row['gb_per_s']:7.2f} {row['ours']:7.2f}      {row['ahead']:6.2f}{wrong}"
            print(line, flush=True)
            ratios.setdefault(name, []).append(row["ahead"])
            if row["ahead"] < BEHIND:
                behind.append((row["ahead"], name, case))
    for name, all_of in ratios.items():
        mean = math.exp(statistics.mean(map(math.log, all_of)))
        print(f"{name}: {mean:.2f} times as fast in the geometric mean of {len(all_of)}, at least {min(all_of):.2f}")
    print(f"behind by more than 5 %, {ASKED.threads} threads: {len(behind)}")
    for ahead, name, case in sorted(behind, key=lambda one: one[0]):
        print(f"  {ahead:.2f}  {name:6} {case['name']}  {shown(case)}")


if __name__ == "__main__":
    random_cases() if ASKED.random else main()
