//! The complement of boxes of cells within a line of cells.
//!
//! Law: the boxes given and those that [`complement`] gives cover `0..end` exactly once, if the boxes given
//! cover no cell twice.
//!
//! Boxes whose spans overlap are cut into pieces as long as the largest stride among them, at a phase where
//! none of them straddles a cut. Pieces with the same boxes in them have the same gaps, found by the same
//! means: their strides are shorter.

use crate::program::cells::{Cells, GapLoop};
use core::ops::Range;

/// The most boxes of the complement.
const MOST: usize = 1024;

/// The most boxes looked at, all pieces together.
const WORK: usize = 1 << 16;

/// The most turns of a loop that become boxes of their own.
const TURNS: u64 = 256;

/// How many of the last boxes are asked whether the next goes on where they end.
const NEAR: usize = 16;

/// How deep pieces are cut into pieces.
const DEPTH: usize = 100;

/// The phases that are tried.
const PHASES: usize = 64;

/// The cells of `0..end` that no box has, lowest first; `None` where they are many.
pub(super) fn complement(boxes: Vec<Cells>, end: u64) -> Option<Vec<Cells>> {
    let mut finder = Finder { work: WORK, depth: DEPTH };
    let mut gaps = Vec::new();
    finder.window(boxes, 0..end, &mut gaps)?;
    sort(&mut gaps);
    Some(gaps)
}

/// Lowest first; one sort for all.
fn sort(cells: &mut [Cells]) {
    cells.sort_by_key(|cells| cells.at);
}

struct Finder {
    /// How many more boxes are looked at.
    work: usize,
    /// How much deeper pieces are cut.
    depth: usize,
}

/// A box in each of a range of pieces.
struct Held {
    pieces: Range<u64>,
    /// Within a piece.
    cells: Cells,
}

impl Finder {
    /// The gaps of a window that holds these boxes.
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

    /// The gaps between boxes whose spans overlap and fill a window.
    fn cluster(
        &mut self,
        boxes: Vec<Cells>,
        window: Range<u64>,
        gaps: &mut Vec<Cells>,
    ) -> Option<()> {
        let stride = boxes.iter().map(Cells::stride).max()?;
        if stride == 0 {
            // Of runs, only one is no overlap.
            return (boxes.len() == 1).then_some(());
        }
        // Turns that are longer than their stride lie between one another.
        let (long, boxes): (Vec<Cells>, Vec<Cells>) = boxes
            .into_iter()
            .partition(|cells| cells.stride() == stride && cells.turn(0).span() > stride);
        if !long.is_empty() {
            let turns = self.turns(long)?;
            return self.window([boxes, turns].concat(), window, gaps);
        }
        let start = phase(&boxes, stride, window.start)?;
        let mut held = Vec::new();
        for cells in boxes {
            self.hold(cells, start, stride, &mut held)?;
        }
        self.pieces(&held, start, stride, window, gaps)
    }

    /// The turns of the outermost loops as boxes.
    fn turns(&mut self, boxes: Vec<Cells>) -> Option<Vec<Cells>> {
        let mut all = Vec::new();
        for cells in boxes {
            let turn = cells.loops.first()?;
            if turn.extent > TURNS {
                return None;
            }
            self.work = self.work.checked_sub(turn.extent as usize)?;
            all.extend((0..turn.extent).map(|i| cells.turn(cells.at + i * turn.stride)));
        }
        Some(all)
    }

