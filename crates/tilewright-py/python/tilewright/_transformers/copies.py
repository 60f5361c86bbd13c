"""Tensors that are copied from one safetensors file to another, byte for byte.

The published checkpoint is restored from what was saved, and these functions take from it what the class dropped or rounded.
"""

from __future__ import annotations

import json
import os
import pathlib
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tilewright._errors import FileError
from tilewright._transformers.heads import INDEX, SINGLE, Head, heads

__all__ = ["Place", "carry", "replace", "same_values"]

#: Bytes that are copied at a time.
_BLOCK = 8 << 20


@dataclass(frozen=True)
class Place:
    """A tensor of a checkpoint."""

    checkpoint: pathlib.Path
    name: str
    head: Head

    @property
    def path(self) -> pathlib.Path:
        """The file that holds it."""
        folder = self.checkpoint if self.checkpoint.is_dir() else self.checkpoint.parent
        return folder / self.head.file


def _blocks(place: Place, size: int = _BLOCK) -> Iterator[bytes]:
    """The bytes of a tensor, in blocks of this size."""
    at, left = place.head.span
    with open(place.path, "rb") as file:
        file.seek(at)
        while left:
            block = file.read(min(left, size))
            if len(block) < min(left, size):
                raise FileError(f"{place.path}: the file ends within {place.name!r}")
            left -= len(block)
            yield block


def same_values(one: Place, other: Place, element: str, turn: tuple[int, int] | None = None) -> bool:
    """True if two tensors are equal as this element type. NaNs are equal, whatever their bits.

    :param turn: two dims of the first tensor that are exchanged before it is compared
    """
    import numpy as np

    shape = list(one.head.shape)
    if turn is not None:
        shape[turn[0]], shape[turn[1]] = shape[turn[1]], shape[turn[0]]
    if shape != list(other.head.shape):
        return False
    parts = shape[0] if turn is not None and 0 not in turn else 1
    count = one.head.elements // max(parts, 1) if turn is not None else _BLOCK // 8
    for first, second in zip(_elements(one, count), _elements(other, count)):
        left, right = (_bits(part, place.head.dtype, element) for part, place in ((first, one), (second, other)))
        if left is None or right is None:
            return False
        if turn is not None:
            dims = one.head.shape if parts == 1 else (1, *one.head.shape[1:])
            left = left.reshape(dims).swapaxes(*turn).reshape(-1)
        if not bool(np.all((left == right) | (_nan(left, element) & _nan(right, element)))):
            return False
    return True


def _elements(place: Place, count: int) -> Iterator[Any]:
    """The elements of a tensor as numbers of their bits, so many at a time."""
    import numpy as np

    elements = place.head.elements
    if not elements:
        return
    size = place.head.span[1] // elements
    for block in _blocks(place, count * size):
        yield np.frombuffer(block, f"<u{size}")


def _bits(words: Any, before: str, after: str) -> Any:
    """The bits of elements as another type: widened, or rounded from float32; None for other changes."""
    import numpy as np

    if before == after:
        return words
    if (before, after) == ("BF16", "F32"):
        return words.astype("<u4") << 16
    if (before, after) == ("F16", "F32"):
        return words.view("<f2").astype("<f4").view("<u4")
    if (before, after) == ("F32", "F16"):
        with np.errstate(over="ignore", invalid="ignore"):
            return words.view("<f4").astype("<f2").view("<u2")
    if (before, after) != ("F32", "BF16"):
        return None
    high, low = words >> 16, words & 0xFFFF
    up = (low > 0x8000) | ((low == 0x8000) & (high & 1 == 1))
    return np.where(_nan(words, "F32"), high | 0x40, high + up).astype("<u2")


#: The bits of an infinity, and those without the sign, by element type.
_INFINITE = {"F32": (0x7F800000, 0x7FFFFFFF), "BF16": (0x7F80, 0x7FFF), "F16": (0x7C00, 0x7FFF)}


def _nan(words: Any, element: str) -> Any:
    """True for each element that is not a number."""
    infinite, mask = _INFINITE.get(element, (0, 0))
    return (words & mask) > infinite if mask else words != words


def replace(place: Place, own: Place) -> None:
    """Overwrites a tensor by another one, such as that of the published checkpoint.

    :raises FileError: if it has other dims or another element type
    """
    if (place.head.dtype, place.head.shape, place.head.span[1]) != (own.head.dtype, own.head.shape, own.head.span[1]):
        raise FileError(f"{own.path}: {own.name!r} has other dims or another element type than the published tensor")
    with open(own.path, "r+b") as file:
        file.seek(own.head.span[0])
        for block in _blocks(place):
            file.write(block)


def carry(source: pathlib.Path, folder: pathlib.Path, names: list[str]) -> None:
    """Copies tensors of the published checkpoint into a folder that holds the others, and writes the index of both."""
    known = heads(source)
    owners = {name: head.file for name, head in heads(folder).items()}
    single = folder / SINGLE
    file = "model-carried.safetensors"
    if single.exists() and not (folder / INDEX).exists():
        first, file = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
        single.rename(folder / first)
        owners = dict.fromkeys(owners, first)
    _write(source, {name: known[name] for name in names}, folder / file)
    owners |= dict.fromkeys(names, file)
    size = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    index: dict[str, Any] = {"metadata": {"total_size": size}, "weight_map": dict(sorted(owners.items()))}
    (folder / INDEX).write_text(json.dumps(index, indent=1), encoding="utf-8")


def _write(source: pathlib.Path, tensors: Mapping[str, Head], path: pathlib.Path) -> None:
    """Writes a safetensors file of tensors, copied in blocks."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    places = {name: Place(source, name, head) for name, head in tensors.items()}
    at = 0
    for name, head in tensors.items():
        length = head.span[1]
        header[name] = {"dtype": head.dtype, "shape": list(head.shape), "data_offsets": [at, at + length]}
        at += length
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "xb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for place in places.values():
            for block in _blocks(place):
                file.write(block)
        file.flush()
        os.fsync(file.fileno())
