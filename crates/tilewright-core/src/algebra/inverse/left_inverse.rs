//! `left_inverse`: the index at an offset, or that the offset is a hole.
//!
//! Law: `left_inverse(L)(L(i)) = i` for every index i of an injective L. If L repeats offsets only by modes of stride 0,
//! the result is i with those coordinates at 0, so `L(R(L(i))) = L(i)`. At an offset that L does not reach, the value is
//! unspecified; [`LeftInverse::index`] reports a hole.
//!
//! Defined if such a layout exists. If L, sorted by stride, is a chain of divisors (s·d ≤ d' and d | d'), the chain is
//! the answer. Otherwise digits of the offsets are searched (`digits.rs`): `(2,2):(2,3)` has `(2,3):(1,1)`, `(5,3):(3,20)`
//! has one of four modes, and `(8,4,2):(13,2,1)` has none although it is injective: its inverse is a table, or a search
//! ([`Layout::locate`]).
//!
//! With a swizzle: if L is linear over bits, every injective L has a left inverse with a swizzle, and elimination finds
//! it. Otherwise digits of the offsets are searched for each swizzle of CuTe's family, so a left inverse with such a swizzle
//! is found if there is one.
//!
//! Source: CUTLASS `include/cute/layout.hpp`; the law for padded layouts is this crate's.

use crate::algebra::{
    inverse::digits,
    inverse::right_inverse::{Indexed, check_from_zero},
    nested::build::Chain,
};
use crate::{
    Error, Layout, Mode, Profile, Swizzle,
    layout::reach,
    linear::{Solver, bases::Bases, width},
    macros::tri,
};

/// The left inverse of a layout and its domain: each offset is an index or a hole.
///
/// The offset and the swizzle of the layout are removed first. This type therefore also answers for layouts whose
/// [`Layout::left_inverse`] is not a layout.
///
/// ```
/// use tilewright_core::{Layout, LeftInverse};
/// // Four of every five offsets.
/// let padded = Layout::parse("(4,8):(1,5)+100").unwrap();
/// let inverse = LeftInverse::of(&padded).unwrap();
/// assert_eq!(inverse.layout().to_string(), "(5,8):(1,4)");
/// assert_eq!((inverse.index(107), inverse.index(104)), (Some(6), None));
/// assert!(LeftInverse::of(&Layout::parse("(2,2):(1,1)").unwrap()).unwrap_err().is_illegal());
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftInverse {
    source: Layout,
    inverse: Layout,
    low: i64,
}

impl LeftInverse {
    /// Creates the left inverse of `layout`.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) if two indices share an offset (other than by stride 0), or if the layout is empty;
    /// [unsupported](Error::is_unsupported) if no layout is the inverse; [undecided](Error::is_undecided) if injectivity is
    /// undecided, if modes that are not a chain reach over [`SEARCH_BITS`](crate::SEARCH_BITS) offsets, or if the search for
    /// digits exceeds its budget.
    ///
    /// ```
    /// use tilewright_core::{Layout, LeftInverse};
    /// // A row-major 4×6 matrix in rows of 8 elements: which element is at an offset?
    /// let rows = Layout::parse("(4,6):(8,1)").unwrap();
    /// let inverse = LeftInverse::of(&rows).unwrap();
    /// assert_eq!((inverse.index(9), inverse.index(7)), (Some(5), None));
    /// // Row 2 and column 1 would both be at offset 2.
    /// let mixed = Layout::parse("(3,2):(1,2)").unwrap();
    /// assert!(LeftInverse::of(&mixed).unwrap_err().is_illegal());
    /// ```
    pub const fn of(layout: &Layout) -> Result<LeftInverse, Error> {
        let (low, _) = reach(layout.modes(), layout.offset());
        let affine = tri!(layout.with_swizzle(Swizzle::IDENTITY));
        let offset = match layout.offset().checked_sub(low as i64) {
            Some(offset) => offset,
            None => 0,
        };
        let moved = tri!(affine.with_offset(offset));
        let inverse = tri!(inverse_of(&moved));
        Ok(LeftInverse { source: layout.copied(), inverse, low: low as i64 })
    }

