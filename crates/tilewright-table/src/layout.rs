//! [`TabledLayout`]: an array whose storage order needs tables.

use std::fmt;

use tilewright_core::{Coord, Error, Place, TensorLayout};

use crate::Along;

/// Logical extents, the tables that define the storage order of indices, and the layout of the stored array.
///
/// The tables act one after another: the first on the coordinate of the array, each other on the stored coordinate of
/// the previous one. The [`TensorLayout`] is that of the array that the last one stores.
///
/// ```
/// use std::sync::Arc;
/// use tilewright_core::{Fractal, Place, TensorLayout};
/// use tilewright_table::{Along, Table, TabledLayout};
/// // Rows 2 and 0 of three, a hole, and row 1, in fractals of 2 × 2.
/// let list = [Some(2), Some(0), None, Some(1)];
/// let along = Along::new(&[(0, 1)], &[3, 4], Arc::new(Table::new(3, list).unwrap())).unwrap();
/// let stored = Fractal::ZN.pattern(2, 2).layout(&[4, 4]).unwrap();
/// let layout = TabledLayout::new(&[3, 4], vec![along], &stored).unwrap();
/// assert_eq!(layout.offset(&[1, 0]), stored.offset(&[3, 0]));
/// assert_eq!((layout.size(), layout.padding()), (12, 4));
/// assert_eq!(layout.locate(stored.offset(&[2, 1]).unwrap()), Ok(Place::Padding));
///
/// let rows = TensorLayout::row_major(&[3, 4]).unwrap();
/// assert!(TabledLayout::new(&[3, 4], layout.tables().to_vec(), &rows).unwrap_err().is_mismatch());
/// ```
#[must_use]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TabledLayout {
    extents: Vec<u64>,
    tables: Vec<Along>,
    stored: TensorLayout,
}

impl TabledLayout {
    /// Makes the layout of an array of these extents, whose tables produce the array that `stored` lays out.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the extents of a table, or of `stored`, differ from the stored extents before
    /// it.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// // Without a table, it equals the layout.
    /// let rows = TensorLayout::row_major(&[3, 4]).unwrap();
    /// assert_eq!(TabledLayout::new(&[3, 4], vec![], &rows).unwrap().fold(), Some(rows.clone()));
    /// assert!(TabledLayout::new(&[4, 3], vec![], &rows).unwrap_err().is_mismatch());
    /// ```
    pub fn new(
        extents: &[u64],
        tables: Vec<Along>,
        stored: &TensorLayout,
    ) -> Result<TabledLayout, Error> {
        let mut now = extents;
        for along in &tables {
            agree(now, along.extents())?;
            now = along.stored_extents();
        }
        agree(now, stored.extents())?;
        Ok(TabledLayout { extents: extents.to_vec(), tables, stored: stored.clone() })
    }

    /// Makes a layout without tables.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// let rows = TensorLayout::row_major(&[3, 4]).unwrap();
    /// assert!(TabledLayout::of(&rows).tables().is_empty());
    /// ```
    pub fn of(layout: &TensorLayout) -> TabledLayout {
        let extents = layout.extents().to_vec();
        TabledLayout { extents, tables: Vec::new(), stored: layout.clone() }
    }

    /// Returns the extents of the array.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// assert_eq!(TabledLayout::of(&TensorLayout::row_major(&[3, 4]).unwrap()).extents(), [3, 4]);
    /// ```
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// Returns the tables; the first acts first.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// assert_eq!(TabledLayout::of(&TensorLayout::row_major(&[3, 4]).unwrap()).tables(), []);
    /// ```
    pub fn tables(&self) -> &[Along] {
        &self.tables
    }

    /// Returns the layout of the stored array.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// let rows = TensorLayout::row_major(&[3, 4]).unwrap();
    /// assert_eq!(TabledLayout::of(&rows).stored(), &rows);
    /// ```
    pub fn stored(&self) -> &TensorLayout {
        &self.stored
    }

    /// Returns the number of elements.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// assert_eq!(TabledLayout::of(&TensorLayout::row_major(&[3, 4]).unwrap()).size(), 12);
    /// ```
    pub fn size(&self) -> u64 {
        // Each table stores at least as much as the array has, and the stored array fits in 64 bits.
        self.extents.iter().fold(1, |all: u64, extent| all.saturating_mul(*extent))
    }

    /// Returns the number of stored positions without an element of the array: holes, and padding of the stored layout.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// let rows = TensorLayout::row_major(&[3, 4]).unwrap().with_capacity(20).unwrap();
    /// assert_eq!(TabledLayout::of(&rows).padding(), 8);
    /// ```
    pub fn padding(&self) -> u64 {
        self.stored.padding().saturating_add(self.stored.size().saturating_sub(self.size()))
    }

