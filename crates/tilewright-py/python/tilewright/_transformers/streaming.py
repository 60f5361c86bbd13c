"""Tensors that a recipe makes, each when it is asked for: transformers loads from them without a copy on disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tilewright import _tilewright
from tilewright._errors import UnsupportedError
from tilewright._transformers.heads import Head
from tilewright._transformers.library import Library

__all__ = ["Made", "made"]

#: Part of a tensor: source, its first element or the fill, the first element made, and digits with both strides.
_Piece = tuple[int | None, int, int, list[tuple[int, int, int]]]

#: Element types by the names of tilewright.
_TYPES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16", "f64": "float64"}


class Made:
    """A tensor that is made when it is read. It has what transformers asks of a tensor in a file."""

    def __init__(self, lib: Library, source: _Source, head: tuple[str, str, list[int]], parts: list[_Piece]) -> None:
        self.name, self.element, self.extents = head
        self.lib, self.source, self.parts = lib, source, parts

    @property
    def shape(self) -> tuple[int, ...]:
        """The dims."""
        return tuple(self.extents)

    def get_shape(self) -> list[int]:
        """The dims, as safetensors' slices give them."""
        return list(self.extents)

    def get_dtype(self) -> str:
        """The element type, as safetensors' slices give it."""
        return self.element.upper()

    @property
    def dtype(self) -> Any:
        """The element type of torch."""
        return self.source.dtype(self.element) or self.tensor().dtype

    def is_floating_point(self) -> bool:
        """True if the elements are floats."""
        return bool(self.dtype.is_floating_point)

    def __getitem__(self, index: Any) -> Any:
        """The tensor, or a part of it."""
        return self.tensor()[index]

    def tensor(self) -> Any:
        """Makes the tensor. Every part is a strided copy from one tensor of the checkpoint."""
        first = next((number for number, *_ in self.parts if number is not None), None)
        if first is None and self.parts:
            raise UnsupportedError(f"{self.name!r} has no source")
        sources = self._sources()
        out = None
        for (_, at, to, digits), tensor in sources:
            if out is None:
                out = self.lib.torch.empty(self.extents, dtype=self.source.dtype(self.element) or tensor.dtype)
            extents = [extent for extent, _, _ in digits]
            place = out.as_strided(extents, [made for _, _, made in digits], to)
            place.copy_(tensor.reshape(-1).as_strided(extents, [source for _, source, _ in digits], at))
        if out is None:
            return self.lib.torch.empty(self.extents, dtype=self.source.dtype(self.element))
        return out

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
        self.opened = _tilewright.open_checkpoint(path, {"from_": None, "dims": None, "dtype": None})

    def read(self, number: int) -> Any:
        """Reads a tensor as one of torch."""
        return self.opened.get(self.names[number], framework="torch")

    def dtype(self, element: str) -> Any:
        """The element type of torch; None for one that is kept as it is read."""
        return getattr(self.lib.torch, _TYPES[element]) if element in _TYPES else None


def made(lib: Library, path: str, heads: Mapping[str, Head], asked: tuple[str, str]) -> dict[str, Made]:
    """Gives the tensors that a recipe makes of a checkpoint, by name.

    :param asked: the recipe, and ``config.json`` as text
    """
    text, config = asked
    sources = [(name, head.dtype.lower(), head.shape) for name, head in heads.items()]
    found, _ = _tilewright.solve_recipe(text, sources, config)
    source = _Source(lib, path, list(heads))
    return {head[0]: Made(lib, source, head, parts) for head, parts in found}
