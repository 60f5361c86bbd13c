"""Dimensions as expressions of axes, refined everywhere at once.

An operation on tensors becomes one on expressions: a cut refines an axis to a sum, digits refine it to a product, and two
dimensions that must agree become the same axis. At the end both sides of a rule are written in the same axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from tilewright._errors import UnsupportedError

__all__ = ["Axis", "Expr", "Pieces", "Product", "Space", "Sum"]


@dataclass(frozen=True)
class Axis:
    """An axis by its number in the space."""

    number: int


@dataclass(frozen=True)
class Product:
    """Digits, the outermost first."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True)
class Sum:
    """Parts, one after the other."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True)
class Pieces:
    """Pieces of unequal extents: ``(s n)``, where the size of ``n`` differs with the number ``s``."""

    number: Axis
    axis: Axis


Expr = Axis | Product | Sum | Pieces


@dataclass
class Space:
    """The axes of one rule."""

    sizes: list[int] = field(default_factory=list)
    #: What an axis was refined to.
    refined: dict[Axis, Expr] = field(default_factory=dict)
    #: Another axis of the same size, from which the name comes: it gets a prime.
    like: dict[Axis, Axis] = field(default_factory=dict)
    #: Sizes that do not follow from the shapes: a number, or an expression of the configuration.
    given: dict[Axis, int | str] = field(default_factory=dict)
    #: Axes of parts that the result does not get.
    dropped: list[Axis] = field(default_factory=list)
    #: The extents of unequal pieces.
    pieces: dict[Axis, list[int]] = field(default_factory=dict)

    def new(self, size: int, like: Axis | None = None) -> Axis:
        """Makes an axis."""
        axis = Axis(len(self.sizes))
        self.sizes.append(size)
        if like is not None:
            self.like[axis] = like
        return axis

    def root(self, axis: Axis) -> Axis:
        """The axis that an axis has its name from."""
        while axis in self.like:
            axis = self.like[axis]
        return axis

    def walk(self, expr: Expr) -> Expr:
        """Writes an expression in axes that are not refined, without brackets in brackets of the same kind."""
        if isinstance(expr, Axis):
            return self.walk(self.refined[expr]) if expr in self.refined else expr
        if isinstance(expr, Pieces):
            return expr
        kind = type(expr)
        parts: list[Expr] = []
        for part in map(self.walk, expr.parts):
            parts.extend(part.parts if isinstance(part, kind) else [part])
        return parts[0] if len(parts) == 1 else kind(tuple(parts))

    def extent(self, expr: Expr) -> int:
        """The extent of an expression."""
        expr = self.walk(expr)
        if isinstance(expr, Axis):
            return self.sizes[expr.number]
        if isinstance(expr, Pieces):
            return sum(self.pieces[expr.axis])
        return (math.prod if isinstance(expr, Product) else sum)(map(self.extent, expr.parts))

    def refine(self, expr: Expr, to: Expr) -> None:
        """Replaces an axis everywhere."""
        axis = self.walk(expr)
        if not isinstance(axis, Axis):
            raise UnsupportedError("a dimension that is made of parts is cut again")
        self.refined[axis] = to

    def state(self, parts: Sequence[Expr]) -> None:
        """States the sizes of unequal parts, which do not follow from their sum."""
        if len({self.extent(part) for part in parts}) > 1:
            for axis in map(self.walk, parts):
                if isinstance(axis, Axis):
                    self.given.setdefault(axis, self.extent(axis))

    def unify(self, one: Expr, other: Expr) -> None:
        """Makes two dimensions the same."""
        one, other = self.walk(one), self.walk(other)
        if one == other:
            return
        for axis, to in ((one, other), (other, one)):
            if isinstance(axis, Axis) and self.extent(axis) == self.extent(to):
                self.refine(axis, to)
                return
        raise UnsupportedError(f"dimensions of {self.extent(one)} and {self.extent(other)} that must agree")

    def split(self, expr: Expr, sizes: Sequence[int]) -> list[Expr]:
        """Cuts a dimension into consecutive parts."""
        expr = self.walk(expr)
        if isinstance(expr, Sum):
            return self._split_sum(expr, sizes)
        if isinstance(expr, Product):
            inner = math.prod(map(self.extent, expr.parts[1:]))
            if any(size % inner for size in sizes):
                raise UnsupportedError("a cut inside of a digit")
            outer = self.split(expr.parts[0], [size // inner for size in sizes])
            return [Product((part, *expr.parts[1:])) for part in outer]
        if sum(sizes) != self.extent(expr):
            raise UnsupportedError(f"parts of {sizes} of a dimension of {self.extent(expr)}")
        first = self.new(sizes[0])
        parts: list[Expr] = [first]
        parts.extend(self.new(size, first if size == sizes[0] else None) for size in sizes[1:])
        self.state(parts)
        self.refine(expr, Sum(tuple(parts)))
        return parts

    def _split_sum(self, expr: Sum, sizes: Sequence[int]) -> list[Expr]:
        parts: list[Expr] = []
        rest = list(expr.parts)
        for size in sizes:
            take: list[Expr] = []
            while rest and sum(map(self.extent, take)) < size:
                take.append(rest.pop(0))
            if sum(map(self.extent, take)) != size or not take:
                raise UnsupportedError("a cut inside of a part")
            parts.append(Sum(tuple(take)) if len(take) > 1 else take[0])
        return parts

    def digits(self, expr: Expr, sizes: Sequence[int]) -> list[Expr]:
        """Reads a dimension as digits, the outermost first."""
        expr = self.walk(expr)
        if isinstance(expr, Product):
            long = [part for part in expr.parts if self.extent(part) > 1]
            if [self.extent(part) for part in long] == list(sizes):
                return long
            expr = long[0] if len(long) == 1 else expr
        if not isinstance(expr, Axis) or math.prod(sizes) != self.extent(expr):
            raise UnsupportedError(f"digits of {list(sizes)} of a dimension of {self.extent(expr)}")
        parts: list[Expr] = [self.new(size) for size in sizes]
        self.refine(expr, Product(tuple(parts)))
        return parts
