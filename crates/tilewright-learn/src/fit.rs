//! Mixed-radix digits of a sequence of points, each an address in the source and a place in the result.
//!
//! [`grow`] finds the longest box at a place of a sequence; its law: the digits give back the points. [`line`] describes a whole
//! sequence, also one that begins or ends inside a block, or returns `None`. [`in_order`] returns terms: boxes that follow one
//! another, and equal boxes at regular distances.

use std::collections::{BTreeMap, HashMap};

use crate::{MapDigit, MapTerm, Origin, TermAxis};

/// A point: an address in the source and a place in the result.
pub(crate) type Point = (i64, i64);

/// Points of one family, by their places in the result.
pub(crate) struct Points {
    pub(crate) source: Vec<i64>,
    pub(crate) result: Places,
}

/// Places in the result.
pub(crate) enum Places {
    /// All places from this one on.
    From(i64),
    List(Vec<i64>),
}

impl Points {
    pub(crate) fn len(&self) -> usize {
        self.source.len()
    }

    #[inline]
    pub(crate) fn get(&self, j: usize) -> Point {
        match &self.result {
            Places::From(first) => (self.source[j], first + j as i64),
            Places::List(list) => (self.source[j], list[j]),
        }
    }

    pub(crate) fn of(points: &[Point]) -> Points {
        let (source, result) = points.iter().copied().unzip();
        Points { source, result: Places::List(result) }
    }

    /// Returns how many points from `start` on are `step` before the point `block` later.
    fn repeats(&self, start: usize, block: usize, step: Point) -> usize {
        let run = |list: &[i64], step: i64, most: usize| {
            let end = (list.len() - block).min(start.saturating_add(most));
            let (now, later) = (&list[start..end], &list[start + block..end + block]);
            // Whole groups are compared without branches.
            let groups = now.chunks_exact(64).zip(later.chunks_exact(64));
            let alike = |(a, b): &(&[i64], &[i64])| {
                a.iter().zip(*b).fold(0, |all, (a, b)| all | (b.wrapping_sub(*a) ^ step)) == 0
            };
            let whole = 64 * groups.take_while(alike).count();
            let rest = now[whole..].iter().zip(&later[whole..]);
            whole + rest.take_while(|(a, b)| b.wrapping_sub(**a) == step).count()
        };
        let Places::List(list) = &self.result else {
            return run(&self.source, step.0, usize::MAX);
        };
        // One side may repeat much longer than the other: neither is read far beyond the other's end.
        let mut most = 64;
        loop {
            let both = run(&self.source, step.0, most).min(run(list, step.1, most));
            if both < most {
                return both;
            }
            most = most.saturating_mul(4);
        }
    }
}

/// A box of points that follow one another: the last block of the last digit may be cut.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Grown {
    pub(crate) count: usize,
    pub(crate) digits: Vec<MapDigit>,
}

/// Returns the longest box of the points from `start` on.
pub(crate) fn grow(points: &Points, start: usize) -> Grown {
    let (mut block, mut digits) = (1, Vec::new());
    let left = points.len() - start;
    while block < left {
        let (a, b) = (points.get(start), points.get(start + block));
        let step = (b.0 - a.0, b.1 - a.1);
        let alike = points.repeats(start, block, step);
        let ends = alike == left - block;
        let extent = if ends { left.div_ceil(block) } else { 1 + alike / block };
        if extent == 1 {
            break;
        }
        digits.push(MapDigit { extent: extent as u64, source: step.0, result: step.1 });
        if ends {
            return Grown { count: left, digits };
        }
        block *= extent;
    }
    Grown { count: block, digits }
}

/// One axis, and the point at its index 0, which need not be one of the sequence.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) first: u64,
    pub(crate) digits: Vec<MapDigit>,
    pub(crate) zero: Point,
}

impl Line {
    /// Returns the axis for a sequence of this length.
    pub(crate) fn axis(&self, count: usize) -> TermAxis {
        TermAxis::Digits { first: self.first, count: count as u64, digits: self.digits.clone() }
    }
}

/// The most digits of a line. Each has an extent of 2 at least.
const MOST_DIGITS: usize = 48;

/// Describes a whole sequence by digits, with the fewest digits of the few ways that are tried; `None` if none fits.
pub(crate) fn line(points: &[Point]) -> Option<Line> {
    let grown = grow(&Points::of(points), 0);
    if grown.count == points.len() {
        return Some(Line { first: 0, digits: grown.digits, zero: *points.first()? });
    }
    phased(points, MOST_DIGITS)
}

/// Describes a sequence that begins inside a block.
fn phased(points: &[Point], budget: usize) -> Option<Line> {
    let zero = *points.first()?;
    if points.len() == 1 {
        return Some(Line { first: 0, digits: Vec::new(), zero });
    }
    if budget == 0 {
        return None;
    }
    common_steps(points).into_iter().find_map(|step| in_runs(points, step, budget))
}

