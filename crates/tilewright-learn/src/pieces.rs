//! Terms from points in the order of the result: boxes that follow one another, and equal boxes at regular distances.

use std::collections::HashMap;

use crate::{
    MapDigit, MapTerm, Origin, TermAxis,
    fit::{Grown, Point, Points, grow, line},
};

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
