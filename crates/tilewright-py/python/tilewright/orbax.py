"""Orbax's checkpoints, of JAX: unpacked for ``reshard``, by tensorstore (``pip install tilewright[orbax]``).

Orbax compresses the chunks of its arrays, so their bytes lie nowhere as they are. ``unpack`` reads them chunk by chunk, and
writes them as torch's distributed checkpoint in safetensors, of which ``reshard`` reads every box where it lies.

>>> import tilewright as tw, tilewright.orbax  # doctest: +SKIP
>>> tilewright.orbax.unpack("step_100", "step_100-unpacked")  # doctest: +SKIP
>>> tw.reshard("step_100-unpacked", "tp8", mesh="tp=8", rules={"*kernel": "P(None, 'tp')"}).run()  # doctest: +SKIP
"""

from __future__ import annotations

import errno
import importlib
import json
import math
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

from tilewright import _errors
from tilewright._open import save

__all__ = ["unpack"]

# Of no type: the package is checked where tensorstore is not installed.
_tensorstore: Any = importlib.import_module("tensorstore")

#: The most bytes of a file and in memory at once, but for a chunk that is larger: 256 MiB.
_MOST = 256 << 20

#: The name of an array, its extents, its first indices and its elements.
_Box = tuple[str, list[int], Any]


def unpack(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    memory: int = _MOST,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Writes the arrays of a checkpoint of Orbax to a new folder, a box a chunk, for ``reshard``.

    The chunks are those that Orbax wrote: parts of shards where several hosts held one. An array without elements is one
    empty box. The folder is filled under a hidden name beside its own, synced, and renamed, so it is there when it is whole.
    A call that raises removes what it wrote. One that is killed leaves ``.NAME.….unpacking``, which can be removed.
    Where the checkpoint says that chunks of zeros are stored, as newer ones do, a chunk that is missing is an error.

    :param memory: the most bytes in memory and in a file; a chunk is read whole
    :param progress: called with the bytes done and the bytes in all after each file; what it raises ends the run
    :raises FileError: no checkpoint of Orbax, one that was not finished, or one of which a chunk is missing
    :raises FileExistsError: an output that exists
    :raises UnsupportedError: entries that are not arrays, entries whose keys make one name
    """
    source, folder = Path(path), Path(os.path.abspath(output))
    arrays = _arrays(source)
    with _becoming(folder) as growing:
        total = sum(math.prod(array.shape) * array.dtype.numpy_dtype.itemsize for array in arrays.values())
        # Whoever puts the boxes together knows how large the whole is.
        extents = json.dumps({name: list(array.shape) for name, array in arrays.items()})
        done = 0
        for number, group in enumerate(_groups(_boxes(arrays), memory)):
            places = {name: {"saved_offsets": start} for name, start, _ in group}
            metadata = {"format": "pt", "DCP_VERSION": "1.0", "DCP_SHARDING_INFO": json.dumps(places)}
            metadata["tilewright.extents"] = extents
            save({name: box for name, _, box in group}, growing / f"shard-{number:05}.safetensors", metadata=metadata)
            done += sum(box.nbytes for _, _, box in group)
            if progress is not None:
                progress(done, total)


@contextmanager
def _becoming(folder: Path) -> Iterator[Path]:
    """A new folder that gets this name once it is filled and on the disk; else it is removed."""
    if os.path.lexists(folder):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
    growing = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.unpacking")
    growing.mkdir()
    try:
        yield growing
        for path in growing.iterdir():
            _sync(path, os.O_RDWR)
        _sync(growing, os.O_RDONLY)
        growing.rename(folder)
    except BaseException:
        shutil.rmtree(growing, ignore_errors=True)
        raise
    _sync(folder.parent, os.O_RDONLY)


def _sync(path: Path, access: int) -> None:
    """Syncs a file, or the names in a folder where the system opens folders, to the disk."""
    if os.name == "nt" and path.is_dir():
        return
    file = os.open(path, access)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _arrays(path: Path) -> dict[str, Any]:
    """The arrays of a checkpoint by name, opened."""
    try:
        tree = json.loads((path / "_METADATA").read_text(encoding="utf-8"))
        entries = [_entry(one) for one in dict(tree["tree_metadata"]).values()]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _errors.make("file-corrupt", f"{path} is not a checkpoint of Orbax: {error}", None, None) from error
    is_finished = any((folder / "commit_success.txt").is_file() for folder in (path, path.parent))
    if ".orbax-checkpoint-tmp" in path.name or not is_finished:
        raise _errors.make("file-corrupt", f"{path} was not finished: it has no commit_success.txt", None, None)
    arrays, known = dict[str, Any](), dict[str, list[str]]()
    for keys, kind in entries:
        name = ".".join(keys)
        if kind not in ("jax.Array", "np.ndarray", "scalar"):
            raise _errors.make("unsupported", f"entry {name!r} of {path} is a {kind}, and no array", None, None)
        if known.setdefault(name, keys) is not keys:
            twice = f"entries {known[name]} and {keys} of {path} have the same name, {name!r}"
            raise _errors.make("unsupported", f"{twice}; only entries whose joined keys differ are unpacked", None, None)
        arrays[name] = _opened(path, name, tree)
    return arrays


def _entry(entry: Any) -> tuple[list[str], str]:
    """The keys of an entry, and the kind of its value."""
    return [str(key["key"]) for key in entry["key_metadata"]], str(entry["value_metadata"]["value_type"])


def _opened(path: Path, name: str, tree: dict[str, Any]) -> Any:
    place = {"driver": "file", "path": f"{path}/{name}/"}
    if tree.get("use_ocdbt"):
        place = {"driver": "ocdbt", "base": f"file://{path.resolve()}/", "path": f"{name}/"}
    driver = "zarr3" if tree.get("use_zarr3") else "zarr"
    try:
        # Orbax says whether it stored chunks of zeros as well: then one that is not there is lost.
        fills = not tree.get("store_array_data_equal_to_fill_value")
        spec = {"driver": driver, "kvstore": place, "fill_missing_data_reads": fills}
        return _tensorstore.open(spec, open=True, read=True).result()
    except ValueError as error:
        raise _errors.make("file-corrupt", f"entry {name!r} of {path}: {error}", None, None) from error


def _boxes(arrays: dict[str, Any]) -> Iterator[_Box]:
    """Every chunk of every array, read in turn; an array without elements is read whole."""
    for name, array in arrays.items():
        chunk = array.chunk_layout.write_chunk.shape or array.shape
        if 0 in array.shape:
            yield name, [0] * len(array.shape), array.read().result()
            continue
        sides = [range(0, extent, max(step, 1)) for extent, step in zip(array.shape, chunk, strict=True)]
        for start in product(*sides):
            box = tuple(slice(at, min(at + step, n)) for at, step, n in zip(start, chunk, array.shape, strict=True))
            try:
                yield name, list(start), array[box].read().result()
            except ValueError as error:
                said = f"entry {name!r}: its chunk at {list(start)} cannot be read, a file of it may be missing: {error}"
                raise _errors.make("file-corrupt", said, None, None) from error


def _groups(boxes: Iterator[_Box], most: int) -> Iterator[list[_Box]]:
    """Boxes for one file each: a file holds an array once."""
    group: list[_Box] = []
    names, held = set[str](), 0
    for name, start, box in boxes:
        if group and (name in names or held + box.nbytes > most):
            yield group
            group, names, held = [], set(), 0
        group.append((name, start, box))
        names.add(name)
        held += box.nbytes
    if group:
        yield group
