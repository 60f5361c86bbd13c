//! Packed weights of checkpoints (GPTQ, AWQ, compressed-tensors, bitsandbytes, FP4), blocks of llama.cpp, and pages of
//! key and value caches.
//!
//! The values of llama.cpp's blocks are alone here, as GGUF stores them and as its repacking and KleidiAI's put them
//! together. The deltas of a block are another region of it, so no pattern describes a whole block of both.

use super::{GroupRows, Names, of, row, rows, sized};
use crate::catalogue::{self, BYTES_16, GN, KN, NK};

const AWQ: &str = "AWQ, order [0,2,4,6,1,3,5,7] of the 4-bit values of a 32-bit word, [0,2,1,3] of 8-bit ones, low bits first; zero points [groups, N] too";
const GPTQ: &str = "GPTQ, qweight: words of 32 bits along K, low bits first; vLLM, pack_quantized_values_into_int32";
const GPTQ_ZEROS: &str = "GPTQ, qzeros: words of 32 bits along N, low bits first; the first version stores each zero point minus 1";
const CT: &str = "compressed-tensors, pack_quantized: each row padded to whole words of 32 bits; each value is stored plus 2^(bits-1)";
const BNB: &str =
    "bitsandbytes, NF4 and FP4: the flattened array, the first of two values in the high bits";
const GEMV_FAST: &str = "AutoAWQ, gemv_fast.py, pack_intweight(interleave=4, kstride=64), and llm-awq: words of 16 bits [N/4, K]; 4 must divide N and 64 must divide K";
const BITNET: &str = "transformers, integrations/bitnet.py, pack_weights: bytes [N/4, K] of one value of each quarter of the rows, the first in the lowest bits; each value is stored plus 1";
const FP4: &str = "MXFP4 and NVFP4 of Hugging Face (compressed-tensors, pack_fp4_to_uint8; the blocks of gpt-oss) and DeepGEMM: the first of two values in the low bits";

#[rustfmt::skip]
pub(super) static PACKED_ROWS: &[GroupRows] = &[
    rows("Quantised weights", "checkpoints of GPTQ, AWQ, compressed-tensors and bitsandbytes", &[
        // The bars cut the order into the dims of the array of words.
        sized("GPTQ", &["GPTQ_QWEIGHT", "GPTQ_4BIT", "GPTQ_8BIT", "GPTQ_2BIT"], &[of(4, "(k1 k0:8) n -> k1 | n k0"), of(8, "(k1 k0:4) n -> k1 | n k0"), of(2, "(k1 k0:16) n -> k1 | n k0")], GPTQ, "u4[64,12]E(4) GPTQ").with_dims(KN).with_quantised(&catalogue::GPTQ),
        sized("GPTQ_ZEROS", &["GPTQ_QZEROS"], &[of(4, "g (n1 n0:8) -> g | n1 n0"), of(8, "g (n1 n0:4) -> g | n1 n0"), of(2, "g (n1 n0:16) -> g | n1 n0")], GPTQ_ZEROS, "u4[3,64]E(4) GPTQ_ZEROS").with_dims(GN).with_quantised(&catalogue::GPTQ_ZEROS),
        sized("AWQ", &["AWQ_QWEIGHT", "AWQ_QZEROS", "AWQ_ZEROS"], &[of(4, "k (n2 n1:4 n0:2) -> k | n2 n0 n1"), of(8, "k (n2 n1:2 n0:2) -> k | n2 n0 n1")], AWQ, "u4[3,64]E(4) AWQ").with_dims(KN).with_quantised(&catalogue::AWQ),
        sized("CT_PACK_INT32", &["pack_quantized", "pack-quantized", "COMPRESSED_TENSORS"], &[of(4, "n (k1 k0:8) -> n | k1 k0"), of(8, "n (k1 k0:4) -> n | k1 k0")], CT, "u4[5,44]E(4) CT_PACK_INT32").with_dims(NK).with_quantised(&catalogue::CT),
        sized("BNB_4BIT", &["BNB_NF4", "BNB_FP4", "BITSANDBYTES_4BIT"], &[of(4, "… (k1 k0:2) -> … k1 -k0 |")], BNB, "u4[4,32]E(4) BNB_4BIT").with_flat().with_quantised(&catalogue::BNB),
        sized("AWQ_GEMV_FAST", &["pack_intweight"], &[of(4, "(n1 n0:4) (k4 k3:2 k2:4 k1:4 k0:2) -> n1 | k4 n0 k3 k1 k0 k2")], GEMV_FAST, "u4[8,128]E(4) AWQ_GEMV_FAST").with_dims(NK).with_quantised(&catalogue::AWQ_GEMV_FAST),
        sized("BITNET_2BIT", &["BITNET"], &[of(2, "(n1:4 n0) k -> n0 | k n1")], BITNET, "u2[8,12]E(2) BITNET_2BIT").with_dims(NK).with_quantised(&catalogue::BITNET),
        sized("FP4_PACKED", &["pack_fp4_to_uint8", "NVFP4_PACKED", "MXFP4_PACKED"], &[of(4, "… n k -> … | n | k")], FP4, "u4[4,32]E(4) FP4_PACKED").with_dims(NK),
    ]),
];

