//! The table of element types: the only place that lists names, widths and spellings. A float format has the bit
//! patterns of one and of the extreme values. The elements of a block type share bytes, as in GGUF's quantised types
//! ([`ElementBlock`]).

use core::str::FromStr;

use crate::{ParseError, dtype::DtypeKind};

/// A group of bytes and the number of elements that it holds.
///
/// ```
/// use tilewright_core::{Dtype, ElementBlock};
/// assert_eq!(Dtype::Q8_0.block(), Some(ElementBlock { bytes: 34, elements: 32 }));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementBlock {
    /// The number of bytes of one block.
    pub bytes: u32,
    /// The number of elements of one block.
    pub elements: u32,
}

/// A format: the sign, if there is one, is the top bit; then the exponent; then the mantissa.
#[derive(Clone, Copy, Debug)]
pub(super) struct Float {
    exponent: u32,
    mantissa: u32,
    bias: u32,
    ends: Ends,
}

/// The meaning of the patterns with the largest exponents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// IEEE 754: infinities, and NaNs above them.
    Infinite,
    /// The largest pattern of either sign is the NaN; infinities are missing (`fn`).
    OneNan,
    /// All patterns are finite numbers.
    Finite,
    /// All patterns are finite except one NaN, which replaces minus zero (`fnuz`).
    NoMinusZero,
    /// No sign; the largest pattern is the NaN (`fnu`).
    Unsigned,
}

impl Float {
    /// Creates the format with the usual bias: half of the exponents are below 0.
    pub(super) const fn new(exponent: u32, mantissa: u32, ends: Ends) -> Float {
        let half = 1 << (exponent - 1);
        // The formats in which a NaN replaces minus zero have a bias that is larger by one.
        let bias = if matches!(ends, Ends::NoMinusZero) { half } else { half - 1 };
        Float { exponent, mantissa, bias, ends }
    }

    /// Returns the format with another bias.
    const fn biased(self, bias: u32) -> Float {
        Float { bias, ..self }
    }

    /// Returns the width in bits.
    pub(super) const fn bits(self) -> u32 {
        let sign = !matches!(self.ends, Ends::Unsigned) as u32;
        sign + self.exponent + self.mantissa
    }

    /// Returns the pattern of 1.
    pub(super) const fn one(self) -> u128 {
        (self.bias as u128) << self.mantissa
    }

    /// Returns the pattern of the highest value: +∞ if there is one.
    pub(super) const fn highest(self) -> u128 {
        let all = (1 << (self.exponent + self.mantissa)) - 1;
        match self.ends {
            Ends::Infinite => all - ((1 << self.mantissa) - 1),
            Ends::OneNan | Ends::Unsigned => all - 1,
            Ends::Finite | Ends::NoMinusZero => all,
        }
    }

    /// Returns the pattern of the lowest value: −∞ if there is one.
    pub(super) const fn lowest(self) -> u128 {
        match self.ends {
            Ends::Unsigned => 0,
            Ends::Infinite | Ends::OneNan | Ends::Finite | Ends::NoMinusZero => {
                self.highest() | 1 << (self.bits() - 1)
            }
        }
    }
}

/// The entry of one element type.
pub(super) struct DtypeRow {
    pub(super) name: &'static str,
    pub(super) kind: DtypeKind,
    /// The width in bits; 0 for a block type.
    pub(super) bits: u32,
    /// The format of a float, or of the two floats of a complex number.
    pub(super) float: Option<Float>,
    pub(super) block: Option<ElementBlock>,
    pub(super) array: Option<&'static str>,
    pub(super) safetensors: Option<&'static str>,
    /// `DLDataTypeCode`.
    pub(super) dlpack: Option<u8>,
    /// Further spellings.
    pub(super) others: &'static [&'static str],
}

const fn row(name: &'static str, kind: DtypeKind, bits: u32) -> DtypeRow {
    DtypeRow {
        name,
        kind,
        bits,
        float: None,
        block: None,
        array: None,
        safetensors: None,
        dlpack: None,
        others: &[],
    }
}

