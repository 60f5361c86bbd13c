//! Permutations of offsets that are linear over xor: CuTe's family, and every other invertible matrix, created from images,
//! inverted and multiplied.
//!
//! Laws: `apply` is a bijection with `apply(x ⊕ y) = apply(x) ⊕ apply(y)`; `inverse ∘ apply = identity`; aligned blocks of
//! a window are permuted within themselves, and aligned blocks of an atom stay contiguous. A value of CuTe's family has only
//! one form, so equal maps are equal values.
//!
//! As matrices: `of_images(m).apply(1 << i) = m[i]`; `s.inverse().apply(s.apply(x)) = x`;
//! `a.after(b).apply(x) = a.apply(b.apply(x))`.

use crate::{Error, linear::Solver};

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

crate::const_fn::debug_as_display!(Swizzle);

// Swizzles as matrices over xor.

impl Swizzle {
    /// Creates the swizzle that sends 1, 2, 4 … to these images, and a xor of some of them to the xor of their images.
    /// Higher bits are unchanged.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) if two offsets have one image, with both; [out of range](Error::is_out_of_range) for an
    /// image with more bits than there are images; [limit](Error::is_limit) beyond 62 images.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// // 4 becomes 5, and 8 becomes 10: CuTe's Sw<2,0,2>.
    /// let swizzle = Swizzle::of_images(&[1, 2, 5, 10]).unwrap();
    /// assert_eq!(swizzle, Swizzle::new(2, 0, 2).unwrap());
    ///
    /// let error = Swizzle::of_images(&[1, 2, 3]).unwrap_err();
    /// assert!(error.is_illegal());
    /// assert!(error.to_string().starts_with("offsets 4 and 3 have one image, 3"));
    /// assert!(Swizzle::of_images(&[1, 4]).unwrap_err().is_out_of_range());
    /// ```
    pub const fn of_images(images: &[u64]) -> Result<Swizzle, Error> {
        if images.len() > MAX_BITS {
            return Err(Error::limit(
                "{} images of bits",
                [images.len() as i128],
                "a swizzle moves at most the lowest 62 bits of an offset",
            ));
        }
        let (mut all, mut i) = ([0; MAX_BITS], 0);
        while i < images.len() {
            if images[i] >> images.len() != 0 {
                return Err(Error::out_of_range(
                    "offset {} has the image {}, which does not fit the {} bits of the images",
                    [1 << i, images[i] as i128, images.len() as i128],
                    "n images permute the offsets below 2^n; give images for higher bits too",
                ));
            }
            all[i] = images[i];
            i += 1;
        }
        if let Some((a, b)) = Solver::new(images).collision() {
            return Err(Error::illegal(
                "offsets {} and {} have one image, {}",
                [a as i128, b as i128, images[a.trailing_zeros() as usize] as i128],
                "no image may be the xor of others",
            ));
        }
        Ok(Swizzle::of_bijection(all, images.len()))
    }

    /// Creates the swizzle with these images, which are known to be independent.
    pub(crate) const fn of_bijection(mut images: [u64; MAX_BITS], count: usize) -> Swizzle {
        let (mut touched, mut bit) = (0, 0);
        while bit < count {
            let own = 1 << bit;
            touched |= if images[bit] == own { 0 } else { images[bit] | own };
            bit += 1;
        }
        let len = (u64::BITS - touched.leading_zeros()) as usize;
        while bit > len {
            bit -= 1;
            images[bit] = 0;
        }
        match field_xor(&images, len) {
            Some(swizzle) => swizzle,
            None => Swizzle::of_matrix(images, len),
        }
    }

    pub(crate) const fn image(&self, bit: usize) -> u64 {
        self.apply(1 << bit)
    }

