//! Gaps: the boxes of the destination to which no element is written.
//!
//! Law: the elements of a destination and its gaps together cover `0..capacity` exactly once. Gaps depend on the
//! destination alone.

mod complement;

use crate::{
    Elements,
    program::cells::{Cells, GapLoop, boxes_of},
};
use complement::complement;
use core::ops::Range;
use tilewright_core::{Refinement, TensorLayout};

/// A box of the destination to which no element is written: loops around runs. It gets the fill.
///
/// Positions, strides and runs count bytes; in a packed gap they count elements of the destination.
///
/// ```
/// use tilewright_core::{Layout, TensorLayout};
/// use tilewright_relayout::{Elements, Program};
/// let src = TensorLayout::row_major(&[3, 5]).unwrap();
/// let padded = TensorLayout::new(&[3, 5], &Layout::parse("(3,8):(8,1)").unwrap(), 24).unwrap();
/// let program = Program::new(&src, &padded, Elements::same(32), 0).unwrap();
/// let [gap] = program.gaps().unwrap() else { panic!("one box") };
/// assert_eq!((gap.packed, gap.dst, gap.run, gap.size()), (false, 20, 12, 36));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// True if positions count elements rather than bytes.
    pub packed: bool,
    /// The first position.
    pub dst: u64,
    /// The units in one run, at least 1.
    pub run: u64,
    /// The loops, by descending stride.
    pub loops: Vec<GapLoop>,
}

impl Gap {
    /// Returns the number of units in all runs.
    ///
    /// ```
    /// use tilewright_relayout::{Gap, GapLoop};
    /// let loops = vec![GapLoop { extent: 4, stride: 10 }];
    /// assert_eq!(Gap { packed: false, dst: 7, run: 3, loops }.size(), 12);
    /// ```
    pub fn size(&self) -> u64 {
        self.loops.iter().map(|level| level.extent).product::<u64>() * self.run
    }

    /// Calls `f` with the runs, each clipped to the units `range`, in the order of the loops. Iterations that miss the
    /// range are skipped without cost.
    ///
    /// ```
    /// use tilewright_relayout::{Gap, GapLoop};
    /// let loops = vec![GapLoop { extent: 4, stride: 10 }];
    /// let mut runs = Vec::new();
    /// Gap { packed: false, dst: 7, run: 3, loops }.runs_in(18..37, &mut |run| runs.push(run));
    /// assert_eq!(runs, [18..20, 27..30]);
    /// ```
    pub fn runs_in(&self, range: Range<u64>, f: &mut dyn FnMut(Range<u64>)) {
        runs_in(&self.loops, self.dst, self.run, &range, f);
    }

    /// Converts cells to bytes, if all are whole bytes.
    fn of(cells: Cells, elements: Elements) -> Gap {
        let bits = u64::from(elements.dst_bits);
        let Cells { at, run, loops } = cells;
        let whole = |units: u64| bits >= 8 || (units * bits).is_multiple_of(8);
        let packed = !(whole(at) && whole(run) && loops.iter().all(|level| whole(level.stride)));
        let unit = |units: u64| match bits {
            _ if packed => units,
            8.. => units * (bits / 8),
            _ => units * bits / 8,
        };
        let scaled = |level: GapLoop| GapLoop { stride: unit(level.stride), ..level };
        Gap {
            packed,
            dst: unit(at),
            run: unit(run),
            loops: loops.into_iter().map(scaled).collect(),
        }
    }
}

/// Calls `f` with the runs from `at` on, clipped to `range`.
fn runs_in(
    loops: &[GapLoop],
    at: u64,
    run: u64,
    range: &Range<u64>,
    f: &mut dyn FnMut(Range<u64>),
) {
    let Some((level, rest)) = loops.split_first() else {
        let (from, to) = (at.max(range.start), (at + run).min(range.end));
        if from < to {
            f(from..to);
        }
        return;
    };
    let reach: u64 = rest.iter().map(|level| (level.extent - 1) * level.stride).sum();
    // The first iteration that ends after the start of the range, and the first that begins after its end.
    let first = match (range.start + 1).checked_sub(at + reach + run) {
        Some(before) => before.div_ceil(level.stride),
        None => 0,
    };
    let last = range.end.saturating_sub(at).div_ceil(level.stride).min(level.extent);
    for i in first..last {
        runs_in(rest, at + i * level.stride, run, range, f);
    }
}

