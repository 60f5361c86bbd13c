"""Compares what Coq computes by the definitions of `proofs/` with what the program answers, on random layouts.

    python tests/oracle/coq.py PROGRAM [--count N] [--seed S]

It needs `coqc` (Debian: `apt-get install coq`). The theorems are about these definitions; equal answers say that the
program computes the same. The exit code is 1 if an answer differs, with the first of each kind.
"""

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = ("Layout", "Coalesce", "Floor", "Complement", "RightInverse", "LeftInverse", "Nullspace", "Bounds")
PROOFS = Path(__file__).resolve().parents[2] / "proofs"

Modes = list[tuple[int, int]]
# The kind of a question, the term of Coq, and the expression of the program.
Case = tuple[str, str, str]
# Modes and an offset; an integer is an offset without modes.
Answer = tuple[Modes, int]


def number(value: int) -> str:
    return f"({value})" if value < 0 else str(value)


def coq(modes: Modes) -> str:
    return "[" + "; ".join(f"Mode {number(e)} {number(s)}" for e, s in modes) + "]"


def text(modes: Modes) -> str:
    extents, strides = (",".join(str(mode[at]) for mode in modes) for at in (0, 1))
    return f"({extents}):({strides})"


def loose(source: random.Random) -> Modes:
    """Any modes: often one goes on where the one before ends."""
    modes: Modes = []
    for _ in range(source.randint(1, 6)):
        extent = source.choice([1, 1, 2, 3, 4, 5] + [0] * (source.random() < 0.05))
        follows = modes and source.random() < 0.5
        stride = modes[-1][0] * modes[-1][1] if follows else source.choice([0, 1, 2, 3, 4, 6, -1, -2, 12])
        modes.append((extent, stride))
    return modes


def chain(source: random.Random) -> Modes:
    """Modes whose products divide the next stride, by stride."""
    modes, stride = [], source.choice([1, 1, 2])
    for _ in range(source.randint(1, 4)):
        extent = source.choice([2, 2, 3, 4])
        modes.append((extent, stride))
        stride *= extent * source.choice([1, 1, 2, 3])
    return modes


def disordered(source: random.Random, modes: Modes) -> Modes:
    """The modes in another order, some backwards, some repeated."""
    mixed = [(extent, -stride if source.random() < 0.25 else stride) for extent, stride in modes]
    mixed += [(source.choice([1, 2, 3]), 0) for _ in range(source.choice([0, 0, 1]))]
    source.shuffle(mixed)
    return mixed


def size(modes: Modes) -> int:
    product = 1
    for extent, _ in modes:
        product *= extent
    return product


def indexed(modes: Modes) -> list[tuple[tuple[int, int], int]]:
    """The modes that move, each with the index it steps over, by stride."""
    found, index = [], 1
    for extent, stride in modes:
        if extent > 1 and stride != 0:
            found.append(((extent, stride), index))
        index *= extent
    return sorted(found, key=lambda mode: abs(mode[0][1]))


