"""Everything that needs a CUDA device, in one run: correctness, compute-sanitizer, speed, and a record of it.

    python bench/device.py [--program TILEWRIGHT] [--out FOLDER] [--budget 570] [--small]

Beside the program (`tilewright`, looked for beside this file, in target/release and on the path) it needs nothing:
what is there of torch, jax, cupy, compute-sanitizer, nvidia-smi and the package `tilewright` takes part, and the record
says what was not. `cargo xtask device` puts program, wheel and this file into one folder that can be carried to a
machine without Rust, and runs it where a device is.

Steps run in the order of STEPS, each with its own budget in seconds and its own failure; the sum is kept by leaving out
the rest, a line each. The record is a Markdown and a JSON file, named by the device and the day. `--small` takes small
sizes, and on an emulated device (crates/tilewright-cuda/emulated) no speed is recorded.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent

# What has to be reached, by the way that moves an array: the share of the device's own copy.
SHARES = {"rows": 0.95, "weave": 0.95, "realigned": 0.92, "gather": 0.85}
LAUNCH_MICROSECONDS = 10.0
MANY = (1000, 0.8)

# Arrays with pitches of large powers of two: where tiles are walked in squares, or not.
PITCHES = [("f32", 32768), ("f64", 16384), ("bf16", 32768)]
SUPERTILES = (1, 4, 8, 16)

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
    ("row-major", "col-major", "1,1", "c128"),
    ("row-major", "col-major", "0,5", "f32"),
]
# More than 2^32 bytes on each side.
BEYOND = [
    ("row-major", "col-major", "65536,66000", "u8"),
    ("row-major", "col-major", "32768,65600", "bf16"),
    ("row-major", "col-major", "40003,30011", "f32"),
    ("row-major", "zN", "65552,33000", "f16"),
]


class Skipped(Exception):
    """A step that cannot run here; the message says why."""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", help="the program tilewright")
    parser.add_argument("--out", help="the folder of the record; beside this file unless given")
    parser.add_argument("--budget", type=float, default=570.0, help="seconds for everything")
    parser.add_argument("--small", action="store_true", help="small sizes, to try the script")
    parser.add_argument("--only", help="the steps whose names have one of these words, a comma between them")
    parser.add_argument("--random", type=int, help="random pairs; 500, or 8 of --small")
    return parser.parse_args()


def found_program(given):
    names = [HERE / "tilewright", HERE.parent / "target" / "release" / "tilewright"]
    if given:
        return str(pathlib.Path(given).resolve())
    for name in names:
        if name.is_file():
            return str(name)
    path = shutil.which("tilewright")
    if path is None:
        raise SystemExit("no program tilewright: --program names it, or `cargo xtask device` makes a folder with it")
    return path


class Run:
    """One run of the script: the program, the clock, and what came out."""

    def __init__(self, asked):
        self.asked, self.small = asked, asked.small
        self.program = found_program(asked.program)
        self.began = time.monotonic()
        self.until = self.began + asked.budget
        self.device, self.steps, self.bounds, self.tables = {}, [], [], {}
        self.rows = []
        wheel = next(iter(sorted(HERE.glob("tilewright-*.whl"))), None)
        if wheel is not None:
            site = HERE / "site"
            if not site.is_dir():
                command = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", site, wheel]
                subprocess.run(command, check=False)
            sys.path.insert(0, str(site))

    @property
    def emulated(self):
        return "emulated" in self.device.get("name", "")

    def left(self):
        return self.until - time.monotonic()

    def bench(self, *words, least=5.0):
        """The answer of `tilewright bench --device`; bytes that are wrong are an answer too."""
        seconds = min(self.left(), self.end - time.monotonic())
        if seconds < least:
            raise TimeoutError("the step's time is over")
        command = [self.program, "bench", "--device", "--json", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{' '.join(command[1:])}: exit {done.returncode}: {done.stderr.strip()[-600:]}")
        return json.loads(done.stdout)

    def checked(self, answer):
        """How many were right; the wrong ones are a failure."""
        wrong = [f"{row['name']}: {row['wrong']}" for row in answer["cases"] if not row["right"]]
        if wrong:
            raise AssertionError("; ".join(wrong[:5]) + (f"; and {len(wrong) - 5} more" if len(wrong) > 5 else ""))
        return len(answer["cases"])

    def bound(self, name, value, least=None, most=None, where=""):
        """A bound of the table: passed, failed, or of an emulated device not judged."""
        judged = not self.emulated
        ok = (least is None or value >= least) and (most is None or value <= most)
        self.bounds.append({
            "name": name,
            "value": value if judged else None,
            "bound": f">= {least}" if least is not None else f"<= {most}",
            "passed": ok if judged else None,
            "where": where,
        })


def many_at_once(run, jobs, what):
    """Runs commands of the program side by side; each is (words of bench)."""
    seconds = max(1.0, min(run.left(), run.end - time.monotonic()))
    workers = max(1, min(8, (os.cpu_count() or 2) // 2))
    waiting, running, right, faults = list(jobs), [], 0, []
    ends = time.monotonic() + seconds
    while waiting or running:
        while waiting and len(running) < workers:
            words = waiting.pop(0)
            command = [run.program, "bench", "--device", "--json", *map(str, words)]
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
            running.append((words, subprocess.Popen(command, **pipes)))
        words, process = running.pop(0)
        try:
            out, err = process.communicate(timeout=max(0.1, ends - time.monotonic()))
        except subprocess.TimeoutExpired:
            for _, one in [(words, process), *running]:
                one.kill()
                one.communicate()
            faults.append(f"out of time with {len(waiting) + len(running) + 1} of {len(jobs)} commands left")
            break
        if process.returncode not in (0, 1):
            faults.append(f"{' '.join(map(str, words))}: exit {process.returncode}: {err.strip()[-300:]}")
            continue
        answer = json.loads(out)
        right += sum(row["right"] for row in answer["cases"])
        faults += [f"{row['name']} ({' '.join(map(str, words))}): {row['wrong']}" for row in answer["cases"] if not row["right"]]
    said = f"{right} {what} right"
    if faults:
        raise AssertionError(f"{said}; {len(faults)} faults: " + "; ".join(faults[:5]))
    return said


def given(case):
    source, target, dims, dtype = case
    return ["--from", source, "--to", target, "--dims", dims, "--dtype", dtype]


# --- the steps ------------------------------------------------------------------------------------------------------


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
            from importlib import metadata

            versions[name] = metadata.version(name)
        except Exception:
            versions[name] = None
    run.device["packages"] = versions
    return "; ".join(said)


def supertile(run):
    """Squares of tiles on pitches of large powers of two: the share of copy for each."""
    rows, answer = [], None
    for dtype, side in PITCHES:
        side = 256 if run.small else side
        shares = []
        for tiles in SUPERTILES:
            answer = run.bench("--quick", "--supertile", tiles, *given(("row-major", "col-major", f"{side},{side}", dtype)))
            run.checked(answer)
            shares.append(answer["cases"][0]["ratio"])
        rows.append([f"{dtype} {side}²", *(share(run, one) for one in shares)])
    run.tables["supertile"] = (["array", *(f"{tiles} × {tiles}" for tiles in SUPERTILES)], rows)
    return f"{len(rows)} arrays in {len(SUPERTILES)} walks each, bytes right"


def small_cases(run):
    """The cases of the benchmark in the sizes small and l2, compared with the processor."""
    words = transposes(run)
    names = [["--check", "--size", size, *words, *more] for size in ("small", "l2") for more in parts(run, words)]
    return many_at_once(run, names[: len(names) // 2] if run.small else names, "cases")


def transposes(run):
    return ["f32-odd", "zN-u8"] if run.small else []


# The words that the cases of the definitions share, to compile them side by side.
PARTS = ["u8", "bf16", "16bit", "f32", "f64", "s8", "s4", "c128", "order", "nchw", "nhwc", "strided", "T8", "BA", "COL", "pad", "revers"]


def parts(run, named):
    if named:
        return [[]]
    cases = json.loads(subprocess.run([run.program, "bench", "--list", "--json", "--size", "small"], capture_output=True, text=True, check=True).stdout)["cases"]
    names = sorted(case["name"].split("/")[0] for case in cases)
    size = math.ceil(len(names) / 8)
    return [names[at : at + size] for at in range(0, len(names), size)]


def odd_pointers(run):
    """The same at any byte: 16 bytes past a line as allocators leave them, and odd."""
    jobs = []
    for offset in ("16,16", "1,0", "17,3", "8,4", "0,15"):
        for names in ([transposes(run)] if run.small else parts(run, [])):
            jobs.append(["--check", "--size", "small", "--offset", offset, *names])
    return many_at_once(run, jobs[:2] if run.small else jobs, "cases at other bytes")


def random_pairs(run):
    """Random pairs of layouts as people have them, at random bytes."""
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
    for case in BEYOND:
        run.checked(run.bench("--check", *given(case)))
    return f"{len(BEYOND)} arrays beyond 4 GB right"


def sanitizer(run):
    """compute-sanitizer on small sizes: memcheck, racecheck, initcheck, synccheck."""
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if run.emulated or not os.path.exists(tool):
        raise Skipped("no compute-sanitizer" if not run.emulated else "the device is emulated")
    names = ["transpose-u8-odd", "transpose-f32-square", "transpose-bf16", "nchw-to-nhwc-u8-3", "row-to-zN-16bit-ragged", "s4-transpose"]
    said, faults = [], []
    for check in ("memcheck", "racecheck", "initcheck", "synccheck"):
        seconds = min(run.left(), run.end - time.monotonic())
        if seconds < 5:
            raise TimeoutError("; ".join([*said, "out of time"]))
        command = [tool, "--tool", check, "--error-exitcode", "9", run.program, "bench", "--device", "--check", "--size", "small", *names]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        summary = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: .*", done.stdout + done.stderr)
        said.append(f"{check}: {summary[-1] if summary else f'exit {done.returncode}'}")
        if done.returncode:
            faults.append(said[-1] + " " + (done.stdout + done.stderr)[-400:])
    if faults:
        raise AssertionError("; ".join(faults))
    return "; ".join(said)


def share(run, value):
    return "not measured" if run.emulated or value is None else f"{value:.3f}"


def speed(run):
    """Every case on arrays of 1 GB against the device's copy, as far as the time goes."""
    size = ["--size", "small"] if run.small else ["--size", "memory"]
    names = transposes(run) or [name for group in parts(run, []) for name in group]
    group, at = 6, 0
    while at < len(names) and run.end - time.monotonic() > 10:
        # A name may be part of others; each case is measured once.
        words = names[at : at + group]
        at += group
        answer = run.bench("--quick", *size, *words)
        known = {row["name"] for row in run.rows}
        run.rows += [row for row in answer["cases"] if row["name"] not in known]
    for row in run.rows:
        if not row["right"]:
            raise AssertionError(f"{row['name']}: {row['wrong']}")
        if row["way"] in SHARES:
            run.bound(f"{row['way']}: share of copy", row["ratio"], least=SHARES[row["way"]], where=row["name"])
    left = f", {len(names) - at} names left out for want of time" if at < len(names) else ""
    run.tables["speed"] = (
        ["case", "way", "MB", "GB/s", "copy", "share", "spread", "first ms"],
        [
            [row["name"], row["way"], f"{row['bytes'] / 1e6:.0f}", *(
                ["not measured"] * 5 if run.emulated else
                [f"{row['gb_per_s']:.0f}", f"{row['copy_gb_per_s']:.0f}", f"{row['ratio']:.3f}", f"{row['spread']:.3f}", f"{row['first_ms']:.0f}"])]
            for row in run.rows
        ],
    )
    return f"{len(run.rows)} cases right{left}"


