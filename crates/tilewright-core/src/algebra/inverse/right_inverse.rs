//! `right_inverse`, `nullspace`: the indices of offsets, and the indices that do not change the offset.
//!
//! Laws: `L(right_inverse(L)(i)) = i` for every i below the inverse's size, and no layout of a larger size has that. For
//! an injective L, the size is the whole run of offsets from 0 that L reaches, by a chain of whole modes. If modes overlap,
//! parts of modes are searched: `(2,3):(1,1)` has `(2,2):(1,4)`, where whole modes give `3:2`.
//! `L(nullspace(L)(i)) = L(0)`, each index once; it is the whole kernel if the modes of nonzero stride do not collide, or if
//! none of their strides is negative.
//!
//! Defined for layouts whose smallest offset is 0 (negative strides run backwards from their end), and for those of up
//! to [`SEARCH_BITS`](crate::SEARCH_BITS) coordinates that reach 0 from below.
//!
//! With a swizzle: if L is linear over bits, elimination finds the inverse of all offsets from 0 that L reaches, which
//! is always a layout with a swizzle. Otherwise the result is the inverse of the affine part composed with the inverse of
//! the swizzle, on the longest run of offsets that was found to have a layout as their [composition](Layout::composition).
//!
//! Source: CUTLASS `include/cute/layout.hpp`.
//!
//! # The search if modes overlap
//!
//! The longest right inverse is grown mode by mode, with every step and every extent. Law: the result R has `L(R(i)) = i`, and no layout R of more coordinates has that. A step of R at size p is an index of
//! offset p less R(0), an index of offset 0; an extent e is possible if all e·p indices have the offsets 0, 1, 2 … The
//! search tries all steps and extents.
//!
//! Bounds: layouts of up to [`SEARCH_BITS`] coordinates, and [`STEPS`] offsets computed; otherwise `Undecided`.

use crate::{
    Error, Layout, MAX_MODES, Mode, Profile, SEARCH_BITS, Swizzle,
    algebra::nested::walk::{Builder, Chain},
    const_fn::tri,
    layout::reach,
    linear::{Solver, bases::Bases},
    swizzle::MAX_BITS,
};

/// The modes of extent > 1 and nonzero stride, smallest |stride| first, equal ones from the left, each with its index
/// step.
pub(crate) struct Indexed {
    pub(crate) modes: [(Mode, i64); MAX_MODES],
    pub(crate) len: usize,
    /// The index of the coordinate with the smallest offset.
    pub(crate) origin: i64,
}

impl Indexed {
    pub(crate) const fn of(layout: &Layout) -> Indexed {
        let mut all = Indexed { modes: [(Mode::new(1, 0), 0); MAX_MODES], len: 0, origin: 0 };
        let (modes, mut index, mut i) = (layout.modes(), 1u64, 0);
        while i < modes.len() {
            let (extent, stride) = (modes[i].extent(), modes[i].stride());
            if extent > 1 && stride != 0 {
                let mut at = all.len;
                while at > 0 && all.modes[at - 1].0.stride().unsigned_abs() > stride.unsigned_abs()
                {
                    all.modes[at] = all.modes[at - 1];
                    at -= 1;
                }
                // I1 keeps indices below 2^63.
                all.modes[at] = (modes[i], index as i64);
                all.len += 1;
                if stride < 0 {
                    all.origin += (extent - 1) as i64 * index as i64;
                }
            }
            index *= extent;
            i += 1;
        }
        all
    }

    /// Returns the absolute stride of mode `at`, and the change of the index with each step up in offset.
    pub(crate) const fn step(&self, at: usize) -> (u64, i64) {
        let (mode, index) = self.modes[at];
        (mode.stride().unsigned_abs(), if mode.stride() < 0 { -index } else { index })
    }

    pub(crate) const fn extent(&self, at: usize) -> u64 {
        self.modes[at].0.extent()
    }

    /// For each mode, returns the product of the longest chain that begins with it, and its next mode.
    const fn chains(&self) -> [(u64, usize); MAX_MODES] {
        let (mut best, mut at) = ([(0, MAX_MODES); MAX_MODES], self.len);
        while at > 0 {
            at -= 1;
            let end = self.step(at).0 as u128 * self.extent(at) as u128;
            let (mut rest, mut next, mut i) = (1, MAX_MODES, at + 1);
            while i < self.len {
                if self.step(i).0 as u128 == end && best[i].0 > rest {
                    (rest, next) = (best[i].0, i);
                }
                i += 1;
            }
            best[at] = (self.extent(at) * rest, next);
        }
        best
    }
}

