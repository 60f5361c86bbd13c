//! Ascend's formats: CANN's and CATLASS's.

use super::{
    GroupRows,
    constants::{BC, BR, C0, IMAGE_C0},
    row, rows,
};

const TLA: &str = "CATLASS, tla/layout.hpp";
const TAG: &str = "CATLASS, catlass/layout/matrix.hpp";
const MX: &str = "CATLASS, tla/layout.hpp, MakeMxScaleLayout";
const CANN: &str = "CANN data formats";
const ACL: &str = "CANN, aclFormat; logical dims as the name has them";
const NZ_C0: &str = "CANN, aclFormat: FRACTAL_NZ with C0 in the name";

#[rustfmt::skip]
pub(super) static ROWS: &[GroupRows] = &[
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
