"""What transformers would lose of a checkpoint, or write differently, found from names, shapes and element types alone.

An audit asks three questions: what happens when transformers loads the checkpoint, what it writes when it saves the model again (by
its own reverse conversion, on tensors without memory), and which tensors only a quantiser of transformers reads.

>>> next(finding("random", "nothing fills {names}", ["a", "b"], loses=True))
Finding(kind='random', message="nothing fills 'a', 'b'", names=('a', 'b'), loses=True)
>>> print(audited(published_of(library(), "MiniMax-M2/", "MiniMax-M2/")))  # doctest: +SKIP
MiniMaxM2ForCausalLM, transformers 5.24.0: 47864 tensors, 228703644928 elements
lost  rounded    62 tensors are rounded from F32 to BF16: 'model.layers.0.block_sparse_moe.e_score_correction_bias', …
something would be lost
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tilewright._errors import Error
from tilewright._transformers.files import listed
from tilewright._transformers.loader import Group, Loaded, Types, change, loaded, targets
from tilewright._transformers.published import Published
from tilewright._transformers.rules import Rule, holes, numbered, rules
from tilewright._transformers.text import patterns_of

__all__ = ["Audit", "Finding", "audited", "finding"]

#: The most patterns of ignored tensors that a finding lists.
_LISTED = 3


@dataclass(frozen=True)
class Finding:
    """A change that transformers makes to a checkpoint silently, or with a warning among others."""

    #: ``hole``, ``shape``, ``collision``, ``ignored``, ``rounded``, ``widened``, ``square``, ``random``, ``renamed``, ``reshaped``,
    #: ``absent``, ``base``, ``mapping``, ``tied``, ``index`` or ``operation``.
    kind: str
    #: A sentence: what happens, where.
    message: str
    #: The names that it is about.
    names: tuple[str, ...]
    #: True if values or published names would be lost.
    loses: bool

    def __str__(self) -> str:
        return f"{'lost' if self.loses else 'note'}  {self.kind:<10} {self.message}"


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
            {"kind": one.kind, "loses": one.loses, "message": one.message, "names": list(one.names)} for one in self.findings
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


def finding(kind: str, message: str, names: Iterable[str], *, loses: bool) -> Iterator[Finding]:
    """Gives a finding about names; none without names. The first names replace ``{names}`` in the message."""
    some = tuple(names)
    if some:
        yield Finding(kind, message.replace("{names}", listed(some)), some, loses)


# Loading.


def audited(published: Published) -> Audit:
    """Gives all findings about a checkpoint."""
    found = published.loaded()
    quantised, found = without_quantised(published, found)
    all_findings = [
        *_unfiled(published),
        *quantised,
        *_collisions(found),
        *_holes(found),
        *_shapes(published, found),
        *_squares(published, found),
        *_ignored(published, found),
        *_tied(found),
        *_random(found),
        *_types(published, found),
        *saved(published, found),
    ]
    elements = sum(head.elements for head in published.heads.values())
    return Audit(published.name, published.lib.version, len(published.heads), elements, tuple(all_findings))


def _unfiled(published: Published) -> Iterator[Finding]:
    message = f"the index names {len(published.unfiled)} tensors that no file has: {{names}}"
    yield from finding("index", message, published.unfiled, loses=True)


def _collisions(found: Loaded) -> Iterator[Finding]:
    for group in found.groups:
        if group.converter is None:
            if len(group.names) > 1:
                message = f"{len(group.names)} tensors become {group.target!r}, one is taken: {{names}}"
                yield from finding("collision", message, group.names, loses=True)
            continue
        for names in group.sources.values():
            yield from _same_number(group, names)
        known = group.converter.source_patterns
        more = [name for pattern, names in group.sources.items() if pattern not in known for name in names]
        message = f"{group.target!r} is made of a list, but also exists as a whole: {{names}}; one of them is dropped"
        yield from finding("collision", message, more, loses=True)


def _same_number(group: Group, names: list[str]) -> Iterator[Finding]:
    """A stacked tensor beside single ones, or two lists as one."""
    if len(names) < 2:
        return
    try:
        numbered(names)
    except Error as why:
        message = f"tensors of one list of {group.target!r} cannot be told apart by their numbers: {{names}} ({why})"
        yield from finding("collision", message, names, loses=True)


def _holes(found: Loaded) -> Iterator[Finding]:
    missing: dict[str, list[str]] = defaultdict(list)
    for group in found.groups:
        for pattern, names in group.sources.items() if group.converter is not None else ():
            if len(names) < 2 and pattern not in group.single:
                continue
            try:
                _, numbers = numbered(names, group.single.get(pattern))
            except Error:
                continue
            gone = holes(numbers)
            if gone:
                missing[gone] += names
    for numbers_text, names in missing.items():
        message = f"the numbers [{numbers_text}] are missing, and the others would be counted from 0 again: {{names}}"
        yield from finding("hole", message, names, loses=True)


def _shapes(published: Published, found: Loaded) -> Iterator[Finding]:
    """Parameters that get other dims than they have: the last tensors of a list are missing, or the configuration is another."""
    if published.quantiser is not None:
        return
    meta, wrong = published.meta, {}
    for group in found.groups:
        try:
            made = list(rules(published, [group]))
        except Error:
            continue
        for name, dims in (item for rule in made for item in _made(published, rule)):
            want = tuple(meta[name].shape) if name in meta else dims
            if dims != want:
                wrong[name] = f"{dims} instead of {want}"
    first = next(iter(wrong.values()), "")
    message = (
        f"{len(wrong)} parameters would get other dims than they have, as when the last experts are missing: {{names}}; the first "
        f"would get {first}"
    )
    yield from finding("shape", message, wrong, loses=True)


def _made(published: Published, rule: Rule) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The names and dims of the tensors that a rule makes."""
    for piece in rule.targets:
        whole = published.heads[rule.sources[0].name].shape if piece.dims is None else ()
        yield piece.name, whole or tuple(map(rule.space.extent, piece.dims or ()))