def far(source: random.Random) -> tuple[Modes, int]:
    """Modes and an offset around the largest that a layout may have: 2^63 - 2."""
    left = 2**63 - 1 + source.choice([-2, -1, -1, 0, 1, -(2**40), 2**62, -(2**62)])
    modes, start = [], source.choice([0, 0, 1, 2**61])
    left -= start
    for _ in range(source.randint(0, 3)):
        extent = 1 + source.getrandbits(source.choice([1, 4, 16, 20]))
        stride = source.randrange(1, 2 ** source.choice([3, 20, 40]))
        left -= (extent - 1) * stride
        modes.append((extent, stride))
    modes += [(2, left)] if left < 2**63 else [(3, left // 2)]
    modes = [(extent, stride * source.choice([1, 1, -1])) for extent, stride in modes]
    source.shuffle(modes)
    return modes, start * source.choice([1, -1])


def case(source: random.Random) -> Case:
    kind = source.choice(["coalesce", "coalesce", "coalesce_x", "value", "nullspace", "complement", "left_inverse", "cosize", "far"])
    if kind in ("cosize", "far"):
        modes, start = far(source)
        at = source.randrange(size(modes))
        asked = "Bounds.cosize (parts l)" if kind == "cosize" else f"Bounds.offset_of (parts l) {at}"
        term = f"Bounds.bind (Bounds.new {coq(modes)} {number(start)}) (fun l => {asked} (offset l))"
        layout = f"{text(modes)}{start:+}"
        return kind, term, f"cosize({layout})" if kind == "cosize" else f"crd2idx({at}, {layout})"
    if kind in ("complement", "left_inverse"):
        ordered = chain(source)
        modes = disordered(source, ordered)
        if kind == "complement":
            count = source.choice([1, 2, 24, 100, 360])
            return kind, f"complement {coq(ordered)} {count} 1", f"complement({text(modes)}, {count})"
        pairs = "; ".join(f"(Mode {number(e)} {number(s)}, {p})" for (e, s), p in indexed(modes))
        # The program asks for a smallest offset of 0, from which Coq counts.
        lowest = sum((extent - 1) * stride for extent, stride in modes if stride < 0)
        shift = f"+{-lowest}" if lowest else ""
        return kind, f"left_inverse {coq(modes)} [{pairs}]", f"left_inverse({text(modes)}{shift})"
    modes = loose(source)
    if kind in ("value", "nullspace"):
        modes = [(max(extent, 1), stride) for extent, stride in modes]
    if kind == "value":
        at = source.randrange(size(modes))
        return kind, f"value {coq(modes)} {at}", f"crd2idx({at}, {text(modes)})"
    name = "coalesce_extended" if kind == "coalesce_x" else kind
    return kind, f"{name} {coq(modes)}", f"{kind}({text(modes)})"


def computed(cases: list[Case]) -> list[Answer | None]:
    """The answers of Coq; None for a refusal."""
    lines = [f"From Tilewright Require Import {' '.join(FILES[:-1])}.", "From Tilewright Require Bounds.",
             "From Coq Require Import ZArith List.",
             "Import ListNotations. Open Scope Z_scope."]
    lines += [f"Eval vm_compute in ({term})." for _, term, _ in cases]
    with tempfile.TemporaryDirectory() as folder:
        for name in FILES:
            shutil.copy(PROOFS / f"{name}.v", folder)
        Path(folder, "Cases.v").write_text("\n".join(lines) + "\n")
        for name in (*FILES, "Cases"):
            done = subprocess.run(["coqc", "-Q", ".", "Tilewright", f"{name}.v"], cwd=folder, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{name}.v: {done.stderr}")
    answers = re.split(r"^\s+: ", done.stdout, flags=re.MULTILINE)[:-1]
    return [answer_of_coq(answer.split("=", 1)[1]) for answer in answers]


def answer_of_coq(answer: str) -> Answer | None:
    if answer.strip() == "Bounds.Refused":
        return None
    answer = re.sub(r"Bounds.Got \(?(-?\d+)\)?", r"\1", answer)
    modes = re.findall(r"extent := (-?\d+);\s*stride := (-?\d+)", answer)
    offset = re.search(r"offset := (-?\d+)", answer)
    alone = re.fullmatch(r"\s*(-?\d+)\s*", answer)
    return [(int(e), int(s)) for e, s in modes], int((offset or alone)[1]) if offset or alone else 0


def answered(program: str, cases: list[Case]) -> list[Answer | None]:
    """The answers of the program; None for a refusal."""
    asked = "".join(expression + "\n" for _, _, expression in cases)
    done = subprocess.run([program, "eval", "-"], input=asked, capture_output=True, text=True)
    answers = done.stdout.splitlines()
    if len(answers) != len(cases):
        sys.exit(f"{len(answers)} answers to {len(cases)} expressions: {done.stderr}")
    return [None if answer.startswith("error") else answer_of_program(answer) for answer in answers]


def answer_of_program(answer: str) -> Answer:
    if ":" not in answer:
        return [], int(answer)
    shape, rest = answer.split(":")
    strides, _, offset = rest.partition("+")
    extents, strides = (re.findall(r"-?\d+", part) for part in (shape, strides))
    return [(int(e), int(s)) for e, s in zip(extents, strides, strict=True)], int(offset or 0)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    source = random.Random(arguments.seed)
    cases = [case(source) for _ in range(arguments.count)]
    theirs, ours = computed(cases), answered(arguments.program, cases)
    if len(theirs) != len(cases):
        sys.exit(f"Coq answers {len(theirs)} of {len(cases)}")
    wrong: dict[str, list[str]] = {}
    for (kind, term, expression), right, own in zip(cases, theirs, ours, strict=True):
        if own != right:
            wrong.setdefault(kind, []).append(f"{expression} is {own}, and by Coq {term} is {right}")
    counts = {kind: sum(one == kind for one, _, _ in cases) for kind in sorted({kind for kind, _, _ in cases})}
    print(f"{len(cases)} cases, seed {arguments.seed}: {counts}; {sum(map(len, wrong.values()))} differ")
    for kind, found in wrong.items():
        print(f"{kind}: {len(found)}, such as {found[0]}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
