//! Comparison of two layouts as maps: whether they are equal, and where they first differ.
//!
//! Law: `first_difference(A, B)` is the row-major first coordinate with different offsets, or `None` if there is none.
//!
//! The comparison does not enumerate the elements. Strided maps without a swizzle are compared axis by axis
//! in one step for each mode. Maps that are linear over bits are compared bit by bit. For
//! others, the joint refinement makes both linear on each box, so a box differs at its origin, or first after one step of
//! the least significant loop with different strides. If there are many boxes, a difference found by sampling
//! ends the search, or bounds it: the first difference does not come after it.

use crate::{
    Block, Coord, Error, MAX_MODES, Mode, Refinement, TensorLayout, algebra::merge, const_fn::tri,
};

/// The largest number of boxes that are compared if the refinement is not regular.
pub const SEARCH_BLOCKS: u32 = 1 << 20;

/// The number of boxes that are compared before sampling.
const FEW_BLOCKS: u32 = 1 << 8;

/// The number of boxes that are compared if [`SEARCH_BLOCKS`] are known not to suffice.
const VAIN_BLOCKS: u32 = 1 << 15;

impl TensorLayout {
    /// Returns whether both send every logical coordinate to the same offset. The capacity is not part of the map.
    ///
    /// # Errors
    /// Those of [`TensorLayout::first_difference`], but not undecided if any difference is known.
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// // A terabyte of elements, compared in microseconds.
    /// let rows = TensorLayout::row_major(&[1 << 20, 1 << 20]).unwrap();
    /// let tiled = Layout::parse("((8,131072),1048576):((1048576,8388608),1)").unwrap();
    /// let tiled = TensorLayout::new(&[1 << 20, 1 << 20], &tiled, 1 << 40).unwrap();
    /// assert_eq!(rows.same_function(&tiled), Ok(true));
    /// let other = TensorLayout::row_major(&[1 << 40]).unwrap();
    /// assert!(rows.same_function(&other).unwrap_err().is_mismatch());
    /// ```
    pub const fn same_function(&self, other: &TensorLayout) -> Result<bool, Error> {
        match tri!(search(self, other, Wanted::Any)) {
            SameSearch { found: Some(_), .. } => Ok(false),
            SameSearch { found: None, complete: true } => Ok(true),
            SameSearch { found: None, complete: false } => Err(undecided()),
        }
    }

    /// Returns a logical coordinate that the two layouts send to different offsets. It is not always the first one: if that
    /// one is [undecided](TensorLayout::first_difference), another may be known.
    ///
    /// # Errors
    /// Those of [`TensorLayout::same_function`].
    ///
    /// ```
    /// use tilewright_core::{Layout, TensorLayout};
    /// // The swizzle's source is bit 44, and 34 million rows come before it.
    /// let rows = Layout::parse("(1000000000,1000,1000):(1000000,1000,1)").unwrap();
    /// let swizzled = Layout::parse("Sw<1,3,41> o (1000000000,1000,1000):(1000000,1000,1)").unwrap();
    /// let (a, b) = (TensorLayout::of(&rows), TensorLayout::of(&swizzled));
    /// assert!(a.first_difference(&b).unwrap_err().is_undecided());
    /// let difference = a.any_difference(&b).unwrap().unwrap();
    /// assert_eq!(b.offset(difference.coord.as_slice()), Ok(difference.left ^ 8));
    /// let other = TensorLayout::row_major(&[1000, 1000, 1000]).unwrap();
    /// assert!(a.any_difference(&other).unwrap_err().is_mismatch());
    /// ```
    pub const fn any_difference(&self, other: &TensorLayout) -> Result<Option<Difference>, Error> {
        match tri!(search(self, other, Wanted::Any)) {
            SameSearch { found: None, complete: false } => Err(undecided()),
            SameSearch { found, .. } => Ok(found),
        }
    }

    /// Returns the row-major first logical coordinate that the two layouts send to different offsets.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the extents differ; [undecided](Error::is_undecided) if more than
    /// [`SEARCH_BLOCKS`] boxes would have to be compared. This happens only for dims that steps or swizzles cut differently on
    /// either side.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// let rows = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let columns = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let difference = rows.first_difference(&columns).unwrap().unwrap();
    /// assert_eq!((difference.coord.as_slice(), difference.left, difference.right), (&[0, 1][..], 1, 2));
    /// let other = TensorLayout::row_major(&[3, 2]).unwrap();
    /// assert!(rows.first_difference(&other).unwrap_err().is_mismatch());
    /// ```
    pub const fn first_difference(
        &self,
        other: &TensorLayout,
    ) -> Result<Option<Difference>, Error> {
        match tri!(search(self, other, Wanted::First)) {
            SameSearch { found, complete: true } => Ok(found),
            SameSearch { found: None, complete: false } => Err(undecided()),
            SameSearch { found: Some(_), complete: false } => Err(Error::undecided(
                "layouts whose first difference is beyond {} pieces",
                [SEARCH_BLOCKS as i128],
                "ask for any difference, or compare a part of the array",
            )),
        }
    }
}

