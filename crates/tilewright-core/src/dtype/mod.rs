//! [`Dtype`]: the element types of arrays.
//!
//! An element type has a name, a [`DtypeKind`] and a width in bits. A *block* type has no width of its own: n bytes
//! hold m elements together, with scales that they share. The dims of an array of blocks count elements, and its last
//! dim is a whole number of blocks. The order of the bytes of a number is not part of the type; a [`ByteOrder`] is a
//! separate value.
//!
//! `table.rs` is the only place that lists names, widths and spellings.

mod bytes;
mod table;
mod values;

use core::fmt;

pub use crate::dtype::bytes::ByteOrder;
pub use crate::dtype::table::ElementBlock;
pub use table::Dtype;

/// The kind of the values of an element type.
///
/// ```
/// use tilewright_core::{Dtype, DtypeKind};
/// let kinds = [Dtype::Pred, Dtype::S4, Dtype::Bf16, Dtype::C64, Dtype::Q4_0].map(Dtype::kind);
/// assert_eq!(kinds, [DtypeKind::Bool, DtypeKind::Signed, DtypeKind::Float, DtypeKind::Complex, DtypeKind::Block]);
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DtypeKind {
    /// Truth values.
    Bool,
    /// Integers in two's complement.
    Signed,
    /// Nonnegative integers.
    Unsigned,
    /// Floating-point numbers of sign, exponent and mantissa, including scales that are only a power of two.
    Float,
    /// Two floats: the real part, then the imaginary one.
    Complex,
    /// Indices into a table of values (`nf4`).
    Codebook,
    /// Elements that share bytes with each other and with their scales; no element has bytes of its own.
    Block,
}

impl Dtype {
    /// Iterates over all element types, in the order of the table.
    ///
    /// ```
    /// use tilewright_core::{Dtype, DtypeKind};
    /// let eight = Dtype::all().filter(|dtype| dtype.kind() == DtypeKind::Float && dtype.bits() == Some(8));
    /// assert!(eight.count() >= 8);
    /// ```
    pub fn all() -> impl Iterator<Item = Dtype> {
        table::ALL.iter().copied()
    }

    /// Returns the standard name: XLA's, if XLA has the type.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!((Dtype::Bf16.name(), Dtype::Pred.name()), ("bf16", "pred"));
    /// assert_eq!((Dtype::F6e2m3fn.name(), Dtype::Q4K.name()), ("f6e2m3fn", "q4_k"));
    /// ```
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the name of the type in arrays in memory (`int8`, `float8_e4m3fn`), if there is one.
    ///
    /// Source: `numpy.dtype.name`; the package `ml_dtypes` for types that NumPy lacks.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!(Dtype::S8.array_name(), Some("int8"));
    /// assert_eq!(Dtype::F8e4m3fn.array_name(), Some("float8_e4m3fn"));
    /// assert_eq!(Dtype::Q4_0.array_name(), None);
    /// ```
    pub const fn array_name(self) -> Option<&'static str> {
        self.row().array
    }

    /// Returns the name in the header of a safetensors file, if that format has the type.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!(Dtype::Pred.safetensors_name(), Some("BOOL"));
    /// assert_eq!(Dtype::F8e4m3fn.safetensors_name(), Some("F8_E4M3"));
    /// assert_eq!(Dtype::S4.safetensors_name(), None);
    /// ```
    pub const fn safetensors_name(self) -> Option<&'static str> {
        self.row().safetensors
    }

    /// Returns the kind of the values.
    ///
    /// ```
    /// use tilewright_core::{Dtype, DtypeKind};
    /// assert_eq!((Dtype::F8e8m0fnu.kind(), Dtype::Nf4.kind()), (DtypeKind::Float, DtypeKind::Codebook));
    /// ```
    pub const fn kind(self) -> DtypeKind {
        self.row().kind
    }

    /// Returns the width of a value in bits: 1 for `pred`; `None` for a block type.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!((Dtype::S4.bits(), Dtype::C64.bits(), Dtype::F6e3m2fn.bits()), (Some(4), Some(64), Some(6)));
    /// assert_eq!((Dtype::Pred.bits(), Dtype::Q4_0.bits()), (Some(1), None));
    /// ```
    pub const fn bits(self) -> Option<u32> {
        match self.row().bits {
            0 => None,
            bits => Some(bits),
        }
    }

    /// Returns the default storage width of an element in bits, a multiple of 8. `None` for a block type.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// let storage = [Dtype::S4, Dtype::F6e3m2fn, Dtype::Pred, Dtype::F64].map(Dtype::storage_bits);
    /// assert_eq!(storage, [Some(8), Some(8), Some(8), Some(64)]);
    /// ```
    pub const fn storage_bits(self) -> Option<u32> {
        match self.bits() {
            Some(bits) => Some(bits.div_ceil(8) * 8),
            None => None,
        }
    }

    /// Returns the bits of an element in dense storage without gaps: the width of its value, and 8 for a truth value,
    /// which is never packed. `None` for a block type.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// let packed = [Dtype::S4, Dtype::F6e3m2fn, Dtype::Pred, Dtype::Q4_0].map(Dtype::packed_bits);
    /// assert_eq!(packed, [Some(4), Some(6), Some(8), None]);
    /// ```
    pub const fn packed_bits(self) -> Option<u32> {
        match self.kind() {
            DtypeKind::Bool => self.storage_bits(),
            DtypeKind::Signed
            | DtypeKind::Unsigned
            | DtypeKind::Float
            | DtypeKind::Complex
            | DtypeKind::Codebook
            | DtypeKind::Block => self.bits(),
        }
    }

    /// Returns whether the type is a signed integer in two's complement, so that widening copies the sign.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert!(Dtype::S4.is_signed_integer());
    /// assert!(!Dtype::U4.is_signed_integer() && !Dtype::F32.is_signed_integer());
    /// ```
    pub const fn is_signed_integer(self) -> bool {
        matches!(self.kind(), DtypeKind::Signed)
    }

    /// Returns the bits of one number of an element, to which a byte order applies: half of a complex element.
    const fn number_bits(self, element: u32) -> u32 {
        if matches!(self.kind(), DtypeKind::Complex) { element / 2 } else { element }
    }
}

