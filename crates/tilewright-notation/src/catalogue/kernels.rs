//! Weights, scales and fused rows in the orders of GPU kernels: AITER, DeepGEMM, FlashInfer and TensorRT-LLM, Marlin
//! and the kernels after it (Marlin-24, Machete, AllSpark), triton_kernels for Hopper, Blackwell, CDNA4 and gfx1250.
//!
//! The tile in a name of AITER is that of the lanes; the run of each lane is 16 bytes. FlashInfer's scales are those of
//! cuBLASLt.
//!
//! The API of triton_kernels has the values as [.., K, N] and the scales as [.., K/32, N]; a layout that it makes of
//! the transposed array is here one of that array, so each row states its dims.

use super::{GroupRows, of, row, rows, sized};
use crate::catalogue::{
    self, BLOCK_K, BLOCK_N, BYTES_128, GN, K32N, KN, MK, NK, NK32, NKB, PAD_BYTES, PAD_N, TP, WARPS,
};

const SHUFFLE: &str = "ROCm/aiter, aiter/ops/shuffle.py, shuffle_weight(w, (16, 16)), bpreshuffle: 16 must divide N and 32 bytes K; shuffle_weight_NK(inst_N, inst_K) is [N0=inst_N,K1=64/inst_N,K0=inst_K*inst_N/64]";
const SHUFFLE_32: &str = "ROCm/aiter, aiter/ops/shuffle.py, shuffle_weight(w, (32, 16))";
const INT4: &str = "ROCm/aiter, aiter/ops/shuffle.py, shuffle_weight(use_int4=True): one value in a byte, before it is packed";
const INT4_PACKED: &str = "ROCm/aiter, aiter/int4_utils.py: shuffle_weight(use_int4=True), then convert_int8_to_uint32_int4 and rearrange_4bit_elements";
const FLYDSL: &str = "ROCm/aiter, pack_int8_to_packed_int4 of FlyDSL, of the flat shuffled tensor: values 0 and 4 in a byte, then 1 and 5";
const A16W4: &str = "ROCm/aiter, aiter/ops/shuffle.py, shuffle_weight_a16w4(w, 16, gate_up=True)";
const A16W4_PLAIN: &str =
    "ROCm/aiter, aiter/ops/shuffle.py, shuffle_weight_a16w4(w, 16, gate_up=False)";
const E8M0: &str = "ROCm/aiter, e8m0_shuffle: rows padded to 256 and columns to 8, with bytes that are not written";
const SCALE_GATE_UP: &str =
    "ROCm/aiter, aiter/ops/shuffle.py, shuffle_scale_a16w4(gate_up=True): columns padded with 0x7F";
const SCALE_A16W4: &str = "ROCm/aiter, aiter/ops/shuffle.py, shuffle_scale_a16w4(gate_up=False): 32 must divide N and 8 must divide K/32";
const N32K4: &str = "ROCm/aiter, shuffle_scale_n32k4 of gfx1250, shuffle_scale_f4 of MXFP4, shuffle_mxfp8fp4_scale: rows padded with 0x7F";
const N32K8: &str = "ROCm/aiter, shuffle_scale_f4 of NVFP4";
const GFX1250: &str = "ROCm/aiter, shuffle_weight_gfx1250 of two dims; three are [E, K, N] there, and the result is a transposed view";
const GFX1250_AB: &str = "ROCm/aiter, shuffle_mxfp8fp4_a and shuffle_mxfp8fp4_b of gfx1250";

