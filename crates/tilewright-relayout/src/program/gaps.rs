//! Gaps: the boxes of the destination to which no element is written.
//!
//! Law: the elements of a destination and its gaps together cover `0..capacity` exactly once. Gaps depend on the
//! destination alone.
//!
//! Gaps of overlapping boxes are found by [`complement`]. Boxes whose spans overlap are cut into pieces. The length of
//! a piece is the largest stride among the boxes, and the phase is chosen so that no box with that stride crosses a
//! cut. Pieces that contain the same boxes have the same gaps, which are found recursively, because strides within a
//! piece are shorter.

use core::ops::Range;
use std::cmp::Reverse;

use tilewright_core::{Block, Refinement, TensorLayout};

use crate::{Elements, program::MAX_REGIONS};

/// One loop of a [`Gap`](crate::Gap), in units of the gap.
///
/// ```
/// use tilewright_core::{Layout, TensorLayout};
/// use tilewright_relayout::{Elements, GapLoop, Program};
/// let src = TensorLayout::row_major(&[3, 5]).unwrap();
/// let padded = TensorLayout::new(&[3, 5], &Layout::parse("(3,8):(8,1)").unwrap(), 24).unwrap();
/// let program = Program::new(&src, &padded, Elements::same(32), 0).unwrap();
/// let [gap] = program.gaps().unwrap() else { panic!("three units at the end of each row") };
/// assert_eq!(gap.loops, [GapLoop { extent: 3, stride: 32 }]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GapLoop {
    /// The number of iterations, at least 2.
    pub extent: u64,
    /// The stride, always positive.
    pub stride: u64,
}

/// Loops around runs of cells, by descending stride.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cells {
    pub(crate) at: u64,
    pub(crate) run: u64,
    pub(crate) loops: Vec<GapLoop>,
}

impl Cells {
    /// Returns the cells that a block occupies in the destination.
    pub(crate) fn of(block: &Block) -> Option<Cells> {
        let (mut at, mut loops) = (block.dst(), Vec::with_capacity(block.loops().len()));
        for level in block.loops() {
            at += level.dst.min(0) * (level.extent as i64 - 1);
            if level.dst != 0 {
                loops.push(GapLoop { extent: level.extent, stride: level.dst.unsigned_abs() });
            }
        }
        tilewright_core::sort_short(&mut loops, |level| Reverse(level.stride));
        let mut cells = Cells { at: u64::try_from(at).ok()?, run: 1, loops };
        cells.merge();
        Some(cells)
    }

    /// Merges each loop with the next if it continues that loop.
    pub(crate) fn merge(&mut self) {
        while let Some(last) = self.loops.last()
            && last.stride <= self.run
        {
            // Iterations that begin within or directly after the previous one extend the run as well.
            self.run += (last.extent - 1) * last.stride;
            self.loops.pop();
        }
        let mut i = 1;
        while i < self.loops.len() {
            let (outer, inner) = (self.loops[i - 1], self.loops[i]);
            if outer.stride == inner.stride.saturating_mul(inner.extent) {
                self.loops[i].extent *= outer.extent;
                self.loops.remove(i - 1);
            } else {
                i += 1;
            }
        }
    }

    /// Returns the distance from the first cell to the end of the last run.
    pub(crate) fn span(&self) -> u64 {
        self.loops.iter().map(|level| (level.extent - 1) * level.stride).sum::<u64>() + self.run
    }

    pub(crate) fn end(&self) -> u64 {
        self.at + self.span()
    }

    /// Returns the largest stride; 0 for a single run.
    pub(crate) fn stride(&self) -> u64 {
        self.loops.first().map_or(0, |level| level.stride)
    }

    /// Extends this box by `cells` with the loop `level` around them, if these are its next iterations. Returns whether
    /// it did.
    pub(crate) fn goes_on(&mut self, cells: &Cells, level: GapLoop) -> bool {
        if self.run != cells.run {
            return false;
        }
        if self.loops == cells.loops && level.extent > 1 && self.at + level.stride == cells.at {
            self.loops.insert(0, GapLoop { extent: level.extent + 1, ..level });
            return true;
        }
        let Some((outer, inner)) = self.loops.split_first_mut() else { return false };
        let next = self.at + outer.extent * outer.stride;
        let goes_on = next == cells.at && (level.extent == 1 || level.stride == outer.stride);
        if goes_on && *inner == *cells.loops {
            outer.extent += level.extent;
            return true;
        }
        false
    }

    /// Extends this box by an equal one that follows it, as the second iteration of a loop or a longer run.
    pub(crate) fn paired(&mut self, cells: &Cells) -> Option<&mut Cells> {
        if self.loops != cells.loops || self.end() > cells.at {
            return None;
        }
        if self.loops.is_empty() && self.end() == cells.at {
            self.run += cells.run;
        } else if self.run == cells.run {
            self.loops.insert(0, GapLoop { extent: 2, stride: cells.at - self.at });
        } else {
            return None;
        }
        Some(self)
    }

