#!/usr/bin/env python3
"""Asks an implementation of the layout algebra questions, and judges each answer by enumeration.

A question (a line of `questions/*.jsonl`) names an operation, its arguments, and the law that an answer must obey.
No answer is compared with a text: the law is decided here, over all coordinates, by a small evaluator of its own.
Where no layout obeys the law the question says `none`, with a witness, and the right answer is a refusal.

    run.py ADAPTER [SECTION | ID] ...   ask an implementation; exit code 1 if an answer is wrong or a process crashed
    run.py --check                      decide of every question that its example or its witness is right
    run.py ADAPTER --json               the counts as JSON
    run.py ADAPTER --try OPERATION ARGUMENT ...   what the implementation says to anything
"""

import itertools
import json
import os
import re
import subprocess
import sys
import threading
from math import prod

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 60
OUTCOMES = ["right", "wrong", "refused", "crashed", "not offered"]


# ---- values: integers, tuples, layouts, maps over bits -------------------------------------------------------------


def flat(tree):
    return [leaf for part in tree for leaf in flat(part)] if isinstance(tree, tuple) else [tree]


def size(shape):
    return prod(flat(shape))


def compact(shape):
    """The strides of the layout of a shape whose first mode varies fastest."""
    def go(part, step):
        if not isinstance(part, tuple):
            return step, step * part
        out = []
        for item in part:
            item, step = go(item, step)
            out.append(item)
        return tuple(out), step
    return go(shape, 1)[0]


def add(a, b):
    """The sum of two offsets: integers, or coordinates under basis strides."""
    if not isinstance(a, tuple) and not isinstance(b, tuple):
        return a + b
    a, b = (x if isinstance(x, tuple) else (x,) for x in (a, b))
    return tuple(x + y for x, y in itertools.zip_longest(a, b, fillvalue=0))


def scale(k, stride):
    return tuple(k * x for x in stride) if isinstance(stride, tuple) else k * stride


class Layout:
    """shape:stride with an offset and a swizzle; a basis stride `3@1` is the tuple (0, 3)."""

    def __init__(self, shape, stride, offset=0, swizzle=None):
        self.shape, self.stride, self.offset, self.swizzle = shape, stride, offset, swizzle
        self.modes = list(zip(flat(shape), leaves_like(stride, shape)))
        self.size = size(shape)

    def at(self, index):
        """The offset at a colexicographic index; beyond the end the last mode continues."""
        total = self.offset
        for i, (extent, stride) in enumerate(self.modes):
            last = i + 1 == len(self.modes)
            digit, index = (index, 0) if last else (index % extent, index // extent)
            total = add(total, scale(digit, stride))
        return self.swizzle(total) if self.swizzle else total

    def table(self):
        return [self.at(i) for i in range(self.size)]

    def axes(self):
        """The layouts of the top-level parts, without the offset."""
        if not isinstance(self.shape, tuple):
            return [self]
        return [Layout(s, d) for s, d in zip(self.shape, self.stride)]


def leaves_like(stride, shape):
    """The strides of a shape's leaves; a basis stride is a tuple where the shape has an integer."""
    if not isinstance(shape, tuple):
        return [stride]
    if len(shape) != len(stride):
        raise ValueError("shape and stride have different brackets")
    return [leaf for s, d in zip(shape, stride) for leaf in leaves_like(d, s)]


def xor_swizzle(bits, base, shift):
    mask = ((1 << bits) - 1) << (base + max(shift, 0))

    def swizzle(x):
        part = x & mask
        return x ^ (part >> shift if shift >= 0 else part << -shift)
    return swizzle


def bit_swizzle(images):
    """The map of offsets that sends bit i to images[i], higher bits to themselves."""
    def swizzle(x):
        out, window = x >> len(images) << len(images), images
        for i, image in enumerate(window):
            out ^= image if x >> i & 1 else 0
        return out
    return swizzle


class Linear:
    """A map that is linear over bits: for each input dim the images of 1, 2, 4 ... in the output dims."""

    def __init__(self, ins, outs):
        self.ins, self.outs = ins, outs
        self.extents = [1 << len(images) for _, images in ins]

    def at(self, coord):
        out = [0] * len(self.outs)
        for digit, (_, images) in zip(coord, self.ins):
            for i, image in enumerate(images):
                if digit >> i & 1:
                    image = image if isinstance(image, list) else [image]
                    out = [a ^ b for a, b in zip(out, image)]
        return tuple(out)

    def coords(self):
        return coords(self.extents)


def coords(extents):
    """All coordinates, the first axis fastest."""
    return [tuple(reversed(c)) for c in itertools.product(*[range(e) for e in reversed(extents)])]


def rows(extents):
    """All coordinates, the last axis fastest."""
    return list(itertools.product(*[range(e) for e in extents]))


# ---- texts ---------------------------------------------------------------------------------------------------------


def read_tree(text):
    """Nested integers; `3@1` is the basis stride (0, 3), `_` is None, `_4` is 4."""
    tokens = re.findall(r"-?\d+@\d+|_?-?\d+|[(),_]", text)
    if "".join(tokens) != re.sub(r"\s", "", text) or not tokens:
        raise ValueError(f"not nested integers: {text!r}")
    at = 0

    def part():
        nonlocal at
        token, at = tokens[at], at + 1
        if token != "(":
            if token == "_":
                return None
            if "@" in token:
                value, axis = map(int, token.split("@"))
                return (0,) * axis + (value,)
            return int(token.lstrip("_"))
        items = []
        while tokens[at] != ")":
            items.append(part())
            if tokens[at] == ",":
                at += 1
        at += 1
        return tuple(items)
    value = part()
    if at != len(tokens):
        raise ValueError(f"text after the value: {text!r}")
    return value


def split_top(text, at):
    """The parts between separators outside brackets."""
    pieces, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{<") - (c in ")]}" or (c == ">" and text[i - 1] != "-"))
        if depth == 0 and c == at:
            pieces.append(text[begin:i])
            begin = i + 1
    return [p.strip() for p in pieces + [text[begin:]]]


