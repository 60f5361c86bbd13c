"""Tensors that a recipe makes, each when it is requested: transformers loads from them without a copy on disk.

>>> model = streamed(published, "Qwen3-30B-A3B/", recipe, {})  # doctest: +SKIP
"""

from __future__ import annotations

import fnmatch
import os
import pathlib
import re
from collections.abc import Container, Iterator, Mapping
from typing import Any

from tilewright import _tilewright
from tilewright._arrays import empty_like
from tilewright._errors import ArgumentError, Error, UnsupportedError
from tilewright._transformers.files import SINGLE, Place, listed, same_values
from tilewright._transformers.library import Library
from tilewright._transformers.loader import fits, loaded
from tilewright._transformers.published import Published

__all__ = ["Made", "made", "refuse_lost_values", "refuse_random", "refuse_second_conversion", "safetensors_type"]

#: Part of a tensor: source, its first element or the fill, the first element made, and digits with both strides.
_Piece = tuple[int | None, int, int, list[tuple[int, int, int]]]

#: Element types by the names of tilewright: the names of torch and of safetensors.
_TYPES = {
    "f64": ("float64", "F64"),
    "f32": ("float32", "F32"),
    "bf16": ("bfloat16", "BF16"),
    "f16": ("float16", "F16"),
    "s64": ("int64", "I64"),
    "s32": ("int32", "I32"),
    "s16": ("int16", "I16"),
    "s8": ("int8", "I8"),
    "u8": ("uint8", "U8"),
    "pred": ("bool", "BOOL"),
    "f8e4m3fn": ("float8_e4m3fn", "F8_E4M3"),
    "f8e5m2": ("float8_e5m2", "F8_E5M2"),
}


def safetensors_type(element: str) -> str:
    """The name of safetensors for an element type."""
    return _TYPES[element][1] if element in _TYPES else element.upper()


#: Operations of transformers that leave a tensor of the model as it is: they look at its shape first.
_IDLE = {"Transpose", "Inkling2UnpadVocab"}


class Made:
    """A tensor that is made when it is read. It has what transformers asks of a tensor in a file."""

    def __init__(self, lib: Library, source: _Source, head: tuple[str, str, list[int]], parts: list[_Piece]) -> None:
        self.name, self.element, self.extents = head
        self.lib, self.source, self.parts = lib, source, parts
        #: An order of the elements that strides can say; row-major unless given.
        self.layout: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The dims."""
        return tuple(self.extents)

    def get_shape(self) -> list[int]:
        """The dims, as safetensors' slices give them."""
        return list(self.extents)

    def get_dtype(self) -> str:
        """The element type, as safetensors' slices give it."""
        return _TYPES[self.element][1]

    @property
    def dtype(self) -> Any:
        """The element type of torch."""
        return getattr(self.lib.torch, _TYPES[self.element][0])

    def is_floating_point(self) -> bool:
        """True if the elements are floats."""
        return bool(self.dtype.is_floating_point)

    def __getitem__(self, index: Any) -> Any:
        """The tensor, or a part of it."""
        return self.tensor()[index]

    def empty(self) -> Any:
        """A tensor in the layout, whose elements are not written yet.

        :raises UnsupportedError: if strides cannot say the layout
        """
        return empty_like(self.lib.torch.empty((), dtype=self.dtype).expand(self.extents), self.layout)

    def tensor(self) -> Any:
        """Makes the tensor in its layout."""
        rows = self._row_major()
        return rows if self.layout is None else self.empty().copy_(rows)

    def _row_major(self) -> Any:
        """Makes the tensor. Every part is a strided copy from one tensor of the checkpoint."""
        first = next((number for number, *_ in self.parts if number is not None), None)
        if first is None and self.parts:
            raise UnsupportedError(f"{self.name!r} has no source")
        out = None
        for (_, at, to, digits), tensor in self._sources():
            if out is None and self._is_whole(tensor):
                return tensor.reshape(self.extents)
            if out is None:
                out = self.lib.torch.empty(self.extents, dtype=self.dtype)
            extents = [extent for extent, _, _ in digits]
            place = out.as_strided(extents, [made for _, _, made in digits], to)
            place.copy_(tensor.reshape(-1).as_strided(extents, [source for _, source, _ in digits], at))
        if out is None:
            return self.lib.torch.empty(self.extents, dtype=self.dtype)
        return out

    def _is_whole(self, tensor: Any) -> bool:
        """True if the tensor is one of the checkpoint, with all elements in their order."""
        (_, at, to, digits), *more = self.parts
        count, same = 1, True
        for extent, read, written in digits:
            count, same = count * extent, same and read == written
        return not more and at == to == 0 and same and count == tensor.numel() and tensor.dtype == self.dtype

    def _sources(self) -> Iterator[tuple[_Piece, Any]]:
        last: tuple[int | None, Any] = (None, None)
        for piece in self.parts:
            number = piece[0]
            if number is None:
                raise UnsupportedError(f"{self.name!r} has a part without a source; convert the checkpoint on disk instead")
            if number != last[0]:
                last = (number, self.source.read(number))
            yield piece, last[1]