    /// Returns one iteration of the outermost loop, moved to `at`.
    pub(crate) fn iteration(&self, at: u64) -> Cells {
        Cells { at, run: self.run, loops: self.loops.get(1..).unwrap_or(&[]).to_vec() }
    }
}

/// Returns the boxes of a refinement in the destination; `None` if there are too many.
pub(crate) fn boxes_of(refinement: &Refinement<'_>) -> Option<Vec<Cells>> {
    let mut boxes = Vec::new();
    for block in refinement.blocks() {
        if boxes.len() == MAX_REGIONS {
            return None;
        }
        boxes.push(Cells::of(&block)?);
    }
    Some(boxes)
}

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

/// The maximal number of boxes of the complement.
const MOST: usize = 1024;

/// The maximal number of boxes that are examined in all pieces together.
const WORK: usize = 1 << 16;

/// The maximal number of iterations of a loop that become separate boxes.
const TURNS: u64 = 256;

/// The number of last boxes that a new box may extend.
const NEAR: usize = 16;

/// The maximal depth of pieces within pieces.
const DEPTH: usize = 100;

/// The maximal number of phases that are tried.
const PHASES: usize = 64;

/// Returns the cells of `0..end` that are in no box, in ascending order; `None` if there are too many.
pub(super) fn complement(boxes: Vec<Cells>, end: u64) -> Option<Vec<Cells>> {
    let mut finder = Finder { work: WORK, depth: DEPTH };
    let mut gaps = Vec::new();
    finder.window(boxes, 0..end, &mut gaps)?;
    sort(&mut gaps);
    Some(gaps)
}

/// Sorts by position. There is one such function, so that the sort is compiled once.
fn sort(cells: &mut [Cells]) {
    cells.sort_by_key(|cells| cells.at);
}

struct Finder {
    /// The number of boxes that may still be examined.
    work: usize,
    /// The depth to which pieces may still be cut.
    depth: usize,
}

/// A box that occurs in each of a range of pieces.
struct BoxInPieces {
    pieces: Range<u64>,
    /// The box, relative to the start of a piece.
    cells: Cells,
}

impl Finder {
    /// Finds the gaps of a window that contains these boxes.
    fn window(
        &mut self,
        mut boxes: Vec<Cells>,
        window: Range<u64>,
        gaps: &mut Vec<Cells>,
    ) -> Option<()> {
        self.work = self.work.checked_sub(boxes.len() + 1)?;
        self.depth = self.depth.checked_sub(1)?;
        sort(&mut boxes);
        let (mut at, mut rest) = (window.start, boxes.into_iter().peekable());
        while let Some(first) = rest.next() {
            let (start, mut end, mut cluster) = (first.at, first.end(), vec![first]);
            while let Some(next) = rest.next_if(|next| next.at < end) {
                end = end.max(next.end());
                cluster.push(next);
            }
            push_run(at..start, gaps)?;
            self.cluster(cluster, start..end, gaps)?;
            at = end;
        }
        self.depth += 1;
        push_run(at..window.end, gaps)
    }

    /// Finds the gaps between boxes whose spans overlap and fill a window.
    fn cluster(
        &mut self,
        boxes: Vec<Cells>,
        window: Range<u64>,
        gaps: &mut Vec<Cells>,
    ) -> Option<()> {
        let stride = boxes.iter().map(Cells::stride).max()?;
        if stride == 0 {
            // Two single runs in one cluster would overlap.
            return (boxes.len() == 1).then_some(());
        }
        // Iterations that are longer than their stride interleave with each other.
        let (long, boxes): (Vec<Cells>, Vec<Cells>) = boxes
            .into_iter()
            .partition(|cells| cells.stride() == stride && cells.iteration(0).span() > stride);
        if !long.is_empty() {
            let iterations = self.iterations(long)?;
            return self.window([boxes, iterations].concat(), window, gaps);
        }
        let start = phase(&boxes, stride, window.start)?;
        let mut held = Vec::new();
        for cells in boxes {
            self.hold(cells, start, stride, &mut held)?;
        }
        self.pieces(&held, start, stride, window, gaps)
    }

    /// Returns the iterations of the outermost loops as separate boxes.
    fn iterations(&mut self, boxes: Vec<Cells>) -> Option<Vec<Cells>> {
        let mut all = Vec::new();
        for cells in boxes {
            let level = cells.loops.first()?;
            if level.extent > TURNS {
                return None;
            }
            self.work = self.work.checked_sub(level.extent as usize)?;
            all.extend((0..level.extent).map(|i| cells.iteration(cells.at + i * level.stride)));
        }
        Some(all)
    }