    /// Returns the inverse swizzle; a swizzle of CuTe's family is its own inverse.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// let circle = Swizzle::of_images(&[2, 4, 1]).unwrap();
    /// assert_eq!(circle.inverse().to_string(), "F2<4,1,2>");
    /// assert_eq!(circle.inverse().apply(circle.apply(1234)), 1234);
    /// ```
    pub const fn inverse(&self) -> Swizzle {
        if self.is_field_xor() {
            return *self;
        }
        let solver = Solver::new(self.images());
        let (mut images, mut bit) = ([0; MAX_BITS], 0);
        while bit < self.images().len() {
            // The images are independent, so each bit is the xor of some.
            images[bit] = match solver.solve(1 << bit) {
                Some(columns) => columns,
                None => 1 << bit,
            };
            bit += 1;
        }
        Swizzle::of_bijection(images, self.images().len())
    }

    /// Returns the swizzle that applies `inner` first, then this one.
    ///
    /// ```
    /// use tilewright_core::Swizzle;
    /// let (a, b) = (Swizzle::new(2, 0, 2).unwrap(), Swizzle::new(1, 0, 3).unwrap());
    /// let both = a.after(&b);
    /// assert_eq!(both.apply(0b1000), a.apply(b.apply(0b1000)));
    /// // Applied twice, it is the identity.
    /// assert!(a.after(&a).is_identity());
    /// ```
    pub const fn after(&self, inner: &Swizzle) -> Swizzle {
        let (mut images, mut bit) = ([0; MAX_BITS], 0);
        while bit < MAX_BITS {
            images[bit] = self.apply(inner.image(bit));
            bit += 1;
        }
        Swizzle::of_bijection(images, MAX_BITS)
    }

    /// Returns this swizzle on offsets that count elements 2^`bits` times as small; `None` beyond 62 bits.
    pub(crate) const fn shifted_up(&self, bits: u32) -> Option<Swizzle> {
        let (mut images, mut bit) = ([0; MAX_BITS], 0);
        let reach = u64::BITS - self.touched().leading_zeros();
        if reach + bits > MAX_BITS as u32 {
            return None;
        }
        while bit < MAX_BITS {
            let own = bit as u32;
            images[bit] = if own < bits || own >= reach + bits {
                1 << bit
            } else {
                self.image(bit - bits as usize) << bits
            };
            bit += 1;
        }
        Some(Swizzle::of_bijection(images, MAX_BITS))
    }

    /// Returns this swizzle on offsets that count elements 2^`bits` times as large; `None` if these are torn apart.
    pub(crate) const fn shifted_down(&self, bits: u32) -> Option<Swizzle> {
        if self.atom().trailing_zeros() < bits {
            return None;
        }
        let (mut images, mut bit) = ([0; MAX_BITS], 0);
        while bit < MAX_BITS {
            let from = bit + bits as usize;
            images[bit] = if from < MAX_BITS { self.image(from) >> bits } else { 1 << bit };
            bit += 1;
        }
        Some(Swizzle::of_bijection(images, MAX_BITS))
    }

    /// Returns the bits that change for some offset.
    pub(crate) const fn changed(&self) -> u64 {
        let (mut changed, mut bit) = (0, 0);
        while bit < MAX_BITS {
            changed |= self.image(bit) ^ 1 << bit;
            bit += 1;
        }
        changed
    }

    /// Returns the bits that are changed, or that change others.
    pub(crate) const fn touched(&self) -> u64 {
        let (mut touched, mut bit) = (0, 0);
        while bit < MAX_BITS {
            let own = 1 << bit;
            if self.image(bit) != own {
                touched |= self.image(bit) ^ own | own;
            }
            bit += 1;
        }
        touched
    }

    /// Returns the two numbers for messages: how many bits change, and the lowest bit that is read or changed.
    pub(crate) const fn numbers(&self) -> [i128; 2] {
        [self.bits() as i128, self.base() as i128]
    }

    /// Returns whether both are the same map: `==` as a `const fn`.
    pub(crate) const fn same(&self, other: &Swizzle) -> bool {
        let mut bit = 0;
        while bit < MAX_BITS {
            if self.image(bit) != other.image(bit) {
                return false;
            }
            bit += 1;
        }
        true
    }
}

