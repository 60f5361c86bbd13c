"""Runs all checks that need a CUDA device: correctness, compute-sanitizer and speed, and writes a record.

    python bench/device.py [--program TILEWRIGHT] [--out FOLDER] [--budget 570] [--small]

It needs only the program `tilewright`, which is searched next to this file, in target/release and on the path.
It uses torch, jax, cupy, compute-sanitizer, nvidia-smi and the package `tilewright` if they are there; the record
lists the missing ones. `cargo xtask device` puts program, wheel and this file into one folder that can be copied to a
machine without Rust, and runs it if there is a device.

Steps run in the order of STEPS, correctness before speed; each can fail alone. A step may take its share of the
time that is left; unused time goes to the steps after it. The record is a
Markdown and a JSON file, named by the device and the day. `--small` takes small sizes, and on an emulated device
(crates/tilewright-cuda/emulated) no speed is recorded.

It exits with 0 if all steps ran and passed; 1 if a step failed or a bound was missed; 3 without a device; 4 if
the steps that ran passed, but one ran out of time or lacked a tool: the record names it.
"""

import argparse
import datetime
import subprocess
import sys
import time
import traceback

import device_steps as steps
from device_record import missing, written
from device_run import NotThere, Run, Skipped

# Seconds below which no step is begun.
LEAST = 1.0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", help="the program tilewright")
    parser.add_argument("--out", help="the folder of the record; by default next to this file")
    parser.add_argument("--budget", type=float, default=570.0, help="seconds for the whole run")
    parser.add_argument("--small", action="store_true", help="small sizes, to try the script")
    parser.add_argument("--only", help="run only steps whose names contain one of these words, separated by commas")
    parser.add_argument("--random", type=int, help="number of random pairs; by default 500, or 8 with --small")
    return parser.parse_args()


# A name, the function, and its share of the time: seconds, where there are 800. The first one has to work.
CORRECTNESS = [
    ("facts", steps.facts, 30),
    ("small and l2 cases", steps.small_cases, 90),
    ("odd pointers", steps.odd_pointers, 60),
    ("random pairs", steps.random_pairs, 80),
    ("fills, swizzles, widths, many", steps.more_kinds, 40),
    ("beyond 4 GB", steps.beyond, 60),
    ("compute-sanitizer", steps.sanitizer, 60),
    ("python", steps.python_paths, 40),
]
SPEED = [
    ("speed, arrays of 1 GB", steps.speed, 120),
    ("launches", steps.launches, 20),
    ("beside torch", steps.beside, 160),
    ("in cache", steps.in_cache, 40),
]
STEPS = CORRECTNESS + SPEED


def seconds(weight, weights, left):
    """Returns a step's share of the seconds that are left; `weights` is the sum of its weight and those of later steps."""
    return max(0.0, left) * weight / weights


def one_step(run, name, step, budget):
    began = time.monotonic()
    run.end = min(began + budget, run.until)
    try:
        state, says = "done", step(run)
    except Skipped as why:
        state, says = "left out", str(why)
    except (NotThere, ImportError) as why:
        state, says = "not there", str(why)
    except (TimeoutError, subprocess.TimeoutExpired) as why:
        state, says = "out of time", str(why)[:300]
    except Exception as why:
        state, says = "failed", f"{type(why).__name__}: {why}"[:1500]
        if not isinstance(why, (AssertionError, RuntimeError)):
            says += " at " + traceback.format_exc(limit=-2).strip().splitlines()[-3].strip()
    took = time.monotonic() - began
    noted(run, name, step, state, says, took)


def noted(run, name, step, state, says, took=0.0):
    run.steps.append({"name": name, "state": state, "says": says, "seconds": round(took, 1), "what": step.__doc__})
    print(f"{name:32} {state:12} {took:6.1f} s  {says}", flush=True)


def all_steps(run, steps_, words=None):
    """Runs the steps that have one of the words in their names; the first one always."""
    asked = [not words or any(word in name for word in words) for name, _, _ in steps_]
    asked[0] = True
    for number, (name, step, weight) in enumerate(steps_):
        weights = sum(one[2] for one, is_asked in zip(steps_[number:], asked[number:]) if is_asked)
        if not asked[number]:
            noted(run, name, step, "left out", "not asked for")
        elif number and not run.device:
            noted(run, name, step, "left out", "no device")
        elif run.left() < LEAST:
            noted(run, name, step, "out of time", "the run's time is over")
        else:
            one_step(run, name, step, seconds(weight, weights, run.left()))


def exit_code(run):
    if not run.device:
        return 3
    if any(step["state"] == "failed" for step in run.steps) or any(bound["passed"] is False for bound in run.bounds):
        return 1
    return 4 if missing(run) else 0


def main():
    asked = arguments()
    run = Run(asked)
    all_steps(run, STEPS, asked.only.split(",") if asked.only else None)
    path = written(run, datetime.date.today())
    print(f"{time.monotonic() - run.began:.0f} s; {path}.md and .json")
    return exit_code(run)


if __name__ == "__main__":
    sys.exit(main())
