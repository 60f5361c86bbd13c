//! Formats of processors and of their makers' libraries: Ascend (CANN, CATLASS), NVIDIA (cuBLASLt, cuDNN, TensorRT),
//! tiles of Tenstorrent, TPUs, Intel and Arm, and what the threads of a matrix unit hold.
//!
//! A fragment is what the threads hold. The offset of an element in its tile is `thread · values + value`: its place if
//! the threads wrote their registers one after the other. Tiles follow row by row. So a fragment is a permutation of
//! its tile, and `make_layout_tv` is its inverse.

use super::{GroupRows, of, row, rows, sized};
use crate::catalogue::{BC, BR, C0, IMAGE_C0, KN, ROW_64, V};

const TLA: &str = "CATLASS, tla/layout.hpp";
const TAG: &str = "CATLASS, catlass/layout/matrix.hpp";
const MX: &str = "CATLASS, tla/layout.hpp, MakeMxScaleLayout";
const CANN: &str = "CANN data formats";
const ACL: &str = "CANN, aclFormat; logical dims as the name has them";
const NZ_C0: &str = "CANN, aclFormat: FRACTAL_NZ with C0 in the name";

#[rustfmt::skip]
pub(super) static ASCEND_ROWS: &[GroupRows] = &[
    rows("Ascend", "matrices in fractals", &[
        // Matrices in fractals: the small letter is the order inside a block, the capital one between blocks.
        row("zN", &["NZ", "FRACTAL_NZ", "ACL_FORMAT_FRACTAL_NZ", "acl:29"], "… (m1 m0:16) (n1 n0:C0) -> … n1 m1 m0 n0", &[&C0], TLA, "f16[100,100] zN"),
        row("nZ", &["FRACTAL_ZN"], "… (m1 m0:C0) (n1 n0:16) -> … m1 n1 n0 m0", &[&C0], TLA, "f16[100,100] nZ"),
        row("zZ", &["ZZ", "FRACTAL_ZZ"], "… (m1 m0:16) (n1 n0:C0) -> … m1 n1 m0 n0", &[&C0], TLA, "f16[100,100] zZ"),
        row("nN", &["NN"], "… (m1 m0:C0) (n1 n0:16) -> … n1 m1 n0 m0", &[&C0], TLA, "f16[100,100] nN"),
        row("L0C", &[], "… (m1 m0:16) (n1 n0:16) -> … n1 m1 m0 n0", &[], TLA, "f32[100,40] L0C"),
        row("zNUnAlign", &[], "m (n1 n0:C0) -> n1 m n0", &[&C0], TLA, "f16[10,40] zNUnAlign"),
        row("Weight4BitnZ", &[], "(m1 m0:32) (n1 n0:16) -> m1 n1 n0 m0", &[], TLA, "s4[64,32] Weight4BitnZ"),
        row("PaddingRowMajor", &[], "(m1 m0:BR) (n1 n0:BC) -> m1 n1 m0 n0", &[&BR, &BC], TAG, "f16[10,20] PaddingRowMajor[BR=4,BC=8]"),
        row("PaddingColumnMajor", &[], "(m1 m0:BR) (n1 n0:BC) -> n1 m1 n0 m0", &[&BR, &BC], TAG, "f16[10,20] PaddingColumnMajor[BR=4,BC=8]"),
        row("FRACTAL_NZ_C0_2", &["ACL_FORMAT_FRACTAL_NZ_C0_2", "acl:52"], "… (m1 m0:16) (n1 n0:2) -> … n1 m1 m0 n0", &[], NZ_C0, "f32[20,7] FRACTAL_NZ_C0_2"),
        row("FRACTAL_NZ_C0_4", &["ACL_FORMAT_FRACTAL_NZ_C0_4", "acl:53"], "… (m1 m0:16) (n1 n0:4) -> … n1 m1 m0 n0", &[], NZ_C0, "f32[20,7] FRACTAL_NZ_C0_4"),
        row("FRACTAL_NZ_C0_8", &["ACL_FORMAT_FRACTAL_NZ_C0_8", "acl:54"], "… (m1 m0:16) (n1 n0:8) -> … n1 m1 m0 n0", &[], NZ_C0, "f32[20,20] FRACTAL_NZ_C0_8"),
        row("FRACTAL_NZ_C0_16", &["ACL_FORMAT_FRACTAL_NZ_C0_16", "acl:50"], "… (m1 m0:16) (n1 n0:16) -> … n1 m1 m0 n0", &[], NZ_C0, "f16[20,40] FRACTAL_NZ_C0_16"),
        row("FRACTAL_NZ_C0_32", &["ACL_FORMAT_FRACTAL_NZ_C0_32", "acl:51"], "… (m1 m0:16) (n1 n0:32) -> … n1 m1 m0 n0", &[], NZ_C0, "s8[20,40] FRACTAL_NZ_C0_32"),
    ]),
    rows("Ascend", "scales of MX formats", &[
        // Scales of MX formats.
        row("MxScaleRowMajorA", &[], "m (n1 n0:2) -> m n1 n0", &[], MX, "f8e8m0fnu[10,7] MxScaleRowMajorA"),
        row("MxScaleRowMajorB", &[], "(m1 m0:2) n -> m1 n m0", &[], MX, "f8e8m0fnu[7,10] MxScaleRowMajorB"),
        row("MxScaleColumnMajorA", &[], "m (n1 n0:2) -> n1 m n0", &[], MX, "f8e8m0fnu[10,7] MxScaleColumnMajorA"),
        row("MxScaleColumnMajorB", &[], "(m1 m0:2) n -> n m1 m0", &[], MX, "f8e8m0fnu[7,10] MxScaleColumnMajorB"),
        row("MxScalezZ", &[], "(m1 m0:16) (n1 n0:2) -> m1 n1 m0 n0", &[], MX, "f8e8m0fnu[40,7] MxScalezZ"),
        row("MxScalenN", &[], "(m1 m0:2) (n1 n0:16) -> n1 m1 n0 m0", &[], MX, "f8e8m0fnu[7,40] MxScalenN"),
    ]),
    rows("Ascend", "images and filters", &[
        // Images and filters; logical dims NCHW and NCDHW.
        row("NC1HWC0", &["5HD", "ACL_FORMAT_NC1HWC0", "acl:3"], "n (c1 c0:C0) h w -> n c1 h w c0", &[&IMAGE_C0], CANN, "f16[2,40,5,7] NC1HWC0"),
        row("NC1HWC0_C04", &["ACL_FORMAT_NC1HWC0_C04", "acl:12"], "n (c1 c0:4) h w -> n c1 h w c0", &[], CANN, "f16[2,3,5,7] NC1HWC0_C04"),
        row("NDC1HWC0", &["6HD", "ACL_FORMAT_NDC1HWC0", "acl:32"], "n (c1 c0:C0) d h w -> n d c1 h w c0", &[&IMAGE_C0], CANN, "f16[2,40,3,5,7] NDC1HWC0"),
        row("FRACTAL_Z", &["ACL_FORMAT_FRACTAL_Z", "acl:4"], "(n1 n0:16) (c1 c0:C0) h w -> c1 h w n1 n0 c0", &[&IMAGE_C0], CANN, "f16[20,40,3,3] FRACTAL_Z"),
        row("FRACTAL_Z_3D", &["ACL_FRACTAL_Z_3D", "acl:33"], "(n1 n0:16) (c1 c0:C0) d h w -> d c1 h w n1 n0 c0", &[&IMAGE_C0], CANN, "f16[20,40,2,3,3] FRACTAL_Z_3D"),
        row("CI1KHKWCOCI0", &[], "n (c1 c0:C0) h w -> c1 h w n c0", &[&IMAGE_C0], TAG, "f16[20,40,3,3] CI1KHKWCOCI0"),
    ]),
    rows("Ascend", "orders of dims", &[
        // Orders that CANN has ids for; logical dims NCHW and NCDHW where the order permutes these.
        row("ND", &["ACL_FORMAT_ND", "acl:2"], "… n -> … n", &[], ACL, "f16[3,4,5] ND"),
        row("NCHW", &["ACL_FORMAT_NCHW", "acl:0"], "n c h w -> n c h w", &[], ACL, "f16[2,3,4,5] NCHW"),
        row("NHWC", &["ACL_FORMAT_NHWC", "acl:1"], "n c h w -> n h w c", &[], ACL, "f16[2,3,4,5] NHWC"),
        row("HWCN", &["ACL_FORMAT_HWCN", "acl:16"], "n c h w -> h w c n", &[], ACL, "f16[2,3,4,5] HWCN"),
        row("NDHWC", &["ACL_FORMAT_NDHWC", "acl:27"], "n c d h w -> n d h w c", &[], ACL, "f16[2,3,4,5,6] NDHWC"),
        row("NCDHW", &["ACL_FORMAT_NCDHW", "acl:30"], "n c d h w -> n c d h w", &[], ACL, "f16[2,3,4,5,6] NCDHW"),
        row("NC", &["ACL_FORMAT_NC", "acl:35"], "n c -> n c", &[], ACL, "f16[3,4] NC"),
        row("NCL", &["ACL_FORMAT_NCL", "acl:47"], "n c l -> n c l", &[], ACL, "f16[3,4,5] NCL"),
    ]),
];

