//! `make_layout_tile`: the layout of a tile that keeps the blocks and strides of the whole layout.
//!
//! Law: `tile_at(o, t)(c) = L(o + c)` for every c below the valid extents. An axis of modes (s0,…,sk) becomes
//! (s0,…,s(k−1), ⌈t/(s0⋯s(k−1))⌉), an axis of one mode becomes t. The valid extent is min(t, size of the axis − o).
//!
//! Defined if o is a multiple of the block s0⋯s(k−1) along each axis. Elsewhere "offset plus layout" would address
//! another element; [`Tile`](crate::Tile) keeps the origin instead.
//!
//! Source: CATLASS `include/tla/layout.hpp` (`MakeLayoutTile`, `GetTileLayout`), extended here to any rank.

use core::fmt;

use crate::{Coord, Error, Layout, MAX_MODES, Mode, macros::tri};

/// The layout of a tile, and the extents of the part that is inside the whole layout.
///
/// ```
/// use tilewright_core::Layout;
/// let whole = Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap();
/// let tile = whole.tile(&[2, 3]).unwrap();
/// assert_eq!(tile.to_string(), "((4,1),(4,1)):((4,16),(1,32)) valid (2,3)");
/// assert_eq!(whole.tile(&[4, 4]).unwrap().to_string(), "((4,1),(4,1)):((4,16),(1,32))");
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutTile {
    layout: Layout,
    valid: Coord,
}

impl LayoutTile {
    /// Returns the layout of the tile, with the blocks and strides of the whole layout.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// // A tile of one 4×4 block of the TLA document's 8×12 keeps the block's strides.
    /// let whole = Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap();
    /// let tile = whole.tile_at(&[4, 8], &[4, 4]).unwrap();
    /// assert_eq!(tile.layout().to_string(), "((4,1),(4,1)):((4,16),(1,32))+80");
    /// ```
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the number of coordinates along each axis that are inside both the tile and the whole layout.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let whole = Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap();
    /// // Rows 4 to 7 exist; 8 and 9 do not.
    /// let tile = whole.tile_at(&[4, 0], &[6, 4]).unwrap();
    /// assert_eq!(tile.valid().as_slice(), [4, 4]);
    /// ```
    #[doc(alias = "originShape")]
    pub const fn valid(&self) -> &Coord {
        &self.valid
    }
}

impl fmt::Display for LayoutTile {
    /// Writes the layout, and `valid (…)` unless all of it is valid.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let valid = self.valid.as_slice();
        fmt::Display::fmt(&self.layout, f)?;
        if valid.iter().enumerate().all(|(axis, &x)| self.layout.axis_size(axis) == Some(x)) {
            return Ok(());
        }
        write!(f, " valid {}", self.valid)
    }
}

impl Layout {
    /// Returns the tile of `shape` coordinates at the origin, one integer per axis.
    ///
    /// # Errors
    /// Those of [`Layout::tile_at`].
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let zn = Layout::parse("((16,7),(16,7)):((16,256),(1,1792))").unwrap();
    /// // A 32×48 tile of an Ascend zN matrix: two blocks by three.
    /// let tile = zn.tile(&[32, 48]).unwrap();
    /// assert_eq!(tile.layout().to_string(), "((16,2),(16,3)):((16,256),(1,1792))");
    /// assert!(zn.tile(&[32]).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "make_layout_tile")]
    #[doc(alias = "MakeLayoutTile")]
    #[doc(alias = "GetTileLayout")]
    pub const fn tile(&self, shape: &[u64]) -> Result<LayoutTile, Error> {
        self.tile_at(Coord::origin(self.rank()).as_slice(), shape)
    }

