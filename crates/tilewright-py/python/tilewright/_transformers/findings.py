"""What transformers would lose of a checkpoint, or write differently: found from names, shapes and element types alone."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tilewright._errors import Error
from tilewright._transformers.heads import Head
from tilewright._transformers.library import Library
from tilewright._transformers.loader import Group, Loaded, loaded, targets
from tilewright._transformers.rules import holes, numbered
from tilewright._transformers.text import patterns_of
from tilewright._transformers.types import Types, change

__all__ = ["Audit", "Finding", "audited"]

#: The most names that a finding lists in its sentence.
_NAMED = 3


@dataclass(frozen=True)
class Finding:
    """One thing that transformers does to a checkpoint without a word, or with a warning among others."""

    #: ``hole``, ``collision``, ``ignored``, ``rounded``, ``widened``, ``square``, ``random``, ``renamed``, ``reshaped``,
    #: ``absent``, ``base``, ``mapping`` or ``operation``.
    kind: str
    #: A sentence: what happens, where.
    says: str
    #: The names that it is about.
    names: tuple[str, ...]
    #: True if values or published names would be lost.
    loses: bool

    def __str__(self) -> str:
        return f"{'lost' if self.loses else 'note'}  {self.kind:<10} {self.says}"


@dataclass(frozen=True)
class Audit:
    """All findings of a checkpoint for a class."""

    model: str
    version: str
    tensors: int
    elements: int
    findings: tuple[Finding, ...] = field(default=())

    @property
    def loses(self) -> bool:
        """True if something would be lost."""
        return any(finding.loses for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """The audit as a value for ``json.dumps``."""
        rows = [
            {"kind": one.kind, "loses": one.loses, "says": one.says, "names": list(one.names)} for one in self.findings
        ]
        return {
            "version": 1,
            "class": self.model,
            "transformers": self.version,
            "tensors": self.tensors,
            "elements": self.elements,
            "loses": self.loses,
            "findings": rows,
        }

    def __str__(self) -> str:
        head = f"{self.model}, transformers {self.version}: {self.tensors} tensors, {self.elements} elements"
        rows = [str(finding) for finding in self.findings]
        end = "something would be lost" if self.loses else "nothing would be lost"
        return "\n".join([head, *rows, end])


def audited(lib: Library, model: Any, heads: Mapping[str, Head]) -> Audit:
    """Gives all findings."""
    found = loaded(lib, model, heads)
    all_findings = [
        *_collisions(found),
        *_holes(found),
        *_squares(heads, found),
        *_ignored(model, heads, found),
        *_random(found),
        *_types(lib, model, (heads, found)),
        *_saved(lib, model, (heads, found)),
    ]
    elements = sum(head.elements for head in heads.values())
    return Audit(type(model).__name__, lib.version, len(heads), elements, tuple(all_findings))


def _listed(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(map(repr, names[:_NAMED])) + (f" and {more} more" if more > 0 else "")


def _finding(kind: str, names: list[str], said: tuple[str, str], *, loses: bool) -> Iterator[Finding]:
    """A finding about names; none without names. Of the sentence, the names are in the middle."""
    if names:
        before, after = said
        yield Finding(kind, f"{before}{_listed(names)}{after}".strip(), tuple(names), loses)


def _collisions(found: Loaded) -> Iterator[Finding]:
    for group in found.groups:
        if group.converter is None:
            names = [name for names in group.sources.values() for name in names]
            if len(names) > 1:
                said = (f"{len(names)} tensors become {group.target!r}, one is taken: ", "")
                yield from _finding("collision", names, said, loses=True)
            continue
        for names in group.sources.values():
            yield from _same_number(group, names)
        known = group.converter.source_patterns
        more = [name for pattern, names in group.sources.items() if pattern not in known for name in names]
        said = (f"{group.target!r} is made of a list, and is there as a whole too: ", "; one of them is dropped")
        yield from _finding("collision", more, said, loses=True)


def _same_number(group: Group, names: list[str]) -> Iterator[Finding]:
    """A stacked tensor beside single ones, or two lists as one."""
    if len(names) < 2:
        return
    try:
        numbered(names)
    except Error:
        said = (f"tensors of one list of {group.target!r} are not told apart by a number: ", "")
        yield from _finding("collision", names, said, loses=True)


def _holes(found: Loaded) -> Iterator[Finding]:
    missing: dict[str, list[str]] = defaultdict(list)
    for group in found.groups:
        for names in group.sources.values() if group.converter is not None else ():
            if len(names) < 2:
                continue
            try:
                _, numbers = numbered(names)
            except Error:
                continue
            gone = holes(numbers) + list(range(min(numbers)))
            if gone:
                missing[f"{gone}"] += names
    for gone_text, names in missing.items():
        said = (f"the numbers {gone_text} are missing, and the others would be counted from 0 again: ", "")
        yield from _finding("hole", names, said, loses=True)


def _squares(heads: Mapping[str, Head], found: Loaded) -> Iterator[Finding]:
    names = []
    for group in found.groups:
        for operation in group.converter.operations if group.converter is not None else ():
            if type(operation).__name__ == "Transpose" and operation.check_dims:
                for name in (name for some in group.sources.values() for name in some):
                    shape = heads[name].shape
                    if shape[operation.dim0] == shape[operation.dim1]:
                        names.append(name)
    said = ("two dims are equal, so transformers cannot see that it must transpose and does not: ", "")
    yield from _finding("square", names, said, loses=True)


def _ignored(model: Any, heads: Mapping[str, Head], found: Loaded) -> Iterator[Finding]:
    scales = [name for name in found.ignored if name.endswith(("_scale_inv", ".scales", ".qzeros", "_scale"))]
    quantised = getattr(model.config, "quantization_config", None) is not None
    if quantised and scales:
        said = ("a quantiser reads these; they are not judged: ", "")
        yield from _finding("operation", scales, said, loses=False)
    gone = [name for name in found.ignored if not (quantised and name in scales)]
    if gone:
        parts = patterns_of(gone, [name for name in heads if name not in set(gone)])
        text = f"{type(model).__name__} ignores {len(gone)} tensors, and saving would drop them: {', '.join(parts[:_NAMED])}"
        yield Finding("ignored", text + (" and more" if len(parts) > _NAMED else ""), tuple(gone), True)


def _random(found: Loaded) -> Iterator[Finding]:
    said = ("the checkpoint has no tensor for these parameters, which would stay random: ", "")
    yield from _finding("random", found.missing, said, loses=True)


def _types(lib: Library, model: Any, known: tuple[Mapping[str, Head], Loaded]) -> Iterator[Finding]:
    heads, found = known
    types = Types(lib, model)
    changed: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for group in found.groups:
        after = types.of(targets(group)[0])
        for name in (name for names in group.sources.values() for name in names):
            how = change(heads[name].dtype, after)
            if how:
                changed[how, heads[name].dtype, after].append(name)
    for (how, before, after), names in changed.items():
        said = (f"{len(names)} tensors are {how} from {before} to {after}: ", "")
        yield from _finding(how, names, said, loses=how == "rounded")


def _saved(lib: Library, model: Any, known: tuple[Mapping[str, Head], Loaded]) -> Iterator[Finding]:
    """What saving writes: transformers' own reverse conversion, on tensors without memory."""
    heads, found = known
    tied = set(getattr(model, "all_tied_weights_keys", None) or {})
    state = {name: tensor for name, tensor in model.state_dict().items() if name not in tied}
    before = getattr(model, "_weight_conversions", None)
    try:
        model._weight_conversions = [copy.deepcopy(one) for one in found.used]
        patterns = [list(one._original_source_patterns) for one in model._weight_conversions]
        saved = lib.loading.revert_weight_conversion(model, state)
        changed = [
            type(one).__name__
            for one, own in zip(model._weight_conversions, patterns)
            if list(one._original_source_patterns) != own
        ]
    except Exception as error:  # noqa: BLE001  (any error of the library is the answer)
        yield Finding("operation", f"saving fails: {type(error).__name__}: {error}", (), True)
        return
    finally:
        if before is None:
            del model._weight_conversions
        else:
            model._weight_conversions = before
    yield from _names(heads, (saved, set(found.ignored), {second for _, second in found.tied}))
    said = ("saving changes the loaded model's own mapping, so that a second save may differ: ", "")
    yield from _finding("mapping", sorted(set(changed)), said, loses=False)
    yield from _again(lib, model, saved)
    yield from _base(lib, model, (heads, saved))


