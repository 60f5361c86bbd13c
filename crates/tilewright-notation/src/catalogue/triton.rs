//! Values and scales of triton_kernels, for Hopper, Blackwell, CDNA4 and gfx1250.
//!
//! The API has the values as [.., K, N] and the scales as [.., K/32, N]; a layout that it makes of the transposed array
//! is here one of that array, so each row states its dims.

use super::{
    GroupRows,
    constants::{BLOCK_K, BLOCK_N, PAD_BYTES, PAD_N, WARPS},
    dims::{K32N, KN, NK32},
    of, rows, sized,
};

const HOPPER_SCALE: &str = "triton_kernels, HopperMXScaleLayout: N padded to 32 warps, K/32 to 2; returned as a transposed view";
const HOPPER_VALUE: &str = "triton_kernels, HopperMXValueLayout: only the order of the bytes; afterwards the bits of each 32-bit word are permuted; N padded to 256 and K/2 to 64";
const BLACKWELL_SCALE: &str = "triton_kernels, BlackwellMXScaleLayout: K/32 padded to 8, N to 128";
const BLACKWELL_ACT: &str =
    "triton_kernels, BlackwellActMXScaleLayout: of inputs that are not ragged";
const BLACKWELL_VALUE: &str =
    "triton_kernels, BlackwellMXValueLayout: column-major, K/2 padded to 128 bytes";
const SHUFFLED: &str = "triton_kernels, BlackwellMX4ValueShuffledLayout(block_k, block_n): K/2 padded to whole blocks and to 128 bytes, so K1=1 where block_k is a multiple of 256";
const PACKED: &str =
    "triton_kernels, BlackwellMX4ValuePackedShuffledLayout(block_k, block_n): K1 = block_k / 16";
const CDNA4: &str = "triton_kernels, CDNA4MXScaleLayout, was GFX950MXScaleLayout: N padded to 32, K/32 to 8; in releases of 2025 both must divide";
const GFX1250: &str =
    "triton_kernels, GFX1250MXScaleLayout: N padded to 128, K/32 to 4; below 4 columns K0 is K/32";

#[rustfmt::skip]
pub(super) static ROWS: &[GroupRows] = &[
    rows("Triton", "scales of triton_kernels", &[
        sized("HOPPER_MX_SCALE", &["HopperMXScaleLayout"], &[of(8, "… (n4 n3:2 n2:NUM_WARPS n1:2 n0:8) (k1 k0:2) -> … n4 n2 k1 n3 n0 k0 n1")], HOPPER_SCALE, "f8e8m0fnu[256,8] HOPPER_MX_SCALE[NUM_WARPS=8]").with_constants(&[&WARPS]).with_dims(NK32),
        sized("HOPPER_MX_SCALE_W8", &[], &[of(8, "… (n4 n3:2 n2:8 n1:2 n0:8) (k1 k0:2) -> … n4 n2 k1 n3 n0 k0 n1")], HOPPER_SCALE, "f8e8m0fnu[256,8] HOPPER_MX_SCALE_W8").with_dims(NK32),
        sized("HOPPER_MX_SCALE_W4", &[], &[of(8, "… (n4 n3:2 n2:4 n1:2 n0:8) (k1 k0:2) -> … n4 n2 k1 n3 n0 k0 n1")], HOPPER_SCALE, "f8e8m0fnu[128,8] HOPPER_MX_SCALE_W4").with_dims(NK32),
        sized("BLACKWELL_MX_SCALE", &["BlackwellMXScaleLayout"], &[of(8, "… (k2 k1:2 k0:4) (n2 n1:4 n0:32) -> … n2 k2 k1 n0 n1 k0")], BLACKWELL_SCALE, "f8e8m0fnu[8,128] BLACKWELL_MX_SCALE").with_dims(K32N),
        sized("BLACKWELL_ACT_MX_SCALE", &["BlackwellActMXScaleLayout"], &[of(8, "… (m2 m1:4 m0:32) (k2 k1:2 k0:4) -> … m2 k2 k1 m0 m1 k0")], BLACKWELL_ACT, "f8e8m0fnu[128,8] BLACKWELL_ACT_MX_SCALE").with_dims(&["M", "K/32"]),
        sized("CDNA4_MX_SCALE", &["CDNA4MXScaleLayout", "GFX950MXScaleLayout"], &[of(8, "… (k2 k1:2 k0:4) (n2 n1:2 n0:16) -> … n2 k2 k0 n0 k1 n1")], CDNA4, "f8e8m0fnu[8,64] CDNA4_MX_SCALE").with_dims(K32N),
        sized("GFX1250_MX_SCALE", &["GFX1250MXScaleLayout"], &[of(8, "… (k1 k0:4) (n2 n1:4 n0:32) -> … n2 k1 n0 n1 k0")], GFX1250, "f8e8m0fnu[8,128] GFX1250_MX_SCALE").with_dims(K32N),
    ]),
    rows("Triton", "values of triton_kernels", &[
        sized("HOPPER_MX_VALUE_BYTES", &[], &[of(8, "… (n4 n3:PAD_N n2:2 n1:4 n0:2) (b4 b3:PAD_B b2:4 b1:2 b0:4) -> … n4 n3 n1 b4 b3 n0 b0 b2 b1 n2")], HOPPER_VALUE, "u8[256,64] HOPPER_MX_VALUE_BYTES").with_constants(&[&PAD_N, &PAD_BYTES]).with_dims(&["N", "K/2 bytes"]),
        sized("HOPPER_MX_VALUE_BYTES_MMA2", &[], &[of(8, "… (n4 n3:PAD_N n2:2 n1:4 n0:2) (b4 b3:PAD_B b2:2 b1:4 b0:4) -> … n4 n3 n1 b4 b3 n0 b1 b2 n2 b0")], HOPPER_VALUE, "u8[256,64] HOPPER_MX_VALUE_BYTES_MMA2").with_constants(&[&PAD_N, &PAD_BYTES]).with_dims(&["N", "K/2 bytes"]),
        sized("BLACKWELL_MX_VALUE", &["BlackwellMXValueLayout"], &[of(4, "… (k1 k0:256) n -> … n k1 k0")], BLACKWELL_VALUE, "u4[96,12]E(4) BLACKWELL_MX_VALUE").with_dims(KN),
        sized("BLACKWELL_MX4_VALUE_SHUFFLED", &["BlackwellMX4ValueShuffledLayout"], &[of(4, "… (k2 k1:2 k0:BLOCK_K) (n1 n0:BLOCK_N) -> … k2 k1 n1 n0 k0")], SHUFFLED, "u4[1,128,300]E(4) BLACKWELL_MX4_VALUE_SHUFFLED").with_constants(&[&BLOCK_K, &BLOCK_N]).with_dims(KN),
        sized("BLACKWELL_MX4_VALUE_PACKED_SHUFFLED", &["BlackwellMX4ValuePackedShuffledLayout"], &[of(4, "… (k3 k2:2 k1:8 k0:16) (n1 n0:512) -> … k3 n1 n0 k1 k2 k0")], PACKED, "u4[1,256,64]E(4) BLACKWELL_MX4_VALUE_PACKED_SHUFFLED").with_dims(KN),
    ]),
];
