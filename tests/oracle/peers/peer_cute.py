"""CuTe's C++ of CUTLASS: expressions, compiled for the host in one program, and read as they are by Tilewright."""

import importlib.util
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import metadata

import algebra
import run
from ask import Case

NAME = "CuTe, C++ of CUTLASS"
COMPILER = os.environ.get("CXX", "g++")

# Prints what the expressions are, each in a process of its own: CuTe may divide by 0.
PROGRAM = """#include <cute/tensor.hpp>
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>
using namespace cute;
using cute::tuple;
template <class T> struct truth : std::false_type {};
template <auto v> struct truth<C<v>> : std::is_same<decltype(v), bool> {};
template <> struct truth<bool> : std::true_type {};
template <class T> void show(T const& value) {
  if constexpr (truth<T>::value) printf("%s", bool(value) ? "true" : "false"); else print(value);
}
// `local_tile` and `local_partition` of a layout: the layout of the part and the offset of its first element.
template <class L> struct Cut { L layout; long offset; };
template <class L> void show(Cut<L> const& cut) { print(cut.layout); printf("+%ld", cut.offset); }
static char memory[1];
template <class T> auto cut(T const& part) { return Cut<decltype(part.layout())>{part.layout(), long(part.data() - memory)}; }
template <class S, class D> auto tensor_of(Layout<S, D> const& whole) { return make_tensor(&memory[0], whole); }
template <class S, class D, class... A> auto local_tile(Layout<S, D> const& whole, A const&... by) {
  return cut(cute::local_tile(tensor_of(whole), by...));
}
template <class S, class D, class... A> auto local_partition(Layout<S, D> const& whole, A const&... by) {
  return cut(cute::local_partition(tensor_of(whole), by...));
}
template <class F> void ask(int number, F answer) {
  if (fork() == 0) { printf("%d\\t", number); answer(); printf("\\n"); fflush(stdout); _exit(0); }
  wait(nullptr);
}
"""

Tree = int | tuple["Tree", ...]


def version() -> str:
    return metadata.version("nvidia-cutlass")


def plain(tree: Tree) -> str:
    return algebra.text(tree)


