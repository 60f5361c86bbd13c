"""The algebra of layouts, by CuTe's names. ``A @ B`` is composition, too.

A layout is given as a ``Layout``, as CuTe's text, or as a SPEC in any notation; a shape, tiler or coordinate as nested
tuples, in which ``None`` is CuTe's ``_``. A tuple in place of a layout is the compact layout of that shape, its first
mode fastest. Extents count coordinates, strides and offsets elements.

What does not exist raises an ``Error``: ``NoLayoutError`` where no layout is the result, ``MismatchError`` for sizes
that do not divide, ``UndecidedError`` where a question takes too long to decide. Never a wrong layout.
"""

# Made by `cargo xtask algebra` from the table of functions in `crates/tilewright/src/eval/functions`.
# Names that Python uses otherwise are not in `__all__`.
from __future__ import annotations

from typing import Any, TypeAlias

from tilewright._tilewright import Layout, Swizzle, TensorLayout, Value, operation

Shape: TypeAlias = "int | tuple[Any, ...] | list[Any]"
Coord: TypeAlias = "int | tuple[Any, ...] | list[Any]"
Slicer: TypeAlias = "int | None | tuple[Any, ...] | list[Any]"
LayoutLike: TypeAlias = "Layout | TensorLayout | str | int | tuple[Any, ...] | list[Any]"
TilerLike: TypeAlias = "LayoutLike | Value"
LinearLike: TypeAlias = "Value | str"
Dims: TypeAlias = "Value | str"

def _call(name: str, *arguments: Any) -> Any:
    """The operation, without the arguments left out at the end."""
    given = list(arguments)
    while given and given[-1] is None:
        given.pop()
    return operation(name, *given)


__all__ = [
    "append",
    "append_to",
    "apply",
    "back",
    "blocked_product",
    "ceil_div",
    "coalesce",
    "coalesce_x",
    "colex_geq",
    "colex_gtr",
    "colex_leq",
    "colex_less",
    "compact_col_major",
    "compact_order",
    "compact_row_major",
    "compatible",
    "complement",
    "compose",
    "composition",
    "concat_ins",
    "concat_outs",
    "congruent",
    "consecutive",
    "coprofile",
    "coshape",
    "cosize",
    "crd2crd",
    "crd2idx",
    "crd2offset",
    "depth",
    "dice",
    "divide_left",
    "divide_right",
    "domain_distribute",
    "domain_offset",
    "downcast",
    "elem_geq",
    "elem_gtr",
    "elem_leq",
    "elem_less",
    "elem_scale",
    "evenly_divides",
    "filter_zeros",
    "flat_divide",
    "flat_product",
    "flatten",
    "flatten_ins",
    "flatten_outs",
    "flatten_to_tuple",
    "free_bits",
    "front",
    "gcd",
    "get",
    "get_1d_coord",
    "get_flat_coord",
    "get_hier_coord",
    "group",
    "identity",
    "idx2crd",
    "injective",
    "inner_product",
    "insert",
    "inverse",
    "invert_and_compose",
    "invertible",
    "is_trivial_over",
    "layout",
    "lcm",
    "left_inverse",
    "lex_geq",
    "lex_gtr",
    "lex_leq",
    "lex_less",
    "linear",
    "local_partition",
    "local_tile",
    "logical_divide",
    "logical_product",
    "lstsq",
    "make_basis_like",
    "make_identity_layout",
    "make_layout",
    "make_layout_like",
    "make_layout_tv",
    "make_ordered_layout",
    "max_alignment",
    "max_common_layout",
    "max_common_vector",
    "nullspace",
    "offsets",
    "prepend",
    "prepend_to",
    "product",
    "product_each",
    "product_like",
    "pseudo_inverse",
    "quotient",
    "raked_product",
    "rank",
    "recast",
    "remove",
    "remove_zeros",
    "rename_ins",
    "rename_outs",
    "repeat",
    "repeat_like",
    "replace",
    "reshape_ins",
    "reshape_outs",
    "resize_in",
    "reverse",
    "right_inverse",
    "round_up",
    "select",
    "shape",
    "shape_div",
    "size",
    "slice_and_offset",
    "span",
    "stride",
    "strided",
    "sublayout",
    "surjective",
    "swizzle",
    "swizzle_between",
    "swizzled_layout",
    "take",
    "tile",
    "tile_to_shape",
    "tiled_divide",
    "tiled_product",
    "transpose_ins",
    "transpose_outs",
    "unflatten",
    "unwrap",
    "upcast",
    "weakly_congruent",
    "with_shape",
    "wrap",
    "zeros",
    "zipped_divide",
    "zipped_product",
]


def size(x: Any, /, *path: int) -> int:
    """The number of coordinates, or of the part at a path of positions, if one is given.

    >>> size("((4,2),3):((1,12),4)")
    24
    """
    result: int = operation("size", x, *path)
    return result


def rank(x: Any, /, *path: int) -> int:
    """The number of top-level positions; 1 for an integer.

    >>> rank("((4,2),3):((1,12),4)")
    2
    """
    result: int = operation("rank", x, *path)
    return result


def depth(x: Any, /, *path: int) -> int:
    """The depth of nested brackets; 0 for an integer.

    >>> depth("((4,2),3):((1,12),4)")
    2
    """
    result: int = operation("depth", x, *path)
    return result


def shape(x: Any, /, *path: int) -> Shape:
    """The extents, bracketed as the layout is; a tuple is its own shape.

    >>> shape("((4,2),3):((1,12),4)")
    ((4, 2), 3)
    """
    result: Shape = operation("shape", x, *path)
    return result


def stride(x: Any, /, *path: int) -> Shape:
    """The strides in elements, bracketed as the layout is; for a tuple, those of its compact layout.

    >>> stride("((4,2),3):((1,12),4)")
    ((1, 12), 4)
    """
    result: Shape = operation("stride", x, *path)
    return result


def cosize(layout: LayoutLike, /, *path: int) -> int:
    """1 + the largest offset reached, by the part at a path where one is given; 0 of an empty layout.

    >>> cosize("(4,8):(16,1)")
    56
    """
    result: int = operation("cosize", layout, *path)
    return result


