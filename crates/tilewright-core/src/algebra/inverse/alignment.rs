//! `max_alignment`: the length of the aligned runs of elements that a layout consists of.
//!
//! Law: for n = `max_alignment(L)` and every k, all offsets from k·n to k·n + n − 1 have equally many coordinates. So a load of
//! n elements at a multiple of n reads only elements of L, where it reads one.
//!
//! The modes of strides 1, then their size, and so on are one run. The answer is what its length, the strides of the other
//! modes and the offset have in common, and the atom of the swizzle.
//!
//! Source: CUTLASS `include/cute/layout.hpp`, `swizzle_layout.hpp`. There, an extent or stride that only the kernel knows is
//! taken as 1 or 0; here every integer is known.

use crate::{Layout, MAX_MODES, layout::observe::gcd};

impl Layout {
    /// Returns the length of the aligned runs of elements that the layout consists of; 1 if they are single.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let alignment = |text| Layout::parse(text).unwrap().max_alignment();
    /// assert_eq!(alignment("(8,4):(1,8)"), 32);
    /// // Rows of 8 elements begin at multiples of 12.
    /// assert_eq!(alignment("(8,4):(1,12)"), 4);
    /// assert_eq!(alignment("(8,4):(2,16)"), 1);
    /// // The swizzle keeps two elements together.
    /// assert_eq!(alignment("Sw<2,1,3> o (8,8):(8,1)"), 2);
    /// ```
    pub const fn max_alignment(&self) -> u64 {
        let flat = self.coalesce();
        let (modes, mut inside) = (flat.modes(), [false; MAX_MODES]);
        let (mut run, mut i) = (1, 0);
        while i < modes.len() {
            if modes[i].extent() > 1 && modes[i].stride() as i128 == run as i128 {
                run *= modes[i].extent();
                inside[i] = true;
                // A mode before this one may continue the run.
                i = 0;
            } else {
                i += 1;
            }
        }
        let mut common = gcd(run, self.offset().unsigned_abs());
        let mut i = 0;
        while i < modes.len() {
            if !inside[i] && modes[i].extent() > 1 {
                common = gcd(common, modes[i].stride().unsigned_abs());
            }
            i += 1;
        }
        if self.swizzle().is_identity() { common } else { gcd(common, self.swizzle().atom()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Swizzle,
        small::{for_each_layout, image},
    };

    /// Returns whether the offsets of each aligned block of `n` have equally many coordinates.
    fn consists_of_runs(layout: &Layout, n: i64) -> bool {
        let swizzle = layout.swizzle();
        let moved = |offset: i64| {
            if swizzle.is_identity() { offset } else { swizzle.apply(offset as u64) as i64 }
        };
        let offsets: std::vec::Vec<i64> = image(layout).into_iter().map(moved).collect();
        let count = |offset: i64| offsets.iter().filter(|&&other| other == offset).count();
        offsets.iter().all(|&offset| {
            let first = offset.div_euclid(n) * n;
            (first..first + n).all(|other| count(other) == count(offset))
        })
    }

    #[test]
    fn every_small_layout_consists_of_such_runs() {
        let mut long = 0;
        for_each_layout(2, 1..=4, -3..=8, |layout| {
            for offset in [0, 1, 4] {
                let layout = layout.with_offset(offset).unwrap();
                let n = layout.max_alignment();
                assert!(n >= 1 && consists_of_runs(&layout, n as i64), "{layout} {n}");
                long += u64::from(n > 1);
            }
        });
        assert!(long > 250, "{long}");
        for_each_layout(2, 1..=8, 0..=8, |layout| {
            for (bits, base, shift) in [(1, 0, 1), (1, 1, 2), (2, 1, 2), (1, 2, -1)] {
                let swizzle = Swizzle::new(bits, base, shift).unwrap();
                let layout = layout.with_swizzle(swizzle).unwrap();
                let n = layout.max_alignment();
                assert!(consists_of_runs(&layout, n as i64), "{layout} {n}");
            }
        });
    }

    #[test]
    fn the_answers_of_cute() {
        for (text, expected) in [
            ("(4,8):(8,1)", 32),
            ("(4,8):(1,6)", 2),
            ("(4,8):(1,5)", 1),
            ("(4,8):(2,1)", 2),
            ("(4,8):(0,1)", 8),
            ("(4,8):(1,0)", 4),
            ("(8,4,2):(1,16,12)", 4),
            ("(1,1):(0,0)", 1),
            ("Sw<2,3,3> o (8,64):(1,8)", 8),
            ("Sw<2,3,3> o 4 o (8,64):(1,8)", 4),
        ] {
            assert_eq!(Layout::parse(text).unwrap().max_alignment(), expected, "{text}");
        }
    }
}