def read_linear(text):
    body, _, outs = text.partition("->")
    names = re.findall(r"([A-Za-z]\w*):(\d+)", outs)
    ins = []
    for part in split_top(body.strip()[1:-1], ","):
        name, _, images = part.partition("=")
        ins.append((name.strip(), json.loads(images)))
    return Linear(ins, names or [("out", "0")])


def read_layout(text):
    swizzle, offset = None, 0
    parts = [p.strip() for p in text.split(" o ")]
    for part in parts[:-1]:
        if numbers := re.fullmatch(r"Sw<(\d+),(\d+),(-?\d+)>", part):
            swizzle = xor_swizzle(*map(int, numbers.groups()))
        elif images := re.fullmatch(r"F2<([\d,]*)>", part):
            swizzle = bit_swizzle([int(n) for n in images[1].split(",")])
        else:
            offset += int(part)
    body, plus, more = parts[-1].partition("+")
    shape, colon, stride = body.partition(":")
    shape = read_tree(shape)
    return Layout(shape, read_tree(stride) if colon else compact(shape), offset + (int(more) if plus else 0), swizzle)


def read(text):
    """A value from its text."""
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("["):
        return json.loads(text)
    if text.startswith("{"):
        return read_linear(text)
    if text.startswith("<"):
        return [read(part) for part in split_top(text[1:-1], ",")]
    if ":" in text or " o " in text or "+" in text:
        return read_layout(text)
    return read_tree(text)


def layout(text):
    """A layout from its text; a shape means its compact layout."""
    value = read(text)
    return value if isinstance(value, Layout) else Layout(value, compact(value))


def tiler(text):
    """The layouts of a tiler's axes."""
    parts = read(text)
    return [p if isinstance(p, Layout) else Layout(p, 1) for p in (parts if isinstance(parts, list) else list(parts))]


# ---- what enumeration decides --------------------------------------------------------------------------------------


class Broken(Exception):
    """A law that does not hold; the message says where."""


def need(holds, *why):
    if not holds:
        raise Broken(" ".join(map(str, why)))


def equal_tables(answer, wanted):
    """The answer is this table of offsets, index by index."""
    need(answer.size == len(wanted), "size", answer.size, "and not", len(wanted))
    for i, value in enumerate(wanted):
        need(same_value(answer.at(i), value), f"at {i}:", answer.at(i), "and not", value)


def same_value(a, b):
    if isinstance(a, tuple) or isinstance(b, tuple):
        return not any(flat(add(a, scale(-1, b))))
    return a == b


def modes_of(table):
    """The fewest modes with these offsets, or (index, value, what every layout that begins so has there).

    The first mode is as long as the table is linear; longer it cannot be, and a shorter one of the same stride would
    join with the next. So the first failure is a proof that there is none."""
    table, modes, step = list(table), [], 1
    zero = table[0]
    while len(table) > 1:
        stride = add(table[1], scale(-1, table[0]))
        extent = 1
        while extent < len(table) and same_value(table[extent], add(zero, scale(extent, stride))):
            extent += 1
        if len(table) % extent:
            return modes, (extent * step, table[extent], add(zero, scale(extent, stride)))
        for i, value in enumerate(table):
            wanted = add(table[i - i % extent], scale(i % extent, stride))
            if not same_value(value, wanted):
                return modes, (i * step, value, wanted)
        modes.append((extent, stride))
        table, step = table[::extent], step * extent
    return modes, None


