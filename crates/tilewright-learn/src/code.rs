//! [`Code`]: the bit patterns of one element type that stand for digits.

use tilewright_core::{Dtype, DtypeKind};

use crate::Error;

/// The bit patterns by which elements of one type code digits: digit d is the pattern `plus + d · unit`.
///
/// Floats of 16 bits and more code d as the value 1 + d/128, which is exact in bf16, f16, f32 and f64 and never 0. Types of
/// 8 bits and integers use 128 + d. Types of 4 and of 2 bits use d itself, with digits below 16 and 4.
///
/// ```
/// use tilewright_core::Dtype;
/// use tilewright_learn::Code;
/// let code = Code::of(Dtype::F32)?;
/// assert_eq!(f32::from_bits(code.pattern(64) as u32), 1.5);
/// assert_eq!((code.digit(code.pattern(64)), code.digit(0)), (Some(64), None));
/// assert!(Code::of(Dtype::Q4_0).is_err());
/// # Ok::<(), tilewright_learn::Error>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    bits: u32,
    plus: u64,
    unit: u64,
    radix: u64,
}

impl Code {
    /// Returns the code of an element type.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) for truth values, types of 1 bit, and blocks, whose elements have no
    /// bits of their own.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_learn::Code;
    /// assert_eq!(Code::of(Dtype::U8)?.pattern(3), 131);
    /// assert_eq!(Code::of(Dtype::U4)?.radix(), 16);
    /// assert!(Code::of(Dtype::Pred).unwrap_err().is_unsupported());
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn of(dtype: Dtype) -> Result<Code, Error> {
        let refused = || Error::unsupported(format!("elements of {dtype} cannot code numbers"));
        let bits = dtype.bits().ok_or_else(refused)?;
        let whole = |plus, unit| Ok(Code { bits, plus, unit, radix: 128 });
        match (dtype.kind(), bits) {
            (DtypeKind::Bool | DtypeKind::Block, _) => Err(refused()),
            (_, 2 | 4) => Ok(Code { bits, plus: 0, unit: 1, radix: 1 << bits }),
            (_, 8) => whole(128, 1),
            (DtypeKind::Signed | DtypeKind::Unsigned, 16 | 32 | 64) => whole(128, 1),
            (DtypeKind::Float, 16 | 32 | 64) => {
                let one =
                    dtype.one().and_then(|one| u64::try_from(one).ok()).ok_or_else(refused)?;
                whole(one, Self::step(dtype, bits))
            }
            (DtypeKind::Complex, 64) => whole(0x3F80_0000_3F80_0000, 0x0001_0000_0001_0000),
            (
                DtypeKind::Float
                | DtypeKind::Complex
                | DtypeKind::Codebook
                | DtypeKind::Signed
                | DtypeKind::Unsigned,
                _,
            ) => Err(refused()),
        }
    }

    /// Returns the pattern step of 1/128 at 1.0.
    fn step(dtype: Dtype, bits: u32) -> u64 {
        match (dtype, bits) {
            (Dtype::F16, _) => 1 << 3,
            (_, 16) => 1,
            (_, 32) => 1 << 16,
            (_, _) => 1 << 45,
        }
    }

    /// Returns the width of an element in bits.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!(tilewright_learn::Code::of(Dtype::F16)?.bits(), 16);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// Returns the number of digits that the type can code.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!(tilewright_learn::Code::of(Dtype::S8)?.radix(), 128);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    pub fn radix(self) -> u64 {
        self.radix
    }

    /// Returns the bits of an element that codes a digit below the radix.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!(tilewright_learn::Code::of(Dtype::Bf16)?.pattern(1), 0x3F81);
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    #[inline]
    pub fn pattern(self, digit: u64) -> u64 {
        self.plus + digit * self.unit
    }

    /// Returns the digit that an element codes, or `None` if its bits code none.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// let code = tilewright_learn::Code::of(Dtype::Bf16)?;
    /// assert_eq!((code.digit(0x3FFF), code.digit(0x4000)), (Some(127), None));
    /// # Ok::<(), tilewright_learn::Error>(())
    /// ```
    #[inline]
    pub fn digit(self, pattern: u64) -> Option<u64> {
        let digit = pattern.wrapping_sub(self.plus) / self.unit;
        (digit < self.radix && self.pattern(digit) == pattern).then_some(digit)
    }
}