def coshape(layout: LayoutLike | Value, /) -> Shape:
    """The shape of the smallest box of the values: of a layout its cosize.

    >>> coshape("make_identity_layout((2,3))")
    (2, 3)
    """
    result: Shape = operation("coshape", layout)
    return result


def coprofile(layout: LayoutLike | Value, /) -> Shape:
    """The brackets of the values, with 0 for each integer: of a layout 0.

    >>> coprofile("make_identity_layout((2,3))")
    (0, 0)
    """
    result: Shape = operation("coprofile", layout)
    return result


def span(layout: LayoutLike, /) -> int:
    """The largest offset less the smallest, plus 1.

    >>> span("(3,2):(-1,3)")
    6
    """
    result: int = operation("span", layout)
    return result


def injective(layout: LayoutLike, /) -> bool:
    """Returns whether no two coordinates share an offset.

    >>> injective("(4,8):(16,1)")
    True
    """
    result: bool = operation("injective", layout)
    return result


def offsets(layout: LayoutLike, /) -> list[int]:
    """A list of the offsets of all coordinates, in colexicographic order.

    >>> offsets("(2,3):(3,1)")
    [0, 3, 1, 4, 2, 5]
    """
    result: list[int] = operation("offsets", layout)
    return result


def swizzle(swizzle: Swizzle | str, n: int, /) -> list[int]:
    """A list of the images of 0 … n - 1 under a swizzle.

    >>> swizzle("Sw<1,0,1>", 4)
    [0, 1, 3, 2]
    """
    result: list[int] = operation("swizzle", swizzle, n)
    return result


def get(x: Any, /, *path: int) -> Any:
    """The part at a path of positions: a layout of a layout, a tuple or integer of a tuple.

    >>> get("((4,2),3):((1,12),4)", 0, 1)
    Layout('2:12')
    """
    return operation("get", x, *path)


def flatten(x: LayoutLike, /) -> Any:
    """All modes side by side, without their brackets; for a tuple, its integers.

    >>> flatten("((4,2),3):((1,12),4)")
    Layout('(4,2,3):(1,12,4)')
    """
    return operation("flatten", x)


def select(x: LayoutLike, /, *axes: int) -> Any:
    """The axes named, in that order; for a tuple, a tuple.

    >>> select("(2,3,4):(12,4,1)", 2, 0)
    Layout('(4,2):(1,12)')
    """
    return operation("select", x, *axes)


def take(x: LayoutLike, start: int, stop: int, /) -> Any:
    """The axes from … to - 1; for a tuple, a tuple.

    >>> take("(2,3,4):(12,4,1)", 1, 3)
    Layout('(3,4):(4,1)')
    """
    return operation("take", x, start, stop)


def group(x: LayoutLike, start: int, stop: int, /) -> Any:
    """The axes from … to - 1 as one axis; for a tuple, a tuple.

    >>> group("(2,3,4):(12,4,1)", 0, 2)
    Layout('((2,3),4):((12,4),1)')
    """
    return operation("group", x, start, stop)


def append(a: LayoutLike, b: LayoutLike, /) -> Any:
    """A with B appended as one more axis; for tuples, a tuple.

    >>> append("2:1", "3:4")
    Layout('(2,3):(1,4)')
    """
    return operation("append", a, b)


def prepend(a: LayoutLike, b: LayoutLike, /) -> Any:
    """A with B prepended as one more axis; for tuples, a tuple.

    >>> prepend("2:1", "3:4")
    Layout('(3,2):(4,1)')
    """
    return operation("prepend", a, b)


def append_to(a: LayoutLike, n: int, b: LayoutLike | None = None, /) -> Any:
    """A with B (1:0 unless given) appended until there are n axes; for tuples, a tuple.

    >>> append_to("(2,3):(3,1)", 4)
    Layout('(2,3,1,1):(3,1,0,0)')
    """
    return _call("append_to", a, n, b)


def prepend_to(a: LayoutLike, n: int, b: LayoutLike | None = None, /) -> Any:
    """A with B (1:0 unless given) prepended until there are n axes; for tuples, a tuple.

    >>> prepend_to("(2,3):(3,1)", 4)
    Layout('(1,1,2,3):(0,0,3,1)')
    """
    return _call("prepend_to", a, n, b)


def replace(a: LayoutLike, axis: int, b: LayoutLike, /) -> Any:
    """A with B in place of axis i; for tuples, a tuple.

    >>> replace("(2,3,4):(12,4,1)", 1, "5:1")
    Layout('(2,5,4):(12,1,1)')
    """
    return operation("replace", a, axis, b)


def insert(t: Shape, i: int, x: Shape, /) -> Any:
    """The tuple with x before its part i.

    >>> insert((2, (3, 4)), 1, 7)
    (2, 7, (3, 4))
    """
    return operation("insert", t, i, x)


def remove(t: Shape, i: int, /) -> Any:
    """The tuple without its part i.

    >>> remove((2, (3, 4)), 1)
    (2,)
    """
    return operation("remove", t, i)


def unflatten(x: LayoutLike, profile: Shape, /) -> Any:
    """The modes of a layout, or the parts of a tuple, in the brackets of the profile.

    >>> unflatten("(2,3,4):(12,4,1)", (1, (1, 1)))
    Layout('(2,(3,4)):(12,(4,1))')
    """
    return operation("unflatten", x, profile)


def make_layout(*parts: LayoutLike | Shape) -> Layout:
    """The layout of a shape, compact if no strides are given; or several layouts side by side, one axis for each.

    >>> make_layout((4, 2), (1, 4))
    Layout('(4,2):(1,4)')
    """
    result: Layout = operation("make_layout", *parts)
    return result


def coalesce(layout: LayoutLike, profile: Shape | None = None, /) -> Layout:
    """Merges modes into as few as possible with the same function; with a profile, within each of its parts.

    >>> coalesce("(2,(1,6)):(1,(6,2))")
    Layout('12:1')
    """
    result: Layout = _call("coalesce", layout, profile)
    return result


def coalesce_x(layout: LayoutLike, /) -> Layout:
    """Coalesces, and keeps the offsets beyond the end, where the last mode continues.

    >>> coalesce_x("(2,4):(1,2)")
    Layout('8:1')
    """
    result: Layout = operation("coalesce_x", layout)
    return result