    /// Returns the inverse as a layout over the offsets counted from the smallest, before any swizzle. At holes its value
    /// is unspecified.
    ///
    /// ```
    /// use tilewright_core::{Layout, LeftInverse};
    /// let inverse = LeftInverse::of(&Layout::parse("(4,6):(8,1)").unwrap()).unwrap();
    /// assert_eq!(inverse.layout().to_string(), "(8,4):(4,1)");
    /// // Offset 7 is a hole, at which the layout has some value; `index` reports the hole.
    /// assert_eq!((inverse.layout().offset_of(7), inverse.index(7)), (Ok(28), None));
    /// ```
    pub const fn layout(&self) -> &Layout {
        &self.inverse
    }

    /// Returns the colexicographic index at this offset; `None` for a hole.
    ///
    /// ```
    /// use tilewright_core::{Layout, LeftInverse};
    /// let columns = Layout::parse("(2,3):(1,4)").unwrap();
    /// let inverse = LeftInverse::of(&columns).unwrap();
    /// let indices: Vec<Option<u64>> = (0..6).map(|offset| inverse.index(offset)).collect();
    /// assert_eq!(indices, [Some(0), Some(1), None, None, Some(2), Some(3)]);
    /// ```
    pub const fn index(&self, offset: i64) -> Option<u64> {
        let affine = if self.source.swizzle().is_identity() {
            offset
        } else if offset < 0 {
            return None;
        } else {
            self.source.swizzle().inverse().apply(offset as u64) as i64
        };
        let from_low = affine as i128 - self.low as i128;
        if from_low < 0 || from_low > i64::MAX as i128 {
            return None;
        }
        let index = match self.inverse.offset_of(from_low as u64) {
            Ok(index) if index >= 0 => index as u64,
            _ => return None,
        };
        match self.source.offset_of(index) {
            Ok(back) if back == offset => Some(index),
            _ => None,
        }
    }
}

impl Layout {
    /// Returns the layout R with `R(L(i)) = i`. Of the indices that modes of stride 0 send to one offset, R returns the
    /// one with those coordinates at 0. At offsets that L does not reach, its value is unspecified; [`LeftInverse`] reports
    /// holes.
    ///
    /// # Errors
    /// Those of [`LeftInverse::of`]; [unsupported](Error::is_unsupported) if the smallest offset is not 0; with a
    /// swizzle, also those of [`Layout::composition`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// assert_eq!(parse("4:2").left_inverse().unwrap().to_string(), "(2,4):(0,1)");
    /// assert_eq!(parse("(8,4):(1,9)").left_inverse().unwrap().to_string(), "(9,4):(1,8)");
    /// assert_eq!(parse("(2,2):(2,3)").left_inverse().unwrap().to_string(), "(2,3):(1,1)");
    /// // Offset 1 is index 2, and index 3.
    /// assert_eq!(parse("(2,4):(0,1)").left_inverse().unwrap().to_string(), "4:2");
    /// let swizzled = parse("Sw<1,0,2> o (4,4):(4,1)").left_inverse().unwrap();
    /// assert_eq!(swizzled.to_string(), "Sw<1,0,-2> o (4,4):(4,1)");
    /// let error = parse("(8,4,2):(13,2,1)").left_inverse().unwrap_err();
    /// assert!(error.to_string().starts_with("injective, but no layout is its inverse: 2 does not divide 13"));
    /// ```
    pub const fn left_inverse(&self) -> Result<Layout, Error> {
        if !self.swizzle().is_identity() {
            return swizzled_inverse(self);
        }
        tri!(check_from_zero(self));
        inverse_of(self)
    }
}

