//! Weights, scales and zero points of Marlin and of the kernels after it: Marlin-24, Machete, AllSpark.

use super::{
    GroupRows,
    dims::{GN, KN, NK, NKB},
    of, quantised, rows, sized,
};

const MARLIN: &str = "IST-DASLab/marlin, _get_perms, for 4 bits; vLLM, get_weight_perm, for 8 bits; lowest values first in each 32-bit word; N and K must be multiples of 64 and 128, or of 128 and 64";
const SCALES: &str = "IST-DASLab/marlin, _scale_perm; vLLM, marlin_permute_scales where a group is smaller than K; one row per group";
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
pub(super) static ROWS: &[GroupRows] = &[
    rows("Quantised weights", "Marlin, of IST and vLLM", &[
        sized("MARLIN", &["MARLIN_4BIT", "MARLIN_8BIT", "GPTQ_MARLIN", "AWQ_MARLIN", "FP8_MARLIN", "gptq_marlin_repack"], &[of(4, "(k3 k2:2 k1:4 k0:2) (n3 n2:4 n1:2 n0:8) -> k3 | n3 n0 k1 n2 k0 n1 k2"), of(8, "(k3 k2:2 k1:4 k0:2) (n3 n2:4 n1:2 n0:8) -> k3 | n3 n0 k1 n2 n1 k0 k2")], MARLIN, "u4[32,128]E(4) MARLIN").with_dims(KN).with_quantised(&quantised::MARLIN),
        sized("MARLIN_SCALE", &["marlin_permute_scales"], &[of(16, "g (n2 n1:8 n0:8) -> g n2 n0 n1")], SCALES, "f16[3,128] MARLIN_SCALE").with_dims(GN),
        sized("MARLIN_SCALE_SINGLE", &["MARLIN_BIAS", "marlin_permute_bias"], &[of(16, "g (n3 n2:4 n1:4 n0:2) -> g n3 n1 n2 n0")], SINGLE, "f16[1,64] MARLIN_SCALE_SINGLE").with_dims(GN),
        sized("MARLIN_A8", &["MARLIN_W4A8", "MARLIN_W8A8"], &[of(4, "(k3 k2:2 k1:4 k0:4) (n3 n2:2 n1:2 n0:8) -> k3 | n3 n0 k1 n2 n1 k0 k2"), of(8, "(k3 k2:2 k1:4 k0:4) (n3 n2:2 n1:2 n0:8) -> k3 | n3 n0 k1 n2 n1 k2 k0")], VLLM, "u4[64,64]E(4) MARLIN_A8").with_dims(KN).with_quantised(&quantised::MARLIN),
        sized("MARLIN_ZP", &["MARLIN_ZEROS", "marlin_zero_points"], &[of(4, "g (n3 n2:4 n1:2 n0:8) -> g | n3 n0 n1 n2"), of(8, "g (n4 n3:2 n2:2 n1:2 n0:8) -> g | n4 n0 n3 n1 n2")], ZP, "u4[3,128]E(4) MARLIN_ZP").with_dims(GN),
        sized("MARLIN_MX_SCALE", &["MARLIN_MXFP4_SCALE", "MARLIN_MXFP8_SCALE", "mxfp4_marlin_process_scales"], &[of(8, "g (n4 n3:2 n2:2 n1:2 n0:8) -> g n4 n0 n3 n1 n2")], VLLM_SCALES, "f8e8m0fnu[4,128] MARLIN_MX_SCALE").with_dims(GN),
    ]),
    rows("Quantised weights", "2:4 sparse weights, of Marlin-24 and CUTLASS", &[
        sized("MARLIN_24", &["GPTQ_MARLIN_24"], &[of(4, "(k3 k2:2 k1:4 k0:2) (n4 n3:4 n2:2 n1:2 n0:4) -> k3 | n4 n3 n2 k1 n0 k0 n1 k2"), of(8, "(k3 k2:2 k1:4 k0:2) (n4 n3:4 n2:2 n1:2 n0:4) -> k3 | n4 n3 n2 k1 n0 n1 k0 k2")], SPARSE, "u4[32,128]E(4) MARLIN_24").with_dims(&["K/2", "N"]).with_quantised(&quantised::MARLIN),
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
