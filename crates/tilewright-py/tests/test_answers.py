"""The questions of ``corpus/answers.jsonl``: Python answers what Rust and the page answer."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw

CORPUS = Path(__file__).resolve().parents[3] / "corpus" / "answers.jsonl"
LINES = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]


def array(question: dict[str, Any]) -> dict[str, Any]:
    return {name: question[name] for name in ("dims", "dtype") if name in question}


def parsed(question: dict[str, Any], name: str = "spec") -> tw.TensorLayout:
    return tw.parse(question[name], **array(question))


def described(layout: tw.TensorLayout) -> dict[str, Any]:
    return {
        "spec": layout.spec,
        "dims": list(layout.dims),
        "capacity": layout.capacity,
        "dtype": layout.dtype,
        "bits": layout.bits,
    }


def coord(question: dict[str, Any]) -> Any:
    layout = parsed(question)
    try:
        found = layout.coord(question["offset"])
    except tw.OutOfRangeError:
        return "out of range"
    return "padding" if found is None else list(found)


def inferred(question: dict[str, Any]) -> Any:
    original, packed = (np.array(question[name], np.uint8) for name in ("original", "packed"))
    found = tw.infer(original, packed, dims=question["dims"])
    if found.layout is None:
        return {"error": {"kind": found.answer, "span": None}}
    return found.layout.translate("pattern")


def moved(question: dict[str, Any]) -> str:
    dims = question.get("dims")
    plan = tw.Plan(question["from"], question["to"], dims=dims, bits=question["bits"])
    source = np.arange(plan.src_bytes, dtype=np.uint64) * 7 + 1
    return bytes(plan.run(source.astype(np.uint8), bytearray(plan.dst_bytes))).hex()


ASK: dict[str, Callable[[dict[str, Any]], Any]] = {
    "eval": lambda question: tw.evaluate_text(question["text"]),
    "parse": lambda question: described(parsed(question)),
    "translate": lambda question: parsed(question).translate(question["to"]),
    "explain": lambda question: str(tw.explain(question["spec"], **array(question))),
    "recognise": lambda question: tw.recognise(question["spec"], **array(question)),
    "offset": lambda question: parsed(question).offset(question["coord"]),
    "coord": coord,
    "same": lambda question: str(parsed(question, "a").same(parsed(question, "b"))),
    "distribution": lambda question: tw.distribution(question["spec"], **array(question)),
    "infer": inferred,
    "relayout": moved,
}


def answer(question: dict[str, Any]) -> Any:
    try:
        return ASK[question["ask"]](question)
    except tw.Error as error:
        span = list(error.span) if error.span is not None else None
        return {"error": {"kind": error.kind, "span": span}}


@pytest.mark.parametrize("kind", ASK)
def test_answers(kind: str) -> None:
    lines = [line for line in LINES if line["ask"] == kind]
    assert len(lines) > 5
    wrong = [(line, now) for line in lines if (now := answer(line)) != line["answer"]]
    assert not wrong, f"{len(wrong)} of {len(lines)}: {wrong[:5]}"


def test_every_kind_is_asked() -> None:
    assert {line["ask"] for line in LINES} == set(ASK)


def test_operations_with_values_for_arguments() -> None:
    """The same answers from the functions, their arguments and results as values of Python's."""
    names = {name for name, _, _ in tw.functions()}
    asked = 0
    for line in LINES:
        text = line.get("text", "")
        name, _, rest = text.partition("(")
        if name not in names or not text.endswith(")") or isinstance(line["answer"], dict):
            continue
        value = tw.evaluate(text)
        arguments = [tw.evaluate(part) for part in split(rest[:-1])]
        if any(isinstance(part, tw.TensorLayout) for part in arguments):
            continue
        known = getattr(tw.algebra, name, partial(tw.algebra.operation, name))
        assert known(*arguments) == value, text
        asked += 1
    assert asked > 2000


def split(text: str) -> list[str]:
    """The arguments of a call."""
    parts, depth, begin, quoted = [], 0, 0, False
    for at, letter in enumerate(text):
        quoted ^= letter == '"'
        if quoted:
            continue
        depth += (letter in "([<{") - (letter in ")]}") - (letter == ">" and text[at - 1] != "-")
        if letter == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    return [*parts, text[begin:]]