/// Writes the standard name.
impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{string::String, vec::Vec};

    #[test]
    fn widths_are_those_in_the_names() {
        for dtype in Dtype::all().filter(|dtype| dtype.kind() != DtypeKind::Block) {
            let digits: String = dtype
                .name()
                .chars()
                .skip_while(|c| !c.is_ascii_digit())
                .take_while(char::is_ascii_digit)
                .collect();
            match digits.parse() {
                Ok(bits) => assert_eq!(dtype.bits(), Some(bits), "{dtype}"),
                Err(_) => assert_eq!((dtype, dtype.bits()), (Dtype::Pred, Some(1))),
            }
        }
    }

    #[test]
    fn storage_holds_the_value_and_no_byte_more() {
        for dtype in Dtype::all() {
            let Some(bits) = dtype.bits() else {
                assert_eq!((dtype.storage_bits(), dtype.packed_bits()), (None, None), "{dtype}");
                continue;
            };
            let storage = dtype.storage_bits().unwrap();
            assert!(storage >= bits && storage < bits + 8 && storage % 8 == 0, "{dtype}");
            assert!(dtype.packed_bits() == Some(bits) || dtype == Dtype::Pred, "{dtype}");
        }
    }

    #[test]
    fn a_name_says_the_kind() {
        for dtype in Dtype::all() {
            let letters: String =
                dtype.name().chars().take_while(char::is_ascii_alphabetic).collect();
            let kind = match letters.as_str() {
                "pred" => DtypeKind::Bool,
                "s" => DtypeKind::Signed,
                "u" => DtypeKind::Unsigned,
                "f" | "bf" => DtypeKind::Float,
                "c" => DtypeKind::Complex,
                "nf" => DtypeKind::Codebook,
                "q" | "iq" | "tq" | "mxfp" | "nvfp" => DtypeKind::Block,
                other => panic!("{other}"),
            };
            assert_eq!(dtype.kind(), kind, "{dtype}");
        }
    }

    #[test]
    fn the_order_of_the_table_is_that_of_the_type() {
        let all: Vec<Dtype> = Dtype::all().collect();
        for (i, dtype) in all.iter().enumerate() {
            assert_eq!(*dtype as usize, i);
            assert!(all[..i].iter().all(|other| other.name() != dtype.name()));
        }
    }
}
