//! Formats of other makers: libraries of NVIDIA, AMD, Intel and Tenstorrent, XLA, and quantized weights.

use super::{
    Rows, Width,
    constants::{ROW_64, V},
    row, rows,
};

const CUBLASLT: &str = "cuBLASLt, cublasLtOrder_t; measured on an H200";
const XLA: &str = "XLA, tiled layout";
const SCALES: &str = "cuBLASLt, block scaling factors; nvmath";
const CUDNN: &str = "cuDNN, CUDNN_TENSOR_NCHW_VECT_C; TensorRT, TensorFormat";
const TENSORRT: &str = "TensorRT, TensorFormat";
const TENSTORRENT: &str = "Tenstorrent, tiles of faces of 16x16";
const VNNI: &str = "Intel 64, dot products of 4 bytes: V rows side by side";
const AMX: &str = "Intel 64, AMX: tiles of 16 rows of 64 bytes";
const MARLIN: &str = "IST-DASLab/marlin, _get_perms, for 4 bits; vLLM, get_weight_perm, for 8 bits; lowest values first in each 32-bit word";
const MARLIN_SCALES: &str = "IST-DASLab/marlin, _scale_perm; one row a group";
const MARLIN_SINGLE: &str = "IST-DASLab/marlin, _scale_perm_single; one row for all of k";
const AWQ: &str = "AWQ, order [0,2,4,6,1,3,5,7] of the 4-bit values of a 32-bit word, [0,2,1,3] of 8-bit ones, low bits first; zero points [groups, N] too";
const GPTQ: &str = "GPTQ, qweight: words of 32 bits along K, low bits first; vLLM, pack_quantized_values_into_int32";
const GPTQ_ZEROS: &str = "GPTQ, qzeros: words of 32 bits along N, low bits first; the first version stores each zero point less 1";
const CT: &str = "compressed-tensors, pack_quantized: each row padded to whole words of 32 bits; stored is the value plus 2^(bits-1)";
const BNB: &str =
    "bitsandbytes, NF4 and FP4: the flattened array, the first of two values in the high bits";
const VLLM: &str = "vLLM, marlin_utils_test.py, get_weight_perm for 8-bit activations";
const VLLM_SCALES: &str = "vLLM, marlin_utils.py and marlin_utils_fp4.py";
const GGML_4: &str =
    "llama.cpp, the 4-bit values (qs) of blocks of 32, deltas apart: Q4_0, Q4_1, IQ4_NL";
const GGML_X4: &str = "llama.cpp, repack: the bytes (qs) of four rows' blocks, deltas apart";

// The bars cut the order into the dims of the array of words: int32 [K/16, 2N] of 4 bits, [K/16, 4N] of 8.
const MARLIN_4BITS: &str = "(k3 k2:2 k1:4 k0:2) (n3 n2:4 n1:2 n0:8) -> k3 | n3 n0 k1 n2 k0 n1 k2";
const MARLIN_8BITS: &str = "(k3 k2:2 k1:4 k0:2) (n3 n2:4 n1:2 n0:8) -> k3 | n3 n0 k1 n2 n1 k0 k2";
const MARLIN_A8_4BITS: &str =
    "(k3 k2:2 k1:4 k0:4) (n3 n2:2 n1:2 n0:8) -> k3 | n3 n0 k1 n2 n1 k0 k2";
const MARLIN_A8_8BITS: &str =
    "(k3 k2:2 k1:4 k0:4) (n3 n2:2 n1:2 n0:8) -> k3 | n3 n0 k1 n2 n1 k2 k0";
const MARLIN_A8_WIDTHS: &[Width] =
    &[Width::new(4, MARLIN_A8_4BITS), Width::new(8, MARLIN_A8_8BITS)];
