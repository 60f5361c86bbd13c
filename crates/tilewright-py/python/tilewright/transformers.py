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

import json
import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilewright import _tilewright
from tilewright._errors import Error, FileExistsError, UnsupportedError  # noqa: A004
from tilewright._recast import convert_recipe
from tilewright._transformers.findings import Audit, Finding, audited
from tilewright._transformers.heads import Head, heads
from tilewright._transformers.library import Library, library, model_of
from tilewright._transformers.loader import Loaded, loaded
from tilewright._transformers.restoring import carry, replace, same_when_rounded
from tilewright._transformers.rules import HOLE, Rule, rules
from tilewright._transformers.streaming import made
from tilewright._transformers.text import Said, patterns_of
from tilewright._transformers.text import recipe as _text
from tilewright._transformers.types import Types, change

__all__ = ["Audit", "Finding", "audit", "load", "recipe", "restore"]

_Checkpoint = str | os.PathLike[str] | Mapping[str, Any]


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
    lib, tensors = library(), heads(checkpoint)
    model = model_of(lib, model_or_config, [head.dtype for head in tensors.values()], cls)
    types = Types(lib, model)

    def after(target: str, before: str) -> str:
        found = types.of(target)
        changed = change(before, found)
        return found if changed == "widened" or (changed == "rounded" and round) else before

    return _recipe(lib, model, (model_or_config, tensors), after, keep=keep)


def _recipe_of(checkpoint: str | os.PathLike[str], cls: str) -> str:
    """Returns the recipe of a folder for a class, where a parameter hides the name of :func:`recipe`."""
    return recipe(checkpoint, checkpoint, cls=cls)


def _recipe(
    lib: Library,
    model: Any,
    known: tuple[Any, Mapping[str, Head]],
    after: Callable[[str, str], str],
    *,
    keep: bool = False,
    rounds: bool = False,
) -> str:
    """The recipe of a model; ``after`` gives the element type of a tensor from its name and the type before."""
    model_or_config, tensors = known
    _no_quantiser(model)
    found = loaded(lib, model, tensors)
    if not found.groups:
        raise UnsupportedError(f"{type(model).__name__} takes no tensor of the checkpoint; name another class")
    all_rules = list(rules(lib, model, tensors, found))
    _say_types(tensors, all_rules, after)
    for rule in all_rules:
        rule.rounds = rounds
    _say_sizes(all_rules, _stated(model_or_config, model))
    said = _said(lib, model, (tensors, found), keep)
    return _checked(model, (said, all_rules), known)


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
    lib = library()
    tensors = heads(model_or_config if checkpoint is None else checkpoint)
    model = model_of(lib, model_or_config, [head.dtype for head in tensors.values()], cls)
    return audited(lib, model, tensors)


def load(cls: Any, checkpoint: str | os.PathLike[str], *, recipe: str | None = None, **options: Any) -> Any:
    """Loads a model from a published checkpoint by a recipe, without a copy on disk.

    Each tensor is made when transformers asks for it, so the peak of memory is one tensor above the model. What transformers'
    own operations cannot read, a recipe of yours can.

    :param cls: the class of the model, or its name
    :param checkpoint: a folder with ``config.json`` and safetensors files
    :param recipe: the text of a recipe; the one of :func:`recipe` unless given
    :param options: more of ``from_pretrained``, such as ``dtype`` or ``device_map``; ``dtype`` is the configuration's unless given
    :raises ImportError: if transformers or torch is missing
    :raises Error: if the recipe does not fit
    """
    lib, tensors = library(), heads(checkpoint)
    name = cls if isinstance(cls, str) else cls.__name__
    text = _recipe_of(checkpoint, name) if recipe is None else recipe
    model = model_of(lib, checkpoint, [head.dtype for head in tensors.values()], name)
    lazy = made(lib, os.fspath(checkpoint), tensors, (text, json.dumps(_stated(checkpoint, model), default=str)))
    found = getattr(lib.transformers, cls) if isinstance(cls, str) else cls
    options.setdefault("dtype", model.dtype)
    return found.from_pretrained(None, config=model.config, state_dict=lazy, **options)


