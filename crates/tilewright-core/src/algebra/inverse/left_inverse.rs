//! `left_inverse`: the index at an offset, or that the offset is a hole.
//!
//! Law: `left_inverse(L)(L(i)) = i` for every index i of an injective L. If L repeats offsets only by modes of stride 0,
//! the result is i with those coordinates at 0, so `L(R(L(i))) = L(i)`. At an offset that L does not reach, the value is
//! unspecified; [`LeftInverse::index`] reports a hole.
//!
//! Defined if such a layout exists. If L, sorted by stride, is a chain of divisors (s·d ≤ d' and d | d'), the chain is
//! the answer. Otherwise digits of the offsets are searched: `(2,2):(2,3)` has `(2,3):(1,1)`, `(5,3):(3,20)`
//! has one of four modes, and `(8,4,2):(13,2,1)` has none although it is injective: its inverse is a table, or a search
//! ([`Layout::locate`]).
//!
//! With a swizzle: if L is linear over bits, every injective L has a left inverse with a swizzle, and elimination finds
//! it. Otherwise digits of the offsets are searched for each swizzle of CuTe's family, so a left inverse with such a swizzle
//! is found if there is one.
//!
//! Source: CUTLASS `include/cute/layout.hpp`; the law for padded layouts is this crate's.
//!
//! # The search for digits of the offsets
//!
//! Every layout over the offsets 0 … span − 1 splits them into digits at 1 | p₁ | p₂ | …, and its strides are unknowns in linear
//! equations, one for each offset that has an index. Law: the result R has `R(L(i)) = i` for all i, and is `None` only if no layout has that. Under a swizzle R has no index
//! below 0, not even at a hole. With the cuts up to p given,
//! offsets below the next cut p·r have the same digits for every r that includes them. Equations are therefore added in the
//! order of offsets, and a contradiction excludes all longer digits at once. Chains of cuts are tried shortest first, and
//! among equal lengths with small cuts first.
//!
//! Bounds: spans up to [`SEARCH_BITS`], and [`EQUATIONS`] equations in total; otherwise `Undecided`.

