"""The algebra of layouts, by CuTe's names. ``A @ B`` is composition, too.

A layout is given as a ``Layout``, as CuTe's text, or as a SPEC in any notation; a shape, tiler or coordinate as nested
tuples, in which ``None`` is CuTe's ``_``. A tuple in place of a layout is the compact layout of that shape, its first
mode fastest. Extents count coordinates, strides and offsets elements.

What does not exist raises an ``Error``: ``NoLayoutError`` where no layout is the result, ``MismatchError`` for sizes
that do not divide, ``UndecidedError`` where a question takes too long to decide. Never a wrong layout.
"""

# Made by `cargo xtask algebra` from the table of functions in `crates/tilewright/src/eval/functions`.
# Names that Python uses otherwise are not in `__all__`.
from __future__ import annotations

from typing import Any, TypeAlias

from tilewright._tilewright import Layout, Swizzle, TensorLayout, Value, operation

Shape: TypeAlias = "int | tuple[Any, ...] | list[Any]"
Coord: TypeAlias = "int | tuple[Any, ...] | list[Any]"
Slicer: TypeAlias = "int | None | tuple[Any, ...] | list[Any]"
LayoutLike: TypeAlias = "Layout | TensorLayout | str | int | tuple[Any, ...] | list[Any]"
TilerLike: TypeAlias = "LayoutLike | Value"
LinearLike: TypeAlias = "Value | str"
Dims: TypeAlias = "Value | str"

def _call(name: str, *arguments: Any) -> Any:
    """The operation, without the arguments left out at the end."""
    given = list(arguments)
    while given and given[-1] is None:
        given.pop()
    return operation(name, *given)


