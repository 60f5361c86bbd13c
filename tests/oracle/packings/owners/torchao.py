"""torchao: scales of blocks, and values of four bits."""
import torch

from ask import packed, unpacked
from owners.words import octets, pairs

MX = "torchao/prototype/mx_formats"


def cases(sources):
    scales = sources.functions(f"{MX}/utils.py", "ceil_div", "to_blocked", "from_blocked", torch=torch)
    values = sources.functions(f"{MX}/kernels.py", "down_size", "up_size", "pack_uint4", "unpack_uint4", torch=torch)
    for rows, columns in [(128, 4), (129, 5), (70, 9), (256, 8), (300, 3)]:
        spec, dims = f"u8[{rows},{columns}] SCALE_128x4", (rows, columns)
        stored = -(-rows // 128) * 128 * -(-columns // 4) * 4
        yield packed("to_blocked", spec, dims, 8, lambda x: scales.to_blocked(octets(x)))
        yield unpacked("from_blocked", spec, dims, 8, lambda x: scales.from_blocked(octets(x), *dims), stored)
    for rows, columns in [(1, 2), (7, 46), (64, 64)]:
        spec, dims = f"u4[{rows},{columns}]E(4) FP4_PACKED", (rows, columns)
        yield packed("pack_uint4", spec, dims, 4, lambda x: values.pack_uint4(octets(x)))
        yield unpacked("unpack_uint4", spec, dims, 4, lambda x: values.unpack_uint4(pairs(x).reshape(rows, columns // 2)))