def filter(layout: LayoutLike, profile: Shape | None = None, /) -> Layout:
    """Modes of stride 0 dropped, then coalesced: the same offsets, fewer coordinates; with a profile, within each of its parts.

    >>> filter("(4,3):(0,1)")
    Layout('3:1')
    """
    result: Layout = _call("filter", layout, profile)
    return result


def filter_zeros(layout: LayoutLike, /) -> Layout:
    """Sets the extent of each mode of stride 0 to 1.

    >>> filter_zeros("(4,3):(0,1)")
    Layout('(1,3):(0,1)')
    """
    result: Layout = operation("filter_zeros", layout)
    return result


def composition(a: LayoutLike, b: TilerLike, /) -> Layout:
    """R(c) = A(B(c)), bracketed as B; with a tiler, axis by axis. Also written A o B.

    >>> composition("(6,2):(8,2)", "(4,3):(3,1)")
    Layout('((2,2),3):((24,2),8)')
    """
    result: Layout = operation("composition", a, b)
    return result


def complement(layout: LayoutLike, n: int | None = None, /) -> Layout:
    """The layout that fills what L leaves free below n (its cosize), in order.

    >>> complement("4:2", 24)
    Layout('(2,3):(1,8)')
    """
    result: Layout = _call("complement", layout, n)
    return result


def right_inverse(layout: LayoutLike, /) -> Layout:
    """The longest R with L(R(i)) = i, from offset 0 on.

    >>> right_inverse("(4,8):(8,1)")
    Layout('(8,4):(4,1)')
    """
    result: Layout = operation("right_inverse", layout)
    return result


def left_inverse(layout: LayoutLike, /) -> Layout:
    """R with R(L(i)) = i, except that coordinates of modes of stride 0 become 0; other modes of L may not collide. A hole is not an index.

    >>> left_inverse("(4,8):(8,1)")
    Layout('(8,4):(4,1)')
    """
    result: Layout = operation("left_inverse", layout)
    return result


def nullspace(layout: LayoutLike, /) -> Layout:
    """The layout of the coordinates that modes of stride 0 send to one offset.

    >>> nullspace("(4,3):(0,1)")
    Layout('4:1')
    """
    result: Layout = operation("nullspace", layout)
    return result


def domain_distribute(shape: Any, n: Shape, /) -> Layout:
    """A layout of coordinates of the shape: of n of them if the divisors of its extents and n allow it.

    >>> domain_distribute((15, 14), 6)
    Layout('(3,2):(1,15)')
    """
    result: Layout = operation("domain_distribute", shape, n)
    return result


def max_common_layout(a: LayoutLike, b: LayoutLike, /) -> Layout:
    """The longest C with A(C(i)) = i = B(C(i)).

    >>> max_common_layout("(4,8):(1,4)", "(4,8):(1,8)")
    Layout('4:1')
    """
    result: Layout = operation("max_common_layout", a, b)
    return result


def max_common_vector(a: LayoutLike, b: LayoutLike, /) -> int:
    """The size of max_common_layout(A, B): how many elements move at once.

    >>> max_common_vector("(4,8):(1,4)", "(4,8):(1,8)")
    4
    """
    result: int = operation("max_common_vector", a, b)
    return result


def max_alignment(layout: LayoutLike, /) -> int:
    """The length of the aligned runs of elements that L consists of; of a swizzle, that of the runs that it keeps.

    >>> max_alignment("(8,4):(1,12)")
    4
    """
    result: int = operation("max_alignment", layout)
    return result


def logical_divide(a: LayoutLike, b: TilerLike, /) -> Layout:
    """A by tiles B: (tile, rest); with a tiler, in each axis.

    >>> logical_divide("(6,8):(8,1)", (3, 4))
    Layout('((3,2),(4,2)):((8,24),(1,4))')
    """
    result: Layout = operation("logical_divide", a, b)
    return result


def zipped_divide(a: LayoutLike, b: TilerLike, /) -> Layout:
    """((tile of each axis), (rest of each axis)).

    >>> zipped_divide("(6,8):(8,1)", "<3,4>")
    Layout('((3,4),(2,2)):((8,1),(24,4))')
    """
    result: Layout = operation("zipped_divide", a, b)
    return result


def tiled_divide(a: LayoutLike, b: TilerLike, /) -> Layout:
    """((tile of each axis), rest, rest, …).

    >>> tiled_divide("(6,8):(8,1)", "<3,4>")
    Layout('((3,4),2,2):((8,1),24,4)')
    """
    result: Layout = operation("tiled_divide", a, b)
    return result


def flat_divide(a: LayoutLike, b: TilerLike, /) -> Layout:
    """(tile, tile, …, rest, rest, …).

    >>> flat_divide("(6,8):(8,1)", "<3,4>")
    Layout('(3,4,2,2):(8,1,24,4)')
    """
    result: Layout = operation("flat_divide", a, b)
    return result


def local_tile(layout: LayoutLike, tiler: TilerLike, coord: Slicer, step: Slicer | None = None, /) -> Layout:
    """The tile at a coordinate of the rest of zipped_divide(L, tiler): layout+offset; parts of the rest at `_` stay. A step leaves out the parts of tiler and coordinate where it has `_`.

    >>> local_tile("(8,8):(8,1)", "<2,4>", (1, 1))
    Layout('(2,4):(8,1)+20')
    """
    result: Layout = _call("local_tile", layout, tiler, coord, step)
    return result


def local_partition(layout: LayoutLike, threads: LayoutLike, index: int, /) -> Layout:
    """The elements of each tile of T's shape at T's coordinate with offset i: layout+offset.

    >>> local_partition("(8,8):(8,1)", "(2,4):(4,1)", 3)
    Layout('(4,2):(16,4)+3')
    """
    result: Layout = operation("local_partition", layout, threads, index)
    return result


def logical_product(a: LayoutLike, b: TilerLike, /) -> Layout:
    """A repeated as B specifies: (A, repetition); with a tiler, in each axis.

    >>> logical_product("(2,2):(1,2)", "(3,2):(1,3)")
    Layout('((2,2),(3,2)):((1,2),(4,12))')
    """
    result: Layout = operation("logical_product", a, b)
    return result


