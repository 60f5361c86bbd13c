//! The catalogue of named formats: one line a format, as data.
//!
//! A pattern whose digits have constants for sizes, the constants by element width, and where it is
//! defined. Row- and column-major are orders, not formats.

use tilewright_xla::PrimitiveType;

use crate::{
    dtype::width,
    error::{Error, Kind},
};

/// A named format: a pattern and its constants.
///
/// ```
/// use tilewright_notation::{Spec, catalogue};
/// let zn = catalogue().iter().find(|format| format.name == "zN").unwrap();
/// assert_eq!(zn.pattern, "… (m1 m0:16) (n1 n0:C0) -> … n1 m1 m0 n0");
/// assert!(zn.aliases.contains(&"FRACTAL_NZ"));
/// assert!(Spec::parse(zn.example).unwrap().is_concrete());
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Format {
    /// Its canonical name.
    pub name: &'static str,
    /// Other names, matched exactly.
    pub aliases: &'static [&'static str],
    /// How it is stored, in the pattern notation; a size that is no integer is a constant.
    pub pattern: &'static str,
    /// The constants of the pattern.
    pub constants: &'static [&'static Constant],
    /// Who defines it, and where.
    pub source: &'static str,
    /// A concrete SPEC in this format.
    pub example: &'static str,
}

/// A size that depends on the element, or that the user gives.
///
/// ```
/// use tilewright_notation::{Spec, catalogue};
/// let zn = catalogue().iter().find(|format| format.name == "zN").unwrap();
/// let [c0] = zn.constants else { panic!("one constant") };
/// assert_eq!((c0.name, c0.presets[0].name), ("C0", "torch_npu"));
/// // The rows and columns of these blocks depend on no element: they must be given.
/// assert!(Spec::parse("PaddingRowMajor[BR=4,BC=8]").is_ok());
/// assert!(Spec::parse("PaddingRowMajor").unwrap_err().is_parse());
/// ```
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

/// The value of a constant for elements of one width.
///
/// ```
/// use tilewright_notation::catalogue;
/// let zn = catalogue().iter().find(|format| format.name == "zN").unwrap();
/// let c0 = |bits| zn.constants[0].units.iter().find(|by| by.bits == bits).map(|by| by.units);
/// // 32 bytes of elements: fewer, the wider they are.
/// assert_eq!([c0(8), c0(16), c0(32)], [Some(32), Some(16), Some(8)]);
/// ```
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
#[derive(Debug)]
#[non_exhaustive]
pub struct Preset {
    /// The vendor.
    pub name: &'static str,
    /// The values by element width.
    pub units: &'static [Units],
    /// Where the vendor says so.
    pub source: &'static str,
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
        PYPTO,
    ],
};

/// The rows and columns of a block, which the user gives.
static BR: Constant = Constant { name: "BR", units: &[], presets: &[] };
static BC: Constant = Constant { name: "BC", units: &[], presets: &[] };

const TLA: &str = "CATLASS, tla/layout.hpp";
const TAG: &str = "CATLASS, catlass/layout/matrix.hpp";
const MX: &str = "CATLASS, tla/layout.hpp, MakeMxScaleLayout";
const CANN: &str = "CANN data formats";
const CUBLASLT: &str = "cuBLASLt, cublasLtOrder_t; measured on an H200";
const XLA: &str = "XLA, tiled layout";

type Names = &'static [&'static str];
type Constants = &'static [&'static Constant];

const fn row(
    name: &'static str,
    aliases: Names,
    pattern: &'static str,
    constants: Constants,
    source: &'static str,
    example: &'static str,
) -> Format {
    Format { name, aliases, pattern, constants, source, example }
}

