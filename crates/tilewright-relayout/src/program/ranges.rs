//! The bytes of one side that hold elements: ranges in ascending order, in bounded memory.
//!
//! Law: a byte is in a range if and only if it holds a part of an element, and ranges do not touch.

use core::ops::Range;
use std::{cmp::Reverse, collections::BinaryHeap};

use tilewright_core::{Coord, Refinement, TensorLayout};
use tilewright_table::Along;

use crate::program::{
    Part, Program, ProgramTables,
    digits::Digits,
    gaps::{Cells, GapLoop, boxes_of},
    swizzled::straight,
};

/// The elements of one window, for the case that there are too many boxes.
const WINDOW: i64 = 1 << 14;

/// The byte ranges of one side.
pub(crate) struct Ranges {
    bits: u64,
    found: RunSource,
    /// The last range in bytes, which the next run may extend.
    held: Option<Range<u64>>,
}

/// The source of the runs of elements.
enum RunSource {
    /// Boxes, and a heap with the next run of each box that has one left.
    Boxes(Vec<Cells>, BinaryHeap<Reverse<(u64, u64, usize)>>),
    /// Windows of digits from `next` on, and the runs of the last window in reverse order.
    Windows { digits: Box<Digits>, next: i64, end: i64, runs: Vec<Range<u64>> },
}

impl Ranges {
    /// Returns the ranges of a part of a layout with elements of `bits` bits.
    pub(crate) fn of(side: &TensorLayout, origin: &Coord, extents: &[u64], bits: u32) -> Ranges {
        let whole = extents == side.extents();
        if let Some((_, plain)) = whole.then(|| straight(side, side)).flatten() {
            // The pair has the same offsets, without a swizzle.
            let zeros = vec![0; plain.rank()];
            let origin = Coord::new(&zeros).unwrap_or(Coord::EMPTY);
            return Ranges::of(&plain, &origin, plain.extents(), bits);
        }
        let found = match boxes_of_part(side, origin, extents) {
            Some(boxes) => return Ranges { bits: u64::from(bits), ..Ranges::of_cells(boxes) },
            None => {
                let origin = origin.as_slice();
                let digits = Digits::new(side, side, &Part::new(origin, origin, extents));
                let end = side.capacity() as i64;
                RunSource::Windows { digits: Box::new(digits), next: 0, end, runs: Vec::new() }
            }
        };
        Ranges { bits: u64::from(bits), found, held: None }
    }

    /// Returns the ranges of cells, which count bytes.
    pub(crate) fn of_cells(boxes: Vec<Cells>) -> Ranges {
        let first = |(i, cells): (usize, &Cells)| {
            next_run(cells, 0).map(|run| Reverse((run.start, run.end, i)))
        };
        let heap = boxes.iter().enumerate().filter_map(first).collect();
        Ranges { bits: 8, found: RunSource::Boxes(boxes, heap), held: None }
    }

    /// Returns the ranges of a whole array whose axes are permuted by index tables before `side` places them.
    pub(crate) fn with_tables(side: &TensorLayout, tables: &[Along], bits: u32) -> Ranges {
        if tables.iter().all(|along| along.table().holes() == 0) {
            let zeros = vec![0; side.rank()];
            let origin = Coord::new(&zeros).unwrap_or(Coord::EMPTY);
            return Ranges::of(side, &origin, side.extents(), bits);
        }
        let extents = tables.first().map_or(side.extents(), Along::extents).to_vec();
        let both = ProgramTables { src: tables.to_vec(), dst: tables.to_vec(), extents };
        let digits = Box::new(Digits::with_tables(side, side, &both));
        let end = side.capacity() as i64;
        let found = RunSource::Windows { digits, next: 0, end, runs: Vec::new() };
        Ranges { bits: u64::from(bits), found, held: None }
    }

