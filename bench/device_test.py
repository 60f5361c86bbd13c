"""Tests of device.py that run without a device: python bench/device_test.py"""

import datetime
import io
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import time
import types
import unittest
from contextlib import redirect_stdout

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))

import device
import device_record
import device_run
import device_steps


def a_run(program="/no/program", left=570.0, **more):
    """A run that has found a device."""
    run = device_run.Run.__new__(device_run.Run)
    now = time.monotonic()
    run.asked = types.SimpleNamespace(small=False, random=None, out=None)
    run.small, run.program, run.began, run.until, run.end = False, program, now, now + left, now + left
    run.device, run.steps, run.bounds, run.tables, run.rows = {"name": "a device"}, [], [], {}, []
    for name, value in more.items():
        setattr(run, name, value)
    return run


def steps_of(run, *functions):
    with redirect_stdout(io.StringIO()):
        device.all_steps(run, [(function.__name__, function, 10) for function in functions])
    return [step["state"] for step in run.steps]


def right(run):
    """Is right."""
    return "right"


def raising(error):
    def step(run):
        raise error

    return step


class Steps(unittest.TestCase):
    def test_correctness_is_before_speed_and_nothing_is_in_both(self):
        names = [name for name, _, _ in device.STEPS]
        self.assertEqual(len(names), len(set(names)))
        last = max(names.index(name) for name in ("beyond 4 GB", "compute-sanitizer", "python", "random pairs"))
        first = min(names.index(name) for name in ("speed, arrays of 1 GB", "beside torch", "in cache", "launches"))
        self.assertLess(last, first)

    def test_shares_come_to_the_whole_time_and_leave_each_step_its_own(self):
        weights, left, taken = [weight for _, _, weight in device.STEPS], 570.0, []
        for at, weight in enumerate(weights):
            taken.append(device.seconds(weight, sum(weights[at:]), left))
            left -= taken[-1]
        self.assertAlmostEqual(left, 0.0)
        for one, weight in zip(taken, weights):
            self.assertAlmostEqual(one, 570.0 * weight / sum(weights))
        # What the first ones leave is for the others; a step that took too much leaves no time below zero.
        self.assertAlmostEqual(device.seconds(90, 90, 300.0), 300.0)
        self.assertEqual(device.seconds(90, 180, -5.0), 0.0)

    def test_what_was_not_run_is_not_well(self):
        for error, state, code in [
            (None, "done", 0),
            (device_run.Skipped("--small"), "left out", 0),
            (device_run.NotThere("no tool"), "not there", 4),
            (ImportError("no module"), "not there", 4),
            (TimeoutError("late"), "out of time", 4),
            (subprocess.TimeoutExpired("a", 1), "out of time", 4),
            (AssertionError("wrong"), "failed", 1),
            (KeyError("name"), "failed", 1),
        ]:
            run = a_run()
            self.assertEqual(steps_of(run, right, raising(error) if error else right), ["done", state])
            self.assertEqual(device.exit_code(run), code, state)
            line = device_record.not_run(run)
            self.assertEqual("**Not run" in line, code == 4, line)
        run = a_run()
        self.assertEqual(steps_of(run, raising(TimeoutError()), raising(AssertionError())), ["out of time", "failed"])
        self.assertEqual(device.exit_code(run), 1)
        run = a_run(bounds=[{"passed": False}])
        self.assertEqual((steps_of(run, right), device.exit_code(run)), (["done"], 1))
        run = a_run(device={})
        self.assertEqual((steps_of(run, right, right), device.exit_code(run)), (["done", "left out"], 3))

    def test_steps_behind_the_end_are_out_of_time_and_in_the_record(self):
        run = a_run()

        def long(run):
            run.until = time.monotonic()
            return "took all"

        self.assertEqual(steps_of(run, right, long, right), ["done", "done", "out of time"])
        self.assertEqual(device.exit_code(run), 4)
        with tempfile.TemporaryDirectory() as folder:
            run.asked.out = folder
            path = device_record.written(run, datetime.date(2026, 1, 2))
            self.assertIn("**Not run, or not to the end**: right.", path.with_name(path.name + ".md").read_text())
            self.assertIn('"complete": false', path.with_name(path.name + ".json").read_text())


class Speed(unittest.TestCase):
    def test_what_was_measured_counts_and_names_left_out_are_said(self):
        names = [f"case-{at}" for at in range(10)]

        def bench(*words, least=5.0):
            if "case-6" in words:
                raise TimeoutError("the step's time is over")
            rows = [dict.fromkeys(["gb_per_s", "copy_gb_per_s", "spread", "first_ms", "bytes"], 1) for _ in range(6)]
            found = [word for word in words if word.startswith("case-")]
            return {"cases": [{**row, "name": name, "right": True, "way": "rows", "ratio": 0.5} for row, name in zip(rows, found)]}

        run, parts = a_run(bench=bench), device_steps.parts
        device_steps.parts = lambda run, named: [names]
        try:
            with self.assertRaises(TimeoutError) as raised:
                device_steps.speed(run)
        finally:
            device_steps.parts = parts
        for name in names:
            self.assertEqual(name in str(raised.exception), name in names[6:])
        self.assertEqual((len(run.rows), len(run.bounds), len(run.tables["speed"][1])), (6, 7, 6))
        self.assertEqual([bound["passed"] for bound in run.bounds], [False] * 7)


class Commands(unittest.TestCase):
    def program(self, folder, text):
        path = pathlib.Path(folder, "program")
        path.write_text(f"#!{sys.executable}\n{text}")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def test_commands_without_time_are_out_of_time_and_wrong_bytes_are_a_failure(self):
        text = (
            "import sys, time, json\n"
            "if 'slow' in sys.argv: time.sleep(60)\n"
            "right = 'wrong' not in sys.argv\n"
            "print(json.dumps({'cases': [{'name': 'a', 'right': right, 'wrong': 'byte 0'}]}))\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            run = a_run(self.program(folder, text))
            self.assertEqual(device_run.many_at_once(run, [["a"], ["b"]], "cases"), "2 cases right")
            with self.assertRaisesRegex(AssertionError, "1 cases right; 1 faults: a .wrong.: byte 0"):
                device_run.many_at_once(run, [["a"], ["wrong"]], "cases")
            run.end = time.monotonic() + 1.0
            with self.assertRaisesRegex(TimeoutError, "1 of 1 commands"):
                device_run.many_at_once(run, [["slow"]], "cases")


class Packages(unittest.TestCase):
    def test_a_package_that_is_not_there_is_no_failure_and_all_else_is(self):
        absent = device_steps.failure("Traceback\nModuleNotFoundError: No module named 'numpy'")
        self.assertIsInstance(absent, device_run.NotThere)
        self.assertEqual(str(absent), "no package numpy")
        for text in ("", "ModuleNotFoundError: No module named 'tilewright._ours'", "ModuleNotFoundError: No module named 'numpy'\nValueError: a"):
            self.assertIsInstance(device_steps.failure(text), RuntimeError)


class Names(unittest.TestCase):
    def test_names_given_to_the_program_are_names_of_cases(self):
        texts = [path.read_text() for path in sorted((HERE / "definitions").glob("*.toml"))]
        known = [name for text in texts for name in re.findall(r'^name = "(.*)"$', text, re.MULTILINE)]
        self.assertGreater(len(known), 80)
        self.assertGreaterEqual(len(device_steps.SANITIZED), 6)
        for name in device_steps.SANITIZED:
            self.assertIn(name, known)
        for part in device_steps.transposes(a_run(small=True)):
            self.assertTrue(any(part in name for name in known), part)


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    unittest.main()