const MARLIN_ZP_4BITS: &str = "g (n3 n2:4 n1:2 n0:8) -> g | n3 n0 n1 n2";
const MARLIN_ZP_8BITS: &str = "g (n4 n3:2 n2:2 n1:2 n0:8) -> g | n4 n0 n3 n1 n2";
const MARLIN_ZP_WIDTHS: &[Width] =
    &[Width::new(4, MARLIN_ZP_4BITS), Width::new(8, MARLIN_ZP_8BITS)];
const GPTQ_4BITS: &str = "(k1 k0:8) n -> k1 | n k0";
const GPTQ_WIDTHS: &[Width] = &[
    Width::new(4, GPTQ_4BITS),
    Width::new(8, "(k1 k0:4) n -> k1 | n k0"),
    Width::new(2, "(k1 k0:16) n -> k1 | n k0"),
];
const GPTQ_ZEROS_4BITS: &str = "g (n1 n0:8) -> g | n1 n0";
const GPTQ_ZEROS_WIDTHS: &[Width] = &[
    Width::new(4, GPTQ_ZEROS_4BITS),
    Width::new(8, "g (n1 n0:4) -> g | n1 n0"),
    Width::new(2, "g (n1 n0:16) -> g | n1 n0"),
];
const CT_4BITS: &str = "n (k1 k0:8) -> n | k1 k0";
const CT_WIDTHS: &[Width] = &[Width::new(4, CT_4BITS), Width::new(8, "n (k1 k0:4) -> n | k1 k0")];
const BNB_4BITS: &str = "… (k1 k0:2) -> … k1 -k0 |";
const MARLIN_WIDTHS: &[Width] = &[Width::new(4, MARLIN_4BITS), Width::new(8, MARLIN_8BITS)];
const AWQ_4BITS: &str = "k (n2 n1:4 n0:2) -> k | n2 n0 n1";
const AWQ_WIDTHS: &[Width] =
    &[Width::new(4, AWQ_4BITS), Width::new(8, "k (n2 n1:2 n0:2) -> k | n2 n0 n1")];
const GGML_4BITS: &str = "… (k2 k1:2 k0:16) -> … k2 k0 k1";

