//! The bit patterns that padding promises: a type's one, lowest and highest value.

use tilewright_core::{Error, Fill};

use crate::PrimitiveType::{self, *};

/// One, lowest and highest of a type, as bit patterns.
type Values = (Option<u128>, Option<u128>, Option<u128>);

impl PrimitiveType {
    /// The bit pattern of the lowest value: −∞ for floats that have it, else the finite lowest.
    /// `None` for complex numbers, which have no order, and types without values.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert_eq!(PrimitiveType::F32.lowest(), Some(u128::from(f32::NEG_INFINITY.to_bits())));
    /// assert_eq!(PrimitiveType::F8e4m3fn.lowest(), Some(0xfe));
    /// assert_eq!(PrimitiveType::C64.lowest(), None);
    /// ```
    pub fn lowest(self) -> Option<u128> {
        self.values().1
    }

    /// The bit pattern of the highest value: +∞ for floats that have it, else the finite highest.
    /// `None` as for [`PrimitiveType::lowest`].
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// // Infinity in f32; the finite 448 in a type that has none.
    /// assert_eq!(PrimitiveType::F32.highest(), Some(u128::from(f32::INFINITY.to_bits())));
    /// assert_eq!(PrimitiveType::F8e4m3fn.highest(), Some(0x7e));
    /// assert_eq!(PrimitiveType::S8.highest(), Some(0x7f));
    /// ```
    pub fn highest(self) -> Option<u128> {
        self.values().2
    }

    /// The bit pattern of one; 1 + 0i for complex numbers. `None` for `s1`, whose values are 0 and
    /// −1, and for types without values.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert_eq!(PrimitiveType::F32.one(), Some(u128::from(1_f32.to_bits())));
    /// // bf16 is the upper half of an f32.
    /// assert_eq!(PrimitiveType::Bf16.one(), Some(0x3f80));
    /// assert_eq!(PrimitiveType::S1.one(), None);
    /// ```
    pub fn one(self) -> Option<u128> {
        self.values().0
    }

    /// The bit pattern of a fill, in the low bits; 0 where nothing or nothing in particular is
    /// promised. [`Fill::Zero`] is the all-zero pattern, which `f8e8m0fnu` reads as 2⁻¹²⁷, for want of
    /// a zero.
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
        let Some(width) = self.bits() else {
            return Err(Error::unsupported(
                "a type without values cannot be filled with one",
                [],
                "",
            ));
        };
        let value = match fill {
            Fill::Unspecified | Fill::Unknown | Fill::Zero => Some(0),
            Fill::One => self.one(),
            Fill::Lowest => self.lowest(),
            Fill::Highest => self.highest(),
            Fill::Bits(bits) => return checked_bits(bits, width),
        };
        // Of the types with values, `s1` alone has no one, and complex numbers have no order.
        let why = if fill == Fill::One {
            "the values of s1 are 0 and -1: it has no one"
        } else {
            "complex numbers have no order: none is the lowest or highest"
        };
        value.ok_or_else(|| Error::unsupported(why, [], "give the bits as 0xHEX"))
    }

    fn values(self) -> Values {
        match self {
            Pred => some(1, 0, 1),
            S1 => (None, Some(1), Some(0)),
            S2 | S4 | S8 | S16 | S32 | S64 => signed(self),
            U1 | U2 | U4 | U8 | U16 | U32 | U64 => some(1, 0, ones(self)),
            F16 => float(0x3c00, 0x7c00, 16),
            Bf16 => float(0x3f80, 0x7f80, 16),
            F32 => float(0x3f80_0000, 0x7f80_0000, 32),
            F64 => float(0x3ff0_0000_0000_0000, 0x7ff0_0000_0000_0000, 64),
            F8e5m2 => float(0x3c, 0x7c, 8),
            F8e4m3 => float(0x38, 0x78, 8),
            F8e3m4 => float(0x30, 0x70, 8),
            F8e4m3fn => float(0x38, 0x7e, 8),
            F8e4m3fnuz | F8e5m2fnuz => float(0x40, 0x7f, 8),
            F8e4m3b11fnuz => float(0x58, 0x7f, 8),
            F4e2m1fn => float(0x2, 0x7, 4),
            F8e8m0fnu => some(0x7f, 0x00, 0xfe),
            C64 => (Some(0x3f80_0000), None, None),
            C128 => (Some(0x3ff0_0000_0000_0000), None, None),
            Invalid | Tuple | Opaque | Token | Buffer => (None, None, None),
        }
    }
}

fn checked_bits(bits: u128, width: u32) -> Result<u128, Error> {
    let needed = u128::BITS - bits.leading_zeros();
    if needed > width {
        return Err(Error::out_of_range(
            "a fill of {} bits for elements of {}",
            [needed.into(), width.into()],
            "the pattern is one element's",
        ));
    }
    Ok(bits)
}

fn some(one: u128, lowest: u128, highest: u128) -> Values {
    (Some(one), Some(lowest), Some(highest))
}

/// A float whose sign is the top bit of `width`.
fn float(one: u128, highest: u128, width: u32) -> Values {
    some(one, highest | 1 << (width - 1), highest)
}

