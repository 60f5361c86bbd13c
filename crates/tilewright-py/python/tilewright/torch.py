"""``relayout`` as an operation of torch's, for programs that are compiled or differentiated; and torch's own copies made
faster by ``accelerate``.

>>> import torch, tilewright.torch
>>> pack = torch.compile(lambda weights: tilewright.torch.relayout(weights, "zN") * 2, fullgraph=True, backend="eager")
>>> pack(torch.ones(100, 30, dtype=torch.float16)).shape
torch.Size([2, 7, 16, 16])

The operation is ``torch.ops.tilewright.relayout``. ``torch.compile`` keeps it in its graph: what shape and element type
it gives is known without the elements. Shapes become constants of the graph. Gradients go the same way back; padding
has none.

``tilewright.relayout`` reads a tensor as well, and gives one that no gradient follows.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from tilewright import parse as _parse
from tilewright._accelerate import Accelerated, accelerate
from tilewright._tilewright import Layout, TensorLayout
from tilewright._tilewright import relayout as _relayout
from tilewright._tilewright import relayout_form as _form

__all__ = ["Accelerated", "accelerate", "relayout"]

# Of no type: the package is checked where torch is not installed.
_torch: Any = importlib.import_module("torch")

_SCHEMA = (
    "(Tensor array, str to, *, str? from_=None, int[]? dims=None, str? dtype=None, int? bits=None, str? fill=None, "
    "int? threads=None, str order='C') -> Tensor"
)


def _move(array: Any, to: str, **asked: Any) -> Any:
    """The operation on tensors with memory."""
    return _relayout(array, to, **asked)


def _turned(tensor: Any) -> Any:
    """The same memory with its dims in the opposite order."""
    return tensor.permute(tuple(reversed(range(tensor.dim()))))


def _described(array: Any, to: str, asked: dict[str, Any]) -> tuple[tuple[int, ...], str, str, str]:
    """Shape and element type of the result, and the layouts of both sides."""
    known = {name: value for name, value in asked.items() if name != "threads"}
    if asked.get("from_") is not None:
        # A storage in Fortran's order lists its extents the other way round.
        known["strides"] = [int(stride) for stride in array.stride()]
    return _form([int(extent) for extent in array.shape], str(array.dtype), to, **known)


def _fake(array: Any, to: str, **asked: Any) -> Any:
    """A result without elements."""
    shape, element, _, _ = _described(array, to, asked)
    dtype = getattr(_torch, element)
    if asked.get("order") == "F":
        return _turned(array.new_empty(shape[::-1], dtype=dtype))
    return array.new_empty(shape, dtype=dtype)


def _setup(ctx: Any, inputs: tuple[Any, ...], keyword_only_inputs: dict[str, Any], output: Any) -> None:
    array, to = inputs
    asked = keyword_only_inputs
    _, _, ctx.source, ctx.target = _described(array, to, asked)
    ctx.order = asked.get("order", "C")
    ctx.threads = asked.get("threads")
    ctx.shape = array.shape
    # A storage in Fortran's order gets its gradient in that order.
    ctx.turned = asked.get("from_") is not None and not array.is_contiguous()


def _backward(ctx: Any, gradient: Any) -> tuple[Any, None]:
    storage = _turned(gradient) if ctx.order == "F" else gradient
    order = "F" if ctx.turned else "C"
    back = relayout(
        storage.contiguous(), ctx.source, from_=ctx.target, threads=ctx.threads, order=order
    )
    # A storage in row-major order may have come in any shape; in Fortran's order it has only its own.
    return back if ctx.turned else back.reshape(ctx.shape), None


_operation = _torch.library.custom_op("tilewright::relayout", _move, mutates_args=(), schema=_SCHEMA)
_operation.register_fake(_fake)
_operation.register_autograd(_backward, setup_context=_setup)


def _text(layout: str | Layout | TensorLayout) -> str:
    """A layout as the text that a graph keeps."""
    if isinstance(layout, str):
        return layout
    return layout.spec if isinstance(layout, TensorLayout) else f"cute:{layout}"


@_torch.compiler.assume_constant_result  # type: ignore[untyped-decorator,unused-ignore]
def _element(dtype: Any) -> str:
    """An element type, by any library's name or object, as the text that a graph keeps."""
    return str(_parse("row-major", dims=(1,), dtype=dtype).dtype)


def relayout(
    array: Any,
    to: str | Layout | TensorLayout,
    *,
    from_: str | Layout | TensorLayout | None = None,
    dims: Sequence[int] | None = None,
    dtype: Any = None,
    bits: int | None = None,
    fill: str | int | None = None,
    threads: int | None = None,
    order: str = "C",
) -> Any:
    """``tilewright.relayout`` of a tensor on the CPU, in compiled programs and with gradients.

    The arguments are those of ``tilewright.relayout``, but that there is no ``out``: the result is always new, and so
    ``to`` has to be given.

    :raises Error: what ``tilewright.relayout`` raises

    >>> import torch
    >>> weights = torch.ones(2, 3, requires_grad=True)
    >>> relayout(weights, "col-major").sum().backward()
    >>> weights.grad
    tensor([[1., 1., 1.],
            [1., 1., 1.]])
    """
    return _operation(
        array,
        _text(to),
        from_=None if from_ is None else _text(from_),
        dims=None if dims is None else list(dims),
        dtype=None if dtype is None else _element(dtype),
        bits=bits,
        fill=None if fill is None else str(fill),
        threads=threads,
        order=order,
    )
