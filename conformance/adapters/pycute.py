"""pycute of CUTLASS (the package `nvidia-cutlass`; the package named pycute is another project)."""

import importlib.metadata

import pycute
from run import Layout, read

NAME = "pycute (CUTLASS)"
REFUSALS = (AssertionError, ValueError, NotImplementedError)
PLAIN = {"coalesce", "filter", "right_inverse", "left_inverse", "composition", "complement", "logical_divide",
         "zipped_divide", "tiled_divide", "logical_product", "zipped_product", "tiled_product"}


def version():
    return "of nvidia-cutlass " + importlib.metadata.version("nvidia-cutlass")


def given(text):
    """Reads an argument as a value of pycute; None if pycute has no value for it."""
    value = read(text)
    if isinstance(value, list):
        return tuple(given_layout(part) if isinstance(part, Layout) else part for part in value)
    return given_layout(value) if isinstance(value, Layout) else value


def given_layout(value):
    return pycute.Layout(value.shape, value.stride)


def answer(op, args, question):
    if any(mark in text for text in args for mark in "@{+\"") or " o " in "".join(args) or "Sw" in "".join(args[1:]):
        return None
    if op == "swizzle":
        swizzle = pycute.Swizzle(*map(int, args[0][3:-1].split(",")))
        return str([swizzle(i) for i in range(int(args[1]))])
    if op == "crd2idx":
        return str(given(args[1])(given(args[0])))
    if op == "idx2crd":
        return text(pycute.idx2crd(int(args[0]), given(args[1])))
    if op in ("size", "cosize"):
        return str(getattr(pycute, op)(given(args[0])))
    if op == "offsets":
        return str([given(args[0])(i) for i in range(pycute.size(given(args[0])))])
    if op not in PLAIN:
        return None
    values = [given(arg) for arg in args]
    if op != "complement":
        values = [pycute.Layout(v) if isinstance(v, int) else v for v in values]
    return text(getattr(pycute, op)(*values))


def text(value):
    if isinstance(value, pycute.Layout):
        return f"{text(value.shape)}:{text(value.stride)}"
    return str(value).replace(" ", "")
