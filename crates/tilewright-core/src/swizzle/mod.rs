//! Permutations of offsets that are linear over xor: CuTe's family, and every other invertible matrix.
//!
//! Laws: `apply` is a bijection with `apply(x ⊕ y) = apply(x) ⊕ apply(y)`; `inverse ∘ apply = identity`; aligned blocks of
//! a window are permuted within themselves, and aligned blocks of an atom stay contiguous. A value of CuTe's family has only
//! one form, so equal maps are equal values.

pub(crate) mod matrix;

use crate::Error;

/// The number of low bits of an offset that a swizzle may read or change.
pub(crate) const MAX_BITS: usize = 62;

/// A permutation of offsets that is linear over xor: an invertible matrix of bits on the offset.
///
/// CuTe's `Swizzle<bits, base, shift>` is the case `y ↦ y ^ ((y & source) >> shift)`: `bits` bits at
/// `base + max(shift, 0)` are xored into the `bits` bits at `base + max(−shift, 0)`. It prints as `Sw<bits,base,shift>`. Any
/// other swizzle is created [from images](Swizzle::of_images) and prints as these: `F2<…>`. Source: CUTLASS
/// `include/cute/swizzle.hpp`; Zhou et al., "Linear Layouts", 2025.
///
/// ```
/// use tilewright_core::Swizzle;
/// let swizzle = Swizzle::new(2, 0, 2).unwrap();
/// let image: Vec<u64> = (0..16).map(|offset| swizzle.apply(offset)).collect();
/// assert_eq!(image, [0, 1, 2, 3, 5, 4, 7, 6, 10, 11, 8, 9, 15, 14, 13, 12]);
///
/// // The two bit fields must not overlap.
/// assert!(Swizzle::new(3, 0, 2).unwrap_err().is_illegal());
///
/// // 1, 2 and 4 change places in a circle, and 8 brings 1 along.
/// let other = Swizzle::of_images(&[2, 4, 1, 9]).unwrap();
/// assert_eq!((other.apply(7), other.apply(8 + 4), other.to_string()), (7, 8, "F2<2,4,1,9>".into()));
/// ```
#[must_use]
#[doc(alias = "F2")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Swizzle {
    bits: u8,
    base: u8,
    shift: i8,
    /// The number of low bits that a map beyond CuTe's family moves; 0 for one of the family.
    len: u8,
    /// The images of 1, 2, 4 …; 0 after the last, and in CuTe's family.
    images: [u64; MAX_BITS],
}

impl Default for Swizzle {
    fn default() -> Swizzle {
        Swizzle::IDENTITY
    }
}

impl Swizzle {
    /// The swizzle that changes nothing.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// assert_eq!(Swizzle::IDENTITY.apply(37), 37);
    /// assert_eq!(Swizzle::new(0, 4, 3).unwrap(), Swizzle::IDENTITY);
    /// ```
    pub const IDENTITY: Swizzle =
        Swizzle { bits: 0, base: 0, shift: 0, len: 0, images: [0; MAX_BITS] };

