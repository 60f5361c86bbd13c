//! XLA's types: their numbers, the element type of the core for each, and the bit patterns that padding promises: a
//! type's one, lowest and highest value.
//!
//! Source: `xla_data.proto`, `PrimitiveType`.

use std::{fmt, str::FromStr};

use tilewright_core::{Dtype, Error, Fill, ParseError};

use Is::{Array, Other};
use PrimitiveType::*;

/// XLA's types: the element types of arrays, and the kinds of shapes that are not arrays.
///
/// Source: XLA's `xla_data.proto`, `PrimitiveType`.
///
/// ```
/// use tilewright_xla::PrimitiveType;
/// let packed = PrimitiveType::from_name("s4").unwrap();
/// assert_eq!((packed.number(), packed.bits(), packed.storage_bits()), (21, Some(4), Some(8)));
/// // Names are lower-case.
/// assert_eq!(PrimitiveType::from_name("S4"), None);
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PrimitiveType {
    /// No type: the proto default.
    Invalid = 0,
    /// A truth value; 1 bit, stored in a byte.
    Pred = 1,
    /// Signed integer of 8 bits.
    S8 = 2,
    /// Signed integer of 16 bits.
    S16 = 3,
    /// Signed integer of 32 bits.
    S32 = 4,
    /// Signed integer of 64 bits.
    S64 = 5,
    /// Unsigned integer of 8 bits.
    U8 = 6,
    /// Unsigned integer of 16 bits.
    U16 = 7,
    /// Unsigned integer of 32 bits.
    U32 = 8,
    /// Unsigned integer of 64 bits.
    U64 = 9,
    /// IEEE 754 binary16.
    F16 = 10,
    /// IEEE 754 binary32.
    F32 = 11,
    /// IEEE 754 binary64.
    F64 = 12,
    /// The type of a tuple shape.
    Tuple = 13,
    /// A value of unknown type.
    Opaque = 14,
    /// Complex number of two 32-bit floats.
    C64 = 15,
    /// bfloat16: 8 exponent and 7 mantissa bits.
    Bf16 = 16,
    /// An ordering token.
    Token = 17,
    /// Complex number of two 64-bit floats.
    C128 = 18,
    /// Float of 8 bits, 5 exponent and 2 mantissa bits: with infinities.
    F8e5m2 = 19,
    /// Float of 8 bits, 4 exponent and 3 mantissa bits: finite, NaN 0x7f and 0xff.
    F8e4m3fn = 20,
    /// Signed integer of 4 bits.
    S4 = 21,
    /// Unsigned integer of 4 bits.
    U4 = 22,
    /// Float of 8 bits, 4 exponent and 3 mantissa bits: finite, bias 11, one zero, NaN 0x80.
    F8e4m3b11fnuz = 23,
    /// Float of 8 bits, 5 exponent and 2 mantissa bits: finite, bias 16, one zero, NaN 0x80.
    F8e5m2fnuz = 24,
    /// Float of 8 bits, 4 exponent and 3 mantissa bits: finite, bias 8, one zero, NaN 0x80.
    F8e4m3fnuz = 25,
    /// Signed integer of 2 bits.
    S2 = 26,
    /// Unsigned integer of 2 bits.
    U2 = 27,
    /// Float of 8 bits, 4 exponent and 3 mantissa bits: with infinities.
    F8e4m3 = 28,
    /// Float of 8 bits, 3 exponent and 4 mantissa bits: with infinities.
    F8e3m4 = 29,
    /// Signed integer of 1 bit.
    S1 = 30,
    /// Unsigned integer of 1 bit.
    U1 = 31,
    /// Float of 4 bits, 2 exponent and 1 mantissa bits: finite, without NaN.
    F4e2m1fn = 32,
    /// Float of 8 bits, 8 exponent and 0 mantissa bits: unsigned powers of two, 2⁻¹²⁷ to 2¹²⁷, NaN 0xff.
    F8e8m0fnu = 33,
    /// The type of a mutable reference to an array.
    Buffer = 34,
}

