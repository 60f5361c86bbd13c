"""Checkpoints put together by recipes: the program's ``convert --recipe``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tilewright import _tilewright
from tilewright._files import _Path, _Progress

__all__ = ["RecastReport", "RecastTensor", "convert_recipe", "guess_recipe"]


@dataclass(frozen=True)
class RecastTensor:
    """One tensor of a result."""

    name: str
    #: How it lies: a SPEC with its dims and its element type.
    to: str
    #: The names of the tensors that it is made of.
    sources: tuple[str, ...]
    #: Its bytes in the result.
    bytes_out: int
    #: ``copy`` where bytes are copied in long runs, ``relayout`` where elements are put in place in memory.
    how: str


@dataclass(frozen=True)
class RecastReport:
    """Report on the result of a recipe. Sizes are bytes."""

    tensors: tuple[RecastTensor, ...]
    bytes_out: int
    dry_run: bool
    #: With headers; None after a dry run, as the following.
    bytes_written: int | None = None
    #: Bytes compared, where verification was asked for.
    verified: int | None = None
    #: The most bytes of buffers that were in use at once.
    peak_memory: int | None = None
    #: What is not as one may expect, in sentences. Each is also issued as a ``UserWarning``.
    warnings: tuple[str, ...] = ()
    #: The names of the files that went along, where a folder became a folder.
    files: tuple[str, ...] = ()


def convert_recipe(
    input: _Path,  # noqa: A002
    output: _Path,
    recipe: str | os.PathLike[str] | None = None,
    *,
    inverse: bool = False,
    sizes: Mapping[str, int] | None = None,
    allow: Sequence[str] = (),
    metadata: _Path | None = None,
    trust_metadata: bool = False,
    any_config: bool = False,
    max_shard_size: int | None = None,
    verify: bool = False,
    threads: int | None = None,
    memory: int | None = None,
    force: bool = False,
    dry_run: bool = False,
    progress: _Progress | None = None,
) -> RecastReport:
    """Puts the tensors of a result together from those of ``input``: what ``tilewright convert --recipe`` does.

    Files are ``.safetensors``, also a sharded checkpoint by its ``.safetensors.index.json``, and ``.gguf``; a folder
    becomes a folder, with ``config.json`` and its like. Everything is decided before a byte is read. The output is whole or
    absent, and records the recipe back: without ``recipe`` the one that ``input`` records is run.

    :param recipe: a recipe's file, or the name of one that is shipped
    :param inverse: undoes ``recipe``
    :param sizes: sizes of axes that do not follow; they come before those of the recipe
    :param allow: conditions of the recipe that may fail, by the names that its errors give
    :param metadata: the file whose metadata the result gets; ``input`` unless given
    :param trust_metadata: writes the metadata of another file as they are, though they contradict the tensors
    :param any_config: applies the recipe though ``config.json`` is that of a model that it is not for
    :param max_shard_size: the most bytes of tensors in a file of several
    :param verify: reads everything a second time and compares every element
    :param threads: one per core unless given
    :param memory: the bound on buffers and on what is held of tensors, in bytes; 1 GiB unless given
    :param force: replaces a file that exists
    :param dry_run: decides everything and writes nothing
    :param progress: called with the bytes done and the bytes in all, every few megabytes; what it raises ends the run
    :raises FileExistsError: an output that exists, without ``force``
    :raises FileError: what cannot be read or written, is corrupt, or would lose a bit
    :raises Error: a recipe that does not fit, with all faults

    >>> import tempfile, pathlib, numpy as np, tilewright as tw
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name)
    >>> tensors = {"gate": np.zeros((2, 3), np.float32), "up": np.ones((2, 3), np.float32)}
    >>> tw.save(tensors, path / "in.safetensors")
    >>> rule = "[[map]]\\nfrom = ['gate : i h', \\"up : i' h\\"]\\nto = \\"gate_up : (i + i') h\\""
    >>> _ = (path / "fuse.toml").write_text(rule)
    >>> report = convert_recipe(path / "in.safetensors", path / "out.safetensors", path / "fuse.toml", verify=True)
    >>> report.tensors[0].to, report.tensors[0].sources
    ('f32[4,3] row-major', ('gate', 'up'))
    >>> [tensor.name for tensor in convert_recipe(path / "out.safetensors", path / "back.safetensors").tensors]
    ['gate', 'up']
    >>> folder.cleanup()
    """
    job = {
        "recipe": None if recipe is None else os.fspath(recipe),
        "inverse": inverse,
        "sizes": sizes,
        "allow": list(allow),
        "metadata": None if metadata is None else os.fsdecode(metadata),
        "trust_metadata": trust_metadata,
        "any_config": any_config,
        "max_shard_size": max_shard_size,
        "verify": verify,
        "threads": threads,
        "memory": memory,
        "force": force,
        "dry_run": dry_run,
    }
    done = _tilewright.recast(os.fsdecode(input), os.fsdecode(output), job, progress)
    rows = done.pop("tensors")
    tensors = tuple(RecastTensor(**(row | {"sources": tuple(row["sources"])})) for row in rows)
    done["warnings"] = tuple(done["warnings"])
    done["files"] = tuple(done["files"])
    return RecastReport(tensors, **done)


def guess_recipe(path: _Path) -> dict[str, Any]:
    """The shipped recipes that fit a checkpoint, in either direction: what ``tilewright recipe guess --json`` prints.

    ``config.json`` is read first, and no recipe is offered that it contradicts.

    :returns: ``recipes`` that fit, each with its ``name``, ``inverse``, ``why``, and in ``open`` what must be given; ``near``:
        those that nearly fit, each with ``why`` it does not; ``decide``: what decides where several fit; ``model``: what the
        configuration says of the model
    :raises FileError: what cannot be read

    >>> import tempfile, pathlib, numpy as np, tilewright as tw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder)
    ...     tw.save({"visual.patch_embed.proj.weight": np.zeros((32, 3, 2, 4, 4), np.float32)}, path / "m.safetensors")
    ...     _ = (path / "config.json").write_text('{"model_type": "qwen2_vl"}')
    ...     found = guess_recipe(path / "m.safetensors")
    ...     found["recipes"][0]["name"], found["model"]
    ('qwen2-vl-patch-to-linear', {'model_type': 'qwen2_vl'})
    """
    found: dict[str, Any] = json.loads(_tilewright.guess_recipe(os.fsdecode(path)))
    found.pop("version", None)
    return found
