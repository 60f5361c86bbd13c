"""Fingerprints of data that no layout changes: of arrays in memory and of files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tilewright import _tilewright
from tilewright._errors import ArgumentError
from tilewright._sharded import source
from tilewright._tilewright import Fingerprint, Layout, TensorLayout

__all__ = ["Fingerprint", "Fingerprints", "SameData", "fingerprint", "fingerprints", "same_data"]


class Fingerprints(dict[str, Fingerprint]):
    """The fingerprint of every tensor by name. ``all`` is one for them all, with names, types and dims."""

    all: str = ""


class SameData:
    """Whether two files hold the same arrays: true if they do. ``tensors`` has a dictionary for each that differs, and
    ``str`` says it in words."""

    def __init__(self, tensors: list[dict[str, Any]], text: str) -> None:
        self.tensors = tensors
        self._text = text

    def __bool__(self) -> bool:
        return not self.tensors

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "<SameData: same>" if self else f"<SameData: {len(self.tensors)} tensors differ>"


def fingerprint(
    array: Any,
    *,
    layout: str | Layout | TensorLayout | None = None,
    dims: Sequence[int] | None = None,
    dtype: Any = None,
    origin: Sequence[int] | None = None,
    key: str | None = None,
) -> Fingerprint:
    """The fingerprint of the data of an array: the same in every layout.

    Without ``layout`` the array's shape are its dims and its strides are followed; with it the array is a storage in
    that layout, as ``from_`` of ``relayout``. Padding never counts, and packed values agree with unpacked ones. Two arrays
    of one type and one shape that differ have one fingerprint with a probability of 2⁻⁵⁶ at most. That finds accidents;
    it does not stop somebody who knows the key.

    :param dims: the logical dims of a storage whose layout does not name them
    :param dtype: the element type, if the array cannot express it
    :param origin: the coordinate of the array's first element in a whole of which it is a part: fingerprints of
        parts add up
    :param key: 1 to 32 hexadecimal digits
    :raises Error: as ``relayout`` for arrays and layouts that do not fit

    >>> import numpy as np
    >>> import tilewright as tw
    >>> weights = np.arange(3000, dtype=np.float16).reshape(100, 30)
    >>> whole = fingerprint(weights)
    >>> whole == fingerprint(tw.relayout(weights, "zN"), layout="zN", dims=(100, 30))
    True
    >>> whole == fingerprint(weights[:60]) + fingerprint(weights[60:], origin=(60, 0))
    True
    """
    return _tilewright.fingerprint(array, layout, dims, dtype, origin, key)


def fingerprints(
    path: str | os.PathLike[str],
    *,
    tensors: str | Sequence[str] | None = None,
    from_: str | Layout | TensorLayout | None = None,
    dims: Sequence[int] | None = None,
    dtype: Any = None,
    key: str | None = None,
    from_mesh: Any = None,
    from_rules: Mapping[str, Any] | None = None,
) -> Fingerprints:
    """The fingerprint of every tensor of a file or of a folder of files: the same in any layout, format and number of files.
    A folder of shards that ``reshard`` or torch wrote counts as its whole arrays.

    :param tensors: patterns of names, such as ``*norm*``; an empty list is refused, for nothing is compared by it
    :param from_: how arrays of ``.npy`` and ``raw:PATH`` lie that do not say it themselves, with ``dims`` and ``dtype``;
        without such, how tensors lie that no note says it of: ``GPTQ`` with ``dtype="u4"`` reads words
    :param key: 1 to 32 hexadecimal digits
    :param from_mesh: the mesh of a folder of shards whose files do not record it, with ``from_rules``, as of ``reshard``
    :raises Error: ``FileError`` for files that cannot be read

    >>> import numpy as np, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/a.npy", np.arange(6).reshape(2, 3))
    ...     found = fingerprints(f"{folder}/a.npy")
    >>> found["array"] == fingerprint(np.arange(6).reshape(2, 3))
    True
    """
    reading = {"from_": from_, "dims": dims, "dtype": dtype, **source(from_mesh, from_rules)}
    answer = json.loads(_tilewright.fingerprints(os.fsdecode(path), _globs(tensors), key, reading))
    made = Fingerprints({one["name"]: Fingerprint(one["fingerprint"]) for one in answer["tensors"]})
    made.all = answer["all"]
    return made


def same_data(
    a: str | os.PathLike[str],
    b: str | os.PathLike[str],
    *,
    tensors: str | Sequence[str] | None = None,
    from_: str | Layout | TensorLayout | None = None,
    dims: Sequence[int] | None = None,
    dtype: Any = None,
    key: str | None = None,
    from_mesh: Any = None,
    from_rules: Mapping[str, Any] | None = None,
) -> SameData:
    """Whether two files or folders hold the same arrays, in whatever layouts and formats; else what differs, and what it
    would be the same as if transposed, in the other order of bytes, or under another name.
    A folder of shards that ``reshard`` or torch wrote counts as its whole arrays.

    :param tensors: patterns of names, of both
    :param from_: as of ``fingerprints``, with ``dims`` and ``dtype``, of both
    :param key: 1 to 32 hexadecimal digits
    :param from_mesh: the mesh of a folder of shards whose files do not record it, with ``from_rules``, as of ``reshard``
    :raises Error: ``FileError`` for files that cannot be read

    >>> import numpy as np, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/a.npy", np.arange(6).reshape(2, 3))
    ...     np.save(f"{folder}/b.npy", np.asfortranarray(np.arange(6).reshape(2, 3)))
    ...     same = same_data(f"{folder}/a.npy", f"{folder}/b.npy")
    >>> bool(same)
    True
    """
    reading = {"from_": from_, "dims": dims, "dtype": dtype, **source(from_mesh, from_rules)}
    answer, text = _tilewright.same_data(os.fsdecode(a), os.fsdecode(b), _globs(tensors), key, reading)
    return SameData(json.loads(answer)["tensors"], text)


def _globs(tensors: str | Sequence[str] | None) -> list[str]:
    """Patterns of names; none for all tensors."""
    if tensors is None:
        return []
    globs = [tensors] if isinstance(tensors, str) else list(tensors)
    if not globs:
        raise ArgumentError("tensors= is empty; leave it out for all tensors")
    return globs
