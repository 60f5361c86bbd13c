"""Checkpoints: tensors of a file, or boxes of them, as arrays in a requested layout; and arrays saved."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilewright import _tilewright
from tilewright._tilewright import Checkpoint, Layout, TabledLayout, TensorLayout

__all__ = ["open", "save"]

_Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]
_Spec = str | Layout | TensorLayout | TabledLayout


def open(  # noqa: A001
    path: _Path,
    /,
    *,
    from_: _Spec | None = None,
    dims: Sequence[int] | None = None,
    dtype: Any = None,
) -> Checkpoint:
    """Opens a file of weights; tensors are read when they are asked for, in the layout that is asked for.

    Files are ``.safetensors``, a sharded checkpoint by its ``.safetensors.index.json`` or its folder, ``.gguf``,
    ``.npz``, ``.npy``, the ``.pt`` of ``torch.save``, and bytes without a header as ``raw:PATH``, which need ``dims`` and
    ``dtype``. What is not as one may expect is a ``UserWarning``.

    - ``m[name]`` has the logical dims, the last fastest, whatever layout the file stores.
    - ``m.get(name, to="zN")`` has the shape of the storage, as ``relayout`` gives it.
    - ``m.get(name, box=[slice(0, 512), ...])`` is a part, of which alone is read.
    - ``m.get(name, out=array)`` is read straight into memory of the caller's.
    - ``m.get(name, framework="torch")`` is a tensor of torch's.

    Element types are kept; those that NumPy lacks (bf16, fp8) need ``ml_dtypes``, which is imported when they are met.
    The interpreter is free while bytes move, the interrupt key ends a reading, and several threads may read at a time.

    :raises FileNotFoundError: a file that is not there
    :raises FileError: what cannot be read, or is corrupt, or is changed while it is open
    :raises ArgumentError: a folder that holds several checkpoints

    >>> import tempfile, pathlib, numpy as np
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "layers.npz"
    >>> np.savez(path, a=np.arange(12, dtype=np.int16).reshape(3, 4))
    >>> with open(path) as m:
    ...     print(list(m), m["a"].shape, m.get("a", box=[slice(1, 3), -1]))
    ...     print(m.get("a", to="col-major"))
    ['a'] (3, 4) [ 7 11]
    [[ 0  4  8]
     [ 1  5  9]
     [ 2  6 10]
     [ 3  7 11]]
    >>> folder.cleanup()
    """
    return _tilewright.open_checkpoint(os.fsdecode(path), {"from_": from_, "dims": dims, "dtype": dtype})


def save(
    tensors: Mapping[str, Any],
    path: _Path,
    *,
    to: _Spec | None = None,
    rules: Mapping[str, _Spec] | None = None,
    metadata: Mapping[str, str] | Checkpoint | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    fill: str | int | None = None,
    from_: _Spec | None = None,
    dims: Sequence[int] | None = None,
    dtype: Any = None,
    skip_unfit: bool = False,
    verify: bool = False,
    memory: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Writes arrays to a ``.safetensors``, ``.npz``, ``.npy`` or raw file, each in the layout that is asked for.

    Arrays are those that ``relayout`` takes: NumPy's, torch's and jax's on the CPU, whatever has DLPack or a buffer. They
    are read where they are, whatever their strides, and elements go from there to the file: no array is copied as a
    whole. Every element type is kept. The file is whole or absent, also after the interrupt key or an exception of
    ``progress``. The interpreter is free while bytes move; no other thread may write to the arrays meanwhile.

    Without ``to`` and ``rules`` arrays are stored row-major. A layout that the file cannot express itself stands in its
    metadata, or of ``.npy`` and ``raw:PATH`` in a note beside it, and ``open``, ``info`` and ``convert`` read it there.

    In ``.safetensors`` an array that is given under several names (the same memory, seen in the same way) is stored once,
    under the first of them; the metadata says the others, as safetensors' own ``save_model`` writes them, and ``open``
    answers every name. ``.npz`` has each of them, for NumPy reads no other names.

    :param to: the layout of every array that no rule names
    :param rules: layouts by patterns of names, the first match wins: ``{"*norm*": "row-major"}``
    :param metadata: texts by their names, or an open checkpoint whose metadata goes on, without what it says of the
        layouts of its own tensors
    :param overwrite: replaces a file that exists
    :param threads: one per core unless given
    :param fill: what padding holds: ``0``, ``one``, ``lowest``, ``highest`` or ``0x…``
    :param from_: the arrays are storages in this layout, as with ``relayout``
    :param dims: the logical dims of such storages
    :param dtype: the element type, where the arrays cannot express it (bf16 in 16-bit integers)
    :param skip_unfit: stores an array that its layout does not fit row-major
    :param verify: reads the file back and compares every element and every byte of padding
    :param memory: the bound on buffers, in bytes; 1 GiB unless given
    :param progress: called with the bytes done and the bytes in all; what it raises ends the run
    :raises FileExistsError: a file that exists, without ``overwrite``
    :raises FileError: what cannot be written
    :raises ArgumentError: a layout that does not fit an array, a pattern that matches no name, a path of another ending
    :raises ArrayError: an array that cannot be seen; the message names it

    >>> import tempfile, pathlib, numpy as np
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "out.safetensors"
    >>> w = np.arange(600, dtype=np.float16).reshape(20, 30)
    >>> save({"w": w.T, "norm": w[0]}, path, to="zN", rules={"*norm*": "row-major"}, metadata={"format": "np"})
    >>> with open(path) as m:
    ...     print(m.layout("w").spec, m.metadata["format"], bool((m["w"] == w.T).all()))
    f16[30,20] zN np True
    >>> folder.cleanup()
    """
    job = {
        "to": to,
        "rules": rules,
        "force": overwrite,
        "threads": threads,
        "fill": fill,
        "skip_unfit": skip_unfit,
        "verify": verify,
        "memory": memory,
    }
    reading = {"from_": from_, "dims": dims, "dtype": dtype}
    _tilewright.save(tensors, os.fsdecode(path), job, reading, metadata, progress)
