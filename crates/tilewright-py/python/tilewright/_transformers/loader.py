"""The target of each tensor, as the loader of transformers decides it: key by key, by the loader's own functions.

No regular expression of transformers is translated. Each name goes through ``rename_source_key`` with the model's renamings and
converters, so a new kind of renaming needs no change here.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Any

from tilewright._transformers.library import Library

__all__ = ["Group", "Loaded", "loaded"]


@dataclass
class Group:
    """The tensors that go to one target: by the pattern of the converter that they match, or by their own name."""

    target: str
    #: The converter of transformers; None if names change only.
    converter: Any
    sources: dict[str, list[str]] = field(default_factory=dict)

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
    for name in sorted(names, key=loading.dot_natural_key):
        target, pattern = loading.rename_source_key(name, renamings, converters, model.base_model_prefix, meta)
        if target not in meta and name in meta:
            target, pattern = loading.rename_source_key(name, [], [], model.base_model_prefix, meta)
        if target not in meta:
            ignored[name] = target
            continue
        converter = by_pattern[pattern] if pattern else None
        group = groups.setdefault(target, Group(target, converter))
        group.sources.setdefault(pattern or name, []).append(name)
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
