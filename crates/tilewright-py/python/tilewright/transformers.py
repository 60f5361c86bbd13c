"""Recipes between checkpoints as published and as transformers keeps them in memory; audits; loading without a copy.

>>> import tilewright.transformers as tt
>>> text = tt.recipe("Qwen3-30B-A3B/", "Qwen3-30B-A3B/")  # doctest: +SKIP
>>> for finding in tt.audit("Qwen3-30B-A3B/").findings:  # doctest: +SKIP
...     print(finding)

transformers converts most checkpoints while it loads them: it stacks experts, fuses and splits projections, and changes names.
``recipe`` writes what it does as a recipe, which `convert_recipe` runs both ways. ``audit`` finds what would be lost. Neither reads
a weight: the model has no memory, and of the checkpoint the headers are read. Code of a checkpoint's folder is never run, and
pickled files are not read.

transformers 5 and torch must be installed: ``pip install transformers torch``.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from tilewright._errors import UnsupportedError
from tilewright._transformers.auditing import Audit, Finding, audited
from tilewright._transformers.generating import generated
from tilewright._transformers.library import attention_of, library
from tilewright._transformers.loader import Types, change
from tilewright._transformers.published import published_of
from tilewright._transformers.restoring import Way, restored
from tilewright._transformers.streaming import made, refuse_lost_values, refuse_random, refuse_second_conversion

__all__ = ["Audit", "Finding", "audit", "load", "recipe", "restore"]

_Path = str | os.PathLike[str]
_Checkpoint = _Path | Mapping[str, Any]


def recipe(
    model_or_config: Any,
    checkpoint: _Checkpoint,
    *,
    cls: str | None = None,
    keep: bool = False,
    round: bool = False,  # noqa: A002
) -> str:
    """Gives the recipe that makes transformers' tensors of a checkpoint as published, as the text of a TOML file.

    The recipe is checked on the names and shapes before it is returned: it gives what the model has, and its inverse gives the
    checkpoint back.

    :param model_or_config: a folder with ``config.json``, a configuration, or a model
    :param checkpoint: a folder or a file of safetensors, or a mapping of names to tensors or shapes
    :param cls: the name of the class; the one that the configuration names unless given
    :param keep: passes tensors that the class ignores, such as those of multi-token prediction; they are dropped unless given
    :param round: rounds tensors that transformers rounds from float32; they stay float32 unless given
    :raises ImportError: if transformers or torch is missing
    :raises UnsupportedError: for an operation that computes, with its name, and for names with holes or collisions
    """
    published = published_of(library(), model_or_config, checkpoint, cls)
    types = Types(published.lib, published.model)

    def after(target: str, before: str) -> str:
        found = types.of(target)
        changed = change(before, found)
        return found if changed == "widened" or (changed == "rounded" and round) else before

    return generated(published, after, keep=keep)


def audit(model_or_config: Any, checkpoint: _Checkpoint | None = None, *, cls: str | None = None) -> Audit:
    """Finds what transformers would lose of a checkpoint when it loads and saves it.

    It finds holes in numbers, two tensors for one name, tensors that the class ignores, element types that are rounded or widened,
    square experts that are not transposed, parameters that stay random, and whether saving returns the published names.

    :param model_or_config: a folder with ``config.json``, a configuration, or a model
    :param checkpoint: a folder or a file of safetensors, or a mapping of names to tensors; ``model_or_config`` unless given
    :param cls: the name of the class; the one that the configuration names unless given
    :raises ImportError: if transformers or torch is missing
    :raises FileError: if the headers cannot be read
    """
    return audited(published_of(library(), model_or_config, model_or_config if checkpoint is None else checkpoint, cls))


def load(
    cls: Any,
    checkpoint: _Path,
    *,
    config: Any = None,
    recipe: str | None = None,
    layout: Mapping[str, Any] | None = None,
    allow: Sequence[str] = (),
    **options: Any,
) -> Any:
    """Loads a model from a published checkpoint by a recipe, without a copy on disk.

    Each tensor is made when transformers asks for it, so the peak of memory is one tensor above the model. What transformers'
    own operations cannot read, a recipe of yours can. Tensors that the configuration ties are tied if their values are equal, as
    ``from_pretrained`` does.

    :param cls: the class of the model, or its name
    :param checkpoint: a folder with ``config.json`` and safetensors files
    :param config: a configuration of transformers; the one of ``config.json`` unless given
    :param recipe: the text of a recipe; the one of :func:`recipe` unless given
    :param layout: layouts by patterns of names, such as ``{"*.experts.down_proj": "col-major"}``. A parameter of torch has
        dims and strides, so a layout must be one that strides can say, as for :func:`tilewright.empty_like`. Saving and moving
        to a device keep the values, and may make the parameter row-major again
    :param allow: ``("round",)`` permits a recipe of yours to round, such as float32 to bfloat16
    :param options: more of ``from_pretrained``, such as ``dtype`` or ``device_map``; ``dtype`` is the configuration's unless given
    :raises ImportError: if transformers or torch is missing
    :raises UnsupportedError: for a quantised checkpoint, for a layout that strides cannot say, for tensors of the recipe that
        transformers would convert once more, and for a recipe that rounds without permission or leaves parameters random, and
        for an attention that config.json names and transformers may download
    :raises Error: if the recipe does not fit
    """
    lib = library()
    published = published_of(lib, checkpoint if config is None else config, checkpoint, cls)
    # transformers gets both tensors of a tied pair: it ties them if their values are equal, and keeps both otherwise.
    published = published.with_apart(second for _, second in published.loaded().tied)
    text = generated(published, lambda _, before: before) if recipe is None else recipe
    tensors = made(published, os.fspath(checkpoint), text, layout or {}, allow)
    refuse_second_conversion(published, tensors)
    if recipe is not None:
        refuse_random(published, tensors)
        refuse_lost_values(published, tensors, pathlib.Path(checkpoint))
    kernel = attention_of(published.model.config, options.get("attn_implementation"))
    if kernel is not None:
        raise UnsupportedError(
            f"config.json asks for the attention {kernel!r}, which transformers may download and run; "
            "choose it yourself, as in attn_implementation='sdpa'"
        )
    options.setdefault("dtype", published.model.dtype)
    model = type(published.model).from_pretrained(None, config=published.model.config, state_dict=tensors, **options)
    # Saving writes the names that it writes for a model that transformers has loaded by itself.
    model._weight_conversions = published.loaded().used
    if model.can_generate() and (pathlib.Path(checkpoint) / "generation_config.json").exists():
        model.generation_config = lib.transformers.GenerationConfig.from_pretrained(checkpoint, local_files_only=True)
    return model


def restore(
    saved: _Path,
    output: _Path,
    published: _Path,
    *,
    cls: str | None = None,
    round: bool = False,  # noqa: A002
    squares: str | None = None,
) -> list[str]:
    """Makes the published layout of what transformers saved: names, dims and element types.

    Tensors that the class ignores are copied from the published checkpoint, and each is named in the result. The other files come
    from ``saved``, and ``config.json`` from ``published``. If nothing was trained, the tensors are those of ``published``. Names,
    dims and element types are those of ``published``, or nothing is written.

    :param saved: the folder that ``save_pretrained`` wrote
    :param output: a folder that does not exist
    :param published: the folder that the model was loaded from
    :param cls: the name of the class; the one that the published configuration names unless given
    :param round: rounds float32 to the published bfloat16 where a bit would be lost; it is refused unless given
    :param squares: how trained experts of which two dims are equal were loaded: ``copied`` by ``from_pretrained``, or ``transposed``
        by :func:`load`. It is needed for those only; values that are not trained tell it
    :returns: sentences: what was carried, and what differs from the published checkpoint
    :raises FileExistsError: if the output exists
    :raises Error: if ``saved`` lacks a tensor of the model, has others, or has other dims or element types than a recipe can change
        back, or if a bit would be lost
    """
    found = published_of(library(), published, published, cls)
    return restored(found, Way(pathlib.Path(saved), pathlib.Path(output), pathlib.Path(published)), rounds=round, squares=squares)
