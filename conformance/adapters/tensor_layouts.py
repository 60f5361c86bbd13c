"""Meta's tensor-layouts (the package `tensor-layouts`)."""

import importlib.metadata

import tensor_layouts as tl
from run import Layout, read

NAME = "tensor-layouts (Meta)"
REFUSALS = (ValueError, NotImplementedError, AssertionError, tl.UnsupportedComposedLayoutError)
NAMES = {"composition": "compose", "divide": "logical_divide"}
PLAIN = {"coalesce", "right_inverse", "left_inverse", "nullspace", "composition", "complement", "logical_divide",
         "zipped_divide", "tiled_divide", "logical_product", "zipped_product", "tiled_product", "blocked_product",
         "raked_product", "upcast", "downcast", "congruent", "compatible"}


def version():
    return importlib.metadata.version("tensor-layouts")


def given(text):
    value = read(text)
    if isinstance(value, list):
        return tuple(tl.Layout(v.shape, v.stride) if isinstance(v, Layout) else v for v in value)
    if isinstance(value, Layout):
        plain = tl.Layout(value.shape, value.stride)
        if text.startswith("Sw<"):
            numbers = map(int, text[3:text.index(">")].split(","))
            return tl.compose(tl.Swizzle(*numbers), plain)
        return plain
    return value


def answer(op, args, question):
    if any(mark in text for text in args for mark in "@{+\"") or any(text.count(" o ") > 1 for text in args):
        return None
    if op == "swizzle":
        swizzle = tl.Swizzle(*map(int, args[0][3:-1].split(",")))
        return str([swizzle(i) for i in range(int(args[1]))])
    if op == "crd2idx":
        return str(given(args[1])(given(args[0])))
    if op == "idx2crd":
        return written(tl.idx2crd(int(args[0]), given(args[1])))
    if op in ("size", "cosize"):
        return str(getattr(tl, op)(given(args[0])))
    if op == "offsets":
        source = given(args[0])
        return str([source(i) for i in range(tl.size(source))])
    if op not in PLAIN:
        return None
    return written(getattr(tl, NAMES.get(op, op))(*map(given, args)))


def written(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tl.ComposedLayout):
        swizzle = value.outer
        return f"Sw<{swizzle.bits},{swizzle.base},{swizzle.shift}> o {value.offset} o {written(value.inner)}"
    return str(value).replace(" ", "")
