//! Tiles in squares of adjacent rows and columns, from any loops.
//!
//! The last squares of rows or columns begin earlier and move some elements twice. If there are fewer columns than a
//! register has elements, registers are loaded whole and only the existing columns are written. If there are fewer
//! rows, registers are written in part.

use super::{
    super::{
        enter::Work,
        exchange::{exact, exchange, load},
        vector::Vector,
    },
    TileLoop,
};
use crate::cpu::cost;

/// Tiles in squares of `N` rows and columns.
pub(super) struct Squares<'a, const N: usize>(pub(super) TileLoop<'a>);

impl<const N: usize> Work for Squares<'_, N> {
    /// The requirements are those of `TileLoop`; registers have `N` runs.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Squares(tiles) = self;
        let (rows, columns) = tiles.tiled.size();
        // Closures are not used here: they would be functions without the instruction set.
        for i in 0..tiles.along.extent as isize {
            let Some((from, to)) = tiles.whole(i) else { continue };
            // SAFETY: `# Safety` of `Work::with`: the requirements of `Squares` hold, and `TileLoop::whole` found that
            // the units of tile `i` are within the source.
            unsafe {
                if rows < N || columns < N {
                    tiles.squares::<V, N, true>(from, to);
                } else {
                    tiles.squares::<V, N, false>(from, to);
                }
            }
        }
    }
}

impl TileLoop<'_> {
    /// Moves one tile in squares, which are `SHORT` if there are fewer rows or columns than `N`.
    ///
    /// # Safety
    /// Those of [`Squares`], for the tile at these places.
    #[inline(always)]
    unsafe fn squares<V: Vector, const N: usize, const SHORT: bool>(
        &self,
        from: *const u8,
        to: *mut u8,
    ) {
        let (rows, columns) = (&self.tiled.rows.table[..], &self.tiled.columns.table[..]);
        let width = V::BYTES / N;
        for c in (0..columns.len()).step_by(N) {
            let c = c.min(columns.len().saturating_sub(N));
            let from = from.wrapping_add(c * width);
            let prefetches = self.ahead != 0 && c * width % (cost::LINE as usize) < V::BYTES;
            for r in (0..rows.len()).step_by(N) {
                let r = r.min(rows.len().saturating_sub(N));
                let mut starts = [0; N];
                if SHORT {
                    for (i, start) in starts.iter_mut().enumerate() {
                        *start = rows[(r + i).min(rows.len() - 1)];
                    }
                } else {
                    starts = *exact(&rows[r..]);
                }
                if prefetches {
                    for start in &starts {
                        V::prefetch(from.wrapping_offset(*start as isize + self.ahead));
                    }
                }
                // SAFETY: `# Safety` of `squares`: a register at each row is readable, since `Unit::beyond` counts what
                // it reads after the columns. `N` runs of a column are writable, or all of its rows if there are fewer,
                // whose bytes are then fewer than a register's. The levels of a transpose are below those of a
                // register.
                unsafe {
                    let mut held = load::<V, N>(from, &starts);
                    exchange::<V, true, N, 1>(&mut held, &[[0; 2]; 4]);
                    let to = to.wrapping_add(r * width);
                    for (register, place) in held.into_iter().zip(&columns[c..]) {
                        let to = to.wrapping_offset(*place as isize);
                        if SHORT && rows.len() < N {
                            register.store_first(to, rows.len() * width);
                        } else {
                            register.store(to);
                        }
                    }
                }
            }
        }
    }
}