use crate::{
    Error, Layout, MAX_MODES, Mode, Profile, SEARCH_BITS, Swizzle,
    algebra::{
        inverse::right_inverse::{Indexed, check_from_zero},
        nested::walk::Chain,
    },
    const_fn::tri,
    layout::reach,
    linear::{Solver, bases::Bases, width},
    swizzle::{Family, MAX_BITS},
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
    match tri!(inverse(&Indexed::of(layout), affine.span(), layout.swizzle())) {
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
    if let Some(found) = tri!(inverse(indexed, layout.span(), Swizzle::IDENTITY)) {
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

/// The most digits of offsets below [`SEARCH_BITS`], each with at least two values.
const DIGITS: usize = SEARCH_BITS.ilog2() as usize;

/// The number of equations after which the search ends undecided.
const EQUATIONS: u32 = 1 << 22;

/// A vector of unknown strides, the lowest digit first.
type StrideVector = [i64; DIGITS];

/// Returns the left inverse of an injective layout whose affine part has these modes and reaches the offsets 0 …
/// `span` − 1; `None` if there is none. For a layout with a swizzle, the inverse may have a swizzle of CuTe's family.
pub(super) const fn inverse(
    indexed: &Indexed,
    span: u64,
    swizzle: Swizzle,
) -> Result<Option<Layout>, Error> {
    let span = match span.checked_next_multiple_of(swizzle.window()) {
        Some(span) => span,
        None => span,
    };
    if span > SEARCH_BITS as u64 {
        return Err(Error::undecided(
            "injective, but its modes do not chain, and the digits of {} offsets are not searched; up to {} are",
            [span as i128, SEARCH_BITS as i128],
            "invert through a table of the offsets, or search with `locate`",
        ));
    }
    let indices = indices(indexed, swizzle);
    let mut search = StrideSearch {
        indices,
        span: last(&indices) + 1,
        digits: 1,
        most: 1,
        longer: true,
        left: EQUATIONS,
        origin: indexed.origin,
        over: Swizzle::IDENTITY,
        negative: false,
    };
    if let Some(found) = tri!(search.any()) {
        return Ok(Some(found));
    }
    if swizzle.is_identity() {
        return Ok(None);
    }
    let mut family = Family::new(width(largest(&indices, indexed.origin)), MAX_BITS);
    while let Some(over) = family.next() {
        (search.digits, search.most, search.longer) = (1, 1, true);
        search.indices = turned(&indices, indexed.origin, &over);
        search.origin = over.apply(indexed.origin as u64) as i64;
        search.over = over;
        if let Some(found) = tri!(search.any()) {
            return Ok(Some(found));
        }
    }
    if search.negative { Err(undecided_sign()) } else { Ok(None) }
}

/// Returns the last offset that has an index.
const fn last(indices: &[Option<i64>; SEARCH_BITS]) -> usize {
    let mut at = SEARCH_BITS - 1;
    while at > 0 && indices[at].is_none() {
        at -= 1;
    }
    at
}

/// Returns the union of the bits of all indices, which the table stores less `origin`.
const fn largest(indices: &[Option<i64>; SEARCH_BITS], origin: i64) -> u64 {
    let (mut all, mut at) = (0, 0);
    while at < SEARCH_BITS {
        if let Some(index) = indices[at] {
            all |= (index + origin) as u64;
        }
        at += 1;
    }
    all
}

/// Returns the indices before a swizzle that is its own inverse, again relative to that of offset 0.
const fn turned(
    indices: &[Option<i64>; SEARCH_BITS],
    origin: i64,
    swizzle: &Swizzle,
) -> [Option<i64>; SEARCH_BITS] {
    let (mut all, mut at) = ([None; SEARCH_BITS], 0);
    let zero = swizzle.apply(origin as u64) as i64;
    while at < SEARCH_BITS {
        if let Some(index) = indices[at] {
            all[at] = Some(swizzle.apply((index + origin) as u64) as i64 - zero);
        }
        at += 1;
    }
    all
}

/// Returns the index at each offset, relative to that of offset 0; `None` at a hole.
const fn indices(indexed: &Indexed, swizzle: Swizzle) -> [Option<i64>; SEARCH_BITS] {
    let (mut found, mut digits, mut offset, mut index) =
        ([None; SEARCH_BITS], [0; MAX_MODES], 0, 0);
    loop {
        found[swizzle.apply(offset as u64) as usize] = Some(index);
        let mut at = 0;
        while at < indexed.len && digits[at] + 1 == indexed.extent(at) {
            let (stride, step) = indexed.step(at);
            offset -= (digits[at] * stride) as usize;
            index -= digits[at] as i64 * step;
            digits[at] = 0;
            at += 1;
        }
        if at == indexed.len {
            return found;
        }
        let (stride, step) = indexed.step(at);
        (digits[at], offset, index) = (digits[at] + 1, offset + stride as usize, index + step);
    }
}

/// The state of the search, and its limits.
struct StrideSearch {
    indices: [Option<i64>; SEARCH_BITS],
    span: usize,
    /// The current number of digits.
    digits: usize,
    /// The allowed number of digits.
    most: usize,
    /// Set if a search with more digits may succeed.
    longer: bool,
    /// The number of equations that may still be added.
    left: u32,
    /// The index at offset 0, before the swizzle.
    origin: i64,
    /// The swizzle of the result, which acts on indices of 0 and more only.
    over: Swizzle,
    /// Set if strides were passed over because of negative indices, and other strides for the same cuts exist.
    negative: bool,
}

impl StrideSearch {
    /// Returns the layout of the fewest digits with these indices.
    const fn any(&mut self) -> Result<Option<Layout>, Error> {
        while self.longer && self.most <= DIGITS {
            self.longer = false;
            if let Some(found) = tri!(self.from(&[1; DIGITS], &Solved::ANY)) {
                return Ok(Some(found));
            }
            self.most += 1;
        }
        Ok(None)
    }

    /// Returns the layout whose cuts begin with `cuts`, of which the last begins an unbounded digit.
    const fn from(
        &mut self,
        cuts: &[usize; DIGITS],
        below: &Solved,
    ) -> Result<Option<Layout>, Error> {
        let last = cuts[self.digits - 1];
        let mut solved = below.with_unknown(self.digits - 1);
        let mut end = last;
        while end < self.span && tri!(self.extend(&mut solved, cuts, end)) {
            end += last;
        }
        if end >= self.span && self.digits == self.most {
            let found = tri!(self.layout(cuts, &solved.point));
            if let Ok(found) = found.with_swizzle(self.over) {
                return Ok(Some(found));
            }
            self.negative |= solved.count > 0;
        }
        if self.digits == self.most {
            self.longer |= end > last && self.digits < DIGITS;
            return Ok(None);
        }
        let (mut solved, mut cut) = (below.with_unknown(self.digits - 1), last);
        while cut + last <= end {
            tri!(self.extend(&mut solved, cuts, cut));
            cut += last;
            if cut == last {
                continue;
            }
            let mut longer = *cuts;
            longer[self.digits] = cut;
            self.digits += 1;
            let found = tri!(self.from(&longer, &solved));
            self.digits -= 1;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Adds the equations of the offsets from `begin` to the next multiple of the last cut; returns whether a solution
    /// is left.
    const fn extend(
        &mut self,
        solved: &mut Solved,
        cuts: &[usize; DIGITS],
        begin: usize,
    ) -> Result<bool, Error> {
        let (mut offset, end) = (begin, begin + cuts[self.digits - 1]);
        while offset < end && offset < self.span {
            if let Some(index) = self.indices[offset] {
                if self.left == 0 {
                    return Err(Error::undecided(
                        "undecided whether a layout is the left inverse, after {} equations",
                        [EQUATIONS as i128],
                        "invert through a table of the offsets, or search with `locate`",
                    ));
                }
                self.left -= 1;
                if !tri!(solved.add(&self.row(cuts, offset), index)) {
                    return Ok(false);
                }
            }
            offset += 1;
        }
        Ok(true)
    }

    /// Returns the digits of an offset.
    const fn row(&self, cuts: &[usize; DIGITS], offset: usize) -> StrideVector {
        let (mut row, mut rest, mut at) = ([0; DIGITS], offset, self.digits);
        while at > 0 {
            at -= 1;
            row[at] = (rest / cuts[at]) as i64;
            rest %= cuts[at];
        }
        row
    }

    const fn layout(
        &self,
        cuts: &[usize; DIGITS],
        strides: &StrideVector,
    ) -> Result<Layout, Error> {
        let (mut chain, mut at) = (Chain::new(), 0);
        while at + 1 < self.most {
            tri!(chain.push((cuts[at + 1] / cuts[at]) as u64, strides[at] as i128));
            at += 1;
        }
        tri!(chain.push(self.span.div_ceil(cuts[at]) as u64, strides[at] as i128));
        chain.layout(self.origin)
    }
}

/// All integer solutions of some equations: a point, and the directions in which it can move.
#[derive(Clone, Copy)]
struct Solved {
    point: StrideVector,
    free: [StrideVector; DIGITS],
    count: usize,
}

impl Solved {
    const ANY: Solved = Solved { point: [0; DIGITS], free: [[0; DIGITS]; DIGITS], count: 0 };

    /// Adds an unknown without constraints.
    const fn with_unknown(&self, at: usize) -> Solved {
        let mut more = *self;
        more.free[more.count] = [0; DIGITS];
        more.free[more.count][at] = 1;
        more.count += 1;
        more
    }

    /// Adds the equation row · unknowns = value; returns whether a solution is left.
    const fn add(&mut self, row: &StrideVector, value: i64) -> Result<bool, Error> {
        let rest = match value.checked_sub(tri!(dot(row, &self.point))) {
            Some(rest) => rest,
            None => return Err(too_large()),
        };
        // Euclid's algorithm on the directions, until at most one changes the left side.
        let (mut pivot, mut at) = (None, 0);
        let mut step = 0;
        while at < self.count {
            let mut other = tri!(dot(row, &self.free[at]));
            match pivot {
                _ if other == 0 => {}
                None => (pivot, step) = (Some(at), other),
                Some(kept) => {
                    while other != 0 {
                        let quotient = step / other;
                        tri!(self.less(kept, at, quotient));
                        (step, other) = (other, step % other);
                        (self.free[kept], self.free[at]) = (self.free[at], self.free[kept]);
                    }
                }
            }
            at += 1;
        }
        let Some(pivot) = pivot else { return Ok(rest == 0) };
        if rest % step != 0 {
            return Ok(false);
        }
        tri!(add_times(&mut self.point, &self.free[pivot], rest / step));
        self.count -= 1;
        self.free[pivot] = self.free[self.count];
        Ok(true)
    }

    /// Subtracts `times` the direction `by` from the direction `at`.
    const fn less(&mut self, at: usize, by: usize, times: i64) -> Result<(), Error> {
        let direction = self.free[by];
        match times.checked_neg() {
            Some(times) => add_times(&mut self.free[at], &direction, times),
            None => Err(too_large()),
        }
    }
}

const fn dot(row: &StrideVector, strides: &StrideVector) -> Result<i64, Error> {
    let (mut sum, mut at) = (0i128, 0);
    while at < DIGITS {
        // A digit is below `SEARCH_BITS`.
        sum += row[at] as i128 * strides[at] as i128;
        at += 1;
    }
    if sum > i64::MAX as i128 || sum < -(i64::MAX as i128) {
        return Err(too_large());
    }
    Ok(sum as i64)
}

const fn add_times(
    to: &mut StrideVector,
    direction: &StrideVector,
    times: i64,
) -> Result<(), Error> {
    let mut at = 0;
    while at < DIGITS {
        let sum = to[at] as i128 + direction[at] as i128 * times as i128;
        if sum > i64::MAX as i128 || sum < -(i64::MAX as i128) {
            return Err(too_large());
        }
        to[at] = sum as i64;
        at += 1;
    }
    Ok(())
}

const fn undecided_sign() -> Error {
    Error::undecided(
        "undecided whether a layout with a swizzle is the left inverse: strides with indices below {} were passed over",
        [0],
        "invert through a table of the offsets, or search with `locate`",
    )
}

const fn too_large() -> Error {
    Error::undecided(
        "undecided whether a layout is the left inverse: its strides exceed {} bits",
        [64],
        "invert through a table of the offsets, or search with `locate`",
    )
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, string::ToString};

    use super::*;
    use crate::small::{for_each_layout, image};

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