    /// Returns the next run of elements. Runs are ordered by their start; a run may end before an earlier one does.
    fn run(&mut self) -> Option<Range<u64>> {
        match &mut self.found {
            RunSource::Boxes(boxes, heap) => {
                let Reverse((start, end, i)) = heap.pop()?;
                if let Some(next) = next_run(&boxes[i], end) {
                    heap.push(Reverse((next.start, next.end, i)));
                }
                Some(start..end)
            }
            RunSource::Windows { digits, next, end, runs } => {
                while runs.is_empty() {
                    *next = digits.next_box(*next).filter(|at| at < end)?;
                    let window = *next..next.saturating_add(WINDOW).min(*end);
                    *next = window.end;
                    *runs = runs_of(digits, window);
                }
                runs.pop()
            }
        }
    }
}

/// Returns the bytes that a run of elements of `bits` bits touches.
fn bytes(run: &Range<u64>, bits: u64) -> Range<u64> {
    let bits = |element: u64| u128::from(element) * u128::from(bits);
    (bits(run.start) / 8) as u64..bits(run.end).div_ceil(8) as u64
}

/// Returns a part of a layout as boxes, if there are few.
fn boxes_of_part(side: &TensorLayout, origin: &Coord, extents: &[u64]) -> Option<Vec<Cells>> {
    let origin = origin.as_slice();
    boxes_of(&Refinement::of_part(side, origin, side, origin, extents).ok()?)
}

impl Program {
    /// Returns the bytes of the destination that a part may write: a range that contains all its elements; for a whole
    /// array, all bytes.
    pub(crate) fn span(&self) -> Range<u64> {
        if !self.is_part() {
            return 0..self.dst_bytes();
        }
        let elements = match boxes_of_part(self.dst(), &self.part.dst, self.extents()) {
            Some(boxes) => {
                let (starts, ends) = (boxes.iter().map(|b| b.at), boxes.iter().map(Cells::end));
                starts.min().unwrap_or(0)..ends.max().unwrap_or(0)
            }
            None => self.digits().span(self.dst().capacity()),
        };
        bytes(&elements, u64::from(self.elements().dst_bits))
    }
}

impl Iterator for Ranges {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        while let Some(run) = self.run() {
            let bytes = bytes(&run, self.bits);
            match &mut self.held {
                Some(held) if bytes.start <= held.end => held.end = held.end.max(bytes.end),
                held => {
                    if let Some(whole) = held.replace(bytes) {
                        return Some(whole);
                    }
                }
            }
        }
        self.held.take()
    }
}

/// Returns the first run of a box that has a cell at `from` or later, without the cells before `from`.
fn next_run(cells: &Cells, from: u64) -> Option<Range<u64>> {
    let (mut best, run) = (None, cells.run);
    seek(&cells.loops, cells.at, run, from, &mut best);
    best.map(|start: u64| start.max(from)..start + run)
}

/// Finds the lowest start of a run that ends above `from`.
fn seek(loops: &[GapLoop], at: u64, run: u64, from: u64, best: &mut Option<u64>) {
    let Some((level, rest)) = loops.split_first() else {
        if at + run > from && best.is_none_or(|best| at < best) {
            *best = Some(at);
        }
        return;
    };
    let reach: u64 = rest.iter().map(|level| (level.extent - 1) * level.stride).sum();
    let first = (from + 1).saturating_sub(at + reach + run).div_ceil(level.stride);
    for i in first..level.extent {
        let at = at + i * level.stride;
        // If an iteration begins after a run that was found, neither it nor a later one has an earlier run.
        if best.is_some_and(|best| best <= at || best <= from) {
            return;
        }
        seek(rest, at, run, from, best);
    }
}

/// Returns the runs of a window in reverse order.
fn runs_of(digits: &Digits, window: Range<i64>) -> Vec<Range<u64>> {
    let (start, mut holds) = (window.start, [false; WINDOW as usize]);
    digits.walk(window, &mut |leaf| {
        for (outer, inner) in leaf.outer.iter().flat_map(|a| leaf.inner.iter().map(move |b| (a, b)))
        {
            let at = (outer.1 + inner.1 - start) as usize;
            holds[at..at + leaf.run as usize].fill(true);
        }
    });
    let (mut runs, mut at) = (Vec::new(), start as u64);
    for run in holds.chunk_by(|a, b| a == b) {
        let end = at + run.len() as u64;
        runs.extend(run[0].then_some(at..end));
        at = end;
    }
    runs.reverse();
    runs
}
