//! [`ByteOrder`]: the order of the bytes of a number.

use core::fmt;

use super::Dtype;

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