def zipped_product(a: LayoutLike, b: TilerLike, /) -> Layout:
    """((axes of A), (axes of the repetition)).

    >>> zipped_product("(4,8):(1,4)", (2, 3))
    Layout('((4,8),(2,3)):((1,4),(4,1))')
    """
    result: Layout = operation("zipped_product", a, b)
    return result


def tiled_product(a: LayoutLike, b: TilerLike, /) -> Layout:
    """(A, axis of the repetition, axis, …).

    >>> tiled_product("(4,8):(1,4)", (2, 3))
    Layout('((4,8),2,3):((1,4),4,1)')
    """
    result: Layout = operation("tiled_product", a, b)
    return result


def flat_product(a: LayoutLike, b: TilerLike, /) -> Layout:
    """(axis of A, axis, …, axis of the repetition, axis, …).

    >>> flat_product("(4,8):(1,4)", (2, 3))
    Layout('(4,8,2,3):(1,4,4,1)')
    """
    result: Layout = operation("flat_product", a, b)
    return result


def blocked_product(a: LayoutLike, b: LayoutLike, /) -> Layout:
    """Axis by axis, with A inside: blocks A arranged as B.

    >>> blocked_product("(2,2):(1,2)", (3, 2))
    Layout('((2,3),(2,2)):((1,4),(2,12))')
    """
    result: Layout = operation("blocked_product", a, b)
    return result


def raked_product(a: LayoutLike, b: LayoutLike, /) -> Layout:
    """Axis by axis, with B inside: A's elements are spread, with the repetitions between them.

    >>> raked_product("(2,2):(1,2)", (3, 2))
    Layout('((3,2),(2,2)):((4,1),(12,2))')
    """
    result: Layout = operation("raked_product", a, b)
    return result


def tile_to_shape(layout: LayoutLike, shape: Shape, order: Shape | None = None, /) -> Layout:
    """L repeated to fill a shape, its repetitions ordered as given, smallest first (0, 1, …).

    >>> tile_to_shape("(4,4):(4,1)", (8, 12), (1, 0))
    Layout('((4,2),(4,3)):((4,48),(1,16))')
    """
    result: Layout = _call("tile_to_shape", layout, shape, order)
    return result


def tile(layout: LayoutLike, shape: Shape, /) -> Layout | TensorLayout:
    """The tile of this shape at the origin, with blocks and strides kept (TLA's MakeLayoutTile).

    >>> tile("(8,12):(12,1)", (4, 6))
    Layout('(4,6):(12,1)')
    """
    result: Layout | TensorLayout = operation("tile", layout, shape)
    return result


def make_layout_tv(thr: LayoutLike, val: LayoutLike, /) -> Layout:
    """(thread, value) → cell of the tile, for this arrangement of threads and values; its extents are those of raked_product(thr, val).

    >>> make_layout_tv("(4,8):(8,1)", "(2,2):(2,1)")
    Layout('((8,4),(2,2)):((16,2),(8,1))')
    """
    result: Layout = operation("make_layout_tv", thr, val)
    return result


def make_ordered_layout(shape: Shape, order: Shape, /) -> Layout:
    """The compact layout whose parts vary in the given order, smallest first.

    >>> make_ordered_layout((2, 3, 4), (2, 0, 1))
    Layout('(2,3,4):(12,1,3)')
    """
    result: Layout = operation("make_ordered_layout", shape, order)
    return result


def with_shape(layout: LayoutLike, shape: Shape, /) -> Layout:
    """L with the coordinates of the shape, matched by colexicographic index.

    >>> with_shape("(4,8):(8,1)", (8, 4))
    Layout('((4,2),4):((8,1),2)')
    """
    result: Layout = operation("with_shape", layout, shape)
    return result


def make_layout_like(layout: LayoutLike, /) -> Layout:
    """The compact layout of the same shape, ordered by L's strides; strides of 0 are kept.

    >>> make_layout_like("(4,8):(16,1)")
    Layout('(4,8):(8,1)')
    """
    result: Layout = operation("make_layout_like", layout)
    return result


def make_identity_layout(shape: Shape, /) -> Layout | Value:
    """The map of each coordinate to itself, with basis strides; for an integer n, n:1.

    >>> make_identity_layout((2, 3))
    Value('(2,3):(1@0,1@1)')
    """
    result: Layout | Value = operation("make_identity_layout", shape)
    return result


def make_basis_like(shape: Shape, /) -> Value | Shape:
    """The strides of make_identity_layout(shape).

    >>> make_basis_like((2, (3, 4)))
    Value('(1@0,(1@0@1,1@1@1))')
    """
    result: Value | Shape = operation("make_basis_like", shape)
    return result


def compact_col_major(shape: Shape, current: int | None = None, /) -> Shape:
    """The strides of the compact layout whose first mode varies fastest, from `current` on.

    >>> compact_col_major((2, (3, 4)))
    (1, (2, 6))
    """
    result: Shape = _call("compact_col_major", shape, current)
    return result


def compact_row_major(shape: Shape, current: int | None = None, /) -> Shape:
    """The strides of the compact layout whose last mode varies fastest, from `current` on.

    >>> compact_row_major((2, (3, 4)))
    (12, (4, 1))
    """
    result: Shape = _call("compact_row_major", shape, current)
    return result


def compact_order(shape: Shape, order: Shape, /) -> Shape:
    """The strides of the compact layout whose parts vary in the given order, smallest first.

    >>> compact_order((2, 3, 4), (2, 0, 1))
    (12, 1, 3)
    """
    result: Shape = operation("compact_order", shape, order)
    return result


def crd2idx(coord: Coord, layout: Any, stride: Shape | None = None, /) -> Any:
    """The offset of a coordinate; in a shape, its colexicographic index; under basis strides, a coordinate.

    >>> crd2idx((1, 2), "(4,8):(8,1)")
    10
    """
    return _call("crd2idx", coord, layout, stride)


def idx2crd(index: int, shape: Shape, stride: Shape | None = None, /) -> Any:
    """The coordinate of a colexicographic index; with strides, as get_hier_coord.

    >>> idx2crd(13, (4, 8))
    (1, 3)
    """
    return _call("idx2crd", index, shape, stride)