def compatible(a, b):
    """Every coordinate of shape a is one of b."""
    if not isinstance(a, tuple):
        return a == size(b)
    return isinstance(b, tuple) and len(a) == len(b) and all(map(compatible, a, b))


def tiling(offsets, end):
    """The offsets below `end` at which copies of `offsets` must begin to cover 0 ... end - 1 once; None if they cannot."""
    offsets, starts, covered = sorted(set(offsets)), [], set()
    for x in range(end):
        if x not in covered:
            copy = {x + o for o in offsets}
            if copy & covered:
                return None
            covered |= copy
            starts.append(x)
    return starts


def rest_of(offsets, end):
    """Returns `tiling`, which must exist; beyond `end` the starts continue as a layout does."""
    starts = tiling(offsets, end)
    need(starts is not None, "the question is wrong: its tiles do not tile")
    return starts


def injective(table):
    """The first two indices with one offset, or None."""
    seen = {}
    for i, x in enumerate(table):
        if seen.setdefault(x, i) != i:
            return [seen[x], i]
    return None


# ---- laws ----------------------------------------------------------------------------------------------------------

LAWS = {}


def law(text):
    def enter(function):
        LAWS[function.__name__] = (text, function)
        return function
    return enter


def as_layout(answer):
    value = read(answer)
    value = Layout(value, compact(value)) if isinstance(value, (int, tuple)) and not isinstance(value, bool) else value
    need(isinstance(value, Layout), "the answer is not a layout")
    need(value.size <= 1 << 16, "the answer has more than 65536 coordinates")
    return value


@law("the answer is the number, list or truth value that enumeration gives")
def value(answer, question):
    wanted = VALUES[question["op"]](*question["args"])
    found = read(answer)
    need(found == wanted, f"it is {found} and not {wanted}")


@law("R(i) = L(i) for all i; R is flat; no layout with fewer modes does this")
def coalesce(answer, question):
    r, source = as_layout(answer), layout(question["args"][0])
    equal_tables(r, source.table())
    need(not any(isinstance(part, tuple) for part in (r.shape if isinstance(r.shape, tuple) else ())), "brackets")
    least = max(1, len(modes_of(source.table())[0]))
    need(len(r.modes) <= least, len(r.modes), "modes where", least, "say it")


@law("R has each offset of L once for its coordinates in modes of stride not 0, in their order, in the fewest modes")
def filter(answer, question):
    source = layout(question["args"][0])
    kept = [(e, d) for e, d in source.modes if d != 0]
    table = Layout(tuple(e for e, _ in kept), tuple(d for _, d in kept)).table()
    r = as_layout(answer)
    equal_tables(r, table)
    need(len(r.modes) <= max(1, len(modes_of(table)[0])), "more modes than needed")


@law("R(i) = A(B(i)) for all i, and every coordinate of B is one of R (R's shape refines B's)")
def composition(answer, question):
    r, (a, b) = as_layout(answer), map(layout, question["args"])
    equal_tables(r, [a.at(x) for x in b.table()])
    need(compatible(b.shape, r.shape), "shape", r.shape, "does not refine", b.shape)


@law("R(c0, c1, ...) = A(B0(c0), B1(c1), ...) axis by axis")
def composition_by_axis(answer, question):
    a, tiles = layout(question["args"][0]), tiler(question["args"][1])
    axes = a.axes()
    parts = [[axis.at(x) for x in tile.table()] for axis, tile in zip(axes, tiles)]
    equal_tables(as_layout(answer), [a.offset + sum(c) for c in sums(parts)])


def sums(parts):
    """The terms of every coordinate, the first part fastest."""
    return [tuple(part[i] for part, i in zip(parts, c)) for c in coords([len(p) for p in parts])]


@law("each offset 0 ... n-1 is L(i) + R(j) for one offset of L and one j; no two sums are equal; R ascends")
def complement(answer, question):
    source, n = set(layout(question["args"][0]).table()), int(question["args"][1])
    table = as_layout(answer).table()
    both = [x + y for x in source for y in table]
    need(len(both) == len(set(both)), "two sums meet")
    missing = next((x for x in range(n) if x not in set(both)), None)
    need(missing is None, f"{missing} is not a sum")
    need(table == sorted(table), "R does not ascend")


