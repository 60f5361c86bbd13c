//! The value of padding, and the bit patterns that it promises: a type's zero, one, lowest and highest value.

use core::{fmt, str::FromStr};

use crate::{
    Error, ParseError,
    dtype::{ByteOrder, Dtype, DtypeKind},
};

/// The pattern of a value that a type may lack.
type BitPattern = Option<u128>;

impl Dtype {
    /// Returns the bit pattern of zero; `None` for `f8e8m0fnu`, which has none, and for block types.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!((Dtype::F32.zero(), Dtype::Nf4.zero()), (Some(0), Some(7)));
    /// assert_eq!(Dtype::F8e8m0fnu.zero(), None);
    /// ```
    pub const fn zero(self) -> Option<u128> {
        match (self, self.kind()) {
            (Dtype::F8e8m0fnu, _) | (_, DtypeKind::Block) => None,
            // Source: QLoRA, appendix E: the values are in order, and zero is the eighth.
            (_, DtypeKind::Codebook) => Some(7),
            (
                _,
                DtypeKind::Bool
                | DtypeKind::Signed
                | DtypeKind::Unsigned
                | DtypeKind::Float
                | DtypeKind::Complex,
            ) => Some(0),
        }
    }

    /// Returns the bit pattern of one, and of 1 + 0i for complex numbers. `None` for `s1`, whose values are 0 and −1, and
    /// for block types.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!(Dtype::F32.one(), Some(u128::from(1_f32.to_bits())));
    /// // bf16 is the upper half of an f32.
    /// assert_eq!((Dtype::Bf16.one(), Dtype::S1.one()), (Some(0x3f80), None));
    /// ```
    pub const fn one(self) -> Option<u128> {
        match (self.kind(), self.row().float) {
            (DtypeKind::Float | DtypeKind::Complex, Some(float)) => Some(float.one()),
            (DtypeKind::Bool | DtypeKind::Unsigned, _) => Some(1),
            (DtypeKind::Signed, _) => {
                if self.row().bits > 1 {
                    Some(1)
                } else {
                    None
                }
            }
            (DtypeKind::Codebook, _) => Some(self.ones()),
            (DtypeKind::Float | DtypeKind::Complex | DtypeKind::Block, _) => None,
        }
    }

    /// Returns the bit pattern of the lowest value: −∞ for floats that have it, otherwise the lowest finite value. `None`
    /// for complex numbers, which have no order, and for block types.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!(Dtype::F32.lowest(), Some(u128::from(f32::NEG_INFINITY.to_bits())));
    /// assert_eq!((Dtype::F8e4m3fn.lowest(), Dtype::C64.lowest()), (Some(0xfe), None));
    /// ```
    pub const fn lowest(self) -> Option<u128> {
        match (self.kind(), self.row().float) {
            (DtypeKind::Float, Some(float)) => Some(float.lowest()),
            (DtypeKind::Bool | DtypeKind::Unsigned | DtypeKind::Codebook, _) => Some(0),
            (DtypeKind::Signed, _) => Some(1 << (self.row().bits - 1)),
            (DtypeKind::Float | DtypeKind::Complex | DtypeKind::Block, _) => None,
        }
    }

    /// Returns the bit pattern of the highest value: +∞ for floats that have it, otherwise the highest finite value.
    /// `None` for complex numbers, which have no order, and for block types.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// // Infinity in f32; the finite 448 in a type without infinity.
    /// assert_eq!(Dtype::F32.highest(), Some(u128::from(f32::INFINITY.to_bits())));
    /// assert_eq!((Dtype::F8e4m3fn.highest(), Dtype::S8.highest()), (Some(0x7e), Some(0x7f)));
    /// ```
    pub const fn highest(self) -> Option<u128> {
        match (self.kind(), self.row().float) {
            (DtypeKind::Float, Some(float)) => Some(float.highest()),
            (DtypeKind::Bool | DtypeKind::Unsigned | DtypeKind::Codebook, _) => Some(self.ones()),
            (DtypeKind::Signed, _) => Some(self.ones() >> 1),
            (DtypeKind::Float | DtypeKind::Complex | DtypeKind::Block, _) => None,
        }
    }