const fn signed(name: &'static str, bits: u32) -> DtypeRow {
    row(name, DtypeKind::Signed, bits).dlpack(0)
}

const fn unsigned(name: &'static str, bits: u32) -> DtypeRow {
    row(name, DtypeKind::Unsigned, bits).dlpack(1)
}

const fn float(name: &'static str, float: Float) -> DtypeRow {
    DtypeRow { float: Some(float), ..row(name, DtypeKind::Float, float.bits()) }
}

const fn complex(name: &'static str, part: Float) -> DtypeRow {
    DtypeRow { float: Some(part), ..row(name, DtypeKind::Complex, part.bits() * 2) }.dlpack(5)
}

/// A block type of `bytes` bytes that hold `elements` elements.
const fn block(
    name: &'static str,
    elements: u32,
    bytes: u32,
    others: &'static [&'static str],
) -> DtypeRow {
    DtypeRow {
        block: Some(ElementBlock { bytes, elements }),
        others,
        ..row(name, DtypeKind::Block, 0)
    }
}

impl DtypeRow {
    const fn array(self, name: &'static str) -> DtypeRow {
        DtypeRow { array: Some(name), ..self }
    }

    const fn safetensors(self, name: &'static str) -> DtypeRow {
        DtypeRow { safetensors: Some(name), ..self }
    }

    const fn dlpack(self, code: u8) -> DtypeRow {
        DtypeRow { dlpack: Some(code), ..self }
    }

    const fn also(self, others: &'static [&'static str]) -> DtypeRow {
        DtypeRow { others, ..self }
    }
}

const F16: Float = Float::new(5, 10, Ends::Infinite);
const BF16: Float = Float::new(8, 7, Ends::Infinite);
const F32: Float = Float::new(8, 23, Ends::Infinite);
const F64: Float = Float::new(11, 52, Ends::Infinite);

