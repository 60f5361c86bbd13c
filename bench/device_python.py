"""The Python side of bench/device.py: moves by the package, compared with torch's own functions.

    python bench/device_python.py --program TILEWRIGHT [--size small] [NAME …]

runs only the comparison: eager torch, Inductor and the package `tilewright` on the cases of the benchmark, all between the
same two buffers, taking turns with the device's copy; the checksum of each result is compared with the case's.
Without CUDA in torch it prints a line and ends; `--cpu` uses the CPU, to try the script.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

import numpy as np

GOLDEN = 0x9E3779B97F4A7C15
STALE = 0xA5
TYPES = {8: "uint8", 16: "int16", 32: "int32", 64: "int64", 128: "complex128"}
TURNS = (5, 21, 0.25)


def torch_of():
    import torch

    return torch


def on_device():
    try:
        return torch_of().cuda.is_available()
    except ImportError:
        return False


def mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def steps(first, last):
    return np.arange(first + 1, last + 1, dtype=np.uint64) * np.uint64(GOLDEN)


def source(count):
    """Returns the bytes of every source, as bench/src/data.rs makes them."""
    words = np.empty(-(-count // 8), np.uint64)
    for at in range(0, len(words), 1 << 20):
        last = min(len(words), at + (1 << 20))
        words[at:last] = mix(steps(at, last))
    return words.view(np.uint8)[:count]


def checksum(data):
    words = np.zeros(-(-len(data) // 8), np.uint64)
    words.view(np.uint8)[: len(data)] = data
    total = 0
    for at in range(0, len(words), 1 << 20):
        last = min(len(words), at + (1 << 20))
        total += int(mix(words[at:last] + steps(at, last)).sum(dtype=np.uint64))
    return total % (1 << 64)


class Clock:
    """Measures a function that queues work: by events on a device, by the host's clock without one."""

    def __init__(self, torch, device):
        self.torch, self.cuda = torch, device == "cuda"

    def seconds(self, run, runs):
        if not self.cuda:
            began = time.perf_counter()
            for _ in range(runs):
                run()
            return (time.perf_counter() - began) / runs
        first, last = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        for _ in range(runs):
            run()
        last.record()
        last.synchronize()
        return first.elapsed_time(last) / 1e3 / runs


