//! Sums of two tables under a swizzle, rewritten as sums.
//!
//! Law: if entries of the two tables share no bit, the swizzle of their sum is [`SwizzledSide::outer`] of the outer entry plus
//! [`SwizzledSide::image`] of the inner entry xored with [`SwizzledSide::key`] of the outer entry.
//!
//! A swizzle is linear over xor, and sums without a carry are xors. So an entry of the outer table changes the images
//! of all entries of the inner table by the same bits, its key. The remaining bits of its own image, which no image of
//! the inner table has, are added.

use tilewright_core::Swizzle;

/// The swizzle of one side, applied to sums of an outer and an inner table.
#[derive(Clone, Copy)]
pub(crate) struct SwizzledSide<'a> {
    swizzle: &'a Swizzle,
    /// The bits that occur in images of the inner table; 0 if the swizzle is the identity.
    within: i64,
}

impl<'a> SwizzledSide<'a> {
    /// Returns `None` if some sums carry.
    pub(crate) fn of(
        swizzle: &'a Swizzle,
        outer: impl Iterator<Item = i64>,
        inner: impl Iterator<Item = i64>,
    ) -> Option<SwizzledSide<'a>> {
        let mut side = SwizzledSide { swizzle, within: 0 };
        if swizzle.is_identity() {
            return Some(side);
        }
        let outer = outer.fold(0, |a, b| a | b);
        let mut all = 0;
        for at in inner {
            all |= at;
            side.within |= side.image(at);
        }
        (outer >= 0 && all >= 0 && outer & all == 0).then_some(side)
    }

    /// Returns the bits that an entry of the outer table changes in the images of the inner table.
    pub(crate) fn key(self, outer: i64) -> i64 {
        self.image(outer) & self.within
    }

    pub(crate) fn outer(self, outer: i64) -> i64 {
        self.image(outer) & !self.within
    }

    /// Returns the image of an entry, before keys are applied.
    pub(crate) fn image(self, offset: i64) -> i64 {
        if self.swizzle.is_identity() { offset } else { self.swizzle.apply(offset as u64) as i64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_both_parts_are_swizzled_sums() {
        let mut found = 0;
        let family = (0..=3).flat_map(|bits| (0..=3).map(move |base| (bits, base)));
        let family = family.flat_map(|(bits, base)| {
            [-4, -3, 3, 4].map(|shift| Swizzle::new(bits, base, shift).unwrap())
        });
        let matrices: [&[u64]; 4] = [
            &[2, 1],
            &[512, 256, 128, 64, 32, 16, 8, 4, 2, 1],
            &[1, 3, 7, 15, 31, 63, 127, 255, 511, 1023],
            &[1 + 2 + 64, 2 + 8, 4 + 512, 8, 16 + 32, 32 + 128, 64, 128 + 256, 256, 512],
        ];
        let matrices = matrices.map(|images| Swizzle::of_images(images).unwrap());
        for swizzle in family.chain(matrices) {
            // Outer tables have a subset of ten bits; only some of the subsets are tested.
            for mask in (0..1i64 << 10).step_by(tilewright_testing::cases(7, 31)) {
                let within = |mask: i64| (0..1i64 << 10).filter(move |x| x & !mask == 0);
                let (outer, inner) = (within(mask), within(1023 ^ mask));
                let side = SwizzledSide::of(&swizzle, outer.clone(), inner.clone()).unwrap();
                found += 1;
                for (x, y) in outer.flat_map(|x| inner.clone().map(move |y| (x, y))) {
                    let sum = side.outer(x) + (side.image(y) ^ side.key(x));
                    assert_eq!(sum as u64, swizzle.apply((x + y) as u64), "{swizzle} {x} {y}");
                }
            }
        }
        assert!(found > 1000, "{found}");
        let swizzle = Swizzle::new(2, 1, 2).unwrap();
        assert!(
            SwizzledSide::of(&swizzle, [4, 8].into_iter(), [4].into_iter()).is_none(),
            "a carry"
        );
    }
}
