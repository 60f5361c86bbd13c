//! Comparison of two layouts as maps: whether they are equal, and where they first differ.
//!
//! Law: `first_difference(A, B)` is the row-major first coordinate with different offsets, or `None` if there is none.
//!
//! The comparison does not enumerate the elements. Strided maps without a swizzle are compared axis by axis
//! in one step for each mode. Maps that are linear over bits are compared bit by bit. For
//! others, the joint refinement makes both linear on each box, so a box differs at its origin, or first after one step of
//! the least significant loop with different strides. If there are many boxes, a difference found by sampling
//! ends the search, or bounds it: the first difference does not come after it. Comparisons without boxes, and the samples, are in
//! `axes.rs`.

mod axes;

use crate::{
    Block, Coord, Error, Refinement, TensorLayout,
    const_fn::tri,
    same::axes::{first_by_axis, first_by_bits, is_by_axis, keep, witness},
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
}