#[rustfmt::skip]
pub(super) static AITER_ROWS: &[GroupRows] = &[
    rows("AMD", "weights of AITER", &[
        sized("AITER_SHUFFLE_16x16", &["shuffle_weight"], &[of(8, "… (n1 n0:16) (k2 k1:2 k0:16) -> … n1 k2 k1 n0 k0"), of(16, "… (n1 n0:16) (k2 k1:4 k0:8) -> … n1 k2 k1 n0 k0"), of(4, "… (n1 n0:16) (k2 k1:2 k0:32) -> … n1 k2 k1 n0 k0")], SHUFFLE, "u8[32,64] AITER_SHUFFLE_16x16").with_dims(NK),
        sized("AITER_SHUFFLE_32x16", &[], &[of(8, "… (n1 n0:32) (k2 k1:2 k0:16) -> … n1 k2 k1 n0 k0"), of(16, "… (n1 n0:32) (k2 k1:4 k0:8) -> … n1 k2 k1 n0 k0")], SHUFFLE_32, "u8[64,64] AITER_SHUFFLE_32x16").with_dims(NK),
        sized("AITER_SHUFFLE_INT4", &[], &[of(8, "… (n1 n0:16) (k1 k0:32) -> … n1 k1 n0 k0")], INT4, "s8[32,96] AITER_SHUFFLE_INT4").with_dims(NK),
        sized("AITER_SHUFFLE_INT4_PACKED", &["rearrange_4bit_elements"], &[of(4, "… (n1 n0:16) (k3 k2:4 k1:4 k0:2) -> … n1 k3 n0 k2 k0 k1")], INT4_PACKED, "s4[32,96]E(4) AITER_SHUFFLE_INT4_PACKED").with_dims(NK),
        sized("AITER_PACK_INT4_FLYDSL", &["pack_int8_to_packed_int4"], &[of(4, "(i2 i1:2 i0:4) -> i2 i0 i1")], FLYDSL, "s4[64]E(4) AITER_PACK_INT4_FLYDSL").with_dims(&["I"]),
        sized("AITER_SHUFFLE_A16W4", &[], &[of(4, "… (n1 n0:16) (k2 k1:4 k0:32) -> … n1 k2 k1 n0 k0")], A16W4_PLAIN, "u4[32,128]E(4) AITER_SHUFFLE_A16W4").with_dims(NK),
        sized("AITER_SHUFFLE_A16W4_GATE_UP", &["shuffle_weight_a16w4"], &[of(4, "e g (n1 n0:16) (k2 k1:4 k0:32) -> e n1 g k2 k1 n0 k0")], A16W4, "u4[2,2,32,128]E(4) AITER_SHUFFLE_A16W4_GATE_UP").with_dims(&["E", "gate/up", "N", "K"]),
        sized("AITER_GFX1250_WEIGHT", &["shuffle_weight_gfx1250"], &[of(8, "(n1 n0:16) (k2 k1:2 k0:16) -> n1 k2 k1 n0 k0")], GFX1250, "u8[32,64] AITER_GFX1250_WEIGHT").with_dims(NK),
        sized("AITER_GFX1250_A", &["shuffle_mxfp8fp4_a"], &[of(8, "(m1 m0:2) (k1 k0:128) -> m1 k1 m0 k0")], GFX1250_AB, "u8[8,256] AITER_GFX1250_A").with_dims(MK),
        sized("AITER_GFX1250_B", &["shuffle_mxfp8fp4_b"], &[of(8, "(n1 n0:16) (k1 k0:16) -> n1 k1 n0 k0")], GFX1250_AB, "u8[32,64] AITER_GFX1250_B").with_dims(NK),
    ]),
    rows("AMD", "scales of AITER", &[
        sized("AITER_E8M0_SHUFFLE", &["e8m0_shuffle", "shuffle_scale"], &[of(8, "(m3 m2:8 m1:2 m0:16) (k2 k1:2 k0:4) -> m3 m2 k2 k0 m0 k1 m1")], E8M0, "f8e8m0fnu[256,8] AITER_E8M0_SHUFFLE").with_dims(NK32),
        sized("AITER_SCALE_GATE_UP", &["shuffle_scale_a16w4"], &[of(8, "e g (n1 n0:16) (k2 k1:2 k0:4) -> e n1 k2 k0 n0 k1 g")], SCALE_GATE_UP, "f8e8m0fnu[2,2,32,16] AITER_SCALE_GATE_UP").with_dims(&["E", "gate/up", "N", "K/32"]),
        sized("AITER_SCALE_A16W4", &[], &[of(8, "… (n2 n1:2 n0:16) (k2 k1:2 k0:4) -> … n2 k2 k0 n0 k1 n1")], SCALE_A16W4, "f8e8m0fnu[2,64,16] AITER_SCALE_A16W4").with_dims(NK32),
        sized("AITER_SCALE_N32K4", &["shuffle_scale_n32k4", "shuffle_mxfp8fp4_scale"], &[of(8, "… (n1 n0:32) (k1 k0:4) -> … n1 k1 n0 k0")], N32K4, "f8e8m0fnu[64,8] AITER_SCALE_N32K4").with_dims(NK32),
        sized("AITER_SCALE_N32K8", &["shuffle_scale_f4"], &[of(8, "… (n1 n0:32) (k1 k0:8) -> … n1 k1 n0 k0")], N32K8, "f8e4m3fn[64,16] AITER_SCALE_N32K8").with_dims(&["N", "K/16"]),
    ]),
];

