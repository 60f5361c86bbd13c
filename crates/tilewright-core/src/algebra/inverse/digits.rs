//! The left inverse by digits of the offsets. Every layout over the offsets 0 … span − 1 splits them into digits at 1 | p₁ | p₂ |
//! …, and its strides are unknowns in linear equations, one for each offset that has an index. Used by `left_inverse` if the
//! strides are not a chain of divisors.
//!
//! Law: the result R has `R(L(i)) = i` for all i, and is `None` only if no layout has that. Under a swizzle R has no index
//! below 0, not even at a hole. With the cuts up to p given,
//! offsets below the next cut p·r have the same digits for every r that includes them. Equations are therefore added in the
//! order of offsets, and a contradiction excludes all longer digits at once. Chains of cuts are tried shortest first, and
//! among equal lengths with small cuts first.
//!
//! Bounds: spans up to [`SEARCH_BITS`], and [`EQUATIONS`] equations in total; otherwise `Undecided`.

use crate::algebra::{inverse::right_inverse::Indexed, nested::build::Chain};
use crate::{
    Error, Layout, MAX_MODES, SEARCH_BITS, Swizzle, linear::width, macros::tri, swizzle::MAX_BITS,
    swizzle::matrix::Family,
};

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
