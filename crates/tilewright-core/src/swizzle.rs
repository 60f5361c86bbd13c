//! CuTe's xor family.
//!
//! Law: `apply ∘ apply = identity`; bits outside the target mask never change.

use crate::Error;

/// `y ↦ y ^ ((y & source) >> shift)`: CuTe's `Swizzle<bits, base, shift>`.
///
/// `bits` bits at `base + max(shift, 0)` are xored into the `bits` bits at `base + max(−shift, 0)`.
/// Source: CUTLASS `include/cute/swizzle.hpp`.
///
/// ```
/// use tilewright_core::Swizzle;
/// let swizzle = Swizzle::new(2, 0, 2).unwrap();
/// let image: Vec<u64> = (0..16).map(|offset| swizzle.apply(offset)).collect();
/// assert_eq!(image, [0, 1, 2, 3, 5, 4, 7, 6, 10, 11, 8, 9, 15, 14, 13, 12]);
///
/// // The two bit fields must not overlap.
/// assert!(Swizzle::new(3, 0, 2).unwrap_err().is_illegal());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Swizzle {
    bits: u8,
    base: u8,
    shift: i8,
}

impl Swizzle {
    /// The swizzle that changes nothing.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// assert_eq!(Swizzle::IDENTITY.apply(37), 37);
    /// assert_eq!(Swizzle::new(0, 4, 3).unwrap(), Swizzle::IDENTITY);
    /// ```
    pub const IDENTITY: Swizzle = Swizzle { bits: 0, base: 0, shift: 0 };

    /// `bits` bits, the lowest at `base`, their sources `shift` bits higher (lower if negative).
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) if `|shift| < bits` (the fields overlap),
    /// [limit](Error::is_limit) if `bits + base + |shift| > 62`.
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
                "swizzle <{},{},{}> reaches beyond bit 62",
                [bits as i128, base as i128, shift as i128],
                "bits + base + |shift| must be at most 62",
            ));
        }
        // Without bits, base and shift mean nothing: one value for the identity.
        if bits == 0 { Ok(Swizzle::IDENTITY) } else { Ok(Swizzle { bits, base, shift }) }
    }

    /// The number of bits changed.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// let swizzle = Swizzle::new(2, 3, 3).unwrap();
    /// // 2 bits: each atom goes to one of four places.
    /// assert_eq!(swizzle.bits(), 2);
    /// ```
    pub const fn bits(self) -> u8 {
        self.bits
    }

    /// The lowest bit of the lower field.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// // The three low bits stay: eight elements move together.
    /// let swizzle = Swizzle::new(2, 3, 3).unwrap();
    /// assert_eq!((swizzle.base(), swizzle.apply(0b01_000_101) & 0b111), (3, 0b101));
    /// ```
    pub const fn base(self) -> u8 {
        self.base
    }

    /// How far above the changed bits their sources are; negative: below.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// let up = Swizzle::new(2, 0, -2).unwrap();
    /// // The sources are below: bits 0 and 1 change bits 2 and 3.
    /// assert_eq!((up.shift(), up.apply(0b0001)), (-2, 0b0101));
    /// ```
    pub const fn shift(self) -> i8 {
        self.shift
    }

    /// Whether nothing is changed.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// assert!(Swizzle::new(0, 3, 3).unwrap().is_identity());
    /// assert!(!Swizzle::new(3, 3, 3).unwrap().is_identity());
    /// ```
    #[inline]
    pub const fn is_identity(self) -> bool {
        self.bits == 0
    }

    /// The swizzled offset. Offsets of 2⁶² and more keep their high bits.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// let swizzle = Swizzle::new(3, 3, 3).unwrap();
    /// // Row 5 of eight 64-element rows: atom 0 changes places with atom 5.
    /// assert_eq!(swizzle.apply(5 * 64), 5 * 64 + 5 * 8);
    /// assert_eq!(swizzle.apply(swizzle.apply(12_345)), 12_345);
    /// ```
    pub const fn apply(self, offset: u64) -> u64 {
        let mask = ((1u64 << self.bits) - 1) << self.base;
        if self.shift >= 0 {
            let shift = self.shift as u32;
            offset ^ ((offset & (mask << shift)) >> shift)
        } else {
            let shift = self.shift.unsigned_abs() as u32;
            offset ^ ((offset & mask) << shift)
        }
    }

    /// The swizzle with the fewest bits that does the same to all offsets from 0 to `last`: sources above
    /// its highest bit are 0 everywhere.
    pub(crate) const fn up_to(self, last: u64) -> Swizzle {
        let up = if self.shift > 0 { self.shift as u32 } else { 0 };
        let lowest = self.base as u32 + up;
        let bits = (u64::BITS - last.leading_zeros()).saturating_sub(lowest);
        match bits {
            0 => Swizzle::IDENTITY,
            bits if bits < self.bits as u32 => Swizzle { bits: bits as u8, ..self },
            _ => self,
        }
    }

    /// The size of the aligned blocks of offsets that are permuted within themselves: a power of two,
    /// 1 for the identity.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// // Bits 3 to 5 change by bits 6 to 8: blocks of 64 elements keep their own.
    /// assert_eq!(Swizzle::new(3, 3, 3).unwrap().window(), 64);
    /// assert_eq!(Swizzle::IDENTITY.window(), 1);
    /// ```
    pub const fn window(self) -> u64 {
        if self.bits == 0 {
            return 1;
        }
        let up = if self.shift < 0 { self.shift.unsigned_abs() } else { 0 };
        1 << (self.base + self.bits + up)
    }

    /// The size of the aligned blocks of offsets that stay contiguous.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// // Eight 16-bit elements, 16 bytes, are one vector load.
    /// assert_eq!(Swizzle::new(3, 3, 3).unwrap().atom(), 8);
    /// ```
    pub const fn atom(self) -> u64 {
        if self.bits == 0 { 1 << 62 } else { 1 << self.base }
    }
}

impl core::fmt::Display for Swizzle {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Sw<{},{},{}>", self.bits, self.base, self.shift)
    }
}

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
                // One bit less would not do.
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