def in_cache(run):
    """The same within the device's second cache, in graphs, so that launches of the host take no part."""
    words = ["--size", "small", *transposes(run)] if run.small else ["--size", "l2"]
    answer = run.bench("--quick", *words)
    said = f"{run.checked(answer)} cases right"
    rows = [[row["name"], row["way"], share(run, row["ratio"])] for row in answer["cases"]]
    run.tables["in cache"] = (["case", "way", "share"], rows)
    return said


def launches(run):
    """What a launch of a kept plan costs the host, and 1,000 tensors of 1 MB in one call."""
    answer = run.bench(*given(("row-major", "col-major", "64,64" if run.small else "256,256", "f32")))
    run.checked(answer)
    run.bound("launch of a kept plan, µs", answer["cases"][0]["launch_us"], most=LAUNCH_MICROSECONDS)
    count, dims = (20, "32,32") if run.small else (MANY[0], "512,512")
    answer = run.bench("--quick", "--many", count, *given(("row-major", "col-major", dims, "f32")))
    run.checked(answer)
    run.bound(f"{count} tensors of 1 MB: share of copy", answer["cases"][0]["ratio"], least=MANY[1])
    return f"bytes of {count} arrays right"


def python(run, *words):
    """The lines of bench/device_python.py, which is ended when the step's time is over; what it wrote until then counts."""
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
        (out, err), over = process.communicate(), ", ended when the step's time was over"
    if process.returncode and not over:
        raise RuntimeError(err.strip()[-900:])
    return out.splitlines(), over


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
        raise Skipped(lines[0])
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
    return f"{len(rows)} rows, checksums equal{over}"