const CUBLASLT: &str = "cuBLASLt, cublasLtOrder_t; measured on an H200";
const CUDNN: &str = "cuDNN, CUDNN_TENSOR_NCHW_VECT_C; TensorRT, TensorFormat";
const TENSORRT: &str = "TensorRT, TensorFormat";

#[rustfmt::skip]
pub(super) static NVIDIA_ROWS: &[GroupRows] = &[
    rows("NVIDIA", "matrices of cuBLASLt", &[
        // NVIDIA: orders of matrices, with a leading dimension, scales of blocks, channels in vectors.
        row("COL", &["CUBLASLT_ORDER_COL", "cublaslt:0"], "m n -> n m", &[], CUBLASLT, "f16[3,5] COL").with_leading(),
        row("ROW", &["CUBLASLT_ORDER_ROW", "cublaslt:1"], "m n -> m n", &[], CUBLASLT, "f16[3,5] ROW").with_leading(),
        row("COL32", &["CUBLASLT_ORDER_COL32", "cublaslt:2"], "m (k1 k0:32) -> k1 m k0", &[], CUBLASLT, "s8[33,40] COL32").with_leading(),
        row("COL4_4R2_8C", &["CUBLASLT_ORDER_COL4_4R2_8C", "cublaslt:3"], "(r2 r1:4 r0:2) (c2 c1:8 c0:4) -> c2 r2 r0 c1 r1 c0", &[], CUBLASLT, "s8[33,40] COL4_4R2_8C").with_leading(),
        row("COL32_2R_4R4", &["CUBLASLT_ORDER_COL32_2R_4R4", "cublaslt:4"], "(r3 r2:4 r1:4 r0:2) (c1 c0:32) -> c1 r3 r1 r2 r0 c0", &[], CUBLASLT, "s8[33,40] COL32_2R_4R4").with_leading(),
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
];

const XLA: &str = "XLA, tiled layout";
const TENSTORRENT: &str = "Tenstorrent, tiles of faces of 16x16";
const VNNI: &str = "Intel 64, dot products of 4 bytes: V rows side by side";
const KLEIDIAI: &str = "ARM-software/kleidiai, kai_rhs_pack_kxn_x16p32x1b and similar: panels of 32 columns of 16 bits, or 16 of 32, each after its biases; row 0 of the array is the bias, and the K rows follow";
const AMX: &str = "Intel 64, AMX: tiles of 16 rows of 64 bytes";

#[rustfmt::skip]
pub(super) static TILES_ROWS: &[GroupRows] = &[
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
    // B of a product has k rows; V of them are adjacent.
    rows("Intel", "operands of VNNI and AMX", &[
        row("VNNI", &[], "… (k1 k0:V) n -> … k1 n k0", &[&V], VNNI, "bf16[7,20] VNNI").with_dims(KN),
        row("AMX_A", &[], "(m1 m0:16) (k1 k0:ROW) -> m1 k1 m0 k0", &[&ROW_64], AMX, "bf16[20,40] AMX_A"),
        row("AMX_B", &[], "(k2 k1:16 k0:V) (n1 n0:16) -> n1 k2 k1 n0 k0", &[&V], AMX, "bf16[40,20] AMX_B").with_dims(KN),
        row("AMX_C", &[], "(m1 m0:16) (n1 n0:16) -> m1 n1 m0 n0", &[], AMX, "f32[20,20] AMX_C"),
    ]),
    rows("Arm", "panels of KleidiAI", &[
        sized("KLEIDIAI_X16P32X1B", &["x16p32x1b", "kai_rhs_pack_kxn_x16p32x1b_x16_x16_neon"], &[of(16, "k (n1 n0:32) -> n1 k n0")], KLEIDIAI, "f16[6,40] KLEIDIAI_X16P32X1B").with_dims(&["1 + K", "N"]),
        sized("KLEIDIAI_X32P16X1B", &["x32p16x1b", "kai_rhs_pack_kxn_x32p16x1b_x32_x32_neon"], &[of(32, "k (n1 n0:16) -> n1 k n0")], KLEIDIAI, "f32[6,20] KLEIDIAI_X32P16X1B").with_dims(&["1 + K", "N"]),
    ]),
];

const MMA: &str =
    "PTX ISA, matrix fragments of mma; offset = lane * values + value, tiles row by row";
const WMMA: &str = "wmma m16n16k16 as it is compiled for sm_80 and later, two mma.m16n8 side by side; PTX leaves it open";
const WGMMA: &str = "PTX ISA, wgmma.m64nNk16, D; offset = thread of 128 * values + value";
const MFMA: &str = "AMD, MFMA of CDNA; offset = lane of 64 * values + value, tiles row by row";
const RDNA: &str = "AMD, WMMA of RDNA3, 16x16 of 32 bits; offset = lane of 32 * 8 + register";

#[rustfmt::skip]
pub(super) static FRAGMENTS_ROWS: &[GroupRows] = &[
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