/// Refuses a layout without coordinates, or whose smallest offset is not 0.
pub(crate) const fn check_from_zero(layout: &Layout) -> Result<(), Error> {
    if layout.size() == 0 {
        return Err(Error::illegal(
            "the inverse of a layout of {} coordinates",
            [0],
            "give the layout one coordinate at least",
        ));
    }
    let (low, _) = reach(layout.modes(), layout.offset());
    if low != 0 {
        return Err(Error::unsupported(
            "the inverse of a layout whose smallest offset is {}",
            [low],
            "an inverse starts at offset 0; shift the layout to it",
        ));
    }
    Ok(())
}

impl Layout {
    /// Returns the largest layout R with `L(R(i)) = i`: R(i) is a colexicographic index with offset i.
    ///
    /// # Errors
    /// [unsupported](Error::is_unsupported) if no offset is 0; [illegal](Error::is_illegal) for a layout without
    /// coordinates; [undecided](Error::is_undecided) if modes overlap and the layout has more coordinates than are searched, or
    /// too many steps to try.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// assert_eq!(parse("(2,3):(1,1)").right_inverse().unwrap().to_string(), "(2,2):(1,4)");
    /// assert_eq!(parse("(2,4,6):(4,1,8)").right_inverse().unwrap().to_string(), "(4,2,6):(2,1,8)");
    /// assert_eq!(parse("(4,8):(1,5)").right_inverse().unwrap().to_string(), "4:1");
    /// assert_eq!(parse("4:-1+3").right_inverse().unwrap().to_string(), "4:-1+3");
    /// assert_eq!(parse("4:-1").right_inverse().unwrap().to_string(), "1:0");
    /// let swizzled = parse("Sw<1,0,2> o (4,4):(4,1)").right_inverse().unwrap();
    /// assert_eq!(swizzled.to_string(), "Sw<1,0,-2> o (4,4):(4,1)");
    /// assert!(parse("4:1+3").right_inverse().unwrap_err().is_unsupported());
    /// ```
    pub const fn right_inverse(&self) -> Result<Layout, Error> {
        if !self.swizzle().is_identity() {
            return swizzled_inverse(self);
        }
        if reach(self.modes(), self.offset()).0 < 0
            && let Some(longest) = tri!(longer_than(self, 0))
        {
            return Ok(longest);
        }
        let whole = tri!(self.right_inverse_of_modes());
        if whole.size() == self.cosize() as u64 {
            return Ok(whole);
        }
        match self.injective_apart() {
            Ok(true) => Ok(whole),
            Ok(false) => match tri!(longer_than(self, whole.size())) {
                Some(longer) => Ok(longer),
                None => Ok(whole),
            },
            Err(error) => Err(error),
        }
    }

    /// Returns the right inverse of a layout without a swizzle by the longest chain of whole modes.
    pub(crate) const fn right_inverse_of_modes(&self) -> Result<Layout, Error> {
        tri!(check_from_zero(self));
        let indexed = Indexed::of(self);
        let (chains, mut chain) = (indexed.chains(), Chain::new());
        let (mut at, mut best, mut i) = (MAX_MODES, 1, 0);
        while i < indexed.len {
            if indexed.step(i).0 == 1 && chains[i].0 > best {
                (at, best) = (i, chains[i].0);
            }
            i += 1;
        }
        while at < indexed.len {
            tri!(chain.push(indexed.extent(at), indexed.step(at).1 as i128));
            at = chains[at].1;
        }
        chain.layout(indexed.origin)
    }

