//! A tensor of the result as it is stored: its pieces, and how its storage is cut into boxes.
//!
//! ```text
//! unit r·radix + c of the storage is in row r, column c;  a box is some rows of some columns
//! ```
//!
//! A box is made in memory of all that lies in it, and written in runs of its columns. The radix is a stride of the
//! pieces, so a box of a transposition is short in both directions, and one of rows in order is a range.

use std::sync::Arc;

use tilewright_relayout::CALL;
use tilewright_transfer::LONG;

use super::{
    nest::{Nest, Turn},
    pieces::{Give, Piece},
};

/// Boxes are tried from this many bytes on: what was read of one is in the cache when it is written.
const LEAST: u64 = 1 << 20;

/// Extents of a box that are tried for a radix.
const TRIED: usize = 24;

/// A tensor of the result.
#[derive(Debug)]
pub(crate) struct Whole {
    /// The bytes of a unit.
    pub(crate) width: u64,
    /// The units of its storage.
    pub(crate) units: u64,
    /// What padding holds: the bytes of a unit.
    pub(crate) fill: Vec<u8>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) way: Way,
}

/// How a tensor is made.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// Its runs are copied from file to file.
    Runs,
    /// Boxes are made in memory.
    Boxes(Arc<Grid>),
}

/// How storage is cut into boxes.
#[derive(Debug)]
pub(crate) struct Grid {
    radix: u64,
    rows: u64,
    columns: u64,
    /// Pieces that carry over no row.
    pieces: Vec<Piece>,
}

/// A box: rows and columns from, and to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) rows: (u64, u64),
    pub(crate) columns: (u64, u64),
}

impl Part {
    pub(crate) fn width(&self) -> u64 {
        self.columns.1 - self.columns.0
    }

    /// Its units.
    pub(crate) fn size(&self) -> u64 {
        self.width() * (self.rows.1 - self.rows.0)
    }
}

impl Whole {
    pub(crate) fn bytes(&self) -> u64 {
        self.units.saturating_mul(self.width)
    }

    /// The numbers of the tensors that it is made of.
    pub(crate) fn taken(&self) -> impl Iterator<Item = usize> {
        self.pieces.iter().filter_map(|piece| match piece.give {
            Give::Tensor(number, _) => Some(number),
            Give::Fill(_) => None,
        })
    }

