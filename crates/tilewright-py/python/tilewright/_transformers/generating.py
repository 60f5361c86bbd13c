"""The recipe of a published checkpoint: generated from the mapping of transformers, and checked in both directions.

>>> published = published_of(library(), "Qwen3-30B-A3B/", "Qwen3-30B-A3B/")  # doctest: +SKIP
>>> generated(published, lambda target, before: before)  # doctest: +SKIP
'title = "Qwen3MoeForCausalLM: as published to transformers 5.24.0" …'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from typing import Any

from tilewright import _tilewright
from tilewright._errors import Error, UnsupportedError
from tilewright._transformers.loader import EXPRESSIBLE, Loaded, change
from tilewright._transformers.published import Made, Published
from tilewright._transformers.rules import HOLE, Rule, rules
from tilewright._transformers.text import Preamble, patterns_of, recipe

__all__ = ["After", "generated"]

#: Characters of patterns and dims in a recipe.
_RESERVED = re.compile(r"[*{}\s\0]")

#: The element type of a tensor of the model: from its name, and from the type in the checkpoint.
After = Callable[[str, str], str]


def generated(
    published: Published, after: After, *, keep: bool = False, rounds: bool = False, kept: Container[str] = ()
) -> str:
    """Gives the recipe that makes the tensors of the model, as the text of a TOML file.

    The shortest text is taken that gives what the model has, and whose inverse gives the checkpoint back.

    :param keep: passes tensors that the class ignores; they are dropped unless given
    :param rounds: the inverse may round float32 to bfloat16
    :param kept: parameters of which two dims are equal, and which are not transposed
    :raises UnsupportedError: for an operation that computes, for names with holes or collisions, and for a change of element types
        that a recipe cannot say
    """
    if published.quantiser is not None:
        raise UnsupportedError(
            f"config.json has `quantization_config` ({published.quantiser}): this quantiser of transformers computes weights, "
            "which a recipe cannot do; use a checkpoint that is not quantised"
        )
    _refuse_names(published)
    found = published.loaded()
    if not found.groups:
        raise UnsupportedError(f"{published.name} takes no tensor of the checkpoint; name another class")
    all_rules = list(rules(published, found.groups, kept))
    _state_types(published, all_rules, after)
    _state_sizes(published, all_rules)
    for rule in all_rules:
        rule.rounds = rounds
    preamble = _preamble(published, found, keep)
    refused: Error | None = None
    for way in ("few", "pattern", "all"):
        text = recipe(preamble, all_rules, published.heads, way=way)
        try:
            _check(text, published, all_rules)
            return text
        except Error as error:
            refused = error
    raise UnsupportedError(f"no recipe gives the tensors of {published.name} both ways: {refused}")


def _refuse_names(published: Published) -> None:
    """Refuses names that a recipe would read as patterns."""
    name = next((name for name in published.heads if not name or _RESERVED.search(name)), None)
    if name is not None:
        raise UnsupportedError(f"a recipe cannot name the tensor {name!r}: stars, braces and spaces are for patterns; rename it, or remove it")


def _state_types(published: Published, all_rules: list[Rule], after: After) -> None:
    """Writes changes of element types into rules."""
    for rule in all_rules:
        before = published.heads[rule.sources[0].name.replace(HOLE, str(rule.start))].dtype
        now = after(rule.targets[0].name, before)
        if change(before, now):
            if (before, now) not in EXPRESSIBLE:
                name = rule.targets[0].name
                raise UnsupportedError(f"{name!r} changes from {before} to {now}: a recipe changes F32 from and to BF16 and F16 only")
            rule.dtypes = (before.lower(), now.lower())


def _state_sizes(published: Published, all_rules: list[Rule]) -> None:
    """Writes numbers for expressions of keys that the configuration does not state."""
    for rule in all_rules:
        for axis, size in rule.space.given.items():
            value: Any = published.config
            for key in size.split(".")[1:] if isinstance(size, str) else ():
                value = value.get(key) if isinstance(value, Mapping) else None
            if isinstance(size, str) and value != rule.space.sizes[axis.number]:
                rule.space.given[axis] = rule.space.sizes[axis.number]


def _preamble(published: Published, found: Loaded, keep: bool) -> Preamble:
    gone = set(found.ignored)
    patterns = patterns_of(gone, [name for name in published.heads if name not in gone])
    title = f"{published.name}: as published to transformers {published.lib.version}"
    source = "transformers, src/transformers/conversion_mapping.py"
    return Preamble(title, source, untie=found.tied, **{"keep" if keep else "drop": patterns})


def _check(text: str, published: Published, all_rules: list[Rule]) -> None:
    """Refuses a recipe that makes other shapes than the model has, or whose inverse does not give the checkpoint back."""
    made, back = published.solve(text)
    shapes = {name: tuple(dims) for (name, _, dims), _ in made}
    meta = published.meta
    for name in (piece.name for rule in all_rules for piece in rule.targets):
        want = tuple(meta[name].shape) if name in meta else None
        if want is not None and shapes.get(name) != want:
            raise UnsupportedError(f"the recipe makes {name!r} of {shapes.get(name)}, and the model has {want}")
    _check_sources(made, published, all_rules)
    again, _ = _tilewright.solve_recipe(back, [head for head, _ in made], None)
    # Tensors that the class ignores are dropped on purpose.
    taken = {name for rule in all_rules for name in rule.taken()}
    lost = (set(published.heads) - {name for (name, _, _), _ in again}) & taken
    if lost:
        raise UnsupportedError(f"the inverse does not restore {min(lost)!r}")


def _check_sources(made: list[Made], published: Published, all_rules: list[Rule]) -> None:
    """Refuses a recipe that makes a tensor of others than its rule takes: a pattern of names may match those of another rule."""
    names = list(published.heads)
    parts_of = {name: {names[number] for number, *_ in parts if number is not None} for (name, _, _), parts in made}
    for rule in all_rules:
        want = set(rule.taken())
        for piece in rule.targets:
            more = parts_of.get(piece.name, set()) - want
            if more:
                raise UnsupportedError(f"the recipe makes {piece.name!r} of {min(more)!r}, and transformers of {min(want)!r}")
        used = set().union(*(parts_of.get(piece.name, set()) for piece in rule.targets))
        gone = {name for name in want - used if published.heads[name].elements}
        if gone:
            raise UnsupportedError(f"the recipe does not make {rule.targets[0].name!r} of {min(gone)!r}, as transformers does")