macro_rules! dtypes {
    ($($(#[$doc:meta])* $variant:ident = $row:expr;)*) => {
        /// The type of the elements of an array.
        ///
        /// Names are XLA's if XLA has the type. The enum is non-exhaustive: types may be added.
        ///
        /// ```
        /// use tilewright_core::{Dtype, DtypeKind};
        /// let dtype: Dtype = "float16".parse().unwrap();
        /// assert_eq!((dtype, dtype.name(), dtype.bits()), (Dtype::F16, "f16", Some(16)));
        /// // 32 elements in 18 bytes.
        /// let block = Dtype::Q4_0.block().unwrap();
        /// assert_eq!((Dtype::Q4_0.kind(), block.elements, block.bytes), (DtypeKind::Block, 32, 18));
        /// ```
        #[must_use]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Dtype { $($(#[$doc])* $variant,)* }

        /// The rows, in the order of the variants.
        const ROWS: &[DtypeRow] = &[$($row,)*];

        /// The variants, in the order of the rows.
        pub(super) const ALL: &[Dtype] = &[$(Dtype::$variant,)*];
    };
}

impl Dtype {
    pub(super) const fn row(self) -> &'static DtypeRow {
        &ROWS[self as usize]
    }
}

dtypes! {
    /// A truth value; 1 bit, stored in a byte.
    Pred = row("pred", DtypeKind::Bool, 1).array("bool").safetensors("BOOL").dlpack(6);
    /// Signed integer of 1 bit: 0 and −1.
    S1 = signed("s1", 1).also(&["int1"]);
    /// Signed integer of 2 bits.
    S2 = signed("s2", 2).array("int2");
    /// Signed integer of 4 bits.
    S4 = signed("s4", 4).array("int4");
    /// Signed integer of 8 bits.
    S8 = signed("s8", 8).array("int8").safetensors("I8");
    /// Signed integer of 16 bits.
    S16 = signed("s16", 16).array("int16").safetensors("I16").also(&["short"]);
    /// Signed integer of 32 bits.
    S32 = signed("s32", 32).array("int32").safetensors("I32").also(&["int"]);
    /// Signed integer of 64 bits.
    S64 = signed("s64", 64).array("int64").safetensors("I64").also(&["long"]);
    /// Unsigned integer of 1 bit.
    U1 = unsigned("u1", 1).also(&["uint1"]);
    /// Unsigned integer of 2 bits.
    U2 = unsigned("u2", 2).array("uint2");
    /// Unsigned integer of 4 bits.
    U4 = unsigned("u4", 4).array("uint4");
    /// Unsigned integer of 8 bits.
    U8 = unsigned("u8", 8).array("uint8").safetensors("U8");
    /// Unsigned integer of 16 bits.
    U16 = unsigned("u16", 16).array("uint16").safetensors("U16");
    /// Unsigned integer of 32 bits.
    U32 = unsigned("u32", 32).array("uint32").safetensors("U32");
    /// Unsigned integer of 64 bits.
    U64 = unsigned("u64", 64).array("uint64").safetensors("U64");
    /// IEEE 754 binary16.
    F16 = float("f16", F16).array("float16").safetensors("F16").dlpack(2)
        .also(&["fp16", "half", "halffloat"]);
    /// bfloat16: the upper half of a binary32.
    Bf16 = float("bf16", BF16).array("bfloat16").safetensors("BF16").dlpack(4);
    /// IEEE 754 binary32.
    F32 = float("f32", F32).array("float32").safetensors("F32").dlpack(2).also(&["fp32", "float"]);
    /// IEEE 754 binary64.
    F64 = float("f64", F64).array("float64").safetensors("F64").dlpack(2).also(&["fp64", "double"]);
    /// Complex number of two binary32.
    C64 = complex("c64", F32).array("complex64").safetensors("C64").also(&["cfloat"]);
    /// Complex number of two binary64.
    C128 = complex("c128", F64).array("complex128").also(&["C128", "cdouble"]);
    /// Float of 8 bits, 5 of them exponent and 2 mantissa: with infinities.
    F8e5m2 = float("f8e5m2", Float::new(5, 2, Ends::Infinite)).array("float8_e5m2")
        .safetensors("F8_E5M2").dlpack(12).also(&["e5m2", "fp8_e5m2", "fp8e5m2"]);
    /// Float of 8 bits, 4 of them exponent and 3 mantissa: with infinities.
    F8e4m3 = float("f8e4m3", Float::new(4, 3, Ends::Infinite)).array("float8_e4m3").dlpack(8);
    /// Float of 8 bits, 4 of them exponent and 3 mantissa: finite, NaN 0x7f and 0xff. The plain names `fp8` and `e4m3`
    /// mean this type.
    F8e4m3fn = float("f8e4m3fn", Float::new(4, 3, Ends::OneNan)).array("float8_e4m3fn")
        .safetensors("F8_E4M3").dlpack(10)
        .also(&["F8_E4M3FN", "fp8", "e4m3", "e4m3fn", "fp8_e4m3", "fp8e4m3", "fp8_e4m3fn"]);
    /// Float of 8 bits, 4 of them exponent and 3 mantissa: finite, bias 11, one zero, NaN 0x80.
    F8e4m3b11fnuz = float("f8e4m3b11fnuz", Float::new(4, 3, Ends::NoMinusZero).biased(11))
        .array("float8_e4m3b11fnuz").dlpack(9);
    /// Float of 8 bits, 4 of them exponent and 3 mantissa: finite, bias 8, one zero, NaN 0x80.
    F8e4m3fnuz = float("f8e4m3fnuz", Float::new(4, 3, Ends::NoMinusZero))
        .array("float8_e4m3fnuz").safetensors("F8_E4M3FNUZ").dlpack(11).also(&["e4m3fnuz"]);
    /// Float of 8 bits, 5 of them exponent and 2 mantissa: finite, bias 16, one zero, NaN 0x80.
    F8e5m2fnuz = float("f8e5m2fnuz", Float::new(5, 2, Ends::NoMinusZero))
        .array("float8_e5m2fnuz").safetensors("F8_E5M2FNUZ").dlpack(13).also(&["e5m2fnuz"]);
    /// Float of 8 bits, 3 of them exponent and 4 mantissa: with infinities.
    F8e3m4 = float("f8e3m4", Float::new(3, 4, Ends::Infinite)).array("float8_e3m4").dlpack(7)
        .also(&["e3m4"]);
    /// A scale of 8 bits, all of them exponent: powers of two from 2⁻¹²⁷ to 2¹²⁷, NaN 0xff.
    F8e8m0fnu = float("f8e8m0fnu", Float::new(8, 0, Ends::Unsigned)).array("float8_e8m0fnu")
        .safetensors("F8_E8M0").dlpack(14)
        .also(&["f8e8m0", "float8_e8m0", "fp8_e8m0", "e8m0", "e8m0fnu", "ue8m0"]);
    /// Float of 6 bits, 2 of them exponent and 3 mantissa: finite, without NaN.
    F6e2m3fn = float("f6e2m3fn", Float::new(2, 3, Ends::Finite)).array("float6_e2m3fn")
        .safetensors("F6_E2M3").dlpack(15)
        .also(&["f6e2m3", "float6_e2m3", "fp6_e2m3", "fp6e2m3", "e2m3", "e2m3fn"]);
    /// Float of 6 bits, 3 of them exponent and 2 mantissa: finite, without NaN.
    F6e3m2fn = float("f6e3m2fn", Float::new(3, 2, Ends::Finite)).array("float6_e3m2fn")
        .safetensors("F6_E3M2").dlpack(16)
        .also(&["f6e3m2", "float6_e3m2", "fp6_e3m2", "fp6e3m2", "e3m2", "e3m2fn"]);
    /// Float of 4 bits, 2 of them exponent and 1 mantissa: finite, without NaN.
    F4e2m1fn = float("f4e2m1fn", Float::new(2, 1, Ends::Finite)).array("float4_e2m1fn")
        .safetensors("F4").dlpack(17)
        .also(&["F4_E2M1", "f4e2m1", "float4_e2m1", "fp4", "fp4_e2m1", "fp4e2m1", "e2m1", "e2m1fn"]);
    /// NormalFloat of 4 bits: an index into a table of 16 values from −1 to 1. Source: QLoRA (2023), appendix E.
    Nf4 = row("nf4", DtypeKind::Codebook, 4).also(&["normal_float4", "NF4"]);
    // Block types from here on. Source: ggml, `ggml-common.h`; `gguf-py/gguf/constants.py`.
    /// 32 elements of 4 bits with a scale.
    Q4_0 = block("q4_0", 32, 18, &["Q4_0"]);
    /// 32 elements of 4 bits with a scale and a minimum.
    Q4_1 = block("q4_1", 32, 20, &["Q4_1"]);
    /// 32 elements of 5 bits with a scale.
    Q5_0 = block("q5_0", 32, 22, &["Q5_0"]);
    /// 32 elements of 5 bits with a scale and a minimum.
    Q5_1 = block("q5_1", 32, 24, &["Q5_1"]);
    /// 32 elements of 8 bits with a scale.
    Q8_0 = block("q8_0", 32, 34, &["Q8_0"]);
    /// 32 elements of 8 bits with a scale and a sum, two binary16; used in arithmetic, not in files.
    Q8_1 = block("q8_1", 32, 36, &["Q8_1"]);
    /// 256 elements of 2 bits with scales and minima in two levels.
    Q2K = block("q2_k", 256, 84, &["q2_K", "Q2_K"]);
    /// 256 elements of 3 bits with scales in two levels.
    Q3K = block("q3_k", 256, 110, &["q3_K", "Q3_K"]);
    /// 256 elements of 4 bits with scales and minima in two levels.
    Q4K = block("q4_k", 256, 144, &["q4_K", "Q4_K"]);
    /// 256 elements of 5 bits with scales and minima in two levels.
    Q5K = block("q5_k", 256, 176, &["q5_K", "Q5_K"]);
    /// 256 elements of 6 bits with scales in two levels.
    Q6K = block("q6_k", 256, 210, &["q6_K", "Q6_K"]);
    /// 256 elements of 8 bits with a scale and sums.
    Q8K = block("q8_k", 256, 292, &["q8_K", "Q8_K"]);
    /// 256 elements of 2.06 bits by a codebook.
    Iq2Xxs = block("iq2_xxs", 256, 66, &["IQ2_XXS"]);
    /// 256 elements of 2.31 bits by a codebook.
    Iq2Xs = block("iq2_xs", 256, 74, &["IQ2_XS"]);
    /// 256 elements of 2.56 bits by a codebook.
    Iq2S = block("iq2_s", 256, 82, &["IQ2_S"]);
    /// 256 elements of 3.06 bits by a codebook.
    Iq3Xxs = block("iq3_xxs", 256, 98, &["IQ3_XXS"]);
    /// 256 elements of 3.44 bits by a codebook.
    Iq3S = block("iq3_s", 256, 110, &["IQ3_S"]);
    /// 256 elements of 1.56 bits by a codebook.
    Iq1S = block("iq1_s", 256, 50, &["IQ1_S"]);
    /// 256 elements of 1.75 bits by a codebook.
    Iq1M = block("iq1_m", 256, 56, &["IQ1_M"]);
    /// 32 elements of 4 bits by a codebook.
    Iq4Nl = block("iq4_nl", 32, 18, &["IQ4_NL"]);
    /// 256 elements of 4 bits by a codebook, scales in two levels.
    Iq4Xs = block("iq4_xs", 256, 136, &["IQ4_XS"]);
    /// 256 ternary elements, five in a byte.
    Tq1_0 = block("tq1_0", 256, 54, &["TQ1_0"]);
    /// 256 ternary elements, four in a byte.
    Tq2_0 = block("tq2_0", 256, 66, &["TQ2_0"]);
    /// 32 elements `f4e2m1fn` with a scale `f8e8m0fnu`.
    Mxfp4 = block("mxfp4", 32, 17, &["MXFP4"]);
    /// 64 elements `f4e2m1fn` with a scale of 8 bits for every 16.
    Nvfp4 = block("nvfp4", 64, 36, &["NVFP4"]);
    /// 128 elements of 1 bit with a scale.
    Q1_0 = block("q1_0", 128, 18, &["Q1_0"]);
}

impl Dtype {
    /// Returns the type with this spelling: its standard name, its name in files or arrays, or another spelling of the
    /// table. Spellings are exact: `U8` and `u8` are one type, `I8` and `i8` are not.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// let spelled = ["bf16", "BF16", "bfloat16"].map(Dtype::spelled);
    /// assert_eq!(spelled, [Some(Dtype::Bf16); 3]);
    /// // The finite type, unless the name says otherwise.
    /// assert_eq!(["fp8", "e4m3", "F8_E4M3"].map(Dtype::spelled), [Some(Dtype::F8e4m3fn); 3]);
    /// assert_eq!(Dtype::spelled("f8e4m3"), Some(Dtype::F8e4m3));
    /// assert_eq!(Dtype::spelled("tuple"), None);
    /// ```
    pub fn spelled(text: &str) -> Option<Dtype> {
        Dtype::all().find(|dtype| dtype.spellings().any(|spelling| spelling == text))
    }

    /// Returns the type with this standard name.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!(Dtype::named("f8e4m3fn"), Some(Dtype::F8e4m3fn));
    /// assert_eq!((Dtype::named("F32"), Dtype::named("float32")), (None, None));
    /// ```
    pub fn named(name: &str) -> Option<Dtype> {
        Dtype::all().find(|dtype| dtype.name() == name)
    }

    /// Iterates over every spelling of the type, the standard name first.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert!(Dtype::F32.spellings().eq(["f32", "F32", "float32", "fp32", "float"]));
    /// ```
    pub fn spellings(self) -> impl Iterator<Item = &'static str> {
        let row = self.row();
        let names = row.safetensors.into_iter().chain(row.array);
        core::iter::once(row.name).chain(names).chain(row.others.iter().copied())
    }

    /// Iterates over the types that a misspelled name may mean: those of the kind that its first letters indicate (`uint`:
    /// unsigned integers), or all if they indicate none. Suggestions from these types are of the same kind.
    ///
    /// ```
    /// use tilewright_core::{Dtype, DtypeKind};
    /// assert!(Dtype::like("uint33").all(|dtype| dtype.kind() == DtypeKind::Unsigned));
    /// assert!(Dtype::like("Float33").all(|dtype| dtype.kind() == DtypeKind::Float));
    /// assert_eq!(Dtype::like("what").count(), Dtype::all().count());
    /// ```
    pub fn like(text: &str) -> impl Iterator<Item = Dtype> {
        let kind = kind_of_letters(letters(text));
        Dtype::all().filter(move |dtype| kind.is_none_or(|kind| dtype.kind() == kind))
    }
}

