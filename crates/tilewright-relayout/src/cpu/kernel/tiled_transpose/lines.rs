//! Tiles in units of long rows. Each register is loaded from one row. Exchanges within its lanes of 16 bytes leave some rows of one
//! column in each lane. So a line of the source is read once, at any distance between rows.
//!
//! The rows of a unit equal the runs of a lane, and its columns the runs of a register. The last units of rows or columns begin
//! earlier and move some elements twice.

use super::{
    super::{
        enter::Work,
        exchange::{exact, exchange, load},
        vector::Vector,
    },
    TileLoop,
};

/// The bytes of a lane.
pub(super) const LANE: usize = 16;

/// Tiles in units of `N` rows.
pub(super) struct Lines<'a, const N: usize>(pub(super) TileLoop<'a>);

impl<const N: usize> Work for Lines<'_, N> {
    /// The requirements are those of `TileLoop`; a lane has `N` runs, and a tile at least `N` rows and the columns of a register.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Lines(tiles) = self;
        for i in 0..tiles.along.extent as isize {
            let Some((from, to)) = tiles.whole(i) else { continue };
            // SAFETY: `# Safety` of `Work::with`: the requirements of `Lines` hold.
            unsafe { tiles.lines::<V, N>(from, to) };
        }
    }
}

impl TileLoop<'_> {
    /// Moves one tile: all rows of one register of columns, then the next columns.
    ///
    /// # Safety
    /// Those of [`Lines`], for the tile at these places.
    #[inline(always)]
    unsafe fn lines<V: Vector, const N: usize>(&self, from: *const u8, to: *mut u8) {
        let (rows, columns) = (&self.tiled.rows.table[..], &self.tiled.columns.table[..]);
        let (width, wide) = (LANE / N, N * (V::BYTES / LANE));
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
                // SAFETY: `# Safety` of `lines`: a register at each row is readable and a lane at each column writable, since
                // the columns are those of a register. The levels of a transpose of lanes are below those of a register.
                unsafe {
                    let mut held = load::<V, N>(from, &starts);
                    match V::BYTES / LANE {
                        1 => exchange::<V, true, N, 1>(&mut held, &[[0; 2]; 4]),
                        2 => exchange::<V, true, N, 2>(&mut held, &[[0; 2]; 4]),
                        _ => exchange::<V, true, N, 4>(&mut held, &[[0; 2]; 4]),
                    }
                    let to = to.wrapping_add(r * width);
                    for i in 0..N {
                        let mut lanes = [to; 4];
                        for k in 0..V::BYTES / LANE {
                            lanes[k] = to.wrapping_offset(columns[k * N + i] as isize);
                        }
                        held[i].store_lanes(lanes);
                    }
                }
            }
        }
    }
}
