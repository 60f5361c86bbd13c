"""An audit and its findings: what transformers would lose of a checkpoint, or write differently.

>>> next(finding("random", "nothing fills {names}", ["a", "b"], loses=True))
Finding(kind='random', message="nothing fills 'a', 'b'", names=('a', 'b'), loses=True)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Audit", "Finding", "finding", "listed"]

#: The most names that a finding lists in its sentence.
_NAMED = 3


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


def listed(names: tuple[str, ...]) -> str:
    """Gives the first names as text, and the number of the others."""
    more = len(names) - _NAMED
    return ", ".join(map(repr, names[:_NAMED])) + (f" and {more} more" if more > 0 else "")