const fn undecided() -> Error {
    Error::undecided(
        "layouts whose dims are cut differently into more than {} pieces",
        [SEARCH_BLOCKS as i128],
        "compare a part of the array",
    )
}

/// The difference that a search looks for.
#[derive(Clone, Copy)]
enum Wanted {
    /// The row-major first.
    First,
    /// The first one found.
    Any,
}

/// The result of a search.
struct SameSearch {
    found: Option<Difference>,
    /// Set if `found` is the wanted difference, or there is none.
    complete: bool,
}

const fn search(a: &TensorLayout, b: &TensorLayout, wanted: Wanted) -> Result<SameSearch, Error> {
    if is_by_axis(a, b) {
        return Ok(SameSearch { found: first_by_axis(a, b), complete: true });
    }
    let refinement = tri!(Refinement::new(a, b));
    if same_form(a, b) {
        return Ok(SameSearch { found: None, complete: true });
    }
    if let Some(found) = first_by_bits(a, b) {
        return Ok(SameSearch { found, complete: true });
    }
    if same_swizzle(a, b) {
        if a.layout().swizzle().is_identity() {
            return Ok(in_boxes(&refinement, wanted, FEW_BLOCKS));
        }
        return under_common_swizzle(a, b, wanted);
    }
    let (x, y) = (tri!(shortly_swizzled(a)), tri!(shortly_swizzled(b)));
    if is_by_axis(&x, &y) || same_swizzle(&x, &y) {
        return search(&x, &y, wanted);
    }
    Ok(in_boxes(&tri!(Refinement::new(&x, &y)), wanted, FEW_BLOCKS))
}

/// Returns the same map; its swizzle lacks the bits that no offset reaches.
const fn shortly_swizzled(tensor: &TensorLayout) -> Result<TensorLayout, Error> {
    let affine = tri!(tensor.unswizzled());
    let last = match affine.layout().bounds() {
        Some((_, last)) if last > 0 => last as u64,
        _ => 0,
    };
    tensor.with_swizzle(tensor.layout().swizzle().up_to(last))
}

/// Returns the wanted difference among all boxes; samples once the first `few` are compared.
const fn in_boxes(refinement: &Refinement, wanted: Wanted, few: u32) -> SameSearch {
    let mut blocks = refinement.blocks();
    let (mut found, mut count, mut budget) = (None, 0, SEARCH_BLOCKS);
    while let Some(block) = blocks.next_block() {
        if count == budget {
            return SameSearch { found, complete: false };
        }
        keep(&mut found, difference_in(&block));
        if count == few && !refinement.is_regular() {
            let (a, b) = refinement.sides();
            keep(&mut found, witness(a, b));
            budget = budget_of(refinement, &found);
        }
        if let Some(Difference { coord, .. }) = &found {
            if matches!(wanted, Wanted::Any) {
                break;
            }
            blocks.end_before(coord);
        }
        count += 1;
    }
    SameSearch { found, complete: true }
}

/// Returns the number of boxes worth comparing: fewer if even the largest number would not decide.
const fn budget_of(refinement: &Refinement, found: &Option<Difference>) -> u32 {
    let end = match found {
        Some(Difference { coord, .. }) => Some(coord),
        None => None,
    };
    if refinement.blocks_at_least(end) > SEARCH_BLOCKS as u64 { VAIN_BLOCKS } else { SEARCH_BLOCKS }
}

const fn same_swizzle(a: &TensorLayout, b: &TensorLayout) -> bool {
    a.layout().swizzle().same(&b.layout().swizzle())
}

/// Returns the wanted difference under a common swizzle, which is a bijection: the affine parts differ there.
const fn under_common_swizzle(
    a: &TensorLayout,
    b: &TensorLayout,
    wanted: Wanted,
) -> Result<SameSearch, Error> {
    let affine = (tri!(a.unswizzled()), tri!(b.unswizzled()));
    let SameSearch { mut found, complete } = tri!(search(&affine.0, &affine.1, wanted));
    if let Some(Difference { left, right, .. }) = &mut found {
        (*left, *right) = (a.layout().swizzled(*left), a.layout().swizzled(*right));
    }
    Ok(SameSearch { found, complete })
}

/// Returns whether the two have the same form, which needs no boxes.
const fn same_form(a: &TensorLayout, b: &TensorLayout) -> bool {
    let (x, y) = (a.layout(), b.layout());
    if !x.profile().same(y.profile())
        || x.offset() != y.offset()
        || a.steps().len() != b.steps().len()
    {
        return false;
    }
    if !same_swizzle(a, b) {
        return false;
    }
    let mut i = 0;
    while i < a.steps().len() {
        if !a.steps()[i].same(b.steps()[i]) {
            return false;
        }
        i += 1;
    }
    let mut i = 0;
    while i < x.modes().len() {
        let (m, n) = (x.modes()[i], y.modes()[i]);
        if m.extent() != n.extent() || m.stride() != n.stride() {
            return false;
        }
        i += 1;
    }
    true
}

