//! Formats of libraries of NVIDIA: orders of cuBLASLt, channels in vectors of cuDNN and TensorRT.

use super::{GroupRows, row, rows};

const CUBLASLT: &str = "cuBLASLt, cublasLtOrder_t; measured on an H200";
const CUDNN: &str = "cuDNN, CUDNN_TENSOR_NCHW_VECT_C; TensorRT, TensorFormat";
const TENSORRT: &str = "TensorRT, TensorFormat";

#[rustfmt::skip]
pub(super) static ROWS: &[GroupRows] = &[
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
