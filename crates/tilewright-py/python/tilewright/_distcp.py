"""torch's own checkpoints, ``.metadata`` beside ``*.distcp``: where their bytes lie.

``.metadata`` is a pickle, which only Python reads. It is read without running what it names: every class but those that torch's
writer uses is refused. An item of a ``.distcp`` file is a zip of ``torch.save``, in which the elements of one box lie as
they are, so nothing is loaded here: what is listed is file, byte and box.

Source: ``torch/distributed/checkpoint/filesystem.py`` and ``metadata.py``.
"""

from __future__ import annotations

import importlib
import io
import math
import pathlib
import pickle
import struct
import zipfile
from collections import OrderedDict
from typing import Any, BinaryIO, NamedTuple

from tilewright import _errors

__all__ = ["Listed", "is_checkpoint", "listed"]

#: A box: file, first byte, first indices, extents. A tensor: name, element type, extents, boxes.
Box = tuple[int, int, list[int], list[int]]
Tensor = tuple[str, str, list[int], list[Box]]
#: Files, tensors, and the names of what is no tensor.
Listed = tuple[list[str], list[Tensor], list[str]]

#: Element types as safetensors spells them.
_DTYPES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint64": "U64",
    "uint32": "U32",
    "uint16": "U16",
    "uint8": "U8",
    "bool": "BOOL",
    "complex64": "C64",
}

#: Storages with a type of elements, by their names.
_STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
}

#: What a list may name, beside torch's element types.
_NAMES = {
    "torch": {"Size"},
    "torch.serialization": {"_get_layout"},
    "torch.distributed.checkpoint.filesystem": {"_StorageInfo"},
    "torch.distributed.checkpoint.metadata": {
        "_MEM_FORMAT_ENCODING",
        "BytesStorageMetadata",
        "ChunkStorageMetadata",
        "Metadata",
        "MetadataIndex",
        "StorageMeta",
        "TensorProperties",
        "TensorStorageMetadata",
    },
    "collections": {"OrderedDict"},
    "pathlib": {"Path", "PosixPath", "PurePath", "PurePosixPath", "PureWindowsPath", "WindowsPath"},
    "pathlib._local": {"Path", "PosixPath", "PurePath", "PurePosixPath", "PureWindowsPath", "WindowsPath"},
}


def is_checkpoint(path: str) -> bool:
    """Whether a folder is such a checkpoint.

    :raises FileError: files of one without their list
    """
    if (pathlib.Path(path) / ".metadata").is_file():
        return True
    if any(pathlib.Path(path).glob("*.distcp")):
        raise _corrupt(f"{path} holds *.distcp but no .metadata, which lists their contents")
    return False


def listed(path: str) -> Listed:
    """The boxes of a checkpoint, and the entries that are not tensors.

    :raises UnsupportedError: classes that torch's writer does not use, compressed items, tensors with other strides
    :raises FileError: a file that is not what it should be
    """
    folder = pathlib.Path(path)
    entries, storage = _metadata(folder / ".metadata")
    # The list itself holds no box, and is watched for changes as the others are.
    files, tensors = [str(folder / ".metadata")], dict[str, Tensor]()
    for name, stored in entries.items():
        if hasattr(stored, "chunks"):
            dtype = str(stored.properties.dtype).removeprefix("torch.")
            if dtype not in _DTYPES:
                raise _refused(f"tensor {name!r} has elements of {dtype}, which safetensors cannot store")
            tensors[name] = (name, _DTYPES[dtype], list(stored.size), [])
    chunks = {(name, tuple(one.offsets)): list(one.sizes) for name in tensors for one in entries[name].chunks}
    for file, places in _by_file(storage, tensors).items():
        files.append(str(folder / file))
        with _opened(files[-1], files[0]) as data:
            for index, place in places:
                name, start = index.fqn, list(index.offset)
                sizes = chunks.pop((name, tuple(start)), None)
                if sizes is None:
                    raise _corrupt(f"{files[0]}: tensor {name!r} has no box at {start}, or it is stored twice")
                if 0 not in sizes:
                    dtype = entries[name].properties.dtype
                    item = _Item(name, str(dtype).removeprefix("torch."), sizes, math.prod(sizes) * dtype.itemsize)
                    at = _raw(data, place, item, files[-1])
                    tensors[name][3].append((len(files) - 1, at, start, sizes))
    return files, list(tensors.values()), [name for name in entries if name not in tensors]