/// Returns the row-major first coordinate of a box at which its two offsets differ.
const fn difference_in(block: &Block) -> Option<Difference> {
    let (left, right) = (block.src(), block.dst());
    if left != right {
        return Some(Difference { coord: block.origin().copied(), left, right });
    }
    // Any coordinate that differs has a step in a loop with different strides. The first such coordinate is one step of
    // the least significant of these loops.
    let (loops, mut least, mut i) = (block.loops(), None, 0);
    while i < loops.len() {
        if loops[i].src != loops[i].dst {
            let lower = match least {
                None => true,
                Some(at) => {
                    let (old, new): (&crate::Loop, &crate::Loop) = (&loops[at], &loops[i]);
                    new.dim > old.dim || (new.dim == old.dim && new.step < old.step)
                }
            };
            if lower {
                least = Some(i);
            }
        }
        i += 1;
    }
    match least {
        Some(at) => {
            let turn = loops[at];
            let mut coord = block.origin().copied();
            coord.as_mut_slice()[turn.dim as usize] += turn.step;
            Some(Difference { coord, left: left + turn.src, right: right + turn.dst })
        }
        None => None,
    }
}

/// A coordinate that two layouts send to different offsets.
///
/// ```
/// use tilewright_core::{Difference, TensorLayout};
/// // NCHW against NHWC: the first element that moves.
/// let nchw = TensorLayout::row_major(&[1, 2, 2, 2]).unwrap();
/// let nhwc = TensorLayout::ordered(&[1, 2, 2, 2], &[1, 3, 2, 0]).unwrap();
/// let Difference { coord, left, right } = nchw.first_difference(&nhwc).unwrap().unwrap();
/// assert_eq!((coord.to_string(), left, right), ("(0,0,0,1)".into(), 1, 2));
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The logical coordinate: the first in row-major order of all that differ.
    pub coord: Coord,
    /// The offset in the first layout, in elements.
    pub left: i64,
    /// The offset in the second layout, in elements.
    pub right: i64,
}

// Comparisons without boxes, for `same/mod.rs`: the first difference of two strided maps, axis by axis, and of two
// maps that are linear over bits, bit by bit; and a difference of any two layouts among a few thousand sampled
// coordinates.
//
// # Strided maps
//
// Law: with one axis per dim and no swizzle, an offset is the sum of the axes' contributions. Two such maps are the
// same iff they begin at the same offset and agree along every axis. The row-major first difference is on the last
// axis that disagrees, with all other coordinates 0. Along an axis, coalesced modes are the unique form of a function,
// so its first difference is where the forms diverge.
//
// # Maps that are linear over bits
//
// Law: if the strides of a layout add without a carry on all of its coordinates, the offset of a coordinate is the xor
// of the offset of 0 and of the changes by each of its bits. Two such maps are therefore equal iff they agree at 0 and
// at each single bit. The first coordinate at which they differ has one bit, the least significant one at which they
// disagree: a coordinate before it consists of lower bits.
//
// # Samples
//
// Law: a result is a difference; no result proves nothing. Layouts that are cut differently mostly differ at most of
// their coordinates. Sampling coordinates of every magnitude therefore saves the search, or ends it where it would not
// end.

/// Returns whether both have the same extents and are sums over their axes.
pub(crate) const fn is_by_axis(a: &TensorLayout, b: &TensorLayout) -> bool {
    let (mut same, mut dim) = (a.rank() == b.rank(), 0);
    while same && dim < a.rank() {
        same = a.extents()[dim] == b.extents()[dim];
        dim += 1;
    }
    let plain = a.layout().swizzle().is_identity() && b.layout().swizzle().is_identity();
    same && plain && a.is_strided() && b.is_strided()
}

/// Returns the row-major first difference of two maps for which [`is_by_axis`] holds.
pub(crate) const fn first_by_axis(a: &TensorLayout, b: &TensorLayout) -> Option<Difference> {
    let rank = a.rank();
    let mut coord = Coord::origin(rank);
    if a.size() == 0 {
        return None;
    }
    if a.layout().offset() != b.layout().offset() {
        return found(a, b, coord);
    }
    let mut dim = rank;
    while dim > 0 {
        dim -= 1;
        if let (Some(x), Some(y)) = (a.layout().axis(dim), b.layout().axis(dim))
            && let Some(index) = first_along(x, y, a.extents()[dim])
        {
            coord.as_mut_slice()[dim] = index;
            return found(a, b, coord);
        }
    }
    None
}

const fn found(a: &TensorLayout, b: &TensorLayout, coord: Coord) -> Option<Difference> {
    match (a.offset(coord.as_slice()), b.offset(coord.as_slice())) {
        (Ok(left), Ok(right)) => Some(Difference { coord, left, right }),
        _ => None,
    }
}