/// The left inverse of a layout with a swizzle: by elimination, or that of the affine part after the swizzle is undone.
const fn swizzled_inverse(layout: &Layout) -> Result<Layout, Error> {
    tri!(check_from_zero(layout));
    let Some(map) = Bases::of_indices(layout) else { return unlinear_inverse(layout) };
    if let Some((bit, others)) = map.dependent() {
        return Err(Error::illegal(
            "not injective: indices {} and {} have the same offset, so there is no inverse",
            [1 << bit, others as i128],
            "only an injective layout has a left inverse",
        ));
    }
    let (mut solver, bits, mut bit) = (Solver::new(&[]), width(map.reach()), 0);
    while bit < map.len() {
        if map.images[bit] != 0 {
            solver.add(map.images[bit], 1 << bit);
        }
        bit += 1;
    }
    bit = 0;
    // Offsets that complete the image are holes, sent to 0.
    while bit < bits {
        if solver.is_free(bit) {
            solver.add(1 << bit, 0);
        }
        bit += 1;
    }
    Bases::inverse(&solver, map.zero, bits)
}

/// The left inverse of a layout with a swizzle that is not linear over bits.
const fn unlinear_inverse(layout: &Layout) -> Result<Layout, Error> {
    let (affine, back) = (tri!(layout.with_swizzle(Swizzle::IDENTITY)), layout.swizzle().inverse());
    match inverse_of(&affine) {
        Ok(inverse) => {
            // I3 keeps whole windows in bounds.
            let count = affine.span().next_multiple_of(back.window());
            let offsets = [Mode::new(count, 1)];
            let offsets = tri!(Layout::new(&offsets, &Profile::LEAF, 0, back));
            if let Ok(composed) = inverse.composition(&offsets) {
                return Ok(composed);
            }
        }
        Err(error) if !error.is_unsupported() => return Err(error),
        Err(_) => {}
    }
    match tri!(digits::inverse(&Indexed::of(layout), affine.span(), layout.swizzle())) {
        Some(found) => Ok(found),
        None => Err(Error::unsupported(
            "injective, but no layout is its inverse, with or without a swizzle of bits, base and shift: no digits of the {} offsets give the index",
            [affine.span() as i128],
            "invert through a table of the offsets, or search with `locate`",
        )),
    }
}

/// The left inverse of an affine layout whose smallest offset is 0.
const fn inverse_of(layout: &Layout) -> Result<Layout, Error> {
    tri!(check_from_zero(layout));
    let indexed = Indexed::of(layout);
    let (mut chain, mut below, mut at) = (Chain::new(), 1, 0);
    while at < indexed.len {
        let (stride, _) = indexed.step(at);
        let full = at == 0 || indexed.extent(at - 1) as u128 * below as u128 <= stride as u128;
        if !stride.is_multiple_of(below) || !full {
            return off_chain(layout, &indexed, at);
        }
        let digit = if at == 0 { 0 } else { indexed.step(at - 1).1 };
        tri!(chain.push(stride / below, digit as i128));
        below = stride;
        at += 1;
    }
    if indexed.len > 0 {
        let last = indexed.len - 1;
        tri!(chain.push(indexed.extent(last), indexed.step(last).1 as i128));
    }
    chain.layout(indexed.origin)
}

