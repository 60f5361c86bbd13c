"""Many changes of names as few rules: a rule for the rest changes the prefix of all names below it.

Names are a tree by their parts. A node whose names change in one way becomes one rule ``old.{r:*}`` -> ``new.{r:*}``. Names below
it that change in another way get rules of their own, which come first. The number of rules is the smallest such.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["Leaf", "Names", "few"]

#: The name of the field for the remaining parts of a name.
REST = "{r:*}"


@dataclass(frozen=True)
class Leaf:
    """A name with fields such as ``{L}``, and its new name; None if operations or the class decide about it."""

    old: str
    new: str | None

    @property
    def stays(self) -> bool:
        """True if the name does not change."""
        return self.old == self.new


@dataclass
class Names:
    """Rules of names."""

    #: Rules that take what no other takes.
    rest: list[tuple[str, str]] = field(default_factory=list)
    #: Rules of single names.
    single: list[tuple[str, str]] = field(default_factory=list)
    #: Names that stay.
    stay: list[str] = field(default_factory=list)

    @property
    def cost(self) -> float:
        """The number of rules; names that stay are cheaper."""
        return len(self.rest) + len(self.single) + len(self.stay) / 64

    def plus(self, other: Names) -> Names:
        """Both together."""
        return Names(self.rest + other.rest, self.single + other.single, self.stay + other.stay)


@dataclass
class _Node:
    path: str = ""
    children: dict[str, _Node] = field(default_factory=dict)
    leaves: list[Leaf] = field(default_factory=list)

    def all(self) -> list[Leaf]:
        """The names at and below the node."""
        return self.leaves + [leaf for child in self.children.values() for leaf in child.all()]


def few(leaves: Iterable[Leaf]) -> Names:
    """Returns as few rules as possible that change all names as requested."""
    root = _Node()
    for leaf in leaves:
        node = root
        for part in leaf.old.split("."):
            path = f"{node.path}.{part}" if node.path else part
            node = node.children.setdefault(part, _Node(path))
        node.leaves.append(leaf)
    return _best(root)


def _best(node: _Node) -> Names:
    """The fewest rules for the names at and below a node."""
    below = _singles(node.leaves)
    for child in node.children.values():
        below = below.plus(_best(child))
    if len(node.children) + len(node.leaves) < 2 and node.path:
        return below
    options = [below]
    leaves = node.all()
    for prefix in sorted({new for leaf in leaves if (new := _moved(node.path, leaf)) is not None}):
        others = [leaf for leaf in leaves if _moved(node.path, leaf) != prefix]
        rule = (_below(node.path), _below(prefix))
        if rule[0] != rule[1]:
            options.append(Names([rule]).plus(_singles(others)))
    return min(options, key=lambda names: names.cost)


def _singles(leaves: Iterable[Leaf]) -> Names:
    names = Names()
    for leaf in leaves:
        if leaf.stays:
            names.stay.append(leaf.old)
        elif leaf.new is not None:
            names.single.append((leaf.old, leaf.new))
    return names


def _below(path: str) -> str:
    return f"{path}.{REST}" if path else REST


def _moved(path: str, leaf: Leaf) -> str | None:
    """The new path of a node, if the rest of the name stays below it; None if it does not, or nothing would be left."""
    rest = leaf.old[len(path) + 1 :] if path else leaf.old
    if leaf.new is None or not rest or not _same_fields(path, leaf):
        return None
    if leaf.new == rest:
        return ""
    return leaf.new[: -len(rest) - 1] if leaf.new.endswith(f".{rest}") else None


def _same_fields(path: str, leaf: Leaf) -> bool:
    """True if both prefixes have the same fields."""
    rest = leaf.old[len(path) + 1 :] if path else leaf.old
    if leaf.new is None or not leaf.new.endswith(rest):
        return False
    new = leaf.new[: len(leaf.new) - len(rest)]
    return sorted(_fields(path)) == sorted(_fields(new))


def _fields(text: str) -> list[str]:
    return [part.split("}")[0] for part in text.split("{")[1:]]
