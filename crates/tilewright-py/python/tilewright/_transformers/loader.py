"""The target and the element type of each tensor, as the loader of transformers decides them, by the loader's own functions.

No regular expression of transformers is translated. Each name goes through ``rename_source_key`` with the model's renamings and
converters, so a new kind of renaming needs no change here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from typing import Any

from tilewright._transformers.library import Library

__all__ = ["EXPRESSIBLE", "LONGEST", "Group", "Loaded", "Types", "change", "fits", "loaded", "targets"]

_NUMBER = re.compile(r"\d+")
#: The most digits of a number in a name that is read as a number.
LONGEST = 18
#: Numbers at the ends of parts of a name.
_ENDS = re.compile(r"[0-9]+(?=\.|\Z)")


@dataclass
class Group:
    """The tensors that go to one target: by the pattern of the converter that they match, or by their own name."""

    target: str
    #: The converter of transformers; None if names change only.
    converter: Any
    sources: dict[str, list[str]] = field(default_factory=dict)
    #: Of lists with one name, by pattern: the place of the list's number among the numbers of the name.
    single: dict[str, int] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """All names that go to the target."""
        return [name for names in self.sources.values() for name in names]


@dataclass
class Loaded:
    """The targets of the names of a checkpoint."""

    groups: list[Group]
    #: Names that the class ignores, with the names that the mapping gives them.
    ignored: dict[str, str]
    #: Parameters of the model that get nothing.
    missing: list[str]
    #: Transforms that matched a name.
    used: list[Any]
    #: Second names of tied parameters that the checkpoint has: the name of the first, and its own.
    tied: list[tuple[str, str]] = field(default_factory=list)
    #: Names that a quantiser reads.
    quantised: list[str] = field(default_factory=list)


def loaded(lib: Library, model: Any, names: Iterable[str], apart: Container[str] = ()) -> Loaded:
    """Gives the target of each name.

    :param apart: second names of tied tensors that have values of their own; they are loaded as other names
    """
    loading = lib.loading
    transforms = list(lib.mapping.get_model_conversion_mapping(model))
    renamings = [one for one in transforms if isinstance(one, loading.WeightRenaming)]
    converters = [one for one in transforms if isinstance(one, loading.WeightConverter)]
    by_pattern = {pattern: one for one in converters for pattern in one.source_patterns}
    meta = model.state_dict()
    groups: dict[str, Group] = {}
    ignored: dict[str, str] = {}

    def renamed(name: str) -> tuple[str, str | None]:
        found: tuple[str, str | None] = loading.rename_source_key(name, renamings, converters, model.base_model_prefix, meta)
        return found

    for name in sorted(names, key=_natural):
        target, pattern = renamed(name)
        if target not in meta and name in meta:
            target, pattern = loading.rename_source_key(name, [], [], model.base_model_prefix, meta)
        if target not in meta:
            ignored[name] = target
            continue
        converter = by_pattern[pattern] if pattern else None
        group = groups.setdefault(target, Group(target, converter))
        group.sources.setdefault(pattern or name, []).append(name)
    for group in groups.values():
        _number_singles(group, renamed)
    made = {target for group in groups.values() for target in targets(group)}
    second = dict(getattr(model, "all_tied_weights_keys", None) or {})
    # transformers ties the first to a second that the checkpoint has.
    firsts = {first for name, first in second.items() if name in made}
    missing = [name for name in meta if name not in made and name not in second and name not in firsts]
    used = [one for one in transforms if one.was_used()]
    tied = [pair for pair in _tied(groups, second) if pair[1] not in apart]
    gone = {name for _, name in tied}
    kept = [group for group in groups.values() if gone.isdisjoint(group.names)]
    return Loaded(kept, ignored, missing, used, tied)


def _natural(name: str) -> str:
    """A key that sorts names as the loader does: numbers at the ends of parts by value. It takes less memory than the loader's."""
    return _ENDS.sub(lambda match: match[0].zfill(12), name).replace(".", "\0")


def _number_singles(group: Group, renamed: Callable[[str], tuple[str, str | None]]) -> None:
    """Finds the number of a list with one name: another number there goes to the same target."""
    for pattern, names in group.sources.items() if group.converter is not None else ():
        for at, match in enumerate(_NUMBER.finditer(names[0])) if len(names) == 1 and "*" in pattern else ():
            other = f"{names[0][: match.start()]}{int(match[0][-LONGEST:]) + 1}{names[0][match.end() :]}"
            if renamed(other) == renamed(names[0]):
                group.single[pattern] = at


def _tied(groups: dict[str, Group], second: dict[str, str]) -> list[tuple[str, str]]:
    """Pairs of names of the checkpoint that the model ties; only names that change alone."""
    out = []
    for target, first in second.items():
        pair = [groups.get(first), groups.get(target)]
        names = [one.names for one in pair if one and one.converter is None]
        if len(names) == 2 and len(names[0]) == len(names[1]) == 1:
            out.append((names[0][0], names[1][0]))
    return out


def targets(group: Group) -> list[str]:
    """Gives the names of all targets of a group: a converter may have several."""
    if group.converter is None:
        return [group.target]
    patterns = list(group.converter.target_patterns)
    full = group.target.replace("*.", "0.")
    found = next((one for one in patterns if one in full), None)
    if found is None:
        return [group.target]
    before, _, after = full.partition(found)
    return [before + one + after for one in patterns]


# Element types.

#: Changes of element types that a recipe can say.
EXPRESSIBLE = {("F32", "BF16"), ("BF16", "F32"), ("F32", "F16"), ("F16", "F32")}

_NAMES = {"float32": "F32", "bfloat16": "BF16", "float16": "F16", "float64": "F64"}


class Types:
    """The element type of each parameter after loading."""

    def __init__(self, lib: Library, model: Any) -> None:
        self.meta = model.state_dict()
        self.dtype = model.dtype
        plan = model._get_dtype_plan(model.dtype) if hasattr(model, "_get_dtype_plan") else {}
        self.plan = plan
        self.search: Any = None
        if plan:
            self.search, self.groups = lib.loading.build_glob_alternation(list(plan))[:2]

    def of(self, target: str) -> str:
        """The element type of a parameter as safetensors spells it; empty for one that is not a float."""
        match = self.search.search(target) if self.search is not None else None
        if match is not None:
            dtype = self.plan[self.groups[match.lastgroup]]
        else:
            found = self.meta.get(target)
            dtype = self.dtype if found is None else found.dtype
        return _NAMES.get(str(dtype).removeprefix("torch."), "")


#: The bits of exponents and of fractions.
_FLOATS = {"F64": (11, 52), "F32": (8, 23), "BF16": (8, 7), "F16": (5, 10), "F8_E4M3": (4, 3), "F8_E5M2": (5, 2)}


def fits(before: str, after: str) -> bool:
    """True if every value of an element type is one of another type."""
    if before == after:
        return True
    return all(own <= other for own, other in zip(_FLOATS.get(before, (99,)), _FLOATS.get(after, (0,))))


def change(before: str, after: str) -> str | None:
    """Kind of a change of element types: ``widened``, ``rounded``, or None if nothing changes."""
    sizes = {"F64": 3, "F32": 2, "BF16": 1, "F16": 1}
    if before not in sizes or after not in sizes or before == after:
        return None
    return "widened" if sizes[before] < sizes[after] else "rounded"