class _Source:
    """The checkpoint, opened once."""

    def __init__(self, lib: Library, path: str, names: list[str]) -> None:
        self.lib, self.names = lib, names
        file = pathlib.Path(path) / SINGLE
        path = os.fspath(file if file.exists() else path)
        self.opened = _tilewright.open_checkpoint(path, {"from_": None, "dims": None, "dtype": None})

    def read(self, number: int) -> Any:
        """Reads a tensor as one of torch."""
        return self.opened.get(self.names[number], framework="torch")


def made(
    published: Published, path: str, recipe: str, layout: Mapping[str, Any], allow: Container[str] = ()
) -> dict[str, Made]:
    """Gives the tensors that a recipe makes of a checkpoint, by name.

    :param layout: layouts by patterns of names; the first that matches counts
    :param allow: ``round`` permits tensors of an element type that has fewer values than the checkpoint's
    :raises ArgumentError: for a pattern that matches no tensor
    :raises UnsupportedError: for a layout that strides cannot say, and for a tensor that would be rounded without permission
    """
    found, _ = published.solve(recipe)
    source = _Source(published.lib, path, list(published.heads))
    tensors = {}
    for head, parts in found:
        if head[1] not in _TYPES:
            raise UnsupportedError(f"{head[0]!r} has the element type {head[1]}, of which transformers has no parameters")
        tensors[head[0]] = Made(published.lib, source, head, parts)
        if "round" not in allow:
            _refuse_rounding(published, tensors[head[0]])
    for pattern in layout:
        if not fnmatch.filter(tensors, pattern):
            raise ArgumentError(f"layout= names {pattern!r}, and no tensor of the model has such a name")
    for name, tensor in tensors.items():
        tensor.layout = next((layout[one] for one in layout if fnmatch.fnmatchcase(name, one)), None)
        if tensor.layout is not None:
            _check_layout(tensor)
    return tensors


def _refuse_rounding(published: Published, tensor: Made) -> None:
    names = list(published.heads)
    for number in {piece[0] for piece in tensor.parts}:
        before = published.heads[names[number]].dtype if number is not None else tensor.get_dtype()
        if number is not None and not fits(before, tensor.get_dtype()):
            change = f"{names[number]!r} is {before}, and the recipe makes {tensor.get_dtype()} of it"
            raise UnsupportedError(f"{tensor.name!r} would be rounded: {change}; pass allow=('round',) to round")


def _check_layout(tensor: Made) -> None:
    try:
        tensor.empty()
    except Error as error:
        message = f"{tensor.name!r} cannot have the layout {tensor.layout}: a parameter of torch has strides only; {error}"
        raise UnsupportedError(message) from None


def refuse_second_conversion(published: Published, tensors: Mapping[str, Made]) -> None:
    """Refuses tensors that transformers would convert again although a recipe made them.

    :raises UnsupportedError: with the name of the first such tensor
    """
    for group in loaded(published.lib, published.model, tensors).groups:
        operations = [type(one).__name__ for one in group.converter.operations] if group.converter is not None else []
        if not _IDLE.issuperset(operations) or (not operations and group.names != [group.target]):
            change = operations[0] if operations else f"rename it to {group.target!r}"
            message = f"transformers would convert {group.names[0]!r} once more ({change}); run convert --recipe on disk instead"
            raise UnsupportedError(message)


def refuse_random(published: Published, tensors: Mapping[str, Made]) -> None:
    """Refuses a recipe that leaves parameters of the model random.

    :raises UnsupportedError: with the names of the parameters
    """
    model = published.model
    patterns = [re.compile(one) for one in getattr(model, "_keys_to_ignore_on_load_missing", None) or ()]
    random = [name for name in loaded(published.lib, model, tensors).missing if not any(one.search(name) for one in patterns)]
    if random:
        message = f"the recipe does not make {len(random)} parameters of {published.name}, which would be random"
        raise UnsupportedError(f"{message}: {listed(tuple(random))}; add rules for them")


def refuse_lost_values(published: Published, tensors: Mapping[str, Made], path: pathlib.Path) -> None:
    """Refuses a recipe that makes one of two tensors that the model ties, if their values differ.

    :raises UnsupportedError: with both names
    """
    places = {name: Place(path, name, head) for name, head in published.heads.items()}
    made_of = {group.names[0]: group.target for group in published.loaded().groups}
    for first, second in published.with_apart(()).loaded().tied:
        one, other = places[first], places[second]
        if made_of.get(second) in tensors or (one.head.dtype == other.head.dtype and same_values(one, other, one.head.dtype)):
            continue
        message = f"the recipe does not make {made_of.get(second, second)!r}, and {second!r} has other values than {first!r}"
        raise UnsupportedError(f"{message}, which the configuration ties it to; let the recipe pass both")
