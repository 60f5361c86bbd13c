"""AMD's AITER: shuffled weights of 4, 8 and 16 bits, scales of blocks of 32."""
import types

import numpy
import torch

from ask import packed
from owners.words import octets, packed_pairs

TYPES = types.SimpleNamespace(i8=torch.int8, i32=torch.int32)


def cases(sources):
    names = ["shuffle_weight", "shuffle_weight_NK", "shuffle_weight_a16w4", "shuffle_scale_a16w4"]
    shuffle = sources.functions("aiter/ops/shuffle.py", *names, torch=torch)
    yield from weights(shuffle)
    yield from of_experts(shuffle)
    int4 = sources.functions(
        "aiter/int4_utils.py", "convert_int8_to_uint32_int4", "rearrange_4bit_elements", torch=torch, dtypes=TYPES
    )
    for dims in [(1, 16, 32), (3, 48, 64)]:
        spec = f"s4[{','.join(map(str, dims))}]E(4) AITER_SHUFFLE_INT4_PACKED"
        signed = lambda x: shuffle.shuffle_weight(torch.from_numpy(x.astype(numpy.int8)), use_int4=True)
        pack = lambda x: int4.rearrange_4bit_elements(int4.convert_int8_to_uint32_int4(signed(x))).view(torch.int32)
        yield packed("rearrange_4bit_elements", spec, dims, 4, pack)
    scale = sources.functions("aiter/utility/fp4_utils.py", "e8m0_shuffle", torch=torch).e8m0_shuffle
    for rows, columns in [(256, 8), (70, 5), (300, 17)]:
        spec = f"f8e8m0fnu[{rows},{columns}] AITER_E8M0_SHUFFLE"
        yield packed("e8m0_shuffle", spec, (rows, columns), 8, lambda x: scale(octets(x)))


def weights(shuffle):
    halves = lambda x: torch.from_numpy(x.astype(numpy.int16))
    for name, layout in [("AITER_SHUFFLE_16x16", (16, 16)), ("AITER_SHUFFLE_32x16", (32, 16))]:
        for dims in [(32, 32), (96, 128), (2, 64, 96)]:
            extents = ",".join(map(str, dims))
            eight, sixteen = lambda x: shuffle.shuffle_weight(octets(x), layout), lambda x: shuffle.shuffle_weight(halves(x), layout)
            yield packed("shuffle_weight", f"u8[{extents}] {name}", dims, 8, eight)
            yield packed("shuffle_weight", f"bf16[{extents}] {name}", dims, 16, sixteen)
    for rows, columns in [(16, 64), (48, 192)]:
        spec = f"u4[{rows},{columns}]E(4) AITER_SHUFFLE_16x16"
        four = lambda x: shuffle.shuffle_weight(packed_pairs(x).view(torch.float4_e2m1fn_x2)).view(torch.uint8)
        yield packed("shuffle_weight", spec, (rows, columns), 4, four)
        spec = f"s8[{rows},{columns}] AITER_SHUFFLE_INT4"
        yield packed("shuffle_weight(use_int4)", spec, (rows, columns), 8, lambda x: shuffle.shuffle_weight(octets(x), use_int4=True))
        for n, k in [(16, 64), (32, 32)]:
            if rows % n == 0:
                spec = f"u8[{rows},{columns}] AITER_SHUFFLE_16x16[N0={n},K1={64 // n},K0={n * k // 64}]"
                yield packed("shuffle_weight_NK", spec, (rows, columns), 8, lambda x: shuffle.shuffle_weight_NK(octets(x), n, k))


def of_experts(shuffle):
    for experts, rows, k in [(2, 32, 128), (3, 48, 384)]:
        spec = f"u4[{experts},{rows},{k}]E(4) AITER_SHUFFLE_A16W4"
        plain = lambda x: shuffle.shuffle_weight_a16w4(packed_pairs(x), 16, False)
        yield packed("shuffle_weight_a16w4", spec, (experts, rows, k), 4, plain)
        spec = f"u4[{experts},2,{rows},{k}]E(4) AITER_SHUFFLE_A16W4_GATE_UP"
        both = lambda x: shuffle.shuffle_weight_a16w4(packed_pairs(x).reshape(experts, 2 * rows, k // 2), 16, True)
        yield packed("shuffle_weight_a16w4(gate_up)", spec, (experts, 2, rows, k), 4, both)
    for experts, rows, k in [(1, 32, 8), (3, 64, 24)]:
        spec = f"f8e8m0fnu[{experts},2,{rows // 2},{k}] AITER_SCALE_GATE_UP"
        plain = lambda x: shuffle.shuffle_scale_a16w4(octets(x).reshape(experts * rows, k), experts, False)
        scales = f"f8e8m0fnu[{experts},{rows},{k}] AITER_SCALE_A16W4"
        yield packed("shuffle_scale_a16w4", scales, (experts, rows, k), 8, plain)
        both = lambda x: shuffle.shuffle_scale_a16w4(octets(x).reshape(experts * rows, k), experts, True)
        yield packed("shuffle_scale_a16w4(gate_up)", spec, (experts, 2, rows // 2, k), 8, both)