    /// Returns a value with all bits set.
    const fn ones(self) -> u128 {
        u128::MAX >> (128 - self.row().bits)
    }

    /// Returns the bit pattern of a fill, in the low bits. For [`Fill::Unspecified`] and [`Fill::Unknown`] it is the
    /// pattern of zero; a type without a zero has all bits clear.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for [`Fill::Bits`] wider than the type;
    /// [unsupported](Error::is_unsupported) for a type without such a value.
    ///
    /// ```
    /// use tilewright_core::{Dtype, Fill};
    /// assert_eq!(Dtype::Bf16.fill_bits(Fill::One), Ok(0x3f80));
    /// assert!(Dtype::U8.fill_bits(Fill::Bits(0x100)).unwrap_err().is_out_of_range());
    /// assert!(Dtype::C64.fill_bits(Fill::Lowest).unwrap_err().is_unsupported());
    /// ```
    pub fn fill_bits(self, fill: Fill) -> Result<u128, Error> {
        let (value, lacking): (BitPattern, &str) = match (fill, self.bits()) {
            (Fill::Unspecified | Fill::Unknown | Fill::Zero, _) => {
                return Ok(self.zero().unwrap_or(0));
            }
            (_, None) => (None, "elements in blocks cannot be filled one by one"),
            (Fill::Bits(bits), Some(width)) => return checked_bits(bits, width),
            (Fill::One, Some(_)) => (self.one(), "the values of s1 are 0 and -1; it has no 1"),
            (Fill::Lowest, Some(_)) => (self.lowest(), NO_ORDER),
            (Fill::Highest, Some(_)) => (self.highest(), NO_ORDER),
        };
        let legal =
            if self.kind() == DtypeKind::Block { "fill with 0" } else { "give the bits as 0xHEX" };
        value.ok_or_else(|| Error::unsupported(lacking, [], legal))
    }

    /// Returns the bit pattern of a fill in elements stored in `bits` bits. If that is wider than the value, the pattern
    /// is extended as the value would be; for big-endian order, the bytes of each number are reversed.
    ///
    /// # Errors
    /// Those of [`Dtype::fill_bits`].
    ///
    /// ```
    /// use tilewright_core::{ByteOrder, Dtype, Fill};
    /// let stored = |bits| Dtype::S4.stored_fill(Fill::Lowest, bits, ByteOrder::Little).unwrap();
    /// assert_eq!((stored(4), stored(8)), (0x8, 0xf8));
    /// assert_eq!(Dtype::F32.stored_fill(Fill::One, 32, ByteOrder::Big), Ok(0x0000_803f));
    /// ```
    pub fn stored_fill(self, fill: Fill, bits: u32, order: ByteOrder) -> Result<u128, Error> {
        let pattern = self.fill_bits(fill)?;
        let own = self.bits().unwrap_or(bits).clamp(1, 128);
        let negative = self.is_signed_integer() && pattern >> (own - 1) & 1 == 1;
        let extended = if negative && own < 128 { pattern | u128::MAX << own } else { pattern };
        let within = if bits < 128 { extended & ((1 << bits) - 1) } else { extended };
        Ok(order.stored(self, bits, within))
    }
}

const NO_ORDER: &str = "complex numbers have no order: none is the lowest or highest";

fn checked_bits(bits: u128, width: u32) -> Result<u128, Error> {
    let needed = u128::BITS - bits.leading_zeros();
    if needed > width {
        return Err(Error::out_of_range(
            "a fill of {} bits for elements of {}",
            [needed.into(), width.into()],
            "the pattern must fit one element",
        ));
    }
    Ok(bits)
}

