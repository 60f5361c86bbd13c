"""The rules of a recipe from the groups of the loader: each tensor or list of tensors as expressions of axes."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tilewright._errors import UnsupportedError
from tilewright._transformers.axes import Axis, Expr, Space
from tilewright._transformers.files import Head
from tilewright._transformers.library import Library
from tilewright._transformers.loader import LONGEST, Group, targets
from tilewright._transformers.operations import Dims, Job, Stack, State, applied
from tilewright._transformers.published import Published

__all__ = ["HOLE", "Piece", "Rule", "holes", "rules"]

#: The place of the number of a list in a name.
HOLE = "\0"

_NUMBER = re.compile(r"\d+")


@dataclass
class Piece:
    """A tensor of a rule: its name, with `HOLE` for the number of a list, and its dimensions; None for a whole tensor."""

    name: str
    dims: Dims | None


@dataclass
class Rule:
    """Tensors that become others."""

    sources: list[Piece]
    targets: list[Piece]
    space: Space = field(default_factory=Space)
    #: The axis of the number of a list.
    number: Axis | None = None
    #: The number that the list starts from.
    start: int = 0
    #: The numbers of the list.
    count: int = 0
    #: True if the list is one of several parts of a longer one.
    part: bool = False
    #: Element types before and after, if they differ.
    dtypes: tuple[str, str] | None = None
    #: True if the inverse may round, with the caller's word.
    rounds: bool = False

    def taken(self) -> Iterator[str]:
        """The names of the tensors that the rule is made of."""
        for piece in self.sources:
            for number in range(self.start, self.start + self.count) if HOLE in piece.name else (0,):
                yield piece.name.replace(HOLE, str(number))


def rules(published: Published, groups: Iterable[Group], kept: Container[str] = ()) -> Iterator[Rule]:
    """Gives the rules with operations and those without, one for each group.

    :param kept: targets of which two dims are equal, and which are not transposed
    :raises UnsupportedError: for an operation that a recipe cannot say
    """
    for group in groups:
        if group.converter is None:
            yield Rule([Piece(_only(group), None)], [Piece(group.target, None)])
            continue
        known = group.converter.source_patterns
        more = [name for pattern, names in group.sources.items() if pattern not in known for name in names]
        if more:
            raise UnsupportedError(f"{more[0]!r} exists beside the list that it is made of; remove one of them")
        for part in _parts(published.lib, group):
            yield _rule(published, part, kept)


def _only(group: Group) -> str:
    first, *more = group.names
    if more:
        raise UnsupportedError(f"{first!r} and {more[0]!r} would both become {group.target!r}; transformers takes the first")
    return first


@dataclass
class _Part:
    """A group, or a part of its lists with a target of its own."""

    group: Group
    converter: Any
    sources: dict[str, list[str]]
    target: str
    is_part: bool = False
    #: The number that its lists start from.
    start: int = 0


def _parts(lib: Library, group: Group) -> Iterator[_Part]:
    converter = group.converter
    first = converter.operations[0]
    if type(first).__name__ != "ErnieFuseAndSplitTextVisionExperts":
        yield _Part(group, converter, group.sources, group.target)
        return
    # The list is cut in as many parts as there are targets; each part is stacked by itself.
    loading, count = lib.loading, len(converter.target_patterns)
    for at, (pattern, target) in enumerate(zip(converter.target_patterns, targets(group))):
        part = {}
        for source, names in group.sources.items():
            size = math.ceil(len(names) / count)
            part[source] = names[at * size : (at + 1) * size]
        operations = [loading.MergeModulelist(first.stack_dim)]
        operations += [loading.Concatenate(first.concat_dim)] if len(part) > 1 else []
        own = loading.WeightConverter(list(converter.source_patterns), [pattern], operations)
        start = at * max(math.ceil(len(names) / count) for names in group.sources.values())
        yield _Part(group, own, part, target, is_part=True, start=start)


def _rule(published: Published, part: _Part, kept: Container[str]) -> Rule:
    heads = published.heads
    rule, state = Rule([], [], part=part.is_part), State()
    stacks = any(type(one).__name__ == "MergeModulelist" for one in part.converter.operations)
    for pattern in part.converter.source_patterns:
        names = part.sources.get(pattern)
        if not names:
            continue
        if stacks or len(names) > 1:
            place, _ = numbered(part.group.sources[pattern], part.group.single.get(pattern))
            state[pattern] = _stack(rule, _List(names, part.start, place), heads)
        else:
            dims: Dims = [rule.space.new(extent) for extent in heads[names[0]].shape]
            rule.sources.append(Piece(names[0], dims))
            state[pattern] = dims
    job = Job(rule.space, part.converter, published, part.target, kept)
    for pattern, done in applied(job, state).items():
        if isinstance(done, Stack):
            raise UnsupportedError(f"a list of tensors as a result ({part.target})")
        rule.targets.append(Piece(_named(part, pattern), done))
    return rule


def _named(part: _Part, pattern: str) -> str:
    """The name of a target: that of the first with another pattern."""
    full = part.target.replace("*.", "0.")
    first = next((one for one in part.converter.target_patterns if one in full), None)
    return full if first is None else full.replace(first, pattern, 1)


@dataclass(frozen=True)
class _List:
    """Tensors of one pattern, the number that the first of them must have, and the place of the number among those of a name."""

    names: list[str]
    start: int
    place: int


def _stack(rule: Rule, one: _List, heads: Mapping[str, Head]) -> Stack:
    """A list of tensors by number, whose shapes may differ in one dimension."""
    names = one.names
    at, numbers = numbered(names, one.place)
    found = holes(numbers, one.start)
    if found:
        raise UnsupportedError(f"{names[0]!r} and others: the numbers [{found}] are missing; transformers would close the gap")
    if rule.number is None:
        rule.number, rule.start, rule.count = rule.space.new(len(names)), numbers[0], len(names)
    elif (rule.start, rule.count) != (numbers[0], len(numbers)):
        raise UnsupportedError(f"{names[0]!r} and others: {len(numbers)} tensors from {numbers[0]}, and {rule.count} from "
                               f"{rule.start} in another list of the rule")
    shapes = [heads[name].shape for name in names]
    ragged = [dim for dim, extents in enumerate(zip(*shapes)) if len(set(extents)) > 1]
    if len({len(shape) for shape in shapes}) > 1 or len(ragged) > 1:
        raise UnsupportedError(f"{names[0]!r} and others: shapes that differ in more than one dimension")
    dims: Dims = [rule.space.new(extent) for extent in shapes[0]]
    for dim in ragged:
        axis = dims[dim]
        assert isinstance(axis, Axis)
        rule.space.pieces[axis] = [shape[dim] for shape in shapes]
    match = list(_NUMBER.finditer(names[0]))[at]
    rule.sources.append(Piece(names[0][: match.start()] + HOLE + names[0][match.end() :], dims))
    return Stack(rule.number, dims, ragged[0] if ragged else None)


def numbered(names: list[str], place: int | None = None) -> tuple[int, list[int]]:
    """The place of the number in names that tells them apart, and the numbers.

    :param place: the place, if it is known: in a list of one name no number differs
    :raises UnsupportedError: if no number does
    """
    found = [_NUMBER.findall(name) for name in names]
    at = place
    if at is None and len(names) > 1:
        places = range(min(map(len, found)))
        at = next((at for at in reversed(places) if len({one[at] for one in found}) == len(names)), None)
    if at is None or any(len(one[at]) > LONGEST for one in found):
        raise UnsupportedError(f"{names[0]!r} and others: a list without numbers of up to {LONGEST} digits")
    return at, [int(one[at]) for one in found]


def holes(numbers: list[int], start: int = 0) -> str:
    """The numbers that are missing from the first that must be there to the last that is, as text; empty if none is."""
    gaps = []
    for number in sorted(numbers):
        if number > start:
            gaps.append(str(start) if number == start + 1 else f"{start} to {number - 1}")
        start = number + 1
    return ", ".join(gaps)


def axes_of(expr: Expr) -> list[Axis]:
    """The axes of an expression, from left to right."""
    if isinstance(expr, Axis):
        return [expr]
    if hasattr(expr, "parts"):
        return [axis for part in expr.parts for axis in axes_of(part)]
    return [expr.number, expr.axis]
