//! The complement of boxes of cells within a range of cells.
//!
//! Law: the given boxes and those that [`complement`] returns cover `0..end` exactly once, if the given boxes cover no
//! cell twice.
//!
//! Boxes whose spans overlap are cut into pieces. The length of a piece is the largest stride among the boxes, and the
//! phase is chosen so that no box with that stride crosses a cut. Pieces that contain the same boxes have the same
//! gaps, which are found recursively, because strides within a piece are shorter.

use crate::program::cells::{Cells, GapLoop};
use core::ops::Range;

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