/// Returns the first index below `extent`, before which neither axis ends, that two axes send to different offsets.
const fn first_along(a: &[Mode], b: &[Mode], extent: u64) -> Option<u64> {
    let mut merged = [[Mode::new(1, 0); MAX_MODES]; 2];
    let lens = [merge(a, false, &mut merged[0]), merge(b, false, &mut merged[1])];
    // Coordinates below `reach` agree; an axis has at most 2^63 - 1 coordinates.
    let (mut i, mut reach) = (0, 1u64);
    while i < lens[0] && i < lens[1] {
        let (x, y) = (merged[0][i], merged[1][i]);
        if x.stride() != y.stride() {
            return if reach < extent { Some(reach) } else { None };
        }
        if x.extent() != y.extent() {
            // One side continues its mode, and the other begins a new one, which would have been merged if it were the same.
            let shorter = if x.extent() < y.extent() { x.extent() } else { y.extent() };
            reach *= shorter;
            return if reach < extent { Some(reach) } else { None };
        }
        reach *= x.extent();
        i += 1;
    }
    None
}

/// The most bits of a coordinate: an array has fewer than 2⁶³ elements, and the last digit of a dim has any extent.
const MAX_BITS: usize = 96;

/// Returns `Some` if both are linear over bits: the first difference, if there is one.
pub(crate) const fn first_by_bits(
    a: &TensorLayout,
    b: &TensorLayout,
) -> Option<Option<Difference>> {
    let (x, y) = match (Bits::of(a), Bits::of(b)) {
        (Some(x), Some(y)) => (x, y),
        _ => return None,
    };
    let origin = Coord::origin(a.rank());
    let (left, right) = (a.layout().swizzled(x.base), b.layout().swizzled(y.base));
    if left != right {
        return Some(Some(Difference { coord: origin, left, right }));
    }
    let mut i = 0;
    while i < x.len {
        let (left, right) = (x.at(a, i), y.at(b, i));
        if left != right {
            let mut coord = origin.copied();
            coord.as_mut_slice()[x.dims[i] as usize] = x.steps[i];
            return Some(Some(Difference { coord, left, right }));
        }
        i += 1;
    }
    Some(None)
}

/// The bits of the coordinates of an array, the least significant of the last dim first.
struct Bits {
    len: usize,
    dims: [u8; MAX_BITS],
    /// The coordinate of the dim that has only this bit.
    steps: [u64; MAX_BITS],
    /// The contribution of the bit to the sum of strides.
    sums: [i64; MAX_BITS],
    base: i64,
}

impl Bits {
    /// Returns `None` if sums carry, a stride is negative, steps mix dims, or a digit other than the last of its dim has
    /// an extent that is not a power of two.
    const fn of(tensor: &TensorLayout) -> Option<Bits> {
        let base = tensor.layout().offset();
        if !tensor.is_strided() || tensor.size() == 0 || base < 0 {
            return None;
        }
        let zero = [0; MAX_BITS];
        let mut bits = Bits { len: 0, dims: [0; MAX_BITS], steps: zero, sums: [0; MAX_BITS], base };
        let (mut used, mut dim) = (base, tensor.rank());
        while dim > 0 {
            dim -= 1;
            used = match bits.push(tensor, dim, used) {
                Some(used) => used,
                None => return None,
            };
        }
        Some(bits)
    }

    /// Adds the bits of a dim; returns the used bits of offsets, or `None` if one would be used twice.
    const fn push(&mut self, tensor: &TensorLayout, dim: usize, mut used: i64) -> Option<i64> {
        let modes = match tensor.layout().axis(dim) {
            Some(modes) => modes,
            None => return None,
        };
        let (last, mut below, mut i) = (tensor.extents()[dim] - 1, 1u64, 0);
        while i < modes.len() && last >= below {
            let (extent, stride) = (modes[i].extent(), modes[i].stride());
            if stride < 0 {
                return None;
            }
            let mut step = 1;
            // I2 keeps the sums of existing coordinates within 64 bits.
            while step < extent && last / below >= step {
                let sum = stride * step as i64;
                if sum & used != 0 || self.len == MAX_BITS {
                    return None;
                }
                used |= sum;
                self.dims[self.len] = dim as u8;
                self.steps[self.len] = below * step;
                self.sums[self.len] = sum;
                self.len += 1;
                step *= 2;
            }
            below *= extent;
            if last >= below && !extent.is_power_of_two() {
                return None;
            }
            i += 1;
        }
        Some(used)
    }

    /// Returns the offset of the coordinate that has only one bit.
    const fn at(&self, tensor: &TensorLayout, bit: usize) -> i64 {
        tensor.layout().swizzled(self.base + self.sums[bit])
    }
}

/// The number of scattered coordinates that are sampled.
const SCATTERED: u32 = 4096;

/// Returns the difference at this coordinate within the extents of both, if there is one.
const fn difference_at(a: &TensorLayout, b: &TensorLayout, coord: &Coord) -> Option<Difference> {
    match (a.offset(coord.as_slice()), b.offset(coord.as_slice())) {
        (Ok(left), Ok(right)) if left != right => {
            Some(Difference { coord: coord.copied(), left, right })
        }
        _ => None,
    }
}

