"""Offsets of the named formats, by formulas that know nothing of patterns: corpus/formats/NAME.json.

    python tests/python/format_offsets.py FOLDER

Blocked formats are index arithmetic as their makers write it, fragments the lane and register of the
instruction's documentation, Marlin's weights the maker's own permutation, shuffles of kernels the `view` and
`permute` of their makers' code. Run once; the files are kept.
"""

import itertools
import json
import math
import pathlib
import sys

WIDTH = {"u2": 2, "s4": 4, "u4": 4, "s8": 8, "u8": 8, "f8e4m3fn": 8, "f8e8m0fnu": 8}
WIDTH |= {"f16": 16, "bf16": 16, "u16": 16, "u32": 32, "f32": 32, "s32": 32, "f64": 64}


def up(x, m):
    return -(-x // m) * m


def box(cells):
    """The offset of a coordinate (digit, size), ..., outermost first, and the size of the whole box."""
    at, size = 0, 1
    for digit, extent in cells:
        at, size = at * extent + digit, size * extent
    return at, size


def matrix(make):
    """A format of the last two dims, all others before it."""

    def formula(coord, dims, c0):
        *lead, i, j = coord
        *outer, rows, cols = dims
        at, size = make(i, j, rows, cols, c0)
        batch, count = box(list(zip(lead, outer)))
        return batch * size + at, count * size

    return formula


def blocks(a, b):
    """Row-major blocks of a by b, row by row."""
    return lambda i, j, r, c, c0: box(
        [(i // a, up(r, a) // a), (j // b, up(c, b) // b), (i % a, a), (j % b, b)]
    )


def zn(m0, n0):
    def make(i, j, r, c, c0):
        a, b = m0 or c0, n0 or c0
        return (j // b) * up(r, a) * b + i * b + j % b, up(r, a) * up(c, b)

    return matrix(make)


def channels(c0, last="nchw"):
    """Channels in vectors of c0, innermost; `c` in the order is the number of the vector."""

    def formula(coord, dims, usual):
        size = c0 or usual
        names = "ncdhw" if len(dims) == 5 else "nchw"
        at = dict(zip(names, coord)), dict(zip(names, dims))
        cells = [
            (at[0]["c"] // size, up(at[1]["c"], size) // size) if x == "c" else (at[0][x], at[1][x])
            for x in last
        ]
        return box([*cells, (at[0]["c"] % size, size)])

    return formula


def filters(order, n_block):
    """Filters: c1 and the kernel first, then n padded to n_block, then c0."""

    def formula(coord, dims, c0):
        names = "ncdhw" if len(dims) == 5 else "nchw"
        at, of = dict(zip(names, coord)), dict(zip(names, dims))
        cells = [(at["c"] // c0, up(of["c"], c0) // c0) if x == "c" else (at[x], of[x]) for x in order]
        return box([*cells, (at["n"], up(of["n"], n_block)), (at["c"] % c0, c0)])

    return formula


def order(stored, logical):
    return lambda coord, dims, c0: box(
        [(coord[logical.index(x)], dims[logical.index(x)]) for x in stored]
    )


def tiles(rows, cols, place):
    """Tiles row by row, inside by a table of places."""

    def make(i, j, r, c, c0):
        tile = (i // rows) * (up(c, cols) // cols) + j // cols
        return tile * rows * cols + place[i % rows, j % cols], up(r, rows) * up(c, cols)

    return matrix(make)


def fragment(rows, cols, threads, owner):
    """Registers written thread by thread: owner(thread, value) is the coordinate."""
    values = rows * cols // threads
    place = {owner(t, v): t * values + v for t in range(threads) for v in range(values)}
    assert len(place) == rows * cols, (rows, cols)
    return tiles(rows, cols, place)


def g(lane):
    return lane >> 2


def t(lane):
    return lane & 3


def marlin_permutation(interleave):
    """The maker's loop: which element of a strip of 16 by 64, tile after tile, comes where."""
    perm = []
    for i in range(32):
        perm1 = []
        col = i // 4
        for block in [0, 1]:
            for row in [2 * (i % 4), 2 * (i % 4) + 1, 2 * (i % 4 + 4), 2 * (i % 4 + 4) + 1]:
                perm1.append(16 * row + col + 8 * block)
        for j in range(4):
            perm.extend([p + 256 * j for p in perm1])
    step = len(interleave)
    return [perm[at + k] for at in range(0, 1024, step) for k in interleave]


def marlin(interleave):
    place = {}
    for at, p in enumerate(marlin_permutation(interleave)):
        tile, within = divmod(p, 256)
        place[within // 16, tile * 16 + within % 16] = at
    return tiles(16, 64, place)


def marlin_a8(bits):
    """Places of 32 by 32 tiles: of 4 bits as they come, of 8 bits each thread's rows in two halves."""

    def make(i, j, r, c, c0):
        k3, k2, k1, k0 = i // 32, i % 32 // 16, i % 16 // 4, i % 4
        n3, n2, n1, n0 = j // 32, j % 32 // 16, j % 16 // 8, j % 8
        last = [(k0, 4), (k2, 2)] if bits == 4 else [(k2, 2), (k0, 4)]
        return box([(k3, up(r, 32) // 32), (n3, up(c, 32) // 32), (n0, 8), (k1, 4), (n2, 2), (n1, 2)] + last)

    return matrix(make)


def packed_rows(step):
    """Words along the rows' index: `step` rows of a column in a word."""
    return matrix(lambda i, j, r, c, c0: ((i // step * c + j) * step + i % step, up(r, step) * c))


def packed_columns(step):
    """Each row padded to whole words."""
    return matrix(lambda i, j, r, c, c0: (i * up(c, step) + j, r * up(c, step)))


def flat_pairs(coord, dims, c0):
    at, size = box(list(zip(coord, dims)))
    return at ^ 1, up(size, 2)


def zero_points(interleave):
    """The maker's scale permutation of 64 columns, then the interleave of each word."""
    perm = [i + 8 * j for i in range(8) for j in range(8)]
    step = len(interleave)
    return row_permutation([perm[at + k] for at in range(0, 64, step) for k in interleave])


def row_permutation(perm):
    place = {(0, p): at for at, p in enumerate(perm)}
    return tiles(1, len(perm), place)


def cols_inside(make):
    """The same with the roles of rows and columns changed."""
    return matrix(lambda i, j, r, c, c0: make(j, i, c, r, c0))


def vnni(i, j, r, c, v):
    return (i // v) * c * v + j * v + i % v, up(r, v) * c


def amx_b(i, j, r, c, v):
    k, wide = 16 * v, up(r, 16 * v) // (16 * v)
    tile = (j // 16) * wide + i // k
    return tile * k * 16 + (i % k) // v * 16 * v + (j % 16) * v + i % v, up(r, k) * up(c, 16)


def col4(i, j, r, c, c0):
    inside = ((i & 1) << 7) + ((i % 8 >> 1) << 2) + (j & 3) + ((j >> 2 & 1) << 4) + ((j % 32 >> 3) << 5)
    return (j // 32) * 32 * up(r, 8) + (i // 8) * 256 + inside, up(r, 8) * up(c, 32)


def col32_2r_4r4(i, j, r, c, c0):
    row = ((i % 8 // 2) * 4 + i % 32 // 8) * 2 + i % 2
    return (j // 32) * 32 * up(r, 32) + (i // 32) * 1024 + row * 32 + j % 32, up(r, 32) * up(c, 32)


def scale(i, j, r, c, c0):
    tile = (i // 128) * (up(c, 4) // 4) + j // 4
    return tile * 512 + i % 32 * 16 + i % 128 // 32 * 4 + j % 4, up(r, 128) * up(c, 4)


def faces(down, across):
    place = {
        (i, j): ((i // 16) * across + j // 16) * 256 + i % 16 * 16 + j % 16
        for i in range(16 * down)
        for j in range(16 * across)
    }
    return tiles(16 * down, 16 * across, place)


def sublanes(n):
    """Tiles of 8 by 128 whose rows lie together by n."""
    place = {(i, j): i // n * 128 * n + j * n + i % n for i in range(8) for j in range(128)}
    return tiles(8, 128, place)


def rows_together(rows, width):
    """Rows in turns, `width` of each at a time."""
    return matrix(
        lambda i, j, r, c, c0: (
            (i // rows) * rows * up(c, width) + (j // width) * rows * width + i % rows * width + j % width,
            up(r, rows) * up(c, width),
        )
    )


def viewed(view, permute, pads):
    """The maker's `x.view(view).permute(permute)` of the last dims, padded to multiples of `pads`; -1 is the rest."""
    free = view.index(-1)

    def formula(coord, dims, c0):
        lead = len(dims) - len(pads)
        full = [up(d, p) for d, p in zip(dims[lead:], pads)]
        sizes = [math.prod(full) // math.prod(v for v in view if v != -1) if i == free else v for i, v in enumerate(view)]
        flat, size = box(list(zip(coord[lead:], full)))
        batch, count = box(list(zip(coord[:lead], dims[:lead])))
        digits = []
        for extent in reversed(sizes):
            digits.insert(0, flat % extent)
            flat //= extent
        return batch * size + box([(digits[p], sizes[p]) for p in permute])[0], count * size

    return formula


def gemv_fast(i, j, r, c, c0):
    """pack_intweight: within 32 inputs 0, 1, 8, 9 .., then each 8 as 0, 2, 4, 6, 1 ..; four rows of 64 inputs together."""
    eight, rest = divmod([0, 1, 8, 9, 16, 17, 24, 25, 2, 3, 10, 11, 18, 19, 26, 27, 4, 5, 12, 13, 20, 21, 28, 29, 6, 7, 14, 15, 22, 23, 30, 31].index(j % 32), 8)
    place = eight * 8 + [0, 2, 4, 6, 1, 3, 5, 7].index(rest)
    wide = up(c, 64)
    return i // 4 * 4 * wide + j // 64 * 256 + i % 4 * 64 + j % 64 // 32 * 32 + place, up(r, 4) * wide


def rows_moved(table):
    """Row r of each group goes to row table[r]: get_shuffle_matrix_a_row_indices."""
    step = len(table)
    return matrix(lambda i, j, r, c, c0: ((i // step * step + table[i % step]) * c + j, up(r, step) * c))


def gated(table):
    """Rows of gate and up in turns, then moved."""
    step = len(table)

    def formula(coord, dims, c0):
        *lead, g_, i, j = coord
        *outer, _, rows, cols = dims
        batch, count = box(list(zip(lead, outer)))
        total = 2 * up(rows, step // 2)
        at = 2 * i + g_
        return (batch * total + at // step * step + table[at % step]) * cols + j, count * total * cols

    return formula


def swizzled(rows, cols, padded, moved=lambda i: i):
    """Scales in tiles of 4 columns: the maker's formula of an offset, with the rows moved before."""

    def make(i, j, r, c, c0):
        i, wide = moved(i), up(c, cols) // 4
        tile = (i // rows) * wide + j // 4
        inside = i % 32 * 16 + i % 128 // 32 * 4 if rows == 128 else i % rows * 4
        return tile * rows * 4 + inside + j % 4, up(r, padded) * up(c, cols)

    return matrix(make)


def machete(run, k_fast):
    """Blocks of 128 of N by 64 of K, N first: `run` values of a thread along K, `k_fast` as they are interleaved."""

    def make(i, j, r, c, c0):
        tile = (j // 64) * (up(r, 128) // 128) + i // 128
        warp, row, lane, half = i % 128 // 64, i % 64 // 16, i % 8, i % 16 // 8
        k0, k1 = j % run, j // run % 4
        upper = j % (8 * run) // (4 * run)
        steps, step = 64 // (8 * run), j % 64 // (8 * run)
        head = [(tile, 1), (warp, 2), (row, 4), (lane, 8), (k1, 4), (step, steps)]
        at = 0
        for digit, size in head + (k_fast(k0, run, upper, half)):
            at = at * size + digit
        return at, up(r, 128) * up(c, 64)

    return matrix(make)


def marlin_24(bits):
    """get_perms_24 of the maker: 32 threads, two columns of 4 of a tile of 16 by 64 and what lies 8 rows below."""
    interleave = [0, 2, 4, 6, 1, 3, 5, 7] if bits == 4 else [0, 2, 1, 3]
    perm = []
    for i in range(32):
        perm1 = []
        col, col_o = i // 4, i // 4 // 2
        for block in [0, 1]:
            for row in [2 * (i % 4), 2 * (i % 4) + 1, 2 * (i % 4 + 4), 2 * (i % 4 + 4) + 1]:
                perm1.append(16 * row + col_o * 256 + 8 * (col % 2) + 4 * block)
        for j in range(4):
            perm.extend([p + j for p in perm1])
    step = len(interleave)
    perm = [perm[at + k] for at in range(0, 1024, step) for k in interleave]
    place = {}
    for at, p in enumerate(perm):
        tile, within = divmod(p, 256)
        place[within // 16, tile * 16 + within % 16] = at
    return tiles(16, 64, place)


def turned_meta(row, j, r, group):
    """The end of the makers' loops over metadata: of two by two words the other corners change places."""
    top_right, bottom_left = row % 2 == 0 and j % 2 == 1, row % 2 == 1 and j % 2 == 0
    row, col = row + top_right - bottom_left, j - top_right + bottom_left
    return col // 2 * up(r, group) * 2 + row * 2 + col % 2


def marlin_24_meta(i, j, r, c, c0):
    """_calculate_meta_reordering_scatter_offsets of vLLM, with rows in groups of 64."""
    row = i // 64 * 64 + i % 2 * 2 + i % 8 // 4 + i % 32 % 4 // 2 * 32 + i % 64 // 8 * 4
    return turned_meta(row, j, r, 64), up(r, 64) * up(c, 2)


def cutlass_meta(bits):
    """_calculate_meta_reordering_scatter_offsets of torch."""

    def make(i, j, r, c, c0):
        group, interweave = (32, 4) if bits == 16 else (16, 2)
        row = i // group * group + i % 8 * interweave + i % group // 8
        return turned_meta(row, j, r, group), up(r, group) * up(c, 2)

    return matrix(make)


def allspark(i, j, r, c, c0):
    """rearrange_kn_weight_as_n32k16_order: by words of four values, then columns of 32 by 16."""
    at = ((j % 8) * (up(r, 16) // 16) + i // 16) * 4 + i % 8 // 2
    at = ((at * 2 + j % 32 // 16) * 2 + j % 16 // 8) * 4
    inner = (i % 2) + 2 * (i % 16 // 8)
    return (j // 32) * 32 * up(r, 16) + at + inner, up(r, 16) * up(c, 32)


def repacked(rows, chunk):
    """repack.cpp: byte j of row m of a block is at (j / c * R + m % R) * c + j % c of the R rows' block."""

    def formula(coord, dims, c0):
        m, b, j = coord
        total, nb, size = dims[0], dims[1], up(dims[2], chunk)
        base = (m // rows * nb + b) * rows * size
        return base + (j // chunk * rows + m % rows) * chunk + j % chunk, up(total, rows) * nb * size

    return formula


def nibbles(rows, chunk):
    """The same of 4-bit values: value k of a block is in byte k % 16, in the high bits from 16 on."""

    def formula(coord, dims, c0):
        m, b, k = coord
        byte, size = repacked(rows, chunk)((m, b, k % 16), (dims[0], dims[1], 16), 0)
        return 2 * byte + k // 16, 2 * size

    return formula


def amx_nibbles(values):
    """mmq.cpp: of every 8 values of a row the last 4 are in the high bits of the first 4's bytes; `values` a block."""

    def formula(coord, dims, c0):
        n, b, k = coord
        base = (n // 16 * dims[1] + b) * 16 * values
        return base + 2 * ((k // 8 * 16 + n % 16) * 4 + k % 4) + k % 8 // 4, up(dims[0], 16) * dims[1] * values

    return formula


def ranks(count):
    """Each of `count` ranks has its part of the second dim of every one of the first."""

    def formula(coord, dims, c0):
        part = dims[1] // count
        rank, within = divmod(coord[1], part)
        rest = list(zip(coord[2:], dims[2:]))
        return box([(rank, count), (coord[0], dims[0]), (within, part), *rest])

    return formula


def flip_first(coord, dims, c0):
    *lead, g_, i, j = coord
    return box(list(zip([*lead, 1 - g_, i, j], dims)))


BYTES_32, BYTES_64, BYTES_4 = 256, 512, 32
ROW_32 = [8 * (p % 4) + p // 4 for p in range(32)]
ROW_16 = [8 * (p % 2) + p // 2 for p in range(16)]
E = "f8e8m0fnu"
M, A, B, C, S = "f16", "f16", "f16", "f32", "f8e8m0fnu"
AWQ = [0, 2, 4, 6, 1, 3, 5, 7]
SINGLE = [2 * i + j for i in range(4) for j in [0, 1, 8, 9, 16, 17, 24, 25]]

# Name, parameters, formula, bits that the block's constant takes, (type, dims) of each case.
ROWS = [
    ("zN", "", zn(16, 0), BYTES_32, [("f16", [33, 40]), ("s8", [32, 64]), ("f32", [2, 17, 9])]),
    ("nZ", "", cols_inside(lambda i, j, r, c, c0: ((j // c0) * up(r, 16) * c0 + i * c0 + j % c0, up(r, 16) * up(c, c0))), BYTES_32, [("f16", [33, 40]), ("f32", [16, 32])]),
    ("zZ", "", matrix(lambda i, j, r, c, c0: blocks(16, c0)(i, j, r, c, c0)), BYTES_32, [("f16", [33, 40]), ("s8", [32, 64])]),
    ("nN", "", cols_inside(lambda i, j, r, c, c0: blocks(16, c0)(i, j, r, c, c0)), BYTES_32, [("f16", [33, 40]), ("f32", [16, 32])]),
    ("L0C", "", zn(16, 16), 0, [("f32", [20, 35]), ("f32", [32, 32])]),
    ("zNUnAlign", "", matrix(lambda i, j, r, c, c0: ((j // c0) * r * c0 + i * c0 + j % c0, r * up(c, c0))), BYTES_32, [("f16", [10, 40]), ("s8", [7, 64])]),
    ("Weight4BitnZ", "", cols_inside(lambda i, j, r, c, c0: ((j // 32) * up(r, 16) * 32 + i * 32 + j % 32, up(r, 16) * up(c, 32))), 0, [("s4", [64, 32]), ("s4", [40, 20])]),
    ("PaddingRowMajor", "[BR=4,BC=8]", matrix(blocks(4, 8)), 0, [("f16", [10, 20]), ("f16", [8, 16])]),
    ("PaddingColumnMajor", "[BR=4,BC=8]", cols_inside(blocks(8, 4)), 0, [("f16", [10, 20]), ("f16", [8, 16])]),
    *((f"FRACTAL_NZ_C0_{n}", "", zn(16, n), 0, [("f16", [20, 2 * n + 1]), ("f16", [16, n])]) for n in (2, 4, 8, 16, 32)),
    ("MxScaleRowMajorA", "", matrix(lambda i, j, r, c, c0: (i * up(c, 2) + j, r * up(c, 2))), 0, [(S, [10, 7]), (S, [4, 8])]),
    ("MxScaleRowMajorB", "", matrix(lambda i, j, r, c, c0: (i // 2 * 2 * c + 2 * j + i % 2, up(r, 2) * c)), 0, [(S, [7, 10]), (S, [8, 4])]),
    ("MxScaleColumnMajorA", "", matrix(lambda i, j, r, c, c0: (j // 2 * 2 * r + 2 * i + j % 2, r * up(c, 2))), 0, [(S, [10, 7]), (S, [4, 8])]),
    ("MxScaleColumnMajorB", "", matrix(lambda i, j, r, c, c0: (j * up(r, 2) + i, up(r, 2) * c)), 0, [(S, [7, 10]), (S, [8, 4])]),
    ("MxScalezZ", "", matrix(blocks(16, 2)), 0, [(S, [40, 7]), (S, [32, 8])]),
    ("MxScalenN", "", cols_inside(blocks(16, 2)), 0, [(S, [7, 40]), (S, [8, 32])]),
    ("NC1HWC0", "", channels(0), BYTES_32, [("f16", [2, 20, 3, 5]), ("s8", [1, 64, 2, 3])]),
    ("NC1HWC0_C04", "", channels(4), 0, [("f16", [2, 3, 5, 7]), ("f16", [1, 8, 3, 3])]),
    ("NDC1HWC0", "", channels(0, "ndchw"), BYTES_32, [("f16", [2, 20, 2, 3, 5]), ("s8", [1, 64, 2, 2, 3])]),
    ("FRACTAL_Z", "", filters("chw", 16), BYTES_32, [("f16", [20, 20, 2, 3]), ("s8", [16, 32, 1, 2])]),
    ("FRACTAL_Z_3D", "", filters("dchw", 16), BYTES_32, [("f16", [10, 20, 2, 2, 3]), ("f32", [16, 8, 2, 2, 1])]),
    ("CI1KHKWCOCI0", "", filters("chw", 1), BYTES_32, [("f16", [20, 20, 2, 3]), ("s8", [16, 32, 1, 2])]),
    ("ND", "", lambda coord, dims, c0: box(list(zip(coord, dims))), 0, [("f16", [3, 4, 5]), ("f16", [7])]),
    *((name, "", order(name.lower(), logical), 0, [("f16", [2, 3, 4, 5, 6][: len(logical)])])
      for name, logical in [("NCHW", "nchw"), ("NHWC", "nchw"), ("HWCN", "nchw"), ("NDHWC", "ncdhw"), ("NCDHW", "ncdhw"), ("NC", "nc"), ("NCL", "ncl")]),
    ("COL", "", order("nm", "mn"), 0, [("f16", [3, 5])]),
    ("ROW", "", order("mn", "mn"), 0, [("f16", [3, 5])]),
    ("COL32", "", matrix(lambda i, j, r, c, c0: (j // 32 * 32 * r + i * 32 + j % 32, r * up(c, 32))), 0, [("s8", [33, 40]), ("s8", [16, 64])]),
    ("COL4_4R2_8C", "", matrix(col4), 0, [("s8", [33, 40]), ("s8", [16, 64])]),
    ("COL32_2R_4R4", "", matrix(col32_2r_4r4), 0, [("s8", [33, 40]), ("s8", [32, 32])]),
    ("SCALE_128x4", "", matrix(scale), 0, [("f8e4m3fn", [130, 6]), ("f8e8m0fnu", [128, 8]), ("f8e4m3fn", [2, 20, 5])]),
    ("NC4HW4", "", channels(4), 0, [("s8", [2, 10, 3, 5]), ("s8", [1, 8, 3, 3])]),
    ("NC32HW32", "", channels(32), 0, [("s8", [2, 40, 2, 3]), ("s8", [1, 32, 3, 3])]),
    ("CHW2", "", channels(2), 0, [("f16", [2, 3, 3, 5]), ("f16", [1, 4, 3, 3])]),
    ("CHW16", "", channels(16), 0, [("f16", [2, 20, 3, 5]), ("f16", [1, 32, 3, 3])]),
    ("HWC8", "", channels(8, "nhwc"), 0, [("f16", [2, 10, 3, 5]), ("f16", [1, 8, 3, 3])]),
    ("HWC16", "", channels(16, "nhwc"), 0, [("s8", [2, 10, 3, 5]), ("s8", [1, 16, 3, 3])]),
    ("CDHW32", "", channels(32, "ncdhw"), 0, [("s8", [1, 40, 2, 3, 2])]),
    ("DHWC8", "", channels(8, "ndhwc"), 0, [("f16", [1, 10, 2, 3, 5])]),
    ("TT_TILE", "", faces(2, 2), 0, [("bf16", [40, 35]), ("bf16", [32, 32])]),
    ("TT_TILE_16x32", "", faces(1, 2), 0, [("bf16", [20, 35]), ("bf16", [16, 32])]),
    ("TT_TILE_32x16", "", faces(2, 1), 0, [("bf16", [40, 20]), ("bf16", [32, 16])]),
    ("TPU_8x128", "", sublanes(1), 0, [("f32", [9, 130]), ("f32", [8, 128])]),
    ("TPU_8x128_2x1", "", sublanes(2), 0, [("bf16", [9, 130]), ("bf16", [8, 128])]),
    ("TPU_8x128_4x1", "", sublanes(4), 0, [("s8", [9, 130]), ("s8", [8, 128])]),
    ("VNNI", "", matrix(vnni), BYTES_4, [("bf16", [7, 20]), ("s8", [16, 16])]),
    ("AMX_A", "", matrix(lambda i, j, r, c, c0: blocks(16, c0)(i, j, r, c, c0)), BYTES_64, [("bf16", [20, 40]), ("s8", [16, 64])]),
    ("AMX_B", "", matrix(amx_b), BYTES_4, [("bf16", [40, 20]), ("s8", [64, 16])]),
    ("AMX_C", "", matrix(blocks(16, 16)), 0, [("f32", [20, 20]), ("f32", [16, 32])]),
    ("MARLIN", "", {"u4": marlin(AWQ), "u8": marlin([0, 2, 1, 3])}, 0, [("u4", [16, 64]), ("u4", [20, 70]), ("u8", [16, 64]), ("u8", [20, 70])]),
    ("MARLIN_SCALE", "", row_permutation([i + 8 * j for i in range(8) for j in range(8)]), 0, [("f16", [3, 128]), ("f16", [2, 70])]),
    ("MARLIN_SCALE_SINGLE", "", row_permutation(SINGLE), 0, [("f16", [1, 64]), ("f16", [2, 40])]),
    ("MARLIN_A8", "", {"u4": marlin_a8(4), "u8": marlin_a8(8)}, 0, [("u4", [32, 64]), ("u4", [40, 70]), ("u8", [32, 32]), ("u8", [20, 40])]),
    ("MARLIN_ZP", "", {"u4": zero_points(AWQ), "u8": zero_points([0, 2, 1, 3])}, 0, [("u4", [3, 128]), ("u4", [2, 70]), ("u8", [3, 128]), ("u8", [2, 70])]),
    ("MARLIN_MX_SCALE", "", zero_points([0, 2, 1, 3]), 0, [("f8e8m0fnu", [4, 128]), ("f8e8m0fnu", [2, 70])]),
    ("GPTQ", "", {"u4": packed_rows(8), "u8": packed_rows(4), "u2": packed_rows(16)}, 0, [("u4", [64, 12]), ("u4", [20, 3]), ("u8", [16, 5]), ("u8", [6, 3]), ("u2", [32, 5])]),
    ("GPTQ_ZEROS", "", {"u4": packed_columns(8), "u8": packed_columns(4), "u2": packed_columns(16)}, 0, [("u4", [3, 64]), ("u4", [2, 12]), ("u8", [3, 8]), ("u2", [3, 32])]),
    ("AWQ", "", {"u4": row_permutation(AWQ), "u8": row_permutation([0, 2, 1, 3])}, 0, [("u4", [3, 64]), ("u4", [3, 20]), ("u8", [16, 32]), ("u8", [3, 10])]),
    ("CT_PACK_INT32", "", {"u4": packed_columns(8), "u8": packed_columns(4)}, 0, [("u4", [5, 44]), ("u4", [3, 64]), ("u8", [5, 10])]),
    ("BNB_4BIT", "", flat_pairs, 0, [("u4", [4, 32]), ("u4", [2, 3, 6]), ("u4", [7])]),
    ("GGML_QS4", "", row_permutation([v for j in range(16) for v in (j, j + 16)]), 0, [("u4", [3, 64]), ("u4", [3, 40])]),
    ("IQ4_NLx4_QS", "", rows_together(4, 4), 0, [("u8", [8, 48]), ("u8", [6, 18])]),
    ("Q8_0x4_QS_8", "", rows_together(4, 8), 0, [("s8", [8, 64]), ("s8", [6, 20])]),
    ("SCALE_8x4", "", swizzled(8, 4, 8), 0, [("f8e4m3fn", [9, 5]), ("f8e4m3fn", [2, 16, 8])]),
    ("AWQ_GEMV_FAST", "", matrix(gemv_fast), 0, [("u4", [8, 128]), ("u4", [6, 70])]),
    ("BITNET_2BIT", "", matrix(lambda i, j, r, c, c0: ((i % (up(r, 4) // 4) * c + j) * 4 + i // (up(r, 4) // 4), up(r, 4) * c)), 0, [("u2", [8, 12]), ("u2", [10, 3])]),
    ("FP4_PACKED", "", lambda coord, dims, c0: box(list(zip(coord, dims))), 0, [("u4", [4, 32]), ("u4", [2, 3, 5])]),
    ("TRTLLM_SHUFFLE_A_32", "", rows_moved(ROW_32), 0, [("u8", [64, 6]), ("bf16", [2, 40, 3])]),
    ("TRTLLM_SHUFFLE_A_16", "", rows_moved(ROW_16), 0, [("u8", [48, 6]), ("bf16", [2, 20, 3])]),
    ("TRTLLM_GATED_ROWS", "", gated([0, 1]), 0, [("u8", [2, 24, 5]), ("bf16", [3, 2, 5, 4])]),
    ("TRTLLM_GATED_SHUFFLE_A_32", "", gated(ROW_32), 0, [("u8", [2, 32, 5]), ("u8", [2, 20, 3])]),
    ("TRTLLM_GATED_SHUFFLE_A_16", "", gated(ROW_16), 0, [("u8", [2, 32, 5]), ("u8", [2, 20, 3])]),
    ("SWAP_W13_W31", "", flip_first, 0, [("bf16", [2, 6, 5]), ("u8", [3, 2, 4, 5])]),
    ("TRTLLM_SHUFFLE_SF_A_32", "", swizzled(128, 4, 128, lambda i: i // 32 * 32 + ROW_32[i % 32]), 0, [("f8e4m3fn", [128, 8]), ("f8e4m3fn", [140, 6])]),
    ("TRTLLM_SHUFFLE_SF_A_16", "", swizzled(128, 4, 128, lambda i: i // 16 * 16 + ROW_16[i % 16]), 0, [("f8e4m3fn", [128, 8]), ("f8e4m3fn", [140, 6])]),
    ("BLOCK_MAJOR_K", "", matrix(lambda i, j, r, c, b: (j // b * r * b + i * b + j % b, r * up(c, b))), 1024, [("u8", [6, 256]), ("bf16", [5, 100]), ("u4", [2, 3, 300])]),
    ("SM90_MIXED_SCALE_U8", "", viewed([-1, 4, 16, 8 // 4, 4], [0, 3, 2, 1, 4], (64, 8)), 0, [(E, [2, 64, 8]), (E, [2, 70, 8])]),
    ("SM90_MIXED_SCALE_BF16", "", viewed([-1, 8, 8, 3], [0, 3, 2, 1], (64, 1)), 0, [("bf16", [2, 64, 3]), ("bf16", [1, 70, 3])]),
    ("SM90_MIXED_INT4", "", viewed([-1, 2, 8, 2, 2, 2, 4, 4], [0, 5, 2, 3, 4, 6, 1, 7], (16, 128)), 0, [("s4", [32, 128]), ("s4", [20, 120])]),
    ("SM90_MIXED_FP4_BYTES", "", viewed([-1, 2, 8, 1, 2, 2, 2, 4], [0, 5, 2, 3, 4, 7, 6, 1], (16, 32)), 0, [("u8", [32, 32]), ("u8", [20, 30])]),
    ("AITER_SHUFFLE_16x16", "", {"u8": viewed([-1, 16, 2, 2, 16], [0, 2, 3, 1, 4], (16, 64)), "f16": viewed([-1, 16, 3, 4, 8], [0, 2, 3, 1, 4], (16, 96)), "u4": viewed([-1, 16, 2, 2, 32], [0, 2, 3, 1, 4], (16, 128))}, 0, [("u8", [32, 64]), ("u8", [20, 40]), ("f16", [2, 20, 96]), ("u4", [16, 128])]),
    ("AITER_SHUFFLE_32x16", "", {"u8": viewed([-1, 32, 2, 2, 16], [0, 2, 3, 1, 4], (32, 64)), "f16": viewed([-1, 32, 2, 4, 8], [0, 2, 3, 1, 4], (32, 64))}, 0, [("u8", [64, 64]), ("u8", [40, 50]), ("f16", [32, 64])]),
    ("AITER_SHUFFLE_INT4", "", viewed([-1, 16, 3, 32], [0, 2, 1, 3], (16, 96)), 0, [("s8", [32, 96]), ("s8", [2, 20, 90])]),
    ("AITER_SHUFFLE_INT4_PACKED", "", viewed([-1, 16, 3, 4, 4, 2], [0, 2, 1, 3, 5, 4], (16, 96)), 0, [("s4", [2, 32, 96]), ("s4", [20, 90])]),
    ("AITER_PACK_INT4_FLYDSL", "", lambda coord, dims, c0: (coord[0] // 8 * 8 + coord[0] % 4 * 2 + coord[0] % 8 // 4, up(dims[0], 8)), 0, [("s4", [64]), ("s4", [20])]),
    ("AITER_SHUFFLE_A16W4", "", viewed([-1, 16, 1, 4, 32], [0, 2, 3, 1, 4], (16, 128)), 0, [("u4", [32, 128]), ("u4", [2, 20, 100])]),
    ("AITER_SHUFFLE_A16W4_GATE_UP", "", viewed([2, -1, 16, 1, 4, 32], [1, 0, 3, 4, 2, 5], (1, 16, 128)), 0, [("u4", [2, 2, 32, 128]), ("u4", [1, 2, 20, 100])]),
    ("AITER_GFX1250_WEIGHT", "", viewed([-1, 16, 2, 2, 16], [0, 2, 3, 1, 4], (16, 64)), 0, [("u8", [32, 64]), ("u8", [20, 50])]),
    ("AITER_GFX1250_A", "", matrix(blocks(2, 128)), 0, [("u8", [8, 256]), ("u8", [5, 130])]),
    ("AITER_GFX1250_B", "", matrix(blocks(16, 16)), 0, [("u8", [32, 64]), ("u8", [20, 50])]),
    ("AITER_E8M0_SHUFFLE", "", viewed([-1, 2, 16, 2, 2, 4], [0, 3, 5, 2, 4, 1], (256, 16)), 0, [(E, [256, 16]), (E, [40, 12])]),
    ("AITER_SCALE_GATE_UP", "", viewed([2, -1, 16, 2, 2, 4], [1, 3, 5, 2, 4, 0], (1, 16, 16)), 0, [(E, [2, 2, 32, 16]), (E, [1, 2, 20, 10])]),
    ("AITER_SCALE_A16W4", "", viewed([-1, 2, 16, 2, 2, 4], [0, 3, 5, 2, 4, 1], (32, 16)), 0, [(E, [2, 64, 16]), (E, [40, 12])]),
    ("AITER_SCALE_N32K4", "", matrix(blocks(32, 4)), 0, [(E, [2, 64, 8]), (E, [40, 6])]),
    ("AITER_SCALE_N32K8", "", matrix(blocks(32, 8)), 0, [("f8e4m3fn", [64, 16]), ("f8e4m3fn", [40, 12])]),
    ("HOPPER_MX_SCALE", "[NUM_WARPS=2]", viewed([-1, 2, 2, 2, 8, 4, 2], [0, 2, 5, 1, 4, 6, 3], (64, 8)), 0, [(E, [64, 8]), (E, [70, 7])]),
    ("HOPPER_MX_SCALE_W8", "", viewed([-1, 2, 8, 2, 8, 4, 2], [0, 2, 5, 1, 4, 6, 3], (256, 8)), 0, [(E, [256, 8]), (E, [70, 7])]),
    ("HOPPER_MX_SCALE_W4", "", viewed([-1, 2, 4, 2, 8, 4, 2], [0, 2, 5, 1, 4, 6, 3], (128, 8)), 0, [(E, [128, 8]), (E, [2, 70, 7])]),
    ("BLACKWELL_MX_SCALE", "", cols_inside(lambda i, j, r, c, c0: swizzled(128, 8, 128)((i, j), (r, c), c0)), 0, [(E, [8, 128]), (E, [12, 200])]),
    ("BLACKWELL_ACT_MX_SCALE", "", swizzled(128, 8, 128), 0, [(E, [128, 8]), (E, [130, 12])]),
    ("CDNA4_MX_SCALE", "", cols_inside(lambda i, j, r, c, c0: viewed([-1, 2, 16, 2, 2, 4], [0, 3, 5, 2, 4, 1], (32, 16))((i, j), (r, c), c0)), 0, [(E, [16, 64]), (E, [10, 40])]),
    ("GFX1250_MX_SCALE", "", cols_inside(scale), 0, [(E, [8, 128]), (E, [6, 130])]),
    ("HOPPER_MX_VALUE_BYTES", "", viewed([-1, 16, 2, 4, 2, 1, 2, 4, 2, 4], [0, 1, 3, 5, 6, 4, 9, 7, 8, 2], (256, 64)), 0, [("u8", [20, 60])]),
    ("HOPPER_MX_VALUE_BYTES_MMA2", "", viewed([-1, 16, 2, 4, 2, 1, 2, 2, 4, 4], [0, 1, 3, 5, 6, 4, 8, 7, 2, 9], (256, 64)), 0, [("u8", [20, 60])]),
    ("BLACKWELL_MX_VALUE", "", matrix(lambda i, j, r, c, c0: (j * up(r, 256) + i, up(r, 256) * c)), 0, [("u4", [96, 12]), ("u4", [2, 300, 3])]),
    ("BLACKWELL_MX4_VALUE_SHUFFLED", "", viewed([-1, 2, 128, 1, 256], [0, 1, 3, 4, 2], (256, 256)), 0, [("u4", [1, 40, 30])]),
    ("BLACKWELL_MX4_VALUE_PACKED_SHUFFLED", "", viewed([-1, 2, 8, 16, 1, 512], [0, 4, 5, 2, 1, 3], (256, 512)), 0, [("u4", [1, 200, 20])]),
    ("DEEPGEMM_SF_MN_MAJOR", "", matrix(lambda i, j, r, c, c0: (j * up(r, 4) + i, up(r, 4) * c)), 0, [("f32", [10, 7]), ("f32", [2, 13, 4])]),
    ("DEEPGEMM_SF_UE8M0", "", matrix(lambda i, j, r, c, c0: ((j // 4 * up(r, 4) + i) * 4 + j % 4, up(r, 4) * up(c, 4))), 0, [(E, [10, 7]), (E, [2, 13, 4])]),
    ("MARLIN_24", "", {"u4": marlin_24(4), "u8": marlin_24(8)}, 0, [("u4", [32, 128]), ("u4", [20, 70]), ("u8", [16, 64]), ("u8", [20, 70])]),
    ("MARLIN_24_META", "", matrix(marlin_24_meta), 0, [("u16", [128, 8]), ("u16", [70, 3])]),
    ("MARLIN_24_SCALE", "", row_permutation([j + 4 * i for j in range(4) for i in range(2)]), 0, [("f16", [3, 64]), ("f16", [2, 20])]),
    ("CUTLASS_SPARSE_META", "", {"u16": cutlass_meta(16), "u32": cutlass_meta(32)}, 0, [("u16", [64, 8]), ("u16", [40, 5]), ("u32", [64, 8]), ("u32", [20, 3])]),
    ("MACHETE", "", {"u4": machete(2, lambda k0, n, upper, half: [(k0, n), (upper, 2), (half, 2)]), "u8": machete(2, lambda k0, n, upper, half: [(upper, 2), (half, 2), (k0, n)])}, 0, [("u4", [128, 64]), ("u4", [20, 70]), ("u8", [40, 70])]),
    ("MACHETE_A8", "", machete(4, lambda k0, n, upper, half: [(upper, 2), (half, 2), (k0, n)]), 0, [("u4", [128, 64]), ("u4", [20, 70])]),
    ("ALLSPARK_N32K16", "", matrix(allspark), 0, [("u8", [32, 64]), ("u8", [20, 40])]),
    ("ALLSPARK_SCALE", "", lambda coord, dims, c0: (coord[-1] // 32 * 32 + coord[-1] % 8 * 4 + coord[-1] % 32 // 8 + sum(coord[:-1]) * up(dims[-1], 32), math.prod(dims[:-1]) * up(dims[-1], 32)), 0, [("f16", [128]), ("f16", [3, 40])]),
    ("GGUF_Q4_K_VALUES", "", row_permutation([v for part in range(4) for j in range(32) for v in (64 * part + j, 64 * part + j + 32)]), 0, [("u4", [3, 256]), ("u4", [2, 512])]),
    *((name, "", repacked(rows, chunk), 0, [("u8", [2 * rows, 2, 128]), ("u8", [rows - 1, 3, 20])]) for name, rows, chunk in [("Q4_K_8x8_QS", 8, 8), ("Q4_K_8x4_QS", 8, 4), ("Q2_K_8x8_SCALES", 8, 2), ("Q8_0_16x1_QS", 16, 1), ("Q6_K_8x8_SCALES", 8, 1)]),
    *((name, "", nibbles(rows, chunk), 0, [("u4", [2 * rows, 3, 32]), ("u4", [rows - 1, 2, 32])]) for name, rows, chunk in [("Q4_0_4x4_VALUES", 4, 4), ("Q4_0_4x8_VALUES", 4, 8), ("Q4_0_8x8_VALUES", 8, 8)]),
    ("Q8_0_AMX_VALUES", "", repacked(16, 4), 0, [("s8", [32, 2, 32]), ("s8", [20, 1, 30])]),
    ("Q4_0_AMX_VALUES", "", amx_nibbles(32), 0, [("u4", [32, 2, 32]), ("u4", [20, 1, 32])]),
    ("Q4_K_AMX_VALUES", "", amx_nibbles(256), 0, [("u4", [16, 2, 256]), ("u4", [20, 1, 256])]),
    ("KV_NHD", "", order("pthd", "pthd"), 0, [("f16", [3, 16, 2, 8]), ("u8", [2, 3, 4, 5])]),
    ("KV_HND", "", order("phtd", "pthd"), 0, [("f16", [3, 16, 2, 8]), ("u8", [2, 3, 4, 5])]),
    ("KV_BLHNC", "", order("plhtd", "lpthd"), 0, [("f16", [2, 3, 16, 2, 8]), ("u8", [3, 2, 3, 4, 5])]),
    ("KV_BLNHC", "", order("plthd", "lpthd"), 0, [("f16", [2, 3, 16, 2, 8]), ("u8", [3, 2, 3, 4, 5])]),
    ("KLEIDIAI_X16P32X1B", "", matrix(lambda i, j, r, c, c0: (j // 32 * 32 * r + i * 32 + j % 32, r * up(c, 32))), 0, [("f16", [6, 64]), ("bf16", [4, 40])]),
    ("KLEIDIAI_X32P16X1B", "", matrix(lambda i, j, r, c, c0: (j // 16 * 16 * r + i * 16 + j % 16, r * up(c, 16))), 0, [("f32", [6, 32]), ("f32", [4, 20])]),
    ("KV_KEY_X", "", lambda coord, dims, x: box([(coord[0], dims[0]), (coord[2], dims[2]), (coord[3] // x, up(dims[3], x) // x), (coord[1], dims[1]), (coord[3] % x, x)]), 128, [("f16", [2, 16, 2, 32]), ("u8", [2, 3, 2, 20])]),
    ("KV_VALUE_X", "", order("phdt", "pthd"), 0, [("f16", [2, 16, 2, 32]), ("u8", [2, 3, 4, 5])]),
    ("AITER_V_SHUFFLE", "", lambda coord, dims, x: box([(coord[0], dims[0]), (coord[2], dims[2]), (coord[1] // x, up(dims[1], x) // x), (coord[3], dims[3]), (coord[1] % x, x)]), 128, [("f16", [2, 16, 2, 32]), ("u8", [2, 20, 2, 3])]),
    ("NEOX_QKV", "", order("hsdk", "shdk"), 0, [("f16", [3, 4, 6, 5])]),
    ("QKV_OF_RANKS", "[TP=2]", ranks(2), 0, [("f16", [3, 4, 6, 5])]),
    ("GATE_UP_OF_RANKS", "[TP=2]", ranks(2), 0, [("f16", [2, 12, 5])]),
    ("GLU_INTERLEAVED_32", "", lambda coord, dims, c0: ((coord[1] // 32 * 64 + coord[0] * 32 + coord[1] % 32) * dims[2] + coord[2], 2 * up(dims[1], 32) * dims[2]), 0, [("f16", [2, 96, 3]), ("f16", [2, 40, 3])]),
    ("GPT_OSS_GATE_UP", "", matrix(lambda g_, i, two, c, c0: (i * two + g_, two * c)), 0, [("bf16", [2, 5, 2, 6])]),
    ("ROPE_HALVES", "", matrix(lambda d, k, r, c, c0: ((d % 2 * (up(r, 2) // 2) + d // 2) * c + k, up(r, 2) * c)), 0, [("f16", [3, 8, 5]), ("f16", [2, 7, 3])]),
    ("ROPE_PAIRS", "", matrix(lambda d, k, r, c, c0: ((d % (up(r, 2) // 2) * 2 + d // (up(r, 2) // 2)) * c + k, up(r, 2) * c)), 0, [("f16", [3, 8, 5]), ("f16", [2, 7, 3])]),
    ("ROPE_PAIRS_64", "", matrix(lambda d, k, r, c, c0: ((d % 32 * 2 + d // 32) * c + k, 64 * c)), 0, [("f16", [3, 64, 5]), ("f16", [2, 40, 3])]),
    ("MMA_M16N8_C", "", fragment(16, 8, 32, lambda l, v: (g(l) + 8 * (v >> 1), t(l) * 2 + (v & 1))), 0, [(C, [16, 16]), (C, [20, 12])]),
    ("MMA_M16N8K8_16BIT_A", "", fragment(16, 8, 32, lambda l, v: (g(l) + 8 * (v >= 2), t(l) * 2 + (v & 1))), 0, [(A, [16, 16]), (A, [20, 12])]),
    ("MMA_M16N8K8_16BIT_B", "", fragment(8, 8, 32, lambda l, v: (t(l) * 2 + v, g(l))), 0, [(B, [16, 16]), (B, [10, 12])]),
    ("MMA_M16N8K16_16BIT_A", "", fragment(16, 16, 32, lambda l, v: (g(l) + 8 * (v % 4 >= 2), t(l) * 2 + (v & 1) + 8 * (v >= 4))), 0, [(A, [16, 32]), (A, [20, 20])]),
    ("MMA_M16N8K16_16BIT_B", "", fragment(16, 8, 32, lambda l, v: (t(l) * 2 + (v & 1) + 8 * (v >= 2), g(l))), 0, [(B, [32, 16]), (B, [20, 12])]),
    ("MMA_M16N8K4_TF32_A", "", fragment(16, 4, 32, lambda l, v: (g(l) + 8 * v, t(l))), 0, [("f32", [16, 8]), ("f32", [20, 6])]),
    ("MMA_M16N8K4_TF32_B", "", fragment(4, 8, 32, lambda l, v: (t(l), g(l))), 0, [("f32", [8, 16]), ("f32", [6, 12])]),
    ("MMA_M16N8K8_TF32_A", "", fragment(16, 8, 32, lambda l, v: (g(l) + 8 * (v & 1), t(l) + 4 * (v >> 1))), 0, [("f32", [16, 16]), ("f32", [20, 12])]),
    ("MMA_M16N8K8_TF32_B", "", fragment(8, 8, 32, lambda l, v: (t(l) + 4 * v, g(l))), 0, [("f32", [16, 16]), ("f32", [12, 12])]),
    ("MMA_M16N8K16_8BIT_A", "", fragment(16, 16, 32, lambda l, v: (g(l) + 8 * (v >= 4), t(l) * 4 + (v & 3))), 0, [("s8", [16, 32]), ("s8", [20, 20])]),
    ("MMA_M16N8K16_8BIT_B", "", fragment(16, 8, 32, lambda l, v: (t(l) * 4 + v, g(l))), 0, [("s8", [32, 16]), ("s8", [20, 12])]),
    ("MMA_M16N8K32_8BIT_A", "", fragment(16, 32, 32, lambda l, v: (g(l) if v < 4 or 8 <= v < 12 else g(l) + 8, t(l) * 4 + (v & 3) + 16 * (v >= 8))), 0, [("s8", [16, 32]), ("s8", [20, 40])]),
    ("MMA_M16N8K32_8BIT_B", "", fragment(32, 8, 32, lambda l, v: (t(l) * 4 + (v & 3) + 16 * (v >= 4), g(l))), 0, [("s8", [32, 16]), ("s8", [40, 12])]),
    ("MMA_M16N8K64_4BIT_A", "", fragment(16, 64, 32, lambda l, v: (g(l) if v < 8 or 16 <= v < 24 else g(l) + 8, t(l) * 8 + (v & 7) + 32 * (v >= 16))), 0, [("s4", [16, 64]), ("s4", [10, 70])]),
    ("MMA_M16N8K64_4BIT_B", "", fragment(64, 8, 32, lambda l, v: (t(l) * 8 + (v & 7) + 32 * (v >= 8), g(l))), 0, [("s4", [64, 16]), ("s4", [70, 10])]),
    ("MMA_M8N8K16_8BIT_A", "", fragment(8, 16, 32, lambda l, v: (g(l), t(l) * 4 + v)), 0, [("s8", [16, 32]), ("s8", [10, 20])]),
    ("MMA_M8N8K4_F64_A", "", fragment(8, 4, 32, lambda l, v: (g(l), t(l))), 0, [("f64", [16, 8]), ("f64", [10, 6])]),
    ("MMA_M8N8_C", "", fragment(8, 8, 32, lambda l, v: (g(l), t(l) * 2 + v)), 0, [("s32", [16, 16]), ("s32", [10, 12])]),
    ("WMMA_M16N16_C", "", fragment(16, 16, 32, lambda l, v: (g(l) + 8 * (v >> 1 & 1), 8 * (v >> 2) + t(l) * 2 + (v & 1))), 0, [(C, [16, 32]), (C, [20, 20])]),
    ("WGMMA_M64_D", "", None, 0, [(C, [64, 16]), (C, [70, 8])]),
    ("MFMA_32x32x8_16BIT_A", "", fragment(32, 8, 64, lambda l, v: (l % 32, 4 * (l // 32) + v)), 0, [(A, [32, 16]), (A, [40, 12])]),
    ("MFMA_32x32x8_16BIT_B", "", fragment(8, 32, 64, lambda l, v: (4 * (l // 32) + v, l % 32)), 0, [(B, [16, 32]), (B, [12, 40])]),
    ("MFMA_32x32_D", "", fragment(32, 32, 64, lambda l, v: (8 * (v // 4) + 4 * (l // 32) + v % 4, l % 32)), 0, [(C, [32, 32]), (C, [40, 20])]),
    ("MFMA_16x16x16_16BIT_A", "", fragment(16, 16, 64, lambda l, v: (l % 16, 4 * (l // 16) + v)), 0, [(A, [16, 32]), (A, [20, 20])]),
    ("MFMA_16x16x16_16BIT_B", "", fragment(16, 16, 64, lambda l, v: (4 * (l // 16) + v, l % 16)), 0, [(B, [32, 16]), (B, [20, 20])]),
    ("MFMA_16x16_D", "", fragment(16, 16, 64, lambda l, v: (4 * (l // 16) + v, l % 16)), 0, [(C, [16, 32]), (C, [20, 20])]),
    ("WMMA_RDNA3_16x16_D", "", fragment(16, 16, 32, lambda l, v: (2 * v + l // 16, l % 16)), 0, [(C, [32, 16]), (C, [20, 20])]),
]


def wgmma(columns):
    """64 rows and all columns are one tile of 128 threads."""
    wide = up(columns, 8)

    def owner(thread, v):
        warp, lane = divmod(thread, 32)
        return 16 * warp + g(lane) + 8 * (v >> 1 & 1), 8 * (v >> 2) + t(lane) * 2 + (v & 1)

    return fragment(64, wide, 128, owner)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, parameters, formula, bits, cases in ROWS:
        lines = []
        for dtype, dims in cases:
            c0 = bits // WIDTH[dtype]
            law = formula[dtype] if isinstance(formula, dict) else formula or wgmma(dims[-1])
            found = [law(coord, dims, c0) for coord in itertools.product(*map(range, dims))]
            offsets = [at for at, _ in found]
            capacity = found[0][1]
            assert len(set(offsets)) == math.prod(dims) and max(offsets) < capacity, name
            shape = ",".join(map(str, dims))
            case = {"array": f"{dtype}[{shape}]", "format": name + parameters, "capacity": capacity, "offsets": offsets}
            lines.append(json.dumps(case, separators=(",", ":")))
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    print(len(ROWS), "formats")


main(pathlib.Path(sys.argv[1]))
