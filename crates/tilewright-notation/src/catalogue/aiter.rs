//! Weights and scales of AMD's AITER.
//!
//! The tile in a name is that of the lanes; the run of each lane is 16 bytes.

use super::{
    GroupRows,
    dims::{MK, NK, NK32},
    of, rows, sized,
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
pub(super) static ROWS: &[GroupRows] = &[
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
