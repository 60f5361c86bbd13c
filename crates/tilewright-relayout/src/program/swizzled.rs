//! Sums of two tables under a swizzle, as sums again.
//!
//! Law: where entries of the two tables have no bit in common, [`Side::outer`] of the one plus [`Side::inner`]
//! of the other is the swizzle of their sum.
//!
//! A swizzle is linear over xor, and sums without a carry are xors. So an entry of the outer table changes all
//! entries of the inner one by the same bits, its key.

use tilewright_core::Swizzle;

/// How the entries of two tables come under a swizzle, on one side.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    swizzle: Swizzle,
    /// Whether the swizzle neither reads nor changes bits of the inner table.
    apart: bool,
}

impl Side {
    /// `None` where sums carry, or the swizzle changes bits that both tables would have.
    pub(crate) fn of(
        swizzle: Swizzle,
        outer: impl Iterator<Item = i64>,
        inner: impl Iterator<Item = i64>,
    ) -> Option<Side> {
        if swizzle.is_identity() {
            return Some(Side { swizzle, apart: true });
        }
        let (outer, inner) = (outer.fold(0, |a, b| a | b), inner.fold(0, |a, b| a | b));
        // What a swizzle changes where all its sources are set, and what it reads.
        let all = i64::MAX as u64 >> 1;
        let changed = (all ^ swizzle.apply(all)) as i64;
        let fields = match swizzle.shift() {
            shift @ 0.. => changed | changed << shift,
            shift => changed | changed >> -shift,
        };
        if outer < 0 || inner < 0 || outer & inner != 0 {
            return None;
        }
        let apart = inner & fields == 0;
        (apart || outer & changed == 0).then_some(Side { swizzle, apart })
    }

    /// What an entry of the outer table changes in the inner one.
    pub(crate) fn key(self, outer: i64) -> i64 {
        if self.apart { 0 } else { self.apply(outer) ^ outer }
    }

    pub(crate) fn outer(self, outer: i64) -> i64 {
        if self.apart { self.apply(outer) } else { outer }
    }

    pub(crate) fn inner(self, inner: i64, key: i64) -> i64 {
        if self.apart { inner } else { self.apply(inner) ^ key }
    }

    fn apply(self, offset: i64) -> i64 {
        if self.swizzle.is_identity() { offset } else { self.swizzle.apply(offset as u64) as i64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_both_parts_are_swizzled_sums() {
        let mut found = 0;
        for (bits, base) in (0..=3).flat_map(|bits| (0..=3).map(move |base| (bits, base))) {
            for shift in [-4, -3, 3, 4] {
                let swizzle = Swizzle::new(bits, base, shift).unwrap();
                // Bits of the outer table: all subsets of ten, some of two.
                for mask in (0..1i64 << 10).step_by(7) {
                    let within = |mask: i64| (0..1i64 << 10).filter(move |x| x & !mask == 0);
                    let (outer, inner) = (within(mask), within(1023 ^ mask));
                    let side = Side::of(swizzle, outer.clone(), inner.clone());
                    let Some(side) = side else { continue };
                    found += 1;
                    for (x, y) in outer.flat_map(|x| inner.clone().map(move |y| (x, y))) {
                        let sum = side.outer(x) + side.inner(y, side.key(x));
                        assert_eq!(sum as u64, swizzle.apply((x + y) as u64), "{swizzle} {x} {y}");
                    }
                }
            }
        }
        assert!(found > 1000, "{found}");
        let swizzle = Swizzle::new(2, 1, 2).unwrap();
        assert!(Side::of(swizzle, [4, 8].into_iter(), [4].into_iter()).is_none(), "a carry");
        assert!(Side::of(swizzle, [2].into_iter(), [8].into_iter()).is_none(), "a bit of both");
    }
}
