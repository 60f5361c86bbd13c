"""``relayout`` as an operation of torch's, for programs that are compiled or differentiated; and torch's own copies made
faster by ``accelerate``.

>>> import torch, tilewright.torch
>>> pack = torch.compile(lambda weights: tilewright.torch.relayout(weights, "zN") * 2, fullgraph=True, backend="eager")
>>> pack(torch.ones(100, 30, dtype=torch.float16)).shape
torch.Size([2, 7, 16, 16])

The operation is ``torch.ops.tilewright.relayout``. ``torch.compile`` keeps it in its graph: what shape and element type
it gives is known without the elements. Shapes become constants of the graph. Gradients go the same way back, and tangents of
forward mode (``torch.func.jvp``) the same way there; padding has neither. ``torch.vmap`` moves one array after the other.

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
_level: Any = importlib.import_module("torch._functorch.autograd_function")

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


class _Asked:
    """The arguments of a move except the array, as one value that is opaque to torch."""

    def __init__(self, to: str, rest: dict[str, Any]) -> None:
        self.to, self.rest = to, rest

    def of(self, array: Any) -> Any:
        """The move of this array."""
        return _torch.ops.tilewright.relayout(array, self.to, **self.rest)


def _below(array: Any, asked: _Asked) -> Any:
    """The move of an array that needs no derivatives."""
    with _torch._C._AutoDispatchBelowAutograd():
        return asked.of(array)


class _Moved(_torch.autograd.function._SingleLevelFunction):  # type: ignore[misc,unused-ignore]
    """The formulas of both modes: gradients go the same way back, tangents the same way there.

    The dispatcher calls them below the transforms of ``torch.func``, of which only the innermost level is left to do.
    """

    @staticmethod
    def forward(array: Any, asked: _Asked) -> Any:
        # Torch switches both modes off here, but transforms of ``torch.func`` further out follow what is done.
        with _torch.enable_grad(), _torch.autograd.forward_ad._set_fwd_grad_enabled(True):
            return _below(array, asked)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, _Asked], output: Any) -> None:
        array, ctx.asked = inputs
        _, _, ctx.source, ctx.target = _described(array, ctx.asked.to, ctx.asked.rest)
        ctx.shape = array.shape
        # A storage in Fortran's order gets its gradient in that order, and its tangent comes in it.
        ctx.turned = ctx.asked.rest.get("from_") is not None and not array.is_contiguous()
        ctx.differs = output.dtype.is_floating_point or output.dtype.is_complex

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> tuple[Any, None]:
        rest = ctx.asked.rest
        storage = _turned(gradient) if rest.get("order") == "F" else gradient
        order = "F" if ctx.turned else "C"
        threads = rest.get("threads")
        back = relayout(storage.contiguous(), ctx.source, from_=ctx.target, threads=threads, order=order)
        # A storage in row-major order may have come in any shape; in Fortran's order it has only its own.
        return back if ctx.turned else back.reshape(ctx.shape), None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, _: None) -> Any:
        if tangent is None or not ctx.differs:
            return None
        rest = ctx.asked.rest
        # What padding holds is a constant, so its tangent is zero: the layout has no fill.
        kept = {name: rest.get(name) for name in ("bits", "threads")} | {"order": rest.get("order", "C")}
        if rest.get("from_") is not None:
            tangent = _turned(_turned(tangent).contiguous()) if ctx.turned else tangent.contiguous()
            kept["from_"] = ctx.source
        return relayout(tangent, ctx.target, **kept)


def _differentiable(array: Any, to: str, **rest: Any) -> Any:
    """The operation on tensors that may need gradients or tangents."""
    follows = array.requires_grad and _torch.is_grad_enabled()
    forward = _torch._C._are_functorch_transforms_active() or _torch.autograd.forward_ad._current_level >= 0
    if not follows and not forward:
        return _below(array, _Asked(to, rest))
    with _level.enable_single_level_autograd_function():
        return _Moved.apply(array, _Asked(to, rest))


def _batched(_info: Any, in_dims: tuple[Any, ...], array: Any, to: str, **rest: Any) -> tuple[Any, int]:
    """The operation on many arrays at once: one after the other, each in a layout of its own."""
    moved = array.movedim(in_dims[0], 0)
    if rest.get("from_") is not None:
        moved = moved.contiguous()
    results = [_Asked(to, rest).of(one) for one in moved.unbind(0)]
    if results:
        return _torch.stack(results), 0
    one = _fake(moved.new_empty(moved.shape[1:]), to, **rest)
    return one.new_empty((0, *one.shape)), 0


_library = _torch.library.Library("tilewright", "DEF")
_library.define("relayout" + _SCHEMA)
_library.impl("relayout", _move, "CPU")
_library.impl("relayout", _move, "CUDA")
_torch.library.register_fake("tilewright::relayout", _fake, lib=_library)
_library.impl("relayout", _differentiable, "Autograd")
_torch.library.register_vmap("tilewright::relayout", _batched, lib=_library)


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
    """``tilewright.relayout`` of a tensor on the CPU or on a CUDA device, in compiled programs and with gradients.

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
    if isinstance(bits, bool):
        raise TypeError("bits= takes an integer, not bool")
    return _torch.ops.tilewright.relayout(
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
