//! Named formats that are layouts, as data, a line for each: of processors and their makers' libraries, of checkpoints, of
//! kernels; and well-known names that are not layouts.
//!
//! Formats of processors and of their makers' libraries: Ascend (CANN, CATLASS), NVIDIA (cuBLASLt, cuDNN, TensorRT),
//! tiles of Tenstorrent, TPUs, Intel and Arm, and what the threads of a matrix unit hold.
//!
//! A fragment is what the threads hold. The offset of an element in its tile is `thread · values + value`: its place if
//! the threads wrote their registers one after the other. Tiles follow row by row. So a fragment is a permutation of
//! its tile, and `make_layout_tv` is its inverse.

use super::{GroupRows, Names, of, row, rows, sized};
use crate::catalogue::{
    self, BC, BLOCK_K, BLOCK_N, BR, BYTES_16, BYTES_128, C0, GN, IMAGE_C0, K32N, KN, MK, NK, NK32,
    NKB, PAD_BYTES, PAD_N, ROW_64, TP, V, WARPS,
};

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

// Packed weights of checkpoints (GPTQ, AWQ, compressed-tensors, bitsandbytes, FP4), blocks of llama.cpp, and pages of
// key and value caches.
//
// The values of llama.cpp's blocks are alone here, as GGUF stores them and as its repacking and KleidiAI's put them
// together. The deltas of a block are another region of it, so no pattern describes a whole block of both.

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
const LLAMA_KLEIDIAI: &str = "llama.cpp, ggml-cpu/repack.cpp, and KleidiAI, qsi4c32p of nr and kr: the 4-bit values of R rows' blocks, deltas apart; for Q4_0 the top bit of each is also flipped";
const LLAMA_AMX: &str = "llama.cpp, ggml-cpu/amx/mmq.cpp, convert_B_packed_format: tiles of 16 rows by one block, only the values";

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
        sized("Q4_0_4x4_VALUES", &["IQ4_NL_4x4_VALUES", "MXFP4_4x4_VALUES", "KLEIDIAI_QSI4C32P_4x8"], &[of(4, "(m1 m0:4) b (k2:2 k1:4 k0:4) -> m1 b k1 m0 k0 k2")], LLAMA_KLEIDIAI, "u4[8,3,32]E(4) Q4_0_4x4_VALUES").with_dims(ROWS_VALUES),
        sized("Q4_0_4x8_VALUES", &["KLEIDIAI_QSI4C32P_4x16"], &[of(4, "(m1 m0:4) b (k2:2 k1:2 k0:8) -> m1 b k1 m0 k0 k2")], LLAMA_KLEIDIAI, "u4[8,3,32]E(4) Q4_0_4x8_VALUES").with_dims(ROWS_VALUES),
        sized("Q4_0_8x8_VALUES", &["IQ4_NL_8x8_VALUES", "MXFP4_8x8_VALUES"], &[of(4, "(m1 m0:8) b (k2:2 k1:2 k0:8) -> m1 b k1 m0 k0 k2")], VALUES, "u4[16,3,32]E(4) Q4_0_8x8_VALUES").with_dims(ROWS_VALUES),
        sized("Q8_0_AMX_VALUES", &[], &[of(8, "(n1 n0:16) b (k1 k0:4) -> n1 b k1 n0 k0")], LLAMA_AMX, "s8[32,2,32] Q8_0_AMX_VALUES").with_dims(ROWS_VALUES),
        sized("Q4_0_AMX_VALUES", &["Q4_1_AMX_VALUES"], &[of(4, "(n1 n0:16) b (k2:4 k1:2 k0:4) -> n1 b k2 n0 k0 k1")], LLAMA_AMX, "u4[32,2,32]E(4) Q4_0_AMX_VALUES").with_dims(ROWS_VALUES),
        sized("Q4_K_AMX_VALUES", &[], &[of(4, "(n1 n0:16) b (k3:4 k2:8 k1:2 k0:4) -> n1 b k3 k2 n0 k0 k1")], LLAMA_AMX, "u4[16,2,256]E(4) Q4_K_AMX_VALUES").with_dims(ROWS_VALUES),
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

// Weights, scales and fused rows in the orders of GPU kernels: AITER, DeepGEMM, FlashInfer and TensorRT-LLM, Marlin
// and the kernels after it (Marlin-24, Machete, AllSpark), triton_kernels for Hopper, Blackwell, CDNA4 and gfx1250.
//
// The tile in a name of AITER is that of the lanes; the run of each lane is 16 bytes. FlashInfer's scales are those of
// cuBLASLt.
//
// The API of triton_kernels has the values as [.., K, N] and the scales as [.., K/32, N]; a layout that it makes of
// the transposed array is here one of that array, so each row states its dims.

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
const TRITON_SHUFFLED: &str = "triton_kernels, BlackwellMX4ValueShuffledLayout(block_k, block_n): K/2 padded to whole blocks and to 128 bytes, so K1=1 where block_k is a multiple of 256";
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
        sized("BLACKWELL_MX4_VALUE_SHUFFLED", &["BlackwellMX4ValueShuffledLayout"], &[of(4, "… (k2 k1:2 k0:BLOCK_K) (n1 n0:BLOCK_N) -> … k2 k1 n1 n0 k0")], TRITON_SHUFFLED, "u4[1,128,300]E(4) BLACKWELL_MX4_VALUE_SHUFFLED").with_constants(&[&BLOCK_K, &BLOCK_N]).with_dims(KN),
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

