//! Swizzles as matrices over xor: created from images, inverted, multiplied.
//!
//! Laws: `of_images(m).apply(1 << i) = m[i]`; `s.inverse().apply(s.apply(x)) = x`;
//! `a.after(b).apply(x) = a.apply(b.apply(x))`.

use crate::{Error, Swizzle, linear::Solver, swizzle::MAX_BITS};

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
    use std::{collections::BTreeSet, string::ToString, vec::Vec};

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
