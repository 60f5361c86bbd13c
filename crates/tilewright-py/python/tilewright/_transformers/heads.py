"""Names, shapes and element types of a checkpoint, read from the headers of its safetensors files. No data is read."""

from __future__ import annotations

import json
import os
import pathlib
import struct
from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any

from tilewright._errors import FileError

__all__ = ["Head", "files", "heads", "unfiled"]

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


@dataclass(frozen=True)
class Head:
    """A tensor without its data."""

    shape: tuple[int, ...]
    #: As safetensors spells it, such as ``BF16``.
    dtype: str
    #: The file that holds it; empty if the caller gave names and shapes.
    file: str = ""
    #: The first byte in the file, and the number of bytes.
    span: tuple[int, int] = field(default=(0, 0), compare=False)

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
    return names


def unfiled(checkpoint: str | os.PathLike[str] | Mapping[str, Any], known: Container[str]) -> list[str]:
    """Gives the names of an index that no file has.

    :param known: the names that the files have
    """
    if isinstance(checkpoint, Mapping):
        return []
    path = pathlib.Path(checkpoint)
    index = path / INDEX if path.is_dir() and not (path / SINGLE).exists() else path
    if not index.name.endswith(".json") or not index.exists():
        return []
    return sorted(name for name in _weight_map(index) if name not in known)


def _is_plain(name: Any) -> bool:
    return isinstance(name, str) and name.endswith(".safetensors") and pathlib.PurePath(name).name == name


def heads(checkpoint: str | os.PathLike[str] | Mapping[str, Any]) -> dict[str, Head]:
    """Gives the tensors of a checkpoint. A mapping of names to tensors, or to shapes, is read as one.

    :raises FileError: if a file cannot be read, or two files hold a tensor of one name
    """
    if isinstance(checkpoint, Mapping):
        return {name: _given(value) for name, value in checkpoint.items()}
    found: dict[str, Head] = {}
    for path in files(checkpoint):
        for name, head in _header(path).items():
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


def _head(entry: dict[str, Any], file: str, start: int) -> Head:
    first, end = entry["data_offsets"]
    shape, dtype = entry["shape"], entry["dtype"]
    if not isinstance(shape, list) or not isinstance(dtype, str) or not all(type(one) is int and one >= 0 for one in (*shape, first, end)):
        raise TypeError
    head = Head(tuple(shape), dtype, file, (start + first, end - first))
    if end < first or head.elements * _BITS.get(dtype, 0) not in (0, 8 * (end - first)):
        raise ValueError
    return head


def _header(path: pathlib.Path) -> dict[str, Head]:
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
        found = {name: _head(entry, path.name, 8 + length) for name, entry in header.items()}
    except (KeyError, TypeError, ValueError):
        raise FileError(f"{path}: a tensor without a right `shape`, `dtype` or `data_offsets`; the file is corrupt") from None
    need, there = max((sum(head.span) for head in found.values()), default=0) - 8 - length, size - 8 - length
    if need > there:
        raise FileError(f"{path}: the file is cut off: its tensors need {need} bytes, and {there} are there")
    return found