// Well-known names that are not layouts, with the law of layouts that each breaks and the reason, as data.

/// The laws, as error messages end with them.
const UNCHANGED: &str = "a layout changes no value";
const ONE: &str = "a layout places elements of one width";
const ARRAY: &str = "a layout depends on dims and element type alone";
const KNOWN: &str = "a layout gives each element a place";
const SPLIT: &str = "a named format splits dims and merges none";

const FLIPPED_4X4: &str = "it flips the top bit of every value; Q4_0_4x4_BYTES is the order of its bytes, Q4_0_4x4_VALUES that of the values";
const FLIPPED_4X8: &str = "it flips the top bit of every value; Q4_0_4x8_BYTES is the order of its bytes, Q4_0_4x8_VALUES that of the values";
const FLIPPED_8X8: &str = "it flips the top bit of every value; Q4_0_8x8_BYTES is the order of its bytes, Q4_0_8x8_VALUES that of the values";
const SCALES_CODED: &str = "its six-bit scales are repacked; Q4_K_8x8_QS and Q4_K_8x4_QS are the order of the bytes of values";
const REGIONS: &str = "its blocks have several regions, each with its own order; Q4_K_8x8_QS has the bytes of values, Q6_K_8x8_SCALES and Q2_K_8x8_SCALES have the scales";
const PAGES: &str = "it is a table of pages, which depends on the requests; KV_NHD and KV_HND are the layouts of the pages";
const UNKNOWN: &str = "it means that nothing is known about the layout";
const DELTA: &str =
    "its blocks hold a delta and values of another width; GGML_QS4 is the order of the values";
const SIX_BITS: &str = "scales of six bits are cut into pieces among its values";

/// A name with the law that it breaks and the reason.
const REFUSED: &[(&str, &str, &str)] = &[
    ("UNDEFINED", KNOWN, UNKNOWN),
    ("acl:-1", KNOWN, UNKNOWN),
    (
        "FRACTAL_Z_G",
        ARRAY,
        "it pads the channels of each group separately, so it depends on the number of groups",
    ),
    (
        "FRACTAL_Z_C04",
        SPLIT,
        "it merges channels, height and width before it cuts them into blocks; `table(1,2,3; ..)` merges dims in a SPEC",
    ),
    ("FRACTAL_NZ_C0_0", KNOWN, "its blocks are of unknown size"),
    ("Q4_0_4_4", UNCHANGED, FLIPPED_4X4),
    ("Q4_0_4_8", UNCHANGED, FLIPPED_4X8),
    ("Q4_0_8_8", UNCHANGED, FLIPPED_8X8),
    ("Q4_0_4x4", UNCHANGED, FLIPPED_4X4),
    ("Q4_0_4x8", UNCHANGED, FLIPPED_4X8),
    ("Q4_0_8x8", UNCHANGED, FLIPPED_8X8),
    ("Q4_K_8x8", ONE, SCALES_CODED),
    ("Q4_K_8x4", ONE, SCALES_CODED),
    ("Q6_K_8x8", ONE, REGIONS),
    ("Q2_K_8x8", ONE, REGIONS),
    (
        "MARLIN_NVFP4_SCALE",
        UNCHANGED,
        "its values change: they are multiplied by 2^7 and cut to bytes of five bits of exponent; MARLIN_MX_SCALE is their order",
    ),
    (
        "weight_scale_inv",
        KNOWN,
        "each of its elements belongs to 128x128 weights; it is row-major itself, [ceil(N/128), ceil(K/128)]",
    ),
    (
        "qsi4cxp",
        ONE,
        "sums, scales and biases follow the values of each panel, so there are several regions; Q4_0_4x4_VALUES is one order of the values",
    ),
    ("block_table", ARRAY, PAGES),
    ("kv_indices", ARRAY, PAGES),
    ("Q4_0", ONE, DELTA),
    (
        "Q4_1",
        ONE,
        "its blocks hold a delta, a minimum and values; GGML_QS4 is the order of the values",
    ),
    ("IQ4_NL", ONE, DELTA),
    ("Q8_0", ONE, "its blocks hold a delta of 16 bits and values of 8"),
    ("Q5_0", ONE, "the fifth bits of its values are stored apart from the other four"),
    ("Q4_K", ONE, SIX_BITS),
    ("Q5_K", ONE, SIX_BITS),
    (
        "Q6_K",
        ONE,
        "its blocks hold values of 6 bits, scales and a delta; GGUF_Q6_K_BITS is the order of the bits of the values",
    ),
];

/// Returns the law that the format of this name breaks, and the reason.
pub(crate) fn refused(name: &str) -> Option<(&'static str, &'static str)> {
    REFUSED.iter().find(|(other, ..)| *other == name).map(|(_, law, why)| (*law, *why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use crate::catalogue::formats_with_tables;

    /// Each name is refused with its law and its reason, and names no format.
    #[test]
    fn each_name_breaks_a_law() {
        assert_eq!(REFUSED.len(), 28);
        for (name, law, why) in REFUSED {
            assert!([UNCHANGED, ONE, ARRAY, KNOWN, SPLIT].contains(law));
            let error = Spec::parse(name).unwrap_err();
            assert!(error.is_unsupported(), "{name}: {error}");
            assert!(error.to_string().contains(why) && error.to_string().contains(law), "{error}");
            let known = |format: &crate::TabledFormat| {
                format.name == *name || format.aliases.contains(name)
            };
            assert!(!formats_with_tables().iter().any(known), "{name}");
        }
    }
}
