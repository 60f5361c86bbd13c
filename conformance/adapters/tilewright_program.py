"""Tilewright's command-line program, one expression a line. TILEWRIGHT is its path; the default is `tilewright`."""

import itertools
import os
import subprocess

NAME = "Tilewright, program"
PROGRAM = os.environ.get("TILEWRIGHT", "tilewright")
NAMES = {"layout_of_linear": "layout", "linear_inverse": "inverse", "linear_compose": "compose"}


class Refused(Exception):
    """An answer of the program that begins with `error:`."""


REFUSALS = (Refused,)


def version():
    return subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]


def evaluate(lines):
    """Returns the answers to expressions; a wrong number of lines is an error."""
    run = subprocess.run([PROGRAM, "eval", "-"], input="\n".join(lines) + "\n", capture_output=True, text=True)
    answers = run.stdout.splitlines()
    if run.returncode not in (0, 1) or len(answers) != len(lines):
        raise RuntimeError(f"exit code {run.returncode}, {len(answers)} answers to {len(lines)} lines: {run.stderr}")
    for answer in answers:
        if answer.startswith("error:"):
            raise Refused(answer)
    return answers


def answer(op, args, question):
    if op == "table":
        coords = itertools.product(*[range(extent) for extent in question["dims"]])
        texts = ["(" + ",".join(map(str, c)) + ",)" for c in coords]
        return "[" + ",".join(evaluate([f'offset("{args[0]}", {c})' for c in texts])) + "]"
    if op == "where":
        said = evaluate([f'coord("{args[0]}", {x})' for x in range(int(args[2]))])
        return "[" + ",".join("null" if c == "padding" else coordinate(c) for c in said) + "]"
    if "@" in "".join(args) and op != "crd2idx":  # basis strides are asked coordinate by coordinate alone
        return str(offsets(args[0])) if op == "offsets" else None
    return evaluate([f"{NAMES.get(op, op)}({', '.join(args)})"])[0]


def offsets(text):
    size = int(evaluate([f"size({text.partition(':')[0]})"])[0])
    coords = evaluate([f"crd2idx({i}, {text})" for i in range(size)])
    return [[int(x) for x in c.strip("()").split(",")] for c in coords]


def coordinate(text):
    """`(1,2)`, `(1,)` or `1` as a list."""
    return "[" + text.strip("()").rstrip(",") + "]"
