"""Triton: which thread holds an element, and where it is in shared and tensor memory.

Encodings are made by Gluon's classes, which know no device; their text is that of the type that Triton prints. A question
that ends the process is asked in a process of its own and has no answer.
"""

import json
import math
import os
import random
import re
from collections.abc import Callable, Iterator
from importlib import metadata

from ask import Case
from triton._C.libtriton import gluon_ir, ir
from triton.experimental.gluon.language import _layouts as gluon
from triton.experimental.gluon.language.amd import _layouts as amd
from triton.experimental.gluon.language.amd.cdna5 import _layouts as cdna5
from triton.experimental.gluon.language.nvidia import blackwell

NAME = "Triton"
CONTEXT = ir.context()
ir.load_dialects(CONTEXT)
BUILDER = gluon_ir.GluonOpBuilder(CONTEXT)
TYPES = {8: BUILDER.get_int8_ty, 16: BUILDER.get_half_ty, 32: BUILDER.get_float_ty, 64: BUILDER.get_int64_ty}


def version() -> str:
    return metadata.version("triton")


def said(layout, shape: list[int], bits: int) -> dict:
    """The text of the encoding, and what Triton makes of it."""
    attribute, element = layout._to_ir(BUILDER), TYPES[bits]()
    if isinstance(layout, (blackwell.TensorMemoryLayout, blackwell.TensorMemoryScalesLayout)):
        text = str(BUILDER.get_tensor_mem_desc_ty(element, shape, attribute, shape))
    elif isinstance(layout, gluon.SharedLayout):
        text = str(BUILDER.get_shared_mem_desc_ty(element, shape, attribute, shape))
    else:
        text = str(BUILDER.get_distributed_ty(element, shape, attribute))
    if isinstance(layout, gluon.PaddedSharedLayout):
        # It has no linear layout: `offsets` adds the padding to the places.
        return {"text": text}
    found = BUILDER.to_linear_layout(attribute, shape)
    return {"text": text, **{name: getattr(found, name) for name in found.__dataclass_fields__}}