    /// Returns the offset of an element, in elements.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for a coordinate of another rank, [out of range](Error::is_out_of_range) for one
    /// outside the extents.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// let rows = TabledLayout::of(&TensorLayout::row_major(&[3, 4]).unwrap());
    /// assert_eq!(rows.offset(&[1, 2]), Ok(6));
    /// assert!(rows.offset(&[3, 0]).unwrap_err().is_out_of_range());
    /// ```
    pub fn offset(&self, coord: &[u64]) -> Result<i64, Error> {
        if coord.len() != self.extents.len() {
            return Err(Error::mismatch(
                "a coordinate of {} numbers does not fit an array of {} dims",
                [coord.len() as i128, self.extents.len() as i128],
                "give one number per dim",
            ));
        }
        let outside = coord.iter().zip(&self.extents).position(|(index, extent)| index >= extent);
        if let Some(dim) = outside {
            let numbers = [coord[dim].into(), dim as i128, self.extents[dim].into()];
            let legal = "coordinates count from 0";
            return Err(Error::out_of_range("index {} in dim {} of {}", numbers, legal));
        }
        let mut at = coord.to_vec();
        for along in &self.tables {
            at = along.store(&at).unwrap_or_default();
        }
        self.stored.offset(&at)
    }

    /// Returns the contents of an offset: an element by its coordinate, or padding, which includes holes.
    ///
    /// # Errors
    /// As [`TensorLayout::locate`].
    ///
    /// ```
    /// use tilewright_core::{Coord, Place, TensorLayout};
    /// use tilewright_table::TabledLayout;
    /// let rows = TabledLayout::of(&TensorLayout::row_major(&[3, 4]).unwrap());
    /// assert_eq!(rows.locate(6), Ok(Place::Element(Coord::new(&[1, 2]).unwrap())));
    /// assert_eq!(rows.locate(12), Ok(Place::OutOfRange));
    /// ```
    pub fn locate(&self, offset: i64) -> Result<Place, Error> {
        let Place::Element(stored) = self.stored.locate(offset)? else {
            return self.stored.locate(offset);
        };
        let mut at = stored.as_slice().to_vec();
        for along in self.tables.iter().rev() {
            match along.restore(&at) {
                Some(before) => at = before,
                None => return Ok(Place::Padding),
            }
        }
        Ok(Place::Element(Coord::new(&at)?))
    }

    /// Checks that another array has the same extents.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if it does not, with the dim.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// let of = |extents: &[u64]| TabledLayout::of(&TensorLayout::row_major(extents).unwrap());
    /// assert!(of(&[3, 4]).check_extents(&of(&[3, 4])).is_ok());
    /// assert!(of(&[3, 4]).check_extents(&of(&[4, 3])).unwrap_err().is_mismatch());
    /// ```
    pub fn check_extents(&self, other: &TabledLayout) -> Result<(), Error> {
        if self.extents == other.extents {
            return Ok(());
        }
        let same = self.extents.iter().zip(&other.extents).position(|(a, b)| a != b);
        Err(match same {
            Some(dim) if self.extents.len() == other.extents.len() => Error::mismatch(
                "dim {} has {} indices on one side and {} on the other",
                [dim as i128, self.extents[dim].into(), other.extents[dim].into()],
                "both sides must be the same array",
            ),
            _ => Error::mismatch(
                "{} dims on one side and {} on the other",
                [self.extents.len() as i128, other.extents.len() as i128],
                "both sides must be the same array",
            ),
        })
    }

    /// Returns whether some table has a hole.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::{Along, Table, TabledLayout};
    /// let table = Arc::new(Table::new(1, [None, Some(0)]).unwrap());
    /// let stored = TensorLayout::row_major(&[2]).unwrap();
    /// let along = Along::new(&[(0, 1)], &[1], table).unwrap();
    /// assert!(TabledLayout::new(&[1], vec![along], &stored).unwrap().has_holes());
    /// ```
    pub fn has_holes(&self) -> bool {
        self.tables.iter().any(|along| along.table().holes() > 0)
    }
}

fn agree(extents: &[u64], own: &[u64]) -> Result<(), Error> {
    if extents.len() != own.len() {
        return Err(Error::mismatch(
            "{} dims are stored, but their placement has {}",
            [extents.len() as i128, own.len() as i128],
            "the ranks agree",
        ));
    }
    match extents.iter().zip(own).position(|(a, b)| a != b) {
        Some(dim) => Err(Error::mismatch(
            "stored dim {} has {} indices, but its placement has {}",
            [dim as i128, extents[dim].into(), own[dim].into()],
            "the extents agree",
        )),
        None => Ok(()),
    }
}

/// Prints the tables, and the layout of the stored array.
impl fmt::Debug for TabledLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.extents)?;
        for along in &self.tables {
            write!(f, " {along}")?;
        }
        write!(f, " {:?}", self.stored)
    }
}