/// Returns the letters that a name begins with.
fn letters(text: &str) -> &str {
    let end = text.bytes().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(text.len());
    text.get(..end).unwrap_or("")
}

/// Returns the kind of the types with a spelling that begins with exactly these letters, in either case, if all agree.
fn kind_of_letters(start: &str) -> Option<DtypeKind> {
    let begins = |dtype: &Dtype| {
        dtype.spellings().any(|spelling| letters(spelling).eq_ignore_ascii_case(start))
    };
    let kind = Dtype::all().find(begins)?.kind();
    Dtype::all().filter(begins).all(|dtype| dtype.kind() == kind).then_some(kind)
}

/// Reads a spelling; see [`Dtype::spelled`].
impl FromStr for Dtype {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Dtype, ParseError> {
        Dtype::spelled(text).ok_or_else(|| {
            let message = "unknown element type; examples are `f32`, `bf16`, `s8`, `pred`";
            let cased = |spelling: &&str| spelling.eq_ignore_ascii_case(text);
            let nearest = Dtype::like(text).flat_map(Dtype::spellings).find(cased);
            ParseError::new((0, text.len()), message, []).with_nearest(nearest.unwrap_or(""))
        })
    }
}

impl Dtype {
    /// Returns the type of an array-interface code without its byte order: a letter (`b`, `i`, `u`, `f`, `c`) and a size in
    /// bytes.
    ///
    /// Source: NumPy, "The array interface protocol", `typestr`.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!(Dtype::of_array_code('f', 4), Some(Dtype::F32));
    /// assert_eq!(Dtype::of_array_code('b', 1), Some(Dtype::Pred));
    /// assert_eq!(Dtype::of_array_code('V', 2), None);
    /// ```
    pub fn of_array_code(letter: char, bytes: u64) -> Option<Dtype> {
        Dtype::all().find(|dtype| dtype.array_code() == Some((letter, bytes)))
    }

