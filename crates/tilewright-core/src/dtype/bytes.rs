//! Elements as bytes: sizes of dense arrays and of the blocks of block types, and the order of the bytes of a number
//! ([`ByteOrder`]).

use core::fmt;

use crate::{
    Error,
    dtype::{Dtype, DtypeKind, ElementBlock},
};

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
            assert!(Dtype::F32.packed_bytes(dims).unwrap_err().is_overflow(), "{dims:?}");
        }
        assert_eq!(Dtype::F32.packed_bytes(&[huge, huge, huge, 0]), Ok(0));
        assert_eq!(Dtype::F32.packed_bytes(&[]), Ok(4));
        assert!(Dtype::Q4_0.packed_bytes(&[]).unwrap_err().is_mismatch());
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