def _squares(published: Published, found: Loaded) -> Iterator[Finding]:
    names = []
    for group in found.groups:
        for operation in group.converter.operations if group.converter is not None else ():
            if type(operation).__name__ == "Transpose" and operation.check_dims:
                for name in group.names:
                    shape = published.heads[name].shape
                    if shape[operation.dim0] == shape[operation.dim1]:
                        names.append(name)
    message = "two dims are equal, so transformers cannot see that it must transpose and does not: {names}"
    yield from finding("square", message, names, loses=True)


def _ignored(published: Published, found: Loaded) -> Iterator[Finding]:
    gone = set(found.ignored)
    patterns = patterns_of(gone, [name for name in published.heads if name not in gone])
    shown = ", ".join(patterns[:_LISTED]) + (" and more" if len(patterns) > _LISTED else "")
    message = f"{published.name} ignores {len(gone)} tensors, and saving would drop them: {shown}"
    yield from finding("ignored", message, found.ignored, loses=True)


def _tied(found: Loaded) -> Iterator[Finding]:
    message = (
        "the configuration ties these tensors to others, and the checkpoint has both: {names}; if their values differ, transformers "
        "keeps both, and a recipe refuses the second"
    )
    yield from finding("tied", message, [second for _, second in found.tied], loses=False)


def _random(found: Loaded) -> Iterator[Finding]:
    message = "the checkpoint has no tensor for these parameters, which would stay random: {names}"
    yield from finding("random", message, found.missing, loses=True)


def _types(published: Published, found: Loaded) -> Iterator[Finding]:
    types = Types(published.lib, published.model)
    changed: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for group in found.groups:
        after = types.of(targets(group)[0])
        for name in group.names:
            before = published.heads[name].dtype
            how = change(before, after)
            if how:
                changed[how, before, after].append(name)
    for (how, before, after), names in changed.items():
        message = f"{len(names)} tensors are {how} from {before} to {after}: {{names}}"
        yield from finding(how, message, names, loses=how == "rounded")


# Saving.

#: Dims by name.
_Extents = Mapping[str, tuple[int, ...]]


def saved(published: Published, found: Loaded) -> Iterator[Finding]:
    """Gives the findings about the names, dims and parameters of what is saved."""
    model, loading = published.model, published.lib.loading
    tied = set(getattr(model, "all_tied_weights_keys", None) or {})
    state = {name: tensor for name, tensor in published.meta.items() if name not in tied}
    with _conversions(model, [copy.deepcopy(one) for one in found.used]) as used:
        patterns = [list(one._original_source_patterns) for one in used]
        try:
            first = _extents(loading.revert_weight_conversion(model, dict(state)))
            changed = [one for one, own in zip(used, patterns) if list(one._original_source_patterns) != own]
            second = _extents(loading.revert_weight_conversion(model, dict(state))) if changed else first
        except Exception as error:  # noqa: BLE001  (any error of the library is the answer)
            yield Finding("operation", f"saving fails: {type(error).__name__}: {error}", (), True)
            return
    names = list(_names(published, found, first))
    yield from names
    if names or first != second:
        message = "saving changes the mapping of the loaded model, so that a second save may differ: {names}"
        yield from finding("mapping", message, sorted({type(one).__name__ for one in changed}), loses=False)
    yield from _again(published, found, first)
    if published.quantiser is None:
        yield from _base(published, first)