class Draw:
    """Draws values, with the texts of both sides: C++ and Tilewright's own."""

    def __init__(self, source: random.Random):
        self.source = source
        self.one_of = source.choice

    def integer(self, value: int) -> str:
        if value < 0:
            return self.one_of([f"Int<{value}>{{}}", f"_m{-value}{{}}" if -value in (1, 2, 4, 8) else f"Int<{value}>{{}}"])
        named = value <= 10 or value in (12, 16, 24, 32, 64, 128)
        return self.one_of([f"Int<{value}>{{}}", f"_{value}{{}}" if named else f"C<{value}>{{}}"])

    def type_of(self, tree: Tree, word: str) -> str:
        if isinstance(tree, int):
            return f"Int<{tree}>"
        return f"{word}<{', '.join(self.type_of(part, word) for part in tree)}>"

    def tuple_of(self, tree: Tree, word: str = "shape") -> str:
        """`make_shape(…)` or `Shape<…>{}`."""
        if isinstance(tree, int):
            return self.integer(tree)
        if word in ("shape", "stride") and self.source.random() < 0.2:
            return self.type_of(tree, word.capitalize()) + "{}"
        return f"make_{word}({', '.join(self.tuple_of(part, word) for part in tree)})"

    def flat(self, most: int = 3, extents: tuple[int, ...] = (1, 2, 2, 3, 4, 4, 6, 8)) -> Tree:
        return tuple(self.one_of(extents) for _ in range(self.source.randint(1, most)))

    def tree(self, extents: tuple[int, ...] = (1, 2, 2, 3, 4, 4, 6, 8), depth: int = 1) -> Tree:
        """Extents, some in brackets of their own."""
        while True:
            parts = tuple(
                self.tree(extents, depth - 1) if depth and self.source.random() < 0.3 else self.one_of(extents)
                for _ in range(self.source.choice([1, 2, 2, 3]))
            )
            if math.prod(run.flat(parts)) <= 512:
                return parts

    def like(self, tree: Tree, values: tuple[int, ...]) -> Tree:
        return self.one_of(values) if isinstance(tree, int) else tuple(self.like(part, values) for part in tree)

    def strides(self, extents: Tree, kind: str) -> Tree:
        """Strides of a compact layout in some order, with gaps, or any."""
        if kind == "any":
            return self.like(extents, (0, 0, 1, 1, 2, 3, 4, 8, 12))
        leaves = run.flat(extents)
        order = list(range(len(leaves)))
        if kind == "right":
            order.reverse()
        elif kind != "left":
            self.source.shuffle(order)
        found, step = [0] * len(leaves), 1
        for at in order:
            found[at], step = step, step * leaves[at]
            if kind == "gaps":
                step *= self.one_of([1, 1, 2, 3])
        rest = iter(found)
        deal = lambda part: next(rest) if isinstance(part, int) else tuple(map(deal, part))
        return deal(extents)

    def layout(self, extents: Tree | None = None, kinds: tuple[str, ...] = ("left", "right", "mixed", "mixed", "gaps")) -> tuple[str, str]:
        """The texts of a layout."""
        extents = self.tree() if extents is None else extents
        kind = self.one_of(kinds)
        stride = self.strides(extents, kind)
        own = f"{plain(extents)}:{plain(stride)}"
        shape = self.tuple_of(extents)
        if kind == "left" and self.source.random() < 0.5:
            return f"make_layout({shape})", own
        if kind in ("left", "right") and self.source.random() < 0.5:
            return f"make_layout({shape}, Layout{kind.capitalize()}{{}})", own
        if self.source.random() < 0.2:
            return f"Layout<{self.type_of(extents, 'Shape')}, {self.type_of(stride, 'Stride')}>{{}}", own
        return f"make_layout({shape}, {self.tuple_of(stride, 'stride')})", own

    def swizzle(self) -> tuple[str, str]:
        bits, base = self.one_of([1, 1, 2, 2, 3]), self.one_of([0, 0, 1, 2, 3])
        shift = self.one_of([bits, bits + 1, 3, 4])
        numbers = f"{bits},{base},{max(shift, bits)}"
        return f"Swizzle<{numbers}>{{}}", f"Sw<{numbers}>"

    def swizzled(self, extents: Tree | None = None) -> tuple[str, str]:
        (cpp, own), (a, b) = self.swizzle(), self.layout(extents or self.one_of([(8, 8), (4, 8), (8, (2, 4)), (16, 4), (64,)]))
        return self.one_of([f"composition({cpp}, {a})", f"composition({cpp}, {a})", f"make_composed_layout({cpp}, _0{{}}, {a})"]), f"{own} o {b}"

    def tiler(self, rank: int, extents: tuple[int, ...] = (1, 2, 2, 4)) -> tuple[str, str]:
        """A tiler of layouts and extents."""
        parts, own = [], []
        for _ in range(rank):
            extent, step = self.one_of(extents), self.one_of([1, 1, 2])
            if self.source.random() < 0.6:
                parts.append(self.integer(extent))
                own.append(f"{extent}:1")
            else:
                parts.append(self.one_of([f"Layout<Int<{extent}>, Int<{step}>>{{}}", f"make_layout({self.integer(extent)}, {self.integer(step)})"]))
                own.append(f"{extent}:{step}")
        return f"make_tile({', '.join(parts)})", f"<{','.join(own)}>"

    def coordinate(self, extents: Tree, kept: float = 0.0, top: bool = True) -> str:
        """A coordinate, with `_` where parts are kept."""
        if not top and self.source.random() < kept:
            return "_"
        if isinstance(extents, int):
            return str(self.source.randrange(extents))
        if not top and self.source.random() < 0.4:
            return str(self.source.randrange(run.size(extents)))
        return f"make_coord({', '.join(self.coordinate(part, kept, False) for part in extents)})"


Drawn = tuple[str, str | None, list[str]]


def only(expression: str) -> Drawn:
    return expression, None, []


