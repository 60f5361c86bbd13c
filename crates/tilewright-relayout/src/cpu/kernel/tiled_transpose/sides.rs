//! The two sides of a tile, its rows and its columns: the loops of a region that form them, and the start of each row
//! and column.

use crate::{
    cpu::shape::even,
    program::region::{Loop, RegionRef},
};

/// The maximal number of rows or columns of a tile: tables stay in the first-level cache.
const MOST: u64 = 2048;

/// The rows, which are consecutive in the destination, or the columns, which are consecutive in the source.
#[derive(Clone, Debug)]
pub(super) struct PanelSide {
    /// The bytes from one to the next, on the side where they are consecutive.
    pub(super) step: usize,
    /// The start of each on the other side, in bytes from the first.
    pub(super) table: Vec<i64>,
}

impl PanelSide {
    /// Returns their number.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns the highest start on the other side, at least that of the first.
    pub(super) fn furthest(&self) -> usize {
        self.table.iter().max().map_or(0, |at| *at as usize)
    }

    /// Returns the bytes that runs of `run` bytes span on their side.
    pub(super) fn span(&self, run: usize) -> usize {
        (self.len() - 1) * self.step + run
    }

    /// Returns whether none begins before the first on the other side.
    pub(super) fn begin_first(&self) -> bool {
        self.table.iter().all(|at| *at >= 0)
    }

    /// Returns whether these begin `by` bytes apart on the other side, in any order, from 0 on.
    pub(super) fn are_apart(&self, by: usize) -> bool {
        let mut table = self.table.clone();
        table.sort_unstable();
        table.iter().enumerate().all(|(i, at)| *at == (i * by) as i64)
    }

    /// Adds some iterations of a loop with this stride on the other side.
    fn grow(&mut self, iterations: u64, stride: i64) -> Option<()> {
        let len = self.len();
        for i in len..len * iterations as usize {
            self.table.push(self.table[i - len].checked_add(stride)?);
        }
        Some(())
    }
}

/// A loop of the rows or columns, and its extent in a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inside {
    pub(super) level: Loop,
    pub(super) taken: u64,
}

/// A side while its loops are found.
struct Growing {
    side: PanelSide,
    /// True if it takes all iterations of its loops.
    is_whole: bool,
    /// The strides of a loop on its side and on the other.
    own: fn(&Loop) -> i64,
    other: fn(&Loop) -> i64,
}

impl Growing {
    fn new(run: u64, own: fn(&Loop) -> i64, other: fn(&Loop) -> i64) -> Growing {
        Growing {
            side: PanelSide { step: run as usize, table: vec![0] },
            is_whole: true,
            own,
            other,
        }
    }

    /// Adds the loop that continues the others, or the first one, and marks it. Returns whether there is one.
    fn grow(&mut self, loops: &[Loop], inside: &mut [Option<Inside>]) -> bool {
        let free = |i: &usize| inside[*i].is_none();
        let Some(end) = self.side.len().checked_mul(self.side.step) else { return false };
        let next = |i: &usize| free(i) && (self.own)(&loops[*i]) == end as i64;
        let nearest = || {
            let apart = |i: &usize| free(i) && (self.own)(&loops[*i]) > end as i64;
            (0..loops.len()).filter(apart).min_by_key(|i| (self.own)(&loops[*i]))
        };
        let first = self.side.len() == 1;
        let found = (0..loops.len()).find(next).or_else(|| if first { nearest() } else { None });
        let Some(i) = found else { return false };
        let (level, room) = (loops[i], MOST / self.side.len() as u64);
        // The loop is cut into parts of even size if the table has no room for all iterations; nothing continues it
        // then.
        let taken = even(level.extent, room);
        if self.is_whole && taken > 1 && self.side.grow(taken, (self.other)(&level)).is_some() {
            if first {
                self.side.step = (self.own)(&level) as usize;
            }
            self.is_whole = taken == level.extent;
            inside[i] = Some(Inside { level, taken });
            return true;
        }
        false
    }
}

/// The loops of a region that are rows or columns, by their position in it.
pub(super) type Insides = Box<[Option<Inside>]>;

/// Returns the rows and columns of a region, and the loops that form them; `None` if there is only one row or one
/// column.
pub(super) fn sides(region: &RegionRef<'_>) -> Option<(PanelSide, PanelSide, Insides)> {
    let mut inside = vec![None; region.loops.len()];
    let mut rows = Growing::new(region.run, |level| level.dst, |level| level.src);
    let mut columns = Growing::new(region.run, |level| level.src, |level| level.dst);
    loop {
        // The shorter side grows first, so that both become long.
        let (short, long) = if rows.side.len() <= columns.side.len() {
            (&mut rows, &mut columns)
        } else {
            (&mut columns, &mut rows)
        };
        if !short.grow(region.loops, &mut inside) && !long.grow(region.loops, &mut inside) {
            break;
        }
    }
    let several = rows.side.len() > 1 && columns.side.len() > 1;
    several.then(|| (rows.side, columns.side, inside.into_boxed_slice()))
}