@law("L(R(i)) = i for all i, over the whole run of offsets from 0 that an injective L reaches (`longest` is its size)")
def right_inverse(answer, question):
    r, source = as_layout(answer), layout(question["args"][0])
    for i in range(r.size):
        index = r.at(i)
        need(0 <= index < source.size, f"R({i}) = {index} is not an index of L")
        need(source.at(index) == i, f"L(R({i})) = L({index}) = {source.at(index)}")
    need(r.size >= question["longest"], "size", r.size, "where", question["longest"], "is possible")


@law("as `right_inverse`, where modes overlap: L(R(i)) = i for all i, and no longer layout does this")
def longest_right_inverse(answer, question):
    right_inverse(answer, question)


def still(source, i):
    """Returns index i with its coordinates in modes of stride 0 set to 0."""
    out, step = 0, 1
    for extent, stride in source.modes:
        out += i % extent * step if stride else 0
        i, step = i // extent, step * extent
    return out


@law("R(L(i)) = i for all i; with modes of stride 0, i with their coordinates set to 0")
def left_inverse(answer, question):
    r, source = as_layout(answer), layout(question["args"][0])
    for i in range(source.size):
        wanted = still(source, i)
        found = r.at(source.at(i))
        need(found == wanted, f"R(L({i})) = R({source.at(i)}) = {found} and not {wanted}")


@law("R gives each index with the offset L(0) once")
def nullspace(answer, question):
    source = layout(question["args"][0]).table()
    wanted = [i for i, x in enumerate(source) if x == source[0]]
    found = sorted(as_layout(answer).table())
    need(found == wanted, f"{found} and not {wanted}")


@law("R(i, j) = A(B(i) + C(j)), where C are the starts of the copies of B that cover A's indices once, ascending")
def divide(answer, question):
    a, b = map(layout, question["args"])
    rest = rest_of(b.table(), a.size)
    equal_tables(as_layout(answer), [a.at(x + y) for y in rest for x in b.table()])


@law("R((i0, i1, ...), (j0, j1, ...)) = A(B0(i0) + C0(j0), B1(i1) + C1(j1), ...), C as in `divide`, axis by axis")
def zipped_divide(answer, question):
    a, tiles = layout(question["args"][0]), tiler(question["args"][1])
    axes = a.axes()
    rests = [rest_of(t.table(), axis.size) for axis, t in zip(axes, tiles)]
    table = [a.offset + sum(axis.at(x + y) for axis, x, y in zip(axes, inner, outer))
             for outer in sums(rests) for inner in sums([t.table() for t in tiles])]
    equal_tables(as_layout(answer), table)


@law("as `zipped_divide`, but axis by axis: R((i0, j0), (i1, j1), ...)")
def logical_divide_by_axis(answer, question):
    a, tiles = layout(question["args"][0]), tiler(question["args"][1])
    parts = []
    for axis, tile in zip(a.axes(), tiles):
        rest = rest_of(tile.table(), axis.size)
        parts.append([axis.at(x + y) for y in rest for x in tile.table()])
    equal_tables(as_layout(answer), [a.offset + sum(c) for c in sums(parts)])


def copies(a, count):
    """The first starts of copies of A that cover the offsets from 0 on once."""
    span = max(a.table()) + 1
    return rest_of(a.table(), span * count)[:count]


@law("R(i, j) = A(i) + C(B(j)), where C are the starts of the copies of A that cover all offsets once, ascending")
def product(answer, question):
    a, b = map(layout, question["args"])
    starts = copies(a, max(b.table()) + 1)
    equal_tables(as_layout(answer), [x + starts[y] for y in b.table() for x in a.table()])


