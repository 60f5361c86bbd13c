"""Tensors of a quantised checkpoint that only transformers' quantiser can read.

A quantiser stores a parameter ``q_proj.weight`` as several tensors: ``q_proj.weight_scale_inv`` beside it, or
``q_proj.qweight`` and ``q_proj.scales`` instead of it. It decides about these tensors, and an audit does not judge them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tilewright._transformers.findings import Finding, finding
from tilewright._transformers.loader import Loaded
from tilewright._transformers.published import Published

__all__ = ["without_quantised"]


def without_quantised(published: Published, found: Loaded) -> tuple[list[Finding], Loaded]:
    """Gives a note about the tensors that the quantiser reads, and what becomes of the other names."""
    if published.quantiser is None:
        return [], found
    parts = {name: target for name, target in found.ignored.items() if _is_part(published, target)}
    owners = {owner for target in parts.values() for owner in _owners(published, target)}
    message = f"the quantiser `{published.quantiser}` reads {len(parts)} tensors, which are not judged: {{names}}"
    whole = [name for group in found.groups if group.target in owners for name in group.names]
    rest = replace(
        found,
        ignored={name: target for name, target in found.ignored.items() if name not in parts},
        missing=[name for name in found.missing if name not in owners],
        quantised=[*parts, *whole, *owners],
    )
    return list(finding("operation", message, parts, loses=False)), rest


def _is_part(published: Published, target: str) -> bool:
    return next(_owners(published, target), None) is not None


def _owners(published: Published, target: str) -> Iterator[str]:
    """The parameters that a tensor of a quantiser belongs to: its name starts with theirs, or it is in the same module."""
    meta = published.model.state_dict()
    for at, sign in enumerate(target):
        if sign in "._" and target[:at] in meta:
            yield target[:at]
    module = target.rpartition(".")[0]
    if f"{module}.weight" in meta:
        yield f"{module}.weight"
