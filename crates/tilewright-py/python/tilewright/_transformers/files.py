"""Safetensors files of a checkpoint: names, shapes and element types from their headers, and bytes of single tensors.

Audits and recipes read headers only. The way back compares and copies tensors in blocks: it takes from the published checkpoint
what the class dropped or rounded.

>>> heads({"x": (2, 3)})["x"].elements
6
"""

from __future__ import annotations

import json
import os
import pathlib
import struct
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tilewright._errors import FileError

__all__ = ["Head", "Place", "carry", "files", "heads", "indexed", "listed", "replace", "same_values"]

#: The longest header that is read, in bytes.
LONGEST = 100 << 20

#: Element types by the names of torch, where safetensors has others than those in upper case.
_NAMES = {
    "float64": "F64",
    "float32": "F32",
    "bfloat16": "BF16",
    "float16": "F16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint8": "U8",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
}

#: The bits of an element.
_BITS = {"F64": 64, "F32": 32, "BF16": 16, "F16": 16, "I64": 64, "I32": 32, "I16": 16, "I8": 8, "U8": 8, "BOOL": 8,
         "F8_E4M3": 8, "F8_E5M2": 8}

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"


@dataclass(frozen=True, slots=True)
class Head:
    """A tensor without its data."""

    shape: tuple[int, ...]
    #: As safetensors spells it, such as ``BF16``.
    dtype: str
    #: The file that holds it; empty if the caller gave names and shapes.
    file: str = ""
    #: The first byte in the file, and the number of bytes.
    start: int = field(default=0, compare=False)
    size: int = field(default=0, compare=False)

    @property
    def elements(self) -> int:
        """The number of elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count


def files(checkpoint: str | os.PathLike[str]) -> list[pathlib.Path]:
    """Gives the safetensors files of a checkpoint: of a folder, of an index, or the file itself.

    Of a folder it takes what transformers takes: ``model.safetensors``, or the files of the index. Without both it takes all files.

    :raises FileError: if there are none
    """
    path = pathlib.Path(checkpoint)
    if path.is_dir():
        for name in (SINGLE, INDEX):
            if (path / name).exists():
                return files(path / name)
        found = sorted(path.glob("*.safetensors"))
        if not found:
            raise FileError(f"{path}: no safetensors file; pickled files (.bin, .pt) are not read, convert them first")
        return found
    if path.name.endswith(".json"):
        return [path.parent / name for name in sorted(set(_weight_map(path).values()))]
    return [path]


def _weight_map(path: pathlib.Path) -> dict[str, str]:
    try:
        names = _json(path.read_bytes(), path).get("weight_map")
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from error
    if not isinstance(names, dict) or not all(_is_plain(name) for name in names.values()):
        raise FileError(f"{path}: `weight_map` must map tensors to names of files beside it")
    return {name: sys.intern(file) for name, file in names.items()}


def indexed(checkpoint: str | os.PathLike[str] | Mapping[str, Any]) -> list[str]:
    """Gives the names that the index of a checkpoint has; none without an index."""
    if isinstance(checkpoint, Mapping):
        return []
    path = pathlib.Path(checkpoint)
    index = path / INDEX if path.is_dir() and not (path / SINGLE).exists() else path
    if not index.name.endswith(".json") or not index.exists():
        return []
    return sorted(_weight_map(index))


def _is_plain(name: Any) -> bool:
    return isinstance(name, str) and name.endswith(".safetensors") and pathlib.PurePath(name).name == name


def heads(checkpoint: str | os.PathLike[str] | Mapping[str, Any]) -> dict[str, Head]:
    """Gives the tensors of a checkpoint. A mapping of names to tensors, or to shapes, is read as one.

    :raises FileError: if a file cannot be read, or two files hold a tensor of one name
    """
    if isinstance(checkpoint, Mapping):
        return {name: _given(value) for name, value in checkpoint.items()}
    found: dict[str, Head] = {}
    shared: _Shared = {}
    for path in files(checkpoint):
        for name, head in _header(path, shared).items():
            if name in found:
                raise FileError(f"tensor {name!r} is in {found[name].file} and in {path.name}; remove one of the files")
            found[name] = head
    return found


def _given(value: Any) -> Head:
    if isinstance(value, Head):
        return value
    shape = getattr(value, "shape", value)
    dtype = str(getattr(value, "dtype", "float32")).removeprefix("torch.")
    return Head(tuple(int(extent) for extent in shape), _NAMES.get(dtype, dtype.upper()))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; a key that it has twice is an error."""
    found = dict(pairs)
    if len(found) != len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"{twice!r} is there twice")
    return found


