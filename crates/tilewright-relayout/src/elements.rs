//! The width of the elements in the source and in the destination, and the test whether elements keep their values when
//! they are stored in fewer bits.
//!
//! Law: an element loses its value if and only if widening it again, by the same [`Extend`], gives another element. Storage
//! that holds no element, padding included, is not tested.

use tilewright_core::{Coord, TensorLayout};

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

/// The bytes that are tested before an early exit is possible.
const BLOCK: usize = 1 << 12;

/// An element that does not fit in the bits of the destination.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Extend};
/// let pack = Elements { src_bits: 16, dst_bits: 8, extend: Extend::Zero };
/// let lossy = pack.first_lossy(&TensorLayout::row_major(&[2])?, &[255, 0, 0, 1]).unwrap();
/// assert_eq!((lossy.coord.as_slice(), lossy.value, lossy.most), (&[1][..], 256, 255));
/// # Ok::<(), tilewright_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossyElement {
    /// Its logical coordinate.
    pub coord: Coord,
    /// Its value; two's complement for signed elements.
    pub value: i64,
    /// The least value that fits.
    pub least: i64,
    /// The largest value that fits.
    pub most: i64,
}

impl Elements {
    /// Returns the first element, in row-major order of the coordinates, that loses its value in the bits of the
    /// destination. Returns `None` if all elements keep their values, and if the destination is at least as wide as the
    /// source. Elements beyond the end of `src` are skipped.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Extend};
    /// let pack = Elements { src_bits: 8, dst_bits: 4, extend: Extend::Sign };
    /// let layout = TensorLayout::row_major(&[2, 2])?;
    /// assert_eq!(pack.first_lossy(&layout, &[7, 0xF8, 0, 1]), None);
    /// let lossy = pack.first_lossy(&layout, &[7, 0xF8, 40, 1]).unwrap();
    /// assert_eq!((lossy.coord.as_slice(), lossy.value, lossy.least, lossy.most), (&[1, 0][..], 40, -8, 7));
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn first_lossy(self, layout: &TensorLayout, src: &[u8]) -> Option<LossyElement> {
        let Elements { src_bits, dst_bits, extend } = self;
        if dst_bits == 0 || dst_bits >= src_bits || src_bits > 32 || self.keeps_all(src) {
            return None;
        }
        let (least, most) = match extend {
            Extend::Zero => (0, (1i64 << dst_bits) - 1),
            Extend::Sign => (-1 << (dst_bits - 1), (1i64 << (dst_bits - 1)) - 1),
        };
        layout.in_order().find_map(|(coord, offset)| {
            let value = self.value(src, usize::try_from(offset).ok()?)?;
            (!(least..=most).contains(&value)).then_some(LossyElement { coord, value, least, most })
        })
    }

    /// Returns whether every element keeps its value wherever in these bytes elements are stored. Returns `false`, not
    /// known, if the width is not a whole number of bytes.
    fn keeps_all(self, src: &[u8]) -> bool {
        let shift = 32 - self.dst_bits;
        let keeps = |wide: i32, unsigned: u32| match self.extend {
            Extend::Sign => wide << shift >> shift == wide,
            Extend::Zero => unsigned << shift >> shift == unsigned,
        };
        // The loop over a block does not exit early, which would prevent vectorisation.
        let all = |one: &dyn Fn(&[u8]) -> bool| src.chunks(BLOCK).all(one);
        match self.src_bits {
            8 => all(&|block| {
                block.iter().fold(true, |kept, &x| kept & keeps(i32::from(x as i8), x.into()))
            }),
            16 => all(&|block| {
                block.as_chunks::<2>().0.iter().fold(true, |kept, &x| {
                    kept & keeps(i16::from_le_bytes(x).into(), u16::from_le_bytes(x).into())
                })
            }),
            32 => all(&|block| {
                block.as_chunks::<4>().0.iter().fold(true, |kept, &x| {
                    kept & keeps(i32::from_le_bytes(x), u32::from_le_bytes(x))
                })
            }),
            _ => false,
        }
    }

    /// The value of an element of at most 32 bits.
    fn value(self, src: &[u8], at: usize) -> Option<i64> {
        let bits = self.src_bits;
        let first = at.checked_mul(bits as usize)?;
        let whole = (bits as usize).div_ceil(8);
        let bytes = src.get(first / 8..(first / 8).checked_add(whole)?)?;
        let wide = bytes.iter().rev().fold(0u64, |wide, &byte| wide << 8 | u64::from(byte));
        let shift = 64 - bits;
        let high = wide >> (first % 8) << shift;
        Some(match self.extend {
            Extend::Sign => high as i64 >> shift,
            Extend::Zero => (high >> shift) as i64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;

    const WIDTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];

    /// No element is reported if and only if narrowing and widening again gives the source.
    #[test]
    fn what_is_not_cut_comes_back() {
        let narrowed = |layout: &TensorLayout, pack: Elements, src: &[u8]| {
            let Elements { src_bits, dst_bits, extend } = pack;
            let wide = Elements { src_bits: dst_bits, dst_bits: src_bits, extend };
            let there = Plan::new(layout, layout, pack, 0).unwrap();
            let mut narrow = vec![0; there.dst_bytes() as usize];
            there.run(src, &mut narrow, 1).unwrap();
            let back = Plan::new(layout, layout, wide, 0).unwrap();
            let mut out = vec![0; src.len()];
            back.run(&narrow, &mut out, 1).unwrap();
            out
        };
        let mut state = 7u64;
        let mut cuts = [0, 0];
        for (src_bits, dst_bits) in WIDTHS.iter().flat_map(|&a| WIDTHS.map(|b| (a, b))) {
            for extend in [Extend::Zero, Extend::Sign] {
                let pack = Elements { src_bits, dst_bits, extend };
                for count in [1u64, 3, 8, 40] {
                    let layout = TensorLayout::row_major(&[count]).unwrap();
                    for round in 0..8 {
                        let len = (count * u64::from(src_bits)).div_ceil(8) as usize;
                        let mut next = || {
                            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
                            // Small values are included, so that some elements fit.
                            [(state >> 56) as u8, (state >> 60) as u8, 0, 0xFF][round % 4]
                        };
                        let mut src: Vec<u8> = (0..len).map(|_| next()).collect();
                        let odd = (count * u64::from(src_bits) % 8) as u32;
                        if let Some(last) = src.last_mut().filter(|_| odd > 0) {
                            *last &= (1 << odd) - 1;
                        }
                        let found = pack.first_lossy(&layout, &src);
                        let kept = dst_bits >= src_bits || narrowed(&layout, pack, &src) == src;
                        assert_eq!(found.is_none(), kept, "{pack:?} {src:?} {found:?}");
                        cuts[usize::from(kept)] += 1;
                    }
                }
            }
        }
        assert!(cuts.iter().all(|&count| count > 100), "{cuts:?}");
    }

    #[test]
    fn padding_and_gaps_are_not_looked_at() {
        let pack = Elements { src_bits: 8, dst_bits: 4, extend: Extend::Zero };
        let mode = tilewright_core::Layout::parse("(2,2):(3,1)").unwrap();
        let padded = TensorLayout::new(&[2, 2], &mode, 6).unwrap();
        assert_eq!(pack.first_lossy(&padded, &[1, 2, 99, 3, 4, 99]), None);
        let lossy = pack.first_lossy(&padded, &[1, 2, 99, 3, 16, 99]).unwrap();
        assert_eq!((lossy.coord.as_slice(), lossy.value), (&[1, 1][..], 16));
        assert_eq!(pack.first_lossy(&padded, &[1, 2, 99]), None);
    }
}