/// Iterator over CuTe's swizzles that read only bits below `read` and touch only bits below `touch`. Those of the
/// fewest bits come first, among these the ones that move bits the least, then the lowest.
pub(crate) struct Family {
    pub(crate) read: usize,
    pub(crate) touch: usize,
    bits: usize,
    far: usize,
    base: usize,
    down: bool,
}

impl Family {
    pub(crate) const fn new(read: usize, touch: usize) -> Family {
        Family { read, touch, bits: 1, far: 1, base: 0, down: false }
    }

    pub(crate) const fn next(&mut self) -> Option<Swizzle> {
        while self.bits <= self.read && 2 * self.bits <= self.touch {
            if self.bits + self.far > self.touch {
                (self.bits, self.far) = (self.bits + 1, self.bits + 1);
                continue;
            }
            if self.base + self.bits + self.far > self.touch {
                (self.far, self.base) = (self.far + 1, 0);
                continue;
            }
            let source = if self.down { self.base } else { self.base + self.far };
            let shift = if self.down { -(self.far as i8) } else { self.far as i8 };
            let next = Swizzle::new(self.bits as u8, self.base as u8, shift);
            (self.base, self.down) = (self.base + self.down as usize, !self.down);
            if source + self.bits <= self.read
                && let Ok(swizzle) = next
            {
                return Some(swizzle);
            }
        }
        None
    }
}

