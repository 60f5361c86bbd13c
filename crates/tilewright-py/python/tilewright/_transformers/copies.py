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
from tilewright._transformers.heads import INDEX, Head, files, heads

__all__ = ["Place", "carry", "replace", "same_when_rounded"]

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
        return next(file for file in files(self.checkpoint) if file.name == self.head.file)


def _span(path: pathlib.Path, name: str) -> tuple[int, int]:
    """The first byte of a tensor in a safetensors file, and its length."""
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        entry = json.loads(file.read(length))[name]
    start, end = entry["data_offsets"]
    return 8 + length + start, end - start


def _bytes(place: Place) -> Iterator[bytes]:
    path, name = place.path, place.name
    at, left = _span(path, name)
    with open(path, "rb") as file:
        file.seek(at)
        while left:
            block = file.read(min(left, _BLOCK))
            if not block:
                raise FileError(f"{path}: the file ends within {name!r}")
            left -= len(block)
            yield block


def same_when_rounded(wide_place: Place, narrow_place: Place) -> bool:
    """True if a tensor of float32, rounded to bfloat16, is the other tensor."""
    import numpy as np

    wide = np.frombuffer(b"".join(_bytes(wide_place)), "<u4")
    narrow = np.frombuffer(b"".join(_bytes(narrow_place)), "<u2")
    high, low = (wide >> 16).astype(np.uint32), wide & 0xFFFF
    up = (low > 0x8000) | ((low == 0x8000) & (high & 1 == 1))
    rounded = np.where((wide & 0x7FFFFFFF) > 0x7F800000, high | 0x40, high + up)
    return bool(np.array_equal(rounded.astype(np.uint16), narrow))


def replace(source: pathlib.Path, folder: pathlib.Path, name: str) -> None:
    """Overwrites a tensor in a folder by that of the published checkpoint, which has as many bytes."""
    own = heads(folder)[name]
    path = folder / own.file
    at, length = _span(path, name)
    head = heads(source)[name]
    if (head.dtype, head.shape) != (own.dtype, own.shape):
        raise FileError(f"{path}: {name!r} has other dims or another element type than the published tensor")
    with open(path, "r+b") as file:
        file.seek(at)
        for block in _bytes(Place(source, name, head)):
            length -= file.write(block)
    if length:
        raise FileError(f"{path}: {name!r} has another length than the published tensor")


def carry(source: pathlib.Path, folder: pathlib.Path, names: list[str]) -> None:
    """Copies tensors of the published checkpoint into a folder that holds the others, and writes the index of both."""
    known = heads(source)
    owners = {name: head.file for name, head in heads(folder).items()}
    single = folder / "model.safetensors"
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
        length = _span(places[name].path, name)[1]
        header[name] = {"dtype": head.dtype, "shape": list(head.shape), "data_offsets": [at, at + length]}
        at += length
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "xb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for place in places.values():
            for block in _bytes(place):
                file.write(block)
        file.flush()
        os.fsync(file.fileno())