#[rustfmt::skip]
static CATALOGUE: &[Format] = &[
    // Matrices in fractals: the small letter is the order inside a block, the capital one between blocks.
    row("zN", &["NZ", "FRACTAL_NZ"], "… (m1 m0:16) (n1 n0:C0) -> … n1 m1 m0 n0", &[&C0], TLA, "f16[100,100] zN"),
    row("nZ", &["FRACTAL_ZN"], "… (m1 m0:C0) (n1 n0:16) -> … m1 n1 n0 m0", &[&C0], TLA, "f16[100,100] nZ"),
    row("zZ", &["ZZ", "FRACTAL_ZZ"], "… (m1 m0:16) (n1 n0:C0) -> … m1 n1 m0 n0", &[&C0], TLA, "f16[100,100] zZ"),
    row("nN", &["NN"], "… (m1 m0:C0) (n1 n0:16) -> … n1 m1 n0 m0", &[&C0], TLA, "f16[100,100] nN"),
    row("L0C", &[], "… (m1 m0:16) (n1 n0:16) -> … n1 m1 m0 n0", &[], TLA, "f32[100,40] L0C"),
    row("zNUnAlign", &[], "m (n1 n0:C0) -> n1 m n0", &[&C0], TLA, "f16[10,40] zNUnAlign"),
    row("Weight4BitnZ", &[], "(m1 m0:32) (n1 n0:16) -> m1 n1 n0 m0", &[], TLA, "s4[64,32] Weight4BitnZ"),
    row("PaddingRowMajor", &[], "(m1 m0:BR) (n1 n0:BC) -> m1 n1 m0 n0", &[&BR, &BC], TAG, "f16[10,20] PaddingRowMajor[BR=4,BC=8]"),
    row("PaddingColumnMajor", &[], "(m1 m0:BR) (n1 n0:BC) -> n1 m1 n0 m0", &[&BR, &BC], TAG, "f16[10,20] PaddingColumnMajor[BR=4,BC=8]"),
    // Scales of MX formats.
    row("MxScaleRowMajorA", &[], "m (n1 n0:2) -> m n1 n0", &[], MX, "f8e8m0fnu[10,7] MxScaleRowMajorA"),
    row("MxScaleRowMajorB", &[], "(m1 m0:2) n -> m1 n m0", &[], MX, "f8e8m0fnu[7,10] MxScaleRowMajorB"),
    row("MxScaleColumnMajorA", &[], "m (n1 n0:2) -> n1 m n0", &[], MX, "f8e8m0fnu[10,7] MxScaleColumnMajorA"),
    row("MxScaleColumnMajorB", &[], "(m1 m0:2) n -> n m1 m0", &[], MX, "f8e8m0fnu[7,10] MxScaleColumnMajorB"),
    row("MxScalezZ", &[], "(m1 m0:16) (n1 n0:2) -> m1 n1 m0 n0", &[], MX, "f8e8m0fnu[40,7] MxScalezZ"),
    row("MxScalenN", &[], "(m1 m0:2) (n1 n0:16) -> n1 m1 n0 m0", &[], MX, "f8e8m0fnu[7,40] MxScalenN"),
    row("SCALE_128x4", &["NVFP4_SCALE", "MXFP8_SCALE"], "(m2 m1:4 m0:32) (k1 k0:4) -> m2 k1 m0 m1 k0", &[], "cuBLASLt, block scaling factors; nvmath", "f8e4m3fn[200,6] SCALE_128x4"),
    // Images and filters; logical dims NCHW and NCDHW.
    row("NC1HWC0", &["5HD"], "n (c1 c0:C0) h w -> n c1 h w c0", &[&IMAGE_C0], CANN, "f16[2,40,5,7] NC1HWC0"),
    row("NDC1HWC0", &["6HD"], "n (c1 c0:C0) d h w -> n d c1 h w c0", &[&IMAGE_C0], CANN, "f16[2,40,3,5,7] NDC1HWC0"),
    row("FRACTAL_Z", &[], "(n1 n0:16) (c1 c0:C0) h w -> c1 h w n1 n0 c0", &[&IMAGE_C0], CANN, "f16[20,40,3,3] FRACTAL_Z"),
    row("FRACTAL_Z_3D", &[], "(n1 n0:16) (c1 c0:C0) d h w -> d c1 h w n1 n0 c0", &[&IMAGE_C0], CANN, "f16[20,40,2,3,3] FRACTAL_Z_3D"),
    row("CI1KHKWCOCI0", &[], "n (c1 c0:C0) h w -> c1 h w n c0", &[&IMAGE_C0], TAG, "f16[20,40,3,3] CI1KHKWCOCI0"),
    // NVIDIA's matrices of 8-bit integers.
    row("COL32", &[], "m (k1 k0:32) -> k1 m k0", &[], CUBLASLT, "s8[33,40] COL32"),
    row("COL4_4R2_8C", &[], "(r2 r1:4 r0:2) (c2 c1:8 c0:4) -> c2 r2 r0 c1 r1 c0", &[], CUBLASLT, "s8[33,40] COL4_4R2_8C"),
    row("COL32_2R_4R4", &[], "(r3 r2:4 r1:4 r0:2) (c1 c0:32) -> c1 r3 r1 r2 r0 c0", &[], CUBLASLT, "s8[33,40] COL32_2R_4R4"),
    // Tiles of other accelerators.
    row("TT_TILE", &["TENSTORRENT_TILE"], "… (m2 m1:2 m0:16) (n2 n1:2 n0:16) -> … m2 n2 m1 n1 m0 n0", &[], "Tenstorrent, tiles of 32x32 in four faces", "bf16[100,50] TT_TILE"),
    row("TPU_8x128", &[], "… (m1 m0:8) (n1 n0:128) -> … m1 n1 m0 n0", &[], XLA, "f32[20,300] TPU_8x128"),
    row("TPU_8x128_2x1", &[], "… (m2 m1:4 m0:2) (n1 n0:128) -> … m2 n1 m1 n0 m0", &[], XLA, "bf16[20,300] TPU_8x128_2x1"),
    row("TPU_8x128_4x1", &[], "… (m2 m1:2 m0:4) (n1 n0:128) -> … m2 n1 m1 n0 m0", &[], XLA, "s8[20,300] TPU_8x128_4x1"),
];

/// Every named format.
///
/// ```
/// use tilewright_notation::catalogue;
/// assert!(catalogue().iter().any(|format| format.name == "COL4_4R2_8C"));
/// ```
pub fn catalogue() -> &'static [Format] {
    CATALOGUE
}

impl Constant {
    /// The value for elements of this dtype, by the rule of a preset or the usual one.
    pub(crate) fn units_for(
        &self,
        preset: Option<&str>,
        dtype: PrimitiveType,
    ) -> Result<u64, Error> {
        let bits = width(dtype);
        let named = self.presets.iter().find(|p| Some(p.name) == preset);
        let table = named.map_or(self.units, |preset| preset.units);
        table.iter().find(|units| units.bits == bits).map(|units| units.units).ok_or_else(|| {
            Error::new(
                Kind::Unsupported,
                format!(
                    "no {} is defined for the {bits}-bit elements of {dtype}; set it, as in `[{}=16]`",
                    self.name, self.name
                ),
            )
        })
    }
}
