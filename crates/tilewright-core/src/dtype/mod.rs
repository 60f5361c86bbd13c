//! [`Dtype`]: the element types of arrays.
//!
//! An element type has a name, a [`DtypeKind`] and a width in bits. A *block* type has no width of its own: n bytes
//! hold m elements together, with scales that they share. The dims of an array of blocks count elements, and its last
//! dim is a whole number of blocks. The order of the bytes of a number is not part of the type; a [`ByteOrder`] is a
//! separate value.
//!
//! `table.rs` is the only place that lists names, widths and spellings; `values.rs` has the values with which they fill padding.

mod table;
mod values;

use core::fmt;

use crate::Error;
pub use crate::dtype::table::ElementBlock;
pub use table::Dtype;
pub use values::Fill;

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

impl Dtype {
    /// Returns the block of a block type; `None` for types whose elements each have their own bits.
    ///
    /// ```
    /// use tilewright_core::{Dtype, ElementBlock};
    /// assert_eq!(Dtype::Q4K.block(), Some(ElementBlock { bytes: 144, elements: 256 }));
    /// assert_eq!(Dtype::S4.block(), None);
    /// ```
    pub const fn block(self) -> Option<ElementBlock> {
        self.row().block
    }

    /// Returns the smallest group of elements that fills whole bytes without gaps: the block of a block type, and for
    /// other types the least common multiple of the width and 8 bits.
    ///
    /// ```
    /// use tilewright_core::{Dtype, ElementBlock};
    /// assert_eq!(Dtype::F32.unit(), ElementBlock { bytes: 4, elements: 1 });
    /// assert_eq!(Dtype::S4.unit(), ElementBlock { bytes: 1, elements: 2 });
    /// // Four elements of 6 bits in three bytes.
    /// assert_eq!(Dtype::F6e2m3fn.unit(), ElementBlock { bytes: 3, elements: 4 });
    /// assert_eq!(Dtype::Q4_0.unit(), ElementBlock { bytes: 18, elements: 32 });
    /// ```
    pub const fn unit(self) -> ElementBlock {
        match (self.row().block, self.packed_bits()) {
            (Some(block), _) => block,
            // A type has a width or a block.
            (None, None) => ElementBlock { bytes: 1, elements: 1 },
            (None, Some(bits)) => {
                // The powers of two that `bits` lacks to be whole bytes.
                let twos = bits.trailing_zeros();
                let elements = if twos >= 3 { 1 } else { 8 >> twos };
                ElementBlock { bytes: bits * elements / 8, elements }
            }
        }
    }

    /// Returns the size in bytes of a dense array of these dims, without gaps, rounded up to whole bytes.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for a block type if the last dim is not a whole number of blocks;
    /// [overflow](Error::is_overflow) beyond 2⁶³ − 1 bytes.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// assert_eq!(Dtype::F32.packed_bytes(&[3, 5]), Ok(60));
    /// assert_eq!(Dtype::S4.packed_bytes(&[3, 5]), Ok(8));
    /// assert_eq!(Dtype::Q4_0.packed_bytes(&[3, 64]), Ok(3 * 2 * 18));
    /// let error = Dtype::Q4_0.packed_bytes(&[64, 3]).unwrap_err();
    /// assert!(error.is_mismatch() && error.to_string().contains("blocks of 32"));
    /// ```
    pub fn packed_bytes(self, dims: &[u64]) -> Result<u64, Error> {
        let unit = self.unit();
        if self.kind() == DtypeKind::Block {
            check_last(dims, unit)?;
        }
        // Handles a dim of 0 first, since the product of the others may overflow.
        let elements = match dims.contains(&0) {
            true => Some(0),
            false => dims.iter().try_fold(1u128, |size, dim| size.checked_mul(u128::from(*dim))),
        };
        let bytes = elements.and_then(|elements| elements.checked_mul(u128::from(unit.bytes)));
        let bytes = bytes.map(|bytes| bytes.div_ceil(u128::from(unit.elements)));
        let within = bytes.and_then(|bytes| i64::try_from(bytes).ok());
        within.map(|bytes| bytes.unsigned_abs()).ok_or_else(|| {
            let [first, last] =
                [dims.first(), dims.last()].map(|dim| dim.map_or(1, |dim| i128::from(*dim)));
            let message = "{} dims, from {} to {}, take more than 2^63 - 1 bytes";
            Error::overflow(message, [dims.len() as i128, first, last], "")
        })
    }
}

/// Checks that the last dim is a whole number of blocks.
fn check_last(dims: &[u64], block: ElementBlock) -> Result<(), Error> {
    let last = dims.last().copied().unwrap_or(1);
    if last.is_multiple_of(u64::from(block.elements)) {
        return Ok(());
    }
    Err(Error::mismatch(
        "a last dim of {} elements in blocks of {}",
        [last.into(), block.elements.into()],
        "the last dim of an array of blocks must be a whole number of blocks",
    ))
}

/// The order of the bytes of a number in storage. It is not part of the element type; the default is little-endian.
///
/// ```
/// use tilewright_core::ByteOrder;
/// assert_eq!(ByteOrder::default(), ByteOrder::Little);
/// assert_eq!(ByteOrder::Big.to_string(), "big-endian");
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The least significant byte first.
    #[default]
    Little,
    /// The most significant byte first.
    Big,
}