    /// Finds the pieces that hold a box.
    fn hold(&mut self, cells: Cells, start: i64, stride: u64, held: &mut Vec<Held>) -> Option<()> {
        self.work = self.work.checked_sub(1)?;
        let from = cells.at.checked_add_signed(start.checked_neg()?)?;
        let (piece, at) = (from / stride, from % stride);
        if cells.stride() == stride {
            let pieces = piece..piece + cells.loops[0].extent;
            held.push(Held { pieces, cells: cells.turn(at) });
        } else if at + cells.span() <= stride {
            held.push(Held { pieces: piece..piece + 1, cells: Cells { at, ..cells } });
        } else if cells.loops.is_empty() {
            let (last, rest) = ((from + cells.run) / stride, (from + cells.run) % stride);
            let runs = [
                (piece..piece + 1, at, stride - at),
                (piece + 1..last, 0, stride),
                (last..last + 1, 0, rest),
            ];
            let runs = runs.into_iter().filter(|(pieces, _, run)| !pieces.is_empty() && *run > 0);
            held.extend(runs.map(|(pieces, at, run)| Held {
                pieces,
                cells: Cells { at, run, loops: Vec::new() },
            }));
        } else {
            for cells in self.turns(vec![cells])? {
                self.hold(cells, start, stride, held)?;
            }
        }
        Some(())
    }

    /// The gaps of all pieces of a window, those with the same boxes together.
    fn pieces(
        &mut self,
        held: &[Held],
        start: i64,
        stride: u64,
        window: Range<u64>,
        gaps: &mut Vec<Cells>,
    ) -> Option<()> {
        let (low, high) = (from(window.start, start)?, from(window.end, start)?);
        let count = high.div_ceil(stride);
        let mut cuts: Vec<u64> = held.iter().flat_map(|h| [h.pieces.start, h.pieces.end]).collect();
        cuts.extend([0, count]);
        // The first and the last piece may be cut short.
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
                let turn = GapLoop { extent: pair[1] - pair[0], stride };
                push(Cells { at, ..gap }, turn, gaps)?;
            }
        }
        Some(())
    }
}

/// How far `at` is from the start of the first piece, which may lie before 0.
fn from(at: u64, start: i64) -> Option<u64> {
    at.checked_add_signed(start.checked_neg()?)
}

/// Where the first piece begins, at or below `first`: no turn of a box with this stride straddles a cut.
fn phase(boxes: &[Cells], stride: u64, first: u64) -> Option<i64> {
    let turned = boxes.iter().filter(|cells| cells.stride() == stride);
    let ends: Vec<(u64, u64)> = turned.map(|cells| (cells.at, cells.turn(0).span())).collect();
    let fits = |phase: u64| {
        // How far a box begins behind a cut.
        let behind = |at: u64| (at % stride + stride - phase) % stride;
        ends.iter().all(|&(at, span)| behind(at) + span <= stride)
    };
    let phases = [first].into_iter().chain(ends.iter().map(|end| end.0)).take(PHASES);
    let phase = phases.map(|at| at % stride).find(|&phase| fits(phase))?;
    let back = (first % stride + stride - phase) % stride;
    Some(first as i64 - back as i64)
}

/// Adds a run, if it is one.
fn push_run(run: Range<u64>, gaps: &mut Vec<Cells>) -> Option<()> {
    if run.is_empty() {
        return Some(());
    }
    let cells = Cells { at: run.start, run: run.end - run.start, loops: Vec::new() };
    push(cells, GapLoop { extent: 1, stride: 0 }, gaps)
}

/// Adds a box with a loop around it; turns that go on where those of a box before it end are added there.
fn push(cells: Cells, turn: GapLoop, gaps: &mut Vec<Cells>) -> Option<()> {
    let near = gaps.iter_mut().rev().take(NEAR).find_map(|gap| {
        let taken = gap.goes_on(&cells, turn);
        taken.then_some(gap)
    });
    let taken = match near {
        Some(gap) => Some(gap),
        None => gaps.last_mut().filter(|_| turn.extent == 1).and_then(|last| last.paired(&cells)),
    };
    if let Some(gap) = taken {
        gap.merge();
        return Some(());
    }
    if gaps.len() == MOST {
        return None;
    }
    let Cells { at, run, loops } = cells;
    let around = (turn.extent > 1).then_some(turn);
    let mut cells = Cells { at, run, loops: around.into_iter().chain(loops).collect() };
    cells.merge();
    gaps.push(cells);
    Some(())
}
