"""compressed-tensors: words of quantised values, FP4 values in pairs, 2:4 metadata, AWQ's words."""
import math
import types
import typing

import numpy
import torch

from ask import packed, unpacked
from owners.words import pairs, words

FP4 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def cases(sources):
    yield from words_of_values(sources)
    yield from fp4(sources)
    yield from awq(sources)
    yield from sparse(sources)


def words_of_values(sources):
    helpers = sources.functions(
        "compressed_tensors/compressors/pack_quantized/helpers.py", "pack_to_int32", "unpack_from_int32",
        torch=torch, math=math, sys=types.SimpleNamespace(byteorder="little"), Literal=typing.Literal,
    )
    for bits in [4, 8]:
        middle = 1 << (bits - 1)
        for n, k in [(3, 32), (7, 44), (16, 61)]:
            spec = f"u{bits}[{n},{k}]E({bits}) CT_PACK_INT32"
            count = -(-k * bits // 32) * 32 // bits
            signed = lambda x: torch.from_numpy((x - middle).astype(numpy.int8))
            yield packed("pack_to_int32", spec, (n, k), bits, lambda x: helpers.pack_to_int32(signed(x), bits))
            stored = lambda x: words(x, bits).reshape(n, count * bits // 32)
            read = lambda x: helpers.unpack_from_int32(stored(x), bits, torch.Size((n, k))).to(torch.int32).numpy() + middle
            yield unpacked("unpack_from_int32", spec, (n, k), bits, read, n * count)
            # Packed along the other dim, as GPTQ packs it.
            if n % 8 == 0:
                spec = f"u{bits}[{n},{k}]E({bits}) GPTQ"
                yield packed("pack_to_int32(dim 0)", spec, (n, k), bits, lambda x: helpers.pack_to_int32(signed(x), bits, 0))


def fp4(sources):
    path = "compressed_tensors/compressors/nvfp4/helpers.py"
    known = dict(torch=torch, kE2M1ToFloat=torch.tensor(FP4))
    helpers = sources.functions(path, "pack_fp4_to_uint8", "unpack_fp4_from_uint8", **known)
    table = torch.tensor(FP4 + [-value for value in FP4])
    for n, k in [(1, 2), (5, 34), (32, 32)]:
        spec = f"u4[{n},{k}]E(4) FP4_PACKED"
        yield packed("pack_fp4_to_uint8", spec, (n, k), 4, lambda x: helpers.pack_fp4_to_uint8(table[x]))
        values = lambda x: helpers.unpack_fp4_from_uint8(pairs(x).reshape(n, k // 2), n, k, torch.float32)
        yield unpacked("unpack_fp4_from_uint8", spec, (n, k), 4, lambda x: codes(values(x), table))


def codes(values, table):
    """Which value of a table each one is; the zeros differ by their signs."""
    same = (values[..., None] == table) & (torch.signbit(values)[..., None] == torch.signbit(table))
    return same.to(torch.uint8).argmax(dim=-1).numpy()


def awq(sources):
    path = "compressed_tensors/entrypoints/convert/converters/autoawq.py"
    names = ["AWQ_REVERSE_ORDER", "unpack_awq", "reverse_awq_order"]
    read = sources.functions(path, *[f"AutoAWQConverter.{name}" for name in names], torch=torch)
    for k, n in [(5, 24), (16, 128)]:
        spec = f"u4[{k},{n}]E(4) AWQ"
        stored = lambda x: words(x, 4).reshape(k, n // 8)
        back = lambda x: read.reverse_awq_order(read.unpack_awq(stored(x), None, 4)[0], None, 4)[0]
        yield unpacked("unpack_awq", spec, (k, n), 4, lambda x: back(x).numpy() & 15)


def sparse(sources):
    path = "compressed_tensors/utils/semi_structured_conversions.py"
    name = "_calculate_meta_reordering_scatter_offsets"
    offsets = getattr(sources.functions(path, name, torch=torch), name)
    for rows, columns in [(64, 4), (192, 6)]:

        def pack(x):
            meta = torch.from_numpy(x.astype(numpy.int16))
            return torch.empty_like(meta).view(-1).scatter_(0, offsets(rows, columns, torch.int16, "cpu"), meta.view(-1))

        yield packed(name, f"u16[{rows},{columns}] MARLIN_24_META", (rows, columns), 16, pack)