def _names(heads: Mapping[str, Head], made: tuple[Mapping[str, Any], set[str], set[str]]) -> Iterator[Finding]:
    saved, ignored, tied = made
    gone = [name for name in heads if name not in saved and name not in ignored and name not in tied]
    new = [name for name in saved if name not in heads]
    if gone and new:
        said = (f"{len(gone)} published names are not written again, ", f"; {len(new)} others are, such as {new[0]!r}")
        yield from _finding("renamed", gone, said, loses=True)
    elif gone:
        yield from _finding("absent", gone, (f"{len(gone)} tensors are not written again: ", ""), loses=True)
    shapes = [name for name in heads if name in saved and tuple(saved[name].shape) != heads[name].shape]
    said = (f"{len(shapes)} tensors are written with other dims than the published ones: ", "")
    yield from _finding("reshaped", shapes, said, loses=True)


def _again(lib: Library, model: Any, saved: Mapping[str, Any]) -> Iterator[Finding]:
    """The saved names, read again by the class and by its base class."""
    try:
        again = loaded(lib, model, saved)
    except Exception as error:  # noqa: BLE001
        yield Finding("operation", f"what was saved cannot be read again: {type(error).__name__}: {error}", (), True)
        return
    said = ("what was saved has no tensor for these parameters when it is read again: ", "")
    yield from _finding("random", again.missing, said, loses=True)


def _base(lib: Library, model: Any, known: tuple[Mapping[str, Head], Mapping[str, Any]]) -> Iterator[Finding]:
    """Parameters of the base class that the checkpoint, or what was saved of it, does not fill."""
    heads, saved = known
    for part in _parts(model):
        before, after = (loaded(lib, part, names).missing for names in (heads, saved))
        end = f" ({type(part).__name__}, {len(before or after)} of {len(part.state_dict())} parameters)"
        said = ("the base class would start with random ", end)
        yield from _finding("base", before, said, loses=False)
        more = [name for name in after if name not in set(before)]
        said = ("of what was saved, the base class would start with random ", end)
        yield from _finding("base", more, said, loses=True)


def _parts(model: Any) -> Iterator[Any]:
    """The model without its head: the module of the base prefix, or the only one that is a model by itself."""
    base = getattr(model, model.base_model_prefix, None) if model.base_model_prefix else None
    if base is not None and base is not model and hasattr(base, "base_model_prefix"):
        yield base
        return
    models = [child for child in model.children() if hasattr(child, "base_model_prefix")]
    if len(models) == 1:
        yield models[0]