    /// Returns the indices that reach the offset of index 0: one mode for each mode of stride 0.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) for a layout without coordinates.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// assert_eq!(parse("(3,7):(0,0)").nullspace().unwrap().to_string(), "(3,7):(1,3)");
    /// assert_eq!(parse("(2,4,6):(1,2,0)").nullspace().unwrap().to_string(), "6:8");
    /// assert!(parse("(0,7):(0,0)").nullspace().unwrap_err().is_illegal());
    /// ```
    pub const fn nullspace(&self) -> Result<Layout, Error> {
        if self.size() == 0 {
            return Err(Error::illegal(
                "the nullspace of a layout of {} coordinates",
                [0],
                "give the layout one coordinate at least",
            ));
        }
        let (mut builder, modes, mut index, mut i) = (Builder::new(), self.modes(), 1, 0);
        builder.open();
        while i < modes.len() {
            let extent = modes[i].extent();
            if extent > 1 && modes[i].stride() == 0 {
                tri!(builder.leaf(Mode::new(extent, index as i64)));
            }
            index *= extent;
            i += 1;
        }
        tri!(builder.close());
        let flat = tri!(builder.layout(0, Swizzle::IDENTITY));
        match flat.modes() {
            [] => Chain::new().layout(0),
            [_] => flat.get(&[0]),
            _ => Ok(flat),
        }
    }
}

/// The right inverse of a layout with a swizzle: by elimination, or that of the affine part after the swizzle is undone.
const fn swizzled_inverse(layout: &Layout) -> Result<Layout, Error> {
    tri!(check_from_zero(layout));
    let affine = tri!(tri!(layout.with_swizzle(Swizzle::IDENTITY)).right_inverse());
    let back = layout.swizzle().inverse();
    let straight = affine.rank() == 1 && affine.modes()[0].stride() == 1 && affine.offset() == 0;
    if straight && affine.size().is_multiple_of(back.window()) {
        return affine.with_swizzle(back);
    }
    if let Some(map) = Bases::of_indices(layout) {
        let (solver, mut bits) = (Solver::new(&map.images), 0);
        while bits < MAX_BITS && solver.solve(1 << bits).is_some() {
            bits += 1;
        }
        return Bases::inverse(&solver, map.zero, bits);
    }
    let mut count = prefix(&back, affine.size());
    loop {
        let offsets = tri!(Layout::new(&[Mode::new(count, 1)], &Profile::LEAF, 0, back));
        match affine.composition(&offsets) {
            Err(error) if count > 1 && (error.is_no_layout() || error.is_undecided()) => {
                // Fewer offsets, in larger blocks.
                count = if count.is_power_of_two() { count / 2 } else { count & (count - 1) };
            }
            composed => return composed,
        }
    }
}

/// Returns the most offsets from 0 on that a swizzle sends to numbers below `size`.
const fn prefix(swizzle: &Swizzle, size: u64) -> u64 {
    let (mut count, mut bit) = (0, MAX_BITS);
    while bit > 0 {
        bit -= 1;
        if count >> bit & 1 == 0 && largest(swizzle, count, bit) < size {
            count += 1 << bit;
        }
    }
    count
}

/// Returns the largest image of the 2^`bits` offsets from `first` on, a multiple of 2^`bits`.
const fn largest(swizzle: &Swizzle, first: u64, bits: usize) -> u64 {
    let (mut solver, mut bit) = (Solver::new(&[]), 0);
    while bit < bits {
        solver.add(swizzle.image(bit), 0);
        bit += 1;
    }
    solver.largest(swizzle.apply(first))
}

/// The most modes of R, each of extent 2 or more.
const MODES: usize = SEARCH_BITS.ilog2() as usize;

/// The number of offsets after which the search ends undecided.
const STEPS: u32 = 1 << 20;

const LEGAL: &str = "invert one of the modes that overlap, or search with `locate`";

/// A right inverse: extents and steps, and the index at offset 0.
#[derive(Clone, Copy)]
struct LongestInverse {
    modes: [(u64, i64); MODES],
    count: usize,
    zero: i64,
    size: u64,
}

/// Returns the longest right inverse of an affine layout whose smallest offset is 0, if it is longer than `size`.
const fn longer_than(layout: &Layout, size: u64) -> Result<Option<Layout>, Error> {
    if layout.size() > SEARCH_BITS as u64 {
        return Err(Error::undecided(
            "modes overlap, and the longest right inverse is not searched over {} coordinates; up to {} are",
            [layout.size() as i128, SEARCH_BITS as i128],
            LEGAL,
        ));
    }
    let now = LongestInverse { modes: [(1, 0); MODES], count: 0, zero: 0, size: 1 };
    let best = LongestInverse { size, ..now };
    let mut search = ChainSearch { layout, run: length_of_run(layout), now, best, left: STEPS };
    let mut index = 0;
    while index < layout.size() && search.best.size < search.run {
        if tri!(search.offset(index)) == 0 {
            search.now.zero = index as i64;
            tri!(search.grow());
        }
        index += 1;
    }
    if search.best.size == size {
        return Ok(None);
    }
    let (mut chain, mut at) = (Chain::new(), 0);
    while at < search.best.count {
        let (extent, step) = search.best.modes[at];
        tri!(chain.push(extent, step as i128));
        at += 1;
    }
    Ok(Some(tri!(chain.layout(search.best.zero))))
}