def asked(layout, shape: list[int], bits: int) -> dict | None:
    """As `said`, in a process of its own; None where that ends or refuses."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            os.write(write, json.dumps(said(layout, shape, bits)).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return json.loads(answer) if answer else None


def encoding(text: str) -> str:
    """The encoding within the text of a type."""
    start = text.index("#")
    depth = 0
    for at in range(start, len(text)):
        depth += {"<": 1, ">": -1}.get(text[at], 0)
        if text[at] == ">" and depth == 0:
            return text[start : at + 1]
    raise ValueError(text)


def registers(found: dict, rank: int) -> str:
    """The map of registers, lanes, warps and blocks, as Tilewright writes it."""
    def basis(image: list[int]) -> str:
        return str(image[0]) if rank == 1 else str(image).replace(" ", "")

    ins = {"register": "reg_bases", "lane": "lane_bases", "warp": "warp_bases", "block": "block_bases"}
    left = ",".join(f"{name}=[{','.join(map(basis, found[field]))}]" for name, field in ins.items())
    right = ",".join(f"dim{i}:{extent}" for i, extent in enumerate(found["shape"]))
    return f"{{{left}}} -> ({right})"


def offsets(places: list[list[int]], shape: list[int], padding: list[list[int]] = (), unit: int = 0) -> str | None:
    """The offset of every coordinate, the first dim fastest, from the images of the bits of an offset.

    An element that has several places is at the first. Bits from `unit` on number copies of padded memory.
    """
    table = {tuple([0] * len(shape)): 0}
    for bit, image in enumerate(places):
        for coord, place in list(table.items()):
            moved = tuple(a ^ b for a, b in zip(coord, image))
            table.setdefault(moved, place | 1 << bit)
    size = 1
    for extent in shape:
        size *= extent
    if len(table) != size:
        return None
    ordered, coord = [], [0] * len(shape)
    for _ in range(size):
        ordered.append(table[tuple(coord)])
        for dim, extent in enumerate(shape):
            coord[dim] += 1
            if coord[dim] < extent:
                break
            coord[dim] = 0
    if padding:
        whole = 1 << unit
        grown = lambda x: x + sum(x // interval * more for interval, more in padding)
        capacity = grown(whole) - sum(more for interval, more in padding if whole % interval == 0)
        ordered = [grown(x % whole) + x // whole * capacity for x in ordered]
    return str(ordered)


def powers(source: random.Random, rank: int, most: int) -> list[int]:
    return [1 << source.randint(0, most) for _ in range(rank)]


def order(source: random.Random, rank: int) -> list[int]:
    return source.sample(range(rank), rank)


def blocks(source: random.Random, rank: int, share: float) -> list[list[int]]:
    """How blocks share an array."""
    found, reach = [], [1] * rank
    for _ in range(source.choice([0, 0, 1, 2]) if source.random() < share else 0):
        image, dim = [0] * rank, source.randrange(rank)
        if source.random() < 0.8:
            image[dim], reach[dim] = reach[dim], 2 * reach[dim]
        found.append(image)
    return found


def blocked(source: random.Random, rank: int):
    lanes = powers(source, rank, 5)
    while math.prod(lanes) != 32:
        lanes = powers(source, rank, 5)
    cga = blocks(source, rank, 0.3)
    return gluon.BlockedLayout(powers(source, rank, 2), lanes, powers(source, rank, 2), order(source, rank), cga)


def instruction(source: random.Random):
    """An encoding of matrix instructions, and the widths along k that its operands may have."""
    warps = powers(source, 2, 2)
    match source.randrange(4):
        case 0:
            return gluon.NVMMADistributedLayout([2, 0], warps, [16, 8]), [1, 2, 4]
        case 1:
            return gluon.NVMMADistributedLayout([3, 0], [4, 1], [16, source.choice([16, 32, 64]), 16]), [1, 2, 4]
        case 2:
            number = source.choice([1, 2, 3, 4])
            instr = source.choice([[32, 32, 8], [16, 16, 16], [32, 32, 16], [16, 16, 32]])
            return amd.AMDMFMALayout(number, instr, source.random() < 0.5, warps), [4, 8]
        case _:
            bases, reach = [], [1, 1]
            for _ in range(source.randint(0, 3)):
                dim = source.randrange(2)
                bases.append([reach[0] if dim == 0 else 0, reach[1] if dim == 1 else 0])
                reach[dim] *= 2
            number = source.choice([1, 2, 3])
            instr = [16, 16, 32] if number == 3 else [16, 16, 16]
            return amd.AMDWMMALayout(number, source.random() < 0.5, bases, instr_shape=instr), [16] if number == 1 else [8]


def threads(source: random.Random, kind: str):
    """An encoding over threads, and the dims of an array."""
    rank = 2 if kind in ("mma", "dot_op") else source.randint(1, 3)
    if kind == "blocked":
        return blocked(source, rank), powers(source, rank, 7 - rank)
    if kind == "slice":
        parent = blocked(source, rank + 1)
        return gluon.SliceLayout(source.randrange(rank + 1), parent), powers(source, rank, 7 - rank)
    parent, widths = instruction(source)
    dims = [1 << source.randint(4, 7) for _ in range(2)]
    if kind == "mma":
        return parent, dims
    return gluon.DotOperandLayout(source.randrange(2), parent, source.choice(widths)), dims


def swizzled(source: random.Random, rank: int):
    cga = blocks(source, rank, 0.3)
    return gluon.SwizzledSharedLayout(*powers(source, 3, 3), order(source, rank), cga)


def identity(source: random.Random, dims: list[int]) -> list[list[int]]:
    """The bits of an array in any order."""
    bits = [[1 << bit if dim == at else 0 for at in range(len(dims))]
            for dim, extent in enumerate(dims) for bit in range(extent.bit_length() - 1)]
    source.shuffle(bits)
    return bits


def memory(source: random.Random, kind: str):
    """An encoding of memory, the dims of an array, the bits of an element, and the fields of `offsets`."""
    rank = source.randint(1, 3)
    dims, bits = powers(source, rank, 5), 16
    if kind == "swizzled_shared":
        return swizzled(source, rank), dims, bits, {}
    if kind == "shared_linear":
        return gluon.SharedLinearLayout(identity(source, dims) or [[0] * rank]), dims, bits, {}
    if kind == "padded_shared":
        gaps = [[1 << at, 1 << source.randint(0, 3)] for at in source.sample(range(1, 6), source.randint(1, 2))]
        places, dim = identity(source, dims), source.randrange(rank)
        top, of_blocks = [dims[dim] // 2 if at == dim else 0 for at in range(rank)], []
        if source.random() < 0.3 and top in places and len(places) > 1:
            # The upper half of a dim is another block's.
            places.remove(top)
            of_blocks = [top]
        cga = [[min(image, 1) for image in block] for block in of_blocks]
        layout = gluon.PaddedSharedLayout(gaps, places, cga, dims)
        return layout, dims, bits, {"padding": gaps, "unit": len(places), "places": places + of_blocks}
    if kind == "nvmma_shared":
        rank, width = source.randint(2, 4), source.choice([0, 32, 64, 128])
        bits = source.choice([8, 16, 32])
        dims = powers(source, rank, 3)
        turned = source.random() < 0.4
        dims[0 if turned else -1] = max(8, width) * 8 // bits * source.choice([1, 1, 2])
        return gluon.NVMMASharedLayout(width, bits, rank, turned, False, blocks(source, rank, 0.2)), dims, bits, {}
    rank = source.randint(1, 2)
    dims, dim = [1 << source.randint(2, 5) for _ in range(rank)], source.randrange(rank)
    number, groups = source.choice([1, 2, 4]), source.choice([1, 2])
    piece = gluon.SwizzledSharedLayout(*powers(source, 3, 2), order(source, rank))
    return cdna5.PartitionedSharedLayout(number, groups, dim, piece), dims, bits, {"partitions": (dim, dims[dim] // (number * groups), number)}


def tensor_memory(source: random.Random):
    if source.random() < 0.2:
        dims = [32 << source.randint(0, 3), 1 << source.randint(0, 5)]
        return blackwell.TensorMemoryScalesLayout(), dims, 8
    rows, columns = source.choice([64, 128]), 1 << source.randint(3, 6)
    dims = [rows * source.choice([1, 2, 4]), columns * source.choice([1, 2, 4])]
    pair = source.random() < 0.3
    cga = [[1, 0]] if pair else blocks(source, 2, 0.2)
    for dim in range(2):
        dims[dim] <<= sum(1 for image in cga if image[dim])
    return blackwell.TensorMemoryLayout((rows, columns), source.choice([1, 1, 2, 4]), cga, pair), dims, 16


def of_memory(kind: str, source: random.Random) -> Case | None:
    if kind == "tensor_memory":
        layout, dims, bits = tensor_memory(source)
        found, more = asked(layout, dims, bits), {}
        cga = layout.cga_layout
        places = found and found["cols"] + found["rows"] + spread(cga, found, dims)
    else:
        layout, dims, bits, more = memory(source, kind)
        found = asked(layout, dims, bits)
        places = found and (more.pop("places") if "places" in more else found["offset_bases"] + found["block_bases"])
        if found and "partitions" in more:
            dim, piece, number = more.pop("partitions")
            places += [[piece << bit if at == dim else 0 for at in range(len(dims))] for bit in range(number.bit_length() - 1)]
    if not found:
        return None
    theirs = offsets(places, dims, **more)
    extents = ",".join(map(str, dims))
    return Case(kind, f'offsets("[{extents}] {encoding(found["text"])}")', theirs)


def spread(cga: list[list[int]], found: dict, dims: list[int]) -> list[list[int]]:
    """The images of the bits of blocks: in units of the part of a block, which is what the rest does not reach."""
    reach = [max([image[dim] for image in found["rows"] + found["cols"]], default=0) * 2 or 1 for dim in range(2)]
    return [[image[dim] * reach[dim] for dim in range(2)] for image in cga]


def of_threads(kind: str, source: random.Random) -> Case | None:
    layout, dims = threads(source, kind)
    found = asked(layout, dims, 16)
    if not found:
        return None
    extents = ",".join(map(str, dims))
    expression = f'"[{extents}] {encoding(found["text"])}"'
    return Case(kind, expression, registers(found, len(dims)), same=lambda one, other: distinct(one) == distinct(other))


def distinct(answer: str) -> str:
    """The map without the registers that hold copies of what others of the same thread hold."""
    bases = re.match(r"\{register=\[(.*?)\],lane=", answer.replace(" ", "")).group(1)
    images = re.findall(r"\[[^\]]*\]|\d+", bases)
    moving = [image for image in images if image.strip("[]").replace(",", "").strip("0")]
    return answer.replace(" ", "").replace(f"register=[{bases}]", f"register=[{','.join(moving)}]")


KINDS: dict[str, Callable[[str, random.Random], Case | None]] = {
    **dict.fromkeys(["blocked", "slice", "mma", "dot_op"], of_threads),
    **dict.fromkeys(
        ["swizzled_shared", "shared_linear", "padded_shared", "nvmma_shared", "partitioned_shared", "tensor_memory"], of_memory),
}


def cases(source: random.Random, count: int) -> Iterator[Case]:
    for kind, of in KINDS.items():
        for _ in range(count):
            found = of(kind, source)
            if found and len(found.expression) < 4000:
                yield found
