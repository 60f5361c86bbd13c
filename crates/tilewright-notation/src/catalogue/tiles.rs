//! Tiles of processors: Tenstorrent's, XLA's for TPUs, Intel's operands of dot products, panels of KleidiAI for Arm.

use super::{
    GroupRows,
    constants::{ROW_64, V},
    dims::KN,
    of, row, rows, sized,
};

const XLA: &str = "XLA, tiled layout";
const TENSTORRENT: &str = "Tenstorrent, tiles of faces of 16x16";
const VNNI: &str = "Intel 64, dot products of 4 bytes: V rows side by side";
const KLEIDIAI: &str = "ARM-software/kleidiai, kai_rhs_pack_kxn_x16p32x1b and similar: panels of 32 columns of 16 bits, or 16 of 32, each after its biases; row 0 of the array is the bias, and the K rows follow";
const AMX: &str = "Intel 64, AMX: tiles of 16 rows of 64 bytes";

#[rustfmt::skip]
pub(super) static ROWS: &[GroupRows] = &[
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