    /// Returns the tile of `shape` coordinates that begins at `origin`; both have one integer per axis.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the ranks differ; [illegal](Error::is_illegal) for a tile of extent 0;
    /// [out of range](Error::is_out_of_range) if the origin is outside the layout; [unsupported](Error::is_unsupported) if the
    /// origin is not on whole blocks.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// // TLA's zN of 4-byte elements.
    /// let zn = Layout::parse("((16,7),(8,13)):((8,128),(1,896))").unwrap();
    /// let tile = zn.tile_at(&[16, 8], &[32, 16]).unwrap();
    /// assert_eq!(tile.to_string(), "((16,2),(8,2)):((8,128),(1,896))+1024");
    /// let error = zn.tile_at(&[6, 10], &[32, 16]).unwrap_err();
    /// assert!(error.is_unsupported() && error.to_string().contains("blocks of 16"));
    /// ```
    pub const fn tile_at(&self, origin: &[u64], shape: &[u64]) -> Result<LayoutTile, Error> {
        let rank = self.rank();
        if origin.len() != rank || shape.len() != rank {
            return Err(Error::mismatch(
                "an origin of {} and a tile of {} integers for {} axes",
                [origin.len() as i128, shape.len() as i128, rank as i128],
                "give one per axis",
            ));
        }
        let (mut modes, mut i) = ([Mode::new(1, 0); MAX_MODES], 0);
        while i < self.modes().len() {
            modes[i] = self.modes()[i];
            i += 1;
        }
        let (mut valid, mut offset, mut axis) = (Coord::EMPTY, self.offset(), 0);
        while let Some((from, to)) = self.profile().axis(axis) {
            let (block, left) = tri!(cut(self, axis, (from, to), origin[axis], shape[axis]));
            // Inside the domain, I2 bounds the sum.
            offset += (origin[axis] / block) as i64 * modes[to - 1].stride();
            modes[to - 1] = Mode::new(shape[axis].div_ceil(block), modes[to - 1].stride());
            valid.push(if shape[axis] < left { shape[axis] } else { left });
            axis += 1;
        }
        let modes = modes.split_at(self.modes().len()).0;
        let layout = tri!(Layout::new(modes, self.profile(), offset, self.swizzle()));
        Ok(LayoutTile { layout, valid })
    }
}

/// Returns the block that an axis repeats (all of its modes but the last), and the extent of the axis from the
/// tile's origin on.
const fn cut(
    layout: &Layout,
    axis: usize,
    (from, to): (usize, usize),
    origin: u64,
    shape: u64,
) -> Result<(u64, u64), Error> {
    let (mut block, mut i) = (1, from);
    while i + 1 < to {
        block *= layout.modes()[i].extent();
        i += 1;
    }
    let size = block * layout.modes()[to - 1].extent();
    if shape == 0 {
        return Err(Error::illegal(
            "a tile of extent {} along axis {}",
            [0, axis as i128],
            "tiles have one coordinate or more",
        ));
    }
    if origin >= size {
        return Err(Error::out_of_range(
            "a tile from {} on along axis {}, which has {}",
            [origin as i128, axis as i128, size as i128],
            "a tile begins inside the layout",
        ));
    }
    if !origin.is_multiple_of(block) {
        return Err(Error::unsupported(
            "a tile from {} on along axis {}, which repeats blocks of {}",
            [origin as i128, axis as i128, block as i128],
            "begin at a multiple of the block, or take a `Tile`, which keeps its origin",
        ));
    }
    Ok((block, size - origin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::for_each_layout;

    #[test]
    fn every_tile_of_every_small_layout() {
        let mut tiles = 0;
        for_each_layout(3, 1..=3, 0..=5, |flat| {
            if flat.rank() < 3 {
                return;
            }
            let layout = Layout::nested(flat.modes(), &[2, 1]).unwrap();
            let (rows, columns) = (layout.axis_size(0).unwrap(), layout.axis_size(1).unwrap());
            let block = layout.modes()[0].extent();
            for origin in (0..=rows).flat_map(|x| [0, columns - 1].map(|y| [x, y])) {
                for shape in [[1, 1], [2, 3], [4, 1], [5, 2]] {
                    let Ok(tile) = layout.tile_at(&origin, &shape) else {
                        assert!(origin[0] == rows || origin[0] % block != 0);
                        continue;
                    };
                    tiles += 1;
                    let valid = tile.valid().as_slice();
                    assert_eq!(
                        valid,
                        [shape[0].min(rows - origin[0]), shape[1].min(columns - origin[1])]
                    );
                    for x in 0..valid[0] {
                        for y in 0..valid[1] {
                            let whole = layout.offset_at(&[origin[0] + x, origin[1] + y]);
                            assert_eq!(tile.layout().offset_at(&[x, y]), whole, "{layout} {tile}");
                        }
                    }
                }
            }
        });
        assert!(tiles > 90_000, "{tiles}");
    }

    #[test]
    fn what_is_no_tile() {
        let layout = Layout::parse("(8,12):(12,1)").unwrap();
        assert!(layout.tile(&[2]).unwrap_err().is_mismatch());
        assert!(layout.tile(&[2, 0]).unwrap_err().is_illegal());
        assert!(layout.tile_at(&[8, 0], &[1, 1]).unwrap_err().is_out_of_range());
        assert!(layout.tile(&[u64::MAX, 1]).unwrap_err().is_overflow());
        assert!(Layout::parse("(0,4)").unwrap().tile(&[1, 1]).unwrap_err().is_out_of_range());
    }
}