def _opened(path: str, lists: str) -> BinaryIO:
    """A file that the list names."""
    try:
        return open(path, "rb")
    except FileNotFoundError as error:
        raise _errors.make("file-missing", f"{path} is missing, but {lists} names it", None, None) from error


def _by_file(storage: dict[Any, Any], tensors: dict[str, Tensor]) -> dict[str, list[tuple[Any, Any]]]:
    """The places of the items of tensors, in the order of each file; files without items are included."""
    files: dict[str, list[tuple[Any, Any]]] = {}
    for index, place in storage.items():
        name = str(place.relative_path)
        if pathlib.PurePath(name).is_absolute() or ".." in pathlib.PurePath(name).parts:
            raise _corrupt(f"the checkpoint names {name}, which is outside of its folder")
        places = files.setdefault(name, [])
        if index.fqn in tensors:
            places.append((index, place))
    for places in files.values():
        places.sort(key=lambda one: int(one[1].offset))
    return files


class _Reader(pickle.Unpickler):
    """Reads a list that names nothing but torch's own classes."""

    def find_class(self, module: str, name: str) -> Any:
        torch: Any = importlib.import_module("torch")
        if module == "torch" and isinstance(getattr(torch, name, None), torch.dtype):
            return getattr(torch, name)
        if name not in _NAMES.get(module, ()):
            raise _refused(f"the list of the checkpoint names {module}.{name}, which torch's writer never names; it is not run")
        return getattr(importlib.import_module(module), name)


def _metadata(path: pathlib.Path) -> tuple[dict[str, Any], dict[Any, Any]]:
    """The entries of a list, and the position of each item."""
    try:
        with path.open("rb") as file:
            found = _Reader(file).load()
        return dict(found.state_dict_metadata), dict(found.storage_data)
    except (_errors.Error, OSError):
        raise
    except Exception as error:
        raise _corrupt(f"{path} is not the list of a torch checkpoint: {error}") from error


class _Window(io.RawIOBase):
    """A part of a file as a file."""

    def __init__(self, file: BinaryIO, first: int, length: int) -> None:
        super().__init__()
        self._file, self._first, self._length, self._at = file, first, length, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._length}[whence]
        self._at = max(base + offset, 0)
        return self._at

    def readinto(self, buffer: Any) -> int:
        count = min(len(buffer), max(self._length - self._at, 0))
        self._file.seek(self._first + self._at)
        part = self._file.read(count)
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)


class _Item(NamedTuple):
    """The list's entry for an item: its tensor, element type, extents and bytes."""

    name: str
    dtype: str
    extents: list[int]
    nbytes: int


class _Named:
    """Placeholder for a type of torch's storages or elements, by its name."""

    def __init__(self, name: str) -> None:
        self.name = name


class _Said(NamedTuple):
    """Description of an item's tensor: offset and strides in elements, and how its bytes become elements."""

    storage: str
    dtype: str
    offset: int
    extents: list[int]
    strides: list[int]
    lazily: dict[str, Any] | None


def _rebuilt_v2(storage: Any, offset: int, size: Any, stride: Any, _grad: Any, _hooks: Any, lazily: Any = None) -> _Said:
    """The arguments of ``torch._utils._rebuild_tensor_v2``."""
    _, kind, key, *_ = storage
    return _Said(str(key), _STORAGES.get(kind.name, kind.name), int(offset), list(size), list(stride), lazily)


