"""Whole files rewritten in another layout: the program's ``convert``, ``verify`` and ``info``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tilewright import _tilewright
from tilewright._errors import ArgumentError
from tilewright._sharded import source
from tilewright._tilewright import Layout, TabledLayout, TensorLayout

__all__ = ["Contents", "Report", "TensorReport", "convert", "info", "verify"]

_Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]
_Spec = str | Layout | TensorLayout | TabledLayout
_Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class TensorReport:
    """Report on one tensor of a conversion. Sizes are bytes."""

    name: str
    #: ``convert``, ``copy`` or ``skip``.
    action: str
    from_: TensorLayout | TabledLayout
    to: TensorLayout | TabledLayout
    bytes_in: int
    bytes_out: int
    padding_bytes: int
    kernel: str
    #: Why it was skipped, or that it lies so already.
    reason: str | None


@dataclass(frozen=True)
class Report:
    """Report on a conversion. Sizes are bytes."""

    tensors: tuple[TensorReport, ...]
    bytes_in: int
    bytes_out: int
    dry_run: bool
    #: With headers; None after a dry run, as the following.
    bytes_written: int | None = None
    #: Bytes compared, where verification was asked for.
    verified: int | None = None
    #: The most bytes of buffers that were in use at once.
    peak_memory: int | None = None
    #: What is not as one may expect, in sentences: bytes behind an array, a note of other bytes, what stays behind in a
    #: folder. Each is also issued as a ``UserWarning``.
    warnings: tuple[str, ...] = ()
    #: The names of the files that went along unchanged, where a folder was converted.
    files: tuple[str, ...] = ()


class Contents(dict[str, TensorLayout | TabledLayout]):
    """The tensors of a file by name, and in ``warnings`` sentences about anything unexpected."""

    def __init__(
        self, tensors: Mapping[str, TensorLayout | TabledLayout], warnings: Sequence[str] = ()
    ) -> None:
        super().__init__(tensors)
        self.warnings = tuple(warnings)


def convert(
    input: _Path,  # noqa: A002
    output: _Path,
    *,
    to: _Spec | None = None,
    rules: Mapping[str, _Spec] | None = None,
    tensors: str | Sequence[str] | None = None,
    from_: _Spec | None = None,
    dims: Sequence[int] | None = None,
    dtype: Any = None,
    store: Any = None,
    fill: str | int | None = None,
    verify: bool = False,
    threads: int | None = None,
    memory: int | None = None,
    force: bool = False,
    skip_unfit: bool = False,
    any_config: bool = False,
    dry_run: bool = False,
    progress: _Progress | None = None,
) -> Report:
    """Rewrites the tensors of a file in another layout: what ``tilewright convert`` does.

    Files are ``.safetensors``, also a sharded checkpoint by its ``.safetensors.index.json``, ``.gguf``, ``.npy``,
    ``.npz``, and bytes without a header as ``raw:PATH``. The output is whole or absent, also after the interrupt key or an exception
    of ``progress``; the input is never touched. Memory is bounded by ``memory`` whatever the file's size. What is not
    as one may expect of the input is a ``UserWarning``, issued before anything is written, and in the report.

    A folder is its one index of shards, or its one file of tensors, and becomes a new folder, whole or absent: with
    ``config.json``, the tokenizer and all other files that are not weights and have at most 64 MiB. A folder that holds
    anything is never replaced.

    :param to: the layout of every tensor that no rule names
    :param rules: layouts by patterns of names, the first match wins: ``{"*.bias": "row-major"}``
    :param tensors: patterns of names; others are copied as they are
    :param from_: how the input lies, where it does not say so itself; ``GPTQ`` with ``dtype="u4"`` reads words
    :param store: the type of the words that elements are stored as: 4 bits each as ``s32``
    :param fill: what padding holds: ``0``, ``one``, ``lowest``, ``highest`` or ``0x…``
    :param verify: reads the output back and compares every element and every byte of padding
    :param threads: one per core unless given
    :param memory: the bound on buffers and on what is held of tensors, in bytes; 1 GiB unless given
    :param force: replaces an output that exists
    :param skip_unfit: copies tensors whose rank does not fit their layout
    :param any_config: converts though ``config.json``, or the zero points beside a weight, state another quantisation
    :param dry_run: decides everything and writes nothing
    :param progress: called with the bytes done and the bytes in all, every few megabytes; what it raises ends the run
    :raises FileExistsError: an output that exists, without ``force``
    :raises FileNotFoundError: an input that does not
    :raises FileError: what cannot be read or written, or is corrupt
    :raises Error: a layout that does not parse or does not fit

    >>> import tempfile, pathlib, numpy as np
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name)
    >>> np.save(path / "conv.npy", np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4))
    >>> report = convert(path / "conv.npy", path / "nhwc.npy", to="NHWC", verify=True)
    >>> report.tensors[0].action, report.verified
    ('convert', 96)
    >>> np.load(path / "nhwc.npy").shape
    (1, 3, 4, 2)
    >>> folder.cleanup()
    """
    job = {
        "to": to,
        "rules": rules,
        "tensors": tensors,
        "from_": from_,
        "dims": dims,
        "dtype": dtype,
        "store": store,
        "fill": fill,
        "verify": verify,
        "threads": threads,
        "memory": memory,
        "force": force,
        "skip_unfit": skip_unfit,
        "any_config": any_config,
        "dry_run": dry_run,
    }
    done = _tilewright.convert(os.fsdecode(input), os.fsdecode(output), job, progress)
    done["tensors"] = tuple(TensorReport(**tensor) for tensor in done["tensors"])
    done["warnings"] = tuple(done["warnings"])
    done["files"] = tuple(done["files"])
    return Report(**done)


def verify(
    output: _Path,
    against: _Path | None = None,
    *,
    to: _Spec | None = None,
    rules: Mapping[str, _Spec] | None = None,
    tensors: str | Sequence[str] | None = None,
    from_: _Spec | None = None,
    dims: Sequence[int] | None = None,
    dtype: Any = None,
    store: Any = None,
    fill: str | int | None = None,
    threads: int | None = None,
    memory: int | None = None,
    skip_unfit: bool = False,
    progress: _Progress | None = None,
    from_mesh: Any = None,
    from_rules: Mapping[str, Any] | None = None,
    recipe: str | os.PathLike[str] | None = None,
    inverse: bool = False,
    sizes: Mapping[str, int] | None = None,
    allow: Sequence[str] = (),
    metadata: _Path | None = None,
    any_config: bool = False,
) -> str | None:
    """Compares a finished file with the one it was made from: None where everything agrees, else the first
    difference in words. The other arguments are those of the conversion.

    Without ``against`` the data are compared with the fingerprints that the conversion recorded beside the layouts;
    then only ``tensors``, ``threads``, ``memory`` and ``progress`` mean anything. Tensors with a layout and no record are
    not compared, and a ``UserWarning`` names them. A folder against a folder has all the files that went along.

    A folder of shards counts as its whole arrays, which are compared with those of ``against``, as by ``same_data``. Of
    the other arguments only ``progress``, ``from_mesh`` and ``from_rules`` apply.

    A result that records its recipe is compared by it. With ``recipe`` the file need not record one, such as ``.npy``;
    ``inverse``, ``sizes``, ``allow``, ``metadata`` and ``any_config`` are those of ``convert_recipe``. Metadata that differ and
    do not describe the data are a ``UserWarning``; lost or changed ones are a difference.

    :param from_mesh: the mesh of a folder of shards whose files do not record it, with ``from_rules``, as of ``reshard``
    :param recipe: a recipe's file, or the name of one that is shipped
    :raises FileError: what cannot be read, or is corrupt
    :raises ArgumentError: a file that records nothing, without ``against``
    """
    others = (to, rules, from_, dims, dtype, store, fill, recipe, skip_unfit or None)
    if against is None and any(other is not None for other in others):
        about = "to=, rules=, from_=, dims=, dtype=, store=, fill=, recipe= and skip_unfit="
        raise ArgumentError(f"{about} apply only to a conversion; against= names the original")
    job = {
        "to": to,
        "rules": rules,
        "tensors": tensors,
        "from_": from_,
        "dims": dims,
        "dtype": dtype,
        "store": store,
        "fill": fill,
        "threads": threads,
        "memory": memory,
        "skip_unfit": skip_unfit,
        "recipe": None if recipe is None else os.fspath(recipe),
        "inverse": inverse,
        "sizes": sizes,
        "allow": list(allow),
        "metadata": None if metadata is None else os.fsdecode(metadata),
        "any_config": any_config,
        **source(from_mesh, from_rules),
    }
    original = None if against is None else os.fsdecode(against)
    return _tilewright.verify(os.fsdecode(output), original, job, progress)


def info(
    path: _Path,
    *,
    from_: _Spec | None = None,
    dims: Sequence[int] | None = None,
    dtype: Any = None,
) -> Contents:
    """The tensors of a file by name, each with its layout. What is not as one may expect is in ``warnings``, and
    issued as a ``UserWarning``.

    :raises FileError: what cannot be read, or is corrupt
    """
    rows, warnings = _tilewright.info(os.fsdecode(path), {"from_": from_, "dims": dims, "dtype": dtype})
    return Contents({row["name"]: row["layout"] for row in rows}, warnings)
