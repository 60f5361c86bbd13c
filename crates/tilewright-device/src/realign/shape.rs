//! The dimensions of a realigned transpose: the two loops of the transpose, the loops around it, and the sizes of a tile.
//!
//! Law: the tiles of the grid cover each row and each column of each iteration of the outer loops.

use crate::{access::VECTOR, area::Area, grid::Grid};
use tilewright_relayout::Loop;

/// The vectors of a row of a tile in the destination, including the one before its first.
pub(super) const VECTORS: u64 = 16;

/// The bytes of tiles that a multiprocessor must be able to hold: the smallest one has 100 KiB, and a block takes 1 KiB
/// more.
const TILES: u32 = 96 << 10;

/// The registers of a multiprocessor.
const REGISTERS: u32 = 1 << 16;

/// The most bytes of a row: a signed number of 32 bits, with room for a tile.
const LONGEST: u64 = 1 << 30;

/// A transpose in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TransposeShape {
    /// The bytes of an element: 1, 2, 4, 8 or 16.
    pub(super) element: u64,
    /// The number of bytes of which every address is a multiple, at most an element.
    pub(super) unit: u64,
    /// The loop along which the destination is contiguous.
    pub(super) rows: Loop,
    /// The loop along which the source is contiguous.
    pub(super) columns: Loop,
    pub(super) outer: Vec<Loop>,
}

impl TransposeShape {
    /// Returns the transpose that an area is, if any.
    pub(super) fn of(area: &Area) -> Option<TransposeShape> {
        let element = area.run;
        if !element.is_power_of_two() || element > VECTOR {
            return None;
        }
        let by = |side: fn(&Loop) -> i64| {
            area.loops.iter().position(|level| side(level) == element as i64)
        };
        let (columns, rows) = (by(|level| level.src)?, by(|level| level.dst)?);
        let short = |at: usize| area.loops[at].extent <= LONGEST / element;
        if columns == rows || !short(columns) || !short(rows) {
            return None;
        }
        let others = |(at, level): (usize, &Loop)| (at != rows && at != columns).then_some(*level);
        let outer = area.loops.iter().enumerate().filter_map(others).collect();
        let (rows, columns) = (area.loops[rows], area.loops[columns]);
        Some(TransposeShape { element, unit: area.unit().min(element), rows, columns, outer })
    }

    /// Returns the elements of a vector.
    pub(super) fn lanes(&self) -> u64 {
        VECTOR / self.element
    }

    /// Returns the vectors of a tile's row in the source.
    pub(super) fn across(&self) -> u64 {
        if self.element == 1 { 8 } else { 16 }
    }

    /// Returns the number of adjacent squares of a thread: enough bytes to amortize its first instructions.
    pub(super) fn squares(&self) -> u64 {
        match self.element {
            16 => 4,
            4 | 8 => 2,
            _ => 1,
        }
    }

    /// Returns the columns between the squares of a thread.
    pub(super) fn apart(&self) -> u64 {
        self.across() * self.lanes()
    }

    /// Returns the columns of a tile.
    pub(super) fn tile_columns(&self) -> u64 {
        self.squares() * self.apart()
    }

    /// Returns the rows that a tile writes: all that it contains except those of its first vector.
    pub(super) fn tile_rows(&self) -> u64 {
        (VECTORS - 1) * self.lanes()
    }

    /// Returns the threads of a block.
    pub(super) fn threads(&self) -> u32 {
        (self.across() * VECTORS) as u32
    }

    /// Returns the number of blocks that a multiprocessor must be able to hold. It is limited by shared memory, and by
    /// registers: a thread needs twice those of its squares, for the shifted vectors, and some more.
    pub(super) fn resident(&self) -> u32 {
        let words = (self.squares() * self.lanes() * VECTOR / 4) as u32;
        (TILES / self.shared()).min(REGISTERS / (self.threads() * (2 * words + 40)))
    }

    /// Returns the bytes of shared memory.
    pub(super) fn shared(&self) -> u32 {
        (self.tile_columns() * VECTORS * VECTOR) as u32
    }

    /// Returns the bytes of a row in the destination.
    pub(super) fn row_bytes(&self) -> u64 {
        self.rows.extent * self.element
    }

    /// Returns the tiles of the rows: a row of the destination may begin up to 15 bytes after its first vector.
    pub(super) fn tiles_down(&self) -> u64 {
        (self.row_bytes() + VECTOR - self.unit).div_ceil((VECTORS - 1) * VECTOR)
    }

    /// Returns the grid of blocks: adjacent blocks continue the writes of each other's rows, so that the vectors in which
    /// these begin and end are written at about the same time.
    pub(super) fn grid(&self) -> Option<Grid> {
        let mut grid = Grid::default();
        let across = self.columns.extent.div_ceil(self.tile_columns());
        grid.push_strips(("down".into(), self.tiles_down()), ("across".into(), across))?;
        for (i, level) in self.outer.iter().enumerate().rev() {
            grid.push(format!("o{i}"), level.extent)?;
        }
        Some(grid)
    }
}