def _rebuilt_v3(storage: Any, offset: int, size: Any, stride: Any, grad: Any, hooks: Any, dtype: Any, lazily: Any = None) -> _Said:
    """The arguments of ``torch._utils._rebuild_tensor_v3``, whose storage has no type."""
    return _rebuilt_v2(storage, offset, size, stride, grad, hooks, lazily)._replace(dtype=dtype.name)


class _Tensor(pickle.Unpickler):
    """Reads the description of an item's tensor, without making one."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuilt_v2
        if (module, name) == ("torch._utils", "_rebuild_tensor_v3"):
            return _rebuilt_v3
        if (module, name) == ("torch._utils", "_rebuild_parameter"):
            return lambda tensor, *_rest: tensor
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch" and name == "Size":
            return tuple
        if module in ("torch", "torch.storage"):
            return _Named(name)
        raise _refused(f"an item of the checkpoint names {module}.{name}")

    def persistent_load(self, pid: Any) -> Any:
        return pid


def _raw(file: BinaryIO, place: Any, wanted: _Item, path: str) -> int:
    """The byte of a file at which the elements of an item begin."""
    name = wanted.name
    if getattr(place, "transform_descriptors", None):
        raise _refused(f"tensor {name!r} in {path} is stored as {place.transform_descriptors}; its bytes are not raw")
    try:
        with zipfile.ZipFile(io.BufferedReader(_Window(file, place.offset, place.length))) as item:
            members = {one.filename.partition("/")[2]: one for one in item.infolist()}
            said = _Tensor(io.BytesIO(item.read(members["data.pkl"]))).load()
            data = members[f"data/{said.storage}"]
            little = "byteorder" not in members or item.read(members["byteorder"]) == b"little"
        file.seek(place.offset + data.header_offset)
        lengths = struct.unpack("<HH", file.read(30)[26:])
    except (_errors.Error, OSError):
        raise
    except Exception as error:
        raise _corrupt(f"tensor {name!r} in {path} at byte {place.offset} is not an item of torch.save: {error}") from error
    if data.compress_type != zipfile.ZIP_STORED or not little:
        raise _refused(f"tensor {name!r} in {path} is compressed, or is big-endian; its bytes are not raw")
    _check(said, data.file_size, wanted, path)
    return int(place.offset + data.header_offset + 30 + sum(lengths))


def _check(said: _Said, stored: int, wanted: _Item, path: str) -> None:
    """Raises an error unless the bytes of a storage, ``stored`` of them, are the elements that the list says, one after another."""
    name, dtype, sizes, nbytes = wanted
    if said.lazily:
        why = "are not its elements yet; save tensor.resolve_conj() or tensor.resolve_neg()"
        raise _refused(f"tensor {name!r} in {path} is stored with {said.lazily}, so its bytes {why}")
    if said.dtype != dtype:
        raise _corrupt(f"tensor {name!r} in {path} has elements of {said.dtype}, but the list states {dtype}")
    if said.extents != sizes:
        raise _corrupt(f"tensor {name!r} in {path} has extents {said.extents}, but the list states {sizes}")
    plain = _row_major(said.extents)
    if any(extent > 1 and own != row for extent, own, row in zip(said.extents, said.strides, plain, strict=True)):
        raise _refused(f"tensor {name!r} in {path} has strides {said.strides}; row-major strides are {plain}")
    if said.offset != 0 or stored != nbytes:
        part = f"{nbytes} bytes from element {said.offset} of a storage of {stored} bytes"
        raise _refused(f"tensor {name!r} in {path} is {part}; only a tensor with its own storage is read")


def _row_major(extents: list[int]) -> list[int]:
    strides = [1]
    for extent in reversed(extents[1:]):
        strides.insert(0, strides[0] * extent)
    return strides[: len(extents)]


def _refused(message: str) -> _errors.Error:
    return _errors.make("unsupported", message, None, None)


def _corrupt(message: str) -> _errors.Error:
    return _errors.make("file-corrupt", message, None, None)
