"""The published checkpoint back from what transformers saved: names, layout, element types, and what the class dropped.

The recipe comes from the published checkpoint. What was saved may have the names of the model or those that transformers writes;
in the second case it is read back into the names of the model first. Tensors that no rule makes are copied from the published
checkpoint, byte for byte.
"""

from __future__ import annotations

import json
import os
import pathlib
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from tilewright._errors import FileError
from tilewright._transformers.heads import INDEX, Head, files, heads

__all__ = ["carry", "replace", "same_when_rounded"]

#: Bytes that are copied at a time.
_BLOCK = 8 << 20


def _place(path: pathlib.Path, name: str) -> tuple[int, int]:
    """The first byte of a tensor in a safetensors file, and its length."""
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        entry = json.loads(file.read(length))[name]
    start, end = entry["data_offsets"]
    return 8 + length + start, end - start


def _bytes(checkpoint: pathlib.Path, head: Head, name: str) -> Iterator[bytes]:
    path = next(file for file in files(checkpoint) if file.name == head.file)
    at, left = _place(path, name)
    with open(path, "rb") as file:
        file.seek(at)
        while left:
            block = file.read(min(left, _BLOCK))
            if not block:
                raise FileError(f"{path}: the file ends within {name!r}")
            left -= len(block)
            yield block


def same_when_rounded(published: tuple[pathlib.Path, Head, str], saved: tuple[pathlib.Path, Head, str]) -> bool:
    """True if a tensor of float32, rounded to bfloat16, is the tensor that was saved."""
    import numpy as np

    wide = np.frombuffer(b"".join(_bytes(*published)), "<u4")
    narrow = np.frombuffer(b"".join(_bytes(*saved)), "<u2")
    high, low = (wide >> 16).astype(np.uint32), wide & 0xFFFF
    up = (low > 0x8000) | ((low == 0x8000) & (high & 1 == 1))
    rounded = np.where((wide & 0x7FFFFFFF) > 0x7F800000, high | 0x40, high + up)
    return bool(np.array_equal(rounded.astype(np.uint16), narrow))


def replace(published: str | os.PathLike[str], folder: pathlib.Path, name: str) -> None:
    """Overwrites a tensor in a folder by that of the published checkpoint, which has as many bytes."""
    source, own = pathlib.Path(published), heads(folder)[name]
    path = folder / own.file
    at, length = _place(path, name)
    head = heads(source)[name]
    if (head.dtype, head.shape) != (own.dtype, own.shape):
        raise FileError(f"{path}: {name!r} has other dims or another element type than the published tensor")
    with open(path, "r+b") as file:
        file.seek(at)
        for block in _bytes(source, head, name):
            length -= file.write(block)
    if length:
        raise FileError(f"{path}: {name!r} has another length than the published tensor")


def carry(published: str | os.PathLike[str], folder: pathlib.Path, names: list[str]) -> None:
    """Copies tensors of the published checkpoint into a folder that holds the others, and writes the index of both."""
    source = pathlib.Path(published)
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
    places = {name: next(file for file in files(source) if file.name == head.file) for name, head in tensors.items()}
    at = 0
    for name, head in tensors.items():
        length = _place(places[name], name)[1]
        header[name] = {"dtype": head.dtype, "shape": list(head.shape), "data_offsets": [at, at + length]}
        at += length
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "xb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, head in tensors.items():
            for block in _bytes(source, head, name):
                file.write(block)
        file.flush()
        os.fsync(file.fileno())