def views(torch, case, src, dst):
    """The boxes of a case as pairs of views, destination first; None where torch cannot express it."""
    boxes, bits = case["boxes"], case["src_bits"]
    if boxes is None or bits != case["dst_bits"] or bits not in TYPES:
        return None
    if any(min(loop) < 0 for box in boxes for loop in box["loops"]):
        return None
    size, dtype = bits // 8, getattr(torch, TYPES[bits])
    flat = [data[: len(data) // size * size].view(dtype) for data in (src, dst)]
    pairs = []
    for box in boxes:
        shape = [loop[0] for loop in box["loops"]]
        from_, to = ([loop[side] for loop in box["loops"]] for side in (1, 2))
        pairs.append((flat[1].as_strided(shape, to, box["dst"]), flat[0].as_strided(shape, from_, box["src"])))
    return pairs


def eager(torch, case, src, dst):
    pairs = views(torch, case, src, dst)
    if pairs is None:
        return None

    def run():
        for to, from_ in pairs:
            to.copy_(from_)

    return run


def inductor(torch, case, src, dst):
    """One compiled function that writes all boxes of the case."""
    pairs = views(torch, case, src, dst)
    if pairs is None or len(pairs) > 4 or case["src_bits"] == 128:
        return None
    to, from_ = [one[0] for one in pairs], [one[1] for one in pairs]

    def move(to, from_):
        for one, other in zip(to, from_):
            one.copy_(other)

    compiled = torch.compile(move, dynamic=False)
    return lambda: compiled(to, from_)


def ours(_torch, case, src, dst):
    if case["src_bits"] != case["dst_bits"]:
        return None
    import tilewright as tw

    plan = tw.Plan(case["from"], case["to"], dims=case["dims"], dtype=case["dtype"])
    return lambda: plan.run(src, dst)


RIVALS = [("tilewright", ours), ("eager", eager), ("inductor", inductor)]


def listed(program, size, names):
    """Returns the cases, those of a quick run first: there may be no time for all."""
    def cases(*words):
        command = [program, "bench", "--list", "--json", "--size", size, *words, *names]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["cases"]

    quick = {case["name"] for case in cases("--quick")}
    return sorted(cases(), key=lambda case: case["name"] not in quick)


def one_case(torch, clock, case, src, dst, host):
    """Returns a row for each rival: checked first, then timed in turns with the device's copy."""
    begin, to = src[: case["src_bytes"]], dst[: case["dst_bytes"]]
    made, rows = [], []
    for rival, make in RIVALS:
        row = {"name": case["name"], "rival": rival, "right": True, "says": None, "seconds": None}
        try:
            began = time.perf_counter()
            run = make(torch, case, begin, to)
            if run is None:
                continue
            # Padding is not torch's: it has to be there before.
            to.fill_(STALE if rival == "tilewright" else 0)
            run()
            found = checksum(to.cpu().numpy())
            row["first_seconds"] = time.perf_counter() - began
            row["right"] = found == int(case["checksum"], 16)
        except Exception as why:
            row["says"] = f"{type(why).__name__}: {why}".splitlines()[0][:300]
            rows.append(row)
            continue
        rows.append(row)
        made.append((row, run))
    mean = (case["src_bytes"] + case["dst_bytes"]) // 2
    copied = ({"name": case["name"], "rival": "copy", "right": True, "says": None}, lambda: dst[:mean].copy_(src[:mean]))
    least, most, budget = TURNS
    jobs = [(row, run, []) for row, run in [copied, *made] if row["right"]]
    runs = [max(1, min(50, int(2e-3 / max(clock.seconds(run, 1), 1e-7)))) for _, run, _ in jobs]
    began = time.perf_counter()
    for turn in range(most):
        if turn >= least and time.perf_counter() - began > budget:
            break
        for (_, run, times), count in zip(jobs, runs):
            times.append(clock.seconds(run, count))
    moved = case["src_bytes"] + case["dst_bytes"]
    for row, _, times in jobs:
        row["seconds"], row["turns"] = statistics.median(times), len(times)
        row["gb_per_s"] = moved / 1e9 / row["seconds"]
    if host is not None and not np.array_equal(src[: len(host)].cpu().numpy(), host):
        raise AssertionError(f"{case['name']}: a source was written")
    return [*rows, copied[0]]


def rivals(program, size, names, cpu=False, until=None):
    """Yields the rows, case by case; a line on stderr counts the cases for which no time is left."""
    torch = torch_of()
    if not torch.cuda.is_available() and not cpu:
        raise RuntimeError("torch has no CUDA here, so nothing is compared with it")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    cases = listed(program, size, names)
    most = max(max(case["src_bytes"], case["dst_bytes"]) for case in cases) // 16 * 16 + 16
    data = source(most)
    src = torch.from_numpy(data).to(device)
    # torch.from_numpy shares memory, so what is compared is a copy.
    dst, host = torch.empty(most, dtype=torch.uint8, device=device), data[: 1 << 20].copy()
    clock = Clock(torch, device)
    for number, case in enumerate(cases):
        if until is not None and time.monotonic() > until:
            print(f"{len(cases) - number} cases with torch skipped, as no time is left", file=sys.stderr)
            return
        yield from one_case(torch, clock, case, src, dst, host)
        torch.compiler.reset()


def by_case(rows):
    cases = {}
    for row in rows:
        cases.setdefault(row["name"], {})[row["rival"]] = row
    return cases


def table(rows):
    """Returns each case with GB/s of ours, eager and Inductor, or the reason for none."""
    def word(row):
        if row is None:
            return "not expressible"
        return f"{row['gb_per_s']:.0f}" if row.get("seconds") else row["says"] or "wrong"

    return [(name, [word(of.get(rival)) for rival, _ in RIVALS]) for name, of in by_case(rows).items()]


def ahead(rows):
    """Yields the ratio of each rival's time to ours, case by case."""
    for name, of in by_case(rows).items():
        own = of.get("tilewright", {}).get("seconds")
        for rival in ("eager", "inductor"):
            theirs = of.get(rival, {}).get("seconds")
            if own and theirs:
                yield name, rival, theirs / own


# --- the paths of the package ---------------------------------------------------------------------------------------


def paths(small=False):
    """Runs each path of the package on tensors of a device, and compares it with the CPU; a line for each."""
    said, faults = [], []
    for name, path in (("torch", torch_paths), ("cupy", cupy_paths), ("jax", jax_paths)):
        try:
            said.append(f"{name}: {path(small)}")
        except ImportError as why:
            said.append(f"{name}: not there ({why})")
        except NotHere as why:
            said.append(f"{name}: {why}")
        except Exception as why:
            faults.append(f"{name}: {type(why).__name__}: {why}"[:600])
    if faults:
        raise AssertionError("; ".join([*faults, *said]))
    return said


class NotHere(Exception):
    """The library is installed, but has no device."""


def torch_paths(small):
    import tilewright as tw

    torch = torch_of()
    if not torch.cuda.is_available():
        raise NotHere("no CUDA")
    side = 64 if small else 1500
    count = 0
    for dtype in ("uint8", "bfloat16", "float32", "float64"):
        for shape in ((side, side), (side, 3), (7, side, 5)):
            x = (torch.arange(torch.Size(shape).numel()) % 251).reshape(shape).to(getattr(torch, dtype))
            g, odd = x.cuda(), torch.zeros(x.numel() + 3, dtype=x.dtype, device="cuda")[3:]
            same(torch, tw.relayout(g, to="col-major"), tw.relayout(x, to="col-major"))
            same(torch, tw.contiguous(g.transpose(0, 1)), tw.contiguous(x.transpose(0, 1)))
            tw.copy_(odd.view(shape), g)
            same(torch, odd.view(shape), x)
            plan = tw.Plan("row-major", "col-major", dims=shape, dtype={"uint8": "u8", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}[dtype])
            out, expected = torch.empty_like(odd), torch.empty(x.numel(), dtype=x.dtype)
            plan.run(g.reshape(-1), out)
            plan.run(x.reshape(-1), expected)
            same(torch, out, expected)
            count += 4
    stream, ready = torch.cuda.Stream(), torch.cuda.Event()
    x = torch.arange(side * side, dtype=torch.float32).reshape(side, side)
    with torch.cuda.stream(stream):
        g = x.to("cuda", non_blocking=True) * 2
        moved = tw.contiguous(g.t())
        ready.record()
    ready.synchronize()
    same(torch, moved, (x * 2).t().contiguous())
    static, plan = torch.empty(side * side, device="cuda"), tw.Plan("row-major", "col-major", dims=(side, side), dtype="f32")
    g = x.cuda().reshape(-1)
    plan.run(g, static)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        plan.run(g, static)
    static.zero_()
    graph.replay()
    same(torch, static, x.t().contiguous().reshape(-1))
    return f"{count} moves, a stream and a captured graph right; {file_path(tw, torch, side)}"


def file_path(tw, torch, side):
    import pathlib
    import tempfile

    try:
        from safetensors.torch import save_file
    except ImportError:
        return "get(device=): no safetensors"
    x = torch.arange(side * 48, dtype=torch.float32).reshape(side, 48)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "x.safetensors"
        save_file({"x": x}, path)
        with tw.open(path) as file:
            same(torch, file.get("x", "col-major", framework="torch", device="cuda"), file.get("x", "col-major", framework="torch"))
    return "get(device=) right"


def same(torch, device, host):
    if not device.is_cuda or not torch.equal(device.cpu().contiguous().view(-1), host.contiguous().view(-1)):
        raise AssertionError(f"{tuple(host.shape)} of {host.dtype} differs from the CPU's")


def cupy_paths(small):
    import cupy
    import tilewright as tw

    x = np.arange((64 if small else 1500) * 48, dtype=np.float32).reshape(-1, 48)
    moved = tw.contiguous(cupy.asarray(x).T)
    if not np.array_equal(cupy.asnumpy(moved), np.ascontiguousarray(x.T)):
        raise AssertionError("contiguous differs")
    return "contiguous right"


def jax_paths(small):
    import jax
    import tilewright as tw

    if jax.default_backend() == "cpu":
        raise NotHere("no device")
    x = np.arange((64 if small else 1500) * 48, dtype=np.float32).reshape(-1, 48)
    moved = tw.relayout(jax.numpy.asarray(x), to="col-major")
    expected = tw.relayout(x, to="col-major")
    if not np.array_equal(np.asarray(moved).reshape(-1), np.asarray(expected).reshape(-1)):
        raise AssertionError("relayout differs")
    return "relayout right"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--program", default="tilewright")
    parser.add_argument("--size", default="memory")
    parser.add_argument("--cpu", action="store_true", help="use the CPU, without CUDA")
    parser.add_argument("--without", default="", help="a rival to leave out")
    parser.add_argument("--lines", action="store_true", help="print one JSON object per line")
    parser.add_argument("--paths", action="store_true", help="run the paths of the package instead of the benchmark")
    parser.add_argument("--seconds", type=float, default=3600.0)
    asked = parser.parse_args()
    if asked.paths:
        print("; ".join(paths(asked.size == "small")))
        return 0
    RIVALS[:] = [one for one in RIVALS if one[0] != asked.without]
    rows = []
    try:
        for row in rivals(asked.program, asked.size, asked.names, asked.cpu, time.monotonic() + asked.seconds):
            rows.append(row)
            if asked.lines:
                print(json.dumps(row), flush=True)
    except (ImportError, RuntimeError) as why:
        print(f"left out: {why}")
        return 0
    for name, words in [] if asked.lines else table(rows):
        print(f"{name:40} " + "  ".join(f"{rival} {word}" for (rival, _), word in zip(RIVALS, words)))
    return 0 if all(row["right"] for row in rows) else 1


np.seterr(over="ignore")
if __name__ == "__main__":
    sys.exit(main())
