//! Formats of the registers of a matrix unit's threads: thread-value layouts.
//!
//! The offset of an element in its tile is `thread · values + value`, the place it would have if the
//! threads wrote their registers one after the other; tiles follow row by row. So a fragment is a
//! permutation of its tile, and `make_layout_tv` is its inverse.

use super::{GroupRows, dims::KN, of, row, rows, sized};

const MMA: &str =
    "PTX ISA, matrix fragments of mma; offset = lane * values + value, tiles row by row";
const WMMA: &str = "wmma m16n16k16 as it is compiled for sm_80 and later, two mma.m16n8 side by side; PTX leaves it open";
const WGMMA: &str = "PTX ISA, wgmma.m64nNk16, D; offset = thread of 128 * values + value";
const MFMA: &str = "AMD, MFMA of CDNA; offset = lane of 64 * values + value, tiles row by row";
const RDNA: &str = "AMD, WMMA of RDNA3, 16x16 of 32 bits; offset = lane of 32 * 8 + register";

#[rustfmt::skip]
pub(super) static ROWS: &[GroupRows] = &[
    rows("NVIDIA", "fragments of matrix units", &[
        row("MMA_M16N8_C", &["MMA_M16N8_D"], "(m2 m1:2 m0:8) (n2 n1:4 n0:2) -> m2 n2 m0 n1 m1 n0", &[], MMA, "f32[16,16] MMA_M16N8_C").with_threads(32),
        row("MMA_M16N8K8_16BIT_A", &[], "(m2 m1:2 m0:8) (k2 k1:4 k0:2) -> m2 k2 m0 k1 m1 k0", &[], MMA, "f16[16,16] MMA_M16N8K8_16BIT_A").with_threads(32),
        row("MMA_M16N8K8_16BIT_B", &[], "(k2 k1:4 k0:2) (n1 n0:8) -> k2 n1 n0 k1 k0", &[], MMA, "f16[16,16] MMA_M16N8K8_16BIT_B").with_threads(32).with_dims(KN),
        row("MMA_M16N8K16_16BIT_A", &[], "(m2 m1:2 m0:8) (k3 k2:2 k1:4 k0:2) -> m2 k3 m0 k1 k2 m1 k0", &[], MMA, "f16[16,32] MMA_M16N8K16_16BIT_A").with_threads(32),
        row("MMA_M16N8K16_16BIT_B", &[], "(k3 k2:2 k1:4 k0:2) (n1 n0:8) -> k3 n1 n0 k1 k2 k0", &[], MMA, "f16[32,16] MMA_M16N8K16_16BIT_B").with_threads(32).with_dims(KN),
        row("MMA_M16N8K4_TF32_A", &[], "(m2 m1:2 m0:8) (k1 k0:4) -> m2 k1 m0 k0 m1", &[], MMA, "f32[16,8] MMA_M16N8K4_TF32_A").with_threads(32),
        row("MMA_M16N8K4_TF32_B", &["MMA_M8N8K4_F64_B"], "(k1 k0:4) (n1 n0:8) -> k1 n1 n0 k0", &[], MMA, "f32[8,16] MMA_M16N8K4_TF32_B").with_threads(32).with_dims(KN),
        row("MMA_M16N8K8_TF32_A", &[], "(m2 m1:2 m0:8) (k2 k1:2 k0:4) -> m2 k2 m0 k0 k1 m1", &[], MMA, "f32[16,16] MMA_M16N8K8_TF32_A").with_threads(32),
        row("MMA_M16N8K8_TF32_B", &[], "(k2 k1:2 k0:4) (n1 n0:8) -> k2 n1 n0 k0 k1", &[], MMA, "f32[16,16] MMA_M16N8K8_TF32_B").with_threads(32).with_dims(KN),
        row("MMA_M16N8K16_8BIT_A", &[], "(m2 m1:2 m0:8) (k2 k1:4 k0:4) -> m2 k2 m0 k1 m1 k0", &[], MMA, "s8[16,32] MMA_M16N8K16_8BIT_A").with_threads(32),
        row("MMA_M16N8K16_8BIT_B", &["MMA_M8N8K16_8BIT_B"], "(k2 k1:4 k0:4) (n1 n0:8) -> k2 n1 n0 k1 k0", &[], MMA, "s8[32,16] MMA_M16N8K16_8BIT_B").with_threads(32).with_dims(KN),
        row("MMA_M16N8K32_8BIT_A", &[], "(m2 m1:2 m0:8) (k3 k2:2 k1:4 k0:4) -> m2 k3 m0 k1 k2 m1 k0", &[], MMA, "s8[16,64] MMA_M16N8K32_8BIT_A").with_threads(32),
        row("MMA_M16N8K32_8BIT_B", &[], "(k3 k2:2 k1:4 k0:4) (n1 n0:8) -> k3 n1 n0 k1 k2 k0", &[], MMA, "s8[64,16] MMA_M16N8K32_8BIT_B").with_threads(32).with_dims(KN),
        sized("MMA_M16N8K64_4BIT_A", &[], &[of(4, "(m2 m1:2 m0:8) (k3 k2:2 k1:4 k0:8) -> m2 k3 m0 k1 k2 m1 k0")], MMA, "s4[16,64]E(4) MMA_M16N8K64_4BIT_A").with_threads(32),
        sized("MMA_M16N8K64_4BIT_B", &[], &[of(4, "(k3 k2:2 k1:4 k0:8) (n1 n0:8) -> k3 n1 n0 k1 k2 k0")], MMA, "s4[64,16]E(4) MMA_M16N8K64_4BIT_B").with_threads(32).with_dims(KN),
        row("MMA_M8N8K16_8BIT_A", &[], "(m1 m0:8) (k2 k1:4 k0:4) -> m1 k2 m0 k1 k0", &[], MMA, "s8[16,32] MMA_M8N8K16_8BIT_A").with_threads(32),
        row("MMA_M8N8K4_F64_A", &[], "(m1 m0:8) (k1 k0:4) -> m1 k1 m0 k0", &[], MMA, "f64[16,8] MMA_M8N8K4_F64_A").with_threads(32),
        row("MMA_M8N8_C", &["MMA_M8N8_D"], "(m1 m0:8) (n2 n1:4 n0:2) -> m1 n2 m0 n1 n0", &[], MMA, "s32[16,16] MMA_M8N8_C").with_threads(32),
        row("WMMA_M16N16_C", &["WMMA_M16N16_D"], "(m2 m1:2 m0:8) (n3 n2:2 n1:4 n0:2) -> m2 n3 m0 n1 n2 m1 n0", &[], WMMA, "f32[16,32] WMMA_M16N16_C").with_threads(32),
        row("WGMMA_M64_D", &[], "(m3 m2:4 m1:2 m0:8) (n2 n1:4 n0:2) -> m3 m2 m0 n1 n2 m1 n0", &[], WGMMA, "f32[64,16] WGMMA_M64_D").with_threads(128),
    ]),
    rows("AMD", "fragments of matrix units", &[
        row("MFMA_32x32x8_16BIT_A", &[], "(m1 m0:32) (k2 k1:2 k0:4) -> m1 k2 k1 m0 k0", &[], MFMA, "f16[32,16] MFMA_32x32x8_16BIT_A").with_threads(64),
        row("MFMA_32x32x8_16BIT_B", &[], "(k2 k1:2 k0:4) (n1 n0:32) -> k2 n1 k1 n0 k0", &[], MFMA, "f16[16,32] MFMA_32x32x8_16BIT_B").with_threads(64).with_dims(KN),
        row("MFMA_32x32_D", &[], "(m3 m2:4 m1:2 m0:4) (n1 n0:32) -> m3 n1 m1 n0 m2 m0", &[], MFMA, "f32[32,32] MFMA_32x32_D").with_threads(64),
        row("MFMA_16x16x16_16BIT_A", &[], "(m1 m0:16) (k2 k1:4 k0:4) -> m1 k2 k1 m0 k0", &[], MFMA, "f16[16,32] MFMA_16x16x16_16BIT_A").with_threads(64),
        row("MFMA_16x16x16_16BIT_B", &[], "(k2 k1:4 k0:4) (n1 n0:16) -> k2 n1 k1 n0 k0", &[], MFMA, "f16[32,16] MFMA_16x16x16_16BIT_B").with_threads(64).with_dims(KN),
        row("MFMA_16x16_D", &[], "(m2 m1:4 m0:4) (n1 n0:16) -> m2 n1 m1 n0 m0", &[], MFMA, "f32[16,32] MFMA_16x16_D").with_threads(64),
        row("WMMA_RDNA3_16x16_D", &[], "(m2 m1:8 m0:2) (n1 n0:16) -> m2 n1 m0 n0 m1", &[], RDNA, "f32[32,16] WMMA_RDNA3_16x16_D").with_threads(32),
    ]),
];
