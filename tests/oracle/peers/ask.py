"""Asks other libraries and the program the same questions, and lists the answers that differ, with who is right.

    python tests/oracle/peers/ask.py PROGRAM [--count N] [--seed S] [PEER ...]

The questions are drawn at random from what the documents of each library promise. Where the texts of two answers differ,
the law of the operation decides (`conformance/run.py`); where no law does, `LISTED` has the reason. The exit code is 1
if Tilewright breaks a law, or gives another answer than the library where neither a law nor the list decides.
"""

import argparse
import collections
import importlib
import random
import subprocess
import sys
from dataclasses import dataclass
from typing import Callable

# What became of a question.
SAME, SAME_MAP, BOTH, THEIRS, OURS, OPEN, ONLY_THEY, ONLY_THEY_WRONG, ONLY_WE, NEITHER = (
    "same", "same map", "both right", "they err", "we err", "differ", "we refuse", "we refuse, they err", "they refuse", "neither")
OUTCOMES = (SAME, SAME_MAP, BOTH, THEIRS, OURS, OPEN, ONLY_THEY, ONLY_THEY_WRONG, ONLY_WE, NEITHER)
PEERS = ("pycute", "tensor_layouts", "einops", "triton", "cute")


@dataclass
class Case:
    """A question: an expression of `tilewright eval`, and what the library answers; None if it refuses."""

    kind: str
    expression: str
    theirs: str | None
    # Whether an answer is right by the law of the operation; None where no law decides.
    law: Callable[[str], bool | None] = lambda answer: None
    # Whether two answers say the same.
    same: Callable[[str, str], bool] = lambda one, other: False


# Differences on purpose: the library, the kind of question, what becomes of it, and the reason.
LISTED: dict[tuple[str, str, str], str] = {
    ("triton", "blocked", SAME_MAP): "(Triton 3.9 leaves out the registers that hold copies; earlier versions and Tilewright keep them)",
}


def evaluate(program: str, expressions: list[str]) -> list[str | None]:
    """The program's answers; None for a refusal."""
    done = subprocess.run([program, "eval", "-"], input="\n".join(expressions) + "\n", capture_output=True, text=True)
    answers = done.stdout.splitlines()
    if done.returncode not in (0, 1) or len(answers) != len(expressions):
        sys.exit(f"exit code {done.returncode}, {len(answers)} answers to {len(expressions)} expressions: {done.stderr}")
    return [None if answer.startswith("error:") else answer for answer in answers]


def plain(answer: str) -> str:
    """The text without what does not count: spaces, and the comma of a tuple of one."""
    return answer.replace(" ", "").replace(",)", ")")


def short(answer: str | None) -> str:
    """The beginning of a long answer, such as a list of offsets."""
    answer = str(answer)
    return answer if len(answer) <= 160 else f"{answer[:150]} … ({len(answer)} characters)"


def outcome(case: Case, ours: str | None) -> str:
    theirs = case.theirs
    if theirs is None or ours is None:
        if theirs is None:
            return NEITHER if ours is None else (OURS if case.law(ours) is False else ONLY_WE)
        return ONLY_THEY_WRONG if case.law(theirs) is False else ONLY_THEY
    if plain(theirs) == plain(ours):
        return SAME
    if case.same(theirs, ours):
        return SAME_MAP
    verdicts = case.law(ours), case.law(theirs)
    if verdicts[0] is False:
        return OURS
    return {(True, True): BOTH, (True, False): THEIRS}.get(verdicts, OPEN)


def ask(program: str, peer: str, source: random.Random, count: int) -> bool:
    """Whether nothing is wrong with the program's answers."""
    module = importlib.import_module(f"peer_{peer}")
    cases = list(module.cases(source, count))
    answers = evaluate(program, [case.expression for case in cases])
    table = collections.defaultdict(collections.Counter)
    examples = collections.defaultdict(list)
    for case, ours in zip(cases, answers):
        found = outcome(case, ours)
        table[case.kind][found] += 1
        examples[case.kind, found].append((case, ours))
    seen = [name for name in OUTCOMES if any(row[name] for row in table.values())]
    print(f"\n{module.NAME} {module.version()}: {len(cases)} questions")
    print(f"| {'question':<22} |" + "".join(f" {name} |" for name in seen))
    for kind, row in sorted(table.items()):
        print(f"| {kind:<22} |" + "".join(f" {row[name] or ''} |" for name in seen))
    for (kind, found), list_of in sorted(examples.items()):
        reason = LISTED.get((peer, kind, found), "")
        if found in (SAME, NEITHER) or found == SAME_MAP and not reason:
            continue
        case, ours = min(list_of, key=lambda pair: len(pair[0].expression))
        print(f"{found} ({len(list_of)}), {kind}: {case.expression}\n    {peer}: {short(case.theirs)}\n    Tilewright: {short(ours)} {reason}")
    wrong = [key for key in examples if key[1] in (OURS, OPEN) and (peer, *key) not in LISTED]
    return not wrong


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("program")
    words.add_argument("peers", nargs="*", metavar="PEER", help=", ".join(PEERS))
    words.add_argument("--count", type=int, default=300, help="questions of each kind")
    words.add_argument("--seed", type=int, default=0)
    given = words.parse_intermixed_args()
    right = [ask(given.program, peer, random.Random(f"{given.seed} {peer}"), given.count) for peer in given.peers or PEERS]
    sys.exit(not all(right))


if __name__ == "__main__":
    main()
