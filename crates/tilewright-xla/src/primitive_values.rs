//! The bit patterns that padding promises: a type's one, lowest and highest value.

use tilewright_core::{Error, Fill};

use crate::PrimitiveType;

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
    use PrimitiveType::*;

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
