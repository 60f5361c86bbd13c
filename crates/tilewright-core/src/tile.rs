//! A part of a larger array, with where it begins.

use crate::{Coord, Error, Layout, macros::tri};

/// A tile of an array: the tile's own layout, the coordinate it begins at, and how much of it lies
/// inside the array.
///
/// A nested layout is not translation-invariant, so a tile that does not begin on whole blocks is not
/// "pointer plus layout": it keeps its origin and asks the array's layout. The valid extents are
/// smaller than the tile at the array's edge.
///
/// ```
/// use tilewright_core::{Layout, Tile};
/// // TLA's zN of 4-byte elements, 104×104 padded, and a tile at (6,10): not on whole blocks.
/// let zn = Layout::parse("((16,7),(8,13)):((8,128),(1,896))").unwrap();
/// let tile = Tile::new(&zn, &[100, 100], &[6, 10], &[32, 32]).unwrap();
/// assert_eq!(tile.offset(&[10, 6]), Ok(1920));
/// assert_eq!(tile.valid().as_slice(), [32, 32]);
/// assert!(tile.offset(&[32, 0]).unwrap_err().is_out_of_range());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    layout: Layout,
    origin: Coord,
    valid: Coord,
}

impl Tile {
    /// The tile of `shape` coordinates at `origin` of an array with these `extents` and this layout.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the ranks differ or the extents exceed the layout's axes.
    ///
    /// ```
    /// use tilewright_core::{Layout, Tile};
    /// let rows = Layout::parse("(4,6):(6,1)").unwrap();
    /// let tile = Tile::new(&rows, &[4, 6], &[2, 4], &[2, 4]).unwrap();
    /// assert_eq!((tile.offset(&[1, 1]), tile.valid().as_slice()), (Ok(23), &[2, 2][..]));
    /// assert!(Tile::new(&rows, &[5, 6], &[0, 0], &[2, 2]).unwrap_err().is_mismatch());
    /// ```
    pub const fn new(
        layout: &Layout,
        extents: &[u64],
        origin: &[u64],
        shape: &[u64],
    ) -> Result<Tile, Error> {
        let rank = layout.rank();
        if extents.len() != rank || origin.len() != rank || shape.len() != rank {
            return Err(Error::mismatch(
                "extents, origin and shape of {}, {} and {} integers for {} axes",
                [extents.len() as i128, origin.len() as i128, shape.len() as i128, rank as i128],
                "give one per axis",
            ));
        }
        let (mut valid, mut axis) = (Coord::EMPTY, 0);
        while axis < rank {
            let size = match layout.axis_size(axis) {
                Some(size) => size,
                None => 0,
            };
            if extents[axis] > size {
                return Err(Error::mismatch(
                    "axis {} has extent {}, the layout {}",
                    [axis as i128, extents[axis] as i128, size as i128],
                    "an axis covers its extent",
                ));
            }
            let left = extents[axis].saturating_sub(origin[axis]);
            valid.push(if shape[axis] < left { shape[axis] } else { left });
            axis += 1;
        }
        let origin = tri!(Coord::new(origin));
        Ok(Tile { layout: layout.copied(), origin, valid })
    }

    /// The layout of the array the tile is a part of.
    ///
    /// ```
    /// use tilewright_core::{Layout, Tile};
    /// let rows = Layout::parse("(4,6):(6,1)").unwrap();
    /// // Not the tile's own: offsets are those of the array.
    /// assert_eq!(Tile::new(&rows, &[4, 6], &[2, 2], &[2, 2]).unwrap().layout(), &rows);
    /// ```
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The coordinate of the tile's first element in the array.
    ///
    /// ```
    /// use tilewright_core::{Layout, Tile};
    /// let rows = Layout::parse("(4,6):(6,1)").unwrap();
    /// let tile = Tile::new(&rows, &[4, 6], &[2, 3], &[2, 2]).unwrap();
    /// assert_eq!(tile.origin().as_slice(), [2, 3]);
    /// assert_eq!(tile.offset(&[0, 0]), rows.offset_at(tile.origin().as_slice()));
    /// ```
    pub const fn origin(&self) -> &Coord {
        &self.origin
    }

    /// How many coordinates of each axis of the tile lie inside the array.
    ///
    /// ```
    /// use tilewright_core::{Layout, Tile};
    /// let rows = Layout::parse("(4,6):(6,1)").unwrap();
    /// let valid = |origin| Tile::new(&rows, &[4, 6], origin, &[4, 4]).unwrap().valid().to_string();
    /// // In the corner, over the right edge, beyond it.
    /// assert_eq!([valid(&[0, 0]), valid(&[0, 4]), valid(&[0, 8])], ["(4,4)", "(4,2)", "(4,0)"]);
    /// ```
    pub const fn valid(&self) -> &Coord {
        &self.valid
    }

    /// The offset of a coordinate of the tile, in elements of the array.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another rank, [out of range](Error::is_out_of_range) for a
    /// coordinate outside the valid extents.
    ///
    /// ```
    /// use tilewright_core::{Layout, Tile};
    /// let zn = Layout::parse("((4,2),(4,3)):((4,16),(1,32))").unwrap();
    /// // A tile that begins inside a block crosses into the next.
    /// let tile = Tile::new(&zn, &[8, 12], &[2, 2], &[4, 4]).unwrap();
    /// assert_eq!((tile.offset(&[0, 1]), tile.offset(&[0, 2])), (Ok(11), Ok(40)));
    /// assert!(tile.offset(&[4, 0]).unwrap_err().is_out_of_range());
    /// assert!(tile.offset(&[0]).unwrap_err().is_mismatch());
    /// ```
    pub const fn offset(&self, coord: &[u64]) -> Result<i64, Error> {
        let valid = self.valid.as_slice();
        if coord.len() != valid.len() {
            return Err(Error::mismatch(
                "{} integers for a tile of {} axes",
                [coord.len() as i128, valid.len() as i128],
                "give one per axis",
            ));
        }
        let (mut whole, mut axis) = (self.origin.copied(), 0);
        while axis < coord.len() {
            if coord[axis] >= valid[axis] {
                return Err(Error::out_of_range(
                    "coordinate {} of axis {} of a tile, which has {} inside the array",
                    [coord[axis] as i128, axis as i128, valid[axis] as i128],
                    "",
                ));
            }
            whole.as_mut_slice()[axis] += coord[axis];
            axis += 1;
        }
        self.layout.offset_at(whole.as_slice())
    }
}