    /// The units that pieces give.
    pub(crate) fn given(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.nest.size()).fold(0, u64::saturating_add)
    }

    /// Chooses how it is made, with boxes of up to `most` bytes; [`Way::Runs`] until then.
    pub(crate) fn settled(mut self, most: u64) -> Whole {
        if !self.is_runs() {
            self.way = Way::Boxes(Arc::new(self.grid((most / self.width.max(1)).max(1))));
        }
        self
    }

    /// The same, made in boxes of up to `most` bytes.
    pub(crate) fn boxed_by(&self, most: u64) -> Whole {
        let grid = self.grid((most / self.width.max(1)).max(1));
        let (fill, pieces) = (self.fill.clone(), self.pieces.clone());
        Whole { fill, pieces, way: Way::Boxes(Arc::new(grid)), ..*self }
    }

    /// The same, made in the boxes of another of its size; `None` where these cut it into too many parts.
    pub(crate) fn like(&self, other: &Whole) -> Option<Whole> {
        let Way::Boxes(grid) = &other.way else { return None };
        let pieces = split(&self.pieces, grid.radix)?;
        let grid = Grid { pieces, ..**grid };
        let (fill, pieces) = (self.fill.clone(), self.pieces.clone());
        Some(Whole { fill, pieces, way: Way::Boxes(Arc::new(grid)), ..*self })
    }

    /// Whether copies of runs make it: long ones, or one alone.
    fn is_runs(&self) -> bool {
        let alone = self.pieces.len() == 1;
        let is_long = |piece: &Piece| {
            let run = piece.nest.run();
            let copied = matches!(piece.give, Give::Tensor(_, width) if width == self.width);
            let long = run.saturating_mul(self.width) >= LONG || alone && run == piece.nest.size();
            copied && long && piece.exact == super::exact::Exact::Same
        };
        let zero = self.fill.iter().all(|byte| *byte == 0);
        (zero || self.given() == self.units) && self.pieces.iter().all(is_long)
    }

    /// The cut that costs least, of boxes of up to `most` units.
    fn grid(&self, most: u64) -> Grid {
        let whole =
            |pieces| Grid { radix: self.units.max(1), rows: 1, columns: self.units.max(1), pieces };
        if self.bytes() <= LEAST && self.units <= most {
            return whole(self.pieces.clone());
        }
        let bytes = u128::from(self.bytes());
        let mut best: Option<(u128, u64, u64, u64)> = None;
        let larger = |units: &u64| units.checked_mul(4).filter(|units| *units / 4 < most);
        let least = (LEAST / self.width.max(1)).clamp(1, most);
        for room in std::iter::successors(Some(least), larger).map(|room| room.min(most)) {
            for radix in self.radices() {
                let Some(pieces) = split(&self.pieces, radix) else { continue };
                let mut grid = Grid { radix, rows: 1, columns: 1, pieces };
                for (rows, columns) in grid.sizes(self.units, room) {
                    (grid.rows, grid.columns) = (rows, columns);
                    let cost = grid.cost(self);
                    if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                        best = Some((cost, radix, rows, columns));
                    }
                }
            }
            // Calls that are few beside the bytes are worth a box in the cache.
            if best.as_ref().is_some_and(|(cost, ..)| *cost <= bytes + bytes / 4) {
                break;
            }
        }
        let made = best.and_then(|(_, radix, rows, columns)| {
            Some(Grid { radix, rows, columns, pieces: split(&self.pieces, radix)? })
        });
        made.unwrap_or_else(|| Grid {
            columns: most.min(self.units.max(1)),
            ..whole(self.pieces.clone())
        })
    }

    /// The strides that rows may have: those of the pieces, and the whole.
    fn radices(&self) -> Vec<u64> {
        let turns = self.pieces.iter().flat_map(|piece| &piece.nest.turns);
        let ends = turns.flat_map(|turn| [turn.to, turn.to.saturating_mul(turn.extent)]);
        let mut all: Vec<u64> = ends.filter(|end| *end > 1 && *end < self.units).collect();
        all.push(self.units.max(1));
        all.sort_unstable();
        all.dedup();
        // Largest first: of equal costs the first wins, and its runs are the longest.
        all.reverse();
        let step = all.len().div_ceil(TRIED).max(1);
        all.into_iter().step_by(step).collect()
    }
}

/// The pieces, cut so that they carry over no multiple of the radix.
fn split(pieces: &[Piece], radix: u64) -> Option<Vec<Piece>> {
    let mut all = Vec::new();
    for piece in pieces {
        let nests = piece.nest.split(radix).ok()?;
        all.extend(nests.into_iter().map(|nest| Piece { nest, ..piece.clone() }));
        if all.len() > 1 << 16 {
            return None;
        }
    }
    Some(all)
}

/// The calls that read the source of a nest whose units have `width` bytes, and their bytes, about: a call takes in the
/// turns with the smallest strides as long as gaps cost less than calls, and at most twice what is needed.
fn reads(nest: &Nest, width: u64, room: u64) -> (u64, u64) {
    let mut turns: Vec<Turn> = nest.turns.iter().copied().filter(|turn| turn.from > 0).collect();
    turns.sort_by_key(|turn| turn.from);
    let (mut span, mut needed, mut calls) = (1u64, 1u64, 1u64);
    for Turn { extent, from, .. } in turns {
        let wider = from.saturating_mul(extent - 1).saturating_add(span);
        let all = needed.saturating_mul(extent);
        let near = from.saturating_sub(span).saturating_mul(width) <= CALL && wider <= 2 * all;
        if calls == 1 && near && wider.saturating_mul(width) <= room {
            (span, needed) = (wider, all);
        } else {
            calls = calls.saturating_mul(extent);
        }
    }
    (calls, calls.saturating_mul(span).saturating_mul(width))
}

impl Grid {
    /// Extents of boxes of up to `room` units that are worth a try: those that end where turns do.
    fn sizes(&self, units: u64, room: u64) -> Vec<(u64, u64)> {
        let rows = units.div_ceil(self.radix);
        let mut edges = vec![1, rows];
        for turn in self.pieces.iter().flat_map(|piece| &piece.nest.turns) {
            edges.extend([turn.to / self.radix, turn.to.saturating_mul(turn.extent) / self.radix]);
        }
        edges.sort_unstable();
        edges.dedup();
        let most = rows.min(room);
        let mut tried = Vec::new();
        for edge in edges.into_iter().filter(|edge| *edge > 0 && *edge <= most) {
            // Multiples of what a turn covers, doubled.
            let mut extent = edge;
            while extent <= most && tried.len() < 2 * TRIED {
                tried.push(extent);
                extent = extent.saturating_mul(2);
            }
            let full = (room / self.radix.max(1)).min(most) / edge * edge;
            tried.extend((full > 0).then_some(full));
        }
        tried.sort_unstable();
        tried.dedup();
        tried.into_iter().map(|rows| (rows, self.columns_for(rows, room))).collect()
    }