def get_hier_coord(layout: LayoutLike, offset: int, /) -> Any:
    """The coordinate at an offset of a compact layout, with the brackets of L.

    >>> get_hier_coord("(4,(2,4)):(8,(4,1))", 14)
    (1, (1, 2))
    """
    return operation("get_hier_coord", layout, offset)


def get_flat_coord(layout: LayoutLike, offset: int, /) -> Any:
    """The coordinate at an offset of a compact layout, with an integer for each axis; for one axis, the integer.

    >>> get_flat_coord("(4,(2,4)):(8,(4,1))", 14)
    (1, 5)
    """
    return operation("get_flat_coord", layout, offset)


def get_1d_coord(layout: LayoutLike, offset: int, /) -> int:
    """The colexicographic index of the coordinate at an offset of a compact layout.

    >>> get_1d_coord("(4,(2,4)):(8,(4,1))", 14)
    21
    """
    result: int = operation("get_1d_coord", layout, offset)
    return result


def crd2crd(coord: Coord, from_: Shape, to: Shape, /) -> Any:
    """Converts a coordinate of one shape to the coordinate of another with the same index: part by part for tuples, else as a whole.

    >>> crd2crd((1, 2), (4, 8), (8, 4))
    (1, 2)
    """
    return operation("crd2crd", coord, from_, to)


def crd2offset(coord: Coord, shape: Shape, stride: Shape, /) -> int:
    """The sum of coordinate times stride over the leaves of a shape (TLA's crd2offset).

    >>> crd2offset((1, 2), (4, 8), (8, 1))
    10
    """
    result: int = operation("crd2offset", coord, shape, stride)
    return result


def slice(coord: Slicer, layout: LayoutLike, /) -> Any:
    """The parts of L where the coordinate is `_`, the others fixed at 0; for a tuple, a tuple.

    >>> slice((None, 1), "(4,8):(8,1)")
    Layout('(4):(8)')
    """
    return operation("slice", coord, layout)


def dice(coord: Slicer, layout: TilerLike, /) -> Any:
    """The parts of L where the coordinate is not `_`; for a tuple, a tuple, and for a tiler, a tiler.

    >>> dice((None, 1), "(4,8):(8,1)")
    Layout('(8):(1)')
    """
    return operation("dice", coord, layout)


def slice_and_offset(coord: Slicer, layout: LayoutLike, /) -> Layout:
    """The parts of L at `_`, from the offset of the coordinate on: layout+offset.

    >>> slice_and_offset((2, None), "(4,8):(8,1)")
    Layout('(8):(1)+16')
    """
    result: Layout = operation("slice_and_offset", coord, layout)
    return result


def domain_offset(coord: Coord, layout: LayoutLike, /) -> Layout:
    """The rest of L from a coordinate on.

    >>> domain_offset((1, 1), "(4,8):(8,1)")
    Layout('(3,7):(8,1)+9')
    """
    result: Layout = operation("domain_offset", coord, layout)
    return result


def upcast(layout: LayoutLike, n: int, /) -> Layout:
    """L seen as elements n times as large.

    >>> upcast("(4,8):(8,1)", 2)
    Layout('(4,4):(4,1)')
    """
    result: Layout = operation("upcast", layout, n)
    return result


def downcast(layout: LayoutLike, n: int, /) -> Layout:
    """L seen as elements n times as small.

    >>> downcast("(4,8):(8,1)", 2)
    Layout('(4,16):(16,1)')
    """
    result: Layout = operation("downcast", layout, n)
    return result


def recast(layout: LayoutLike, from_bits: int, to_bits: int, /) -> Layout:
    """L of elements of from_bits seen as elements of to_bits.

    >>> recast("(4,8):(8,1)", 16, 8)
    Layout('(4,16):(16,1)')
    """
    result: Layout = operation("recast", layout, from_bits, to_bits)
    return result


def swizzle_between(a: LayoutLike, b: LayoutLike, /) -> Swizzle:
    """The swizzle that turns the offsets of A into those of B; if there is none, the error names the coordinates and bits that show it.

    >>> swizzle_between("(8,64):(64,1)", "Sw<3,3,3> o (8,64):(64,1)")
    Swizzle(3, 3, 3)
    """
    result: Swizzle = operation("swizzle_between", a, b)
    return result


def congruent(a: Any, b: Any, /) -> bool:
    """Returns whether the brackets are the same.

    >>> congruent((2, (3, 4)), (5, (6, 7)))
    True
    """
    result: bool = operation("congruent", a, b)
    return result


def weakly_congruent(a: Any, b: Any, /) -> bool:
    """Returns whether b has a's brackets, or more inside them.

    >>> weakly_congruent((2, 3), (5, (6, 7)))
    True
    """
    result: bool = operation("weakly_congruent", a, b)
    return result


def compatible(a: Any, b: Any, /) -> bool:
    """Returns whether every coordinate of a is one of b: each integer of a is the size of b's part in its place.

    >>> compatible((2, 12), (2, (3, 4)))
    True
    """
    result: bool = operation("compatible", a, b)
    return result


def evenly_divides(a: Any, b: Shape, /) -> bool:
    """Returns whether tiles b divide shape a evenly: part by part, if b is a tuple.

    >>> evenly_divides((8, 12), (4, 6))
    True
    """
    result: bool = operation("evenly_divides", a, b)
    return result


def shape_div(a: Shape, b: Shape, /) -> Shape:
    """Shape a without its b leftmost coordinates.

    >>> shape_div((12, 6), (4, 3))
    (3, 2)
    """
    result: Shape = operation("shape_div", a, b)
    return result


def ceil_div(a: Shape, b: Shape, /) -> Shape:
    """Shape a by shape b, rounded up, part by part; parts that b lacks stay.

    >>> ceil_div((12, 7), (5, 3))
    (3, 3)
    """
    result: Shape = operation("ceil_div", a, b)
    return result


def elem_less(a: Coord, b: Coord, /) -> bool:
    """Returns whether each integer of a is less than the one of b in its place.

    >>> elem_less((1, 5), (2, 3))
    False
    """
    result: bool = operation("elem_less", a, b)
    return result


def elem_leq(a: Coord, b: Coord, /) -> bool:
    """Not elem_less(b, a).

    >>> elem_leq((1, 5), (2, 3))
    True
    """
    result: bool = operation("elem_leq", a, b)
    return result