def by_axis(question, inner_first):
    a, b = map(layout, question["args"])
    starts = copies(a, max(b.table()) + 1)
    pairs = [(p, q) if inner_first else (q, p) for p, q in zip(a.axes(), b.axes())]
    table = []
    for c in coords([p.size * q.size for p, q in pairs]):
        digits = [(x % p.size, x // p.size) for x, (p, _) in zip(c, pairs)]
        digits = digits if inner_first else [(y, x) for x, y in digits]
        inner = sum(axis.at(x) for axis, (x, _) in zip(a.axes(), digits))
        outer = sum(axis.at(y) for axis, (_, y) in zip(b.axes(), digits))
        table.append(inner + starts[outer])
    return table


@law("R((a0, b0), (a1, b1), ...) = A(a0, a1, ...) + C(B(b0, b1, ...)), C as in `product`: A inside on each axis")
def blocked_product(answer, question):
    equal_tables(as_layout(answer), by_axis(question, True))


@law("R((b0, a0), (b1, a1), ...) = A(a0, a1, ...) + C(B(b0, b1, ...)), C as in `product`: A outside on each axis")
def raked_product(answer, question):
    equal_tables(as_layout(answer), by_axis(question, False))


@law("R at (x0, x1, ...) of the shape is A(x mod A's shape) + C(x div A's shape, first axis fastest), C as in `product`")
def tile_to_shape(answer, question):
    a, shape = layout(question["args"][0]), flat(read(question["args"][1]))
    counts = [e // axis.size for e, axis in zip(shape, a.axes())]
    b = Layout(tuple(counts), compact(tuple(counts)))
    starts = copies(a, b.size)
    table = []
    for c in coords(shape):
        inner = sum(axis.at(x % axis.size) for x, axis in zip(c, a.axes()))
        outer = sum(axis.at(x // part.size) for x, axis, part in zip(c, b.axes(), a.axes()))
        table.append(inner + starts[outer])
    equal_tables(as_layout(answer), table)


def groups(table, n):
    """The groups of n offsets, in order of the first index of each."""
    return list(dict.fromkeys(x // n for x in table))


@law("R gives the groups of n offsets that L touches, in the order of L's indices, each once")
def upcast(answer, question):
    source, n = layout(question["args"][0]), int(question["args"][1])
    equal_tables(as_layout(answer), groups(source.table(), n))


@law("R has n times L's indices, no two at one offset, and its groups of n offsets are L's offsets in order")
def downcast(answer, question):
    source, n = layout(question["args"][0]), int(question["args"][1])
    table = as_layout(answer).table()
    need(len(table) == n * source.size and injective(table) is None, "not each part of each element once")
    need(groups(table, n) == source.table(), "groups in another order")


@law("M(x) = L(x) for all x, as the bits of the output")
def linear(answer, question):
    m, source = read(answer), layout(question["args"][0])
    need(isinstance(m, Linear) and prod(m.extents) == source.size, "no linear layout of that size")
    for c, wanted in zip(m.coords(), source.table()):
        need(m.at(c) == (wanted,), f"at {c}: {m.at(c)} and not {wanted}")


@law("R(x) = M(x) for all x, the first dim lowest")
def layout_of_linear(answer, question):
    m = read(question["args"][0])
    equal_tables(as_layout(answer), [m.at(c)[0] for c in m.coords()])


@law("R(M(x)) = x for all x")
def linear_inverse(answer, question):
    r, m = read(answer), read(question["args"][0])
    for c in m.coords():
        need(r.at(m.at(c)) == c, f"R(M{c}) = R{m.at(c)} = {r.at(m.at(c))}")


@law("R(x) = Y(X(x)) for all x")
def linear_compose(answer, question):
    r, (x, y) = read(answer), map(read, question["args"])
    for c in x.coords():
        need(r.at(c) == y.at(x.at(c)), f"at {c}: {r.at(c)} and not {y.at(x.at(c))}")


@law("the list of the offsets of all coordinates, the last dim fastest, is what the pattern or the strides give")
def table(answer, question):
    wanted, found = array(question), read(answer)
    need(len(found) == len(wanted), len(found), "offsets and not", len(wanted))
    for c, a, b in zip(rows(question["dims"]), found, wanted):
        need(a == b, f"at {c}: {a} and not {b}")


@law("the list of the coordinates at offsets 0 ... n-1, null at padding, inverts the table of offsets")
def where(answer, question):
    at = dict(zip(array(question), rows(question["dims"])))
    found = [None if c is None else tuple(c) for c in read(answer)]
    wanted = [at.get(x) for x in range(int(question["args"][2]))]
    need(found == wanted, next((f"at {x}: {a} and not {b}" for x, (a, b) in enumerate(zip(found, wanted)) if a != b), "length"))


def array(question):
    """The offsets of an array, the last dim fastest: by `strides`, or by a `pattern` of digits, outermost first."""
    dims = question["dims"]
    if "strides" in question:
        return [sum(x * s for x, s in zip(c, question["strides"])) for c in rows(dims)]
    left, order = question["pattern"].split("->")
    groups_of_digits = [part if part[0] != "(" else part[1:-1] for part in re.findall(r"\([^)]*\)|\S+", left)]
    digits = {}  # name -> (axis, divisor, size)
    for axis, (names, extent) in enumerate(zip(groups_of_digits, dims)):
        divisor = 1
        for name in reversed(names.split()):
            name, _, count = name.partition(":")
            count = int(count) if count else -(-extent // divisor)
            digits[name] = (axis, divisor, count)
            divisor *= count
    out = []
    for c in rows(dims):
        offset = 0
        for name in order.split():
            axis, divisor, count = digits[name]
            offset = offset * count + c[axis] // divisor % count
        out.append(offset)
    return out


# ---- operations whose answer is one value --------------------------------------------------------------------------


def index_of(coord, shape):
    """The colexicographic index of a coordinate whose parts may be integers for whole axes."""
    if not isinstance(shape, tuple) or not isinstance(coord, tuple):
        return coord
    out, step = 0, 1
    for c, s in zip(coord, shape):
        out, step = out + index_of(c, s) * step, step * size(s)
    return out


def unpack(index, shape):
    if not isinstance(shape, tuple):
        return index
    out = []
    for s in shape:
        out.append(unpack(index % size(s), s))
        index //= size(s)
    return tuple(out)


def profile(value):
    return tuple(map(profile, value)) if isinstance(value, tuple) else 0


VALUES = {
    "size": lambda a: layout(a).size,
    "cosize": lambda a: 1 + max(layout(a).table()),
    "offsets": lambda a: [list(x) if isinstance(x, tuple) else x for x in layout(a).table()],
    "crd2idx": lambda c, a: layout(a).at(index_of(read(c), layout(a).shape)),
    "idx2crd": lambda i, s: unpack(int(i), read(s)),
    "swizzle": lambda sw, n: [layout(f"{sw} o {n}:1").at(i) for i in range(int(n))],
    "same": lambda a, b: layout(a).table() == layout(b).table(),
    "injective": lambda a: injective(layout(a).table()) is None,
    "congruent": lambda a, b: profile(read(a)) == profile(read(b)),
    "compatible": lambda a, b: compatible(read(a), read(b)),
}


# ---- is there an answer? -------------------------------------------------------------------------------------------


def left_inverse_of(source):
    """A layout that undoes an injective one, or None: by all chains of cuts of the offsets into digits.

    R over offsets 0 ... span - 1 has digits at cuts 1 | p1 | p2 ...; with the cuts given its strides are a system of
    linear equations in integers, one for each offset of L. A chain with more cuts can say all that one with fewer can,
    so chains whose steps are primes are enough."""
    pairs = sorted({(x, still(source, i)) for i, x in enumerate(source.table())})
    span = pairs[-1][0] + 1

    def steps(p):
        return [r for r in range(2, span) if p * r < span and all(r % q for q in range(2, r))]

    def chains(cuts):
        bigger = steps(cuts[-1])
        if not bigger:
            yield cuts
        for r in bigger:
            yield from chains(cuts + [cuts[-1] * r])
    zero = source.table().index(0) if 0 in source.table() else 0
    for cuts in chains([1]):
        if strides := solution(cuts, [(x, i - zero) for x, i in pairs]):
            extents = [b // a for a, b in zip(cuts, cuts[1:])] + [-(-span // cuts[-1])]
            table = [zero + sum(x // p % e * a for p, e, a in zip(cuts, extents, strides)) for x in range(cuts[-1] * extents[-1])]
            return text_of(table)
    return None


def text_of(table):
    modes = modes_of(table)[0] or [(1, 0)]
    shape, stride = ([mode[k] for mode in modes] for k in (0, 1))
    text = f"{shape[0]}:{stride[0]}" if len(modes) == 1 else f"({','.join(map(str, shape))}):({','.join(map(str, stride))})"
    return text + (f"+{table[0]}" if table[0] else "")


def solution(cuts, pairs):
    """Integers a with sum of digit_k(x) * a_k = i for all pairs (x, i), or None."""
    n = len(cuts)
    basis, free, point = [[int(i == j) for j in range(n)] for i in range(n)], list(range(n)), [0] * n
    for x, i in pairs:
        row = [x // p % (cuts[k + 1] // p) if k + 1 < n else x // p for k, p in enumerate(cuts)]
        rest = i - sum(a * b for a, b in zip(row, point))
        dots = {f: sum(a * b for a, b in zip(row, basis[f])) for f in free}
        moving = [f for f in free if dots[f]]
        while len(moving) > 1:  # Euclid on the directions that are still free
            least = min(moving, key=lambda f: abs(dots[f]))
            for f in moving:
                if f != least:
                    q = dots[f] // dots[least]
                    basis[f] = [a - q * b for a, b in zip(basis[f], basis[least])]
                    dots[f] -= q * dots[least]
            moving = [f for f in moving if dots[f]]
        if not moving:
            if rest:
                return None
            continue
        q, r = divmod(rest, dots[moving[0]])
        if r:
            return None
        point = [a + q * b for a, b in zip(point, basis[moving[0]])]
        free.remove(moving[0])
    return point


def right_inverse_of(source):
    """The table of the longest layout R with L(R(i)) = i, by trying every step and extent."""
    table = source.table()
    at = {}
    for i, x in enumerate(table):
        at.setdefault(x, []).append(i)
    best = []

    def grow(r):
        nonlocal best
        best = max(best, r, key=len)
        for t in at.get(len(r), []):
            step, longer, base = t - r[0], r, len(r)
            while True:
                j = len(longer) // base
                more = [x + j * step for x in r]
                if any(not 0 <= x < len(table) or table[x] != len(longer) + k for k, x in enumerate(more)):
                    break
                longer = longer + more
                grow(longer)
    for zero in at.get(0, []):
        grow([zero])
    return best


def no_composition(question):
    a, b = map(layout, question["args"])
    a = Layout(a.shape, a.stride, a.offset)  # a swizzle stays outside: Sw o R, where R composes without it
    wanted = [a.at(x) for x in b.table()]
    extents = [e for e, _ in b.modes]
    zero, steps = wanted[0], [prod(extents[:k]) for k in range(len(extents))]
    for k, extent in enumerate(extents):
        failure = modes_of([wanted[x * steps[k]] for x in range(extent)])[1]
        if failure:
            at, found, forced = failure
            return {"at": at * steps[k], "is": found, "not": forced}
    for i, value_there in enumerate(wanted):
        forced = zero
        for k, extent in enumerate(extents):
            forced = add(forced, add(wanted[i // steps[k] % extent * steps[k]], scale(-1, zero)))
        if not same_value(value_there, forced):
            return {"at": i, "is": value_there, "not": forced}
    return None


def no_left_inverse(question):
    source = layout(question["args"][0])
    kept = sorted({still(source, i) for i in range(source.size)})
    if pair := injective([source.at(i) for i in kept]):
        return {"indices": [kept[i] for i in pair], "offset": source.at(kept[pair[0]])}
    return None if left_inverse_of(source) else {"cuts": "all"}


def no_linear(question):
    source = layout(question["args"][0]).table()
    bits = [x for x in range(len(source))]
    for x, y in itertools.combinations(bits, 2):
        if source[x ^ y] != source[x] ^ source[y]:
            return {"indices": [x, y], "is": source[x ^ y], "not": source[x] ^ source[y]}
    return None


def no_table(question):
    m = read(question["args"][0])
    failure = modes_of([m.at(c)[0] for c in m.coords()])[1]
    return failure and {"at": failure[0], "is": failure[1], "not": failure[2]}


def no_tiles(question):
    a, b = map(layout, question["args"])
    table = b.table()
    if pair := injective(table):
        return {"indices": pair, "offset": table[pair[0]]}
    return None if tiling(table, a.size) is not None and max(table) < a.size else {"tiles": "do not tile"}


NONE = {"composition": no_composition, "left_inverse": no_left_inverse, "linear": no_linear,
        "layout_of_linear": no_table, "divide": no_tiles}


def check(question):
    """Checks a question: its example obeys the law, or no answer does."""
    text, function = LAWS[question["law"]]
    if "none" in question:
        witness = json.loads(json.dumps(NONE[question["law"]](question)))
        need(witness == question["none"], "the witness is", json.dumps(witness))
        return
    if question["law"].endswith("right_inverse"):
        need(question["longest"] == len(right_inverse_of(layout(question["args"][0]))), "not the longest")
    if "example" in question:
        function(question["example"], question)
    else:
        need(question["law"] in ("value", "table", "where"), "neither an example nor a witness")


# ---- asking --------------------------------------------------------------------------------------------------------


def questions():
    folder = os.path.join(HERE, "questions")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as lines:
            for line in filter_blank(lines):
                yield name.removesuffix(".jsonl"), json.loads(line)


def filter_blank(lines):
    return (line for line in lines if line.strip())


class Asked:
    """An adapter in a separate process: one question and one answer a line. It restarts after a crash."""

    def __init__(self, adapter):
        path = os.path.join(HERE, "adapters", adapter + ".py")
        if not os.path.exists(path):
            sys.exit(f"no adapter {adapter!r}; there are: {', '.join(sorted(adapters()))}")
        self.words, self.process = [sys.executable, os.path.abspath(__file__), "--serve", path], None
        self.hello = self.say({"hello": True})

    def start(self):
        self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)

    def say(self, message):
        if self.process is None or self.process.poll() is not None:
            self.start()
        timer = threading.Timer(SECONDS, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except OSError:
            line = ""
        finally:
            late = not timer.is_alive()
            timer.cancel()
        if line.endswith("\n"):
            return json.loads(line)
        code = self.process.wait()
        return {"crashed": f"no answer within {SECONDS} seconds" if late else f"the process ended with {code}"}

    def end(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


def adapters():
    return {name.removesuffix(".py") for name in os.listdir(os.path.join(HERE, "adapters")) if name.endswith(".py")}


def judge(question, reply):
    """Returns the outcome of a question and its reason."""
    if "not offered" in reply:
        return "not offered", ""
    if "crashed" in reply:
        return "crashed", reply["crashed"]
    if "refused" in reply:
        return ("right" if "none" in question else "refused"), reply["refused"]
    said = reply["answer"]
    if "none" in question:
        return "wrong", f"{said}, where no answer exists: {json.dumps(question['none'])}"
    try:
        LAWS[question["law"]][1](said, question)
        return "right", said
    except Broken as broken:
        return "wrong", f"{said}: {broken}"
    except (ValueError, TypeError, IndexError, KeyError, AttributeError) as error:
        return "wrong", f"{said}: cannot be read as an answer ({error})"


def serve(path):
    """Runs the loop of an adapter's process: calls `answer`; an exception is a refusal or a crash."""
    import importlib.util
    answers, sys.stdout = sys.stdout, sys.stderr  # what an implementation prints is not an answer
    spec = importlib.util.spec_from_file_location("adapter", path)
    adapter = importlib.util.module_from_spec(spec)
    broken = None
    try:
        spec.loader.exec_module(adapter)
    except ImportError as error:
        broken = str(error)
    for line in sys.stdin:
        message = json.loads(line)
        if broken is not None:
            reply = {"missing": broken}
        elif "hello" in message:
            reply = {"name": adapter.NAME, "version": adapter.version()}
        else:
            reply = ask(adapter, message)
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


def ask(adapter, message):
    try:
        answer = adapter.answer(message["op"], message["args"], message)
        return {"not offered": True} if answer is None else {"answer": answer}
    except adapter.REFUSALS as error:
        return {"refused": f"{type(error).__name__}: {error}"[:300]}
    except Exception as error:  # an exception that is not a word of the implementation's own
        return {"crashed": f"{type(error).__name__}: {error}"[:300]}


def main(words):
    if words[:1] == ["--serve"]:
        return serve(words[1])
    if not words or words[0] in ("-h", "--help"):
        return print(__doc__)
    if words == ["--check"]:
        return check_all()
    as_json = "--json" in words
    adapter, *only = [word for word in words if word != "--json"]
    asked = Asked(adapter)
    if "name" not in asked.hello:
        sys.exit(f"{adapter}: not here: {asked.hello.get('missing') or asked.hello.get('crashed')}")
    if only[:1] == ["--try"]:
        print(json.dumps(asked.say({"op": only[1], "args": only[2:]}), ensure_ascii=False))
        return asked.end()
    counts, failures = {}, []
    for section, question in questions():
        if only and section not in only and question["id"] not in only:
            continue
        outcome, why = judge(question, asked.say(question))
        counts.setdefault(section, dict.fromkeys(OUTCOMES, 0))[outcome] += 1
        if outcome in ("wrong", "refused", "crashed"):
            failures.append((outcome, question, why))
    asked.end()
    if as_json:
        listed = [{"id": q["id"], "outcome": o, "op": q["op"], "args": q["args"], "why": w} for o, q, w in failures]
        return print(json.dumps({**asked.hello, "sections": counts, "failures": listed}, ensure_ascii=False))
    report(asked.hello, adapter, counts, failures)
    return 1 if failures else 0


def report(hello, adapter, counts, failures):
    print(f"{hello['name']} {hello['version']}")
    for outcome, question, why in failures:
        print(f"{outcome}  {question['id']}: {question['op']}({', '.join(question['args'])}): {why}".replace("\n", " "))
        print(f"    run.py {adapter} {question['id']}")
    width = max(map(len, counts), default=0)
    print(" " * width, *(f"{name:>11}" for name in OUTCOMES))
    totals = dict.fromkeys(OUTCOMES, 0)
    for section, row in counts.items():
        print(f"{section:<{width}}", *(f"{row[name]:>11}" for name in OUTCOMES))
        totals = {name: totals[name] + row[name] for name in OUTCOMES}
    print(f"{'all':<{width}}", *(f"{totals[name]:>11}" for name in OUTCOMES))


def check_all():
    count, ids, bad = 0, set(), 0
    for section, question in questions():
        count += 1
        try:
            need(question["id"] not in ids, "this id belongs to another question")
            ids.add(question["id"])
            check(question)
        except (Broken, ValueError, KeyError, TypeError, IndexError) as error:
            bad += 1
            print(f"{section}: {question['id']}: {type(error).__name__}: {error}")
    print(f"{count} questions, {bad} of them wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
