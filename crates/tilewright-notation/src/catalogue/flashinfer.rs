//! Weights and scales of FlashInfer and TensorRT-LLM, and the scales of cuBLASLt that both take.

use super::{
    GroupRows,
    constants::BYTES_128,
    dims::{NK, NK32},
    of, row, rows, sized,
};

const SCALES: &str = "cuBLASLt, block scaling factors (VEC16_UE4M3, VEC32_UE8M0); nvmath; CUTLASS, Sm1xxBlockScaledConfig; FlashInfer, block_scale_interleave; torchao, to_blocked; Transformer Engine, gemm swizzled scales; each batch is padded to 128 rows and 4 columns";
const SCALES_8: &str =
    "FlashInfer and TensorRT-LLM, SWIZZLED_8x4: each batch is padded to 8 rows and 4 columns";
const SHUFFLE_32: &str = "FlashInfer, utils.py, shuffle_matrix_a where epilogue_tile_m % 128 == 0; TensorRT-LLM, shuffleMatrixA; 32 must divide M";
const SHUFFLE_16: &str = "FlashInfer, utils.py, shuffle_matrix_a of another epilogue_tile_m, such as 64; 16 must divide M";
const GATED: &str = "FlashInfer, reorder_rows_for_gated_act_gemm; AITER, interleave_gate_up_rows, GUGU; rows r0, rI, r1 of [2I, K]";
const GATED_32: &str = "FlashInfer, reorder_rows_for_gated_act_gemm, then shuffle_matrix_a where epilogue_tile_m % 128 == 0; vLLM, _maybe_get_cached_w3_w1_permute_indices; the two of the gate are [up, gate] of checkpoints";
const GATED_16: &str = "FlashInfer, reorder_rows_for_gated_act_gemm, then shuffle_matrix_a of another epilogue_tile_m; the two of the gate are [up, gate] of checkpoints";
const SWAP: &str = "vLLM, swap_w13_to_w31: [gate, up] becomes [up, gate]";
const SF_32: &str = "FlashInfer, shuffle_matrix_sf_a where epilogue_tile_m % 128 == 0: linear scales in, those of SCALE_128x4 with shuffled rows out; 128 must divide M";
const SF_16: &str = "FlashInfer, shuffle_matrix_sf_a of another epilogue_tile_m; 128 must divide M";
const BLOCK_MAJOR: &str =
    "FlashInfer, convert_to_block_layout: blockK is 128 bytes for kernels of experts";
const SM90: &str = "FlashInfer and TensorRT-LLM, mixed GEMM of SM90: scales of groups of 32 (e8m0) or 128 (bf16), rows by 64";
const SM90_WEIGHT: &str =
    "FlashInfer and TensorRT-LLM, mixed GEMM of SM90: 16 must divide N and 64 must divide K";
const SM90_FP4: &str = "FlashInfer, mixed GEMM of SM90, FP4 weights: only the order of the bytes; afterwards the bits of each 32-bit word are permuted, as triton_kernels do on Hopper";