    /// The columns of a box that has `rows` rows.
    fn columns_for(&self, rows: u64, room: u64) -> u64 {
        let most = (room / rows).clamp(1, self.radix);
        let turns = self.pieces.iter().flat_map(|piece| &piece.nest.turns);
        let ends = turns.flat_map(|turn| [turn.to, turn.to.saturating_mul(turn.extent)]);
        let inner = ends.filter(|end| *end < self.radix && *end <= most).max().unwrap_or(1).max(1);
        if most == self.radix { most } else { most / inner * inner }
    }

    /// What the boxes cost, estimated by the first and one in the middle.
    fn cost(&self, whole: &Whole) -> u128 {
        let count = self.count(whole.units);
        let samples = [Some(0), (count > 2).then_some(count / 2)];
        let (mut cost, mut units) = (0u128, 0u128);
        for part in
            samples.into_iter().flatten().filter_map(|number| self.part(number, whole.units))
        {
            units += u128::from(part.size());
            let writes = if part.width() == self.radix { 1 } else { part.rows.1 - part.rows.0 };
            cost += u128::from(writes * CALL);
            for (piece, nest) in self.inside(&part) {
                let Give::Tensor(_, width) = piece.give else { continue };
                let room = part.size().saturating_mul(whole.width);
                let (calls, bytes) = reads(&nest, width, room);
                cost += u128::from(calls) * u128::from(CALL) + u128::from(bytes);
            }
        }
        cost * u128::from(whole.units) / units.max(1)
    }

    /// How many boxes there are.
    pub(crate) fn count(&self, units: u64) -> u64 {
        let rows = units.div_ceil(self.radix).div_ceil(self.rows);
        rows * self.radix.min(units).div_ceil(self.columns)
    }

    /// The box of a number; `None` behind the last.
    pub(crate) fn part(&self, number: u64, units: u64) -> Option<Part> {
        let across = self.radix.min(units).div_ceil(self.columns).max(1);
        let all = units.div_ceil(self.radix);
        let (row, column) = (number / across * self.rows, number % across * self.columns);
        let rows = (row, (row + self.rows).min(all));
        let columns = (column, (column + self.columns).min(self.radix.min(units)));
        (row < all && columns.0 < columns.1).then_some(Part { rows, columns })
    }

    /// What lies in a box, and where in it.
    pub(crate) fn inside<'g>(&'g self, part: &Part) -> Vec<(&'g Piece, Nest)> {
        let (radix, width) = (self.radix, part.width());
        let (first, end) = (part.rows.0 * radix, part.rows.1 * radix);
        let near = |piece: &&Piece| {
            let nest = &piece.nest;
            nest.to < end && nest.to.saturating_add(nest.reach().1) >= first
        };
        let (mut rows, mut found, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for piece in self.pieces.iter().filter(near) {
            rows.clear();
            piece.nest.within(&|to| to / radix, part.rows, &mut rows);
            found.clear();
            for nest in &rows {
                nest.within(&|to| to % radix, part.columns, &mut found);
            }
            for nest in &found {
                let turns = nest
                    .turns
                    .iter()
                    .map(|turn| Turn { to: turn.to / radix * width + turn.to % radix, ..*turn });
                let to = (nest.to / radix - part.rows.0) * width + nest.to % radix - part.columns.0;
                all.push((piece, Nest::new(nest.from, to, turns)));
            }
        }
        all
    }

    /// The runs of storage that a box is: where each begins in it, and where in the storage, and how long.
    pub(crate) fn runs(
        &self,
        part: &Part,
        units: u64,
    ) -> impl Iterator<Item = (u64, u64, u64)> + use<> {
        let (radix, width, from) = (self.radix, part.width(), part.columns.0);
        let (first, end) = part.rows;
        // Whole rows follow one another.
        let joined = if width == radix { end - first } else { 1 };
        (first..end).step_by(joined.max(1) as usize).map(move |row| {
            let at = row * radix + from;
            ((row - first) * width, at, (width * joined).min(units.saturating_sub(at)))
        })
    }
}