    /// Returns the array-interface code without its byte order; `None` if the protocol lacks the type.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!(Dtype::S16.array_code(), Some(('i', 2)));
    /// // Types without a letter in the protocol are passed as raw bytes.
    /// assert_eq!((Dtype::Bf16.array_code(), Dtype::S4.array_code()), (None, None));
    /// ```
    pub fn array_code(self) -> Option<(char, u64)> {
        let letter = match self.kind() {
            DtypeKind::Bool => 'b',
            DtypeKind::Signed => 'i',
            DtypeKind::Unsigned => 'u',
            // The IEEE 754 floats are those that DLPack also calls floats.
            DtypeKind::Float if self.dlpack_code() == Some(IEEE) => 'f',
            DtypeKind::Complex => 'c',
            DtypeKind::Float | DtypeKind::Codebook | DtypeKind::Block => return None,
        };
        let bits = self.packed_bits()?;
        bits.is_multiple_of(8).then_some((letter, u64::from(bits / 8)))
    }

    /// Returns the type of a DLPack code (`DLDataTypeCode`) with this width in bits and one lane. DLPack packs types
    /// narrower than a byte; truth values have 8 bits.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!(Dtype::of_dlpack_code(2, 16), Some(Dtype::F16));
    /// assert_eq!(Dtype::of_dlpack_code(4, 16), Some(Dtype::Bf16));
    /// assert_eq!(Dtype::of_dlpack_code(2, 48), None);
    /// ```
    pub fn of_dlpack_code(code: u64, bits: u64) -> Option<Dtype> {
        let is = |dtype: &Dtype| {
            dtype.dlpack_code().map(u64::from) == Some(code)
                && dtype.packed_bits().map(u64::from) == Some(bits)
        };
        Dtype::all().find(is)
    }

