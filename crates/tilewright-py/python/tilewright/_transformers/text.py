"""Rules as the text of a recipe."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tilewright._transformers.axes import Axis, Expr, Pieces, Product, Space
from tilewright._transformers.loader import LONGEST
from tilewright._transformers.prefixes import Leaf, few
from tilewright._transformers.rules import HOLE, Piece, Rule

__all__ = ["Preamble", "Written", "patterns_of", "recipe"]

_NUMBER = re.compile(r"\d+")
_FIELD = re.compile(r"\\\{[^}]*\\\}")
#: Names of axes, without those of fields.
_LETTERS = "abcdfghijkmnopqrstuvwxyz"


@dataclass(frozen=True)
class Written:
    """A rule as text."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    sizes: tuple[tuple[str, int | str], ...] = ()
    more: tuple[str, ...] = ()

    def text(self) -> str:
        """The rule in TOML."""
        lines = ["", "[[map]]", f"from = {_list(self.sources)}", f"to = {_list(self.targets)}"]
        if self.sizes:
            lines.append(f"sizes = {{ {', '.join(f'{axis} = {_value(size)}' for axis, size in self.sizes)} }}")
        return "\n".join([*lines, *self.more])


@dataclass
class Preamble:
    """The keys of a recipe before its rules."""

    title: str
    source: str
    #: Names that are removed, as patterns.
    drop: list[str] = field(default_factory=list)
    #: Names that stay although the class ignores them, as patterns.
    keep: list[str] = field(default_factory=list)
    #: Second names of tied tensors, which go: the first name and the second.
    untie: list[tuple[str, str]] = field(default_factory=list)


def recipe(preamble: Preamble, rules: Iterable[Rule], names: Iterable[str], *, way: str = "few") -> str:
    """Gives the text of a recipe.

    :param names: all names of the checkpoint: a rule must not take those of another
    :param way: ``few`` rules that change prefixes, one rule for each ``pattern`` of names, or one for each of ``all`` names
    """
    names = set(names)
    rules = list(rules)
    plain = [rule for rule in rules if rule.sources[0].dims is None and rule.dtypes is None]
    others = [rule for rule in rules if not (rule.sources[0].dims is None and rule.dtypes is None)]
    pairs = [(rule.sources[0].name, rule.targets[0].name) for rule in plain]
    leaves = pairs if way == "all" else _related(pairs)
    written = [_written(rule, []) for rule in others] if way == "all" else _unique(others, names)
    known = {pattern for one in written for pattern in map(_name, one.sources)}
    if way == "few":
        found = few([*(Leaf(old, new) for old, new in leaves), *(Leaf(name, None) for name in known)])
        singles, rest, stay = found.single, found.rest, found.stay
    else:
        singles, rest = [pair for pair in leaves if pair[0] != pair[1]], []
        stay = [old for old, new in leaves if old == new]
    passed = [*(_glob(name) for name in stay), *preamble.keep]
    lines = [f"title = {json.dumps(preamble.title)}", f"source = {json.dumps(preamble.source)}"]
    for key, patterns in (("pass", passed), ("drop", preamble.drop)):
        if patterns:
            lines.append(f"{key} = {json.dumps(sorted(set(patterns)))}")
    if preamble.untie:
        lines.append(f"untie = {json.dumps(preamble.untie)}")
    lines += [one.text() for one in written]
    lines += [Written((old,), (new,)).text() for old, new in singles]
    lines += [Written((old,), (new,), more=("rest = true",)).text() for old, new in rest]
    return "\n".join(lines) + "\n"


def _name(reference: str) -> str:
    return reference.split(" : ")[0]


def _glob(name: str) -> str:
    return re.sub(r"\{[^}]*\}", "*", name)


def _list(texts: tuple[str, ...]) -> str:
    return json.dumps(texts[0] if len(texts) == 1 else list(texts), ensure_ascii=False)


def _value(size: int | str) -> str:
    return json.dumps(size)


# Names that change alone.

#: The numbers of an old and of a new name.
_Numbers = tuple[list[str], list[str]]


