//! Small panels that are contiguous on both sides, moved as a whole: each written register takes its bytes from each
//! read register, by a table.

use super::{
    super::{enter::Work, interleave, vector::Vector},
    Panels,
};

/// Panels of `N` registers.
pub(super) struct Wholes<'a, const N: usize>(pub(super) Panels<'a>);

impl<const N: usize> Work for Wholes<'_, N> {
    /// The requirements are those of `Panels`; panels are contiguous on both sides, in `N` registers, the last of which
    /// may overlap the one before.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Wholes(panels) = self;
        let (rows, columns) = panels.panel.size();
        let last = rows * columns * panels.panel.width() - V::BYTES;
        let tables = interleave::sized::<N>(&panels.panel.tables);
        for i in 0..panels.along.extent as isize {
            let Some((from, to)) = panels.whole(i) else { continue };
            if panels.ahead != 0 {
                for k in 0..N {
                    V::prefetch(from.wrapping_offset(panels.ahead).wrapping_add(k * V::BYTES));
                }
            }
            // SAFETY: `# Safety` of `Work::with`: the requirements of `Wholes` hold, and a panel is no shorter than a
            // register, as `unit::whole` makes sure. `last` is where the last register that ends within the panel
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