def one(name: str, law: str | None = None, kinds: tuple[str, ...] = ("left", "right", "mixed", "mixed", "gaps")) -> Callable[[Draw], Drawn]:
    """A function of a layout."""
    def draw(by: Draw) -> Drawn:
        cpp, own = by.layout(kinds=kinds)
        return f"{name}({cpp})", law, [own]
    return draw


def part(by: Draw) -> Drawn:
    """Functions with template arguments, of layouts and tuples."""
    extents = (by.one_of([2, 4, 1]), (by.one_of([2, 3]), by.one_of([2, 4])), by.one_of([3, 5]))
    whole = by.one_of([by.layout(extents)[0], by.layout(extents)[0], by.tuple_of(extents)])
    call = by.one_of(["get<0>", "get<1>", "get<1,1>", "select<1,0>", "select<2,0,1>", "take<0,2>", "take<1,3>", "group<0,2>", "group<1,3>",
                      "size<1>", "size<1,0>", "rank<1>", "depth<1>", "shape<1>", "append<4>", "prepend<4>", "append<5>"])
    if not whole.startswith(("make_layout", "Layout")):
        call = by.one_of(["get<0>", "get<1>", "select<1,0>", "take<0,2>", "take<1,2>", "group<0,2>", "size<1>", "rank<1>", "depth<1>", "size", "rank", "depth"])
    elif by.source.random() < 0.2:
        call = by.one_of(["layout<1>", "layout<1,0>", "stride<1>", "stride<1,1>", "cosize<1>", "cosize", "depth", "rank", "size", "shape", "stride"])
    return only(f"{call}({whole})")


def placed(by: Draw) -> Drawn:
    """Functions that put parts of tuples elsewhere."""
    tree, at = by.tree(), by.one_of([0, 0, 1, 1, 2])
    one = by.tuple_of(by.one_of([4, 7, (2, 3), (5,)]))
    name = by.one_of(["front", "back", "insert", "remove", "repeat", "unflatten", "unflatten"])
    if name == "repeat":
        return only(f"repeat<{by.one_of([1, 2, 3])}>({one})")
    if name == "unflatten":
        flat = by.like(tuple(run.flat(tree)), (2, 3, 4))
        return only(f"unflatten({by.one_of([by.tuple_of(flat), by.layout(flat)[0]])}, {by.tuple_of(tree)})")
    if name in ("front", "back"):
        return only(f"{name}({by.tuple_of(tree)})")
    at = min(at, len(tree) - (name == "remove"))
    return only(f"{name}<{at}>({by.tuple_of(tree)}{', ' + one if name == 'insert' else ''})")


