"""The steps of device.py: each takes the run, and returns what it found or raises an error."""

import importlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time

from device_run import HERE, NotThere, Skipped, many_at_once, share

# What has to be reached: the mean share of the device's own copy over all cases, the least share, the microseconds of
# a launch, and the time of many tensors over that of one launch of the same bytes.
MEAN, LEAST = 0.95, 0.75
LAUNCH_MICROSECONDS = 10.0
MANY = (1000, 1.1)

# What no definition has: fills, swizzles, widths, reversals, between tiles. From, to, dims, dtype.
MORE = [
    ("row-major", "{0,1}pad(67,45)fill(one)", "61,43", "f32"),
    ("row-major", "{1,0}pad(61,50)fill(lowest)", "61,43", "bf16"),
    ("row-major", "{0,1,2}pad(9,33,21)fill(0xAB)", "7,31,20", "u8"),
    ("Sw<3,3,3> o (64,64):(64,1)", "row-major", "64,64", "bf16"),
    ("row-major", "Sw<3,3,3> o (64,64):(64,1)", "64,64", "bf16"),
    ("Sw<3,4,3> o (128,64):(64,1)", "Sw<2,4,3> o (128,64):(1,128)", "128,64", "u8"),
    ("Sw<2,3,3> o (32,32):(32,1)", "col-major", "32,32", "f32"),
    ("{1,0:E(4)}", "row-major", "37,41", "s4"),
    ("row-major", "{0,1:E(4)}", "36,42", "u4"),
    ("{1,0:E(4)}", "{0,1:E(4)}", "128,256", "s4"),
    ("(50,60):(-60,-1)+2999", "row-major", "50,60", "f64"),
    ("zN", "nZ", "100,100", "f16"),
    ("row-major", "{1,0:T(8,128)(2,1)}", "77,301", "bf16"),
    ("{1,0:E(4)}", "{0,1:E(4)}", "4096,8192", "s4"),
    ("{0,1:E(4)}", "{1,0:T(64,128)(8,1)E(4)}", "4100,8100", "u4"),
    ("row-major", "col-major", "1,1", "c128"),
    ("row-major", "col-major", "0,5", "f32"),
]
# More than 2^32 bytes on each side.
BEYOND = [
    ("row-major", "col-major", "65536,66000", "u8"),
    ("row-major", "col-major", "32768,65600", "bf16"),
    ("row-major", "col-major", "40003,30011", "f32"),
    ("row-major", "zN", "65552,33000", "f16"),
    ("{1,0:E(4)}", "{0,1:E(4)}", "131072,65600", "s4"),
]

# Cases that compute-sanitizer looks at, each a way of its own or a width.
SANITIZED = [
    "transpose-u8-odd",
    "transpose-f32-square",
    "transpose-16bit-odd",
    "transpose-16bit-square",
    "nchw-to-nhwc-u8-3",
    "row-to-zN-16bit-ragged",
    "s4-transpose",
]


def given(case):
    source, target, dims, dtype = case
    return ["--from", source, "--to", target, "--dims", dims, "--dtype", dtype]


def facts(run):
    """The device, driver, clocks, compiler and libraries."""
    answer = run.bench("--check", *given(("row-major", "col-major", "64,64", "f32")))
    run.device = answer["device"]
    run.checked(answer)
    said = [f"{run.device['name']}, driver for CUDA {run.device['driver_cuda']}, {run.device['compiler']}"]
    smi = shutil.which("nvidia-smi")
    if smi and not run.emulated:
        fields = "name,driver_version,pstate,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.limit,temperature.gpu,ecc.mode.current"
        done = subprocess.run([smi, f"--query-gpu={fields}", "--format=csv,noheader"], capture_output=True, text=True, timeout=20)
        run.device["nvidia_smi"] = dict(zip(fields.split(","), (word.strip() for word in done.stdout.strip().split(","))))
        said.append(done.stdout.strip())
    versions = {}
    for name in ("numpy", "torch", "jax", "cupy", "triton", "tilewright"):
        try:
            versions[name] = importlib.import_module(name).__version__
        except Exception:
            versions[name] = None
    run.device["packages"] = versions
    return "; ".join(said)


