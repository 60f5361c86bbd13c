"""The state that the steps of device.py share: the program, the clock and the results."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


class Skipped(Exception):
    """A step that was not selected, or that this kind of device cannot run; the message gives the reason."""


class NotThere(Exception):
    """A step whose program or package is missing; the message names it."""


def found_program(given):
    names = [HERE / "tilewright", HERE.parent / "target" / "release" / "tilewright"]
    if given:
        return str(pathlib.Path(given).resolve())
    for name in names:
        if name.is_file():
            return str(name)
    path = shutil.which("tilewright")
    if path is None:
        raise SystemExit("the program tilewright was not found: give --program, or run `cargo xtask device`, which makes a folder with it")
    return path


class Run:
    """One run of the script: the program, the clock and the results."""

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
        """The answer of `tilewright bench --device`; wrong bytes are part of an answer."""
        seconds = min(self.left(), self.end - time.monotonic())
        if seconds < least:
            raise TimeoutError("the step's time is over")
        command = [self.program, "bench", "--device", "--json", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{' '.join(command[1:])}: exit {done.returncode}: {done.stderr.strip()[-600:]}")
        return json.loads(done.stdout)

    def checked(self, answer):
        """Returns the number of right cases; a wrong one is an error."""
        wrong = [f"{row['name']}: {row['wrong']}" for row in answer["cases"] if not row["right"]]
        if wrong:
            raise AssertionError("; ".join(wrong[:5]) + (f"; and {len(wrong) - 5} more" if len(wrong) > 5 else ""))
        return len(answer["cases"])

    def bound(self, name, value, least=None, most=None, where=""):
        """Adds a bound to the table: passed, failed, or not judged on an emulated device."""
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
    """Runs commands of the program in parallel; each is a list of words for `bench`."""
    seconds = max(1.0, min(run.left(), run.end - time.monotonic()))
    workers = max(1, min(8, (os.cpu_count() or 2) // 2))
    waiting, running, right, faults, over = list(jobs), [], 0, [], ""
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
            over = f"{len(waiting) + len(running) + 1} of {len(jobs)} commands did not finish"
            break
        if process.returncode not in (0, 1):
            faults.append(f"{' '.join(map(str, words))}: exit {process.returncode}: {err.strip()[-300:]}")
            continue
        answer = json.loads(out)
        right += sum(row["right"] for row in answer["cases"])
        faults += [f"{row['name']} ({' '.join(map(str, words))}): {row['wrong']}" for row in answer["cases"] if not row["right"]]
    said = f"{right} {what} right"
    if faults:
        raise AssertionError(f"{said}; {len(faults)} faults: " + "; ".join([*faults[:5], over]).rstrip("; "))
    if over:
        raise TimeoutError(f"{said}; {over}")
    return said


def share(run, value):
    return "not measured" if run.emulated or value is None else f"{value:.3f}"