#[rustfmt::skip]
pub(super) static ROWS: &[GroupRows] = &[
    rows("NVIDIA", "scales of blocks", &[
        sized("SCALE_128x4", &["NVFP4_SCALE", "MXFP8_SCALE", "SWIZZLED_128x4", "block_scale_interleave", "nvfp4_block_scale_interleave", "Sm1xxBlockScaled", "VEC16_UE4M3", "VEC32_UE8M0", "to_blocked"], &[of(8, "… (m2 m1:4 m0:32) (k1 k0:4) -> … m2 k1 m0 m1 k0")], SCALES, "f8e4m3fn[200,6] SCALE_128x4").with_dims(&["N", "K/block"]),
        sized("SCALE_8x4", &["SWIZZLED_8x4"], &[of(8, "… (m1 m0:8) (k1 k0:4) -> … m1 k1 m0 k0")], SCALES_8, "f8e4m3fn[16,8] SCALE_8x4").with_dims(&["N", "K/block"]),
    ]),
    rows("NVIDIA", "weights of FlashInfer and TensorRT-LLM", &[
        row("TRTLLM_SHUFFLE_A_32", &["shuffle_matrix_a", "shuffleMatrixA"], "… (m2 m1:8 m0:4) k -> … m2 m0 m1 k", &[], SHUFFLE_32, "u8[64,6] TRTLLM_SHUFFLE_A_32").with_dims(NK),
        row("TRTLLM_SHUFFLE_A_16", &[], "… (m2 m1:8 m0:2) k -> … m2 m0 m1 k", &[], SHUFFLE_16, "u8[48,6] TRTLLM_SHUFFLE_A_16").with_dims(NK),
        row("TRTLLM_GATED_ROWS", &["reorder_rows_for_gated_act_gemm", "interleave_gate_up_rows"], "… g i k -> … i g k", &[], GATED, "u8[2,24,5] TRTLLM_GATED_ROWS").with_dims(&["gate/up", "N", "K"]),
        row("TRTLLM_GATED_SHUFFLE_A_32", &["w3_w1_permute_indices"], "… g (i2 i1:8 i0:2) k -> … i2 i0 g i1 k", &[], GATED_32, "u8[2,32,5] TRTLLM_GATED_SHUFFLE_A_32").with_dims(&["gate/up", "N", "K"]),
        row("TRTLLM_GATED_SHUFFLE_A_16", &[], "… g (i1 i0:8) k -> … i1 g i0 k", &[], GATED_16, "u8[2,32,5] TRTLLM_GATED_SHUFFLE_A_16").with_dims(&["gate/up", "N", "K"]),
        row("SWAP_W13_W31", &["swap_w13_to_w31"], "… g i k -> … -g i k", &[], SWAP, "bf16[2,6,5] SWAP_W13_W31").with_dims(&["gate/up", "N", "K"]),
        row("BLOCK_MAJOR_K", &["BlockMajorK", "convert_to_block_layout"], "… m (k1 k0:BLOCK_K) -> … k1 m k0", &[&BYTES_128], BLOCK_MAJOR, "u8[6,256] BLOCK_MAJOR_K").with_dims(NK),
        sized("SM90_MIXED_INT4", &[], &[of(4, "… (n2 n1:2 n0:8) (k4 k3:2 k2:2 k1:4 k0:4) -> … n2 k2 n0 k4 k3 k1 n1 k0")], SM90_WEIGHT, "s4[32,128]E(4) SM90_MIXED_INT4").with_dims(NK),
        sized("SM90_MIXED_FP4_BYTES", &[], &[of(8, "… (n2 n1:2 n0:8) (b4 b3:2 b2:2 b1:2 b0:4) -> … n2 b2 n0 b4 b3 b0 b1 n1")], SM90_FP4, "u8[16,32] SM90_MIXED_FP4_BYTES").with_dims(&["N", "K/2 bytes"]),
    ]),
    rows("NVIDIA", "scales of FlashInfer and TensorRT-LLM", &[
        sized("TRTLLM_SHUFFLE_SF_A_32", &["shuffle_matrix_sf_a", "shuffleMatrixSfA"], &[of(8, "… (m3 m2:4 m1:8 m0:4) (k1 k0:4) -> … m3 k1 m0 m1 m2 k0")], SF_32, "f8e4m3fn[128,8] TRTLLM_SHUFFLE_SF_A_32").with_dims(&["N", "K/block"]),
        sized("TRTLLM_SHUFFLE_SF_A_16", &[], &[of(8, "… (m4 m3:4 m2:2 m1:8 m0:2) (k1 k0:4) -> … m4 k1 m2 m0 m1 m3 k0")], SF_16, "f8e4m3fn[128,8] TRTLLM_SHUFFLE_SF_A_16").with_dims(&["N", "K/block"]),
        sized("SM90_MIXED_SCALE_U8", &[], &[of(8, "… (m2 m1:4 m0:16) (k1 k0:4) -> … m2 k1 m0 m1 k0")], SM90, "f8e8m0fnu[2,64,8] SM90_MIXED_SCALE_U8").with_dims(NK32),
        sized("SM90_MIXED_SCALE_BF16", &[], &[of(16, "… (m2 m1:8 m0:8) k -> … m2 k m0 m1")], SM90, "bf16[2,64,3] SM90_MIXED_SCALE_BF16").with_dims(&["N", "K/128"]),
    ]),
];