def small_cases(run):
    """The cases of the benchmark in the sizes small and l2, compared with the processor."""
    words = transposes(run)
    names = [["--check", "--size", size, *words, *more] for size in ("small", "l2") for more in parts(run, words)]
    return many_at_once(run, names[: len(names) // 2] if run.small else names, "cases")


def transposes(run):
    return ["f32-odd", "zN-u8"] if run.small else []


def parts(run, named):
    if named:
        return [[]]
    cases = json.loads(subprocess.run([run.program, "bench", "--list", "--json", "--size", "small"], capture_output=True, text=True, check=True).stdout)["cases"]
    names = sorted(case["name"].split("/")[0] for case in cases)
    size = math.ceil(len(names) / 8)
    return [names[at : at + size] for at in range(0, len(names), size)]


def odd_pointers(run):
    """The same cases at other addresses: 16 bytes past a cache line, as from allocators, and odd ones."""
    jobs = []
    for offset in ("16,16", "1,0", "17,3", "8,4", "0,15"):
        for names in ([transposes(run)] if run.small else parts(run, [])):
            jobs.append(["--check", "--size", "small", "--offset", offset, *names])
    return many_at_once(run, jobs[:2] if run.small else jobs, "cases at other addresses")


def random_pairs(run):
    """Random pairs of common layouts, at random addresses."""
    count = run.asked.random or (8 if run.small else 500)
    most = "32K" if run.small else "4M"
    each = max(1, count // 16)
    jobs = [["--check", "--random", min(each, count - at), "--seed", f"24:{at}", "--max-bytes", most] for at in range(0, count, each)]
    return many_at_once(run, jobs, "random pairs")


def more_kinds(run):
    """Fills, swizzles, widths, reversals and many arrays in one launch."""
    jobs = [["--check", *given(case)] for case in (MORE[::4] if run.small else MORE)]
    jobs += [["--check", "--many", many, *given(case)] for many in (3, 70) for case in (MORE[:1] if run.small else MORE[:12])]
    return many_at_once(run, jobs, "cases of other kinds")


def beyond(run):
    """Arrays of more than 4 GB, whose offsets need more than 32 bits."""
    if run.small:
        raise Skipped("--small")
    return many_at_once(run, [["--check", *given(case)] for case in BEYOND], "arrays beyond 4 GB")


def sanitizer(run):
    """compute-sanitizer on small sizes: memcheck, racecheck, initcheck, synccheck."""
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if run.emulated:
        raise Skipped("the device is emulated")
    if not os.path.exists(tool):
        raise NotThere("no compute-sanitizer")
    said, faults = [], []
    for check in ("memcheck", "racecheck", "initcheck", "synccheck"):
        seconds = min(run.left(), run.end - time.monotonic())
        if seconds < 5:
            raise TimeoutError("; ".join([*said, f"not run: {check} and the checks after it"]))
        command = [tool, "--tool", check, "--error-exitcode", "9", run.program, "bench", "--device", "--check", "--size", "small", *SANITIZED]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        summary = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: .*", done.stdout + done.stderr)
        said.append(f"{check}: {summary[-1] if summary else f'exit {done.returncode}'}")
        if done.returncode:
            faults.append(said[-1] + " " + (done.stdout + done.stderr)[-400:])
    if faults:
        raise AssertionError("; ".join(faults))
    return "; ".join(said)


def speed(run):
    """Every case on arrays of 1 GB against the device's copy, as far as time allows."""
    size = ["--size", "small"] if run.small else ["--size", "memory"]
    names = transposes(run) or [name for group in parts(run, []) for name in group]
    group, at, over = 6, 0, False
    while at < len(names) and not over:
        # A name may be part of others; each case is measured once.
        try:
            answer = run.bench("--quick", *size, *names[at : at + group], least=10.0)
        except (TimeoutError, subprocess.TimeoutExpired):
            over = True
            continue
        at += group
        known = {row["name"] for row in run.rows}
        run.rows += [row for row in answer["cases"] if row["name"] not in known]
    judged(run)
    if over:
        raise TimeoutError(f"{len(run.rows)} cases right; not measured: {', '.join(names[at:])}")
    return f"{len(run.rows)} cases right"


def judged(run):
    """The bounds and the table of what was measured."""
    for row in run.rows:
        if not row["right"]:
            raise AssertionError(f"{row['name']}: {row['wrong']}")
        run.bound("share of copy", row["ratio"], least=LEAST, where=row["name"])
    if run.rows:
        mean = math.exp(sum(math.log(row["ratio"]) for row in run.rows) / len(run.rows))
        run.bound("share of copy, geometric mean", mean, least=MEAN, where=f"{len(run.rows)} cases")
    run.tables["speed"] = (
        ["case", "way", "MB", "GB/s", "copy", "share", "spread", "first ms"],
        [
            [row["name"], row["way"], f"{row['bytes'] / 1e6:.0f}", *(
                ["not measured"] * 5 if run.emulated else
                [f"{row['gb_per_s']:.0f}", f"{row['copy_gb_per_s']:.0f}", f"{row['ratio']:.3f}", f"{row['spread']:.3f}", f"{row['first_ms']:.0f}"])]
            for row in run.rows
        ],
    )


def in_cache(run):
    """The same cases within the device's L2 cache, in graphs, so that launches by the host are not measured."""
    words = ["--size", "small", *transposes(run)] if run.small else ["--size", "l2"]
    answer = run.bench("--quick", *words)
    said = f"{run.checked(answer)} cases right"
    rows = [[row["name"], row["way"], share(run, row["ratio"])] for row in answer["cases"]]
    run.tables["in cache"] = (["case", "way", "share"], rows)
    return said


def launches(run):
    """The host's time to launch a kept plan, and 1,000 tensors of 1 MB in one call."""
    answer = run.bench(*given(("row-major", "col-major", "64,64" if run.small else "256,256", "f32")))
    run.checked(answer)
    run.bound("launch of a kept plan, µs", answer["cases"][0]["launch_us"], most=LAUNCH_MICROSECONDS)
    count, side = (20, 32) if run.small else (MANY[0], 512)
    pair = ["--from", "row-major", "--to", "col-major", "--dtype", "f32"]
    one = run.bench("--quick", *pair, "--dims", f"{count * side},{side}")
    many = run.bench("--quick", "--many", count, *pair, "--dims", f"{side},{side}")
    ratios = []
    for answer in (one, many):
        run.checked(answer)
        ratios.append(answer["cases"][0]["ratio"])
    run.bound(f"{count} tensors: time over that of one launch of their bytes", ratios[0] / ratios[1], most=MANY[1])
    return f"bytes of {count} arrays right"


def python(run, *words):
    """Returns the lines of bench/device_python.py, which is stopped when the step's time is over; earlier lines count."""
    seconds = max(1.0, min(run.left(), run.end - time.monotonic()))
    command = [sys.executable, str(HERE / "device_python.py"), "--program", run.program, *words]
    command += ["--size", "small" if run.small else "memory"]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(one for one in sys.path if one))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
    # A group of its own: Inductor starts processes that compile.
    process, over = subprocess.Popen(command, start_new_session=True, **pipes), ""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        (out, err), over = process.communicate(), ", stopped when the step's time was over"
    if process.returncode and not over:
        raise failure(err.strip())
    return out.splitlines(), over


def failure(text):
    """Returns the error of a script that ended by itself; a missing package is not a failure of ours."""
    absent = re.search(r"^ModuleNotFoundError: No module named '(numpy|torch|jax|cupy|tilewright)'$", text.splitlines()[-1] if text else "")
    return NotThere(f"no package {absent[1]}") if absent else RuntimeError(text[-900:])


def python_paths(run):
    """tw.relayout, contiguous, copy_ and Plan.run on tensors of torch, cupy and jax, streams and captured graphs."""
    lines, over = python(run, "--paths")
    if over:
        raise TimeoutError("the step's time is over")
    return "; ".join(lines)


def beside(run):
    """Eager torch and Inductor on the same cases, in the same buffers, taking turns with ours."""
    # Without CUDA the script alone is tried, on the processor and without a compiler.
    trial = ["--cpu", "--without", "inductor"] if run.small else []
    lines, over = python(run, "--lines", *trial, *transposes(run))
    if lines and lines[0].startswith("left out"):
        raise NotThere(lines[0])
    import device_python

    rows = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
    wrong = [f"{row['name']} ({row['rival']})" for row in rows if not row["right"]]
    if wrong:
        raise AssertionError("wrong bytes: " + ", ".join(wrong))
    run.rivals = rows
    measured = not run.emulated and not run.small
    head = ["case, GB/s read and written", *(rival for rival, _ in device_python.RIVALS)]
    cells = [[name, *(words if measured else ["not measured"] * 3)] for name, words in device_python.table(rows)]
    run.tables["beside torch"] = (head, cells)
    if measured:
        for name, rival, ahead in device_python.ahead(rows):
            run.bound(f"time of {rival} over ours", ahead, least=1.0, where=name)
    refused = sorted({row["says"] for row in rows if row["says"] and row["rival"] == "tilewright"})
    if refused and not run.small:
        raise AssertionError("the package refuses: " + "; ".join(refused[:3]))
    said = f"{len(rows)} rows, checksums equal{over}"
    if over:
        raise TimeoutError(said)
    return said
