//! What rows of the catalogue share: constants of patterns, names of dims, and the quantisation that a format presumes.
//!
//! A constant is a size by the width of an element, as its vendor counts it. Of a product with a weight, K is the dim
//! of the inputs and N that of the outputs; a fraction, `K/32`, is a dim of groups of that many. The dims are those of
//! the array, whatever the order of the storage is. [`Quantised`] says what a format of weights presumes of the model
//! that holds them.

use super::{Constant, Format, Names, Preset, Units};

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

/// A weight as PyTorch and Hugging Face store it, `[out, in]`.
pub(super) const NK: Names = &["N", "K"];
/// A weight as the second operand of a product, `[in, out]`.
pub(super) const KN: Names = &["K", "N"];
/// The first operand of a product.
pub(super) const MK: Names = &["M", "K"];
/// Scales or zero points, a row for each group of inputs.
pub(super) const GN: Names = &["G", "N"];
/// Dims of an array with one entry for each output and block of inputs.
pub(super) const NKB: Names = &["N", "K/block"];
/// The scales of blocks of 32 inputs.
pub(super) const NK32: Names = &["N", "K/32"];
pub(super) const K32N: Names = &["K/32", "N"];

/// Returns what a dim counts.
fn counts(dim: &str) -> &str {
    dim.split(['/', ' ']).next().unwrap_or(dim)
}

impl Format {
    /// Returns whether the array is the second operand of a product or belongs to one, with the inputs (or their groups) before
    /// the outputs: of a weight as PyTorch stores it, the transposed array. Formats that users add do not state it.
    ///
    /// ```
    /// use tilewright_notation::catalogue;
    /// let is = |name: &str| catalogue().find(|format| format.name == name).unwrap().is_second_operand();
    /// assert!(is("MARLIN") && is("MARLIN_SCALE") && !is("MACHETE") && !is("COL32"));
    /// ```
    pub fn is_second_operand(&self) -> bool {
        matches!(self.dims, [.., before, last] if counts(last) == "N" && matches!(counts(before), "K" | "G"))
    }

    /// Which of the last dims counts the inputs and which the outputs, as of `[K, N]`; `None` where the format is of
    /// no weight.
    ///
    /// ```
    /// use tilewright_notation::catalogue;
    /// let order = |name: &str| catalogue().find(|format| format.name == name).unwrap().in_and_out();
    /// assert_eq!(order("MARLIN"), Some("in, out"));
    /// assert_eq!(order("MACHETE"), Some("out, in"));
    /// assert_eq!(order("COL32"), None);
    /// ```
    pub fn in_and_out(&self) -> Option<&'static str> {
        match self.dims {
            _ if self.is_second_operand() => Some("in, out"),
            [.., before, last] if counts(before) == "N" && counts(last) == "K" => Some("out, in"),
            _ => None,
        }
    }
}

/// A key of `quantization_config` in `config.json`, and the values that it may have, in lower case.
pub type Allowed = (&'static str, &'static [&'static str]);

/// The quantisation that a format of quantised weights presumes. A key that the configuration lacks contradicts nothing.
///
/// ```
/// use tilewright_notation::Spec;
/// let of = |text| Spec::parse(text).unwrap().resolve(None, None).unwrap().quantised();
/// assert_eq!(of("u4[64,64] GPTQ").unwrap().config[0], ("quant_method", &["gptq"][..]));
/// assert!(of("u4[64,64] MARLIN").unwrap().is_symmetric && of("u4[64,64] row-major").is_none());
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Quantised {
    /// The values of the configuration that fit weights in this format.
    pub config: &'static [Allowed],
    /// The last part of the name of a tensor beside one in this format that lists the group of each row. Rows whose
    /// groups are not in order need an index table.
    pub row_table: Option<&'static str>,
    /// The last part of the name of a tensor beside one in this format that holds the zero points, in words.
    pub zeros: Option<&'static str>,
    /// True if the kernel of this format takes the middle of the values as the zero point of all weights.
    pub is_symmetric: bool,
    /// The values that the configuration must state before another format may store the values unchanged, and the reason.
    pub unchanged: Option<(Allowed, &'static str)>,
}

impl Quantised {
    const NOTHING: Quantised = Quantised {
        config: &[],
        row_table: None,
        zeros: None,
        is_symmetric: false,
        unchanged: None,
    };

    /// A model of one method.
    const fn of(config: &'static [Allowed]) -> Quantised {
        Quantised { config, ..Quantised::NOTHING }
    }
}

/// The first version of GPTQ's files, and the second.
const GPTQ_FILES: Allowed = ("checkpoint_format", &["gptq", "gptq_v2"]);

pub(super) static GPTQ: Quantised = Quantised {
    row_table: Some("g_idx"),
    zeros: Some("qzeros"),
    ..Quantised::of(&[("quant_method", &["gptq"]), GPTQ_FILES])
};
pub(super) static GPTQ_ZEROS: Quantised = Quantised {
    unchanged: Some((
        ("checkpoint_format", &["gptq_v2"]),
        "each zero point is stored minus 1, except in gptq_v2",
    )),
    ..Quantised::of(&[("quant_method", &["gptq"]), GPTQ_FILES])
};
pub(super) static AWQ: Quantised =
    Quantised::of(&[("quant_method", &["awq"]), ("version", &["gemm"])]);
pub(super) static AWQ_GEMV_FAST: Quantised =
    Quantised::of(&[("quant_method", &["awq"]), ("version", &["gemv_fast"])]);
pub(super) static CT: Quantised =
    Quantised::of(&[("quant_method", &["compressed-tensors"]), ("format", &["pack-quantized"])]);
pub(super) static BNB: Quantised = Quantised::of(&[("quant_method", &["bitsandbytes"])]);
pub(super) static BITNET: Quantised = Quantised::of(&[("quant_method", &["bitnet"])]);
pub(super) static MARLIN: Quantised = Quantised { is_symmetric: true, ..Quantised::NOTHING };