const ALIGNED: &str = "DeepGEMM, get_mn_major_tma_aligned_tensor, and Transformer Engine, scales of blocks of 1x128 (Float8BlockQuantizer): column-major, each column padded to 16 bytes";
const UE8M0: &str =
    "DeepGEMM, packed UE8M0: four exponents along K in an int32, the first in the low byte";

#[rustfmt::skip]
pub(super) static DEEPGEMM_ROWS: &[GroupRows] = &[
    rows("DeepGEMM", "scales of blocks", &[
        sized("DEEPGEMM_SF_MN_MAJOR", &["get_mn_major_tma_aligned_tensor", "TE_BLOCKWISE_SCALE"], &[of(32, "… (m1 m0:4) k -> … k m1 m0")], ALIGNED, "f32[10,7] DEEPGEMM_SF_MN_MAJOR").with_dims(&["MN", "K/128"]),
        sized("DEEPGEMM_SF_UE8M0", &["get_mn_major_tma_aligned_packed_ue8m0_tensor"], &[of(8, "… (m1 m0:4) (k1 k0:4) -> … k1 m1 m0 k0")], UE8M0, "f8e8m0fnu[10,7] DEEPGEMM_SF_UE8M0").with_dims(&["MN", "K/128"]),
    ]),
];

const SCALES: &str = "cuBLASLt, block scaling factors (VEC16_UE4M3, VEC32_UE8M0); nvmath; CUTLASS, Sm1xxBlockScaledConfig; FlashInfer, block_scale_interleave; torchao, to_blocked; Transformer Engine, gemm swizzled scales; each batch is padded to 128 rows and 4 columns";
const SCALES_8: &str =
    "FlashInfer and TensorRT-LLM, SWIZZLED_8x4: each batch is padded to 8 rows and 4 columns";
