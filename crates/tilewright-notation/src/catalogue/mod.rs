//! The catalogue of named formats: one line a format, as data.
//!
//! A pattern whose digits have constants for sizes, the constants by element width, and where it is
//! defined. The lines are in `formats.rs`; those with index tables are in `with_tables.rs`. Each has a file of offsets in `corpus/formats`, from a formula that knows nothing of patterns.
//! Users can add formats to the catalogue of this process.
//!
//! Rows share constants of patterns, names of dims, and the quantisation that a format presumes. A constant is a size by the width of an element, as its vendor counts it. Of a product with a weight, K is the dim
//! of the inputs and N that of the outputs; a fraction, `K/32`, is a dim of groups of that many. The dims are those of
//! the array, whatever the order of the storage is. [`Quantised`] says what a format of weights presumes of the model
//! that holds them.

mod formats;
pub(crate) mod with_tables;

use std::sync::{PoisonError, RwLock};

use tilewright_core::Dtype;

use crate::Error;
pub(crate) use formats::refused;
pub use with_tables::{TabledFormat, formats_with_tables};

/// A named format: a pattern and its constants.
///
/// ```
/// use tilewright_notation::{Spec, catalogue};
/// let zn = catalogue().find(|format| format.name == "zN").unwrap();
/// assert_eq!(zn.pattern, "… (m1 m0:16) (n1 n0:C0) -> … n1 m1 m0 n0");
/// assert!(zn.aliases.contains(&"FRACTAL_NZ"));
/// assert!(Spec::parse(zn.example).unwrap().is_concrete());
/// ```
#[must_use]
#[derive(Debug)]
#[non_exhaustive]
pub struct Format {
    /// Its canonical name.
    pub name: &'static str,
    /// Other names, matched exactly.
    pub aliases: &'static [&'static str],
    /// The storage in the pattern notation; a size that is not an integer is a constant. Of a format of
    /// elements of several widths, the pattern of the first.
    pub pattern: &'static str,
    /// The widths of elements that it is for, each with its pattern; empty where it is for any.
    pub widths: &'static [Width],
    /// The constants of the pattern.
    pub constants: &'static [&'static Constant],
    /// The project or vendor that defines it, and the document or file.
    pub source: &'static str,
    /// A concrete SPEC in this format.
    pub example: &'static str,
    /// True if the stride of its outermost digit can be set, in elements, as in `COL[LD=8]`.
    pub leading: bool,
    /// The last dims of the array as the maker names and orders them, such as `["K", "N"]`; empty where they are the
    /// letters of the pattern. See [`Format::axes`].
    pub dims: &'static [&'static str],
    /// The quantisation that it presumes, for formats of quantised weights.
    pub quantised: Option<&'static Quantised>,
    /// True if it counts the elements of the flattened array, so that the last dim ends with its innermost digit.
    pub flat: bool,
    /// The threads that hold a tile, where it is what the threads of a matrix unit hold: thread after thread, each with
    /// its values in order.
    pub threads: Option<u64>,
}

/// A size that depends on the element, or that the user gives.
///
/// ```
/// use tilewright_notation::{Spec, catalogue};
/// let zn = catalogue().find(|format| format.name == "zN").unwrap();
/// let [c0] = zn.constants else { panic!("one constant") };
/// assert_eq!((c0.name, c0.presets[0].name), ("C0", "torch_npu"));
/// // The rows and columns of these blocks depend on no element: they must be given.
/// assert!(Spec::parse("PaddingRowMajor[BR=4,BC=8]").is_ok());
/// assert!(Spec::parse("PaddingRowMajor").unwrap_err().is_parse());
/// ```
#[must_use]
#[derive(Debug)]
#[non_exhaustive]
pub struct Constant {
    /// Its name in patterns and parameters.
    pub name: &'static str,
    /// Its value by the width of an element; empty where the user gives it.
    pub units: &'static [Units],
    /// Other values by element width, where vendors disagree.
    pub presets: &'static [Preset],
}

