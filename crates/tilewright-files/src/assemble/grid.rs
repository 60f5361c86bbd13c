//! Cuts storage into boxes. Descriptions of tensors choose the cheapest cut.
//!
//! ```text
//! unit r·radix + c of the storage is in row r, column c;  a box is some rows of some columns
//! ```
//!
//! A box is made in memory and written in runs of its columns. The radix is a stride of the pieces, so a box of a transposition
//! is short in both directions, and a box of rows in order is a range.

use tilewright_relayout::CALL;

use super::{
    nest::{Nest, Turn},
    pieces::{Give, Piece},
};

/// The number of extents of a box that are tried for a radix.
pub(crate) const TRIED: usize = 24;

/// A cut of storage into boxes.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub(crate) radix: u64,
    pub(crate) rows: u64,
    pub(crate) columns: u64,
    /// The pieces, none of which carries over a row.
    pub(crate) pieces: Vec<Piece>,
}

/// A box: its ranges of rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) rows: (u64, u64),
    pub(crate) columns: (u64, u64),
}

impl Part {
    pub(crate) fn width(&self) -> u64 {
        self.columns.1 - self.columns.0
    }

    /// Returns its number of units.
    pub(crate) fn size(&self) -> u64 {
        self.width() * (self.rows.1 - self.rows.0)
    }
}

/// Returns the pieces, split so that they do not carry over a multiple of the radix.
pub(crate) fn split(pieces: &[Piece], radix: u64) -> Option<Vec<Piece>> {
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

/// Returns the number of calls that read the source of a nest whose units have `width` bytes, and their bytes, approximately: a
/// call includes the loops with the smallest strides as long as gaps cost less than calls, and reads at most twice the needed
/// bytes.
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
    /// Returns extents of boxes of up to `room` units that are worth a try: those that end where loops do.
    pub(crate) fn sizes(&self, units: u64, room: u64) -> Vec<(u64, u64)> {
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
            // Multiples of the extent of a loop, doubled.
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

    /// Returns the number of columns of a box that has `rows` rows.
    fn columns_for(&self, rows: u64, room: u64) -> u64 {
        let most = (room / rows).clamp(1, self.radix);
        let turns = self.pieces.iter().flat_map(|piece| &piece.nest.turns);
        let ends = turns.flat_map(|turn| [turn.to, turn.to.saturating_mul(turn.extent)]);
        let inner = ends.filter(|end| *end < self.radix && *end <= most).max().unwrap_or(1).max(1);
        if most == self.radix { most } else { most / inner * inner }
    }

    /// Estimates the cost of the boxes by the first and one in the middle.
    pub(crate) fn cost(&self, (units_in_all, width): (u64, u64)) -> u128 {
        let count = self.count(units_in_all);
        let samples = [Some(0), (count > 2).then_some(count / 2)];
        let (mut cost, mut units) = (0u128, 0u128);
        for part in
            samples.into_iter().flatten().filter_map(|number| self.part(number, units_in_all))
        {
            units += u128::from(part.size());
            let writes = if part.width() == self.radix { 1 } else { part.rows.1 - part.rows.0 };
            cost += u128::from(writes * CALL);
            for (piece, nest) in self.inside(&part) {
                let Give::Tensor(_, own) = piece.give else { continue };
                let room = part.size().saturating_mul(width);
                let (calls, bytes) = reads(&nest, own, room);
                cost += u128::from(calls) * u128::from(CALL) + u128::from(bytes);
            }
        }
        cost * u128::from(units_in_all) / units.max(1)
    }

    /// Returns the number of boxes.
    pub(crate) fn count(&self, units: u64) -> u64 {
        let rows = units.div_ceil(self.radix).div_ceil(self.rows);
        rows * self.radix.min(units).div_ceil(self.columns)
    }

    /// Returns the box of a number; `None` after the last.
    pub(crate) fn part(&self, number: u64, units: u64) -> Option<Part> {
        let across = self.radix.min(units).div_ceil(self.columns).max(1);
        let all = units.div_ceil(self.radix);
        let (row, column) = (number / across * self.rows, number % across * self.columns);
        let rows = (row, (row + self.rows).min(all));
        let columns = (column, (column + self.columns).min(self.radix.min(units)));
        (row < all && columns.0 < columns.1).then_some(Part { rows, columns })
    }

    /// Returns the parts of the pieces in a box, with their places in it.
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

    /// Iterates over the runs of storage of a box: the position of each in the box, its position in the storage, and its length.
    pub(crate) fn runs(
        &self,
        part: &Part,
        units: u64,
    ) -> impl Iterator<Item = (u64, u64, u64)> + use<> {
        let (radix, width, from) = (self.radix, part.width(), part.columns.0);
        let (first, end) = part.rows;
        // Whole rows are contiguous.
        let joined = if width == radix { end - first } else { 1 };
        (first..end).step_by(joined.max(1) as usize).map(move |row| {
            let at = row * radix + from;
            ((row - first) * width, at, (width * joined).min(units.saturating_sub(at)))
        })
    }
}