impl ByteOrder {
    /// The byte order of the target machine.
    ///
    /// ```
    /// use tilewright_core::ByteOrder;
    /// let first = 1u16.to_ne_bytes()[0];
    /// assert_eq!(ByteOrder::NATIVE == ByteOrder::Little, first == 1);
    /// ```
    pub const NATIVE: ByteOrder =
        if cfg!(target_endian = "big") { ByteOrder::Big } else { ByteOrder::Little };

    /// Returns whether the most significant byte comes first.
    ///
    /// ```
    /// use tilewright_core::ByteOrder;
    /// assert!(ByteOrder::Big.is_big() && !ByteOrder::Little.is_big());
    /// ```
    pub const fn is_big(self) -> bool {
        matches!(self, ByteOrder::Big)
    }

    /// Returns the pattern of an element as a little-endian reader sees its bytes: for big-endian elements, the bytes of
    /// each number are reversed. A complex element is two numbers. Elements that do not fill whole bytes are unchanged.
    ///
    /// ```
    /// use tilewright_core::{ByteOrder, Dtype};
    /// assert_eq!(ByteOrder::Big.stored(Dtype::F32, 32, 0x3f80_0000), 0x0000_803f);
    /// assert_eq!(ByteOrder::Big.stored(Dtype::C64, 64, 0x3f80_0000), 0x0000_803f);
    /// assert_eq!(ByteOrder::Little.stored(Dtype::F32, 32, 0x3f80_0000), 0x3f80_0000);
    /// ```
    pub fn stored(self, dtype: Dtype, bits: u32, pattern: u128) -> u128 {
        let (whole, number) = (bits as usize / 8, dtype.number_bits(bits) as usize / 8);
        let mut bytes = pattern.to_le_bytes();
        match (self, bytes.get_mut(..whole)) {
            (ByteOrder::Big, Some(bytes)) if bits.is_multiple_of(8) && number > 0 => {
                bytes.chunks_mut(number).for_each(<[u8]>::reverse);
            }
            (ByteOrder::Big | ByteOrder::Little, _) => {}
        }
        u128::from_le_bytes(bytes)
    }
}

impl fmt::Display for ByteOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ByteOrder::Little => "little-endian",
            ByteOrder::Big => "big-endian",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Dtype::*;
    use std::string::String;
    use std::vec::Vec;

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
                Err(_) => assert_eq!((dtype, dtype.bits()), (Pred, Some(1))),
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
            assert!(dtype.packed_bits() == Some(bits) || dtype == Pred, "{dtype}");
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

    #[test]
    fn a_unit_is_the_least_of_whole_bytes() {
        for dtype in Dtype::all() {
            let ElementBlock { bytes, elements } = dtype.unit();
            assert!(bytes > 0 && elements > 0, "{dtype}");
            let Some(bits) = dtype.packed_bits() else {
                assert_eq!(dtype.block(), Some(dtype.unit()));
                continue;
            };
            assert_eq!(bits * elements, bytes * 8, "{dtype}");
            assert!((1..elements).all(|fewer| fewer * bits % 8 != 0), "{dtype}");
        }
    }

    #[test]
    fn arrays_of_whole_units_are_as_long_as_their_units() {
        for dtype in Dtype::all() {
            let ElementBlock { bytes, elements } = dtype.unit();
            for units in 0..4 {
                for rows in 0..3 {
                    let dims = [rows, units * u64::from(elements)];
                    assert_eq!(dtype.packed_bytes(&dims), Ok(rows * units * u64::from(bytes)));
                }
            }
        }
    }

    #[test]
    fn every_length_is_rounded_up_or_refused() {
        for dtype in Dtype::all() {
            for dim in 0..300u64 {
                let given = dtype.packed_bytes(&[2, dim]);
                match dtype.packed_bits() {
                    Some(bits) => assert_eq!(given, Ok((2 * dim * u64::from(bits)).div_ceil(8))),
                    None if dim % u64::from(dtype.unit().elements) == 0 => assert!(given.is_ok()),
                    None => assert!(given.unwrap_err().is_mismatch()),
                }
            }
        }
    }

    #[test]
    fn what_leaves_64_bits_is_refused() {
        let huge = u64::MAX;
        for dims in [&[huge, huge, huge, huge][..], &[1 << 62, 2], &[huge]] {
            assert!(F32.packed_bytes(dims).unwrap_err().is_overflow(), "{dims:?}");
        }
        assert_eq!(F32.packed_bytes(&[huge, huge, huge, 0]), Ok(0));
        assert_eq!(F32.packed_bytes(&[]), Ok(4));
        assert!(Q4_0.packed_bytes(&[]).unwrap_err().is_mismatch());
    }

    #[test]
    fn big_endian_is_its_own_inverse() {
        for dtype in Dtype::all() {
            for bits in [4, 6, 8, 16, 32, 64, 128] {
                let pattern = 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10;
                let mask = if bits < 128 { (1 << bits) - 1 } else { u128::MAX };
                let once = ByteOrder::Big.stored(dtype, bits, pattern & mask);
                assert_eq!(ByteOrder::Big.stored(dtype, bits, once), pattern & mask);
                assert_eq!(ByteOrder::Little.stored(dtype, bits, pattern), pattern);
                let moves = (16..=128).contains(&dtype.number_bits(bits));
                assert_eq!(once != pattern & mask, moves, "{dtype} {bits}");
            }
        }
    }
}
