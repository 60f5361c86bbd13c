//! The constants of the catalogue's patterns: sizes by the width of an element, as vendors count them.

use super::{Constant, Preset, Units};

const fn by(bits: u32, units: u64) -> Units {
    Units { bits, units }
}

/// 32 bytes of elements.
const BYTES_32: &[Units] = &[by(4, 64), by(8, 32), by(16, 16), by(32, 8), by(64, 4), by(128, 2)];

/// Always 16 elements.
const SIXTEEN: &[Units] = &[by(8, 16), by(16, 16), by(32, 16), by(64, 16)];

/// 32 bytes of elements, at most two bytes each being counted.
const AT_MOST_2_BYTES: &[Units] = &[by(8, 32), by(16, 16), by(32, 16), by(64, 16)];

/// The vendor's casts of formats take the element that is computed with.
const ACLNN: Preset = Preset {
    name: "aclnn",
    units: BYTES_32,
    source: "CANN, aclnnNpuFormatCast: 32 bytes of elements of additionalDtype",
};

const PYPTO: Preset =
    Preset { name: "pypto", units: &[by(8, 32), by(16, 16), by(32, 8)], source: "CANN pypto" };

/// The C0 of Ascend's fractals.
pub(crate) static C0: Constant = Constant {
    name: "C0",
    units: BYTES_32,
    presets: &[
        Preset {
            name: "torch_npu",
            units: AT_MOST_2_BYTES,
            source: "Ascend/pytorch, FormatHelper.cpp: 32 / min(itemsize, 2)",
        },
        ACLNN,
        PYPTO,
    ],
};

/// The C0 of Ascend's image and filter formats.
pub(super) static IMAGE_C0: Constant = Constant {
    name: "C0",
    units: BYTES_32,
    presets: &[
        Preset {
            name: "torch_npu",
            units: SIXTEEN,
            source: "Ascend/pytorch, FormatHelper.cpp: always 16",
        },
        ACLNN,
        PYPTO,
    ],
};

/// The rows and columns of a block, which the user gives.
pub(super) static BR: Constant = Constant { name: "BR", units: &[], presets: &[] };
pub(super) static BC: Constant = Constant { name: "BC", units: &[], presets: &[] };

/// 4 bytes of elements: what one step of a dot product takes.
pub(super) static V: Constant =
    Constant { name: "V", units: &[by(4, 8), by(8, 4), by(16, 2), by(32, 1)], presets: &[] };

/// 64 bytes of elements: a row of a tile register.
pub(super) static ROW_64: Constant =
    Constant { name: "ROW", units: &[by(4, 128), by(8, 64), by(16, 32), by(32, 16)], presets: &[] };

/// 128 bytes of elements: a block of columns of FlashInfer's kernels.
pub(super) static BYTES_128: Constant = Constant {
    name: "BLOCK_K",
    units: &[by(4, 256), by(8, 128), by(16, 64), by(32, 32)],
    presets: &[],
};

/// 16 bytes of elements: what one thread loads of a cache.
pub(super) static BYTES_16: Constant =
    Constant { name: "X", units: &[by(8, 16), by(16, 8), by(32, 4)], presets: &[] };

/// The warps of Hopper's scales, which the user gives.
pub(super) static WARPS: Constant = Constant { name: "NUM_WARPS", units: &[], presets: &[] };

/// The ranks of tensor parallelism, which the user gives.
pub(super) static TP: Constant = Constant { name: "TP", units: &[], presets: &[] };

/// The blocks of Blackwell's shuffled values: what the owner's code takes if it is told nothing.
pub(super) static BLOCK_K: Constant =
    Constant { name: "BLOCK_K", units: &[by(4, 128)], presets: &[] };
pub(super) static BLOCK_N: Constant =
    Constant { name: "BLOCK_N", units: &[by(4, 256)], presets: &[] };

/// Hopper's values before their padding grew.
const RELEASE_2025: Preset = Preset {
    name: "release_2025",
    units: &[by(8, 1)],
    source: "triton_kernels of 2025: N padded to 16, K/2 to 32",
};

/// By how much Hopper's values are padded beyond a tile, in tiles of 16 rows and of 32 bytes.
pub(super) static PAD_N: Constant =
    Constant { name: "PAD_N", units: &[by(8, 16)], presets: &[RELEASE_2025] };
pub(super) static PAD_BYTES: Constant =
    Constant { name: "PAD_B", units: &[by(8, 2)], presets: &[RELEASE_2025] };
