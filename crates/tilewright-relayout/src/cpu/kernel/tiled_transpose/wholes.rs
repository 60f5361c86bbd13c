//! Small tiles that are contiguous on both sides, moved as a whole: each written register takes its bytes from each
//! read register, by a table.

use super::{
    super::{enter::Work, interleave, vector::Vector},
    TileLoop,
};

/// Tiles of `N` registers.
pub(super) struct Wholes<'a, const N: usize>(pub(super) TileLoop<'a>);

impl<const N: usize> Work for Wholes<'_, N> {
    /// The requirements are those of `TileLoop`; tiles are contiguous on both sides, in `N` registers, the last of
    /// which may overlap the one before.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Wholes(tiles) = self;
        let (rows, columns) = tiles.tiled.size();
        let last = rows * columns * tiles.tiled.width() - V::BYTES;
        let tables = interleave::sized::<N>(&tiles.tiled.tables);
        for i in 0..tiles.along.extent as isize {
            let Some((from, to)) = tiles.whole(i) else { continue };
            if tiles.ahead != 0 {
                for k in 0..N {
                    V::prefetch(from.wrapping_offset(tiles.ahead).wrapping_add(k * V::BYTES));
                }
            }
            // SAFETY: `# Safety` of `Work::with`: the requirements of `Wholes` hold, and a tile is no shorter than a
            // register, as `unit::whole` makes sure. `last` is where the last register that ends within the tile
            // begins, and none begins after it.
            unsafe {
                let mut held = [V::load(from); N];
                for (k, register) in held.iter_mut().enumerate().skip(1) {
                    *register = V::load(from.add((k * V::BYTES).min(last)));
                }
                let made = interleave::spread(held, tables);
                for (k, register) in made.into_iter().enumerate() {
                    register.store(to.add((k * V::BYTES).min(last)));
                }
            }
        }
    }
}