/// The meaning of a type.
#[derive(Clone, Copy)]
enum Is {
    /// A type of elements, with the names and widths that the core lists.
    Array(Dtype),
    /// A kind of shape that is not an array, with its name in text.
    Other(&'static str),
}

/// Every type, in the order of the proto numbers.
const TABLE: [(PrimitiveType, Is); 35] = [
    (Invalid, Other("primitive_type_invalid")),
    (Pred, Array(Dtype::Pred)),
    (S8, Array(Dtype::S8)),
    (S16, Array(Dtype::S16)),
    (S32, Array(Dtype::S32)),
    (S64, Array(Dtype::S64)),
    (U8, Array(Dtype::U8)),
    (U16, Array(Dtype::U16)),
    (U32, Array(Dtype::U32)),
    (U64, Array(Dtype::U64)),
    (F16, Array(Dtype::F16)),
    (F32, Array(Dtype::F32)),
    (F64, Array(Dtype::F64)),
    (Tuple, Other("tuple")),
    (Opaque, Other("opaque")),
    (C64, Array(Dtype::C64)),
    (Bf16, Array(Dtype::Bf16)),
    (Token, Other("token")),
    (C128, Array(Dtype::C128)),
    (F8e5m2, Array(Dtype::F8e5m2)),
    (F8e4m3fn, Array(Dtype::F8e4m3fn)),
    (S4, Array(Dtype::S4)),
    (U4, Array(Dtype::U4)),
    (F8e4m3b11fnuz, Array(Dtype::F8e4m3b11fnuz)),
    (F8e5m2fnuz, Array(Dtype::F8e5m2fnuz)),
    (F8e4m3fnuz, Array(Dtype::F8e4m3fnuz)),
    (S2, Array(Dtype::S2)),
    (U2, Array(Dtype::U2)),
    (F8e4m3, Array(Dtype::F8e4m3)),
    (F8e3m4, Array(Dtype::F8e3m4)),
    (S1, Array(Dtype::S1)),
    (U1, Array(Dtype::U1)),
    (F4e2m1fn, Array(Dtype::F4e2m1fn)),
    (F8e8m0fnu, Array(Dtype::F8e8m0fnu)),
    (Buffer, Other("buffer")),
];

impl PrimitiveType {
    /// Iterates over every type, in the order of the proto numbers.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// let floats = PrimitiveType::all().filter(|kind| kind.name().starts_with("f8"));
    /// assert!(floats.count() >= 7);
    /// ```
    pub fn all() -> impl Iterator<Item = PrimitiveType> {
        TABLE.iter().map(|&(primitive, _)| primitive)
    }

    /// Returns the number in the proto enum.
    ///
    /// Source: `xla_data.proto`, `PrimitiveType`.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert_eq!((PrimitiveType::F32.number(), PrimitiveType::Bf16.number()), (11, 16));
    /// ```
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// Returns the type with this number in the proto enum.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert_eq!(PrimitiveType::from_number(16), Some(PrimitiveType::Bf16));
    /// assert_eq!(PrimitiveType::from_number(99), None);
    /// ```
    pub fn from_number(number: i32) -> Option<PrimitiveType> {
        let row = TABLE.get(usize::try_from(number).ok()?)?;
        Some(row.0)
    }

    /// Returns the name in HLO text.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert_eq!((PrimitiveType::Bf16.name(), PrimitiveType::Pred.name()), ("bf16", "pred"));
    /// ```
    pub const fn name(self) -> &'static str {
        match TABLE[self as usize].1 {
            Array(dtype) => dtype.name(),
            Other(name) => name,
        }
    }

    /// Returns the element type; `None` for a kind of shape that is not an array.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_xla::PrimitiveType;
    /// assert_eq!(PrimitiveType::Bf16.dtype(), Some(Dtype::Bf16));
    /// assert_eq!(PrimitiveType::Token.dtype(), None);
    /// ```
    pub const fn dtype(self) -> Option<Dtype> {
        match TABLE[self as usize].1 {
            Array(dtype) => Some(dtype),
            Other(_) => None,
        }
    }

    /// Returns XLA's type of these elements; `None` if XLA lacks the type.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_xla::PrimitiveType;
    /// assert_eq!(PrimitiveType::of_dtype(Dtype::F8e4m3fn), Some(PrimitiveType::F8e4m3fn));
    /// // XLA has no floats of 6 bits and no blocks.
    /// assert_eq!(PrimitiveType::of_dtype(Dtype::F6e2m3fn), None);
    /// ```
    pub fn of_dtype(dtype: Dtype) -> Option<PrimitiveType> {
        PrimitiveType::all().find(|primitive| primitive.dtype() == Some(dtype))
    }