/// Returns the number of offsets from 0 on that are reached without a gap; at most [`SEARCH_BITS`] coordinates reach them.
const fn length_of_run(layout: &Layout) -> u64 {
    let (mut reached, mut index) = ([false; SEARCH_BITS], 0);
    while index < layout.size() {
        if let Ok(offset) = layout.offset_of(index)
            && offset >= 0
            && offset < SEARCH_BITS as i64
        {
            reached[offset as usize] = true;
        }
        index += 1;
    }
    let mut run = 0;
    while run < SEARCH_BITS && reached[run] {
        run += 1;
    }
    run as u64
}

struct ChainSearch<'a> {
    layout: &'a Layout,
    /// An upper bound on the size of a right inverse.
    run: u64,
    now: LongestInverse,
    best: LongestInverse,
    /// The number of offsets that may still be computed.
    left: u32,
}

impl ChainSearch<'_> {
    const fn offset(&mut self, index: u64) -> Result<i64, Error> {
        if self.left == 0 {
            return Err(Error::undecided(
                "modes overlap, and the longest right inverse was not decided from {} offsets",
                [STEPS as i128],
                LEGAL,
            ));
        }
        self.left -= 1;
        self.layout.offset_of(index)
    }

    /// Tries every mode after the current ones.
    const fn grow(&mut self) -> Result<(), Error> {
        let kept = self.now;
        if kept.size > self.best.size {
            self.best = kept;
        }
        let mut index = 0;
        while index < self.layout.size() && self.best.size < self.run && kept.count < MODES {
            if tri!(self.offset(index)) as u64 == kept.size && !self.merges(index as i64) {
                let (step, mut extent) = (index as i64 - kept.zero, 1);
                while tri!(self.goes_on(step, extent)) {
                    extent += 1;
                    self.now.modes[kept.count] = (extent, step);
                    self.now.count = kept.count + 1;
                    self.now.size = kept.size * extent;
                    tri!(self.grow());
                    self.now = kept;
                }
            }
            index += 1;
        }
        Ok(())
    }

    /// Returns whether a step to this index continues the last mode, whose larger extents are tried separately.
    const fn merges(&self, index: i64) -> bool {
        let now = &self.now;
        now.count > 0 && {
            let (extent, step) = now.modes[now.count - 1];
            index - now.zero == extent as i64 * step
        }
    }

    /// Returns whether the current indices, moved by `times` steps, have the next offsets.
    const fn goes_on(&mut self, step: i64, times: u64) -> Result<bool, Error> {
        let mut i = 0;
        while i < self.now.size {
            // Sizes, indices and steps are below `SEARCH_BITS`.
            let (mut rest, mut index, mut at) = (i, self.now.zero + times as i64 * step, 0);
            while at < self.now.count {
                let (extent, step) = self.now.modes[at];
                index += (rest % extent) as i64 * step;
                rest /= extent;
                at += 1;
            }
            if index < 0
                || index as u64 >= self.layout.size()
                || tri!(self.offset(index as u64)) as u64 != times * self.now.size + i
            {
                return Ok(false);
            }
            i += 1;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, string::ToString, vec, vec::Vec};

    use super::*;
    use crate::small::{for_each_layout, image};

    /// Checks the law; returns the size of the inverse.
    fn check(layout: &Layout) -> u64 {
        let inverse = layout.right_inverse().unwrap();
        for i in 0..inverse.size() {
            let index = inverse.offset_of(i).unwrap();
            assert_eq!(layout.offset_of(index as u64), Ok(i as i64), "{layout} {inverse}");
        }
        inverse.size()
    }

    /// The size of the longest right inverse: every table of indices that is a layout, extended by each index.
    fn longest(layout: &Layout) -> u64 {
        let offsets = image(layout);
        let at = |offset: usize| {
            (0..offsets.len()).filter(move |&i| offsets_at(layout, i) == offset as i64)
        };
        let mut tables: Vec<Vec<i64>> = at(0).map(|zero| vec![zero as i64]).collect();
        let mut best = 0;
        while let Some(table) = tables.pop() {
            best = best.max(table.len());
            if !offsets.contains(&(best as i64)) {
                break;
            }
            for next in at(table.len()) {
                let step = next as i64 - table[0];
                let mut longer = table.clone();
                for times in 1.. {
                    let more: Vec<i64> = table.iter().map(|index| index + times * step).collect();
                    let right = |(i, index): (usize, &i64)| {
                        usize::try_from(*index).is_ok_and(|index| {
                            offsets.get(index) == Some(&((longer.len() + i) as i64))
                        })
                    };
                    if !more.iter().enumerate().all(right) {
                        break;
                    }
                    longer.extend(more);
                    tables.push(longer.clone());
                }
            }
        }
        best as u64
    }

    fn offsets_at(layout: &Layout, index: usize) -> i64 {
        layout.offset_of(index as u64).unwrap()
    }

    #[test]
    fn every_small_layout() {
        let mut longer = 0;
        for_each_layout(3, 1..=4, 0..=tilewright_testing::cases(12, 8), |layout| {
            let size = check(layout);
            longer += u32::from(layout.right_inverse_of_modes().unwrap().size() < size);
            let reached: BTreeSet<i64> = image(layout).into_iter().collect();
            let run = (0..).take_while(|i| reached.contains(i)).count() as u64;
            if layout.injective() == Ok(true) {
                assert_eq!(size, run, "{layout}");
            }
            assert!(size <= run);
            assert_eq!(size, longest(layout), "{layout}");
            let null = layout.nullspace().unwrap();
            let kernel: BTreeSet<i64> = image(&null).into_iter().collect();
            assert_eq!(kernel.len() as u64, null.size(), "{layout}");
            assert!(kernel.iter().all(|&i| layout.offset_of(i as u64) == Ok(0)), "{layout}");
            if layout.injective_apart() == Ok(true) {
                assert_eq!(kernel.len(), image(layout).iter().filter(|&&x| x == 0).count());
            }
        });
        assert_eq!(longer, tilewright_testing::cases(3876, 2640));
    }

    #[test]
    fn backwards_modes() {
        let most = tilewright_testing::cases(9, 6);
        for_each_layout(3, 1..=3, -most..=most, |layout| {
            let (low, _) = layout.bounds().unwrap();
            let moved = layout.with_offset(-low).unwrap();
            let size = check(&moved);
            assert!(layout.injective() != Ok(true) || size >= 1);
            // Below 0 the search continues from an index at 0.
            let inverse = layout.right_inverse();
            let zero = image(layout).contains(&0);
            assert_eq!(inverse.is_ok(), zero, "{layout} {inverse:?}");
            if low < 0 && zero {
                assert_eq!(check(layout), longest(layout), "{layout}");
            }
        });
    }

    #[test]
    fn swizzles() {
        let parse = |text| Layout::parse(text).unwrap();
        for (text, expected) in [
            ("Sw<2,0,2> o 16:1", "Sw<2,0,2> o 16:1"),
            ("Sw<2,0,2> o (4,5):(1,4)", "Sw<2,0,2> o 20:1"),
            ("Sw<1,1,-3> o 64:1", "Sw<1,1,-3> o 64:1"),
            ("Sw<2,0,2> o (4,4):(4,1)", "Sw<2,0,-2> o (4,4):(4,1)"),
            ("Sw<2,0,2> o 2:1", "2:1"),
            ("Sw<1,0,2> o (4,4):(4,1)", "Sw<1,0,-2> o (4,4):(4,1)"),
        ] {
            let inverse = parse(text).right_inverse().unwrap();
            assert_eq!(inverse.to_string(), expected, "{text}");
            check(&parse(text));
        }
    }

    #[test]
    fn the_cases_of_the_documents() {
        for (layout, expected) in [
            ("(2,4):(4,1)", "(4,2):(2,1)"),
            ("(8,4):(4,1)", "(4,8):(8,1)"),
            ("(2,4):(0,1)", "4:2"),
            ("(3,4):(1,6)", "3:1"),
            // Of two modes of stride 1, the one that continues.
            // Of modes that overlap, parts.
            ("(2,4,3):(1,1,2)", "(2,2,2):(1,4,16)"),
        ] {
            assert_eq!(
                Layout::parse(layout).unwrap().right_inverse().unwrap().to_string(),
                expected
            );
        }
    }
}