/// The value promised for storage elements that hold no logical element.
///
/// The bit pattern depends on the element type; see [`Dtype::fill_bits`](crate::Dtype::fill_bits). The text of a fill is
/// `0`, `one`, `lowest`, `highest`, `unknown`, or `0x` and hex digits.
///
/// Source of all but `Bits`: XLA's `xla_data.proto` until 2018, `PaddingValue`.
///
/// ```
/// use tilewright_core::Fill;
/// assert_eq!(Fill::default(), Fill::Unspecified);
/// assert!(!Fill::Unspecified.is_promised() && Fill::Zero.is_promised());
/// assert_eq!("0x7fc0".parse(), Ok(Fill::Bits(0x7fc0)));
/// assert_eq!("zero".parse::<Fill>().unwrap_err().nearest(), Some("0"));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fill {
    /// No promise; written as zero.
    #[default]
    Unspecified,
    /// Zero.
    Zero,
    /// One.
    One,
    /// The lowest value of the type (for reductions by maximum): −∞ where the type has it.
    Lowest,
    /// The highest value of the type (for reductions by minimum): +∞ where the type has it.
    Highest,
    /// Promised to be arbitrary (XLA's `UNKNOWN_PAD`); written as zero.
    Unknown,
    /// This bit pattern, in the low bits.
    Bits(u128),
}

impl Fill {
    /// Returns whether a reader may rely on the value.
    ///
    /// ```
    /// use tilewright_core::Fill;
    /// // A reduction over a padded row may include zeros that are promised, but not values that only happen to be written.
    /// assert!(Fill::Zero.is_promised() && Fill::Bits(0x7fc0).is_promised());
    /// assert!(!Fill::Unspecified.is_promised() && !Fill::Unknown.is_promised());
    /// ```
    pub const fn is_promised(self) -> bool {
        match self {
            Fill::Unspecified | Fill::Unknown => false,
            Fill::Zero | Fill::One | Fill::Lowest | Fill::Highest | Fill::Bits(_) => true,
        }
    }
}

/// Writes the text that parsing reads back, or `unspecified`, which parsing does not accept.
impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fill::Unspecified => "unspecified",
            Fill::Zero => "0",
            Fill::One => "one",
            Fill::Lowest => "lowest",
            Fill::Highest => "highest",
            Fill::Unknown => "unknown",
            Fill::Bits(bits) => return write!(f, "{bits:#x}"),
        })
    }
}

impl FromStr for Fill {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Fill, ParseError> {
        Ok(match text {
            "0" => Fill::Zero,
            "one" => Fill::One,
            "lowest" => Fill::Lowest,
            "highest" => Fill::Highest,
            "unknown" => Fill::Unknown,
            _ => Fill::Bits(hex(text).ok_or_else(|| no_fill(text))?),
        })
    }
}

fn hex(text: &str) -> Option<u128> {
    let digits = text.strip_prefix("0x").filter(|digits| !digits.starts_with('+'))?;
    u128::from_str_radix(digits, 16).ok()
}

