//! Which bytes of one side hold elements: ranges in ascending order, in bounded memory.
//!
//! Law: a byte lies in a range if and only if it holds a part of an element, and ranges do not touch.

use crate::program::{
    Program,
    cells::{Cells, GapLoop, boxes_of},
    digits::Digits,
    part::Part,
    straight::straight,
    tabled::Tables,
};
use core::ops::Range;
use std::{cmp::Reverse, collections::BinaryHeap};
use tilewright_core::{Coord, Refinement, TensorLayout};
use tilewright_table::Along;

/// The elements that are looked at together where boxes are too many.
const WINDOW: i64 = 1 << 14;

/// The byte ranges of one side.
pub(crate) struct Ranges {
    bits: u64,
    found: Found,
    /// In bytes: what may go on in the next run.
    held: Option<Range<u64>>,
}

/// Where runs of elements come from.
enum Found {
    /// Boxes, and for each that has one, its next run.
    Boxes(Vec<Cells>, BinaryHeap<Reverse<(u64, u64, usize)>>),
    /// Windows of digits from `next` on, and the runs of the last window, the first one last.
    Windows { digits: Box<Digits>, next: i64, end: i64, runs: Vec<Range<u64>> },
}

impl Ranges {
    /// The ranges of a part of a layout, whose elements have `bits` bits.
    pub(crate) fn of(side: &TensorLayout, origin: &Coord, extents: &[u64], bits: u32) -> Ranges {
        let whole = extents == side.extents();
        if let Some((_, plain)) = whole.then(|| straight(side, side)).flatten() {
            // The same offsets, without a swizzle.
            let zeros = vec![0; plain.rank()];
            let origin = Coord::new(&zeros).unwrap_or(Coord::EMPTY);
            return Ranges::of(&plain, &origin, plain.extents(), bits);
        }
        let found = match boxes_of_part(side, origin, extents) {
            Some(boxes) => {
                let first = |(i, cells): (usize, &Cells)| {
                    next_run(cells, 0).map(|run| Reverse((run.start, run.end, i)))
                };
                let heap = boxes.iter().enumerate().filter_map(first).collect();
                Found::Boxes(boxes, heap)
            }
            None => {
                let origin = origin.as_slice();
                let digits = Digits::new(side, side, &Part::new(origin, origin, extents));
                let end = side.capacity() as i64;
                Found::Windows { digits: Box::new(digits), next: 0, end, runs: Vec::new() }
            }
        };
        Ranges { bits: u64::from(bits), found, held: None }
    }

    /// The ranges of all of an array whose index tables store what `side` places.
    pub(crate) fn of_tabled(side: &TensorLayout, tables: &[Along], bits: u32) -> Ranges {
        if tables.iter().all(|along| along.table().holes() == 0) {
            let zeros = vec![0; side.rank()];
            let origin = Coord::new(&zeros).unwrap_or(Coord::EMPTY);
            return Ranges::of(side, &origin, side.extents(), bits);
        }
        let extents = tables.first().map_or(side.extents(), Along::extents).to_vec();
        let both = Tables { src: tables.to_vec(), dst: tables.to_vec(), extents };
        let digits = Box::new(Digits::tabled(side, side, &both));
        let end = side.capacity() as i64;
        let found = Found::Windows { digits, next: 0, end, runs: Vec::new() };
        Ranges { bits: u64::from(bits), found, held: None }
    }

    /// The next run of elements: none begins before it, but one may end before it does.
    fn run(&mut self) -> Option<Range<u64>> {
        match &mut self.found {
            Found::Boxes(boxes, heap) => {
                let Reverse((start, end, i)) = heap.pop()?;
                if let Some(next) = next_run(&boxes[i], end) {
                    heap.push(Reverse((next.start, next.end, i)));
                }
                Some(start..end)
            }
            Found::Windows { digits, next, end, runs } => {
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

/// The bytes that a run of elements of `bits` bits touches.
fn bytes(run: &Range<u64>, bits: u64) -> Range<u64> {
    let bits = |element: u64| u128::from(element) * u128::from(bits);
    (bits(run.start) / 8) as u64..bits(run.end).div_ceil(8) as u64
}

/// A part of a layout as boxes, if they are few.
fn boxes_of_part(side: &TensorLayout, origin: &Coord, extents: &[u64]) -> Option<Vec<Cells>> {
    let origin = origin.as_slice();
    boxes_of(&Refinement::of_part(side, origin, side, origin, extents).ok()?)
}

impl Program {
    /// Bytes of the destination outside of which a part has no element; all bytes of a whole array.
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

/// The first run of a box that has a cell from `from` on, without what lies before.
fn next_run(cells: &Cells, from: u64) -> Option<Range<u64>> {
    let (mut best, run) = (None, cells.run);
    seek(&cells.loops, cells.at, run, from, &mut best);
    best.map(|start: u64| start.max(from)..start + run)
}

/// Finds the least start of a run that ends above `from`.
fn seek(loops: &[GapLoop], at: u64, run: u64, from: u64, best: &mut Option<u64>) {
    let Some((turn, rest)) = loops.split_first() else {
        if at + run > from && best.is_none_or(|best| at < best) {
            *best = Some(at);
        }
        return;
    };
    let reach: u64 = rest.iter().map(|turn| (turn.extent - 1) * turn.stride).sum();
    let first = (from + 1).saturating_sub(at + reach + run).div_ceil(turn.stride);
    for i in first..turn.extent {
        let at = at + i * turn.stride;
        // A turn that begins behind a run that was found has no earlier one.
        if best.is_some_and(|best| best <= at || best <= from) {
            return;
        }
        seek(rest, at, run, from, best);
    }
}

/// The runs of a window, the last one first.
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