def elem_gtr(a: Coord, b: Coord, /) -> bool:
    """elem_less(b, a).

    >>> elem_gtr((1, 5), (2, 3))
    False
    """
    result: bool = operation("elem_gtr", a, b)
    return result


def elem_geq(a: Coord, b: Coord, /) -> bool:
    """Not elem_less(a, b).

    >>> elem_geq((1, 5), (2, 3))
    True
    """
    result: bool = operation("elem_geq", a, b)
    return result


def lex_less(a: Coord, b: Coord, /) -> bool:
    """Returns whether a comes before b if the first part counts most.

    >>> lex_less((1, 5), (2, 3))
    True
    """
    result: bool = operation("lex_less", a, b)
    return result


def lex_leq(a: Coord, b: Coord, /) -> bool:
    """Not lex_less(b, a).

    >>> lex_leq((1, 5), (2, 3))
    True
    """
    result: bool = operation("lex_leq", a, b)
    return result


def lex_gtr(a: Coord, b: Coord, /) -> bool:
    """lex_less(b, a).

    >>> lex_gtr((1, 5), (2, 3))
    False
    """
    result: bool = operation("lex_gtr", a, b)
    return result


def lex_geq(a: Coord, b: Coord, /) -> bool:
    """Not lex_less(a, b).

    >>> lex_geq((1, 5), (2, 3))
    False
    """
    result: bool = operation("lex_geq", a, b)
    return result


def colex_less(a: Coord, b: Coord, /) -> bool:
    """Returns whether a comes before b if the last part counts most.

    >>> colex_less((1, 5), (2, 3))
    False
    """
    result: bool = operation("colex_less", a, b)
    return result


def colex_leq(a: Coord, b: Coord, /) -> bool:
    """Not colex_less(b, a).

    >>> colex_leq((1, 5), (2, 3))
    False
    """
    result: bool = operation("colex_leq", a, b)
    return result


def colex_gtr(a: Coord, b: Coord, /) -> bool:
    """colex_less(b, a).

    >>> colex_gtr((1, 5), (2, 3))
    True
    """
    result: bool = operation("colex_gtr", a, b)
    return result


def colex_geq(a: Coord, b: Coord, /) -> bool:
    """Not colex_less(a, b).

    >>> colex_geq((1, 5), (2, 3))
    True
    """
    result: bool = operation("colex_geq", a, b)
    return result


def inner_product(a: Shape, b: Shape, /) -> int:
    """The sum of the products of the integers of two tuples with the same brackets.

    >>> inner_product((1, (2, 3)), (4, (5, 6)))
    32
    """
    result: int = operation("inner_product", a, b)
    return result


def elem_scale(a: Shape, b: Shape, /) -> Any:
    """Each integer of a times the product of the part of b at its place.

    >>> elem_scale((2, 3), (4, (5, 6)))
    (8, 90)
    """
    return operation("elem_scale", a, b)


def product_each(a: Shape, /) -> Any:
    """The product of each part of a tuple; for an integer, a tuple of one, as in CuTe.

    >>> product_each(((4, 2), 3))
    (8, 3)
    """
    return operation("product_each", a)


def max(*parts: Shape) -> int:
    """The largest of all integers.

    >>> max((3, (7, 2)), 5)
    7
    """
    result: int = operation("max", *parts)
    return result


def min(*parts: Shape) -> int:
    """The smallest of all integers.

    >>> min((3, (7, 2)), 5)
    2
    """
    result: int = operation("min", *parts)
    return result


def sum(*parts: Shape) -> int:
    """The sum of all integers.

    >>> sum((3, (7, 2)), 5)
    17
    """
    result: int = operation("sum", *parts)
    return result


def gcd(*parts: Shape) -> int:
    """The greatest common divisor of all integers.

    >>> gcd((12, (18, 8)), 6)
    2
    """
    result: int = operation("gcd", *parts)
    return result


def lcm(*parts: Shape) -> int:
    """The least common multiple of all integers.

    >>> lcm(4, 6)
    12
    """
    result: int = operation("lcm", *parts)
    return result


def round_up(a: Shape, b: Shape, /) -> Any:
    """Each integer of a rounded up to a multiple of the one of b in its place; integers that b lacks are kept.

    >>> round_up((12, 7), (5, 4))
    (15, 8)
    """
    return operation("round_up", a, b)


def reverse(a: Shape, /) -> Any:
    """The parts of a tuple from the last to the first.

    >>> reverse((2, (3, 4), 5))
    (5, (3, 4), 2)
    """
    return operation("reverse", a)


def zip(*tuples: Shape) -> Any:
    """A tuple of the first parts of all tuples, of the second parts, and so on; the parts of a single tuple are zipped.

    >>> zip((2, 3), (4, 5))
    ((2, 4), (3, 5))
    """
    return operation("zip", *tuples)


def front(a: LayoutLike, /) -> Any:
    """The first integer of a tuple; a layout itself, as in CuTe.

    >>> front(((3, 4), 2))
    3
    """
    return operation("front", a)


def back(a: LayoutLike, /) -> Any:
    """The last integer of a tuple; a layout itself, as in CuTe.

    >>> back((2, (3, 4)))
    4
    """
    return operation("back", a)


def repeat(x: Shape, n: int, /) -> Any:
    """A tuple of n times x; for n = 1, x itself, as in CuTe.

    >>> repeat((2, 3), 2)
    ((2, 3), (2, 3))
    """
    return operation("repeat", x, n)


def repeat_like(a: Shape, x: Shape, /) -> Any:
    """x in place of each integer of a.

    >>> repeat_like((2, (3, 4)), 1)
    (1, (1, 1))
    """
    return operation("repeat_like", a, x)


def product_like(a: Shape, guide: Shape, /) -> Any:
    """The product of each part of a that is an integer in the guide.

    >>> product_like(((2, 3), (4, (5, 6))), (1, (1, 1)))
    (6, (4, 30))
    """
    return operation("product_like", a, guide)


def flatten_to_tuple(a: Shape, /) -> Any:
    """The integers of a tuple; of an integer, a tuple of one.

    >>> flatten_to_tuple((2, (3, 4)))
    (2, 3, 4)
    """
    return operation("flatten_to_tuple", a)