fn no_fill(text: &str) -> ParseError {
    let message = "expected a fill: 0, one, lowest, highest, unknown or 0x and up to 32 hex digits";
    ParseError::new((0, text.len()), message, []).with_nearest(match text {
        "zero" => "0",
        "1" => "one",
        "min" => "lowest",
        "max" => "highest",
        _ => "",
    })
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use Dtype::*;

    use super::*;

    #[test]
    fn patterns_fit_and_keep_their_order() {
        for dtype in Dtype::all() {
            let all = [dtype.zero(), dtype.one(), dtype.lowest(), dtype.highest()];
            let Some(width) = dtype.bits() else {
                assert_eq!(all, [None; 4], "{dtype}");
                continue;
            };
            assert!(all.into_iter().flatten().all(|bits| bits <= u128::MAX >> (128 - width)));
            assert_eq!(dtype.lowest().is_some(), dtype.kind() != DtypeKind::Complex, "{dtype}");
            assert_ne!(dtype.lowest().unwrap_or(0), dtype.highest().unwrap_or(1), "{dtype}");
            assert_eq!(dtype.one().is_none(), dtype == S1, "{dtype}");
        }
    }

    /// Decodes a small float from its definition: exponent and mantissa widths, bias, and the patterns of infinities and
    /// NaNs.
    fn decode(dtype: Dtype, code: u128) -> f64 {
        let name = dtype.name();
        let width = |letter: char| -> u32 {
            let at = name.find(letter).unwrap() + 1;
            name[at..].chars().next().unwrap().to_digit(10).unwrap()
        };
        let (e, m) = match dtype {
            F16 => (5, 10),
            Bf16 => (8, 7),
            _ => (width('e'), width('m')),
        };
        if dtype == F8e8m0fnu {
            return if code == 0xff { f64::NAN } else { 2f64.powi(code as i32 - 127) };
        }
        let nuz = name.ends_with("fnuz");
        let bias = match dtype {
            F8e4m3b11fnuz => 11,
            _ if nuz => 1 << (e - 1),
            _ => (1 << (e - 1)) - 1,
        };
        let sign = if code >> (e + m) & 1 == 1 { -1.0 } else { 1.0 };
        let (exponent, mantissa) =
            ((code >> m) as i32 & ((1 << e) - 1), (code & ((1 << m) - 1)) as i32);
        let last = exponent == (1 << e) - 1;
        if nuz && sign < 0.0 && exponent == 0 && mantissa == 0 {
            return f64::NAN;
        }
        if !name.contains("fn") && last {
            return if mantissa == 0 { sign * f64::INFINITY } else { f64::NAN };
        }
        if dtype == F8e4m3fn && last && mantissa == 7 {
            return f64::NAN;
        }
        let fraction = f64::from(mantissa) / f64::from(1 << m);
        if exponent == 0 {
            sign * fraction * 2f64.powi(1 - bias)
        } else {
            sign * (1.0 + fraction) * 2f64.powi(exponent - bias)
        }
    }

    #[test]
    fn constants_of_small_floats_are_the_extremes_over_every_code() {
        let floats = [
            F16,
            Bf16,
            F8e5m2,
            F8e4m3fn,
            F8e4m3b11fnuz,
            F8e5m2fnuz,
            F8e4m3fnuz,
            F8e4m3,
            F8e3m4,
            F6e2m3fn,
            F6e3m2fn,
            F4e2m1fn,
            F8e8m0fnu,
        ];
        for dtype in floats {
            let values = (0..1u128 << dtype.bits().unwrap()).map(|code| decode(dtype, code));
            let (low, high) = values
                .filter(|value| !value.is_nan())
                .fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
            assert_eq!(decode(dtype, dtype.lowest().unwrap()), low, "{dtype}");
            assert_eq!(decode(dtype, dtype.highest().unwrap()), high, "{dtype}");
            assert_eq!(decode(dtype, dtype.one().unwrap()), 1.0, "{dtype}");
        }
        for (dtype, highest) in [
            (F8e5m2, f64::INFINITY),
            (F8e4m3fn, 448.0),
            (F8e4m3b11fnuz, 30.0),
            (F8e5m2fnuz, 57344.0),
            (F8e4m3fnuz, 240.0),
            (F8e4m3, f64::INFINITY),
            (F8e3m4, f64::INFINITY),
            (F6e2m3fn, 7.5),
            (F6e3m2fn, 28.0),
            (F4e2m1fn, 6.0),
        ] {
            assert_eq!(decode(dtype, dtype.highest().unwrap()), highest);
            assert_eq!(decode(dtype, dtype.lowest().unwrap()), -highest);
        }
    }

    #[test]
    fn wide_floats_are_rusts() {
        let values = |dtype: Dtype| [dtype.one(), dtype.lowest(), dtype.highest()];
        let rusts = [1f32, f32::NEG_INFINITY, f32::INFINITY].map(f32::to_bits);
        assert_eq!(values(F32), rusts.map(|bits| Some(bits.into())));
        let rusts = [1f64, f64::NEG_INFINITY, f64::INFINITY].map(f64::to_bits);
        assert_eq!(values(F64), rusts.map(|bits| Some(bits.into())));
        assert_eq!((C64.one(), C128.one()), (F32.one(), F64.one()));
    }

    #[test]
    fn integers_are_twos_complement() {
        for dtype in Dtype::all().filter(|dtype| dtype.bits().is_some_and(|b| b <= 16)) {
            let (width, signed) = (dtype.bits().unwrap(), dtype.kind() == DtypeKind::Signed);
            if !signed && dtype.kind() != DtypeKind::Unsigned {
                continue;
            }
            let value = |code: u128| {
                let negative = signed && code >> (width - 1) & 1 == 1;
                code as i128 - if negative { 1 << width } else { 0 }
            };
            let codes = 0..1u128 << width;
            assert_eq!(dtype.lowest(), codes.clone().min_by_key(|&code| value(code)));
            assert_eq!(dtype.highest(), codes.clone().max_by_key(|&code| value(code)));
            assert_eq!(dtype.one(), codes.clone().find(|&code| value(code) == 1), "{dtype}");
        }
        let wide = [S64.one(), S64.lowest(), S64.highest()];
        assert_eq!(wide, [Some(1), Some(1 << 63), Some(i64::MAX as u128)]);
        assert_eq!((U64.highest(), S32.lowest()), (Some(u64::MAX.into()), Some(0x8000_0000)));
    }

    #[test]
    fn fills_are_extended_and_swapped() {
        let (little, big) = (ByteOrder::Little, ByteOrder::Big);
        let pattern =
            |dtype: Dtype, bits, fill, order| dtype.stored_fill(fill, bits, order).unwrap();
        assert_eq!(pattern(S4, 4, Fill::Lowest, little), 0x8);
        assert_eq!(pattern(S4, 8, Fill::Lowest, little), 0xF8);
        assert_eq!(pattern(U4, 8, Fill::Highest, little), 0x0F);
        assert_eq!(pattern(F32, 32, Fill::One, big), 0x0000_803F);
        assert_eq!(pattern(C64, 64, Fill::One, big), 0x0000_803F);
        assert_eq!(pattern(S64, 64, Fill::Bits(1), big), 1 << 56);
        assert_eq!(pattern(C128, 128, Fill::Bits(u128::MAX), big), u128::MAX);
        assert_eq!(pattern(Nf4, 4, Fill::Zero, little), 7);
    }

    #[test]
    fn what_a_type_lacks_is_refused() {
        for fill in [Fill::Unspecified, Fill::Unknown, Fill::Zero] {
            for dtype in Dtype::all() {
                assert_eq!(dtype.fill_bits(fill), Ok(dtype.zero().unwrap_or(0)));
            }
        }
        assert_eq!(U4.fill_bits(Fill::Bits(0xf)), Ok(0xf));
        let error = U4.fill_bits(Fill::Bits(0x10)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a fill of 5 bits for elements of 4; the pattern must fit one element"
        );
        assert!(S1.fill_bits(Fill::One).unwrap_err().is_unsupported());
        assert!(Q4_0.fill_bits(Fill::One).unwrap_err().is_unsupported());
        assert!(Q4_0.fill_bits(Fill::Bits(0)).unwrap_err().is_unsupported());
    }

    #[test]
    fn texts_are_read_back() {
        let fills = [Fill::Zero, Fill::One, Fill::Lowest, Fill::Highest, Fill::Unknown];
        for fill in fills.into_iter().chain([Fill::Bits(0), Fill::Bits(u128::MAX)]) {
            assert_eq!(fill.to_string().parse(), Ok(fill));
        }
        for wrong in ["", "unspecified", "none", "0x", "0x+1", "0X1", " 0", "2"] {
            assert_eq!(wrong.parse::<Fill>().unwrap_err().span(), (0, wrong.len()), "{wrong}");
        }
    }
}
