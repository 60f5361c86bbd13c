//! The width of the elements in the source and in the destination.

use crate::Error;

/// The value of the added high bits when elements become wider.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Extend, Plan};
/// let layout = TensorLayout::row_major(&[1]).unwrap();
/// for (extend, byte) in [(Extend::Zero, 0x0F), (Extend::Sign, 0xFF)] {
///     let elements = Elements { src_bits: 4, dst_bits: 8, extend };
///     let mut out = [0];
///     Plan::new(&layout, &layout, elements, 0).unwrap().run(&[0x0F], &mut out, 1).unwrap();
///     assert_eq!(out, [byte]);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extend {
    /// Zeros.
    Zero,
    /// Copies of the highest bit of the source element.
    Sign,
}

/// The widths of the elements in the source and in the destination, in bits.
///
/// Elements of 1, 2 and 4 bits are packed; element 0 is in the low bits of byte 0. Elements of 8 bits and more are
/// little-endian if their width changes, and opaque if it does not. A wider destination unpacks by [`Extend`]; a
/// narrower one packs by dropping the high bits.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Extend, Plan};
/// let layout = TensorLayout::row_major(&[3]).unwrap();
/// let unpack = Elements { src_bits: 4, dst_bits: 8, extend: Extend::Sign };
/// let plan = Plan::new(&layout, &layout, unpack, 0).unwrap();
/// let mut out = [0; 3];
/// plan.run(&[0xF1, 0x07], &mut out, 1).unwrap();
/// assert_eq!(out, [1, 0xFF, 7]);
///
/// assert!(Plan::new(&layout, &layout, Elements::same(12), 0).unwrap_err().is_unsupported());
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Elements {
    /// The width of a source element: 1, 2, 4, or a multiple of 8 up to 2048.
    pub src_bits: u32,
    /// The width of a destination element: equal to the source's, or both widths are among 1, 2, 4, 8, 16 and 32.
    pub dst_bits: u32,
    /// The value of the added bits if the destination is wider.
    pub extend: Extend,
}

impl Elements {
    /// Elements of the same width on both sides.
    ///
    /// ```
    /// use tilewright_relayout::Elements;
    /// let elements = Elements::same(16);
    /// assert_eq!((elements.src_bits, elements.dst_bits), (16, 16));
    /// ```
    pub const fn same(bits: u32) -> Elements {
        Elements { src_bits: bits, dst_bits: bits, extend: Extend::Zero }
    }

    pub(crate) fn are_same(self) -> bool {
        self.src_bits == self.dst_bits
    }

    /// Checks that the widths are supported.
    pub(crate) fn check(self) -> Result<(), Error> {
        let Elements { src_bits, dst_bits, .. } = self;
        let converts = |bits| matches!(bits, 1 | 2 | 4 | 8 | 16 | 32);
        let moves = |bits: u32| {
            matches!(bits, 1 | 2 | 4) || (bits > 0 && bits <= 2048 && bits.is_multiple_of(8))
        };
        if self.are_same() && moves(src_bits) || converts(src_bits) && converts(dst_bits) {
            return Ok(());
        }
        Err(Error::unsupported(format!(
            "elements of {src_bits} bits to elements of {dst_bits}; widths are equal and 1, 2, 4 or a \
             multiple of 8 up to 2048, or differ within 1, 2, 4, 8, 16 and 32"
        )))
    }

    /// The bytes that a single destination element occupies: 1 for packed elements.
    pub(crate) fn dst_align(self) -> u64 {
        u64::from(self.dst_bits / 8).max(1)
    }
}

/// The bytes that `capacity` elements of `bits` bits occupy.
pub(crate) fn bytes(what: &str, capacity: u64, bits: u32) -> Result<u64, Error> {
    let all = u128::from(capacity) * u128::from(bits);
    // Offsets of packed elements are counted in bits.
    let limit = if bits < 8 { i64::MAX as u128 } else { i64::MAX as u128 * 8 };
    let bytes = all.div_ceil(8);
    if all > limit || usize::try_from(bytes).is_err() {
        return Err(Error::overflow(format!(
            "a {what} of {capacity} elements of {bits} bits has {bytes} bytes, more than this machine \
             addresses"
        )));
    }
    Ok(bytes as u64)
}
