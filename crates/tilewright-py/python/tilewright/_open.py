"""Checkpoints opened for reading: tensors, or boxes of them, as arrays in the layout that is asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tilewright import _tilewright
from tilewright._errors import ArgumentError
from tilewright._tilewright import Checkpoint, Layout, TensorLayout

__all__ = ["open"]

_Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]
_Spec = str | Layout | TensorLayout
#: What a folder is opened by, the first that there is one of.
_ENDINGS = (".safetensors.index.json", ".safetensors", ".gguf", ".npz")


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
    ``.npz``, ``.npy``, and bytes without a header as ``raw:PATH``, which need ``dims`` and ``dtype``. What is not as one
    may expect is a ``UserWarning``.

    - ``m[name]`` has the logical dims, the last fastest, whatever layout the file stores.
    - ``m.get(name, to="zN")`` has the shape of the storage, as ``relayout`` gives it.
    - ``m.get(name, box=[slice(0, 512), ...])`` is a part, of which alone is read.
    - ``m.get(name, out=array)`` is read straight into memory of the caller's.
    - ``m.get(name, framework="torch")`` is a tensor of torch's.

    Element types are kept; those that NumPy lacks (bf16, fp8) need ``ml_dtypes``, which is imported when they are met.
    The interpreter is free while bytes move, the interrupt key ends a reading, and several threads may read at a time.

    :raises FileNotFoundError: a file that is not there
    :raises FileError: what cannot be read, or is corrupt, or is changed while it is open
    :raises ArgumentError: a folder that holds no checkpoint, or several

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
    given = os.fsdecode(path)
    found = _inside(Path(given)) if os.path.isdir(given) else given
    return _tilewright.open_checkpoint(found, {"from_": from_, "dims": dims, "dtype": dtype})


def _inside(folder: Path) -> str:
    """The checkpoint of a folder."""
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    for ending in _ENDINGS:
        found = [name for name in names if name.endswith(ending)]
        if len(found) == 1:
            return str(folder / found[0])
        if found:
            raise ArgumentError(f"{folder} holds {len(found)} files *{ending}, such as {found[0]}; name one of them")
    raise ArgumentError(f"{folder} holds no checkpoint: no file *{', *'.join(_ENDINGS)}")