/// Returns some difference of two layouts over the same extents, none of them 0, moved towards the origin.
pub(crate) const fn witness(a: &TensorLayout, b: &TensorLayout) -> Option<Difference> {
    let (mut looked, mut dim) = (None, a.rank());
    while dim > 0 {
        dim -= 1;
        keep(&mut looked, along(a, b, dim, false));
        keep(&mut looked, along(a, b, dim, true));
    }
    keep(&mut looked, scattered(a, b));
    match looked {
        Some(found) => Some(nearer(a, b, found)),
        None => None,
    }
}

/// Keeps the one of two differences that comes first.
pub(crate) const fn keep(first: &mut Option<Difference>, found: Option<Difference>) {
    let Some(found) = found else { return };
    let replace = match first {
        Some(first) => found.coord.is_before(&first.coord),
        None => true,
    };
    if replace {
        *first = Some(found);
    }
}

/// Returns the first difference on one line along `dim`, with all other coordinates 0 or all at their last.
const fn along(a: &TensorLayout, b: &TensorLayout, dim: usize, last: bool) -> Option<Difference> {
    let (mut coord, mut other) = (Coord::origin(a.rank()), 0);
    while last && other < a.rank() {
        coord.as_mut_slice()[other] = a.extents()[other] - 1;
        other += 1;
    }
    let (extent, mut i) = (a.extents()[dim], 0);
    while i < LOOKS {
        let index = look(i, extent);
        if index < extent {
            coord.as_mut_slice()[dim] = index;
            if let Some(found) = difference_at(a, b, &coord) {
                return Some(found);
            }
        }
        i += 1;
    }
    None
}

/// The number of indices of a line that are sampled.
const LOOKS: u32 = 32 + 3 * 58 + 1;

/// The small indices, those around the powers of two, and the last.
const fn look(i: u32, extent: u64) -> u64 {
    if i < 32 {
        i as u64
    } else if i + 1 < LOOKS {
        (1 << ((i - 32) / 3 + 5)) - 1 + (i as u64 - 32) % 3
    } else {
        extent - 1
    }
}

/// Returns the first difference among coordinates of pseudorandom magnitudes, the same ones every time.
const fn scattered(a: &TensorLayout, b: &TensorLayout) -> Option<Difference> {
    let (mut first, mut state, mut count) = (None, 0x9e37_79b9_7f4a_7c15, 0);
    let mut coord = Coord::origin(a.rank());
    while count < SCATTERED {
        let mut dim = 0;
        while dim < a.rank() {
            let extent = a.extents()[dim];
            let magnitudes = (u64::BITS - (extent - 1).leading_zeros()) as u64 + 1;
            let below = 1u64 << (next(&mut state) % magnitudes);
            coord.as_mut_slice()[dim] = next(&mut state) % below % extent;
            dim += 1;
        }
        keep(&mut first, difference_at(a, b, &coord));
        count += 1;
    }
    first
}

/// Vigna's xorshift64*, with the better high half xored into the low half.
const fn next(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    let product = state.wrapping_mul(0x2545_f491_4f6c_dd1d);
    product ^ (product >> 32)
}