# A name, the function, and its budget in seconds. The first one has to work.
STEPS = [
    ("facts", facts, 30),
    ("supertile", supertile, 60),
    ("small and l2 cases", small_cases, 90),
    ("odd pointers", odd_pointers, 60),
    ("random pairs", random_pairs, 80),
    ("fills, swizzles, widths, many", more_kinds, 40),
    ("speed, arrays of 1 GB", speed, 120),
    ("launches", launches, 20),
    ("in cache", in_cache, 40),
    ("python", python_paths, 40),
    ("beside torch", beside, 90),
    ("beyond 4 GB", beyond, 60),
    ("compute-sanitizer", sanitizer, 60),
]


def one_step(run, name, step, budget):
    began = time.monotonic()
    run.end = min(began + budget, run.until)
    try:
        state, says = "done", step(run)
    except Skipped as why:
        state, says = "left out", str(why)
    except ImportError as why:
        state, says = "left out", str(why)
    except (TimeoutError, subprocess.TimeoutExpired) as why:
        state, says = "out of time", str(why)[:300]
    except Exception as why:
        state, says = "failed", f"{type(why).__name__}: {why}"[:1500]
        if not isinstance(why, (AssertionError, RuntimeError)):
            says += " at " + traceback.format_exc(limit=-2).strip().splitlines()[-3].strip()
    took = time.monotonic() - began
    run.steps.append({"name": name, "state": state, "says": says, "seconds": round(took, 1), "what": step.__doc__})
    print(f"{name:32} {state:12} {took:6.1f} s  {says}", flush=True)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows])


