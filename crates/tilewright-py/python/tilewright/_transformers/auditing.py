"""What transformers does to a checkpoint when it loads it, found from names, shapes and element types alone.

What it does when it saves the model again is in :mod:`tilewright._transformers.saving`.

>>> print(audited(published_of(library(), "MiniMax-M2/", "MiniMax-M2/")))  # doctest: +SKIP
MiniMaxM2ForCausalLM, transformers 5.24.0: 47864 tensors, 228703644928 elements
lost  rounded    62 tensors are rounded from F32 to BF16: 'model.layers.0.block_sparse_moe.e_score_correction_bias', …
something would be lost
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator

from tilewright._errors import Error
from tilewright._transformers.findings import Audit, Finding, finding
from tilewright._transformers.loader import Group, Loaded, targets
from tilewright._transformers.published import Published
from tilewright._transformers.quantised import without_quantised
from tilewright._transformers.rules import Rule, holes, numbered, rules
from tilewright._transformers.saving import saved
from tilewright._transformers.text import patterns_of
from tilewright._transformers.types import Types, change

__all__ = ["audited"]

#: The most patterns of ignored tensors that a finding lists.
_LISTED = 3


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
    except Error:
        message = f"tensors of one list of {group.target!r} have no number that distinguishes them: {{names}}"
        yield from finding("collision", message, names, loses=True)


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
    for numbers_text, names in missing.items():
        message = f"the numbers {numbers_text} are missing, and the others would be counted from 0 again: {{names}}"
        yield from finding("hole", message, names, loses=True)


def _shapes(published: Published, found: Loaded) -> Iterator[Finding]:
    """Parameters that get other dims than they have: the last tensors of a list are missing, or the configuration is another."""
    if published.quantiser is not None:
        return
    meta, wrong = published.model.state_dict(), {}
    for group in found.groups:
        try:
            made = list(rules(published.lib, published.model, published.heads, dataclasses.replace(found, groups=[group])))
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
    listed = ", ".join(patterns[:_LISTED]) + (" and more" if len(patterns) > _LISTED else "")
    message = f"{published.name} ignores {len(gone)} tensors, and saving would drop them: {listed}"
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