/// The order of elements of one width, in a format that is not for any width. Elements narrower than a
/// byte are packed unless the layout gives another width: `u4[32,128] MARLIN` stores two in a byte, and
/// `u4[32,128]E(8) MARLIN` one.
///
/// ```
/// use tilewright_notation::{Spec, catalogue};
/// let marlin = catalogue().find(|format| format.name == "MARLIN").unwrap();
/// assert_eq!(marlin.widths.iter().map(|width| width.bits).collect::<Vec<_>>(), [4, 8]);
/// let named = Spec::parse("u4[32,128] MARLIN").unwrap().resolve(None, None).unwrap();
/// assert_eq!((named.element_bits(), named.to_spec()), (Some(4), "u4[32,128]E(4) MARLIN".into()));
/// // Other elements are refused.
/// assert!(Spec::parse("bf16[32,128] MARLIN").unwrap().resolve(None, None).unwrap_err().is_mismatch());
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Width {
    /// The width of an element, in bits.
    pub bits: u32,
    /// The storage of elements of this width, in the pattern notation.
    pub pattern: &'static str,
}

/// The value of a constant for elements of one width.
///
/// ```
/// use tilewright_notation::catalogue;
/// let zn = catalogue().find(|format| format.name == "zN").unwrap();
/// let c0 = |bits| zn.constants[0].units.iter().find(|by| by.bits == bits).map(|by| by.units);
/// // 32 bytes of elements: fewer, the wider they are.
/// assert_eq!([c0(8), c0(16), c0(32)], [Some(32), Some(16), Some(8)]);
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Units {
    /// The width of an element, in bits.
    pub bits: u32,
    /// The value, in elements.
    pub units: u64,
}

/// Values of a constant under a vendor's name: `zN[preset=torch_npu]`.
///
/// ```
/// use tilewright_notation::{Spec, dtype};
/// let columns = |text| {
///     let spec = Spec::parse(text).unwrap();
///     let named = spec.resolve(Some(&[16, 32]), dtype("f32").ok()).unwrap();
///     named.layout().layout().axis(1).unwrap()[0].extent()
/// };
/// // The vendor's library counts at most two bytes of an element.
/// assert_eq!((columns("zN"), columns("zN[preset=torch_npu]")), (8, 16));
/// assert!(Spec::parse("zN[preset=nobody]").unwrap_err().is_parse());
/// ```
#[must_use]
#[derive(Debug)]
#[non_exhaustive]
pub struct Preset {
    /// The vendor.
    pub name: &'static str,
    /// The values by element width.
    pub units: &'static [Units],
    /// The vendor's document or file that says so.
    pub source: &'static str,
}

/// Formats of one maker for one purpose.
///
/// ```
/// use tilewright_notation::groups;
/// let of = |name: &str| groups().into_iter().find(|group| group.formats.iter().any(|one| one.name == name)).unwrap();
/// assert_eq!((of("zN").maker, of("zN").purpose), ("Ascend", "matrices in fractals"));
/// assert_eq!((of("MARLIN").maker, of("VNNI").maker), ("Quantised weights", "Intel"));
/// ```
#[must_use]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Group {
    /// The project or vendor that defines them.
    pub maker: &'static str,
    /// The purpose of these formats.
    pub purpose: &'static str,
    /// The formats.
    pub formats: Vec<&'static Format>,
}

/// A group as it is written.
struct GroupRows {
    maker: &'static str,
    purpose: &'static str,
    formats: &'static [Format],
}

const fn rows(maker: &'static str, purpose: &'static str, formats: &'static [Format]) -> GroupRows {
    GroupRows { maker, purpose, formats }
}

/// The groups that are known.
fn known() -> impl Iterator<Item = &'static GroupRows> + Clone {
    [
        formats::ASCEND_ROWS,
        formats::NVIDIA_ROWS,
        formats::TILES_ROWS,
        formats::PACKED_ROWS,
        formats::MARLIN_ROWS,
        formats::GGML_ROWS,
        formats::FLASHINFER_ROWS,
        formats::AITER_ROWS,
        formats::TRITON_ROWS,
        formats::DEEPGEMM_ROWS,
        formats::CACHES_ROWS,
        formats::FUSED_ROWS,
        formats::FRAGMENTS_ROWS,
    ]
    .into_iter()
    .flatten()
}

/// The named formats by maker and purpose, those that were added last.
///
/// ```
/// use tilewright_notation::{catalogue, groups};
/// let all = groups().into_iter().flat_map(|group| group.formats).map(|format| format.name);
/// assert!(all.eq(catalogue().map(|format| format.name)));
/// ```
pub fn groups() -> Vec<Group> {
    let group = |rows: &GroupRows| Group {
        maker: rows.maker,
        purpose: rows.purpose,
        formats: rows.formats.iter().collect(),
    };
    let own = Group { maker: "Yours", purpose: "formats that were added", formats: formats() };
    known().map(group).chain((!own.formats.is_empty()).then_some(own)).collect()
}

