"""vLLM, by the wheel without kernels: GPTQ and AWQ words, Marlin's weights, scales and zero points, scales of blocks, gate and up."""
import typing

import numpy
import torch

from ask import packed, unpacked
from owners.words import integers, octets, words

UTILS = "vllm/model_executor/layers/quantization/utils"


def cases(sources):
    names = ["get_pack_factor", "pack_rows", "pack_cols", "unpack_cols", "gptq_pack", "awq_pack"]
    quant = sources.functions(f"{UTILS}/quant_utils.py", *names, torch=torch, numpy=numpy)
    yield from words_of_values(quant)
    yield from marlin(sources, quant)
    yield from scales_of_blocks(sources)
    swap = sources.functions(f"{UTILS}/flashinfer_utils.py", "swap_w13_to_w31", torch=torch).swap_w13_to_w31
    for rows, columns in [(4, 3), (7, 10)]:
        spec = f"u16[2,{rows},{columns}] SWAP_W13_W31"
        flat = lambda x: torch.from_numpy(x.reshape(2 * rows, columns).astype(numpy.uint16))
        yield packed("swap_w13_to_w31", spec, (2, rows, columns), 16, lambda x: swap(flat(x)))


def words_of_values(quant):
    for bits in [4, 8]:
        for k, n in [(32, 24), (64, 40), (96, 8)]:
            dims, array = (k, n), f"u{bits}[{k},{n}]E({bits})"
            for name, function in [("GPTQ", quant.gptq_pack), ("AWQ", quant.awq_pack), ("GPTQ_ZEROS", quant.pack_cols)]:
                yield packed(function.__name__, f"{array} {name}", dims, bits, lambda x: function(integers(x), bits, k, n))
            stored = lambda x: words(x, bits).reshape(k, n * bits // 32)
            read = lambda x: quant.unpack_cols(stored(x), bits, k, n)
            yield unpacked("unpack_cols", f"{array} GPTQ_ZEROS", dims, bits, read)


def marlin(sources, quant):
    tests = ["marlin_permute_weights", "marlin_weights", "get_weight_perm"]
    known = dict(torch=torch, np=numpy, GPTQ_MARLIN_TILE=16, get_pack_factor=quant.get_pack_factor)
    weights = sources.functions(f"{UTILS}/marlin_utils_test.py", *tests, **known)
    names = ["get_scale_perms", "marlin_permute_scales", "marlin_permute_bias", "marlin_zero_points"]
    scales = sources.functions(f"{UTILS}/marlin_utils.py", *names, torch=torch, numpy=numpy, pack_cols=quant.pack_cols)
    for name, narrow in [("MARLIN", False), ("MARLIN_A8", True)]:
        for bits in [4, 8]:
            perm = weights.get_weight_perm(bits, narrow)
            for k, n in [(64, 64), (128, 192), (32, 256)]:
                spec = f"u{bits}[{k},{n}]E({bits}) {name}"
                pack = lambda x: weights.marlin_weights(integers(x), k, n, bits, perm, narrow)
                yield packed("marlin_weights", spec, (k, n), bits, pack)
    for groups, n in [(2, 64), (5, 192)]:
        halves = lambda x: torch.from_numpy(x.astype(numpy.int16))
        spec, dims = f"f16[{groups},{n}]", (groups, n)
        k = 128 * groups
        grouped = lambda x: scales.marlin_permute_scales(halves(x), k, n, 128)
        single = lambda x: scales.marlin_permute_scales(halves(x), k, n, 128, is_a_8bit=True)
        yield packed("marlin_permute_scales", f"{spec} MARLIN_SCALE", dims, 16, grouped)
        yield packed("marlin_permute_scales", f"{spec} MARLIN_SCALE_SINGLE", dims, 16, single)
        yield packed("marlin_permute_bias", f"{spec} MARLIN_SCALE_SINGLE", dims, 16, lambda x: scales.marlin_permute_bias(halves(x)))
        for bits in [4, 8]:
            spec = f"u{bits}[{groups},{n}]E({bits}) MARLIN_ZP"
            pack = lambda x: scales.marlin_zero_points(integers(x), groups, n, bits)
            yield packed("marlin_zero_points", spec, dims, bits, pack)
        fp4 = sources.functions(f"{UTILS}/marlin_utils_fp4.py", "mxfp4_marlin_process_scales", torch=torch)
        fp8 = sources.functions(f"{UTILS}/marlin_utils_fp8.py", "mxfp8_marlin_process_scales", torch=torch)
        for process in [fp4.mxfp4_marlin_process_scales, fp8.mxfp8_marlin_process_scales]:
            spec = f"f8e8m0fnu[{groups},{n}] MARLIN_MX_SCALE"
            # The function casts; a scale that is one already keeps its bits.
            exponents = lambda x: octets(x).view(torch.float8_e8m0fnu).float()
            pack = lambda x: process(scales.marlin_permute_scales(exponents(x), k, n, 128)).view(torch.uint8)
            yield packed(process.__name__, spec, dims, 8, pack)


def scales_of_blocks(sources):
    round_up = sources.functions("vllm/utils/math_utils.py", "cdiv", "round_up").round_up
    mxfp8 = sources.functions(f"{UTILS}/mxfp8_utils.py", "MXFP8_BLOCK_SIZE", "swizzle_mxfp8_scale", torch=torch)
    linear = sources.functions(f"{UTILS}/nvfp4_emulation_utils.py", "convert_swizzled_to_linear", torch=torch)
    for m, k in [(130, 8), (60, 7)]:
        spec, stored = f"u8[{m},{k}] SCALE_128x4", round_up(m, 128) * round_up(k, 4)
        yield packed("swizzle_mxfp8_scale", spec, (m, k), 8, lambda x: mxfp8.swizzle_mxfp8_scale(octets(x), m, 32 * k))
        read = lambda x: linear.convert_swizzled_to_linear(octets(x), m, 16 * k, 16)[:, :k]
        yield unpacked("convert_swizzled_to_linear", spec, (m, k), 8, read, stored)
    tiled = sources.functions(
        "vllm/model_executor/layers/quantization/qutlass_utils.py", "to_blocked",
        torch=torch, cdiv=lambda a, b: -(-a // b), Literal=typing.Literal,
    )
    for m, k in [(128, 8), (384, 4)]:
        yield packed("to_blocked", f"u8[{m},{k}] SCALE_128x4", (m, k), 8, lambda x: tiled.to_blocked(octets(x), "torch"))