@contextlib.contextmanager
def _conversions(model: Any, used: list[Any]) -> Iterator[list[Any]]:
    """Gives the model these conversions for a while."""
    before = getattr(model, "_weight_conversions", None)
    model._weight_conversions = used
    try:
        yield used
    finally:
        if before is None:
            del model._weight_conversions
        else:
            model._weight_conversions = before


def _extents(state: Mapping[str, Any]) -> _Extents:
    return {name: tuple(tensor.shape) for name, tensor in state.items()}


def _names(published: Published, found: Loaded, state: _Extents) -> Iterator[Finding]:
    """Published names that are not written again, and tensors with other dims."""
    excused = {*found.ignored, *found.quantised, *(second for _, second in found.tied)}
    gone = [name for name in published.heads if name not in state and name not in excused]
    new = [name for name in state if name not in published.heads and name not in excused]
    if gone and new:
        message = f"{len(gone)} published names are not written again, {{names}}; {len(new)} others are, such as {new[0]!r}"
        yield from finding("renamed", message, gone, loses=True)
    else:
        yield from finding("absent", f"{len(gone)} tensors are not written again: {{names}}", gone, loses=True)
    same = [name for name in published.heads if name in state and name not in excused]
    other = [name for name in same if state[name] != published.heads[name].shape]
    message = f"{len(other)} tensors are written with other dims than the published ones: {{names}}"
    yield from finding("reshaped", message, other, loses=True)


def _again(published: Published, found: Loaded, state: _Extents) -> Iterator[Finding]:
    """Parameters that get no tensor when what was saved is read again."""
    try:
        again = loaded(published.lib, published.model, state)
    except Exception as error:  # noqa: BLE001
        yield Finding("operation", f"the saved files cannot be read again: {type(error).__name__}: {error}", (), True)
        return
    message = "the saved files have no tensor for these parameters when they are read again: {names}"
    yield from finding("random", message, again.missing, loses=True)


def _base(published: Published, state: _Extents) -> Iterator[Finding]:
    """Parameters of the base class that the checkpoint, or what was saved of it, does not fill."""
    for part in _parts(published.model):
        before, after = (loaded(published.lib, part, names).missing for names in (published.heads, state))
        end = f" ({type(part).__name__}, {len(before or after)} of {len(part.state_dict())} parameters)"
        yield from finding("base", f"the base class would start with random {{names}}{end}", before, loses=False)
        more = [name for name in after if name not in set(before)]
        message = f"from the saved files, the base class would start with random {{names}}{end}"
        yield from finding("base", message, more, loses=True)


def _parts(model: Any) -> Iterator[Any]:
    """The model without its head: the module of the base prefix, or the only one that is a model by itself."""
    base = getattr(model, model.base_model_prefix, None) if model.base_model_prefix else None
    if base is not None and base is not model and hasattr(base, "base_model_prefix"):
        yield base
        return
    models = [child for child in model.children() if hasattr(child, "base_model_prefix")]
    if len(models) == 1:
        yield models[0]


# Quantised checkpoints. A quantiser stores a parameter `q_proj.weight` as several tensors: `q_proj.weight_scale_inv` beside it, or
# `q_proj.qweight` and `q_proj.scales` instead of it. It decides about these tensors, and an audit does not judge them.


def without_quantised(published: Published, found: Loaded) -> tuple[list[Finding], Loaded]:
    """Gives a note about the tensors that the quantiser reads, and what becomes of the other names."""
    if published.quantiser is None:
        return [], found
    meta = published.meta
    taken = {name: group.target for group in found.groups for name in group.names}
    owners: set[str] = set()
    parts = []
    for name, target in found.ignored.items():
        own = {*_owners(target, meta), *(taken[one] for one in _owners(name, taken))}
        owners |= own
        parts += [name] if own else []
    message = f"the quantiser `{published.quantiser}` reads {len(parts)} tensors, which are not judged: {{names}}"
    whole = [name for name, target in taken.items() if target in owners]
    gone = set(parts)
    rest = dataclasses.replace(
        found,
        ignored={name: target for name, target in found.ignored.items() if name not in gone},
        missing=[name for name in found.missing if name not in owners],
        quantised=[*parts, *whole, *owners],
    )
    return list(finding("operation", message, parts, loses=False)), rest


def _owners(name: str, parameters: Container[str]) -> Iterator[str]:
    """The parameters that a tensor of a quantiser belongs to: its name starts with theirs, or it is in the same module."""
    for at, sign in enumerate(name):
        if sign in "._" and name[:at] in parameters:
            yield name[:at]
    weight = f"{name.rpartition('.')[0]}.weight"
    if weight in parameters:
        yield weight