/// Every named format, those that were added last.
///
/// ```
/// use tilewright_notation::catalogue;
/// assert!(catalogue().any(|format| format.name == "COL4_4R2_8C"));
/// ```
pub fn catalogue() -> impl Iterator<Item = &'static Format> + Clone {
    built_in().chain(formats())
}

/// The named formats without those that a program adds.
pub(crate) fn built_in() -> impl Iterator<Item = &'static Format> + Clone {
    known().flat_map(|rows| rows.formats)
}

type Names = &'static [&'static str];
type Constants = &'static [&'static Constant];

/// A line of the catalogue.
const fn row(
    name: &'static str,
    aliases: Names,
    pattern: &'static str,
    constants: Constants,
    source: &'static str,
    example: &'static str,
) -> Format {
    Format {
        name,
        aliases,
        pattern,
        widths: &[],
        constants,
        source,
        example,
        leading: false,
        dims: &[],
        quantised: None,
        flat: false,
        threads: None,
    }
}

/// A line of a format for elements of these widths alone, which are one or more.
const fn sized(
    name: &'static str,
    aliases: Names,
    widths: &'static [Width],
    source: &'static str,
    example: &'static str,
) -> Format {
    let format = row(name, aliases, widths[0].pattern, &[], source, example);
    Format { widths, ..format }
}

/// The storage of elements of one width.
const fn of(bits: u32, pattern: &'static str) -> Width {
    Width { bits, pattern }
}

impl Format {
    /// Sets the constants of the pattern.
    const fn with_constants(mut self, constants: Constants) -> Format {
        self.constants = constants;
        self
    }

    /// Sets the names that the format's maker gives the dims.
    const fn with_dims(mut self, dims: Names) -> Format {
        self.dims = dims;
        self
    }

    /// Returns the line of a format of quantised weights.
    const fn with_quantised(mut self, quantised: &'static Quantised) -> Format {
        self.quantised = Some(quantised);
        self
    }

    /// Sets the number of threads that hold the tile.
    const fn with_threads(mut self, threads: u64) -> Format {
        self.threads = Some(threads);
        self
    }

    /// Marks a format of the flattened array.
    const fn with_flat(mut self) -> Format {
        self.flat = true;
        self
    }

    /// Marks a format that has a leading dimension.
    const fn with_leading(mut self) -> Format {
        self.leading = true;
        self
    }
}

impl Constant {
    /// The value for elements of this dtype, by the rule of a preset or the usual one.
    pub(crate) fn units_for(&self, preset: Option<&str>, dtype: Dtype) -> Result<u64, Error> {
        let Some(bits) = dtype.packed_bits() else {
            let message = format!(
                "no {} is defined for elements in blocks, such as {dtype}; set it, as in `[{}=16]`",
                self.name, self.name
            );
            return Err(Error::unsupported(message));
        };
        let named = self.presets.iter().find(|p| Some(p.name) == preset);
        let table = named.map_or(self.units, |preset| preset.units);
        table.iter().find(|units| units.bits == bits).map(|units| units.units).ok_or_else(|| {
            Error::unsupported(format!(
                "no {} is defined for the {bits}-bit elements of {dtype}; set it, as in `[{}=16]`",
                self.name, self.name
            ))
        })
    }
}

/// The formats that were added; they are kept until the process ends.
static OWN: RwLock<Vec<&'static Format>> = RwLock::new(Vec::new());

/// The formats that users added.
pub(crate) fn formats() -> Vec<&'static Format> {
    OWN.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Returns whether a format is a user's, so that its name means nothing elsewhere.
pub(crate) fn is_own(format: &Format) -> bool {
    formats().iter().any(|own| std::ptr::eq(*own, format))
}