const GGML_4: &str =
    "llama.cpp, the 4-bit values (qs) of blocks of 32, deltas apart: Q4_0, Q4_1, IQ4_NL, MXFP4";
const Q4_K: &str = "llama.cpp, the 4-bit values (qs) of super-blocks of 256, scales apart: Q4_K";
const X4: &str = "llama.cpp, repack: the bytes (qs) of four rows' blocks, deltas apart";
const REPACK: &str = "llama.cpp, ggml-cpu/repack.cpp: the bytes of values of R rows' blocks in chunks, deltas apart; R must divide the rows";
const VALUES: &str = "llama.cpp, ggml-cpu/repack.cpp: the 4-bit values of R rows' blocks, deltas apart; for Q4_0 the top bit of each is also flipped";
const KLEIDIAI: &str = "llama.cpp, ggml-cpu/repack.cpp, and KleidiAI, qsi4c32p of nr and kr: the 4-bit values of R rows' blocks, deltas apart; for Q4_0 the top bit of each is also flipped";
const AMX: &str = "llama.cpp, ggml-cpu/amx/mmq.cpp, convert_B_packed_format: tiles of 16 rows by one block, only the values";

const ROWS_BLOCKS: Names = &["rows", "blocks", "bytes"];
const ROWS_VALUES: Names = &["rows", "blocks", "values"];

#[rustfmt::skip]
pub(super) static GGML_ROWS: &[GroupRows] = &[
    rows("Quantised weights", "values of blocks of GGUF and llama.cpp", &[
        sized("GGML_QS4", &["GGUF_Q4_0_VALUES"], &[of(4, "… (k2 k1:2 k0:16) -> … k2 k0 k1")], GGML_4, "u4[3,64]E(4) GGML_QS4"),
        sized("GGUF_Q4_K_VALUES", &[], &[of(4, "… (k2 k1:2 k0:32) -> … k2 k0 k1")], Q4_K, "u4[3,256]E(4) GGUF_Q4_K_VALUES"),
    ]),
    rows("Quantised weights", "values repacked by llama.cpp and KleidiAI", &[
        row("IQ4_NLx4_QS", &["Q8_0x4_QS_4"], "(m1 m0:4) (b1 b0:4) -> m1 b1 m0 b0", &[], X4, "u8[8,48] IQ4_NLx4_QS"),
        row("Q8_0x4_QS_8", &[], "(m1 m0:4) (b1 b0:8) -> m1 b1 m0 b0", &[], X4, "s8[8,64] Q8_0x4_QS_8"),
        sized("Q4_K_8x8_QS", &["IQ4_NL_8x8_QS", "MXFP4_8x8_QS", "Q6_K_8x8_QL", "Q6_K_8x8_QH", "Q2_K_8x8_QS"], &[of(8, "(m1 m0:8) b (j1 j0:8) -> m1 b j1 m0 j0")], REPACK, "u8[16,2,128] Q4_K_8x8_QS").with_dims(ROWS_BLOCKS),
        sized("Q4_K_8x4_QS", &[], &[of(8, "(m1 m0:8) b (j1 j0:4) -> m1 b j1 m0 j0")], REPACK, "u8[16,2,128] Q4_K_8x4_QS").with_dims(ROWS_BLOCKS),
        sized("Q8_0_16x1_QS", &["IQ4_NL_16x1_QS"], &[of(8, "(m1 m0:16) b j -> m1 b j m0")], REPACK, "s8[32,2,32] Q8_0_16x1_QS").with_dims(ROWS_BLOCKS),
        sized("Q6_K_8x8_SCALES", &[], &[of(8, "(m1 m0:8) b s -> m1 b s m0")], REPACK, "s8[16,2,16] Q6_K_8x8_SCALES").with_dims(ROWS_BLOCKS),
        sized("Q2_K_8x8_SCALES", &[], &[of(8, "(m1 m0:8) b (s1 s0:2) -> m1 b s1 m0 s0")], REPACK, "u8[16,2,16] Q2_K_8x8_SCALES").with_dims(ROWS_BLOCKS),
        sized("Q4_0_4x4_VALUES", &["IQ4_NL_4x4_VALUES", "MXFP4_4x4_VALUES", "KLEIDIAI_QSI4C32P_4x8"], &[of(4, "(m1 m0:4) b (k2:2 k1:4 k0:4) -> m1 b k1 m0 k0 k2")], KLEIDIAI, "u4[8,3,32]E(4) Q4_0_4x4_VALUES").with_dims(ROWS_VALUES),
        sized("Q4_0_4x8_VALUES", &["KLEIDIAI_QSI4C32P_4x16"], &[of(4, "(m1 m0:4) b (k2:2 k1:2 k0:8) -> m1 b k1 m0 k0 k2")], KLEIDIAI, "u4[8,3,32]E(4) Q4_0_4x8_VALUES").with_dims(ROWS_VALUES),
        sized("Q4_0_8x8_VALUES", &["IQ4_NL_8x8_VALUES", "MXFP4_8x8_VALUES"], &[of(4, "(m1 m0:8) b (k2:2 k1:2 k0:8) -> m1 b k1 m0 k0 k2")], VALUES, "u4[16,3,32]E(4) Q4_0_8x8_VALUES").with_dims(ROWS_VALUES),
        sized("Q8_0_AMX_VALUES", &[], &[of(8, "(n1 n0:16) b (k1 k0:4) -> n1 b k1 n0 k0")], AMX, "s8[32,2,32] Q8_0_AMX_VALUES").with_dims(ROWS_VALUES),
        sized("Q4_0_AMX_VALUES", &["Q4_1_AMX_VALUES"], &[of(4, "(n1 n0:16) b (k2:4 k1:2 k0:4) -> n1 b k2 n0 k0 k1")], AMX, "u4[32,2,32]E(4) Q4_0_AMX_VALUES").with_dims(ROWS_VALUES),
        sized("Q4_K_AMX_VALUES", &[], &[of(4, "(n1 n0:16) b (k3:4 k2:8 k1:2 k0:4) -> n1 b k3 k2 n0 k0 k1")], AMX, "u4[16,2,256]E(4) Q4_K_AMX_VALUES").with_dims(ROWS_VALUES),
    ]),
];

