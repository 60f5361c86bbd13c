"""SGLang: scales of blocks, gate and up in turns and exchanged."""
import numpy
import torch

from ask import packed
from owners.words import integers, octets


def cases(sources):
    utils = sources.functions("sglang/srt/layers/quantization/utils.py", "swizzle_blockscale", "swap_w13_to_w31", torch=torch)
    for dims in [(130, 7), (256, 12), (2, 129, 5)]:
        spec = f"f8e4m3fn[{','.join(map(str, dims))}] SCALE_128x4"
        pack = lambda x: utils.swizzle_blockscale(octets(x).view(torch.float8_e4m3fn)).view(torch.uint8)
        yield packed("swizzle_blockscale", spec, dims, 8, pack)
    path = "sglang/srt/layers/moe/moe_runner/flashinfer_cutedsl.py"
    turns = sources.functions(path, "interleave_w13_halves", torch=torch).interleave_w13_halves
    for n, k in [(64, 3), (192, 5)]:
        flat = lambda x: torch.from_numpy(x.reshape(2 * n, k).astype(numpy.int16))
        swap = lambda x: utils.swap_w13_to_w31(flat(x))
        yield packed("swap_w13_to_w31", f"bf16[2,{n},{k}] SWAP_W13_W31", (2, n, k), 16, swap)
        for size in [32, 64]:
            pack = lambda x: turns(flat(x), size, 0)
            yield packed("interleave_w13_halves", f"bf16[2,{n},{k}] GLU_INTERLEAVED_32[I0={size}]", (2, n, k), 16, pack)
    words = sources.functions("sglang/srt/layers/int4fp8_utils.py", "pack_int4_to_int32", torch=torch).pack_int4_to_int32
    for k, n in [(3, 24), (8, 64)]:
        dims, array = (k, n), f"u4[{k},{n}]E(4)"
        yield packed("pack_int4_to_int32", f"{array} AWQ", dims, 4, lambda x: words(integers(x)))
        yield packed("pack_int4_to_int32(reorder=False)", f"{array} CT_PACK_INT32", dims, 4, lambda x: words(integers(x), False))