def tiles(by: Draw) -> Drawn:
    """The tile of a block of threads, and the part of a thread."""
    extents = by.one_of([(8, 16), (16, 8), (8, (2, 8)), ((4, 2), 16)])
    whole = by.layout(extents)[0]
    if by.source.random() < 0.25:
        threads = by.one_of([(2, 4), (4, 2), (4, 4), (2, 2)])
        index = by.source.randrange(run.size(threads))
        return only(f"local_partition({whole}, {by.layout(threads, ('left', 'right'))[0]}, {index})")
    sizes = [by.one_of([2, 4]) for _ in extents]
    rests = [run.size(extent) // size for extent, size in zip(extents, sizes)]
    coord = [by.one_of(["_", str(by.source.randrange(rest))]) for rest in rests]
    step = ["_1", "_1"]
    if by.source.random() < 0.7:
        at = by.source.randrange(3)
        sizes.insert(at, by.one_of([2, 3, 8]))
        coord.insert(at, by.one_of(["_", "0", "5"]))
        step.insert(at, "X")
    tiler = f"{by.one_of(['make_tile', 'make_shape'])}({', '.join(map(by.integer, sizes))})"
    more = f", Step<{','.join(step)}>{{}}" if len(step) > 2 or by.source.random() < 0.2 else ""
    return only(f"local_tile({whole}, {tiler}, make_coord({', '.join(coord)}){more})")


def numbers(by: Draw) -> Drawn:
    a = by.tree((1, 2, 3, 4, 5, 6))
    b = by.like(a, (1, 2, 3, 4, 5))
    name = by.one_of(["inner_product", "elem_scale", "product", "product_each", "max", "min", "sum", "gcd", "lcm", "wrap", "unwrap",
                      "flatten", "flatten_to_tuple", "reverse", "depth", "rank", "size", "product_like", "repeat_like"])
    if name == "gcd" or name == "lcm":
        values = [by.integer(by.one_of([2, 3, 4, 6, 8, 9, 12])) for _ in range(2)]
        return only(f"{name}({', '.join(values)})")
    if name == "repeat_like":
        return only(f"{name}({by.tuple_of(a)}, {by.integer(by.one_of([1, 2, 7]))})")
    if name == "product_like":
        return only(f"{name}({by.tuple_of(a)}, {by.tuple_of(tuple(1 for _ in a))})")
    two = name in ("inner_product", "elem_scale") or name in ("max", "min") and by.source.random() < 0.5
    return only(f"{name}({by.tuple_of(a)}{', ' + by.tuple_of(b) if two else ''})")


def divided(by: Draw) -> Drawn:
    name = by.one_of(["ceil_div", "round_up", "shape_div", "evenly_divides"])
    if name == "shape_div":
        a, b = by.one_of([((12, 6), 4), ((12, 6), 24), ((12, 6), (4, 3)), ((2, 3, 8), 12), (((2, 2), 6), 4), (((2, 2), 6), (2, 3)), (24, (2, 3)),
                          ((8, (2, 4)), (4, 4)), ((6, 8), (3, 2)), (1, 4), ((3, 4), 12), ((4, 4), 32), ((6, 8), 12)])
        return only(f"{name}({by.tuple_of(a)}, {by.tuple_of(b)})")
    a = by.flat(3, (2, 5, 7, 8, 12, 24))
    b = by.one_of([by.like(a, (1, 2, 3, 4)), by.like(a[:-1] or a, (2, 3, 4))])
    if by.source.random() < 0.2:
        a, b = by.one_of([7, 8, 12]), by.one_of([2, 3, 4])
    return only(f"{name}({by.tuple_of(a)}, {by.tuple_of(b)})")


def orders(by: Draw) -> Drawn:
    a = by.tree((0, 1, 2, 3))
    b = by.like(a, (0, 1, 2, 3))
    if by.source.random() < 0.2:
        b = b[:-1] if len(b) > 1 else b + (2,)
    name = f"{by.one_of(['elem', 'lex', 'colex'])}_{by.one_of(['less', 'leq', 'gtr', 'geq'])}"
    return only(f"{name}({by.tuple_of(a, 'coord')}, {by.tuple_of(b, 'coord')})")


def compared(by: Draw) -> Drawn:
    a = by.tree()
    b = by.one_of([by.tree(), by.like(a, (1, 2, 4)), tuple(run.size(part) for part in a), (a,), (run.size(a),), a])
    a, b = by.one_of([(a, b), (b, a)])
    return only(f"{by.one_of(['congruent', 'weakly_congruent', 'compatible'])}({by.tuple_of(a)}, {by.tuple_of(b)})")


def built(by: Draw) -> Drawn:
    # A static extent of 1 has the stride 0 in CuTe, and 1 is an integer here.
    extents = by.tree((2, 2, 3, 4, 4, 6, 8))
    name = by.one_of(["compact_col_major", "compact_row_major", "compact_order", "make_ordered_layout", "make_layout_like", "compact_major",
                      "current", "make_identity_layout", "make_basis_like", "side by side"])
    shape = by.tuple_of(extents)
    if name in ("compact_order", "make_ordered_layout"):
        extents = by.flat(3, (2, 3, 4))
        order = by.source.sample(range(len(extents)), len(extents))
        return only(f"{name}({by.tuple_of(extents)}, {by.tuple_of(tuple(order), 'step')})")
    if name == "make_layout_like":
        return only(f"{name}({by.layout(extents)[0]})")
    if name == "compact_major":
        return only(f"{name}<Layout{by.one_of(['Left', 'Right'])}>({shape}{by.one_of(['', ', ' + by.integer(3)])})")
    if name == "current":
        return only(f"{by.one_of(['compact_col_major', 'compact_row_major'])}({shape}, {by.integer(by.one_of([2, 3, 8]))})")
    if name == "side by side":
        return only(f"make_layout({by.layout()[0]}, {by.layout()[0]})")
    return only(f"{name}({shape})")


def coalesced(by: Draw) -> Drawn:
    extents = by.tree()
    cpp, own = by.layout(extents, ("left", "right", "mixed", "gaps", "any"))
    if by.source.random() < 0.4:
        return only(f"coalesce({cpp}, {by.tuple_of(tuple(1 for _ in extents), 'step')})")
    return f"coalesce({cpp})", "coalesce", [own]


def composed(by: Draw) -> Drawn:
    a = by.flat(3, (2, 4, 8))
    left = by.layout(a) if by.source.random() < 0.8 else by.swizzled((8, 8))
    if by.source.random() < 0.4:
        # CuTe drops the axes that a shorter tiler lacks, pycute and Tilewright keep them.
        tiler = by.tiler(len(a) if "Sw" not in left[1] else 2)
        law = None if "Sw" in left[1] else "composition_by_axis"
        return f"composition({left[0]}, {tiler[0]})", law, [left[1], tiler[1]]
    b = by.layout(by.flat(2, (1, 2, 4)), ("left", "right", "gaps"))
    return f"composition({left[0]}, {b[0]})", "composition", [left[1], b[1]]


def complemented(by: Draw) -> Drawn:
    cpp, own = by.layout(by.flat(2, (2, 4, 3)), ("left", "gaps", "mixed"))
    size = run.layout(own).size * by.one_of([1, 2, 4, 6, 8])
    if by.source.random() < 0.15:
        return only(f"complement({cpp})")
    return f"complement({cpp}, {by.integer(size)})", "complement", [own, str(size)]


def inverted(by: Draw) -> Drawn:
    name = by.one_of(["right_inverse", "left_inverse"])
    cpp, own = by.swizzled() if by.source.random() < 0.4 else by.layout(kinds=("left", "right", "mixed", "gaps"))
    return f"{name}({cpp})", name, [own]


def common(by: Draw) -> Drawn:
    extents = by.one_of([(4, 8), (8, 8), (32,), (8, (2, 4)), (64,)])
    pair = [by.swizzled(extents)[0] if by.source.random() < 0.35 else by.layout(extents, ("left", "left", "mixed", "gaps"))[0] for _ in range(2)]
    name = by.one_of(["max_common_vector", "max_common_layout"])
    return only(f"{name}({pair[0]}, {pair[1]})")


def quotient(by: Draw) -> Drawn:
    name = by.one_of(["logical_divide", "zipped_divide", "tiled_divide", "flat_divide"])
    extents = by.flat(3, (4, 8, 12, 16))
    a = by.layout(extents) if by.source.random() < 0.75 else by.swizzled((16, 8))
    rank = len(extents) if "Sw" not in a[1] else 2
    draw = by.source.random()
    if draw < 0.5:
        tiler = by.tiler(rank, (2, 2, 4))
        law = {"logical_divide": "logical_divide_by_axis", "zipped_divide": "zipped_divide", "tiled_divide": "zipped_divide"}.get(name)
        return f"{name}({a[0]}, {tiler[0]})", None if "Sw" in a[1] else law, [a[1], tiler[1]]
    if draw < 0.7 and rank > 1:
        return only(f"{name}({a[0]}, {by.tuple_of(by.like((1,) * rank, (2, 4)))})")
    b = by.layout(by.one_of([(2,), (4,), (2, 2)]), ("left", "right", "gaps"))
    return f"{name}({a[0]}, {b[0]})", "divide" if name == "logical_divide" and "Sw" not in a[1] else None, [a[1], b[1]]


def product(by: Draw) -> Drawn:
    name = by.one_of(["logical_product", "zipped_product", "tiled_product", "flat_product", "blocked_product", "raked_product"])
    extents = by.flat(2, (2, 3, 4))
    a = by.layout(extents, ("left", "right", "mixed", "gaps"))
    by_axis = name in ("blocked_product", "raked_product")
    draw = by.source.random()
    if not by_axis and draw < 0.3:
        return only(f"{name}({a[0]}, {by.tiler(len(extents), (2, 3))[0]})")
    if not by_axis and draw < 0.5:
        return only(f"{name}({a[0]}, {by.tuple_of(by.like(extents, (2, 3))) if len(extents) > 1 else by.integer(3)})")
    b = by.layout(by.like(extents, (2, 3, 4)), ("left", "right"))
    return f"{name}({a[0]}, {b[0]})", name if by_axis else "product" if name == "logical_product" else None, [a[1], b[1]]


def filled(by: Draw) -> Drawn:
    extents = by.flat(2, (2, 4))
    a = by.layout(extents) if by.source.random() < 0.8 else by.swizzled((4, 4))
    rank = len(extents) if "Sw" not in a[1] else 2
    size = extents if "Sw" not in a[1] else (4, 4)
    shape = tuple(x * by.one_of([1, 2, 3]) for x in size)
    order = by.source.sample(range(rank), rank)
    more = by.one_of(["", f", {by.tuple_of(tuple(order), 'step')}"])
    return only(f"tile_to_shape({a[0]}, {by.tuple_of(shape)}{more})")


def coordinates(by: Draw) -> Drawn:
    extents = by.tree()
    cpp = by.layout(extents)[0] if by.source.random() < 0.7 else by.swizzled(extents := (8, (2, 4)))[0]
    crd = by.coordinate(extents)
    size = run.size(extents)
    kind = by.one_of(["at", "at", "crd2idx", "shape", "idx2crd", "strides", "hier", "flat", "1d"])
    if kind == "at":
        return only(f"{cpp}({crd})")
    if kind == "crd2idx":
        return only(f"crd2idx({crd}, {by.tuple_of(extents)}, {by.tuple_of(by.strides(extents, 'mixed'), 'stride')})")
    if kind == "shape":
        return only(f"crd2idx({crd}, {by.tuple_of(extents)})")
    if kind == "idx2crd":
        return only(f"idx2crd({by.source.randrange(size)}, {by.tuple_of(extents)})")
    if kind == "strides":
        return only(f"idx2crd({by.source.randrange(size)}, {by.tuple_of(extents)}, {by.tuple_of(by.strides(extents, 'mixed'), 'stride')})")
    cpp = by.layout(extents, ("left", "right", "mixed"))[0]
    return only(f"{cpp}.get_{ {'hier': 'hier', 'flat': 'flat', '1d': '1d'}[kind] }_coord({by.source.randrange(size)})")


def sliced(by: Draw) -> Drawn:
    extents = by.one_of([(4, (2, 4)), ((2, 3), 4), (4, 8), (2, 3, 4), ((2, 2), (2, 4))])
    crd = by.coordinate(extents, 0.5)
    while "_" not in crd.removeprefix("make_coord"):
        crd = by.coordinate(extents, 0.5)
    # Under a swizzle, CuTe counts from the first element of the slice, Tilewright from that of the layout.
    cpp = by.layout(extents)[0]
    name = by.one_of(["call", "call", "slice", "dice", "tuple"])
    if name == "call":
        return only(f"{cpp}({crd})")
    if name == "tuple":
        return only(f"{by.one_of(['slice', 'dice'])}({crd}, {by.tuple_of(extents)})")
    return only(f"{name}({crd}, {by.layout(extents)[0]})")


def cast(by: Draw) -> Drawn:
    n = by.one_of([2, 4])
    name = by.one_of(["upcast", "downcast", "recast"])
    if name == "recast":
        types = by.one_of(["half_t,float", "float,half_t", "int8_t,int32_t", "uint8_t,uint16_t", "double,float", "float,int8_t"])
        return only(f"recast_layout<{types}>({by.one_of([by.layout((8, 4)), by.layout((4, 16))])[0]})")
    cpp, own = by.layout(by.one_of([(8, 4), (4, (2, 8)), (16,)]), ("left", "right", "gaps"))
    if by.source.random() < 0.3:
        return only(f"downcast<{n}>({by.swizzled((8, 8))[0]})")
    return f"{name}<{n}>({cpp})", name, [own, str(n)]


def under_swizzles(by: Draw) -> Drawn:
    a, b = by.swizzled()
    name = by.one_of(["", "cosize", "size", "composition", "shape", "rank", "logical_product", "max_alignment"])
    if not name:
        return only(a)
    if name == "composition":
        inner = by.layout(by.one_of([(4, 4), (8,), (2, 2)]), ("left", "right", "gaps"))
        return f"composition({a}, {inner[0]})", "composition", [b, inner[1]]
    if name == "logical_product":
        return only(f"logical_product({a}, {by.integer(2)})")
    if name == "cosize":
        return f"cosize({a})", "bound", [b]
    return only(f"{name}({a})")


def bases(by: Draw) -> Drawn:
    extents = by.one_of([(4, 8), (4, (2, 4)), (8, 16), ((2, 2), 8)])
    flat = (run.size(extents[0]), run.size(extents[1]))
    strides = by.one_of(["E<0>{}, E<1>{}", "E<1>{}, E<0>{}", "E<0>{} * _2{}, E<1>{}", "E<1>{}, _4{} * E<0>{}"])
    whole = by.one_of([f"make_identity_layout({by.tuple_of(extents)})", f"make_layout({by.tuple_of(flat)}, make_stride({strides}))"])
    return only(by.one_of([
        whole, f"size({whole})", f"shape({whole})", f"stride({whole})", f"{whole}({by.coordinate(flat)})", f"{whole}({by.source.randrange(32)})",
        f"composition({whole}, make_tile(_2{{}}, _4{{}}))", f"zipped_divide({whole}, make_tile(_2{{}}, _4{{}}))", f"coalesce({whole})",
        f"get<0>({whole})", f"E<{by.one_of(['0', '1', '0,1', '2,0'])}>{{}}", f"E<1>{{}} * {by.integer(4)}",
        f"flatten({whole})", f"select<1,0>({whole})", f"coshape({whole})", f"coprofile({whole})", f"{whole}(_, {by.source.randrange(2)})",
    ]))


def arithmetic(by: Draw) -> Drawn:
    value = lambda: by.one_of([by.integer(by.one_of([2, 3, 4, 6])), f"size<0>({by.layout((4, 8))[0]})", f"size({by.tuple_of(by.flat())})", f"get<1>({by.tuple_of((3, 5))})"])
    a, b, c = value(), value(), value()
    return only(by.one_of([f"{a} * {b}", f"{a} + {b}", f"{a} - {b}", f"{a} / {b}", f"{a} % {b}", f"{a} + {b} * {c}", f"({a} + {b}) * {c}",
                           f"make_shape({a} * {b}, {c} + {a})", f"make_layout(make_shape({a}, {b}), make_stride({b} + {c}, _1{{}}))", f"{a} * {b} / {c}"]))


def offsets(by: Draw) -> Drawn:
    extents = by.one_of([(4, 8), (8, 16), (4, (2, 4)), (8, 8, 4)])
    cpp = by.layout(extents)[0] if by.source.random() < 0.8 else by.swizzled(extents := (8, 8))[0]
    if by.source.random() < 0.5:
        return only(f"get<1>(slice_and_offset({by.coordinate(extents, 0.5)}, {cpp}))")
    return only(f"get<1>(domain_offset({by.coordinate(extents)}, {cpp}))")


KINDS: dict[str, Callable[[Draw], Drawn]] = {
    "parts": part, "numbers": numbers, "ceil_div …": divided, "orders": orders, "congruent …": compared, "build": built,
    "coalesce": coalesced, "composition": composed, "complement": complemented, "inverse": inverted, "max_common": common,
    "divide": quotient, "product": product, "tile_to_shape": filled, "coordinates": coordinates, "slices": sliced, "cast": cast,
    "places": placed, "tiles": tiles, "alignment": one("max_alignment", None, ("left", "right", "mixed", "gaps", "any")),
    "swizzles": under_swizzles, "bases": bases, "arithmetic": arithmetic,
    "filter": one("filter", "filter", ("any", "left", "gaps")), "filter_zeros": one("filter_zeros", None, ("any", "left")),
    "nullspace": one("nullspace", "nullspace", ("any", "left")), "flatten": one("flatten"), "cosize": one("coshape"),
}


def includes() -> list[str]:
    """The folders of headers: CUTLASS's, those of CUDA in Triton's package, and of its C++ library."""
    found = []
    for package, below in (("cutlass_library", "source/include"), ("triton", "backends/nvidia/include"), ("nvidia.cuda_cccl", "include")):
        spec = importlib.util.find_spec(package)
        folders = [pathlib.Path(place) / below for place in (spec.submodule_search_locations or [])] if spec else []
        if not any(folder.is_dir() for folder in folders):
            sys.exit(f"the package {package} lacks {below}; install requirements.txt")
        found += [f"-I{folder}" for folder in folders]
    return found


def answers(expressions: list[str]) -> list[str | None]:
    """What compiled CuTe prints for each expression; None where it does not compile, or stops."""
    if shutil.which(COMPILER) is None:
        sys.exit(f"{COMPILER} is missing; install it, or name a compiler of C++17 in CXX")
    flags = ["-std=c++17", "-O0", "-w", "-fmax-errors=0", *includes()]
    left = list(range(len(expressions)))
    with tempfile.TemporaryDirectory() as folder:
        source, program = f"{folder}/ask.cpp", f"{folder}/ask"
        while left:
            # `#line` gives each expression a line of its own, by which errors name it.
            asked = [f'#line {at + 1} "expression"\nstatic void answer{at}() {{ show({expressions[at]}); }}\n' for at in left]
            calls = "".join(f"ask({at}, answer{at});\n" for at in left)
            pathlib.Path(source).write_text(PROGRAM + "".join(asked) + f"int main() {{\n{calls}}}\n")
            done = subprocess.run([COMPILER, *flags, source, "-o", program], capture_output=True, text=True)
            if done.returncode == 0:
                break
            refused = {int(line) - 1 for line in re.findall(r"^expression:(\d+):", done.stderr, re.MULTILINE)}
            if not refused:
                sys.exit(f"{COMPILER}: {done.stderr[-2000:]}")
            left = [at for at in left if at not in refused]
        printed = subprocess.run([program], capture_output=True, text=True).stdout if left else ""
    found: list[str | None] = [None] * len(expressions)
    for line in printed.splitlines():
        number, _, answer = line.partition("\t")
        found[int(number)] = own(answer)
    return found


def own(answer: str) -> str:
    """CuTe's output as Tilewright writes it: `_4` as 4, `_m2` as -2, a swizzle without the offset 0."""
    answer = re.sub(r"_(?=-?\d)", "", answer.replace("_m", "-").replace(" ", ""))
    return re.sub(r"Sw<([^>]*)>o0o", r"Sw<\1> o ", answer)


def bound(answer: str, question: dict) -> None:
    """Under a swizzle, CuTe gives the cosize of the layout alone, and Tilewright the end of the last window."""
    if int(answer) <= max(run.layout(question["args"][0]).table()):
        raise run.Broken("an offset beyond it")


LAWS = {**{name: law[1] for name, law in run.LAWS.items()}, "bound": bound}


def holds(law: str | None, arguments: list[str]) -> Callable[[str], bool | None]:
    question = {"op": law, "args": arguments, "law": law, "longest": 1}

    def decides(answer: str) -> bool | None:
        if law is None:
            return None
        try:
            LAWS[law](answer, question)
            return True
        except run.Broken:
            return False
        except (ValueError, TypeError, IndexError, KeyError, AttributeError, RecursionError):
            return None

    return decides


def cases(source: random.Random, count: int) -> Iterator[Case]:
    """Twice `count` expressions of all kinds together: each takes CuTe's compiler a third of a second."""
    drawn: dict[str, tuple[str, Drawn]] = {}
    by, kinds, count = Draw(source), list(KINDS), 2 * count
    for at in range(count * 4):
        kind = kinds[at % len(kinds)]
        found = KINDS[kind](by)
        drawn.setdefault(found[0], (kind, found))
        if len(drawn) == count:
            break
    for (expression, (kind, (_, law, arguments))), theirs in zip(drawn.items(), answers(list(drawn))):
        yield Case(kind, expression, theirs, holds(law, arguments), algebra.same_map)