def _json(text: bytes, path: pathlib.Path) -> dict[str, Any]:
    try:
        value = json.loads(text, object_pairs_hook=_once)
    except ValueError as error:
        raise FileError(f"{path}: {error}") from None
    except RecursionError:
        raise FileError(f"{path}: JSON that is nested too deeply; the file is corrupt") from None
    if not isinstance(value, dict):
        raise FileError(f"{path}: expected a JSON object")
    return value


#: Dims and sizes by themselves: thousands of experts have the same, and share one value.
_Shared = dict[Any, Any]


def _head(entry: dict[str, Any], file: tuple[str, int], shared: _Shared) -> Head:
    first, end = entry["data_offsets"]
    shape, dtype = entry["shape"], entry["dtype"]
    if not isinstance(shape, list) or not isinstance(dtype, str) or not all(type(one) is int and one >= 0 for one in (*shape, first, end)):
        raise TypeError
    dims, size = tuple(shape), end - first
    head = Head(shared.setdefault(dims, dims), sys.intern(dtype), file[0], file[1] + first, shared.setdefault(size, size))
    if end < first or head.elements * _BITS.get(dtype, 0) not in (0, 8 * (end - first)):
        raise ValueError
    return head


def _header(path: pathlib.Path, shared: _Shared) -> dict[str, Head]:
    try:
        with open(path, "rb") as file:
            start = file.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else -1
            size = os.fstat(file.fileno()).st_size
            if not 0 <= length <= min(size - 8, LONGEST):
                raise FileError(f"{path}: not a safetensors file: a header of {length} bytes in a file of {size}")
            header = _json(file.read(length), path)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from error
    header.pop("__metadata__", None)
    try:
        found = {name: _head(entry, (path.name, 8 + length), shared) for name, entry in header.items()}
    except (KeyError, TypeError, ValueError):
        raise FileError(f"{path}: a tensor without a right `shape`, `dtype` or `data_offsets`; the file is corrupt") from None
    need, there = max((head.start + head.size for head in found.values()), default=0) - 8 - length, size - 8 - length
    if need > there:
        raise FileError(f"{path}: the file is cut off: its tensors need {need} bytes, and {there} are there")
    return found


#: The most names that a sentence lists.
_NAMED = 3


def listed(names: tuple[str, ...]) -> str:
    """Gives the first names as text, and the number of the others."""
    more = len(names) - _NAMED
    return ", ".join(map(repr, names[:_NAMED])) + (f" and {more} more" if more > 0 else "")


# Bytes of tensors.

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
    at, left = place.head.start, place.head.size
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
    size = place.head.size // elements
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
    if (place.head.dtype, place.head.shape, place.head.size) != (own.head.dtype, own.head.shape, own.head.size):
        raise FileError(f"{own.path}: {own.name!r} has other dims or another element type than the published tensor")
    with open(own.path, "r+b") as file:
        file.seek(own.head.start)
        for block in _blocks(place):
            file.write(block)


def carry(source: pathlib.Path, tensors: Mapping[str, Head], folder: pathlib.Path, others: Mapping[str, Head]) -> None:
    """Copies tensors of the published checkpoint into a folder that holds the others, and writes the index of both."""
    owners = {name: head.file for name, head in others.items()}
    single = folder / SINGLE
    file = "model-carried.safetensors"
    if single.exists() and not (folder / INDEX).exists():
        first, file = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
        single.rename(folder / first)
        owners = dict.fromkeys(owners, first)
    _write(source, tensors, folder / file)
    owners |= dict.fromkeys(tensors, file)
    size = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    index: dict[str, Any] = {"metadata": {"total_size": size}, "weight_map": dict(sorted(owners.items()))}
    (folder / INDEX).write_text(json.dumps(index, indent=1), encoding="utf-8")


def _write(source: pathlib.Path, tensors: Mapping[str, Head], path: pathlib.Path) -> None:
    """Writes a safetensors file of tensors, copied in blocks."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    places = {name: Place(source, name, head) for name, head in tensors.items()}
    at = 0
    for name, head in tensors.items():
        length = head.size
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