    /// Finds the pieces that contain a box.
    fn hold(
        &mut self,
        cells: Cells,
        start: i64,
        stride: u64,
        held: &mut Vec<BoxInPieces>,
    ) -> Option<()> {
        self.work = self.work.checked_sub(1)?;
        let from = cells.at.checked_add_signed(start.checked_neg()?)?;
        let (piece, at) = (from / stride, from % stride);
        if cells.stride() == stride {
            let pieces = piece..piece + cells.loops[0].extent;
            held.push(BoxInPieces { pieces, cells: cells.iteration(at) });
        } else if at + cells.span() <= stride {
            held.push(BoxInPieces { pieces: piece..piece + 1, cells: Cells { at, ..cells } });
        } else if cells.loops.is_empty() {
            let (last, rest) = ((from + cells.run) / stride, (from + cells.run) % stride);
            let runs = [
                (piece..piece + 1, at, stride - at),
                (piece + 1..last, 0, stride),
                (last..last + 1, 0, rest),
            ];
            let runs = runs.into_iter().filter(|(pieces, _, run)| !pieces.is_empty() && *run > 0);
            held.extend(runs.map(|(pieces, at, run)| BoxInPieces {
                pieces,
                cells: Cells { at, run, loops: Vec::new() },
            }));
        } else {
            for cells in self.iterations(vec![cells])? {
                self.hold(cells, start, stride, held)?;
            }
        }
        Some(())
    }

    /// Finds the gaps of all pieces of a window; pieces with the same boxes are handled together.
    fn pieces(
        &mut self,
        held: &[BoxInPieces],
        start: i64,
        stride: u64,
        window: Range<u64>,
        gaps: &mut Vec<Cells>,
    ) -> Option<()> {
        let (low, high) = (from(window.start, start)?, from(window.end, start)?);
        let count = high.div_ceil(stride);
        let mut cuts: Vec<u64> = held.iter().flat_map(|h| [h.pieces.start, h.pieces.end]).collect();
        cuts.extend([0, count]);
        // The first and the last piece may be shorter.
        cuts.extend((low > 0).then_some(1));
        cuts.extend((!high.is_multiple_of(stride)).then_some(count - 1));
        cuts.sort_unstable();
        cuts.dedup();
        for pair in cuts.windows(2) {
            self.work = self.work.checked_sub(held.len())?;
            let inside = held.iter().filter(|held| held.pieces.contains(&pair[0]));
            let inside = inside.map(|held| held.cells.clone()).collect();
            let piece = if pair[0] == 0 { low } else { 0 }..(high - pair[0] * stride).min(stride);
            let mut found = Vec::new();
            self.window(inside, piece, &mut found)?;
            for gap in found {
                let at = (pair[0] * stride + gap.at).checked_add_signed(start)?;
                let level = GapLoop { extent: pair[1] - pair[0], stride };
                push(Cells { at, ..gap }, level, gaps)?;
            }
        }
        Some(())
    }
}

/// Returns the distance of `at` from the start of the first piece, which may be below 0.
fn from(at: u64, start: i64) -> Option<u64> {
    at.checked_add_signed(start.checked_neg()?)
}

/// Returns the start of the first piece, at or below `first`, such that no iteration of a box with this stride crosses
/// a cut.
fn phase(boxes: &[Cells], stride: u64, first: u64) -> Option<i64> {
    let turned = boxes.iter().filter(|cells| cells.stride() == stride);
    let ends: Vec<(u64, u64)> = turned.map(|cells| (cells.at, cells.iteration(0).span())).collect();
    let fits = |phase: u64| {
        // Returns the distance of a box from the preceding cut.
        let behind = |at: u64| (at % stride + stride - phase) % stride;
        ends.iter().all(|&(at, span)| behind(at) + span <= stride)
    };
    let phases = [first].into_iter().chain(ends.iter().map(|end| end.0)).take(PHASES);
    let phase = phases.map(|at| at % stride).find(|&phase| fits(phase))?;
    let back = (first % stride + stride - phase) % stride;
    Some(first as i64 - back as i64)
}

/// Adds a run, unless it is empty.
fn push_run(run: Range<u64>, gaps: &mut Vec<Cells>) -> Option<()> {
    if run.is_empty() {
        return Some(());
    }
    let cells = Cells { at: run.start, run: run.end - run.start, loops: Vec::new() };
    push(cells, GapLoop { extent: 1, stride: 0 }, gaps)
}

/// Adds a box with a loop around it, or extends an earlier box if the new one continues it.
fn push(cells: Cells, level: GapLoop, gaps: &mut Vec<Cells>) -> Option<()> {
    let near = gaps.iter_mut().rev().take(NEAR).find_map(|gap| {
        let taken = gap.goes_on(&cells, level);
        taken.then_some(gap)
    });
    let taken = match near {
        Some(gap) => Some(gap),
        None => gaps.last_mut().filter(|_| level.extent == 1).and_then(|last| last.paired(&cells)),
    };
    if let Some(gap) = taken {
        gap.merge();
        return Some(());
    }
    if gaps.len() == MOST {
        return None;
    }
    let Cells { at, run, loops } = cells;
    let around = (level.extent > 1).then_some(level);
    let mut cells = Cells { at, run, loops: around.into_iter().chain(loops).collect() };
    cells.merge();
    gaps.push(cells);
    Some(())
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
