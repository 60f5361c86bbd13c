"""A checkpoint as published, and the model that reads it: what recipes, audits and loading start from.

>>> published = published_of(library(), "Qwen3-30B-A3B/", "Qwen3-30B-A3B/")  # doctest: +SKIP
>>> published.heads["lm_head.weight"].shape  # doctest: +SKIP
(151936, 2048)
"""

from __future__ import annotations

import functools
import json
import os
import pathlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tilewright import _tilewright
from tilewright._errors import FileError
from tilewright._transformers.files import Head, heads, indexed
from tilewright._transformers.library import Library, config_of, model_of
from tilewright._transformers.loader import Loaded, loaded

__all__ = ["Made", "Published", "Solved", "published_of"]

#: The head of a made tensor: its name, its element type, its dims. Then its parts.
Made = tuple[tuple[str, str, list[int]], list[Any]]
#: The tensors that a recipe makes, and the recipe back.
Solved = tuple[list[Made], str]


@dataclass(frozen=True)
class Published:
    """A checkpoint and its model. The model has no memory, and of the checkpoint the headers are read."""

    lib: Library
    model: Any
    heads: Mapping[str, Head]
    #: The content of ``config.json``; of a configuration in memory, all that it has.
    config: Mapping[str, Any]
    #: Second names of tensors that the configuration ties, and that have values of their own.
    apart: frozenset[str] = frozenset()
    #: Names of the index that no file has.
    unfiled: tuple[str, ...] = ()

    def loaded(self) -> Loaded:
        """What becomes of the names of the checkpoint."""
        return loaded(self.lib, self.model, self.heads, self.apart)

    def with_apart(self, names: Iterable[str]) -> Published:
        """The checkpoint, of which these second names of tied tensors have values of their own."""
        return replace(self, apart=frozenset(names))

    @functools.cached_property
    def meta(self) -> Mapping[str, Any]:
        """The parameters and buffers of the model, without memory."""
        found: Mapping[str, Any] = self.model.state_dict()
        return found

    @property
    def name(self) -> str:
        """The name of the class."""
        return type(self.model).__name__

    @property
    def quantiser(self) -> str | None:
        """The name of the quantiser of the checkpoint, such as ``fp8``; None if it is not quantised."""
        found = getattr(self.model.config, "quantization_config", None)
        if found is None:
            return None
        stated = found if isinstance(found, Mapping) else vars(found)
        return str(getattr(stated.get("quant_method"), "value", stated.get("quant_method") or "unnamed"))

    def solve(self, recipe: str) -> Solved:
        """Solves a recipe for the tensors of the checkpoint, without their data.

        :raises Error: if the recipe does not fit
        """
        sources = [(name, head.dtype, head.shape) for name, head in self.heads.items()]
        found: Solved = _tilewright.solve_recipe(recipe, sources, json.dumps(self.config, default=str))
        return found


def published_of(lib: Library, model_or_config: Any, checkpoint: Any, cls: Any = None) -> Published:
    """Gives a checkpoint with its model.

    :param model_or_config: a folder with ``config.json``, a configuration, or a model
    :param checkpoint: a folder or a file of safetensors, or a mapping of names to tensors or shapes
    :param cls: the class, or its name; the one that the configuration names unless given
    """
    # The index is read before the headers: both together are the most memory that an audit of its own needs.
    names = indexed(checkpoint)
    known = heads(checkpoint)
    gone = tuple(name for name in names if name not in known)
    del names
    if not isinstance(model_or_config, (str, os.PathLike)):
        model = model_of(lib, model_or_config, known, cls)
        return Published(lib, model, known, dict(model.config.to_dict()), unfiled=gone)
    path = pathlib.Path(model_or_config)
    folder = path if path.is_dir() else path.parent
    if not (folder / "config.json").is_file():
        raise FileError(f"{folder}: there is no config.json, which names the type of the model; copy it beside the tensors")
    model = model_of(lib, config_of(lib, folder), known, cls)
    return Published(lib, model, known, json.loads((folder / "config.json").read_bytes()), unfiled=gone)