def _related(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pairs of names as pairs of patterns, in which numbers that belong together are fields."""
    groups: dict[tuple[str, str], list[_Numbers]] = defaultdict(list)
    for old, new in pairs:
        key = (_NUMBER.sub(HOLE, old), _NUMBER.sub(HOLE, new))
        groups[key].append((_NUMBER.findall(old), _NUMBER.findall(new)))
    out = []
    for (old, new), found in groups.items():
        out += _fielded((old, new), found)
    return out


def _fielded(patterns: tuple[str, str], found: list[_Numbers]) -> list[tuple[str, str]]:
    """The patterns of names of one form: one if their numbers are related in one way, two for even and odd numbers, or all."""
    for parity in (None, *range(len(found[0][0]))):
        parts = [found] if parity is None else [[one for one in found if int(one[0][parity][-1]) % 2 == odd] for odd in (0, 1)]
        texts = [_with_fields(patterns, part) for part in parts if part]
        if all(text is not None for text in texts):
            return [text for text in texts if text is not None]
    return [(_filled(patterns[0], old), _filled(patterns[1], new)) for old, new in found]


def _with_fields(patterns: tuple[str, str], found: list[_Numbers]) -> tuple[str, str] | None:
    """One pattern for all names; None if their numbers are not related."""
    olds, news = (list(zip(*numbers)) for numbers in zip(*found))
    old: list[str | None] = [column[0] if len(set(column)) == 1 else None for column in olds]
    new: list[str | None] = [None] * len(news)
    for at, column in enumerate(news):
        if len(set(column)) == 1:
            new[at] = column[0]
            continue
        for place, other in enumerate(olds):
            relation = _relation(other, column) if old[place] is None else None
            if relation is not None:
                letter = f"L{place}"
                old[place], new[at] = (text.replace("L", letter) for text in relation)
                break
        else:
            return None
    if any(one is None for one in old):
        return None
    return _filled(patterns[0], old), _filled(patterns[1], new)


def _relation(olds: tuple[str, ...], news: tuple[str, ...]) -> tuple[str, str] | None:
    """Relation of the numbers in two names: equal, different by a constant, or doubled."""
    if any(len(one) > LONGEST or one != str(int(one)) for one in olds + news):
        return None
    pairs = [(int(old), int(new)) for old, new in zip(olds, news)]
    apart = {old - new for old, new in pairs}
    if len(apart) == 1:
        by = apart.pop()
        return ("{L}" if by <= 0 else f"{{L+{by}}}", "{L}" if by >= 0 else f"{{L+{-by}}}")
    double = {old - 2 * new for old, new in pairs}
    if len(double) == 1 and min(double) >= 0:
        by = double.pop()
        return ("{2L}" if by == 0 else f"{{2L+{by}}}", "{L}")
    return None


def _filled(pattern: str, numbers: Iterable[str | None]) -> str:
    found = iter(numbers)
    return re.sub(HOLE, lambda _: str(next(found)), pattern)


# Rules with axes.


def _unique(rules: list[Rule], names: set[str]) -> list[Written]:
    """Rules of one text as one rule; those that would take names of others are written out."""
    same: dict[Written, list[Rule]] = defaultdict(list)
    for rule in rules:
        same[_written(rule, _common(rule))].append(rule)
    takers: dict[str, set[Written]] = defaultdict(set)
    own: dict[Written, set[str]] = {}
    for written, instances in same.items():
        patterns = [_pattern(_name(source)) for source in written.sources]
        own[written] = {name for name in names if any(pattern.match(name) for pattern in patterns)}
        for name in own[written]:
            takers[name].add(written)
    mine = {written: {name for rule in instances for name in rule.taken()} for written, instances in same.items()}
    clash = {one for takers_of in takers.values() if len(takers_of) > 1 for one in takers_of}
    clash |= {written for written in same if own[written] - mine[written]}
    out: dict[Written, None] = {}
    for written, instances in same.items():
        if written in clash and not instances[0].part:
            out.update(dict.fromkeys(_written(rule, []) for rule in instances))
        else:
            out[written] = None
    return list(out)


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(_FIELD.sub("[0-9]+", re.escape(name)) + r"\Z")


def _common(rule: Rule) -> list[str]:
    """The numbers that all names of a rule have, in one order."""
    lists = [_NUMBER.findall(piece.name) for piece in rule.sources + rule.targets]
    out: list[str] = []
    places = [0] * len(lists)
    for value in lists[0]:
        try:
            places = [numbers.index(value, place) + 1 for numbers, place in zip(lists, places)]
        except ValueError:
            continue
        out.append(value)
    return out


def _template(name: str, values: list[str]) -> str:
    """A name with fields for these numbers."""
    left = list(values)

    def field_of(match: re.Match[str]) -> str:
        if left and match[0] == left[0]:
            left.pop(0)
            return f"{{L{len(values) - 1 - len(left)}}}"
        return match[0]

    return _NUMBER.sub(field_of, name)


class _Letters:
    """Names of the axes of a rule."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.names: dict[Axis, str] = {}
        self.free: Iterator[str] = iter([*_LETTERS, *(f"a{at}" for at in range(200))])

    def of(self, axis: Axis) -> str:
        """The name of an axis; an axis with the size of another has the same name with primes."""
        if axis not in self.names:
            root = self.space.root(axis)
            if root != axis:
                lead = self.of(root)
                used = sum(name.rstrip("'") == lead for name in self.names.values())
                self.names[axis] = lead + "'" * used
            else:
                self.names[axis] = next(self.free)
        return self.names[axis]

    def text(self, expr: Expr) -> str:
        """An expression as text."""
        expr = self.space.walk(expr)
        if isinstance(expr, Axis):
            return self.of(expr)
        if isinstance(expr, Pieces):
            return f"({self.of(self.space_number(expr))} {self.of(expr.axis)})"
        joint = " " if isinstance(expr, Product) else " + "
        return f"({joint.join(map(self._part, expr.parts))})"

    def space_number(self, expr: Pieces) -> Axis:
        """The axis that numbers pieces."""
        number = self.space.walk(expr.number)
        assert isinstance(number, Axis)
        return number

    def _part(self, expr: Expr) -> str:
        if isinstance(expr, Pieces):
            return self.text(expr)[1:-1]
        return self.text(expr)

    def sizes(self, axes: Iterable[Axis]) -> list[tuple[str, int | str]]:
        """The sizes that do not follow from the shapes."""
        out = []
        for axis in axes:
            size = self.space.given.get(axis, 1 if self.space.sizes[axis.number] == 1 else None)
            if size is not None and "'" not in self.of(axis):
                out.append((self.of(axis), size))
        return out


def _written(rule: Rule, values: list[str]) -> Written:
    letters = _Letters(rule.space)
    number = None
    if rule.number is not None:
        number = rule.space.walk(rule.number)
        assert isinstance(number, Axis)
        letters.names[number] = "e"
    count = "{e+t}" if rule.start else "{e}"

    def side(pieces: list[Piece]) -> tuple[str, ...]:
        texts = []
        for piece in pieces:
            name = _template(piece.name, values).replace(HOLE, count)
            dims = "" if piece.dims is None else " : " + " ".join(map(letters.text, piece.dims))
            texts.append(name + dims)
        return tuple(texts)

    sources, targets = side(rule.sources), side(rule.targets)
    axes = [axis for axis in letters.names if axis != number]
    sizes = letters.sizes(axes)
    if number is not None and (rule.part or number in rule.space.given):
        sizes.append(("e", rule.count))
    if rule.start:
        sizes.append(("t", rule.start))
    return Written(sources, targets, tuple(dict(sizes).items()), tuple(_more(rule, letters)))


def _more(rule: Rule, letters: _Letters) -> Iterator[str]:
    dropped = [letters.of(axis) for axis in rule.space.dropped]
    if dropped:
        yield f"drop = {json.dumps(dropped)}"
    unequal = [f'{letters.of(axis)} = {{ by = "e", sizes = {extents} }}' for axis, extents in rule.space.pieces.items()]
    if unequal:
        yield f"unequal = {{ {', '.join(unequal)} }}"
    if rule.dtypes is not None:
        before, after = rule.dtypes
        yield f'dtype = "{after}"\nfrom_dtype = "{before}"'
        if (before, after) == ("f32", "bf16") or (rule.rounds and (before, after) == ("bf16", "f32")):
            yield "round = true"


def patterns_of(names: Iterable[str], others: Iterable[str]) -> list[str]:
    """Patterns for names that no other name matches: whole prefixes where possible."""
    names, rest = sorted(names), set(others)
    prefixes = {".".join(name.split(".")[:depth]) for name in rest for depth in range(1, name.count(".") + 2)}
    out: dict[str, None] = {}
    for name in names:
        parts = name.split(".")
        free = next((depth for depth in range(1, len(parts)) if ".".join(parts[:depth]) not in prefixes), len(parts))
        out[".".join(parts[:free]) + (".*" if free < len(parts) else "")] = None
    return list(out)