def restore(
    saved: str | os.PathLike[str],
    output: str | os.PathLike[str],
    published: str | os.PathLike[str],
    *,
    cls: str | None = None,
    round: bool = False,  # noqa: A002
) -> list[str]:
    """Makes the published layout of what transformers saved: names, dims and element types.

    Tensors that the class dropped are copied from the published checkpoint, and each is named in the result. The other files come
    from ``saved``, and ``config.json`` from ``published``. If nothing was trained, the tensors are those of ``published``.

    :param saved: the folder that ``save_pretrained`` wrote
    :param output: a folder that does not exist
    :param published: the folder that the model was loaded from
    :param cls: the name of the class; the one that the published configuration names unless given
    :param round: rounds float32 to the published bfloat16 where a bit would be lost; it is refused unless given
    :returns: sentences: what was carried, and what differs from the published checkpoint
    :raises FileExistsError: if the output exists
    :raises Error: if a tensor is missing, or a bit would be lost
    """
    lib, known = library(), heads(published)
    target = pathlib.Path(output)
    if target.exists():
        raise FileExistsError(f"{target} exists; remove it, or name another output")
    model = model_of(lib, published, [head.dtype for head in known.values()], cls)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".tilewright-") as work:
        folder = pathlib.Path(work)
        native = _native(lib, model, saved, folder)
        says = _back(lib, model, (native, pathlib.Path(published), folder), round)
        (folder / "out").rename(target)
    return says


def _native(lib: Library, model: Any, saved: str | os.PathLike[str], folder: pathlib.Path) -> pathlib.Path:
    """What was saved, in the names of the model."""
    tensors = heads(saved)
    if set(tensors) <= set(model.state_dict()):
        return pathlib.Path(saved)
    text = _recipe(lib, model, (model.config, tensors), lambda _, before: before)
    return _run(saved, folder / "native", text, ())


def _run(source: str | os.PathLike[str], out: pathlib.Path, text: str, allow: Sequence[str]) -> pathlib.Path:
    path = out.with_suffix(".toml")
    path.write_text(text, encoding="utf-8")
    convert_recipe(source, out, path, allow=allow)
    return out


def _back(lib: Library, model: Any, places: tuple[pathlib.Path, pathlib.Path, pathlib.Path], rounds: bool) -> list[str]:
    native, published, folder = places
    known, own = heads(published), heads(native)

    def after(target: str, before: str) -> str:
        return own[target].dtype if target in own else before

    text = _recipe(lib, model, (published, known), after, rounds=rounds)
    sources = [(name, head.dtype.lower(), head.shape) for name, head in known.items()]
    made_of, back = _tilewright.solve_recipe(text, sources, json.dumps(_stated(published, model), default=str))
    out = _run(native, folder / "out", back, ["round"] if rounds and "round = true" in back else [])
    widened = [
        known_name
        for (name, _, _), parts in made_of
        for known_name in {sources[number][0] for number, *_ in parts if number is not None}
        if len(parts) == 1 and known[known_name].dtype == "F32" and own[name].dtype == "BF16"
        if same_when_rounded((published, known[known_name], known_name), (native, own[name], name))
    ]
    for name in widened:
        replace(published, out, name)
    shutil.copyfile(published / "config.json", out / "config.json")
    carried = sorted(set(known) - set(heads(out)))
    if carried:
        carry(published, out, carried)
    return [
        *(f"carried {name} from {published}" for name in carried),
        *(f"carried {name} from {published}: transformers had rounded it" for name in sorted(widened)),
    ]


def _no_quantiser(model: Any) -> None:
    if getattr(model.config, "quantization_config", None) is not None:
        raise UnsupportedError(
            "config.json has `quantization_config`: a quantiser of transformers computes these weights, which a recipe cannot say"
        )


