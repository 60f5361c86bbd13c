"""FlashInfer: rows of weights for TensorRT-LLM's kernels, blocks of K, scales of the mixed GEMM of SM90."""
import functools

import numpy
import torch

from ask import packed
from owners.words import octets


def cases(sources):
    names = ["srcToDstBlk16RowMap", "srcToDstBlk32RowMap", "get_shuffle_block_size", "get_shuffle_matrix_a_row_indices"]
    rows = sources.functions("flashinfer/utils.py", *names, torch=torch)
    path = "flashinfer/quantization/fp4_quantization.py"
    shuffle = sources.functions(path, "shuffle_matrix_a", torch=torch, get_shuffle_matrix_a_row_indices=rows.get_shuffle_matrix_a_row_indices).shuffle_matrix_a
    core = sources.functions(
        "flashinfer/fused_moe/core.py",
        "get_reorder_rows_for_gated_act_gemm_row_indices", "reorder_rows_for_gated_act_gemm", "convert_to_block_layout",
        torch=torch, functools=functools,
    )
    gated = core.reorder_rows_for_gated_act_gemm
    for tile, block, count in [(128, 32, 96), (256, 32, 32), (64, 16, 48), (8, 16, 16)]:
        for k in [1, 6]:
            dims = (count, k)
            spec = f"u8[{count},{k}] TRTLLM_SHUFFLE_A_{block}"
            yield packed("shuffle_matrix_a", spec, dims, 8, lambda x: shuffle(octets(x), tile))
            flat = lambda x: octets(x).reshape(2 * count, k)
            spec = f"u8[2,{count},{k}] TRTLLM_GATED_SHUFFLE_A_{block}"
            yield packed("shuffle_matrix_a(gated)", spec, (2, count, k), 8, lambda x: shuffle(gated(flat(x)), tile))
            spec = f"u8[2,{count},{k}] TRTLLM_GATED_ROWS"
            yield packed("reorder_rows_for_gated_act_gemm", spec, (2, count, k), 8, lambda x: gated(flat(x)))
    for m, k in [(3, 128), (5, 512)]:
        blocks = lambda x: core.convert_to_block_layout(octets(x), 128)
        yield packed("convert_to_block_layout", f"u8[{m},{k}] BLOCK_MAJOR_K", (m, k), 8, blocks)
        halves = lambda x: core.convert_to_block_layout(torch.from_numpy(x.astype(numpy.int16)), 64)
        yield packed("convert_to_block_layout", f"bf16[{m},{k}] BLOCK_MAJOR_K", (m, k), 16, halves)
    yield from scales_of_sm90(sources)
    yield from words_of_scales(sources)


def scales_of_sm90(sources):
    name = "interleave_moe_scales_for_sm90_mixed_gemm"
    fold = getattr(sources.functions("flashinfer/fused_moe/prepare.py", name, torch=torch), name)
    for experts, rows, k in [(1, 64, 4), (2, 192, 12)]:
        spec, dims = f"f8e8m0fnu[{experts},{rows},{k}] SM90_MIXED_SCALE_U8", (experts, rows, k)
        yield packed(name, spec, dims, 8, lambda x: fold(octets(x), 32))
        spec = f"bf16[{experts},{rows},{k}] SM90_MIXED_SCALE_BF16"
        yield packed(name, spec, dims, 16, lambda x: fold(torch.from_numpy(x.astype(numpy.int16)).view(torch.bfloat16), 128).view(torch.int16))


def words_of_scales(sources):
    path = "flashinfer/experimental/deepgemm_fp8_gemm/runtime.py"
    pack = sources.functions(path, "SF_WORD_K_BLOCKS", "pack_ue8m0_words", torch=torch).pack_ue8m0_words
    for rows, k in [(12, 8), (10, 7), (3, 1)]:
        # The words that pad a column lie outside of the view.
        whole = lambda view: view.as_strided((view.shape[0], view.stride(0)), view.stride()).view(torch.int32)
        spec = f"f8e8m0fnu[{rows},{k}] DEEPGEMM_SF_UE8M0"
        yield packed("pack_ue8m0_words", spec, (rows, k), 8, lambda x: whole(pack(octets(x), rows)))
