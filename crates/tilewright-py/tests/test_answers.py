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
ASKED = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
# Arrays in shards and arrays with index tables are values of their own in Python, with tests of their own.
OWN = (" @ ", " table(", " GPTQ_3BIT", " MEGATRON_QKV")
LINES = [line for line in ASKED if not any(part in line.get(name, "") for part in OWN for name in ("spec", "a", "from"))]


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
        return {"place": "out of range", "coord": None}
    if found is None:
        return {"place": "padding", "coord": None}
    return {"place": "element", "coord": list(found)}


def explained(question: dict[str, Any]) -> Any:
    said = tw.explain(question["spec"], **array(question))
    return {
        "layout": said.spec,
        "dtype": said.dtype,
        "element_bits": said.bits,
        "dims": said.dims,
        "size": said.size,
        "cosize": said.cosize,
        "capacity": said.capacity,
        "bytes": said.nbytes,
        "padding": said.padding,
        "contiguous_run": said.contiguous_run,
        "injective": said.injective,
        "exhaustive": said.exhaustive,
        "true_rank": said.true_rank,
        "order": said.order,
        "lines": [list(line) for line in said.lines],
    }


def compared(question: dict[str, Any]) -> Any:
    said = tw.same(question["a"], question["b"])
    if said.same:
        return {"same": True, "notes": said.notes}
    if said.coord is None:
        return {"same": False}
    return {"same": False, "coord": said.coord, "left": said.left, "right": said.right}


def inferred(question: dict[str, Any]) -> Any:
    original, packed = (np.array(question[name], np.uint8) for name in ("original", "packed"))
    found = tw.infer(original, packed, dims=question["dims"])
    if found.layout is None:
        return {"answer": found.answer, "why": found.why}
    try:
        pattern = found.layout.translate("pattern")
    except tw.UnsupportedError:
        # Dims that are stored backwards have no pattern.
        pattern = found.layout.spec.removeprefix("u8")
    return {
        "answer": "found",
        "pattern": pattern,
        "padding": found.layout.padding,
        "only": found.only,
        "reversed": found.reversed,
    }


def moved(question: dict[str, Any]) -> Any:
    dims = question.get("dims")
    plan = tw.Plan(question["from"], question["to"], dims=dims, bits=question["bits"])
    source = np.arange(plan.src_bytes, dtype=np.uint64) * 7 + 1
    moved = plan.run(source.astype(np.uint8), bytearray(plan.dst_bytes))
    return {"bytes": bytes(moved).hex()}


def banks(question: dict[str, Any]) -> Any:
    asked = {name: question[name] for name in ("vector", "banks", "fix") if name in question}
    access = question.get("access", [])
    return tw.bank_conflicts(question["spec"], access, **asked, **array(question)).as_dict()


# What Python's values say of an answer; the recorded one may have more fields.
ASK: dict[str, Callable[[dict[str, Any]], Any]] = {
    "eval": lambda question: {"text": tw.evaluate_text(question["text"])},
    "parse": lambda question: described(parsed(question)),
    "translate": lambda question: {"text": parsed(question).translate(question["to"])},
    "explain": explained,
    "recognise": lambda question: tw.recognise(question["spec"], **array(question)),
    "offset": lambda question: {"offset": parsed(question).offset(question["coord"])},
    "coord": coord,
    "same": compared,
    "distribution": lambda question: {"map": tw.distribution(question["spec"], **array(question))},
    "bank_conflicts": banks,
    "infer": inferred,
    "relayout": moved,
}


def recorded(line: dict[str, Any], now: Any) -> Any:
    """What was recorded, as far as the answer speaks of it."""
    answer = line["answer"]
    if line["ask"] == "recognise" and "error" not in answer:
        return [found["name"] for found in answer["formats"]]
    return {name: answer.get(name) for name in now} if "error" not in answer else answer


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
    wrong = [(line, now) for line in lines if (now := answer(line)) != recorded(line, now)]
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
        if name not in names or not text.endswith(")") or "error" in line["answer"]:
            continue
        value = tw.evaluate(text)
        arguments = [tw.evaluate(part) for part in split(rest[:-1])]
        # CuTe writes `composition(A, 8, B)` only as text, with an offset between the layouts.
        if any(isinstance(part, tw.TensorLayout) for part in arguments) or name == "composition" and len(arguments) > 2:
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