/// Returns the most frequent differences of neighbours.
fn common_steps(points: &[Point]) -> Vec<Point> {
    let mut counts = BTreeMap::<Point, usize>::new();
    for pair in points.windows(2).take(4096) {
        *counts.entry((pair[1].0 - pair[0].0, pair[1].1 - pair[0].1)).or_default() += 1;
    }
    let mut counts: Vec<(usize, Point)> = counts.into_iter().map(|(step, n)| (n, step)).collect();
    counts.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
    counts.into_iter().take(2).map(|(_, step)| step).collect()
}

/// Describes a sequence of runs with this step: equal ones, and a first and a last one that may be cut.
fn in_runs(points: &[Point], step: Point, budget: usize) -> Option<Line> {
    let breaks = |k: &usize| {
        let (a, b) = (points[*k - 1], points[*k]);
        (b.0 - a.0, b.1 - a.1) != step
    };
    let starts: Vec<usize> = std::iter::once(0).chain((1..points.len()).filter(breaks)).collect();
    let ends = starts.iter().skip(1).copied().chain([points.len()]);
    let lengths: Vec<usize> = starts.iter().zip(ends).map(|(start, end)| end - start).collect();
    let block = *lengths.iter().max()?;
    let inner = lengths.get(1..lengths.len().saturating_sub(1)).unwrap_or(&[]);
    if block == 1 || inner.iter().any(|length| *length != block) {
        return None;
    }
    let digit = MapDigit { extent: block as u64, source: step.0, result: step.1 };
    if lengths.len() == 1 {
        return Some(Line { first: 0, digits: vec![digit], zero: points[0] });
    }
    let phase = (block - lengths[0]) as i64;
    let mut blocks: Vec<Point> = starts.iter().map(|start| points[*start]).collect();
    blocks[0] = (blocks[0].0 - phase * step.0, blocks[0].1 - phase * step.1);
    let outer = match grow(&Points::of(&blocks), 0) {
        grown if grown.count == blocks.len() => {
            Line { first: 0, digits: grown.digits, zero: blocks[0] }
        }
        _ => phased(&blocks, budget - 1)?,
    };
    let digits = [digit].into_iter().chain(outer.digits).collect();
    Some(Line { first: phase as u64 + block as u64 * outer.first, digits, zero: outer.zero })
}

/// A box of points: its axes, and its first point.
#[derive(Clone, Debug)]
struct MapPiece {
    axes: Vec<TermAxis>,
    start: Point,
}

/// Returns terms of the points in their order, or `None` if there would be more than `most`.
pub(crate) fn in_order(points: &Points, origin: Origin, most: usize) -> Option<Vec<MapTerm>> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    while start < points.len() {
        let Grown { count, digits } = grow(points, start);
        pieces.push(MapPiece { axes: vec![axis(count, digits)], start: points.get(start) });
        start += count;
        if pieces.len() > most {
            return None;
        }
    }
    Some(merged(pieces).into_iter().map(|piece| term(origin, piece)).collect())
}

fn axis(count: usize, digits: Vec<MapDigit>) -> TermAxis {
    TermAxis::Digits { first: 0, count: count as u64, digits }
}

fn term(origin: Origin, piece: MapPiece) -> MapTerm {
    let axes = piece.axes.into_iter().filter(|axis| axis.count() != 1).collect();
    MapTerm { origin, offset: piece.start.0, at: piece.start.1, axes, xor: Vec::new() }
}

/// Joins pieces with equal axes at regular distances, until nothing changes.
fn merged(mut pieces: Vec<MapPiece>) -> Vec<MapPiece> {
    loop {
        let before = pieces.len();
        if before == 1 {
            return pieces;
        }
        let mut groups: Vec<(Vec<TermAxis>, Vec<Point>)> = Vec::new();
        let mut known = HashMap::new();
        for piece in pieces {
            let group = *known.entry(piece.axes.clone()).or_insert_with(|| {
                groups.push((piece.axes, Vec::new()));
                groups.len() - 1
            });
            groups[group].1.push(piece.start);
        }
        pieces = groups.into_iter().flat_map(|(axes, starts)| joined(&axes, &starts)).collect();
        if pieces.len() == before {
            return pieces;
        }
    }
}

/// Joins pieces with these axes, which start at these points.
fn joined(axes: &[TermAxis], starts: &[Point]) -> Vec<MapPiece> {
    let points = Points::of(starts);
    let first = grow(&points, 0);
    let with = |outer: TermAxis| {
        axes.iter().cloned().chain([outer].into_iter().filter(|axis| axis.count() > 1)).collect()
    };
    if first.count < starts.len()
        && let Some(whole) = line(starts)
    {
        let axes = with(whole.axis(starts.len()));
        return vec![MapPiece { axes, start: whole.zero }];
    }
    let (mut pieces, mut at) = (Vec::new(), 0);
    while at < starts.len() {
        let Grown { count, digits } = grow(&points, at);
        pieces.push(MapPiece { axes: with(axis(count, digits)), start: starts[at] });
        at += count;
    }
    pieces
}