def _say_types(tensors: Mapping[str, Head], all_rules: list[Rule], after: Callable[[str, str], str]) -> None:
    """States changes of element types in rules."""
    for rule in all_rules:
        before = tensors[rule.sources[0].name.replace(HOLE, str(rule.start))].dtype
        now = after(rule.targets[0].name, before)
        if change(before, now) and "F32" in (before, now):
            rule.dtypes = (before.lower(), now.lower())


def _say_sizes(all_rules: list[Rule], stated: Mapping[str, Any]) -> None:
    """Writes numbers for expressions of keys that the configuration does not state."""
    for rule in all_rules:
        for axis, size in rule.space.given.items():
            value: Any = stated
            for key in size.split(".")[1:] if isinstance(size, str) else ():
                value = value.get(key) if isinstance(value, Mapping) else None
            if isinstance(size, str) and value != rule.space.sizes[axis.number]:
                rule.space.given[axis] = rule.space.sizes[axis.number]


def _stated(model_or_config: Any, model: Any) -> Mapping[str, Any]:
    """What ``config.json`` states; of a configuration in memory, all that it has."""
    if isinstance(model_or_config, (str, os.PathLike)):
        path = pathlib.Path(model_or_config)
        found: Mapping[str, Any] = json.loads(((path if path.is_dir() else path.parent) / "config.json").read_bytes())
        return found
    return dict(model.config.to_dict())


def _said(lib: Library, model: Any, known: tuple[Mapping[str, Head], Loaded], keep: bool) -> Said:
    tensors, found = known
    gone = set(found.ignored)
    patterns = patterns_of(gone, [name for name in tensors if name not in gone])
    title = f"{type(model).__name__}: as published to transformers {lib.version}"
    said = Said(title, "transformers, src/transformers/conversion_mapping.py", untie=found.tied)
    if keep:
        said.keep = patterns
    else:
        said.drop = patterns
    return said


def _checked(model: Any, asked: tuple[Said, list[Rule]], known: tuple[Any, Mapping[str, Head]]) -> str:
    """The shortest text that gives what the model has, and whose inverse gives the checkpoint back."""
    said, all_rules = asked
    model_or_config, tensors = known
    config = json.dumps(_stated(model_or_config, model), default=str)
    refused: Error | None = None
    for way in ("few", "pattern", "all"):
        text = _text(said, all_rules, tensors, way=way)
        try:
            _check(text, (tensors, config), (model, all_rules))
            return text
        except Error as error:
            refused = refused or error
    raise UnsupportedError(f"no recipe gives the tensors of {type(model).__name__} both ways: {refused}")


def _check(text: str, known: tuple[Mapping[str, Head], str], asked: tuple[Any, list[Rule]]) -> None:
    tensors, config = known
    model, all_rules = asked
    sources = [(name, head.dtype.lower(), head.shape) for name, head in tensors.items()]
    made, back = _tilewright.solve_recipe(text, sources, config)
    shapes = {name: tuple(dims) for (name, _, dims), _ in made}
    meta = model.state_dict()
    for rule in all_rules:
        for piece in rule.targets:
            want = tuple(meta[piece.name].shape) if piece.name in meta else None
            if want is not None and shapes.get(piece.name) != want:
                said = f"the recipe makes {piece.name!r} of {shapes.get(piece.name)}, and the model has {want}"
                raise UnsupportedError(said)
    again, _ = _tilewright.solve_recipe(back, [head for head, _ in made], None)
    lost = set(tensors) - {name for (name, _, _), _ in again}
    # Tensors that the class ignores are dropped on purpose.
    taken = {
        piece.name.replace(HOLE, str(number))
        for rule in all_rules
        for piece in rule.sources
        for number in range(rule.start, rule.start + max(rule.count, 1))
    }
    if lost & taken:
        raise UnsupportedError(f"the inverse does not restore {sorted(lost & taken)[0]!r}")