/// The inverse if mode `at` breaks the chain: by digits of the offsets, or the error.
const fn off_chain(layout: &Layout, indexed: &Indexed, at: usize) -> Result<Layout, Error> {
    match layout.injective_apart() {
        Ok(true) => {}
        Ok(false) => {
            let (low, high) = (indexed.step(at - 1).0, indexed.step(at).0);
            return Err(Error::illegal(
                "not injective: {}:{} and {}:{} take part in a collision, so there is no inverse",
                [
                    indexed.extent(at - 1) as i128,
                    low as i128,
                    indexed.extent(at) as i128,
                    high as i128,
                ],
                "only an injective layout has a left inverse",
            ));
        }
        Err(error) => return Err(error),
    }
    if let Some(found) = tri!(digits::inverse(indexed, layout.span(), Swizzle::IDENTITY)) {
        return Ok(found);
    }
    let numbers = [indexed.step(at - 1).0 as i128, indexed.step(at).0 as i128];
    let legal = "invert through a table of the offsets, or search with `locate`";
    if numbers[1] % numbers[0] != 0 {
        return Err(Error::unsupported(
            "injective, but no layout is its inverse: {} does not divide {}, and no digits of the offsets give the index",
            numbers,
            legal,
        ));
    }
    Err(Error::unsupported(
        "injective, but no layout is its inverse: the mode of stride {} reaches over stride {}, and no digits of the offsets give the index",
        numbers,
        legal,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::{for_each_layout, image};
    use std::{collections::BTreeMap, string::ToString};

    /// Checks the law, and that holes are reported.
    fn check(layout: &Layout) -> bool {
        let injective = layout.injective_apart().unwrap();
        let inverse = match LeftInverse::of(layout) {
            Ok(inverse) => inverse,
            Err(error) => {
                assert_eq!(error.is_illegal(), !injective, "{layout} {error}");
                let text = error.to_string();
                assert!(text.starts_with("not injective") || text.starts_with("injective, but"));
                return false;
            }
        };
        assert!(injective, "{layout}");
        let mut first = BTreeMap::new();
        for i in 0..layout.size() {
            first.entry(layout.offset_of(i).unwrap()).or_insert(i);
        }
        let (low, high) = layout.bounds().unwrap();
        for offset in low - 3..=high + 3 {
            assert_eq!(inverse.index(offset), first.get(&offset).copied(), "{layout} {offset}");
        }
        if let Ok(plain) = layout.left_inverse() {
            assert_eq!(&plain, inverse.layout());
            for (offset, i) in first {
                assert_eq!(plain.offset_of(offset as u64), Ok(i as i64), "{layout} {plain}");
            }
        }
        true
    }

    #[test]
    fn every_small_layout() {
        let (mut answered, mut none) = (0, 0);
        for_each_layout(3, 1..=4, 0..=tilewright_testing::cases(12, 8), |layout| {
            if layout.injective_apart() == Ok(true) {
                let found = check(layout);
                (answered, none) = (answered + u32::from(found), none + u32::from(!found));
            }
        });
        // `algebra_laws` decides that none of the rest has one.
        assert_eq!((answered, none), tilewright_testing::cases((88_952, 10_554), (28_791, 2185)));
    }

    #[test]
    fn backwards_modes_offsets_and_swizzles() {
        for_each_layout(2, 1..=4, -9..=9, |layout| {
            for offset in [-20, 0, 36] {
                check(&layout.with_offset(offset).unwrap());
            }
            let swizzled =
                layout.with_offset(54).unwrap().with_swizzle(Swizzle::new(2, 1, 3).unwrap());
            check(&swizzled.unwrap());
        });
        assert!(image(&Layout::parse("4:-1").unwrap()).contains(&-3));
    }

    #[test]
    fn the_cases_of_the_documents() {
        for (layout, expected) in [
            ("(4,8):(1,5)", "(5,8):(1,4)"),
            ("(4,2):(1,16)", "(16,2):(1,4)"),
            ("(2,2):(2,3)", "(2,3):(1,1)"),
            ("(2,3):(2,3)", "(2,3,2):(1,1,4)"),
            ("4:-1+3", "4:-1+3"),
        ] {
            assert_eq!(
                Layout::parse(layout).unwrap().left_inverse().unwrap().to_string(),
                expected
            );
        }
        let error = Layout::parse("(8,4,2):(13,2,1)").unwrap().left_inverse().unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("injective, but no layout is its inverse: 2 does not divide 13")
        );
    }
}
