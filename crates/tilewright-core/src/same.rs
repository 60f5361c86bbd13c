//! Whether two layouts are the same map, and where they first differ.
//!
//! Law: `first_difference(A, B)` is the row-major first coordinate with different offsets, or `None` if
//! there is no such coordinate.
//!
//! Neither enumerates the elements. Strided maps without a swizzle are compared axis by axis
//! (`same_axes.rs`), in as many steps as they have modes. Of others, the joint refinement makes both linear
//! box by box, so a box differs at its origin, or first at one turn of the loop that is least significant
//! among those with different strides.

use crate::{
    Block, Coord, Error, Refinement, TensorLayout,
    macros::tri,
    same_axes::{first_by_axis, is_by_axis},
};

/// The number of boxes that are compared where the refinement is not regular.
pub const SEARCH_BLOCKS: u32 = 1 << 20;

/// A coordinate that two layouts send to different offsets.
///
/// ```
/// use tilewright_core::{Difference, TensorLayout};
/// // NCHW against NHWC: which element moves first?
/// let nchw = TensorLayout::row_major(&[1, 2, 2, 2]).unwrap();
/// let nhwc = TensorLayout::ordered(&[1, 2, 2, 2], &[1, 3, 2, 0]).unwrap();
/// let Difference { coord, left, right } = nchw.first_difference(&nhwc).unwrap().unwrap();
/// assert_eq!((coord.to_string(), left, right), ("(0,0,0,1)".into(), 1, 2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The logical coordinate: of all that differ, the first in row-major order.
    pub coord: Coord,
    /// Its offset in the one layout, in elements.
    pub left: i64,
    /// Its offset in the other, in elements.
    pub right: i64,
}

impl TensorLayout {
    /// Whether both send every logical coordinate to the same offset. Capacity is no part of the map.
    ///
    /// # Errors
    /// As [`TensorLayout::first_difference`].
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
        match self.first_difference(other) {
            Ok(difference) => Ok(difference.is_none()),
            Err(error) => Err(error),
        }
    }

    /// The row-major first logical coordinate that the two layouts send to different offsets.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the extents differ; [undecided](Error::is_undecided) if more
    /// than [`SEARCH_BLOCKS`] boxes would have to be compared, which only dims need that steps
    /// or swizzles cut differently on either side.
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
        if is_by_axis(self, other) {
            return Ok(first_by_axis(self, other));
        }
        let refinement = tri!(Refinement::new(self, other));
        if same_form(self, other) {
            return Ok(None);
        }
        if !self.layout().swizzle().is_identity() && same_swizzle(self, other) {
            return affine_difference(self, other);
        }
        in_boxes(&refinement)
    }
}

/// The first difference among all boxes.
const fn in_boxes(refinement: &Refinement) -> Result<Option<Difference>, Error> {
    let mut blocks = refinement.blocks();
    let (mut first, mut count) = (None, 0u32);
    while let Some(block) = blocks.next_block() {
        count += 1;
        if count > SEARCH_BLOCKS {
            return Err(Error::undecided(
                "layouts whose dims are cut differently into more than {} pieces",
                [SEARCH_BLOCKS as i128],
                "compare a part of the array",
            ));
        }
        if let Some(found) = difference_in(&block) {
            let nearer = match &first {
                Some(Difference { coord, .. }) => before(&found.coord, coord),
                None => true,
            };
            if nearer {
                first = Some(found);
            }
        }
    }
    Ok(first)
}

const fn same_swizzle(a: &TensorLayout, b: &TensorLayout) -> bool {
    let (s, t) = (a.layout().swizzle(), b.layout().swizzle());
    s.bits() == t.bits() && s.base() == t.base() && s.shift() == t.shift()
}

/// The first difference under a common swizzle: a bijection, so where the affine parts differ.
const fn affine_difference(
    a: &TensorLayout,
    b: &TensorLayout,
) -> Result<Option<Difference>, Error> {
    let (left, right) = (tri!(a.unswizzled()), tri!(b.unswizzled()));
    match tri!(left.first_difference(&right)) {
        Some(Difference { coord, left, right }) => {
            let (left, right) = (a.layout().swizzled(left), a.layout().swizzled(right));
            Ok(Some(Difference { coord, left, right }))
        }
        None => Ok(None),
    }
}

/// Whether the two are written the same way, which needs no boxes.
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

/// The row-major first coordinate of a box at which its two offsets differ.
const fn difference_in(block: &Block) -> Option<Difference> {
    let (left, right) = (block.src(), block.dst());
    if left != right {
        return Some(Difference { coord: block.origin().copied(), left, right });
    }
    // Any coordinate that differs has a turn in a loop with different strides; the first such
    // coordinate is one turn of the least significant of these loops.
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

/// Whether `a` comes before `b` in row-major order.
const fn before(a: &Coord, b: &Coord) -> bool {
    let (a, b, mut dim) = (a.as_slice(), b.as_slice(), 0);
    while dim < a.len() {
        if a[dim] != b[dim] {
            return a[dim] < b[dim];
        }
        dim += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layout, Mode, Step, Swizzle, small::for_each_layout};
    use std::vec::Vec;

    fn brute(a: &TensorLayout, b: &TensorLayout) -> Option<Difference> {
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
                assert_eq!(in_boxes(&Refinement::new(a, b).unwrap()), expected, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn swizzles_can_cancel_or_differ() {
        let parse = |text| TensorLayout::of(&Layout::parse(text).unwrap());
        // The strides of the swizzled one are 2, and 2 maps to 3.
        assert_eq!(parse("Sw<1,0,1> o 2:2").same_function(&parse("2:3")), Ok(true));
        let plain = parse("(8,8):(8,1)");
        let layout = plain.layout().with_swizzle(Swizzle::new(3, 0, 3).unwrap()).unwrap();
        let swizzled = TensorLayout::of(&layout);
        assert_eq!(plain.first_difference(&swizzled), Ok(brute(&plain, &swizzled)));
        assert_eq!(swizzled.same_function(&swizzled), Ok(true));
        // A common swizzle is looked through: 2^40 elements, no enumeration.
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
}
