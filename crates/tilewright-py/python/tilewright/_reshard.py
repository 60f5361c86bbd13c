"""Checkpoints in shards, rewritten in other shards: the program's ``reshard``."""

from __future__ import annotations

import os
import pathlib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from tilewright import _distcp, _errors, _tilewright
from tilewright._sharded import axes, rules_of
from tilewright._sharded import source as source_of
from tilewright._tilewright import Layout, ReshardPlan, TensorLayout

__all__ = ["ReshardPlan", "reshard"]

_Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


def reshard(
    input: _Path,  # noqa: A002
    output: _Path,
    *,
    mesh: Any = None,
    rules: Mapping[str, Any] | None = None,
    from_mesh: Any = None,
    from_rules: Mapping[str, Any] | None = None,
    to: str | Layout | TensorLayout | None = None,
    form: str | None = None,
    format: str | None = None,  # noqa: A002
    metadata: _Path | None = None,
    trust_metadata: bool = False,
    max_shard_size: int | None = None,
    memory: int | None = None,
    extents: Mapping[str, Sequence[int]] | _Path | None = None,
    verify: bool = False,
    force: bool = False,
    trust_replicas: bool = False,
    trust_extents: bool = False,
    drop_padding: bool = False,
) -> ReshardPlan:
    """Plans to rewrite a checkpoint in other shards: what ``tilewright reshard`` does. Nothing is written until the plan
    is run: ``reshard(…).run()`` does all of it in this process.

    The input is a ``.safetensors``, an index of such, or the folder of one, of whole tensors; a folder of torch's
    distributed checkpoint, in safetensors or as torch stores it by itself, ``.metadata`` with ``*.distcp`` (whose list of
    boxes is a pickle: torch is needed to read it, and what it names is not run); or, with ``from_mesh``, a folder with a file for each position of a mesh, in the order of the numbers
    in their names. A hole or an overlap between shards is refused. The output is a new folder: with ``mesh`` a file for each
    position, or the boxes that torch loads; else whole tensors, in one file for a path such as ``out.gguf``. Metadata and small files beside the tensors go along as with
    ``convert``; what does not is a ``UserWarning``.

    Tasks need nothing of each other, so a plan may also be run by processes that share the file system:
    ``plan.run_tasks(plan.share(rank, world))`` in each, then ``plan.finish()`` in one. ``tilewright.ray.run`` and
    ``tilewright.dask.run`` do so on clusters. What is done is kept in a folder beside the output: run again, the same
    plan does the rest.

    :param mesh: the mesh of the result: ``"dp=2,tp=4"``, a mapping from names to sizes, sizes alone, a DeviceMesh of torch
        or a Mesh of JAX
    :param rules: shardings by patterns of names, the first match wins, others are whole:
        ``{"*_proj.weight": "[Shard(0)]"}``; as text in any notation, a PartitionSpec, placements or a ``Sharded``
    :param from_mesh: the mesh of an input with a file for each position; files that ``reshard`` wrote record it and the rules
    :param from_rules: how the input's tensors are cut; each needs a rule, ``P()`` where every file has all of it
    :param to: the layout of each shard; shards of a rank that it does not fit are row-major
    :param form: ``hf``, whole tensors; ``dcp``, for torch's distributed checkpoint; ``ranks``, a file for each position
    :param format: the format of files in a folder, ``safetensors`` or ``gguf``; an output such as ``out.gguf`` is one file
    :param metadata: the file whose metadata a GGUF result gets; the input, if it is GGUF
    :param trust_metadata: a GGUF result gets them even if they contradict the tensors
    :param max_shard_size: the most bytes of tensors in a file of whole tensors
    :param memory: the most bytes of buffers; 256 MiB unless given
    :param extents: the extents of whole tensors by patterns of names, ``{"embed.weight": (50257, 64)}``, or the path of a file
        that lists them by names, in JSON or TOML. Where neither they nor a file of the checkpoint (metadata of files that
        ``reshard`` wrote, ``config.json`` of a known family) state them, a tensor ends where its last shard does: a
        ``UserWarning`` says so, and ``ReshardPlan.assumed`` has those extents. Shards that leave a part out are refused
    :param verify: reads back what is written, and compares it with what was read
    :param force: the result may replace a checkpoint
    :param trust_extents: the extents that the shards imply are taken, whatever files state
    :param trust_replicas: of several copies of a box one is read, and the others are not compared with it
    :param drop_padding: rows that a rule calls padding are dropped even if they have values other than 0, such as -0.0
    :raises FileError: what cannot be read, or is corrupt
    :raises MismatchError: a hole, an overlap, shards that are not those of their rule
    :raises Error: a mesh, a sharding or a layout that does not parse or does not fit

    >>> import tempfile, pathlib, numpy as np
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name)
    >>> import tilewright as tw
    >>> tw.save({"w": np.arange(32, dtype=np.float32).reshape(8, 4)}, path / "model.safetensors")
    >>> plan = reshard(path / "model.safetensors", path / "tp2", mesh="tp=2", rules={"w": "column"})
    >>> plan.files, plan.tasks, plan.task(0)
    (('rank_00000-of-00002.safetensors', 'rank_00001-of-00002.safetensors'), 1, ('w', (slice(0, 8, 1), slice(0, 4, 1))))
    >>> plan.run()
    1
    >>> tw.open(path / "tp2" / plan.files[1])["w"].tolist()[0]
    [16.0, 17.0, 18.0, 19.0]
    >>> folder.cleanup()
    """
    job = {
        "mesh": None if mesh is None else axes(mesh),
        "rules": rules_of(rules),
        **source_of(from_mesh, from_rules),
        "to": to,
        "form": form,
        "format": format,
        "metadata": None if metadata is None else os.fsdecode(metadata),
        "trust_metadata": trust_metadata,
        "max_shard_size": max_shard_size,
        "memory": memory,
        "extents": None if _is_path(extents) else _extents(extents),
        "listed": pathlib.Path(os.fsdecode(extents)).read_text(encoding="utf-8") if _is_path(extents) else None,  # type: ignore[arg-type]
        "trust_extents": trust_extents,
        "verify": verify,
        "force": force,
        "trust_replicas": trust_replicas,
        "drop_padding": drop_padding,
    }
    source = os.fsdecode(input)
    if os.path.isfile(os.path.join(source, "_METADATA")):
        why = "is a checkpoint of Orbax, whose chunks are compressed; tilewright.orbax.unpack(path, folder) writes them uncompressed"
        raise _errors.make("unsupported", f"{source} {why}", None, None)
    if from_mesh is None and _distcp.is_checkpoint(source):
        files, tensors, others = _distcp.listed(source)
        job["boxes"] = (files, tensors)
        if others:
            text = f"{source}: {len(others)} entries are not tensors and are left out: {', '.join(others[:20])}"
            warnings.warn(text, stacklevel=2)
    return _tilewright.reshard_plan(source, os.fsdecode(output), job)


def _is_path(extents: Any) -> bool:
    return isinstance(extents, (str, bytes, os.PathLike))


def _extents(extents: Any) -> Any:
    """Patterns with their extents; anything else is refused where it is read."""
    return list(extents.items()) if isinstance(extents, Mapping) else extents
