//! Insertion of dims: appended, prepended, inserted.
//!
//! Laws: every property of the layout is kept; an element with index 0 in a new dim of extent 1 does not move; a new most
//! major dim repeats the storage of the array, a new most minor one its elements.

use tilewright_core::Error;

use super::tile_edit;
use crate::{ArrayShape, Dim, Layout, layout_util::splits, permutation};

/// The position of a new dim in storage.
#[derive(Clone, Copy)]
enum NewDim {
    /// Inside all tiles, the fastest.
    Minor,
    /// Outside the tiles, slower than this many dims.
    Major(usize),
}

impl ArrayShape {
    /// Returns the array with a new last dim that is the slowest: its storage is repeated.
    ///
    /// # Errors
    /// [overflow](Error::is_overflow) for an extent beyond 2⁶³ − 1, where XLA cuts to 32 bits;
    /// [unsupported](Error::is_unsupported) if a tile's `*` merges dims across the new one.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[10,200]{1,0:T(8,128)}").unwrap();
    /// let longer = shape.append_major_dimension(4).unwrap();
    /// assert_eq!(longer.to_string(), "f32[10,200,4]{1,0,2:T(8,128)}");
    /// assert!(shape.append_major_dimension(u64::MAX).unwrap_err().is_overflow());
    /// ```
    #[doc(alias = "AppendMajorDimension")]
    pub fn append_major_dimension(&self, extent: u64) -> Result<ArrayShape, Error> {
        self.inserted(self.dims.len(), NewDim::Major(self.dims.len()), extent)
    }

    /// Returns the array with a new first dim that is the slowest: its storage is repeated. XLA drops tiles and dynamic
    /// flags.
    ///
    /// # Errors
    /// Those of [`ArrayShape::append_major_dimension`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[10,20,30]{0,2,1}").unwrap();
    /// assert_eq!(shape.prepend_major_dimension(40).unwrap().to_string(), "f32[40,10,20,30]{1,3,2,0}");
    /// ```
    #[doc(alias = "PrependMajorDimension")]
    pub fn prepend_major_dimension(&self, extent: u64) -> Result<ArrayShape, Error> {
        self.inserted(0, NewDim::Major(self.dims.len()), extent)
    }

    /// Returns the array with a new last dim that is the fastest: each element is repeated. Tiles get an entry for it, so
    /// that they still cover the same dims; XLA's tiles cover the new one instead.
    /// # Errors
    /// Those of [`ArrayShape::append_major_dimension`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[10,200]{1,0:T(8,128)}").unwrap();
    /// let pairs = shape.append_minor_dimension(2).unwrap();
    /// assert_eq!(pairs.to_string(), "f32[10,200,2]{2,1,0:T(8,128,2)}");
    /// assert_eq!(pairs.linear_index(&[9, 199, 1]).unwrap(), 2 * shape.linear_index(&[9, 199]).unwrap() + 1);
    /// ```
    #[doc(alias = "AppendMinorDimension")]
    pub fn append_minor_dimension(&self, extent: u64) -> Result<ArrayShape, Error> {
        self.inserted(self.dims.len(), NewDim::Minor, extent)
    }

    /// Returns the array with a new dim of this number. In storage it is adjacent to, and slower than, the dim that had the
    /// number; if the number is the rank, it is the fastest dim of all. Tiles that cover it get an entry of 1.
    ///
    /// # Errors
    /// Those of [`ArrayShape::append_major_dimension`]; [out of range](Error::is_out_of_range) for a number above the
    /// rank.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("s4[10,<=200]{1,0:T(8,128)E(4)}").unwrap();
    /// let longer = shape.insert_dimension(1, 3).unwrap();
    /// assert_eq!(longer.to_string(), "s4[10,3,<=200]{2,1,0:T(8,1,128)E(4)}");
    /// assert!(shape.insert_dimension(3, 3).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "InsertDimensionAtIndex")]
    pub fn insert_dimension(&self, at: usize, extent: u64) -> Result<ArrayShape, Error> {
        if at > self.dims.len() {
            return Err(Error::out_of_range(
                "a dim inserted at {} of {}",
                [at as i128, self.dims.len() as i128],
                "the new dim's number is at most the rank",
            ));
        }
        let layout = self.checked_layout()?;
        let place = layout.minor_to_major().iter().position(|&dim| permutation::index(dim) == at);
        self.inserted(at, place.map_or(NewDim::Minor, |place| NewDim::Major(place + 1)), extent)
    }

    /// Returns the array with several new dims from this number on, each inserted by
    /// [`ArrayShape::insert_dimension`].
    ///
    /// # Errors
    /// Those of [`ArrayShape::insert_dimension`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[10,20]{1,0}").unwrap();
    /// assert_eq!(shape.insert_dimensions(1, &[3, 4]).unwrap().to_string(), "f32[10,3,4,20]{3,2,1,0}");
    /// ```
    #[doc(alias = "InsertDimensionsAtIndex")]
    pub fn insert_dimensions(&self, at: usize, extents: &[u64]) -> Result<ArrayShape, Error> {
        let mut shape = self.clone();
        for &extent in extents.iter().rev() {
            shape = shape.insert_dimension(at, extent)?;
        }
        Ok(shape)
    }

    /// Returns the array with a new dim of number `at`.
    fn inserted(&self, at: usize, place: NewDim, extent: u64) -> Result<ArrayShape, Error> {
        if extent > i64::MAX as u64 {
            return Err(Error::overflow(
                "a new dim of extent {}",
                [extent.into()],
                "an extent is at most 2^63 - 1",
            ));
        }
        let layout = self.checked_layout()?;
        let mut shape = self.clone();
        shape.dims.insert(at.min(shape.dims.len()), Dim::Static(extent));
        if self.layout.is_some() {
            shape.layout = Some(insert_into_layout(&layout, at as u64, place, extent)?);
        }
        Ok(shape)
    }
}

fn insert_into_layout(
    layout: &Layout,
    at: u64,
    place: NewDim,
    extent: u64,
) -> Result<Layout, Error> {
    let (place, inside) = match place {
        NewDim::Minor => (0, true),
        NewDim::Major(place) => (place, false),
    };
    let renamed = |dim: u64| if dim >= at { dim + 1 } else { dim };
    let mut order: Vec<u64> = layout.minor_to_major().iter().map(|&dim| renamed(dim)).collect();
    order.insert(place.min(order.len()), at);
    let tiles = tile_edit::inserted(layout.tiles(), place, extent, inside)?;
    let longer = layout.replaced(&order)?.with_tiles(&tiles);
    Ok(splits::carry(layout, &longer, &|dim| Some(renamed(dim))))
}