/// Returns the gaps of a destination in ascending order; `None` if there are too many, or if they interleave with
/// elements.
pub(crate) fn gaps_of(dst: &TensorLayout, elements: Elements) -> Option<Vec<Gap>> {
    if dst.padding() == 0 {
        return Some(Vec::new());
    }
    // A layout refined with itself has the fewest blocks.
    let boxes = boxes_of(&Refinement::new(dst, dst).ok()?)?;
    let gaps = complement(boxes, dst.capacity())?;
    Some(gaps.into_iter().map(|cells| Gap::of(cells, elements)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{Digit, Fractal, Layout, Pattern, Step, Swizzle};

    /// Checks that each position belongs to exactly one element or gap; returns the number of gaps.
    fn check(dst: &TensorLayout, bits: u32) -> Option<usize> {
        let elements = Elements::same(bits);
        let gaps = gaps_of(dst, elements)?;
        let mut times = vec![0u8; dst.capacity() as usize];
        for i in 0..dst.size() {
            times[dst.offset_of(i).unwrap() as usize] += 1;
        }
        let (mut size, units) = (0, dst.capacity() * u64::from(bits));
        for gap in &gaps {
            let unit = if gap.packed { u64::from(bits) } else { 8 };
            size += gap.size() * unit;
            assert!(gap.loops.iter().all(|level| level.extent > 1 && level.stride > gap.run));
            gap.runs_in(0..units, &mut |run| {
                let from = run.start * unit / u64::from(bits);
                let to = run.end * unit / u64::from(bits);
                assert_eq!((to - from) * u64::from(bits), (run.end - run.start) * unit);
                times[from as usize..to as usize].iter_mut().for_each(|times| *times += 1);
            });
        }
        assert_eq!(size, dst.padding() * u64::from(bits), "{dst:?}");
        assert!(times.iter().all(|times| *times == 1), "{dst:?}: {gaps:?}\n{times:?}");
        Some(gaps.len())
    }

    fn of(extents: &[u64], text: &str, more: u64) -> TensorLayout {
        let layout = Layout::parse(text).unwrap();
        TensorLayout::new(extents, &layout, layout.cosize() as u64 + more).unwrap()
    }

    #[test]
    fn every_small_strided_layout_has_gaps() {
        // All strides, negative and interleaved ones too, for which no two elements share storage.
        let (mut count, mut rest) = (0, 0);
        for (a, b) in (1..=4u64).flat_map(|a| (1..=4u64).map(move |b| (a, b))) {
            for (s, t) in (-9..=9i64).flat_map(|s| (-9..=9i64).map(move |t| (s, t))) {
                for used in [a, a.div_ceil(2)] {
                    let low = |extent: u64, stride: i64| (extent as i64 - 1) * -stride.min(0);
                    let text = format!("({a},{b}):({s},{t})+{}", low(a, s) + low(b, t));
                    let dst = of(&[used, b], &text, (a + b) % 3);
                    if dst.injective() == Ok(true) {
                        count += 1;
                        rest += usize::from(check(&dst, 8).is_none());
                    }
                }
            }
        }
        assert!(count > 5000 && rest == 0, "{rest} of {count}");
    }

    #[test]
    fn every_small_tile_has_gaps() {
        let mut most = 0;
        for (m, n) in (0..=9).flat_map(|m| (0..=9).map(move |n| (m, n))) {
            for (a, b) in (1..=5).flat_map(|a| (1..=5).map(move |b| (a, b))) {
                for fractal in [Fractal::ZN, Fractal::ZZ, Fractal::NN, Fractal::NZ] {
                    let dst = fractal.pattern(a, b).layout(&[m, n]).unwrap();
                    for bits in [1, 4, 24] {
                        most = most.max(check(&dst, bits).unwrap());
                    }
                }
            }
        }
        assert!(most < 12, "{most}");
    }

    #[test]
    fn nested_tiles_swizzles_and_steps_have_gaps() {
        let fixed = Digit::fixed;
        let digits =
            [Digit::rest(0, 2), Digit::rest(1, 1), fixed(0, 1, 2), fixed(1, 0, 3), fixed(0, 0, 3)];
        let nested = Pattern::new(2, &digits).unwrap();
        let merge = [Step::Merge { major: 0, minor: 1 }, Step::Split { axis: 0, by: 4 }];
        let splits = [Step::Split { axis: 1, by: 3 }, Step::Split { axis: 2, by: 2 }];
        for (m, n) in (1..=13).flat_map(|m| (1..=13).map(move |n| (m, n))) {
            check(&nested.layout(&[m, n]).unwrap(), 16).unwrap();
            let row = TensorLayout::row_major(&[m, n]).unwrap();
            let swizzled = row.layout().with_swizzle(Swizzle::new(2, 1, 2).unwrap()).unwrap();
            let cosize = swizzled.cosize() as u64;
            check(&TensorLayout::new(&[m, n], &swizzled, cosize).unwrap(), 4).unwrap();
            let outer = (m * n).div_ceil(4);
            let layout = Layout::parse(&format!("({outer},4):(5,1)")).unwrap();
            let merged = TensorLayout::with_steps(&[m, n], &merge, &layout, outer * 5 + 2).unwrap();
            check(&merged, 2).unwrap();
            let outer = n.div_ceil(3);
            let text = format!("({m},{outer},2,2):({},4,1,2)", outer * 4);
            let layout = Layout::parse(&text).unwrap();
            let split = TensorLayout::with_steps(&[m, n], &splits, &layout, m * outer * 4).unwrap();
            check(&split, 64).unwrap();
        }
    }

    #[test]
    fn padding_of_large_arrays_is_few_boxes() {
        let count = |dst: &TensorLayout| gaps_of(dst, Elements::same(16)).map(|gaps| gaps.len());
        let tiles = |extents: &[u64]| Fractal::ZN.pattern(16, 16).layout(extents).unwrap();
        assert_eq!(count(&tiles(&[1 << 20, 1 << 20])), Some(0));
        // The last columns of the rows, and the rows after the last one.
        assert_eq!(count(&tiles(&[1 << 20, 100_001])), Some(1));
        assert_eq!(count(&tiles(&[1_000_001, 1 << 20])), Some(1));
        assert!(count(&tiles(&[1_000_001, 1_000_001])).unwrap() <= 3);
        // Every third position holds an element: gaps are between them, and after the last.
        assert_eq!(count(&of(&[1 << 30], "(1073741824):(3)", 0)), Some(1));
        assert_eq!(count(&of(&[1 << 30], "(1073741824):(3)", 7)), Some(2));
        // Tiles of a merged axis with a gap between them: rows begin anywhere in a tile.
        let merged = |m: u64| {
            let steps = [Step::Merge { major: 0, minor: 1 }, Step::Split { axis: 0, by: 4 }];
            let layout = Layout::parse(&format!("({},4):(5,1)", (m * 13).div_ceil(4))).unwrap();
            let cosize = layout.cosize() as u64;
            TensorLayout::with_steps(&[m, 13], &steps, &layout, cosize).unwrap()
        };
        assert_eq!(count(&merged(20)), Some(1));
        assert_eq!(count(&merged(20_000)), None);
    }

    #[test]
    fn runs_are_those_that_meet_the_range() {
        let loops = [GapLoop { extent: 3, stride: 20 }, GapLoop { extent: 2, stride: 7 }];
        let gap = Gap { packed: false, dst: 5, run: 4, loops: loops.to_vec() };
        let mut all = Vec::new();
        gap.runs_in(0..u64::MAX, &mut |run| all.push(run));
        assert_eq!(all, [5..9, 12..16, 25..29, 32..36, 45..49, 52..56]);
        for (from, to) in (0..60).flat_map(|from| (from..60).map(move |to| (from, to))) {
            let cut = |run: &Range<u64>| run.start.max(from)..run.end.min(to);
            let expected: Vec<_> = all.iter().map(cut).filter(|run| !run.is_empty()).collect();
            let mut got = Vec::new();
            gap.runs_in(from..to, &mut |run| got.push(run));
            assert_eq!(got, expected);
        }
    }
}
