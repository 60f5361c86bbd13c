"""What is not an argument is refused with the argument's name: a ``TypeError`` for another type, else the package's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw

ARRAY = np.zeros((3, 4), np.float32)
HALF = "a\ud800"
LAYOUT = tw.parse("f32[4,4]")

# The argument, and a call that is given this for it.
TEXTS: list[tuple[str, Callable[[Any], Any]]] = [
    ("order", lambda it: tw.relayout(ARRAY, "row-major", order=it)),
    ("order", lambda it: tw.Plan.of(ARRAY, "row-major", order=it)),
    ("word", tw.formats),
    ("toml", tw.add_formats),
    ("to", LAYOUT.translate),
    ("kind", LAYOUT.draw),
    ("text", tw.evaluate),
    ("text", tw.evaluate_text),
    ("name", lambda it: tw.algebra.operation(it)),
    ("rules", lambda it: tw.convert("a.npy", "b.npy", rules={it: "row-major"})),
    ("tensors", lambda it: tw.convert("a.npy", "b.npy", to="row-major", tensors=[it])),
]


@pytest.mark.parametrize(("argument", "call"), TEXTS)
def test_what_is_no_text(argument: str, call: Callable[[Any], Any]) -> None:
    for wrong in [1, 1.5, b"C", ("C",)]:
        with pytest.raises(TypeError, match=rf"^{argument}= takes a text, not {type(wrong).__name__}$"):
            call(wrong)
    with pytest.raises(tw.ArgumentError, match=rf"^{argument}= .* character 1 is half of a surrogate pair$"):
        call(HALF)


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("spec", tw.parse),
        ("to", lambda it: tw.relayout(ARRAY, it)),
        ("from_", lambda it: tw.relayout(ARRAY, "row-major", from_=it)),
        ("a", lambda it: tw.same(it, "row-major")),
        ("dtype", lambda it: tw.parse("row-major", dims=(3,), dtype=it)),
        ("fill", lambda it: tw.relayout(ARRAY, "zN", fill=it)),
        ("fill", lambda it: tw.convert("a.npy", "b.npy", to="zN", fill=it)),
        ("tensors", lambda it: tw.convert("a.npy", "b.npy", to="zN", tensors=it)),
        ("argument", lambda it: tw.algebra.operation("size", it)),
    ],
)
def test_halves_of_surrogate_pairs(argument: str, call: Callable[[Any], Any]) -> None:
    with pytest.raises(tw.ArgumentError, match=rf"^{argument}= .* character 1 is half of a surrogate pair$"):
        call(HALF)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("bits= takes an integer, not bool", lambda: tw.relayout(ARRAY, "zN", bits=True)),
        ("threads= takes an integer, not bool", lambda: tw.relayout(ARRAY, "zN", threads=True)),
        ("dims= takes an integer, not bool", lambda: tw.parse("zN", dims=(True, 3))),
        ("fill= takes 0, or a text such as 'one'.*; not float", lambda: tw.relayout(ARRAY, "zN", fill=1.0)),  # type: ignore[arg-type]
        ("fill= takes 0, or a text such as 'one'.*; not bool", lambda: tw.relayout(ARRAY, "zN", fill=True)),
        ("tensors= takes a pattern .*; not int", lambda: tw.convert("a", "b", to="zN", tensors=3)),  # type: ignore[arg-type]
        ("progress= takes a function .*; not int", lambda: tw.convert("a.npy", "b.npy", to="zN", progress=3)),  # type: ignore[arg-type]
        ("progress= takes a function .*; not int", lambda: tw.verify("a.npy", "b.npy", to="zN", progress=3)),  # type: ignore[arg-type]
    ],
)
def test_what_is_of_another_type(message: str, call: Callable[[], Any], tmp_path: Path, monkeypatch: Any) -> None:
    np.save(tmp_path / "a.npy", ARRAY)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError, match=f"^{message}"):
        call()


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (tw.ArrayError, "out=: int cannot share memory", lambda: tw.relayout(ARRAY, "zN", out=1)),
        (tw.ArrayError, "out=: int cannot share memory", lambda: tw.relayout(ARRAY, out=1)),
        (tw.ArrayError, "packed=: int cannot share memory", lambda: tw.infer(ARRAY, 1)),
        (tw.ParseError, "fill=: expected a fill.*`one`", lambda: tw.relayout(ARRAY, "zN", fill=1)),
        (tw.CopyError, r"original= .* pass numpy.ascontiguousarray\(original\)", lambda: tw.infer(ARRAY.T, ARRAY)),
        (tw.CopyError, r"packed= .* pass numpy.ascontiguousarray\(packed\)", lambda: tw.infer(ARRAY, ARRAY.T)),
        (tw.LimitError, "an array of 33 dims; a layout has at most 32", lambda: tw.relayout(np.zeros((1,) * 33), "zN")),
        (tw.ParseError, "no digit is called `a`; there are none", lambda: tw.parse("-> a")),
        (tw.ParseError, "`f2`; .*`<f2`", lambda: tw.parse("zN", dims=(3, 4), dtype="f2")),
        (tw.ArgumentError, "'banks' takes vector=.*; given is nothing", lambda: LAYOUT.draw("banks")),
        (tw.ArgumentError, "'memory' takes nothing more; given is vector=", lambda: LAYOUT.draw("memory", vector=4)),
        (tw.ArgumentError, "no picture is called 'bank'; there are grid, memory", lambda: LAYOUT.draw("bank")),
    ],
)
def test_errors_name_the_argument(error: type[tw.Error], message: str, call: Callable[[], Any]) -> None:
    with pytest.raises(error, match=f"(?s){message}") as raised:
        call()
    assert type(raised.value) is error and raised.value.message in str(raised.value)