const NHD: &str = "FlashAttention, FlashInfer and vLLM (LBNHC): NHD; keys and values are separate, or in a dim of 2 before or after the pages";
const HND: &str = "FlashInfer, TensorRT-LLM and vLLM (LBHNC): HND";
const LAYERS: &str = "vLLM, letters of a cache's layout (layers, blocks, heads, tokens, content), where a block holds all layers";
const PAGED: &str = "vLLM, paged_attn.py, and AITER, asm: X is 16 bytes of elements";
const SHUFFLED: &str =
    "ROCm/aiter, op_tests/test_pa.py, asm_V_shuffle; vLLM, SHUFFLE: X is 16 bytes of elements";

const PTHD: Names = &["page", "token", "head", "head size"];
const LPTHD: Names = &["layer", "page", "token", "head", "head size"];

#[rustfmt::skip]
pub(super) static CACHES_ROWS: &[GroupRows] = &[
    rows("Key and value caches", "pages of FlashAttention, FlashInfer, vLLM and AITER", &[
        row("KV_NHD", &[], "… p t h d -> … p t h d", &[], NHD, "f16[3,16,2,8] KV_NHD").with_dims(PTHD),
        row("KV_HND", &[], "… p t h d -> … p h t d", &[], HND, "f16[3,16,2,8] KV_HND").with_dims(PTHD),
        row("KV_BLHNC", &["BLHNC"], "l p t h d -> p l h t d", &[], LAYERS, "f16[2,3,16,2,8] KV_BLHNC").with_dims(LPTHD),
        row("KV_BLNHC", &["BLNHC"], "l p t h d -> p l t h d", &[], LAYERS, "f16[2,3,16,2,8] KV_BLNHC").with_dims(LPTHD),
        row("KV_KEY_X", &["KV_ASM_KEY"], "… p t h (d1 d0:X) -> … p h d1 t d0", &[&BYTES_16], PAGED, "f16[2,16,2,32] KV_KEY_X").with_dims(PTHD),
        row("KV_VALUE_X", &["KV_ASM_VALUE"], "… p t h d -> … p h d t", &[], PAGED, "f16[2,16,2,32] KV_VALUE_X").with_dims(PTHD),
        row("AITER_V_SHUFFLE", &["asm_V_shuffle"], "… p (t1 t0:X) h d -> … p h t1 d t0", &[&BYTES_16], SHUFFLED, "f16[2,16,2,32] AITER_V_SHUFFLE").with_dims(PTHD),
    ]),
];
