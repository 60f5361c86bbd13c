//! One `T(…)` group: the tile that cuts the most minor dims; and lists with commas, as tiles and paths are printed.

use std::fmt;

use tilewright_core::Error;

/// One entry of a [`Tile`].
///
/// ```
/// use tilewright_xla::{Layout, Tile, TileDim};
/// let tile = Tile::new(&[TileDim::Size(2), TileDim::Combine, TileDim::Size(4)]).unwrap();
/// assert_eq!(tile.to_string(), "(2,*,4)");
/// // The two dims of 3 and 5 are merged to one of 15, which is cut into pieces of 4.
/// let layout = Layout::descending(3).with_tiles(&[tile]);
/// assert_eq!(layout.padded_elements(&[2, 3, 5]), Ok(2 * 16));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileDim {
    /// Cuts into pieces of this extent, 1 or more.
    Size(u64),
    /// `*`: merges into the next more minor dim before that one is cut.
    Combine,
}

/// The extents of a tile, major to minor. They apply to the most minor of the dims that the earlier tiles left; a
/// missing dim counts as 1.
///
/// Source: XLA's `xla/layout.h`; for the meaning of tiles, `docs/tiled_layout.md`.
///
/// ```
/// use tilewright_xla::{Tile, TileDim};
/// let tile = Tile::new(&[TileDim::Size(2), TileDim::Combine, TileDim::Size(128)]).unwrap();
/// assert_eq!(tile.to_string(), "(2,*,128)");
/// assert_eq!(Tile::sizes(&[8, 128]).unwrap().to_string(), "(8,128)");
/// assert!(Tile::sizes(&[8, 0]).unwrap_err().is_illegal());
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    dims: Vec<TileDim>,
}

impl Tile {
    /// Creates the tile with these entries, major to minor.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) for a tile without entries, for an extent that is not between 1 and 2⁶³ − 1, and for
    /// `*` as the last entry.
    ///
    /// ```
    /// use tilewright_xla::{Tile, TileDim};
    /// let tile = Tile::new(&[TileDim::Size(8), TileDim::Size(128)]).unwrap();
    /// assert_eq!(tile, Tile::sizes(&[8, 128]).unwrap());
    /// assert!(Tile::new(&[]).unwrap_err().is_illegal());
    /// // Nothing is more minor than the last dim: it cannot be merged.
    /// assert!(Tile::new(&[TileDim::Size(8), TileDim::Combine]).unwrap_err().is_illegal());
    /// ```
    pub fn new(dims: &[TileDim]) -> Result<Tile, Error> {
        Tile::of(dims.to_vec())
    }

    pub(crate) fn of(dims: Vec<TileDim>) -> Result<Tile, Error> {
        for (at, &dim) in dims.iter().enumerate() {
            check_dim(at, dim)?;
        }
        match dims.last() {
            None => Err(Error::illegal("a tile has no dims", [], "give at least one extent")),
            Some(TileDim::Combine) => Err(Error::illegal(
                "`*` is the last of the {} dims of a tile",
                [dims.len() as i128],
                "`*` merges a dim into the next more minor one; end the tile with an extent",
            )),
            Some(TileDim::Size(_)) => Ok(Tile { dims }),
        }
    }

    /// Creates the tile with these extents, major to minor, without `*`.
    ///
    /// # Errors
    /// Those of [`Tile::new`].
    ///
    /// ```
    /// use tilewright_xla::Tile;
    /// assert_eq!(Tile::sizes(&[8, 128]).unwrap().to_string(), "(8,128)");
    /// assert!(Tile::sizes(&[8, 0]).unwrap_err().is_illegal());
    /// ```
    pub fn sizes(sizes: &[u64]) -> Result<Tile, Error> {
        Tile::new(&sizes.iter().map(|&size| TileDim::Size(size)).collect::<Vec<_>>())
    }

    /// Returns the entries, major to minor; the list is never empty, and its last entry is an extent.
    ///
    /// ```
    /// use tilewright_xla::{Layout, TileDim};
    /// let layout = Layout::parse("{2,1,0:T(8,*,128)}").unwrap();
    /// assert_eq!(layout.tiles()[0].dims(), [TileDim::Size(8), TileDim::Combine, TileDim::Size(128)]);
    /// ```
    pub fn dims(&self) -> &[TileDim] {
        &self.dims
    }
}

pub(crate) fn check_dim(at: usize, dim: TileDim) -> Result<(), Error> {
    match dim {
        TileDim::Size(size) if size == 0 || size > i64::MAX as u64 => Err(Error::illegal(
            "extent {} of dim {} of a tile",
            [size.into(), at as i128],
            "an extent is 1 to 2^63 - 1",
        )),
        TileDim::Size(_) | TileDim::Combine => Ok(()),
    }
}

impl fmt::Display for TileDim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TileDim::Size(size) => write!(f, "{size}"),
            TileDim::Combine => f.write_str("*"),
        }
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        write_list(f, &self.dims)?;
        f.write_str(")")
    }
}

/// Writes items with commas between them.
pub(crate) fn write_list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(",")?;
        }
        item.fmt(f)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_without_meaning_is_refused() {
        assert!(Tile::new(&[]).unwrap_err().is_illegal());
        assert!(Tile::sizes(&[u64::MAX]).unwrap_err().is_illegal());
        let error = Tile::new(&[TileDim::Size(2), TileDim::Combine]).unwrap_err();
        assert!(error.is_illegal() && error.to_string().contains("last of the 2 dims"));
        assert!(Tile::sizes(&[i64::MAX as u64]).is_ok());
    }
}
