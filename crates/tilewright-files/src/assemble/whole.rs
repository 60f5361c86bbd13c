//! A stored tensor of the result: its pieces, and the way they are made. Tasks, verification and comparison by a recorded recipe
//! use it.
//!
//! If loops do not describe the layout, the pieces are those of the rows, and a plan moves ranges of them to their places.

use std::sync::Arc;

use tilewright_transfer::LONG;

use super::{
    by_rows::{ByRows, LEAST},
    grid::{Grid, TRIED, split},
    pieces::{Give, Piece},
    stored::Take,
};
use crate::{layout::held::Held, transfer::shares::is_cheap};

/// A tensor of the result.
#[derive(Debug)]
pub(crate) struct Whole {
    /// The number of bytes of a unit.
    pub(crate) width: u64,
    /// The number of units of its storage.
    pub(crate) units: u64,
    /// The value of padding: the bytes of a unit.
    pub(crate) fill: Vec<u8>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) way: Way,
}

/// The way a tensor is made.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// Its runs are copied from file to file.
    Runs,
    /// Boxes are made in memory.
    Boxes(Arc<Grid>),
    /// Rows are made in memory, and moved to their places.
    ByRows(Arc<ByRows>),
}

impl Whole {
    pub(crate) fn bytes(&self) -> u64 {
        match &self.way {
            Way::ByRows(by_rows) => by_rows.bytes,
            Way::Runs | Way::Boxes(_) => self.units.saturating_mul(self.width),
        }
    }

    /// Iterates over the tensors from which it is made.
    pub(crate) fn taken(&self) -> impl Iterator<Item = Take> {
        self.pieces.iter().filter_map(|piece| match piece.give {
            Give::Tensor(take, _) => Some(take),
            Give::Fill(_) => None,
        })
    }

    /// Returns these rows, moved to a layout.
    pub(crate) fn by_rows(mut self, held: &Held) -> Result<Whole, String> {
        let by_rows = ByRows::new(held, self.one_row(self.pieces.clone()))?;
        self.way = Way::ByRows(Arc::new(by_rows));
        Ok(self)
    }

    /// Returns one box of all units.
    fn one_row(&self, pieces: Vec<Piece>) -> Grid {
        Grid { radix: self.units.max(1), rows: 1, columns: self.units.max(1), pieces }
    }

    /// Returns the number of units that the pieces give.
    pub(crate) fn given(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.nest.size()).fold(0, u64::saturating_add)
    }

    /// Chooses the way it is made, with boxes of up to `most` bytes, or ranges of rows of up to `rows`; before, it is
    /// [`Way::Runs`].
    pub(crate) fn settled(mut self, most: u64, rows: u64) -> Whole {
        if let Way::ByRows(by_rows) = &mut self.way {
            Arc::make_mut(by_rows).settle(most.min(rows));
        } else if !self.is_runs() {
            self.way = Way::Boxes(Arc::new(self.grid((most / self.width.max(1)).max(1))));
        }
        self
    }

    /// Returns the tensor made in boxes of up to `most` bytes.
    pub(crate) fn boxed_by(&self, most: u64) -> Whole {
        let grid = self.grid((most / self.width.max(1)).max(1));
        let (fill, pieces) = (self.fill.clone(), self.pieces.clone());
        Whole { fill, pieces, way: Way::Boxes(Arc::new(grid)), ..*self }
    }

    /// Returns the tensor made in the boxes of another of the same size; `None` if these cut it into too many parts.
    pub(crate) fn like(&self, other: &Whole) -> Option<Whole> {
        let Way::Boxes(grid) = &other.way else { return None };
        let pieces = split(&self.pieces, grid.radix)?;
        let grid = Grid { pieces, ..**grid };
        let (fill, pieces) = (self.fill.clone(), self.pieces.clone());
        Some(Whole { fill, pieces, way: Way::Boxes(Arc::new(grid)), ..*self })
    }

    /// Returns whether copies of runs make it: long ones, or a single one.
    fn is_runs(&self) -> bool {
        let alone = self.pieces.len() == 1;
        let is_long = |piece: &Piece| {
            let run = piece.nest.run();
            let copied = matches!(piece.give, Give::Tensor(take, width) if width == self.width && !take.rows);
            let long = run.saturating_mul(self.width) >= LONG || alone && run == piece.nest.size();
            copied && long && piece.exact == super::exact::Exact::Same
        };
        let zero = self.fill.iter().all(|byte| *byte == 0);
        (zero || self.given() == self.units) && self.pieces.iter().all(is_long)
    }

    /// Returns the cut with the least cost, with boxes of up to `most` units.
    fn grid(&self, most: u64) -> Grid {
        let whole = |pieces| self.one_row(pieces);
        if self.bytes() <= LEAST && self.units <= most {
            return whole(self.pieces.clone());
        }
        let mut best: Option<(u128, u64, u64, u64)> = None;
        let larger = |units: &u64| units.checked_mul(4).filter(|units| *units / 4 < most);
        let least = (LEAST / self.width.max(1)).clamp(1, most);
        for room in std::iter::successors(Some(least), larger).map(|room| room.min(most)) {
            for radix in self.radices() {
                let Some(pieces) = split(&self.pieces, radix) else { continue };
                let mut grid = Grid { radix, rows: 1, columns: 1, pieces };
                for (rows, columns) in grid.sizes(self.units, room) {
                    (grid.rows, grid.columns) = (rows, columns);
                    let cost = grid.cost((self.units, self.width));
                    if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                        best = Some((cost, radix, rows, columns));
                    }
                }
            }
            // If calls cost little compared with the bytes, a box in the cache is preferred.
            if best.as_ref().is_some_and(|(cost, ..)| is_cheap(*cost, self.bytes())) {
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

    /// Returns the strides that rows may have: those of the pieces, and the whole.
    fn radices(&self) -> Vec<u64> {
        let turns = self.pieces.iter().flat_map(|piece| &piece.nest.turns);
        let ends = turns.flat_map(|turn| [turn.to, turn.to.saturating_mul(turn.extent)]);
        let mut all: Vec<u64> = ends.filter(|end| *end > 1 && *end < self.units).collect();
        all.push(self.units.max(1));
        all.sort_unstable();
        all.dedup();
        // Largest first: of equal costs the first is chosen, and its runs are the longest.
        all.reverse();
        let step = all.len().div_ceil(TRIED).max(1);
        all.into_iter().step_by(step).collect()
    }
}
