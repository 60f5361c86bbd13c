//! Small tiles that are contiguous in the destination, moved as a whole: each written register takes its bytes from each
//! read register, by a table.

use super::{
    super::{enter::Work, interleave, vector::Vector},
    TileLoop,
};

/// Tiles of `N` registers.
pub(super) struct Wholes<'a, const N: usize>(pub(super) TileLoop<'a>);

impl<const N: usize> Work for Wholes<'_, N> {
    /// The requirements are those of `TileLoop`; tiles are contiguous in the destination, and `N` registers hold what they
    /// span on each side. The last ones may overlap those before.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Wholes(tiles) = self;
        let (rows, columns) = tiles.tiled.size();
        let width = tiles.tiled.width();
        let last_out = rows * columns * width - V::BYTES;
        let read = tiles.tiled.rows.furthest() + tiles.tiled.columns.span(width);
        let last = read - V::BYTES;
        let tables = interleave::sized::<N>(&tiles.tiled.tables);
        for i in 0..tiles.along.extent as isize {
            let Some((from, to)) = tiles.whole(i) else { continue };
            if tiles.ahead != 0 {
                for k in 0..N {
                    V::prefetch(from.wrapping_offset(tiles.ahead).wrapping_add(k * V::BYTES));
                }
            }
            // SAFETY: `# Safety` of `Work::with`: the requirements of `Wholes` hold, and a tile is no shorter than a
            // register on either side, as `unit::whole` makes sure. `last` and `last_out` are where the last registers
            // that end within the tile begin, and none begins after them. The gaps between rows are readable, because
            // rows before and after them are in the same slice.
            unsafe {
                let mut held = [V::load(from); N];
                for (k, register) in held.iter_mut().enumerate().skip(1) {
                    *register = V::load(from.add((k * V::BYTES).min(last)));
                }
                let made = interleave::spread(held, tables);
                for (k, register) in made.into_iter().enumerate() {
                    register.store(to.add((k * V::BYTES).min(last_out)));
                }
            }
        }
    }
}