#[rustfmt::skip]
pub(super) static ROWS: &[Rows] = &[
    rows("NVIDIA", "matrices of cuBLASLt", &[
        // NVIDIA: orders of matrices, with a leading dimension, scales of blocks, channels in vectors.
        row("COL", &["CUBLASLT_ORDER_COL", "cublaslt:0"], "m n -> n m", &[], CUBLASLT, "f16[3,5] COL").with_leading(),
        row("ROW", &["CUBLASLT_ORDER_ROW", "cublaslt:1"], "m n -> m n", &[], CUBLASLT, "f16[3,5] ROW").with_leading(),
        row("COL32", &["CUBLASLT_ORDER_COL32", "cublaslt:2"], "m (k1 k0:32) -> k1 m k0", &[], CUBLASLT, "s8[33,40] COL32").with_leading(),
        row("COL4_4R2_8C", &["CUBLASLT_ORDER_COL4_4R2_8C", "cublaslt:3"], "(r2 r1:4 r0:2) (c2 c1:8 c0:4) -> c2 r2 r0 c1 r1 c0", &[], CUBLASLT, "s8[33,40] COL4_4R2_8C").with_leading(),
        row("COL32_2R_4R4", &["CUBLASLT_ORDER_COL32_2R_4R4", "cublaslt:4"], "(r3 r2:4 r1:4 r0:2) (c1 c0:32) -> c1 r3 r1 r2 r0 c0", &[], CUBLASLT, "s8[33,40] COL32_2R_4R4").with_leading(),
    ]),
    rows("NVIDIA", "scales of blocks", &[
        row("SCALE_128x4", &["NVFP4_SCALE", "MXFP8_SCALE"], "(m2 m1:4 m0:32) (k1 k0:4) -> m2 k1 m0 m1 k0", &[], SCALES, "f8e4m3fn[200,6] SCALE_128x4"),
    ]),
    rows("NVIDIA", "channels in vectors, of cuDNN and TensorRT", &[
        row("NC4HW4", &["NCHW_VECT_C4", "CHW4"], "n (c1 c0:4) h w -> n c1 h w c0", &[], CUDNN, "s8[2,10,3,5] NC4HW4"),
        row("NC32HW32", &["NCHW_VECT_C32", "CHW32"], "n (c1 c0:32) h w -> n c1 h w c0", &[], CUDNN, "s8[2,40,3,5] NC32HW32"),
        row("CHW2", &[], "n (c1 c0:2) h w -> n c1 h w c0", &[], TENSORRT, "f16[2,3,3,5] CHW2"),
        row("CHW16", &[], "n (c1 c0:16) h w -> n c1 h w c0", &[], TENSORRT, "f16[2,20,3,5] CHW16"),
        row("HWC8", &[], "n (c1 c0:8) h w -> n h w c1 c0", &[], TENSORRT, "f16[2,10,3,5] HWC8"),
        row("HWC16", &[], "n (c1 c0:16) h w -> n h w c1 c0", &[], TENSORRT, "s8[2,10,3,5] HWC16"),
        row("CDHW32", &[], "n (c1 c0:32) d h w -> n c1 d h w c0", &[], TENSORRT, "s8[1,40,2,3,5] CDHW32"),
        row("DHWC8", &[], "n (c1 c0:8) d h w -> n d h w c1 c0", &[], TENSORRT, "f16[1,10,2,3,5] DHWC8"),
    ]),
    rows("Tenstorrent", "tiles of faces", &[
        row("TT_TILE", &["TENSTORRENT_TILE"], "… (m2 m1:2 m0:16) (n2 n1:2 n0:16) -> … m2 n2 m1 n1 m0 n0", &[], TENSTORRENT, "bf16[100,50] TT_TILE"),
        row("TT_TILE_16x32", &[], "… (m1 m0:16) (n2 n1:2 n0:16) -> … m1 n2 n1 m0 n0", &[], TENSTORRENT, "bf16[20,50] TT_TILE_16x32"),
        row("TT_TILE_32x16", &[], "… (m2 m1:2 m0:16) (n1 n0:16) -> … m2 n1 m1 m0 n0", &[], TENSTORRENT, "bf16[40,20] TT_TILE_32x16"),
    ]),
    rows("TPU", "tiles of XLA", &[
        row("TPU_8x128", &[], "… (m1 m0:8) (n1 n0:128) -> … m1 n1 m0 n0", &[], XLA, "f32[20,300] TPU_8x128"),
        row("TPU_8x128_2x1", &[], "… (m2 m1:4 m0:2) (n1 n0:128) -> … m2 n1 m1 n0 m0", &[], XLA, "bf16[20,300] TPU_8x128_2x1"),
        row("TPU_8x128_4x1", &[], "… (m2 m1:2 m0:4) (n1 n0:128) -> … m2 n1 m1 n0 m0", &[], XLA, "s8[20,300] TPU_8x128_4x1"),
    ]),
    // B of a product has k rows; V of them lie side by side.
    rows("Intel", "operands of VNNI and AMX", &[
        row("VNNI", &[], "… (k1 k0:V) n -> … k1 n k0", &[&V], VNNI, "bf16[7,20] VNNI").with_second_operand(),
        row("AMX_A", &[], "(m1 m0:16) (k1 k0:ROW) -> m1 k1 m0 k0", &[&ROW_64], AMX, "bf16[20,40] AMX_A"),
        row("AMX_B", &[], "(k2 k1:16 k0:V) (n1 n0:16) -> n1 k2 k1 n0 k0", &[&V], AMX, "bf16[40,20] AMX_B").with_second_operand(),
        row("AMX_C", &[], "(m1 m0:16) (n1 n0:16) -> m1 n1 m0 n0", &[], AMX, "f32[20,20] AMX_C"),
    ]),
    rows("Quantised weights", "checkpoints of GPTQ, AWQ, compressed-tensors and bitsandbytes", &[
        row("GPTQ", &["GPTQ_QWEIGHT", "GPTQ_4BIT", "GPTQ_8BIT", "GPTQ_2BIT"], GPTQ_4BITS, &[], GPTQ, "u4[64,12]E(4) GPTQ").with_widths(GPTQ_WIDTHS).with_second_operand().with_row_table("g_idx"),
        row("GPTQ_ZEROS", &["GPTQ_QZEROS"], GPTQ_ZEROS_4BITS, &[], GPTQ_ZEROS, "u4[3,64]E(4) GPTQ_ZEROS").with_widths(GPTQ_ZEROS_WIDTHS),
        row("AWQ", &["AWQ_QWEIGHT", "AWQ_QZEROS", "AWQ_ZEROS"], AWQ_4BITS, &[], AWQ, "u4[3,64]E(4) AWQ").with_widths(AWQ_WIDTHS).with_second_operand(),
        row("CT_PACK_INT32", &["pack_quantized", "pack-quantized", "COMPRESSED_TENSORS"], CT_4BITS, &[], CT, "u4[5,44]E(4) CT_PACK_INT32").with_widths(CT_WIDTHS),
        row("BNB_4BIT", &["BNB_NF4", "BNB_FP4", "BITSANDBYTES_4BIT"], BNB_4BITS, &[], BNB, "u4[4,32]E(4) BNB_4BIT").with_widths(&[Width::new(4, BNB_4BITS)]).with_flat(),
    ]),
    rows("Quantised weights", "Marlin and llama.cpp", &[
        // Quantized weights (k, n) and (rows, k), and their scales.
        row("MARLIN", &["MARLIN_4BIT", "MARLIN_8BIT"], MARLIN_4BITS, &[], MARLIN, "u4[32,128]E(4) MARLIN").with_widths(MARLIN_WIDTHS).with_second_operand(),
        row("MARLIN_SCALE", &[], "g (n2 n1:8 n0:8) -> g n2 n0 n1", &[], MARLIN_SCALES, "f16[3,128] MARLIN_SCALE"),
        row("MARLIN_SCALE_SINGLE", &[], "g (n3 n2:4 n1:4 n0:2) -> g n3 n1 n2 n0", &[], MARLIN_SINGLE, "f16[1,64] MARLIN_SCALE_SINGLE"),
        row("MARLIN_A8", &["MARLIN_W4A8", "MARLIN_W8A8"], MARLIN_A8_4BITS, &[], VLLM, "u4[64,64]E(4) MARLIN_A8").with_widths(MARLIN_A8_WIDTHS).with_second_operand(),
        row("MARLIN_ZP", &["MARLIN_ZEROS"], MARLIN_ZP_4BITS, &[], VLLM_SCALES, "u4[3,128]E(4) MARLIN_ZP").with_widths(MARLIN_ZP_WIDTHS),
        row("MARLIN_MX_SCALE", &[], "g (n4 n3:2 n2:2 n1:2 n0:8) -> g n4 n0 n3 n1 n2", &[], VLLM_SCALES, "f8e8m0fnu[4,128] MARLIN_MX_SCALE"),
        row("GGML_QS4", &[], GGML_4BITS, &[], GGML_4, "u4[3,64]E(4) GGML_QS4").with_widths(&[Width::new(4, GGML_4BITS)]),
        row("IQ4_NLx4_QS", &["Q8_0x4_QS_4"], "(m1 m0:4) (b1 b0:4) -> m1 b1 m0 b0", &[], GGML_X4, "u8[8,48] IQ4_NLx4_QS"),
        row("Q8_0x4_QS_8", &[], "(m1 m0:4) (b1 b0:8) -> m1 b1 m0 b0", &[], GGML_X4, "s8[8,64] Q8_0x4_QS_8"),
    ]),
];