    /// Creates the swizzle that changes `bits` bits, the lowest at `base`, whose sources are `shift` bits higher (lower if
    /// negative).
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) if `|shift| < bits` (the fields overlap); [limit](Error::is_limit) if
    /// `bits + base + |shift| > 62`.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// // Hopper's 128-byte swizzle of 16-bit elements: 8 atoms of 8 elements.
    /// assert_eq!(Swizzle::new(3, 3, 3).unwrap().to_string(), "Sw<3,3,3>");
    /// assert!(Swizzle::new(3, 3, 2).unwrap_err().is_illegal());
    /// assert!(Swizzle::new(3, 60, 3).unwrap_err().is_limit());
    /// ```
    pub const fn new(bits: u8, base: u8, shift: i8) -> Result<Swizzle, Error> {
        if (shift.unsigned_abs()) < bits {
            return Err(Error::illegal(
                "swizzle with {} bits and shift {}: the bit fields overlap",
                [bits as i128, shift as i128],
                "|shift| must be at least the number of bits",
            ));
        }
        if bits as u32 + base as u32 + shift.unsigned_abs() as u32 > 62 {
            return Err(Error::limit(
                "swizzle <{},{},{}> is not within bits 0 to 62",
                [bits as i128, base as i128, shift as i128],
                "bits and base are 0 or more, and bits + base + |shift| is at most 62",
            ));
        }
        // Without bits, base and shift are meaningless: the identity has one form.
        if bits == 0 {
            Ok(Swizzle::IDENTITY)
        } else {
            Ok(Swizzle { bits, base, shift, ..Swizzle::IDENTITY })
        }
    }

    /// Returns the number of bits of the offset that it changes.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// let swizzle = Swizzle::new(2, 3, 3).unwrap();
    /// // 2 bits: each atom goes to one of four places.
    /// assert_eq!(swizzle.bits(), 2);
    /// ```
    pub const fn bits(&self) -> u8 {
        if self.len == 0 { self.bits } else { self.changed().count_ones() as u8 }
    }

    /// Returns the lowest bit that is read or changed: that of the lower field.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// // The three low bits do not change: eight elements move together.
    /// let swizzle = Swizzle::new(2, 3, 3).unwrap();
    /// assert_eq!((swizzle.base(), swizzle.apply(0b01_000_101) & 0b111), (3, 0b101));
    /// ```
    pub const fn base(&self) -> u8 {
        if self.len == 0 { self.base } else { self.touched().trailing_zeros() as u8 }
    }

    /// Returns the distance from the changed bits up to their sources; negative if the sources are below. 0 without a
    /// single distance: for the identity, and beyond [CuTe's family](Swizzle::is_field_xor).
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// let up = Swizzle::new(2, 0, -2).unwrap();
    /// // The sources are below: bits 0 and 1 change bits 2 and 3.
    /// assert_eq!((up.shift(), up.apply(0b0001)), (-2, 0b0101));
    /// ```
    pub const fn shift(&self) -> i8 {
        self.shift
    }

    /// Returns whether the swizzle is in CuTe's family, which three numbers describe.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// assert!(Swizzle::of_images(&[1, 3]).unwrap().is_field_xor());
    /// assert!(!Swizzle::of_images(&[2, 1]).unwrap().is_field_xor());
    /// ```
    #[inline]
    pub const fn is_field_xor(&self) -> bool {
        self.len == 0
    }

    /// Returns the images of 1, 2, 4 …, up to the highest bit that moves or is moved to; empty for CuTe's family, which
    /// three numbers describe.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// assert_eq!(Swizzle::of_images(&[2, 1, 4]).unwrap().images(), [2, 1]);
    /// assert!(Swizzle::new(3, 3, 3).unwrap().images().is_empty());
    /// ```
    pub const fn images(&self) -> &[u64] {
        self.images.split_at(self.len as usize).0
    }

    /// Creates the swizzle with these images, which are independent and not of CuTe's family.
    pub(crate) const fn of_matrix(images: [u64; MAX_BITS], len: usize) -> Swizzle {
        Swizzle { len: len as u8, images, ..Swizzle::IDENTITY }
    }

    /// Returns whether nothing is changed.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// assert!(Swizzle::new(0, 3, 3).unwrap().is_identity());
    /// assert!(!Swizzle::new(3, 3, 3).unwrap().is_identity());
    /// ```
    #[inline]
    pub const fn is_identity(&self) -> bool {
        self.bits == 0 && self.len == 0
    }

    /// Returns the swizzled offset. Offsets of 2⁶² and more keep their high bits.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// let swizzle = Swizzle::new(3, 3, 3).unwrap();
    /// // Row 5 of eight 64-element rows: atoms 0 and 5 are exchanged.
    /// assert_eq!(swizzle.apply(5 * 64), 5 * 64 + 5 * 8);
    /// assert_eq!(swizzle.apply(swizzle.apply(12_345)), 12_345);
    /// ```
    #[inline]
    pub const fn apply(&self, offset: u64) -> u64 {
        if self.len > 0 {
            return self.xor_of_images(offset);
        }
        let mask = ((1u64 << self.bits) - 1) << self.base;
        if self.shift >= 0 {
            let shift = self.shift as u32;
            offset ^ ((offset & (mask << shift)) >> shift)
        } else {
            let shift = self.shift.unsigned_abs() as u32;
            offset ^ ((offset & mask) << shift)
        }
    }

    const fn xor_of_images(&self, offset: u64) -> u64 {
        let mut rest = offset & ((1 << self.len) - 1);
        let mut image = offset ^ rest;
        while rest != 0 {
            image ^= self.images[rest.trailing_zeros() as usize];
            rest &= rest - 1;
        }
        image
    }

    /// Returns the swizzle of the fewest bits that is equal on all offsets from 0 to `last`: sources above its highest bit
    /// are 0 there. A swizzle beyond CuTe's family is unchanged.
    pub(crate) const fn up_to(&self, last: u64) -> Swizzle {
        if self.len > 0 {
            return *self;
        }
        let up = if self.shift > 0 { self.shift as u32 } else { 0 };
        let lowest = self.base as u32 + up;
        let bits = (u64::BITS - last.leading_zeros()).saturating_sub(lowest);
        match bits {
            0 => Swizzle::IDENTITY,
            bits if bits < self.bits as u32 => Swizzle { bits: bits as u8, ..*self },
            _ => *self,
        }
    }

    /// Returns the size of the aligned blocks of offsets that are permuted within themselves: a power of two, 1 for the
    /// identity.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// // Bits 3 to 5 change by bits 6 to 8: blocks of 64 elements keep their elements.
    /// assert_eq!(Swizzle::new(3, 3, 3).unwrap().window(), 64);
    /// assert_eq!(Swizzle::IDENTITY.window(), 1);
    /// ```
    pub const fn window(&self) -> u64 {
        if self.len > 0 {
            return 1 << (u64::BITS - self.changed().leading_zeros());
        }
        if self.bits == 0 {
            return 1;
        }
        let up = if self.shift < 0 { self.shift.unsigned_abs() } else { 0 };
        1 << (self.base + self.bits + up)
    }

    /// Returns the size of the aligned blocks of offsets that stay contiguous, a power of two.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// // Eight 16-bit elements, 16 bytes, are one vector load.
    /// assert_eq!(Swizzle::new(3, 3, 3).unwrap().atom(), 8);
    /// ```
    pub const fn atom(&self) -> u64 {
        if self.is_identity() { 1 << 62 } else { 1 << self.base() }
    }
}