/// Lowers one coordinate after another, the most significant first, in halving steps, as long as the layouts
/// differ there.
const fn nearer(a: &TensorLayout, b: &TensorLayout, mut found: Difference) -> Difference {
    let mut dim = 0;
    while dim < a.rank() {
        let mut by = found.coord.as_slice()[dim];
        while by > 0 {
            let mut coord = found.coord.copied();
            coord.as_mut_slice()[dim] -= by;
            match difference_at(a, b, &coord) {
                Some(lower) => found = lower,
                None => by /= 2,
            }
            let here = found.coord.as_slice()[dim];
            by = if by < here { by } else { here };
        }
        dim += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::for_each_layout;
    use crate::{Layout, Mode, Step, Swizzle};
    use std::vec::Vec;

    pub(super) fn brute(a: &TensorLayout, b: &TensorLayout) -> Option<Difference> {
        (0..a.size()).find_map(|i| {
            let coord = a.coord_of(i).unwrap();
            let (left, right) = (a.offset_of(i).unwrap(), b.offset_of(i).unwrap());
            (left != right).then_some(Difference { coord, left, right })
        })
    }

    #[test]
    fn every_pair_of_small_nested_layouts() {
        let mut all: Vec<TensorLayout> = Vec::new();
        for_each_layout(3, 2..=3, 0..=3, |flat| {
            if flat.rank() < 3 {
                return;
            }
            let layout = Layout::nested(flat.modes(), &[2, 1]).unwrap();
            let size = layout.axis_size(0).unwrap();
            if size >= 5 && flat.modes()[2].extent() == 2 {
                all.push(TensorLayout::new(&[5, 2], &layout, 32).unwrap());
            }
        });
        assert!(all.len() > 150, "{}", all.len());
        for a in &all {
            for b in &all {
                let expected = Ok(brute(a, b));
                assert_eq!(a.first_difference(b), expected, "{a:?} {b:?}");
                let boxes = in_boxes(&Refinement::new(a, b).unwrap(), Wanted::First, FEW_BLOCKS);
                assert_eq!(Ok(boxes.found), expected, "{a:?} {b:?}");
                assert!(boxes.complete);
            }
        }
    }

    /// Returns layouts of one shape whose dims are split, merged and swizzled, each in several ways.
    fn mixed() -> Vec<TensorLayout> {
        let mut all = Vec::new();
        let swizzles = [(0, 0, 0), (1, 0, 1), (2, 1, 2), (2, 0, -3), (1, 3, 3), (1, 4, 2)];
        let mut push = |steps: &[Step], modes: &[Mode]| {
            let flat = Layout::flat(modes).unwrap();
            for (bits, base, shift) in swizzles {
                let swizzle = Swizzle::new(bits, base, shift).unwrap();
                let layout = flat.with_swizzle(swizzle).unwrap();
                let capacity = layout.cosize() as u64;
                all.push(TensorLayout::with_steps(&[3, 7], steps, &layout, capacity).unwrap());
            }
        };
        for by in 1..=5u64 {
            let (outer, inner) = (7u64.div_ceil(by), by as i64);
            let split = Step::Split { axis: 1, by };
            let [row, tile] = [Mode::new(3, outer as i64 * inner), Mode::new(outer, inner)];
            push(&[split], &[row, tile, Mode::new(by, 1)]);
            let [row, tile] = [Mode::new(3, inner), Mode::new(outer, 3 * inner)];
            push(&[split], &[row, tile, Mode::new(by, 1)]);
            // Split once more, which pads.
            let again = Step::Split { axis: 2, by: 2 };
            let halves = Mode::new(by.div_ceil(2), 2);
            let tile = Mode::new(outer, 6 * by.div_ceil(2) as i64);
            let row = Mode::new(3, 2 * by.div_ceil(2) as i64);
            push(&[split, again], &[row, tile, halves, Mode::new(2, 1)]);
            let (outer, inner) = (Mode::new(21u64.div_ceil(by), by as i64), Mode::new(by, 1));
            let join = Step::Merge { major: 0, minor: 1 };
            push(&[join, Step::Split { axis: 0, by }], &[outer, inner]);
            let join = Step::Merge { major: 1, minor: 0 };
            push(&[join, Step::Split { axis: 0, by }], &[outer, inner]);
        }
        push(&[], &[Mode::new(3, 7), Mode::new(7, 1)]);
        push(&[], &[Mode::new(3, 1), Mode::new(7, 3)]);
        all
    }

    #[test]
    fn split_merged_and_swizzled_layouts_are_what_the_table_says() {
        let all = mixed();
        let (mut same, mut differ) = (0, 0);
        // All pairs, or every fifth.
        let step = tilewright_testing::cases(1, 5);
        for (number, a) in all.iter().enumerate() {
            for b in all.iter().skip(number % step).step_by(step) {
                let expected = brute(a, b);
                assert_eq!(a.first_difference(b), Ok(expected.clone()), "{a:?} {b:?}");
                assert_eq!(a.same_function(b), Ok(expected.is_none()), "{a:?} {b:?}");
                let any = a.any_difference(b).unwrap();
                assert_eq!(any.is_some(), expected.is_some(), "{a:?} {b:?}");
                same += u32::from(expected.is_none());
                differ += u32::from(expected.is_some());
            }
        }
        // Wherever the search samples, the first difference is the same.
        let every = tilewright_testing::cases(13, 37);
        for (a, b) in all.iter().flat_map(|a| all.iter().step_by(every).map(move |b| (a, b))) {
            for few in [0, 3] {
                let found = in_boxes(&Refinement::new(a, b).unwrap(), Wanted::First, few);
                assert!(found.complete && found.found == brute(a, b), "{a:?} {b:?} {few}");
            }
        }
        assert!(same > 1000 / step as u32 && differ > 10_000 / step as u32, "{same} {differ}");
    }

    #[test]
    fn fewer_boxes_are_never_promised() {
        let (all, mut exact) = (mixed(), 0);
        for (a, b) in all.iter().step_by(5).flat_map(|a| all.iter().map(move |b| (a, b))) {
            let refinement = Refinement::new(a, b).unwrap();
            let count = refinement.blocks().count() as u64;
            let least = refinement.blocks_at_least(None);
            assert!(least <= count, "{a:?} {b:?}");
            exact += u32::from(least == count);
            for end in (0..a.size()).step_by(4).map(|i| a.coord_of(i).unwrap()) {
                let before = refinement.blocks().filter(|block| block.origin().is_before(&end));
                let least = refinement.blocks_at_least(Some(&end));
                assert!(least <= before.count().max(1) as u64, "{a:?} {b:?} {end}");
            }
        }
        assert!(exact > 1000, "{exact}");
    }

    #[test]
    fn swizzles_of_bits_that_no_offset_has_are_none() {
        let parse = |text: &str| TensorLayout::of(&Layout::parse(text).unwrap());
        let (a, b) = (
            "Sw<3,30,10> o (1000000,1000000):(1,1000000)",
            "Sw<3,30,11> o (1000000,1000000):(1,1000000)",
        );
        assert_eq!(parse(a).same_function(&parse(b)), Ok(true));
        assert_eq!(parse(a).same_function(&parse("(1000000,1000000):(1,1000000)")), Ok(true));
        // Bit 40 is a source of one side alone.
        let large = parse("Sw<3,30,10> o (4194304,1048576):(1,4194304)");
        let other = parse("Sw<3,30,11> o (4194304,1048576):(1,4194304)");
        let found = large.first_difference(&other).unwrap().unwrap();
        assert_eq!(
            (found.coord.as_slice(), found.left ^ found.right),
            (&[0, 1 << 18][..], 1 << 30)
        );
    }

    #[test]
    fn swizzles_can_cancel_or_differ() {
        let parse = |text| TensorLayout::of(&Layout::parse(text).unwrap());
        // The strides of the swizzled layout are 2, and 2 maps to 3.
        assert_eq!(parse("Sw<1,0,1> o 2:2").same_function(&parse("2:3")), Ok(true));
        let plain = parse("(8,8):(8,1)");
        let layout = plain.layout().with_swizzle(Swizzle::new(3, 0, 3).unwrap()).unwrap();
        let swizzled = TensorLayout::of(&layout);
        assert_eq!(plain.first_difference(&swizzled), Ok(brute(&plain, &swizzled)));
        assert_eq!(swizzled.same_function(&swizzled), Ok(true));
        // The search ignores a common swizzle: 2^40 elements without enumeration.
        let big = |text| parse(text);
        let a = big("Sw<3,4,3> o (1048576,1048576):(1048576,1)");
        let b = big("Sw<3,4,3> o (1048576,1048576):(1,1048576)");
        let split =
            Layout::parse("Sw<3,4,3> o ((2,524288),1048576):((1048576,2097152),1)").unwrap();
        assert_eq!(a.same_function(&TensorLayout::of(&split)), Ok(true));
        let found = a.first_difference(&b).unwrap().unwrap();
        assert_eq!((found.coord.as_slice(), found.left), (&[0, 1][..], 1));
    }

    #[test]
    fn beyond_the_budget_is_undecided() {
        let n = 1u64 << 24;
        let split = |by: u64| {
            let steps = [Step::Split { axis: 0, by }];
            let outer = Mode::new(n.div_ceil(by), by as i64);
            let layout = Layout::flat(&[outer, Mode::new(by, 1)]).unwrap();
            TensorLayout::with_steps(&[n], &steps, &layout, 1 << 25).unwrap()
        };
        assert!(split(3).same_function(&split(4)).unwrap_err().is_undecided());
    }

    #[test]
    fn digits_that_go_on_are_one() {
        let n = 1 << 24;
        let threes = Layout::parse("((3,5592406)):((1,3))").unwrap();
        let fours = Layout::parse("((4,4194304)):((1,4))").unwrap();
        let a = TensorLayout::new(&[n], &threes, 1 << 25).unwrap();
        let b = TensorLayout::new(&[n], &fours, 1 << 25).unwrap();
        assert_eq!(a.same_function(&b), Ok(true));
    }

    #[test]
    fn every_pair_of_small_axes_under_every_extent() {
        let mut axes = Vec::new();
        for_each_layout(3, 1..=3, -1..=3, |axis| axes.push(axis.clone()));
        for_each_layout(1, 4..=6, 0..=3, |axis| axes.push(axis.clone()));
        let line = |axis: &Layout| TensorLayout::linear(axis).unwrap();
        let mut differences = 0;
        for a in axes.iter().step_by(29) {
            for b in axes.iter().step_by(5) {
                for extent in [1, 2, 4, a.size().min(b.size())] {
                    if extent > a.size().min(b.size()) {
                        continue;
                    }
                    let over =
                        |axis| TensorLayout::new(&[extent], line(axis).layout(), 64).unwrap();
                    let brute = (0..extent).find(|&i| a.offset_of(i) != b.offset_of(i));
                    let found = over(a).first_difference(&over(b)).unwrap();
                    differences += u32::from(found.is_some());
                    let index = found.as_ref().map(|found| found.coord.as_slice()[0]);
                    assert_eq!(index, brute, "{a} {b} {extent}");
                    if let Some(found) = found {
                        let at = |axis: &Layout| axis.offset_of(index.unwrap());
                        assert_eq!((Ok(found.left), Ok(found.right)), (at(a), at(b)));
                    }
                }
            }
        }
        assert!(differences > 10_000, "{differences}");
    }

    #[test]
    fn axes_cut_differently_are_no_search() {
        let line = |text| TensorLayout::linear(&Layout::parse(text).unwrap()).unwrap();
        let (a, b) = (line("(1000003,999983):(1,7)"), line("(999983,1000003):(1,7)"));
        let found = a.first_difference(&b).unwrap().unwrap();
        assert_eq!((found.coord.as_slice(), found.left, found.right), (&[999_983][..], 999_983, 7));
    }

    /// Returns layouts of 3×6 and of 4×8 in every order of bits, padded, moved, and under several matrices.
    fn all(extents: [u64; 2]) -> Vec<TensorLayout> {
        let matrices: [&[u64]; 6] = [
            &[1],
            &[1, 2, 5, 10],
            &[2, 1],
            &[3, 1, 6, 12, 24],
            &[1, 2, 4, 8, 17],
            &[31, 2, 4, 8, 16],
        ];
        let orders = [[8, 16, 1, 2, 4], [1, 2, 4, 8, 16], [4, 1, 16, 2, 8], [16, 8, 4, 2, 1]];
        let (mut found, mut seen) = (Vec::new(), 0);
        for (order, images) in orders.iter().flat_map(|o| matrices.iter().map(move |m| (o, m))) {
            for offset in [0, 32, 1] {
                let modes: Vec<Mode> = order.iter().map(|&d| Mode::new(2, d)).collect();
                let swizzle = Swizzle::of_images(images).unwrap();
                let layout = Layout::nested(&modes, &[2, 3]).unwrap();
                let layout = layout.with_offset(offset).unwrap().with_swizzle(swizzle).unwrap();
                let capacity = layout.cosize() as u64;
                found.push(TensorLayout::new(&extents, &layout, capacity).unwrap());
                seen += u32::from(Bits::of(&found[found.len() - 1]).is_some());
            }
        }
        assert!(seen > 40 && (seen as usize) < found.len(), "{seen}");
        found
    }

    #[test]
    fn what_bits_say_is_what_the_elements_say() {
        let (mut same, mut differ) = (0, 0);
        for extents in [[3, 6], [4, 8], [4, 5]] {
            let all = all(extents);
            for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
                let expected = brute(a, b);
                match first_by_bits(a, b) {
                    Some(found) => assert_eq!(found, expected, "{a:?} {b:?}"),
                    None => assert!(Bits::of(a).is_none() || Bits::of(b).is_none()),
                }
                assert_eq!(a.first_difference(b), Ok(expected.clone()), "{a:?} {b:?}");
                *(if expected.is_none() { &mut same } else { &mut differ }) += 1;
            }
        }
        assert!(same > 200 && differ > 5000, "{same} {differ}");
    }

    #[test]
    fn a_terabyte_is_compared_by_its_bits() {
        let rows = Layout::parse("(1048576,1048576):(1048576,1)").unwrap();
        let reversed: Vec<u64> = (0..40).map(|bit| 1 << (39 - bit) | 1 << 39).collect();
        let swizzle = |images: &[u64]| {
            TensorLayout::of(&rows.with_swizzle(Swizzle::of_images(images).unwrap()).unwrap())
        };
        let mut images = reversed.clone();
        let a = swizzle(&images);
        images[7] ^= 1 << 3;
        let b = swizzle(&images);
        assert_eq!(a.same_function(&a.copied()), Ok(true));
        let difference = a.first_difference(&b).unwrap().unwrap();
        assert_eq!(difference.coord.as_slice(), [0, 128]);
    }

    fn found(a: &str, b: &str) -> Option<Difference> {
        let [a, b] = [a, b].map(|text| TensorLayout::of(&Layout::parse(text).unwrap()));
        let found = witness(&a, &b)?;
        assert_eq!(a.offset(found.coord.as_slice()), Ok(found.left));
        assert_eq!(b.offset(found.coord.as_slice()), Ok(found.right));
        assert_ne!(found.left, found.right);
        Some(found)
    }

    #[test]
    fn differences_at_powers_of_two_and_at_the_last_are_found() {
        // At 2^40 and the coordinate after it, of 2^40 + 3.
        let single = found("1099511627779:1", "Sw<1,0,40> o 1099511627779:1").unwrap();
        assert_eq!(single.coord.as_slice(), [1 << 40]);
        // At the last coordinate of a line.
        let last = found("(7,1000003):(1,7)", "((7),(1000002,2)):((1),(7,7000015))").unwrap();
        assert_eq!(last.coord.as_slice(), [0, 1_000_002]);
        assert!(found("(7,1000003):(1,7)", "(7,1000003):(1,7)").is_none());
    }

    #[test]
    fn a_scattered_difference_is_brought_near() {
        // Bit 41 is first set within row 2199023, and throughout the next one.
        let rows = "(1000000000,1000,1000):(1000000,1000,1)";
        let near = found(rows, "Sw<1,3,38> o (1000000000,1000,1000):(1000000,1000,1)").unwrap();
        assert_eq!(near.coord.as_slice(), [2_199_024, 0, 0]);
    }
}
