"""AutoRound: words of GPTQ and AWQ, and the rows of LLaMA in GGUF."""
import numpy
import torch

from ask import packed, unpacked
from owners.words import integers, words

STREAM = [
    "PACK_BLOCK", "SUPPORTED_PACKING_BITS", "AWQ_INTERLEAVE", "AWQ_PACK_ORDER", "AWQ_REVERSE_ORDER",
    "_UINT32_MASK", "_INT32_SIGN", "_UINT32_SPAN", "packed_dim_size", "_shift_tables", "_check_bits", "_apply_awq_order",
    "awq_reorder", "awq_reverse_reorder", "pack_bitstream", "unpack_bitstream", "pack_awq_bitstream", "unpack_awq_bitstream",
]


def cases(sources):
    stream = sources.functions("auto_round/utils/bit_packing.py", *STREAM, torch=torch)
    for k, n in [(32, 5), (96, 64)]:
        for bits in [2, 4, 8]:
            spec, dims = f"u{bits}[{k},{n}]E({bits}) GPTQ", (k, n)
            yield packed("pack_bitstream", spec, dims, bits, lambda x: stream.pack_bitstream(integers(x), bits, 0))
            stored = lambda x: words(x, bits).reshape(k * bits // 32, n)
            read = lambda x: stream.unpack_bitstream(stored(x), bits, 0)
            yield unpacked("unpack_bitstream", spec, dims, bits, read)
    for k, n in [(3, 32), (16, 96)]:
        spec, dims = f"u4[{k},{n}]E(4) AWQ", (k, n)
        yield packed("pack_awq_bitstream", spec, dims, 4, lambda x: stream.pack_awq_bitstream(integers(x), 4))
        stored = lambda x: words(x, 4).reshape(k, n // 8)
        yield unpacked("unpack_awq_bitstream", spec, dims, 4, lambda x: stream.unpack_awq_bitstream(stored(x), 4))
    permute = sources.functions("auto_round/export/export_to_gguf/conversion/llama.py", "LlamaModel.permute").permute
    for heads, size, k in [(1, 8, 3), (4, 12, 5), (2, 64, 2)]:
        spec = f"u16[{heads},{size},{k}] ROPE_PAIRS"
        rows = lambda x: torch.from_numpy(x.reshape(heads * size, k).astype(numpy.uint16))
        yield packed("LlamaModel.permute", spec, (heads, size, k), 16, lambda x: permute(rows(x), heads, heads))
