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