    /// Returns the type with this name in HLO text; names are lower-case.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert_eq!(PrimitiveType::from_name("f8e4m3fn"), Some(PrimitiveType::F8e4m3fn));
    /// assert_eq!(PrimitiveType::from_name("F32"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<PrimitiveType> {
        PrimitiveType::all().find(|primitive| primitive.name() == name)
    }

    /// Returns the width of a value in bits; 1 for `pred`; `None` for a type without values of its own (tuple, token,
    /// opaque, buffer, invalid).
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert_eq!((PrimitiveType::S4.bits(), PrimitiveType::C64.bits()), (Some(4), Some(64)));
    /// assert_eq!((PrimitiveType::Pred.bits(), PrimitiveType::Token.bits()), (Some(1), None));
    /// ```
    #[doc(alias = "BitWidth")]
    pub const fn bits(self) -> Option<u32> {
        match self.dtype() {
            Some(dtype) => dtype.bits(),
            None => None,
        }
    }

    /// Returns the default width of an element in storage, in bits: whole bytes, so 8 for every narrower type.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// // Half of each byte is unused unless the layout has `E(4)`.
    /// assert_eq!((PrimitiveType::S4.storage_bits(), PrimitiveType::S4.bits()), (Some(8), Some(4)));
    /// assert_eq!(PrimitiveType::Token.storage_bits(), None);
    /// ```
    pub const fn storage_bits(self) -> Option<u32> {
        match self.dtype() {
            Some(dtype) => dtype.storage_bits(),
            None => None,
        }
    }

    /// Returns whether arrays may have this element type.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert!(PrimitiveType::Pred.is_array() && PrimitiveType::C128.is_array());
    /// assert!(!PrimitiveType::Tuple.is_array() && !PrimitiveType::Token.is_array());
    /// ```
    pub const fn is_array(self) -> bool {
        self.dtype().is_some()
    }

    /// Returns the name closest to a word that is not a name: that of another spelling of the type, in either case, `i`
    /// for `s`, or one edit away (a letter added, dropped or replaced, or two neighbours swapped) among the types of the kind
    /// that the letters indicate.
    pub(crate) fn nearest(word: &str) -> Option<&'static str> {
        let lower = word.to_ascii_lowercase();
        let signed = lower.strip_prefix('i').map(|width| format!("s{width}"));
        let words = [word.to_owned(), lower.clone()].into_iter().chain(signed);
        words
            .filter_map(|word| Dtype::spelled(&word).and_then(PrimitiveType::of_dtype))
            .chain(
                Dtype::like(&lower)
                    .filter_map(PrimitiveType::of_dtype)
                    .filter(|primitive| is_near(primitive.name(), &lower)),
            )
            .next()
            .map(PrimitiveType::name)
    }
}

/// Returns whether the words are at most one edit apart; long words are not compared.
fn is_near(a: &str, b: &str) -> bool {
    b.len() <= a.len() + 1 && strsim::osa_distance(a, b) <= 1
}

impl fmt::Display for PrimitiveType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for PrimitiveType {
    type Err = ParseError;

    fn from_str(name: &str) -> Result<PrimitiveType, ParseError> {
        PrimitiveType::from_name(name).ok_or_else(|| {
            let error =
                ParseError::new((0, name.len()), "expected an element type such as `f32`", []);
            error.with_nearest(PrimitiveType::nearest(name).unwrap_or(""))
        })
    }
}

impl PrimitiveType {
    /// Returns the bit pattern of the lowest value: −∞ for floats that have it, otherwise the lowest finite value. `None`
    /// for complex numbers, which have no order, and for types without values.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert_eq!(PrimitiveType::F32.lowest(), Some(u128::from(f32::NEG_INFINITY.to_bits())));
    /// assert_eq!(PrimitiveType::F8e4m3fn.lowest(), Some(0xfe));
    /// assert_eq!(PrimitiveType::C64.lowest(), None);
    /// ```
    pub fn lowest(self) -> Option<u128> {
        self.dtype()?.lowest()
    }

    /// Returns the bit pattern of the highest value: +∞ for floats that have it, otherwise the highest finite value.
    /// `None` for complex numbers, which have no order, and for types without values.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// // Infinity in f32; the finite 448 in a type without infinity.
    /// assert_eq!(PrimitiveType::F32.highest(), Some(u128::from(f32::INFINITY.to_bits())));
    /// assert_eq!(PrimitiveType::F8e4m3fn.highest(), Some(0x7e));
    /// assert_eq!(PrimitiveType::S8.highest(), Some(0x7f));
    /// ```
    pub fn highest(self) -> Option<u128> {
        self.dtype()?.highest()
    }

    /// Returns the bit pattern of one, and of 1 + 0i for complex numbers. `None` for `s1`, whose values are 0 and −1, and
    /// for types without values.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert_eq!(PrimitiveType::F32.one(), Some(u128::from(1_f32.to_bits())));
    /// // bf16 is the upper half of an f32.
    /// assert_eq!(PrimitiveType::Bf16.one(), Some(0x3f80));
    /// assert_eq!(PrimitiveType::S1.one(), None);
    /// ```
    pub fn one(self) -> Option<u128> {
        self.dtype()?.one()
    }

