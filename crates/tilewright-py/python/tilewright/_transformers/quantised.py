"""Tensors of a quantised checkpoint that only transformers' quantiser can read.

A quantiser stores a parameter ``q_proj.weight`` as several tensors: ``q_proj.weight_scale_inv`` beside it, or
``q_proj.qweight`` and ``q_proj.scales`` instead of it. It decides about these tensors, and an audit does not judge them.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace

from tilewright._transformers.findings import Finding, finding
from tilewright._transformers.loader import Loaded
from tilewright._transformers.published import Published

__all__ = ["without_quantised"]


def without_quantised(published: Published, found: Loaded) -> tuple[list[Finding], Loaded]:
    """Gives a note about the tensors that the quantiser reads, and what becomes of the other names."""
    if published.quantiser is None:
        return [], found
    meta = published.model.state_dict()
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
    rest = replace(
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
