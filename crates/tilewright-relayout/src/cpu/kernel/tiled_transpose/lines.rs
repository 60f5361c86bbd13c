//! Tiles in units of long rows. Each register is loaded from one row. Exchanges within its lanes of 16 bytes leave some rows of one
//! column in each lane. So a line of the source is read once, at any distance between rows.
//!
//! The rows of a unit equal the runs of a lane, and its columns the runs of a register. Runs of 3 to 7 bytes get the room of 4 or 8
//! bytes in registers; what a lane has beyond its runs is written where the next rows follow. The last units of rows or columns begin
//! earlier and move some elements twice. Columns need not be adjacent: what lies between them, or after the last one, is loaded
//! and dropped.

#![allow(clippy::needless_range_loop)]

use super::{
    super::{
        enter::Work,
        exchange::{exact, exchange, load},
        vector::Vector,
    },
    TileLoop,
    sides::ABSENT,
};

/// The bytes of a lane.
pub(super) const LANE: usize = 16;

/// Tiles in units of `N` rows.
pub(super) struct Lines<'a, const N: usize>(pub(super) TileLoop<'a>);

impl<const N: usize> Work for Lines<'_, N> {
    /// The requirements are those of `TileLoop`; a lane has `N` runs, or `N` runs of the next power of two; a tile has at least `N`
    /// rows, and `slots` at least the runs of a register.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Lines(tiles) = self;
        for i in 0..tiles.along.extent as isize {
            let Some((from, to)) = tiles.whole(i) else { continue };
            // SAFETY: `# Safety` of `Work::with`: the requirements of `Lines` hold.
            unsafe {
                match (tiles.tiled.full, tiles.tiled.tables.is_empty()) {
                    (true, true) => tiles.lines::<V, N, true, false>(from, to),
                    (false, true) => tiles.lines::<V, N, false, false>(from, to),
                    // Only runs of 3 to 7 bytes are widened.
                    _ if N <= 4 => tiles.lines::<V, N, false, true>(from, to),
                    _ => tiles.exactly(from, to),
                }
            }
        }
    }
}

impl TileLoop<'_> {
    /// Moves one tile: all rows of one register of columns, then the next columns. Unless `FULL`, some runs are not of columns. If
    /// `WIDE`, runs get the room of a power of two within registers.
    ///
    /// # Safety
    /// Those of [`Lines`], for the tile at these places.
    #[inline(always)]
    unsafe fn lines<V: Vector, const N: usize, const FULL: bool, const WIDE: bool>(
        &self,
        from: *const u8,
        to: *mut u8,
    ) {
        let (rows, columns) = (&self.tiled.rows.table[..], &self.tiled.slots[..]);
        let (width, wide) =
            (if WIDE { self.tiled.width() } else { LANE / N }, N * (V::BYTES / LANE));
        // The bytes between columns.
        let mut dropped = [0; LANE];
        for c in (0..columns.len()).step_by(wide) {
            let c = c.min(columns.len() - wide);
            let (from, columns) = (from.wrapping_add(c * width), &columns[c..c + wide]);
            for r in (0..rows.len()).step_by(N) {
                let r = r.min(rows.len() - N);
                let starts: [i64; N] = *exact(&rows[r..]);
                if self.ahead != 0 {
                    for start in &starts {
                        V::prefetch(from.wrapping_offset(*start as isize + self.ahead));
                    }
                }
                // SAFETY: `# Safety` of `lines`: a register at each row is readable and a lane at each column writable;
                // what is between columns goes to `dropped`, which has a lane. The levels of a transpose of lanes are below those of
                // a register.
                unsafe {
                    let mut held = load::<V, N>(from, &starts);
                    self.arranged::<V, N, WIDE>(&mut held, 0);
                    match V::BYTES / LANE {
                        1 => exchange::<V, true, N, 1>(&mut held, &[[0; 2]; 4]),
                        2 => exchange::<V, true, N, 2>(&mut held, &[[0; 2]; 4]),
                        _ => exchange::<V, true, N, 4>(&mut held, &[[0; 2]; 4]),
                    }
                    self.arranged::<V, N, WIDE>(&mut held, 1);
                    let to = to.wrapping_add(r * width);
                    // A lane ends within its column, or only the bytes of its runs are written.
                    let is_last = WIDE && r * width + LANE > rows.len() * width;
                    for i in 0..N {
                        let mut lanes = [to; 4];
                        for k in 0..V::BYTES / LANE {
                            let column = columns[k * N + i];
                            lanes[k] = if FULL || column != ABSENT {
                                to.wrapping_offset(column as isize)
                            } else {
                                dropped.as_mut_ptr()
                            };
                        }
                        if is_last {
                            put_first(held[i], lanes, N * width);
                        } else {
                            held[i].store_lanes(lanes);
                        }
                    }
                }
            }
        }
    }

    /// Rearranges registers by one of the tables of `widened`, if there are any.
    ///
    /// # Safety
    /// The machine has the instruction set of `V`.
    #[inline(always)]
    unsafe fn arranged<V: Vector, const N: usize, const WIDE: bool>(
        &self,
        held: &mut [V; N],
        table: usize,
    ) {
        if WIDE {
            let table = self.tiled.tables[table].as_ptr();
            for i in 0..N {
                // SAFETY: `# Safety` of `arranged`; a table has 64 bytes, and every number in its first bytes is below their count.
                held[i] = unsafe { held[i].arrange(table) };
            }
        }
    }
}

/// Stores the first `len` bytes of each lane of a register.
///
/// # Safety
/// `len` is at most that of a lane, and so many bytes are writable for each lane; the machine has the instruction set of `V`.
#[inline(always)]
unsafe fn put_first<V: Vector>(register: V, to: [*mut u8; 4], len: usize) {
    let mut bytes = [0; 64];
    // SAFETY: the array has room for a register, at most 64 bytes. `# Safety` of `put_first`: `len` bytes are writable for each lane.
    unsafe {
        register.store(bytes.as_mut_ptr());
        for k in 0..V::BYTES / LANE {
            V::copy_short(bytes.as_ptr().add(k * LANE), to[k], len);
        }
    }
}