def wrap(a: Shape, /) -> Any:
    """An integer as a tuple of one; a tuple itself.

    >>> wrap(4)
    (4,)
    """
    return operation("wrap", a)


def unwrap(a: Shape, /) -> Any:
    """A tuple without the brackets around a single part.

    >>> unwrap(((4, 2), ))
    (4, 2)
    """
    return operation("unwrap", a)


def linear(layout: LayoutLike, /) -> Value:
    """The layout as a linear layout, dim0, dim1 … to offset, if it is linear over bits.

    >>> linear("(4,4):(4,1)")
    Value('{dim0=[4,8],dim1=[1,2]} -> (offset:16)')
    """
    result: Value = operation("linear", layout)
    return result


def layout(x: LinearLike, /) -> Layout:
    """The linear layout as a layout of strides, with an axis for each input dim.

    >>> layout("{dim0=[4,8],dim1=[1,2]} -> (offset:16)")
    Layout('(4,4):(4,1)')
    """
    result: Layout = operation("layout", x)
    return result


def swizzled_layout(x: LinearLike, /) -> Layout:
    """Like layout, with a swizzle if that yields strides.

    >>> swizzled_layout("{dim0=[4,8],dim1=[1,2]} -> (offset:16)")
    Layout('(4,4):(4,1)')
    """
    result: Layout = operation("swizzled_layout", x)
    return result


def identity(n: int, in_: Dims, out: Dims, /) -> Value:
    """The linear layout that sends n coordinates of a dim to themselves.

    >>> identity(8, "[lane]", "[row]")
    Value('{lane=[1,2,4]} -> (row:8)')
    """
    result: Value = operation("identity", n, in_, out)
    return result


def strided(n: int, stride: int, in_: Dims, out: Dims, /) -> Value:
    """The linear layout that sends each of n coordinates x to stride times x.

    >>> strided(8, 4, "[lane]", "[row]")
    Value('{lane=[4,8,16]} -> (row:32)')
    """
    result: Value = operation("strided", n, stride, in_, out)
    return result


def zeros(n: int, in_: Dims, out: Dims, /) -> Value:
    """The linear layout that sends n coordinates of a dim to 0.

    >>> zeros(4, "[lane]", "[row]")
    Value('{lane=[0,0]} -> (row:1)')
    """
    result: Value = operation("zeros", n, in_, out)
    return result


def apply(x: LinearLike, coord: Coord, /) -> int | tuple[Any, ...]:
    """The image of a coordinate under a linear layout, with one integer per dim on both sides.

    >>> apply("{lane=[1,2],warp=[4]} -> (row:8)", (3, 1))
    7
    """
    result: int | tuple[Any, ...] = operation("apply", x, coord)
    return result


def compose(x: LinearLike, y: LinearLike, /) -> Value:
    """Applies X, then Y, whose input dims are X's output dims; X o Y is the reverse order.

    >>> compose("{lane=[1,2]} -> (row:4)", "{row=[2,1]} -> (bank:4)")
    Value('{lane=[2,1]} -> (bank:4)')
    """
    result: Value = operation("compose", x, y)
    return result


def invert_and_compose(x: LinearLike, y: LinearLike, /) -> Value:
    """The Z with Y(Z(x)) = X(x), the smallest where there are several.

    >>> invert_and_compose("{lane=[1,2]} -> (row:4)", "{reg=[2,1]} -> (row:4)")
    Value('{lane=[2,1]} -> (reg:4)')
    """
    result: Value = operation("invert_and_compose", x, y)
    return result


def inverse(x: LinearLike, /) -> Value:
    """The inverse of a linear layout that reaches everything exactly once.

    >>> inverse("{lane=[2,1]} -> (row:4)")
    Value('{row=[2,1]} -> (lane:4)')
    """
    result: Value = operation("inverse", x)
    return result


def pseudo_inverse(x: LinearLike, /) -> Value:
    """The Y with X(Y(x)) = x, the smallest, of a linear layout that reaches everything.

    >>> pseudo_inverse("{lane=[2,1,0]} -> (row:4)")
    Value('{row=[2,1]} -> (lane:8)')
    """
    result: Value = operation("pseudo_inverse", x)
    return result


def product(x: Any, y: Any = None, /) -> Any:
    """Both linear layouts side by side: X in the low bits of each dim, Y in the high ones; for a tuple, the product of its integers.

    >>> product("{lane=[1]} -> (row:2)", "{lane=[1]} -> (row:2)")
    Value('{lane=[1,2]} -> (row:4)')
    """
    return _call("product", x, y)


def divide_left(x: LinearLike, y: LinearLike, /) -> Value:
    """The Z with X = product(Y, Z).

    >>> divide_left("{lane=[1,2]} -> (row:4)", "{lane=[1]} -> (row:2)")
    Value('{lane=[1]} -> (row:2)')
    """
    result: Value = operation("divide_left", x, y)
    return result


def divide_right(x: LinearLike, y: LinearLike, /) -> Value:
    """The Z with X = product(Z, Y).

    >>> divide_right("{lane=[1,2]} -> (row:4)", "{lane=[1]} -> (row:2)")
    Value('{lane=[1]} -> (row:2)')
    """
    result: Value = operation("divide_right", x, y)
    return result


def reshape_ins(x: LinearLike, dims: Dims, /) -> Value:
    """The same map of indices, the first dim lowest, with other input dims.

    >>> reshape_ins("{lane=[1,2,4]} -> (row:8)", "[a:2,b:4]")
    Value('{a=[1],b=[2,4]} -> (row:8)')
    """
    result: Value = operation("reshape_ins", x, dims)
    return result


def reshape_outs(x: LinearLike, dims: Dims, /) -> Value:
    """The same map of indices, the first dim lowest, with other output dims.

    >>> reshape_outs("{lane=[1,2,4]} -> (row:8)", "[a:2,b:4]")
    Value('{lane=[[1,0],[0,1],[0,2]]} -> (a:2,b:4)')
    """
    result: Value = operation("reshape_outs", x, dims)
    return result


def flatten_ins(x: LinearLike, /) -> Value:
    """All input dims as one, under the name of the first.

    >>> flatten_ins("{lane=[1,2],warp=[4]} -> (row:8)")
    Value('{lane=[1,2,4]} -> (row:8)')
    """
    result: Value = operation("flatten_ins", x)
    return result


