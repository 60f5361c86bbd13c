"""Axe layouts by TVM's TIRx: texts as it prints them, and where `apply` puts every element.

    python tests/oracle/axe.py > corpus/vectors/axe.jsonl
    python tests/oracle/axe.py --check corpus/vectors/axe.jsonl

It needs the package of `axe.txt`. Rows are drawn from a fixed seed, so that `--check`
compares them with the recorded ones.
"""

import argparse
import json
import math
import random
import sys

import tvm
from tvm.tirx.layout import ComposeLayout, Iter, TileLayout

ANALYZER = tvm.sym.Analyzer()


def number(value) -> int:
    """The constant that an expression is."""
    return int(ANALYZER.simplify(value))


def places(layout, dims: list[int]) -> dict[str, list[int]]:
    """The coordinate of every element on every axis, in row-major order."""
    found: dict[str, list[int]] = {}
    count = math.prod(dims)
    for index in range(count):
        # The place by the row-major number: with coordinates, TVM leaves the swizzle as an expression.
        at = {str(axis): number(value) for axis, value in layout.apply(index).items()}
        for axis in sorted(set(found) | set(at)):
            found.setdefault(axis, [0] * index).append(at.get(axis, 0))
    return found


def regrouped(source: random.Random, extents: list[int]) -> list[int]:
    """Dims whose row-major index is that of these extents: neighbours joined, and one dim split."""
    dims = [extents[0]]
    for extent in extents[1:]:
        if source.random() < 0.4:
            dims[-1] *= extent
        else:
            dims.append(extent)
    at = source.randrange(len(dims))
    if dims[at] % 2 == 0 and source.random() < 0.4:
        dims[at : at + 1] = [dims[at] // 2, 2]
    return dims


def row(kind: str, layout, dims: list[int]) -> dict:
    return {"kind": kind, "text": str(layout), "dims": dims, "places": places(layout, dims)}


def memory(source: random.Random) -> dict:
    """Strides of a shuffled dense array, sometimes with gaps, an offset or a swizzle."""
    swizzled = source.random() < 0.4
    extents = [source.choice([2, 4, 8] if swizzled else [1, 2, 3, 4, 5]) for _ in range(source.randint(1, 4))]
    order, stride, strides = list(range(len(extents))), 1, [0] * len(extents)
    source.shuffle(order)
    for at in order:
        strides[at] = stride
        stride *= extents[at] * source.choice([1, 1, 1, 2])
    offset = {"m": source.choice([3, 16])} if source.random() < 0.3 else {}
    tile = TileLayout.from_iters([Iter(e, s, "m") for e, s in zip(extents, strides)], [], offset)
    if swizzled:
        bits = source.randint(1, 2)
        tile = ComposeLayout(source.randint(0, 2), bits, source.randint(bits, 3), tile, source.random() < 0.7)
    return row("memory", tile, regrouped(source, extents))


def digits(source: random.Random, axes: dict[str, int]) -> list[tuple[int, int, str]]:
    """The bits of each axis in runs, as extents with strides."""
    found = []
    for axis, bits in axes.items():
        at = 0
        while at < bits:
            run = source.randint(1, bits - at)
            found.append((1 << run, 1 << at, axis))
            at += run
    source.shuffle(found)
    return found


def threads(source: random.Random) -> dict:
    """Powers of two over registers, lanes and warps; some of them hold copies."""
    axes = {"m": source.randint(0, 2), "laneid": source.randint(1, 5), "warpid": source.randint(0, 2)}
    if source.random() < 0.2:
        axes = {"m": source.randint(0, 2), "tid_in_wg": 7}
    all_digits = digits(source, axes)
    copies = [one for one in all_digits if one[2] != "m" and source.random() < 0.2][:1]
    shard = [one for one in all_digits if one not in copies] or [(1, 1, "m")]
    tile = TileLayout.from_iters([Iter(*one) for one in shard], [Iter(*one) for one in copies], {})
    return row("threads", tile, regrouped(source, [extent for extent, _, _ in shard]))


def devices(source: random.Random) -> dict:
    """Axes of a mesh, not only powers of two, beside row-major shards."""
    sizes = {name: source.choice([2, 3, 4]) for name in source.sample(["dp", "tp", "pp"], source.randint(1, 2))}
    shard, copies = [], []
    for name, size in sizes.items():
        parts = [(2, 2, name), (2, 1, name)] if size == 4 and source.random() < 0.5 else [(size, 1, name)]
        for part in parts:
            (copies if source.random() < 0.25 else shard).append(part)
    local = [source.choice([1, 2, 3, 4]) for _ in range(source.randint(1, 3))]
    shard += [(extent, None, "m") for extent in local]
    source.shuffle(shard)
    stride = 1
    for at, (extent, own, axis) in reversed(list(enumerate(shard))):
        if axis == "m":
            shard[at] = (extent, stride, axis)
            stride *= extent
    tile = TileLayout.from_iters([Iter(*one) for one in shard], [Iter(*one) for one in copies], {})
    found = row("devices", tile, regrouped(source, [extent for extent, _, _ in shard]))
    return found | {"mesh": sizes, "copies": copies}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", help="the recorded rows")
    path = parser.parse_args().check
    source, lines = random.Random(49), []
    for make, count in ((memory, 40), (threads, 40), (devices, 40)):
        lines += [json.dumps(make(source), separators=(",", ":")) for _ in range(count)]
    if path is None:
        print("\n".join(lines))
        return
    with open(path, encoding="utf-8") as file:
        recorded = file.read().splitlines()
    wrong = [at for at, pair in enumerate(zip(lines, recorded, strict=False)) if pair[0] != pair[1]]
    if wrong or len(lines) != len(recorded):
        sys.exit(f"{path}: {len(recorded)} rows, {len(lines)} expected; rows that differ: {wrong}")
    print(f"{len(lines)} rows are as TVM has them")


if __name__ == "__main__":
    main()