/// All bits of the type set.
fn ones(primitive: PrimitiveType) -> u128 {
    (1 << primitive.bits().unwrap_or(0)) - 1
}

/// Two's complement.
fn signed(primitive: PrimitiveType) -> Values {
    let highest = ones(primitive) >> 1;
    some(1, highest + 1, highest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a small float's code means, from its definition: exponent and mantissa widths, bias, and
    /// where infinities and NaNs are.
    fn decode(primitive: PrimitiveType, code: u128) -> f64 {
        let name = primitive.name();
        let width = |letter: char| -> u32 {
            let at = name.find(letter).unwrap() + 1;
            name[at..].chars().next().unwrap().to_digit(10).unwrap()
        };
        let (e, m) = match primitive {
            F16 => (5, 10),
            Bf16 => (8, 7),
            _ => (width('e'), width('m')),
        };
        if primitive == F8e8m0fnu {
            return if code == 0xff { f64::NAN } else { 2f64.powi(code as i32 - 127) };
        }
        let nuz = name.ends_with("fnuz");
        let bias = match primitive {
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
        if primitive == F8e4m3fn && last && mantissa == 7 {
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
            F4e2m1fn,
            F8e8m0fnu,
        ];
        for primitive in floats {
            let values =
                (0..1u128 << primitive.bits().unwrap()).map(|code| decode(primitive, code));
            let (low, high) = values
                .filter(|value| !value.is_nan())
                .fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
            assert_eq!(decode(primitive, primitive.lowest().unwrap()), low, "{primitive}");
            assert_eq!(decode(primitive, primitive.highest().unwrap()), high, "{primitive}");
            assert_eq!(decode(primitive, primitive.one().unwrap()), 1.0, "{primitive}");
        }
        for (primitive, highest) in [
            (F8e5m2, f64::INFINITY),
            (F8e4m3fn, 448.0),
            (F8e4m3b11fnuz, 30.0),
            (F8e5m2fnuz, 57344.0),
            (F8e4m3fnuz, 240.0),
            (F8e4m3, f64::INFINITY),
            (F8e3m4, f64::INFINITY),
            (F4e2m1fn, 6.0),
        ] {
            assert_eq!(decode(primitive, primitive.highest().unwrap()), highest);
            assert_eq!(decode(primitive, primitive.lowest().unwrap()), -highest);
        }
    }

    #[test]
    fn wide_floats_are_rusts() {
        let values = (1f32.to_bits(), f32::NEG_INFINITY.to_bits(), f32::INFINITY.to_bits());
        assert_eq!(F32.values(), some(values.0.into(), values.1.into(), values.2.into()));
        let values = (1f64.to_bits(), f64::NEG_INFINITY.to_bits(), f64::INFINITY.to_bits());
        assert_eq!(F64.values(), some(values.0.into(), values.1.into(), values.2.into()));
        assert_eq!((C64.one(), C128.one()), (F32.one(), F64.one()));
    }

    #[test]
    fn integers_are_twos_complement() {
        for primitive in
            PrimitiveType::all().filter(|primitive| primitive.bits().is_some_and(|b| b <= 16))
        {
            let (width, signed) = (primitive.bits().unwrap(), primitive.name().starts_with('s'));
            if !signed && !primitive.name().starts_with('u') {
                continue;
            }
            let value = |code: u128| {
                let negative = signed && code >> (width - 1) & 1 == 1;
                code as i128 - if negative { 1 << width } else { 0 }
            };
            let codes = 0..1u128 << width;
            assert_eq!(primitive.lowest(), codes.clone().min_by_key(|&code| value(code)));
            assert_eq!(primitive.highest(), codes.clone().max_by_key(|&code| value(code)));
            assert_eq!(
                primitive.one(),
                codes.clone().find(|&code| value(code) == 1),
                "{primitive}"
            );
        }
        assert_eq!(S64.values(), some(1, i64::MIN as u64 as u128, i64::MAX as u128));
        assert_eq!((U64.highest(), S32.lowest()), (Some(u64::MAX.into()), Some(0x8000_0000)));
    }

    #[test]
    fn fills_have_bits_or_say_why_not() {
        for fill in [Fill::Unspecified, Fill::Unknown, Fill::Zero] {
            assert_eq!(F32.fill_bits(fill), Ok(0));
        }
        assert_eq!(S4.fill_bits(Fill::Lowest), Ok(8));
        assert_eq!(Pred.fill_bits(Fill::Highest), Ok(1));
        assert_eq!(C128.fill_bits(Fill::Bits(u128::MAX)), Ok(u128::MAX));
        assert_eq!(U4.fill_bits(Fill::Bits(0xf)), Ok(0xf));
        let error = U4.fill_bits(Fill::Bits(0x10)).unwrap_err();
        assert!(error.is_out_of_range() && error.to_string().contains("5 bits for elements of 4"));
        assert!(S1.fill_bits(Fill::One).unwrap_err().is_unsupported());
        assert!(Token.fill_bits(Fill::Zero).unwrap_err().is_unsupported());
    }
}
