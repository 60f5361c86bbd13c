"""Tilewright's Python package (the package `tilewright`)."""

import ast
import importlib.metadata
import itertools

import tilewright
from tilewright import algebra

NAME = "Tilewright, Python"
REFUSALS = (tilewright.Error,)
NAMES = {"layout_of_linear": "layout", "linear_inverse": "inverse", "linear_compose": "compose"}


def version():
    return importlib.metadata.version("tilewright")


def given(text):
    """Reads integers and tuples of integers; everything else stays text, which the package reads."""
    plain = not set(text) - set("0123456789-,() ")
    return ast.literal_eval(text) if plain else text


def answer(op, args, question):
    if op == "table":
        array = tilewright.TensorLayout(args[0])
        return str([array.offset(*c) for c in itertools.product(*map(range, question["dims"]))])
    if op == "where":
        array = tilewright.TensorLayout(args[0])
        coords = [array.coord(offset) for offset in range(int(args[2]))]
        return str([None if c is None else list(c) for c in coords]).replace("None", "null")
    if op == "same":
        return written(bool(tilewright.same(*args)))
    if "@" in "".join(args) and op != "crd2idx":  # basis strides are asked coordinate by coordinate alone
        return str(offsets(args[0])) if op == "offsets" else None
    function = getattr(algebra, NAMES.get(op, op), None)
    return None if function is None else written(function(*map(given, args)))


def offsets(text):
    indices = range(algebra.size(given(text.partition(":")[0])))
    return [list(algebra.crd2idx(i, text)) for i in indices]


def written(value):
    return str(value).lower() if isinstance(value, bool) else str(value)
