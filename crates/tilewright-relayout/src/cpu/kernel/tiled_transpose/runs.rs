//! Tiles run by run: a load and a store for each run. The store may extend beyond the run's end if the next row of the
//! column is written after it.

use super::{
    super::{enter::Work, vector::Vector},
    TileLoop,
};
use crate::cpu::cost;

/// The number of rows that are read at a time: their lines stay in the first-level cache.
const TOGETHER: usize = 256;

/// Tiles in single runs, copied by arrays of `N` bytes, at least the length of a run.
pub(super) struct Runs<'a, const N: usize>(pub(super) TileLoop<'a>);

impl<const N: usize> Work for Runs<'_, N> {
    /// The requirements are those of `TileLoop`; runs have `N` bytes, or rows are contiguous and runs have more than
    /// half of `N`.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Runs(tiles) = self;
        for i in 0..tiles.along.extent as isize {
            let Some((from, to)) = tiles.whole(i) else { continue };
            // SAFETY: `# Safety` of `Work::with`: the requirements of `Runs` hold, and `TileLoop::whole` found that the
            // units of tile `i` are within the source.
            unsafe { tiles.runs::<V, N>(from, to) }
        }
    }
}

impl TileLoop<'_> {
    /// Moves one tile, some rows of all columns at a time.
    ///
    /// # Safety
    /// Those of [`Runs`], for the tile at these places.
    #[inline(always)]
    unsafe fn runs<V: Vector, const N: usize>(&self, from: *const u8, to: *mut u8) {
        let (rows, columns) = (&self.tiled.rows, &self.tiled.columns);
        // The last row of a column is written exactly; the bytes beyond any other row belong to the next one.
        let Some((last, before)) = rows.table.split_last() else { return };
        for (group, table) in before.chunks(TOGETHER).enumerate() {
            let to = to.wrapping_add(group * TOGETHER * rows.step);
            for (c, column) in columns.table.iter().enumerate() {
                let from = from.wrapping_add(c * columns.step);
                let to = to.wrapping_offset(*column as isize);
                let new_line = c * columns.step % (cost::LINE as usize) < columns.step;
                let prefetches = self.ahead != 0 && new_line;
                for (r, row) in table.iter().enumerate() {
                    let from = from.wrapping_offset(*row as isize).cast::<[u8; N]>();
                    if prefetches {
                        V::prefetch(from.cast::<u8>().wrapping_offset(self.ahead));
                    }
                    let to = to.wrapping_add(r * rows.step).cast::<[u8; N]>();
                    // SAFETY: `# Safety` of `runs`: `N` bytes are readable at each run. What is written beyond a run is
                    // less than another run, and is in the next row of the column: `Unit::of` takes an `N` above the
                    // run only if rows are contiguous, and the last row is not among these.
                    unsafe { to.write_unaligned(from.read_unaligned()) };
                }
            }
        }
        let to = to.wrapping_add(before.len() * rows.step);
        for (c, column) in columns.table.iter().enumerate() {
            let from = from.wrapping_offset(*last as isize).wrapping_add(c * columns.step);
            let to = to.wrapping_offset(*column as isize);
            // SAFETY: `# Safety` of `runs`: every run of the tile is readable and writable. Exactly its
            // bytes are copied.
            unsafe { core::ptr::copy_nonoverlapping(from, to, self.tiled.width()) };
        }
    }
}