/// Returns the swizzle of CuTe's family that has these images, if there is one.
const fn field_xor(images: &[u64; MAX_BITS], len: usize) -> Option<Swizzle> {
    let (mut first, mut bits, mut bit) = (len, 0, 0);
    while bit < len {
        if images[bit] != 1 << bit {
            first = if bits == 0 { bit } else { first };
            bits += 1;
        }
        bit += 1;
    }
    if bits == 0 {
        return Some(Swizzle::IDENTITY);
    }
    let target = (images[first] ^ 1 << first).trailing_zeros() as usize;
    let base = if first < target { first } else { target };
    let shift = first as i8 - target as i8;
    let swizzle = match Swizzle::new(bits, base as u8, shift) {
        Ok(swizzle) => swizzle,
        Err(_) => return None,
    };
    bit = 0;
    while bit < len {
        if swizzle.image(bit) != images[bit] {
            return None;
        }
        bit += 1;
    }
    Some(swizzle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::string::ToString;
    use std::vec::Vec;

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

    /// Iterates over all lists of `len` images of `len` bits.
    fn matrices(len: u32) -> impl Iterator<Item = Vec<u64>> {
        let size = 1u64 << len;
        (0..size.pow(len)).map(move |i| (0..len).map(|bit| i >> (bit * len) & (size - 1)).collect())
    }

    fn naive(images: &[u64], x: u64) -> u64 {
        let low = (1 << images.len()) - 1;
        (0..images.len()).filter(|bit| x >> bit & 1 == 1).fold(x & !low, |y, bit| y ^ images[bit])
    }

    #[test]
    fn every_small_matrix_is_a_bijection_or_has_two_offsets_of_one_image() {
        let (mut bijections, mut family) = (0, 0);
        for images in (1..=3).flat_map(matrices) {
            let all: BTreeSet<u64> = (0..1 << images.len()).map(|x| naive(&images, x)).collect();
            match Swizzle::of_images(&images) {
                Ok(swizzle) => {
                    assert_eq!(all.len(), 1 << images.len());
                    bijections += 1;
                    family += u32::from(swizzle.is_field_xor());
                    let (inverse, window, atom) =
                        (swizzle.inverse(), swizzle.window(), swizzle.atom());
                    for x in 0..64 {
                        let image = swizzle.apply(x);
                        assert_eq!(image, naive(&images, x), "{swizzle}");
                        assert_eq!(inverse.apply(image), x, "{swizzle}");
                        assert_eq!(image / window, x / window, "{swizzle}");
                        let atom = atom.min(64);
                        assert_eq!(image, swizzle.apply(x / atom * atom) + x % atom, "{swizzle}");
                        assert_eq!(swizzle.apply(x / atom * atom) % atom, 0, "{swizzle}");
                    }
                    // Neither the window nor the atom could be better.
                    let within = |w: u64| (0..64).all(|x| swizzle.apply(x) / w == x / w);
                    assert!(window == 1 || !within(window / 2), "{swizzle}");
                    let stays = |a: u64| {
                        (0..64).all(|x| swizzle.apply(x) == swizzle.apply(x / a * a) + x % a)
                            && (0..64).all(|x| swizzle.apply(x / a * a) % a == 0)
                    };
                    assert!(swizzle.is_identity() || !stays(atom * 2), "{swizzle}");
                }
                Err(error) => {
                    assert!(error.is_illegal() && all.len() < 1 << images.len(), "{images:?}");
                    let (a, b) = Solver::new(&images).collision().unwrap();
                    assert!(a != b && naive(&images, a) == naive(&images, b), "{images:?}");
                }
            }
        }
        // 1 + 6 + 168 invertible matrices; all except those of the family print as images.
        assert_eq!((bijections, family > 5 && family < 30), (175, true), "{family}");
    }

    #[test]
    fn every_small_product_is_one_after_the_other_and_every_value_has_one_form() {
        let all: Vec<Swizzle> =
            matrices(3).filter_map(|images| Swizzle::of_images(&images).ok()).collect();
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            let both = a.after(b);
            assert!((0..16).all(|x| both.apply(x) == a.apply(b.apply(x))), "{a} {b}");
            assert_eq!(a == b, a.same(b));
        }
        for (bits, base) in (0..4u8).flat_map(|bits| (0..4).map(move |base| (bits, base))) {
            for shift in -5i8..=5 {
                let Ok(swizzle) = Swizzle::new(bits, base, shift) else { continue };
                let images: Vec<u64> = (0..14).map(|bit| swizzle.image(bit)).collect();
                assert_eq!(Swizzle::of_images(&images).unwrap(), swizzle);
                for by in 0..4 {
                    let up = swizzle.shifted_up(by).unwrap();
                    assert!(
                        (0..1 << 12)
                            .all(|x| up.apply(x)
                                == swizzle.apply(x >> by) << by | x & ((1 << by) - 1))
                    );
                    assert_eq!(up.shifted_down(by), Some(swizzle));
                }
            }
        }
    }

    #[test]
    fn the_family_is_every_swizzle_within_its_bounds() {
        for (read, touch) in (0..6).flat_map(|read| (0..7).map(move |touch| (read, touch))) {
            let (mut family, mut found) = (Family::new(read, touch), BTreeSet::new());
            while let Some(swizzle) = family.next() {
                assert!(found.insert(swizzle.to_string()), "{swizzle}");
            }
            let mut expected = BTreeSet::new();
            for (bits, base) in (1..8u8).flat_map(|bits| (0..8).map(move |base| (bits, base))) {
                for shift in -8i8..=8 {
                    let Ok(swizzle) = Swizzle::new(bits, base, shift) else { continue };
                    let source = usize::from(base) + shift.max(0) as usize + usize::from(bits);
                    if source <= read && swizzle.touched() >> touch == 0 {
                        expected.insert(swizzle.to_string());
                    }
                }
            }
            assert_eq!(found, expected, "{read} {touch}");
        }
    }

    #[test]
    fn the_widest_matrix_is_a_value() {
        let reversed: Vec<u64> = (0..62).map(|bit| 1 << (61 - bit)).collect();
        let swizzle = Swizzle::of_images(&reversed).unwrap();
        assert_eq!(swizzle.apply(swizzle.apply(0x0123_4567_89ab_cdef)), 0x0123_4567_89ab_cdef);
        assert_eq!((swizzle.window(), swizzle.atom(), swizzle.bits()), (1 << 62, 1, 62));
        assert_eq!(swizzle.inverse(), swizzle);
        let more: Vec<u64> = (0..63).map(|bit| 1 << bit).collect();
        assert!(Swizzle::of_images(&more).unwrap_err().is_limit());
    }
}