def flatten_outs(x: LinearLike, /) -> Value:
    """All output dims as one, under the name of the first.

    >>> flatten_outs("{lane=[[1,0],[0,1]]} -> (row:2,col:2)")
    Value('{lane=[1,2]} -> (row:4)')
    """
    result: Value = operation("flatten_outs", x)
    return result


def transpose_ins(x: LinearLike, dims: Dims, /) -> Value:
    """Puts the input dims in another order.

    >>> transpose_ins("{lane=[1,2],warp=[4]} -> (row:8)", "[warp,lane]")
    Value('{warp=[4],lane=[1,2]} -> (row:8)')
    """
    result: Value = operation("transpose_ins", x, dims)
    return result


def transpose_outs(x: LinearLike, dims: Dims, /) -> Value:
    """Puts the output dims in another order.

    >>> transpose_outs("{lane=[[1,0],[0,1]]} -> (row:2,col:2)", "[col,row]")
    Value('{lane=[[0,1],[1,0]]} -> (col:2,row:2)')
    """
    result: Value = operation("transpose_outs", x, dims)
    return result


def rename_ins(x: LinearLike, dims: Dims, /) -> Value:
    """Renames the input dims, in their order.

    >>> rename_ins("{lane=[1,2],warp=[4]} -> (row:8)", "[x,y]")
    Value('{x=[1,2],y=[4]} -> (row:8)')
    """
    result: Value = operation("rename_ins", x, dims)
    return result


def rename_outs(x: LinearLike, dims: Dims, /) -> Value:
    """Renames the output dims, in their order.

    >>> rename_outs("{lane=[1,2],warp=[4]} -> (row:8)", "[z]")
    Value('{lane=[1,2],warp=[4]} -> (z:8)')
    """
    result: Value = operation("rename_outs", x, dims)
    return result


def sublayout(x: LinearLike, in_: Dims, out: Dims, /) -> Value:
    """The map from some input dims to some output dims; the others are set to 0 and omitted.

    >>> sublayout("{lane=[1,2],warp=[4]} -> (row:8)", "[lane]", "[row]")
    Value('{lane=[1,2]} -> (row:8)')
    """
    result: Value = operation("sublayout", x, in_, out)
    return result


def concat_ins(x: LinearLike, y: LinearLike, /) -> Value:
    """Joins the input dims of both, into the same output dims; images are xored.

    >>> concat_ins("{lane=[1,2]} -> (row:8)", "{warp=[4]} -> (row:8)")
    Value('{lane=[1,2],warp=[4]} -> (row:8)')
    """
    result: Value = operation("concat_ins", x, y)
    return result


def concat_outs(x: LinearLike, y: LinearLike, /) -> Value:
    """Joins the output dims of both, from the same input dims.

    >>> concat_outs("{lane=[1,2]} -> (row:4)", "{lane=[1,0]} -> (col:2)")
    Value('{lane=[[1,1],[2,0]]} -> (row:4,col:2)')
    """
    result: Value = operation("concat_outs", x, y)
    return result


def remove_zeros(x: LinearLike, in_: Dims, /) -> Value:
    """Removes the bits of an input dim that are sent to 0.

    >>> remove_zeros("{lane=[1,0,2]} -> (row:4)", "[lane]")
    Value('{lane=[1,2]} -> (row:4)')
    """
    result: Value = operation("remove_zeros", x, in_)
    return result


def quotient(x: LinearLike, dims: Dims, /) -> Value:
    """Removes dims of both sides that are mapped to themselves only, and to which no other dim is mapped.

    >>> quotient("{lane=[[1,0],[2,0]],block=[[0,1]]} -> (row:4,block:2)", "[block]")
    Value('{lane=[1,2]} -> (row:4)')
    """
    result: Value = operation("quotient", x, dims)
    return result


def is_trivial_over(x: LinearLike, dims: Dims, /) -> bool:
    """Returns whether these dims are mapped to themselves only, and no other dim is mapped to them.

    >>> is_trivial_over("{lane=[[1,0],[2,0]],block=[[0,1]]} -> (row:4,block:2)", "[block]")
    True
    """
    result: bool = operation("is_trivial_over", x, dims)
    return result


def resize_in(x: LinearLike, dim: Dims, /) -> Value:
    """Resizes an input dim: removed bits are dropped, new ones are sent to 0.

    >>> resize_in("{lane=[1,2],warp=[4]} -> (row:8)", "[lane:2]")
    Value('{lane=[1],warp=[4]} -> (row:8)')
    """
    result: Value = operation("resize_in", x, dim)
    return result


def lstsq(x: LinearLike, y: LinearLike, /) -> Value:
    """The Z with X(Z(y)) = Y(y), the smallest where there are several: invert_and_compose(Y, X).

    >>> lstsq("{reg=[2,1]} -> (row:4)", "{lane=[1,2]} -> (row:4)")
    Value('{lane=[2,1]} -> (reg:4)')
    """
    result: Value = operation("lstsq", x, y)
    return result


def consecutive(x: LinearLike, /) -> int:
    """The length of the runs that the first input dim makes in the first output dim.

    >>> consecutive("{lane=[1,2,8]} -> (row:16)")
    4
    """
    result: int = operation("consecutive", x)
    return result


def free_bits(x: LinearLike, /) -> int | tuple[Any, ...]:
    """For each input dim the mask of the bits that repeat lower bits.

    >>> free_bits("{lane=[1,2,0],warp=[4,3]} -> (row:8)")
    (4, 2)
    """
    result: int | tuple[Any, ...] = operation("free_bits", x)
    return result


def surjective(x: LinearLike, /) -> bool:
    """Returns whether a linear layout reaches every coordinate of its output.

    >>> surjective("{lane=[2,1]} -> (row:4)")
    True
    """
    result: bool = operation("surjective", x)
    return result


def invertible(x: LinearLike, /) -> bool:
    """Returns whether a linear layout reaches every coordinate of its output exactly once.

    >>> invertible("{lane=[2,1,0]} -> (row:4)")
    False
    """
    result: bool = operation("invertible", x)
    return result