def markdown(run, when):
    device = run.device
    name = device.get("name", "no device")
    parts_ = [f"# {name}, {when:%Y-%m-%d}\n"]
    if not device:
        parts_.append("No device was available; nothing was measured, and nothing was compared on one. `python bench/device.py` is the command that does it.\n")
    elif run.emulated:
        parts_.append("The device is **emulated** on the host: bytes were compared, and no speed was measured.\n")
    if device:
        keys = [key for key in device if key not in ("packages", "nvidia_smi")]
        parts_.append(table(["fact", "value"], [[key, device[key]] for key in keys]))
        for key in ("nvidia_smi", "packages"):
            if key in device:
                parts_.append(table([key, "value"], sorted((k, v or "not there") for k, v in device[key].items())))
    rows = [[step["name"], step["state"], step["seconds"], step["says"]] for step in run.steps]
    parts_ += ["## What was run\n", table(["step", "state", "seconds", "what it says"], rows)]
    if run.bounds:
        word = {True: "pass", False: "**fail**", None: "not measured"}
        least = {}
        for bound in run.bounds:
            key = (bound["name"], bound["bound"])
            all_of = least.setdefault(key, [])
            all_of.append(bound)
        rows = []
        for (name_, limit), all_of in least.items():
            failed = [one for one in all_of if one["passed"] is False]
            state = None if all_of[0]["passed"] is None else not failed
            values = [one["value"] for one in all_of if one["value"] is not None]
            worst = "" if not values else f"{(min if limit.startswith('>=') else max)(values):.3f}"
            rows.append([name_, limit, len(all_of), worst, word[state], ", ".join(one["where"] for one in failed[:12])])
        parts_ += ["## Bounds\n", table(["bound", "limit", "cases", "worst", "state", "cases that fail"], rows)]
    for title, (head, rows) in run.tables.items():
        parts_ += [f"## {title}\n", table(head, rows)]
    return "\n\n".join(part.strip() for part in parts_) + "\n"


def written(run, when):
    folder = pathlib.Path(run.asked.out) if run.asked.out else HERE / "record" if (HERE / "record").is_dir() else HERE
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^a-z0-9]+", "-", run.device.get("name", "no-device").lower()).strip("-")
    path = folder / f"{name}-{when:%Y-%m-%d}"
    whole = {
        "date": f"{when:%Y-%m-%d}",
        "emulated": run.emulated,
        "device": run.device,
        "steps": run.steps,
        "bounds": run.bounds,
        "cases": [] if run.emulated else run.rows,
        "rivals": [] if run.emulated else getattr(run, "rivals", []),
        "tables": {title: {"head": head, "rows": rows} for title, (head, rows) in run.tables.items()},
    }
    path.with_name(path.name + ".json").write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    path.with_name(path.name + ".md").write_text(markdown(run, when), encoding="utf-8")
    return path


def main():
    asked = arguments()
    run = Run(asked)
    sys.path.insert(0, str(HERE))
    words = asked.only.split(",") if asked.only else None
    for number, (name, step, budget) in enumerate(STEPS):
        if number and not run.device:
            why = "no device"
        elif number and run.left() < 8:
            why = "the run's time is over"
        elif number and words and not any(word in name for word in words):
            why = "not asked for"
        else:
            one_step(run, name, step, budget)
            continue
        run.steps.append({"name": name, "state": "left out", "says": why, "seconds": 0.0, "what": step.__doc__})
        print(f"{name:32} left out     {why}")
    path = written(run, datetime.date.today())
    print(f"{time.monotonic() - run.began:.0f} s; {path}.md and .json")
    bad = any(step["state"] == "failed" for step in run.steps) or any(bound["passed"] is False for bound in run.bounds)
    return 3 if not run.device else 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
