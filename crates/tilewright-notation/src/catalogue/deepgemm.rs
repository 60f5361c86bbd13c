//! Scales of DeepGEMM.

use super::{GroupRows, of, rows, sized};

const ALIGNED: &str = "DeepGEMM, get_mn_major_tma_aligned_tensor, and Transformer Engine, scales of blocks of 1x128 (Float8BlockQuantizer): column-major, each column padded to 16 bytes";
const UE8M0: &str =
    "DeepGEMM, packed UE8M0: four exponents along K in an int32, the first in the low byte";

#[rustfmt::skip]
pub(super) static ROWS: &[GroupRows] = &[
    rows("DeepGEMM", "scales of blocks", &[
        sized("DEEPGEMM_SF_MN_MAJOR", &["get_mn_major_tma_aligned_tensor", "TE_BLOCKWISE_SCALE"], &[of(32, "… (m1 m0:4) k -> … k m1 m0")], ALIGNED, "f32[10,7] DEEPGEMM_SF_MN_MAJOR").with_dims(&["MN", "K/128"]),
        sized("DEEPGEMM_SF_UE8M0", &["get_mn_major_tma_aligned_packed_ue8m0_tensor"], &[of(8, "… (m1 m0:4) (k1 k0:4) -> … k1 m1 m0 k0")], UE8M0, "f8e8m0fnu[10,7] DEEPGEMM_SF_UE8M0").with_dims(&["MN", "K/128"]),
    ]),
];