    /// Returns the DLPack code; `None` if DLPack lacks the type.
    ///
    /// Source: DLPack, `include/dlpack/dlpack.h`, `DLDataTypeCode`.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!((Dtype::F32.dlpack_code(), Dtype::F8e4m3fn.dlpack_code()), (Some(2), Some(10)));
    /// assert_eq!(Dtype::Q4_0.dlpack_code(), None);
    /// ```
    pub const fn dlpack_code(self) -> Option<u8> {
        self.row().dlpack
    }
}

/// DLPack's `kDLFloat`.
const IEEE: u8 = 2;

#[cfg(test)]
mod tests {
    use std::{string::String, vec::Vec};

    use super::*;

    #[test]
    fn every_spelling_has_one_meaning() {
        for dtype in Dtype::all() {
            for spelling in dtype.spellings() {
                assert_eq!(Dtype::spelled(spelling), Some(dtype), "{spelling}");
                assert_eq!(spelling.parse(), Ok(dtype));
            }
            assert_eq!(Dtype::named(dtype.name()), Some(dtype));
        }
    }

    #[test]
    fn what_differs_in_case_alone_is_one_type() {
        for a in Dtype::all() {
            for b in Dtype::all().filter(|b| *b != a) {
                let same = |a: &str| b.spellings().any(|b| a.eq_ignore_ascii_case(b));
                assert!(!a.spellings().any(same), "{a} {b}");
            }
        }
    }