    /// Returns the bit pattern of a fill, in the low bits; 0 for [`Fill::Unspecified`] and [`Fill::Unknown`].
    /// [`Fill::Zero`] is the all-zero pattern, which `f8e8m0fnu`, a type without a zero, reads as 2⁻¹²⁷. Equal to
    /// [`Dtype::fill_bits`](tilewright_core::Dtype::fill_bits).
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for [`Fill::Bits`] wider than the type;
    /// [unsupported](Error::is_unsupported) for a type without such a value.
    ///
    /// ```
    /// use tilewright_core::Fill;
    /// use tilewright_xla::PrimitiveType;
    /// assert_eq!(PrimitiveType::Bf16.fill_bits(Fill::One), Ok(0x3f80));
    /// assert!(PrimitiveType::U8.fill_bits(Fill::Bits(0x100)).unwrap_err().is_out_of_range());
    /// assert!(PrimitiveType::C64.fill_bits(Fill::Lowest).unwrap_err().is_unsupported());
    /// ```
    pub fn fill_bits(self, fill: Fill) -> Result<u128, Error> {
        match self.dtype() {
            Some(dtype) => dtype.fill_bits(fill),
            None => {
                let message = "a type without values cannot be filled with one";
                Err(Error::unsupported(message, [], ""))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_identify_a_type() {
        for (number, primitive) in PrimitiveType::all().enumerate() {
            assert_eq!(primitive.number(), number as i32);
            assert_eq!(PrimitiveType::from_number(number as i32), Some(primitive));
            assert_eq!(primitive.name().parse(), Ok(primitive));
            assert!(
                primitive
                    .dtype()
                    .is_none_or(|dtype| PrimitiveType::of_dtype(dtype) == Some(primitive))
            );
        }
        assert_eq!(PrimitiveType::all().count(), 35);
        assert_eq!(Dtype::all().filter_map(PrimitiveType::of_dtype).count(), 30);
        assert_eq!(PrimitiveType::from_number(-1), None);
        assert_eq!(PrimitiveType::from_number(35), None);
        assert_eq!(PrimitiveType::from_number(2000), None);
    }

    #[test]
    fn widths_are_those_in_the_names() {
        for primitive in PrimitiveType::all() {
            let name = primitive.name();
            let digits: String = name
                .trim_start_matches('b')
                .chars()
                .skip(1)
                .take_while(char::is_ascii_digit)
                .collect();
            match (digits.parse(), primitive) {
                (Ok(width), _) => assert_eq!(primitive.bits(), Some(width), "{name}"),
                (Err(_), Pred) => {
                    assert_eq!((Pred.bits(), Pred.storage_bits()), (Some(1), Some(8)))
                }
                (Err(_), _) => {
                    assert_eq!((primitive.bits(), primitive.storage_bits()), (None, None))
                }
            }
        }
        assert_eq!((S4.storage_bits(), C128.storage_bits()), (Some(8), Some(128)));
    }

    #[test]
    fn a_wrong_name_gets_the_nearest() {
        for (wrong, right) in [
            ("F32", "f32"),
            ("i32", "s32"),
            ("f23", "f32"),
            ("f", ""),
            ("f33", "f32"),
            ("f3", "f32"),
            ("BF16", "bf16"),
            ("float32", "f32"),
            ("fp8", "f8e4m3fn"),
            // `s8` is as near, but of another kind.
            ("f8", ""),
            ("q4_0", ""),
        ] {
            let error = wrong.parse::<PrimitiveType>().unwrap_err();
            assert_eq!(error.nearest().unwrap_or(""), right, "{wrong}");
            assert_eq!(error.span(), (0, wrong.len()));
        }
        assert!("".parse::<PrimitiveType>().is_err());
    }

    #[test]
    fn values_are_those_of_the_element_type() {
        for primitive in PrimitiveType::all() {
            let own = [primitive.one(), primitive.lowest(), primitive.highest()];
            match primitive.dtype() {
                Some(dtype) => assert_eq!(own, [dtype.one(), dtype.lowest(), dtype.highest()]),
                None => assert_eq!(own, [None; 3], "{primitive}"),
            }
        }
    }

    #[test]
    fn fills_have_bits_or_say_why_not() {
        assert_eq!(F8e8m0fnu.fill_bits(Fill::Zero), Ok(0));
        assert_eq!(S4.fill_bits(Fill::Lowest), Ok(8));
        assert!(U4.fill_bits(Fill::Bits(0x10)).unwrap_err().is_out_of_range());
        assert!(Token.fill_bits(Fill::Zero).unwrap_err().is_unsupported());
    }
}