/// Adds formats behind those that are there.
#[cfg(feature = "formats")]
pub(crate) fn keep(more: &[&'static Format]) {
    OWN.write().unwrap_or_else(PoisonError::into_inner).extend(more);
}

/// Leaves the first `count` formats.
#[cfg(feature = "formats")]
pub(crate) fn leave(count: usize) {
    OWN.write().unwrap_or_else(PoisonError::into_inner).truncate(count);
}

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
static IMAGE_C0: Constant = Constant {
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
static BR: Constant = Constant { name: "BR", units: &[], presets: &[] };
static BC: Constant = Constant { name: "BC", units: &[], presets: &[] };

/// 4 bytes of elements: what one step of a dot product takes.
static V: Constant =
    Constant { name: "V", units: &[by(4, 8), by(8, 4), by(16, 2), by(32, 1)], presets: &[] };

/// 64 bytes of elements: a row of a tile register.
static ROW_64: Constant =
    Constant { name: "ROW", units: &[by(4, 128), by(8, 64), by(16, 32), by(32, 16)], presets: &[] };

/// 128 bytes of elements: a block of columns of FlashInfer's kernels.
static BYTES_128: Constant = Constant {
    name: "BLOCK_K",
    units: &[by(4, 256), by(8, 128), by(16, 64), by(32, 32)],
    presets: &[],
};

/// 16 bytes of elements: what one thread loads of a cache.
static BYTES_16: Constant =
    Constant { name: "X", units: &[by(8, 16), by(16, 8), by(32, 4)], presets: &[] };

/// The warps of Hopper's scales, which the user gives.
static WARPS: Constant = Constant { name: "NUM_WARPS", units: &[], presets: &[] };

/// The ranks of tensor parallelism, which the user gives.
static TP: Constant = Constant { name: "TP", units: &[], presets: &[] };

/// The blocks of Blackwell's shuffled values: what the owner's code takes if it is told nothing.
static BLOCK_K: Constant = Constant { name: "BLOCK_K", units: &[by(4, 128)], presets: &[] };
static BLOCK_N: Constant = Constant { name: "BLOCK_N", units: &[by(4, 256)], presets: &[] };

/// Hopper's values before their padding grew.
const RELEASE_2025: Preset = Preset {
    name: "release_2025",
    units: &[by(8, 1)],
    source: "triton_kernels of 2025: N padded to 16, K/2 to 32",
};

/// By how much Hopper's values are padded beyond a tile, in tiles of 16 rows and of 32 bytes.
static PAD_N: Constant = Constant { name: "PAD_N", units: &[by(8, 16)], presets: &[RELEASE_2025] };
static PAD_BYTES: Constant =
    Constant { name: "PAD_B", units: &[by(8, 2)], presets: &[RELEASE_2025] };

/// A weight as PyTorch and Hugging Face store it, `[out, in]`.
const NK: Names = &["N", "K"];
/// A weight as the second operand of a product, `[in, out]`.
const KN: Names = &["K", "N"];
/// The first operand of a product.
const MK: Names = &["M", "K"];
/// Scales or zero points, a row for each group of inputs.
const GN: Names = &["G", "N"];
/// Dims of an array with one entry for each output and block of inputs.
const NKB: Names = &["N", "K/block"];
/// The scales of blocks of 32 inputs.
const NK32: Names = &["N", "K/32"];
const K32N: Names = &["K/32", "N"];

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

static GPTQ: Quantised = Quantised {
    row_table: Some("g_idx"),
    zeros: Some("qzeros"),
    ..Quantised::of(&[("quant_method", &["gptq"]), GPTQ_FILES])
};
static GPTQ_ZEROS: Quantised = Quantised {
    unchanged: Some((
        ("checkpoint_format", &["gptq_v2"]),
        "each zero point is stored minus 1, except in gptq_v2",
    )),
    ..Quantised::of(&[("quant_method", &["gptq"]), GPTQ_FILES])
};
static AWQ: Quantised = Quantised::of(&[("quant_method", &["awq"]), ("version", &["gemm"])]);
static AWQ_GEMV_FAST: Quantised =
    Quantised::of(&[("quant_method", &["awq"]), ("version", &["gemv_fast"])]);
static CT: Quantised =
    Quantised::of(&[("quant_method", &["compressed-tensors"]), ("format", &["pack-quantized"])]);
static BNB: Quantised = Quantised::of(&[("quant_method", &["bitsandbytes"])]);
static BITNET: Quantised = Quantised::of(&[("quant_method", &["bitnet"])]);
static MARLIN: Quantised = Quantised { is_symmetric: true, ..Quantised::NOTHING };