const FLASHINFER_SHUFFLE_32: &str = "FlashInfer, utils.py, shuffle_matrix_a where epilogue_tile_m % 128 == 0; TensorRT-LLM, shuffleMatrixA; 32 must divide M";
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
pub(super) static FLASHINFER_ROWS: &[GroupRows] = &[
    rows("NVIDIA", "scales of blocks", &[
        sized("SCALE_128x4", &["NVFP4_SCALE", "MXFP8_SCALE", "SWIZZLED_128x4", "block_scale_interleave", "nvfp4_block_scale_interleave", "Sm1xxBlockScaled", "VEC16_UE4M3", "VEC32_UE8M0", "to_blocked"], &[of(8, "… (m2 m1:4 m0:32) (k1 k0:4) -> … m2 k1 m0 m1 k0")], SCALES, "f8e4m3fn[200,6] SCALE_128x4").with_dims(&["N", "K/block"]),
        sized("SCALE_8x4", &["SWIZZLED_8x4"], &[of(8, "… (m1 m0:8) (k1 k0:4) -> … m1 k1 m0 k0")], SCALES_8, "f8e4m3fn[16,8] SCALE_8x4").with_dims(&["N", "K/block"]),
    ]),
    rows("NVIDIA", "weights of FlashInfer and TensorRT-LLM", &[
        row("TRTLLM_SHUFFLE_A_32", &["shuffle_matrix_a", "shuffleMatrixA"], "… (m2 m1:8 m0:4) k -> … m2 m0 m1 k", &[], FLASHINFER_SHUFFLE_32, "u8[64,6] TRTLLM_SHUFFLE_A_32").with_dims(NK),
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

const MARLIN: &str = "IST-DASLab/marlin, _get_perms, for 4 bits; vLLM, get_weight_perm, for 8 bits; lowest values first in each 32-bit word; N and K must be multiples of 64 and 128, or of 128 and 64";
const MARLIN_SCALES: &str = "IST-DASLab/marlin, _scale_perm; vLLM, marlin_permute_scales where a group is smaller than K; one row per group";
const SINGLE: &str = "IST-DASLab/marlin, _scale_perm_single; vLLM, marlin_permute_scales of one row for all of k, marlin_permute_bias, and all scales for 8-bit activations";
const VLLM: &str = "vLLM, marlin_utils_test.py, get_weight_perm for 8-bit activations";
const VLLM_SCALES: &str = "vLLM, marlin_utils_fp4.py, mxfp4_marlin_process_scales; for NVFP4 scales only the order, since their values change";
const ZP: &str = "vLLM, marlin_utils.py, marlin_zero_points";
const SPARSE: &str = "vLLM, marlin_24_perms.py: 2:4 sparse weights with the zeros left out, so K is half of the dense K";
const SPARSE_META: &str = "vLLM, marlin_24, mask_creator and sparse metadata: N a multiple of 64";
const CUTLASS: &str = "torch, _semi_structured_conversions.py: CUTLASS's 2:4 metadata, of 16-bit words [N, K/16] for 16-bit weights, of 32-bit words [N, K/32] for 8-bit ones";
const MACHETE: &str = "vLLM, machete_prepack: blocks of 128 of N by 64 of K, which must divide N and K; CuTe, thrfrg_A of SM90_64x128x16 tiled 2x1x1";
const ALLSPARK: &str = "vLLM, allspark_repack, rearrange_kn_weight_as_n32k16_order: N padded to 32";

// The bars cut the order into the dims of the array of words: int32 [K/16, 2N] of 4 bits, [K/16, 4N] of 8.
#[rustfmt::skip]
pub(super) static MARLIN_ROWS: &[GroupRows] = &[
    rows("Quantised weights", "Marlin, of IST and vLLM", &[
        sized("MARLIN", &["MARLIN_4BIT", "MARLIN_8BIT", "GPTQ_MARLIN", "AWQ_MARLIN", "FP8_MARLIN", "gptq_marlin_repack"], &[of(4, "(k3 k2:2 k1:4 k0:2) (n3 n2:4 n1:2 n0:8) -> k3 | n3 n0 k1 n2 k0 n1 k2"), of(8, "(k3 k2:2 k1:4 k0:2) (n3 n2:4 n1:2 n0:8) -> k3 | n3 n0 k1 n2 n1 k0 k2")], MARLIN, "u4[32,128]E(4) MARLIN").with_dims(KN).with_quantised(&catalogue::MARLIN),
        sized("MARLIN_SCALE", &["marlin_permute_scales"], &[of(16, "g (n2 n1:8 n0:8) -> g n2 n0 n1")], MARLIN_SCALES, "f16[3,128] MARLIN_SCALE").with_dims(GN),
        sized("MARLIN_SCALE_SINGLE", &["MARLIN_BIAS", "marlin_permute_bias"], &[of(16, "g (n3 n2:4 n1:4 n0:2) -> g n3 n1 n2 n0")], SINGLE, "f16[1,64] MARLIN_SCALE_SINGLE").with_dims(GN),
        sized("MARLIN_A8", &["MARLIN_W4A8", "MARLIN_W8A8"], &[of(4, "(k3 k2:2 k1:4 k0:4) (n3 n2:2 n1:2 n0:8) -> k3 | n3 n0 k1 n2 n1 k0 k2"), of(8, "(k3 k2:2 k1:4 k0:4) (n3 n2:2 n1:2 n0:8) -> k3 | n3 n0 k1 n2 n1 k2 k0")], VLLM, "u4[64,64]E(4) MARLIN_A8").with_dims(KN).with_quantised(&catalogue::MARLIN),
        sized("MARLIN_ZP", &["MARLIN_ZEROS", "marlin_zero_points"], &[of(4, "g (n3 n2:4 n1:2 n0:8) -> g | n3 n0 n1 n2"), of(8, "g (n4 n3:2 n2:2 n1:2 n0:8) -> g | n4 n0 n3 n1 n2")], ZP, "u4[3,128]E(4) MARLIN_ZP").with_dims(GN),
        sized("MARLIN_MX_SCALE", &["MARLIN_MXFP4_SCALE", "MARLIN_MXFP8_SCALE", "mxfp4_marlin_process_scales"], &[of(8, "g (n4 n3:2 n2:2 n1:2 n0:8) -> g n4 n0 n3 n1 n2")], VLLM_SCALES, "f8e8m0fnu[4,128] MARLIN_MX_SCALE").with_dims(GN),
    ]),
    rows("Quantised weights", "2:4 sparse weights, of Marlin-24 and CUTLASS", &[
        sized("MARLIN_24", &["GPTQ_MARLIN_24"], &[of(4, "(k3 k2:2 k1:4 k0:2) (n4 n3:4 n2:2 n1:2 n0:4) -> k3 | n4 n3 n2 k1 n0 k0 n1 k2"), of(8, "(k3 k2:2 k1:4 k0:2) (n4 n3:4 n2:2 n1:2 n0:4) -> k3 | n4 n3 n2 k1 n0 n1 k0 k2")], SPARSE, "u4[32,128]E(4) MARLIN_24").with_dims(&["K/2", "N"]).with_quantised(&catalogue::MARLIN),
        sized("MARLIN_24_META", &[], &[of(16, "(r4 r3:8 r2:2 r1:2 r0:2) (c1 c0:2) -> c1 r4 r1 r3 r0 c0 r2")], SPARSE_META, "u16[128,8] MARLIN_24_META").with_dims(&["N", "K/16"]),
        sized("MARLIN_24_SCALE", &["marlin_24_permute_scales"], &[of(16, "g (n2 n1:2 n0:4) -> g n2 n0 n1")], SPARSE, "f16[3,64] MARLIN_24_SCALE").with_dims(GN),
        sized("CUTLASS_SPARSE_META", &["CUTLASS_REORDERED_META"], &[of(16, "(r3 r2:2 r1:2 r0:8) (c1 c0:2) -> c1 r3 r0 r2 c0 r1"), of(32, "(r2 r1:2 r0:8) (c1 c0:2) -> c1 r2 r0 c0 r1")], CUTLASS, "u16[64,8] CUTLASS_SPARSE_META").with_dims(NKB),
    ]),
    rows("Quantised weights", "Machete and AllSpark, of vLLM", &[
        sized("MACHETE", &["machete_prepack", "machete_prepack_B"], &[of(4, "(n4 n3:2 n2:4 n1:2 n0:8) (k4 k3:4 k2:2 k1:4 k0:2) -> k4 n4 n3 n2 n0 k1 k3 k0 k2 n1"), of(8, "(n4 n3:2 n2:4 n1:2 n0:8) (k4 k3:4 k2:2 k1:4 k0:2) -> k4 n4 n3 n2 n0 k1 k3 k2 n1 k0")], MACHETE, "u4[256,64]E(4) MACHETE").with_dims(NK),
        sized("MACHETE_A8", &["MACHETE_W4A8"], &[of(4, "(n4 n3:2 n2:4 n1:2 n0:8) (k4 k3:2 k2:2 k1:4 k0:4) -> k4 n4 n3 n2 n0 k1 k3 k2 n1 k0")], MACHETE, "u4[256,64]E(4) MACHETE_A8").with_dims(NK),
        sized("ALLSPARK_N32K16", &["ALLSPARK", "rearrange_kn_weight_as_n32k16_order"], &[of(8, "(k3 k2:2 k1:4 k0:2) (n3 n2:2 n1:2 n0:8) -> n3 n0 k3 k1 n2 n1 k2 k0")], ALLSPARK, "u8[64,128] ALLSPARK_N32K16").with_dims(KN),
        sized("ALLSPARK_SCALE", &["ALLSPARK_ZERO"], &[of(16, "… (n2 n1:4 n0:8) -> … n2 n0 n1")], ALLSPARK, "f16[128] ALLSPARK_SCALE").with_dims(&["N"]),
    ]),
];

const HOPPER_SCALE: &str = "triton_kernels, HopperMXScaleLayout: N padded to 32 warps, K/32 to 2; returned as a transposed view";
const HOPPER_VALUE: &str = "triton_kernels, HopperMXValueLayout: only the order of the bytes; afterwards the bits of each 32-bit word are permuted; N padded to 256 and K/2 to 64";
const BLACKWELL_SCALE: &str = "triton_kernels, BlackwellMXScaleLayout: K/32 padded to 8, N to 128";
const BLACKWELL_ACT: &str =
    "triton_kernels, BlackwellActMXScaleLayout: of inputs that are not ragged";
const BLACKWELL_VALUE: &str =
    "triton_kernels, BlackwellMXValueLayout: column-major, K/2 padded to 128 bytes";
const SHUFFLED: &str = "triton_kernels, BlackwellMX4ValueShuffledLayout(block_k, block_n): K/2 padded to whole blocks and to 128 bytes, so K1=1 where block_k is a multiple of 256";
const PACKED: &str =
    "triton_kernels, BlackwellMX4ValuePackedShuffledLayout(block_k, block_n): K1 = block_k / 16";
const CDNA4: &str = "triton_kernels, CDNA4MXScaleLayout, was GFX950MXScaleLayout: N padded to 32, K/32 to 8; in releases of 2025 both must divide";
const TRITON_GFX1250: &str =
    "triton_kernels, GFX1250MXScaleLayout: N padded to 128, K/32 to 4; below 4 columns K0 is K/32";

#[rustfmt::skip]
pub(super) static TRITON_ROWS: &[GroupRows] = &[
    rows("Triton", "scales of triton_kernels", &[
        sized("HOPPER_MX_SCALE", &["HopperMXScaleLayout"], &[of(8, "… (n4 n3:2 n2:NUM_WARPS n1:2 n0:8) (k1 k0:2) -> … n4 n2 k1 n3 n0 k0 n1")], HOPPER_SCALE, "f8e8m0fnu[256,8] HOPPER_MX_SCALE[NUM_WARPS=8]").with_constants(&[&WARPS]).with_dims(NK32),
        sized("HOPPER_MX_SCALE_W8", &[], &[of(8, "… (n4 n3:2 n2:8 n1:2 n0:8) (k1 k0:2) -> … n4 n2 k1 n3 n0 k0 n1")], HOPPER_SCALE, "f8e8m0fnu[256,8] HOPPER_MX_SCALE_W8").with_dims(NK32),
        sized("HOPPER_MX_SCALE_W4", &[], &[of(8, "… (n4 n3:2 n2:4 n1:2 n0:8) (k1 k0:2) -> … n4 n2 k1 n3 n0 k0 n1")], HOPPER_SCALE, "f8e8m0fnu[128,8] HOPPER_MX_SCALE_W4").with_dims(NK32),
        sized("BLACKWELL_MX_SCALE", &["BlackwellMXScaleLayout"], &[of(8, "… (k2 k1:2 k0:4) (n2 n1:4 n0:32) -> … n2 k2 k1 n0 n1 k0")], BLACKWELL_SCALE, "f8e8m0fnu[8,128] BLACKWELL_MX_SCALE").with_dims(K32N),
        sized("BLACKWELL_ACT_MX_SCALE", &["BlackwellActMXScaleLayout"], &[of(8, "… (m2 m1:4 m0:32) (k2 k1:2 k0:4) -> … m2 k2 k1 m0 m1 k0")], BLACKWELL_ACT, "f8e8m0fnu[128,8] BLACKWELL_ACT_MX_SCALE").with_dims(&["M", "K/32"]),
        sized("CDNA4_MX_SCALE", &["CDNA4MXScaleLayout", "GFX950MXScaleLayout"], &[of(8, "… (k2 k1:2 k0:4) (n2 n1:2 n0:16) -> … n2 k2 k0 n0 k1 n1")], CDNA4, "f8e8m0fnu[8,64] CDNA4_MX_SCALE").with_dims(K32N),
        sized("GFX1250_MX_SCALE", &["GFX1250MXScaleLayout"], &[of(8, "… (k1 k0:4) (n2 n1:4 n0:32) -> … n2 k1 n0 n1 k0")], TRITON_GFX1250, "f8e8m0fnu[8,128] GFX1250_MX_SCALE").with_dims(K32N),
    ]),
    rows("Triton", "values of triton_kernels", &[
        sized("HOPPER_MX_VALUE_BYTES", &[], &[of(8, "… (n4 n3:PAD_N n2:2 n1:4 n0:2) (b4 b3:PAD_B b2:4 b1:2 b0:4) -> … n4 n3 n1 b4 b3 n0 b0 b2 b1 n2")], HOPPER_VALUE, "u8[256,64] HOPPER_MX_VALUE_BYTES").with_constants(&[&PAD_N, &PAD_BYTES]).with_dims(&["N", "K/2 bytes"]),
        sized("HOPPER_MX_VALUE_BYTES_MMA2", &[], &[of(8, "… (n4 n3:PAD_N n2:2 n1:4 n0:2) (b4 b3:PAD_B b2:2 b1:4 b0:4) -> … n4 n3 n1 b4 b3 n0 b1 b2 n2 b0")], HOPPER_VALUE, "u8[256,64] HOPPER_MX_VALUE_BYTES_MMA2").with_constants(&[&PAD_N, &PAD_BYTES]).with_dims(&["N", "K/2 bytes"]),
        sized("BLACKWELL_MX_VALUE", &["BlackwellMXValueLayout"], &[of(4, "… (k1 k0:256) n -> … n k1 k0")], BLACKWELL_VALUE, "u4[96,12]E(4) BLACKWELL_MX_VALUE").with_dims(KN),
        sized("BLACKWELL_MX4_VALUE_SHUFFLED", &["BlackwellMX4ValueShuffledLayout"], &[of(4, "… (k2 k1:2 k0:BLOCK_K) (n1 n0:BLOCK_N) -> … k2 k1 n1 n0 k0")], SHUFFLED, "u4[1,128,300]E(4) BLACKWELL_MX4_VALUE_SHUFFLED").with_constants(&[&BLOCK_K, &BLOCK_N]).with_dims(KN),
        sized("BLACKWELL_MX4_VALUE_PACKED_SHUFFLED", &["BlackwellMX4ValuePackedShuffledLayout"], &[of(4, "… (k3 k2:2 k1:8 k0:16) (n1 n0:512) -> … k3 n1 n0 k1 k2 k0")], PACKED, "u4[1,256,64]E(4) BLACKWELL_MX4_VALUE_PACKED_SHUFFLED").with_dims(KN),
    ]),
];

const NEOX: &str = "GPT-NeoX, BLOOM, ChatGLM-6B, Falcon-RW: query_key_value, from [q, k, v] stacked to heads of q, k, v";
const TP_QKV: &str = "Phi-3, ChatGLM, GLM-4, Baichuan (W_pack) and vLLM (qkv_proj): TP ranks one after the other, each with its q, k and v of the same number of heads";
const TP_GATE: &str =
    "Megatron, linear_fc1 of TP ranks one after the other, each with its gate and up";
const GLU: &str = "Transformer Engine and Megatron, glu_interleave_size 32: 32 rows of the gate, 32 of up; another size as [I0=16]";
const GPT_OSS: &str =
    "gpt-oss, gate_up_proj [E, in, out]: gate and up interleaved along the last dim";
const HALVES: &str = "Meta and GGUF to Hugging Face: a head's pairs of rotary dims become two halves; only for q and k";
const PAIRS: &str = "llama.cpp, LlamaModel.permute, Hugging Face to GGUF: a head's halves become pairs; only for q and k";

#[rustfmt::skip]
pub(super) static FUSED_ROWS: &[GroupRows] = &[
    rows("Models", "rows of fused projections", &[
        row("NEOX_QKV", &["BLOOM_QKV", "CHATGLM_6B_QKV", "FALCON_RW_QKV"], "s h d k -> h s d k", &[], NEOX, "f16[3,4,6,5] NEOX_QKV").with_dims(&["q/k/v", "heads", "head size", "K"]),
        row("QKV_OF_RANKS", &[], "s (h1:TP h0) d k -> h1 s h0 d k", &[&TP], TP_QKV, "f16[3,4,6,5] QKV_OF_RANKS[TP=2]").with_dims(&["q/k/v", "heads", "head size", "K"]),
        row("GATE_UP_OF_RANKS", &[], "… g (i1:TP i0) k -> … i1 g i0 k", &[&TP], TP_GATE, "f16[2,12,5] GATE_UP_OF_RANKS[TP=2]").with_dims(&["gate/up", "N", "K"]),
        row("GLU_INTERLEAVED_32", &["glu_interleave_size"], "… g (i1 i0:32) k -> … i1 g i0 k", &[], GLU, "f16[2,96,3] GLU_INTERLEAVED_32").with_dims(&["gate/up", "N", "K"]),
        row("GPT_OSS_GATE_UP", &[], "… k g n -> … k n g", &[], GPT_OSS, "bf16[2,5,2,6] GPT_OSS_GATE_UP").with_dims(&["K", "gate/up", "N"]),
    ]),
    rows("Models", "pairs of rotary embeddings", &[
        row("ROPE_HALVES", &[], "… (d1 d0:2) k -> … d0 d1 k", &[], HALVES, "f16[3,8,5] ROPE_HALVES").with_dims(&["head size", "K"]),
        row("ROPE_PAIRS", &[], "… (d1:2 d0) k -> … d0 d1 k", &[], PAIRS, "f16[3,8,5] ROPE_PAIRS").with_dims(&["head size", "K"]),
        row("ROPE_PAIRS_64", &[], "… (d1:2 d0:32) k -> … d0 d1 k", &[], PAIRS, "f16[3,64,5] ROPE_PAIRS_64").with_dims(&["head size", "K"]),
    ]),
];
