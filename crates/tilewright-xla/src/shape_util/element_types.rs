//! Properties of element types: integral, floating, complex, signed, and their precision.

use crate::PrimitiveType::{self, *};

impl PrimitiveType {
    /// Returns whether it is a type of integers; booleans are not.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert!(PrimitiveType::U4.is_integral() && !PrimitiveType::Pred.is_integral());
    /// ```
    #[doc(alias = "ElementIsIntegral")]
    pub fn is_integral(self) -> bool {
        matches!(self, U1 | U2 | U4 | U8 | U16 | U32 | U64) || self.is_signed_integral()
    }

    /// Returns whether it is a type of signed integers.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert!(PrimitiveType::S4.is_signed_integral());
    /// assert!(!PrimitiveType::U8.is_signed_integral() && !PrimitiveType::F32.is_signed_integral());
    /// ```
    pub fn is_signed_integral(self) -> bool {
        matches!(self, S1 | S2 | S4 | S8 | S16 | S32 | S64)
    }

    /// Returns whether it is a type of integers of this many bits.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert!(PrimitiveType::S8.is_integral_with_bits(8) && PrimitiveType::U8.is_integral_with_bits(8));
    /// assert!(!PrimitiveType::F8e5m2.is_integral_with_bits(8));
    /// ```
    #[doc(alias = "ElementIsIntegralWithBits")]
    pub fn is_integral_with_bits(self, bits: u32) -> bool {
        self.is_integral() && self.bits() == Some(bits)
    }

    /// Returns whether it is a type of floating-point numbers.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert!(PrimitiveType::Bf16.is_floating_point() && PrimitiveType::F8e5m2.is_floating_point());
    /// // A complex number consists of two, but is not one.
    /// assert!(!PrimitiveType::C64.is_floating_point());
    /// ```
    #[doc(alias = "ElementIsFloating")]
    pub fn is_floating_point(self) -> bool {
        self.float_range().is_some()
    }

    /// Returns whether it is a type of complex numbers.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert!(PrimitiveType::C64.is_complex() && !PrimitiveType::F64.is_complex());
    /// ```
    #[doc(alias = "ElementIsComplex")]
    pub fn is_complex(self) -> bool {
        matches!(self, C64 | C128)
    }

    /// Returns whether it is a type of real numbers with negative values: signed integers and floating-point numbers.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert!(PrimitiveType::F32.is_signed() && !PrimitiveType::U8.is_signed());
    /// ```
    #[doc(alias = "ElementIsSigned")]
    pub fn is_signed(self) -> bool {
        self.is_signed_integral() || self.is_floating_point()
    }

    /// Returns whether a value is narrower than a byte, except for booleans.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert!(PrimitiveType::F4e2m1fn.is_sub_byte_non_pred() && !PrimitiveType::Pred.is_sub_byte_non_pred());
    /// ```
    #[doc(alias = "IsSubByteNonPredType")]
    pub fn is_sub_byte_non_pred(self) -> bool {
        self != Pred && self.bits().is_some_and(|bits| bits < 8)
    }

    /// Returns the type of a complex number's parts; `None` for other types.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType;
    /// assert_eq!(PrimitiveType::C64.complex_component(), Some(PrimitiveType::F32));
    /// assert_eq!(PrimitiveType::F32.complex_component(), None);
    /// ```
    #[doc(alias = "ComplexComponentType")]
    pub fn complex_component(self) -> Option<PrimitiveType> {
        match self {
            C64 => Some(F32),
            C128 => Some(F64),
            _ => None,
        }
    }

    /// Returns the type that holds more: complex before real, then the larger range of a float, then its precision, then
    /// the width, then signed.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType::{Bf16, F16, S8, U8};
    /// assert_eq!(F16.higher_precision(Bf16), Bf16);
    /// assert_eq!((S8.higher_precision(U8), U8.higher_precision(F16)), (S8, F16));
    /// ```
    #[doc(alias = "HigherPrecisionElementType")]
    pub fn higher_precision(self, other: PrimitiveType) -> PrimitiveType {
        if other.precision() > self.precision() { other } else { self }
    }

    /// Returns whether every value of this type converts to `to`, by XLA's rule: both are floating or neither, both are
    /// signed or neither, and `to` holds more.
    ///
    /// ```
    /// use tilewright_xla::PrimitiveType::{F16, F32, S8, U16};
    /// assert!(F16.can_upcast_to(F32) && !F32.can_upcast_to(F16) && !S8.can_upcast_to(U16));
    /// ```
    #[doc(alias = "ElementCanUpcast")]
    pub fn can_upcast_to(self, to: PrimitiveType) -> bool {
        self.is_floating_point() == to.is_floating_point()
            && self.is_signed() == to.is_signed()
            && self.higher_precision(to) == to
    }

    /// Returns the key by which types are compared, most important first.
    fn precision(self) -> (bool, i32, i32, u32, bool) {
        let part = self.complex_component().unwrap_or(self);
        let (range, digits) = part.float_range().unwrap_or((-1, -1));
        let width = part.bits().unwrap_or(0);
        (self.is_complex(), range, digits, width, part.is_signed_integral())
    }

    /// Returns the exponent at which a float overflows, and its binary digits; `None` for other types.
    fn float_range(self) -> Option<(i32, i32)> {
        match self {
            F16 => Some((16, 11)),
            Bf16 => Some((128, 8)),
            F32 => Some((128, 24)),
            F64 => Some((1024, 53)),
            F8e5m2 | F8e5m2fnuz => Some((16, 3)),
            F8e4m3 | F8e4m3fnuz => Some((8, 4)),
            F8e4m3fn => Some((9, 4)),
            F8e4m3b11fnuz => Some((5, 4)),
            F8e3m4 => Some((4, 5)),
            F4e2m1fn => Some((3, 2)),
            F8e8m0fnu => Some((128, 1)),
            _ => None,
        }
    }
}