impl core::fmt::Display for Swizzle {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.len == 0 {
            return write!(f, "Sw<{},{},{}>", self.bits, self.base, self.shift);
        }
        f.write_str("F2")?;
        for (i, image) in self.images().iter().enumerate() {
            write!(f, "{}{image}", if i == 0 { '<' } else { ',' })?;
        }
        f.write_str(">")
    }
}

crate::macros::debug_as_display!(Swizzle);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swizzle_of_few_offsets_is_one_of_few_bits() {
        let mut fewer = 0;
        for (bits, base, shift) in (0..4u8)
            .flat_map(|n| (0..3u8).flat_map(move |at| (-4i8..=4).map(move |by| (n, at, by))))
        {
            let Ok(swizzle) = Swizzle::new(bits, base, shift) else { continue };
            for last in 0..600 {
                let short = swizzle.up_to(last);
                assert!((0..=last).all(|offset| short.apply(offset) == swizzle.apply(offset)));
                // One bit less would not suffice.
                if short != Swizzle::IDENTITY {
                    let less = Swizzle { bits: short.bits - 1, ..short };
                    assert!((0..=last).any(|offset| less.apply(offset) != swizzle.apply(offset)));
                }
                fewer += u32::from(short != swizzle);
            }
        }
        assert!(fewer > 1000, "{fewer}");
    }

    #[test]
    fn every_small_swizzle_is_an_involution_within_its_window() {
        for bits in 0..4u8 {
            for base in 0..4u8 {
                for shift in -4i8..=4 {
                    let Ok(swizzle) = Swizzle::new(bits, base, shift) else {
                        assert!(shift.unsigned_abs() < bits);
                        continue;
                    };
                    for offset in 0..4096 {
                        let image = swizzle.apply(offset);
                        assert_eq!(swizzle.apply(image), offset);
                        assert_eq!(image / swizzle.window(), offset / swizzle.window());
                        assert_eq!(image % swizzle.atom().min(1 << base), offset % (1 << base));
                    }
                }
            }
        }
    }
}
