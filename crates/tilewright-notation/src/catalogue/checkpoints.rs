//! Packed weights of checkpoints: GPTQ, AWQ, compressed-tensors, bitsandbytes, FP4.

use super::{
    GroupRows,
    dims::{GN, KN, NK},
    of, quantised, rows, sized,
};

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
pub(super) static ROWS: &[GroupRows] = &[
    rows("Quantised weights", "checkpoints of GPTQ, AWQ, compressed-tensors and bitsandbytes", &[
        // The bars cut the order into the dims of the array of words.
        sized("GPTQ", &["GPTQ_QWEIGHT", "GPTQ_4BIT", "GPTQ_8BIT", "GPTQ_2BIT"], &[of(4, "(k1 k0:8) n -> k1 | n k0"), of(8, "(k1 k0:4) n -> k1 | n k0"), of(2, "(k1 k0:16) n -> k1 | n k0")], GPTQ, "u4[64,12]E(4) GPTQ").with_dims(KN).with_quantised(&quantised::GPTQ),
        sized("GPTQ_ZEROS", &["GPTQ_QZEROS"], &[of(4, "g (n1 n0:8) -> g | n1 n0"), of(8, "g (n1 n0:4) -> g | n1 n0"), of(2, "g (n1 n0:16) -> g | n1 n0")], GPTQ_ZEROS, "u4[3,64]E(4) GPTQ_ZEROS").with_dims(GN).with_quantised(&quantised::GPTQ_ZEROS),
        sized("AWQ", &["AWQ_QWEIGHT", "AWQ_QZEROS", "AWQ_ZEROS"], &[of(4, "k (n2 n1:4 n0:2) -> k | n2 n0 n1"), of(8, "k (n2 n1:2 n0:2) -> k | n2 n0 n1")], AWQ, "u4[3,64]E(4) AWQ").with_dims(KN).with_quantised(&quantised::AWQ),
        sized("CT_PACK_INT32", &["pack_quantized", "pack-quantized", "COMPRESSED_TENSORS"], &[of(4, "n (k1 k0:8) -> n | k1 k0"), of(8, "n (k1 k0:4) -> n | k1 k0")], CT, "u4[5,44]E(4) CT_PACK_INT32").with_dims(NK).with_quantised(&quantised::CT),
        sized("BNB_4BIT", &["BNB_NF4", "BNB_FP4", "BITSANDBYTES_4BIT"], &[of(4, "… (k1 k0:2) -> … k1 -k0 |")], BNB, "u4[4,32]E(4) BNB_4BIT").with_flat().with_quantised(&quantised::BNB),
        sized("AWQ_GEMV_FAST", &["pack_intweight"], &[of(4, "(n1 n0:4) (k4 k3:2 k2:4 k1:4 k0:2) -> n1 | k4 n0 k3 k1 k0 k2")], GEMV_FAST, "u4[8,128]E(4) AWQ_GEMV_FAST").with_dims(NK).with_quantised(&quantised::AWQ_GEMV_FAST),
        sized("BITNET_2BIT", &["BITNET"], &[of(2, "(n1:4 n0) k -> n0 | k n1")], BITNET, "u2[8,12]E(2) BITNET_2BIT").with_dims(NK).with_quantised(&quantised::BITNET),
        sized("FP4_PACKED", &["pack_fp4_to_uint8", "NVFP4_PACKED", "MXFP4_PACKED"], &[of(4, "… n k -> … | n | k")], FP4, "u4[4,32]E(4) FP4_PACKED").with_dims(NK),
    ]),
];
