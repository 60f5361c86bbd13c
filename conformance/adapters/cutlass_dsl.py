"""NVIDIA's newest Python implementation (the package `nvidia-cutlass-dsl`): each question is one function that it traces."""

import importlib.metadata

import cutlass
import cutlass.cute as cute
from cutlass._mlir._mlir_libs._cutlass_ir._mlir.ir import MLIRError
from run import Layout, read

NAME = "CuTe DSL (NVIDIA)"
REFUSALS = (ValueError, NotImplementedError, AssertionError, MLIRError, cutlass.DSLRuntimeError)
PLAIN = {"coalesce", "filter", "right_inverse", "left_inverse", "nullspace", "composition", "complement", "logical_divide",
         "zipped_divide", "tiled_divide", "logical_product", "zipped_product", "tiled_product", "blocked_product",
         "raked_product", "size", "cosize", "tile_to_shape"}


def version():
    return importlib.metadata.version("nvidia-cutlass-dsl")


def given(text):
    value = read(text)
    if isinstance(value, list):
        return tuple(made(v) if isinstance(v, Layout) else v for v in value)
    return made(value) if isinstance(value, Layout) else value


def made(value):
    return cute.make_layout(value.shape, stride=value.stride)


def answer(op, args, question):
    if any(mark in text for text in args for mark in "@{+\"") or " o " in "".join(args) or "Sw" in "".join(args):
        return None
    said = []

    @cute.jit
    def traced():
        said.append(asked(op, args))
    traced()
    return said[0]


def asked(op, args):
    if op == "crd2idx":
        return str(cute.crd2idx(given(args[0]), given(args[1])))
    if op == "idx2crd":
        return str(cute.idx2crd(int(args[0]), given(args[1]))).replace(" ", "")
    if op == "offsets":
        source = given(args[0])
        return str([cute.crd2idx(i, source) for i in range(cute.size(source))])
    if op not in PLAIN:
        return None
    values = [given(arg) for arg in args]
    if op != "complement" and op != "tile_to_shape":
        values = [made(Layout(v, 1)) if isinstance(v, int) else v for v in values]
    if op == "tile_to_shape":
        values.append(tuple(range(len(values[1]))))
    return str(getattr(cute, op)(*values)).replace(" ", "")