    #[test]
    fn a_misspelling_keeps_its_kind() {
        for dtype in Dtype::all() {
            for spelling in dtype.spellings() {
                // Another width after the same letters.
                let wrong = std::format!("{}999", letters(spelling));
                let found = kind_of_letters(letters(&wrong));
                assert_eq!(found, Some(dtype.kind()), "{wrong}");
            }
        }
        for text in ["", "4bit", "é", "xyz"] {
            assert_eq!(Dtype::like(text).count(), Dtype::all().count(), "{text}");
        }
    }

    #[test]
    fn another_case_is_suggested() {
        let error = "Bf16".parse::<Dtype>().unwrap_err();
        assert_eq!((error.nearest(), error.span()), (Some("bf16"), (0, 4)));
        assert_eq!("f99".parse::<Dtype>().unwrap_err().nearest(), None);
    }

    #[test]
    fn codes_come_back() {
        for dtype in Dtype::all() {
            if let Some((letter, bytes)) = dtype.array_code() {
                assert_eq!(Dtype::of_array_code(letter, bytes), Some(dtype));
            }
            if let Some(code) = dtype.dlpack_code() {
                let bits = dtype.packed_bits().unwrap();
                assert_eq!(Dtype::of_dlpack_code(code.into(), bits.into()), Some(dtype));
            }
        }
    }

    #[test]
    fn the_codes_of_the_protocol_are_these() {
        let codes: Vec<String> = Dtype::all()
            .filter_map(|dtype| {
                dtype.array_code().map(|(letter, bytes)| std::format!("{letter}{bytes}"))
            })
            .collect();
        let known =
            ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"];
        assert_eq!(codes, known);
    }
}
