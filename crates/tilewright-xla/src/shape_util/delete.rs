//! Removal of dims.
//!
//! Law: removing a dim leaves every element with index 0 in it at the offset that it has in an array of extent 1 there, so
//! removing a dim of extent 1 moves no element. XLA keeps the tiles unchanged, which moves data if a tile covers the dim:
//! `f32[5,1]{1,0:T(8,128)}` has element 4 at 512, `f32[5]{0:T(8,128)}` at 4.

use tilewright_core::{Error, Layout as Strided, Mode, TensorLayout};

use super::{dimension_numbers, predicates::extent, tile_edit};
use crate::{ArrayShape, Dim, Layout, layout_util::splits, permutation::index};

impl ArrayShape {
    /// Returns the array without a dim. Negative numbers count from the end.
    ///
    /// # Errors
    /// Those of [`ArrayShape::delete_dimensions`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[5,3,2]{2,0,1}").unwrap();
    /// assert_eq!(shape.delete_dimension(1).unwrap().to_string(), "f32[5,2]{1,0}");
    /// // Element 4 stays at 512.
    /// let shape = ArrayShape::parse("f32[5,1]{1,0:T(8,128)}").unwrap();
    /// assert_eq!(shape.delete_dimension(1).unwrap().linear_index(&[4]), Ok(512));
    /// assert!(shape.delete_dimension(2).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "DeleteDimension")]
    pub fn delete_dimension(&self, dim: i64) -> Result<ArrayShape, Error> {
        self.delete_dimensions(&[dim])
    }

    /// Returns the array without some dims, in any order. Negative numbers count from the end. Tiles are changed so that
    /// no element moves.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a dim that does not exist; [illegal](Error::is_illegal) for one named
    /// twice; [unsupported](Error::is_unsupported) if a tile covers a dim such that no tiles describe the elements without it.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[5,3,2,7,9]{2,0,1,4,3}").unwrap();
    /// assert_eq!(shape.delete_dimensions(&[3, 1, 2]).unwrap().to_string(), "f32[5,9]{0,1}");
    /// assert!(shape.delete_dimensions(&[1, 1]).unwrap_err().is_illegal());
    /// ```
    #[doc(alias = "DeleteDimensions")]
    pub fn delete_dimensions(&self, dims: &[i64]) -> Result<ArrayShape, Error> {
        let gone = dimension_numbers(dims, self.dims.len())?;
        self.filter_dimensions(|dim| !gone.contains(&dim))
    }

    /// Returns the array with only the dims for which `keep` returns true.
    ///
    /// # Errors
    /// Those of [`ArrayShape::delete_dimensions`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[5,3,2]{2,0,1}").unwrap();
    /// assert_eq!(shape.filter_dimensions(|dim| dim != 1).unwrap().to_string(), "f32[5,2]{1,0}");
    /// ```
    #[doc(alias = "FilterDimensions")]
    pub fn filter_dimensions(&self, keep: impl Fn(usize) -> bool) -> Result<ArrayShape, Error> {
        let _ = self.checked_layout()?;
        let gone: Vec<usize> = (0..self.dims.len()).filter(|&dim| !keep(dim)).collect();
        if let Some(shape) = edited(self, &gone)? {
            return Ok(shape);
        }
        let mut shape = self.clone();
        for &dim in gone.iter().rev() {
            shape = match edited(&shape, &[dim])? {
                Some(less) => less,
                None => raised(&shape, dim)?,
            };
        }
        Ok(shape)
    }

    /// Returns the array without its dims of extent 1. No element moves.
    ///
    /// # Errors
    /// Those of [`ArrayShape::delete_dimensions`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[1,5,1,3]{3,2,1,0}").unwrap();
    /// assert_eq!(shape.drop_degenerate_dimensions().unwrap().to_string(), "f32[5,3]{1,0}");
    /// ```
    #[doc(alias = "DropDegenerateDimensions")]
    pub fn drop_degenerate_dimensions(&self) -> Result<ArrayShape, Error> {
        let unit = |dim: usize| self.dims.get(dim).copied().and_then(extent) == Some(1);
        self.filter_dimensions(|dim| !unit(dim))
    }
}

/// Returns the remaining dims, and the new number of each, after these dims, in ascending order, are removed.
fn renamed(shape: &ArrayShape, gone: &[usize]) -> (Vec<Dim>, Vec<Option<u64>>) {
    let (mut left, mut numbers) = (Vec::new(), Vec::with_capacity(shape.dims.len()));
    for (dim, &kept) in shape.dims.iter().enumerate() {
        let stays = gone.binary_search(&dim).is_err();
        numbers.push(stays.then_some(left.len() as u64));
        left.extend(stays.then_some(kept));
    }
    (left, numbers)
}

/// Returns the array without these dims, in ascending order, if a change of the tiles suffices.
fn edited(shape: &ArrayShape, gone: &[usize]) -> Result<Option<ArrayShape>, Error> {
    let (dims, numbers) = renamed(shape, gone);
    let mut less = ArrayShape { element_type: shape.element_type, dims, layout: None };
    let Some(layout) = &shape.layout else { return Ok(Some(less)) };
    let number = |dim: u64| numbers.get(index(dim)).copied().flatten();
    let order = layout.minor_to_major();
    let places =
        (0..order.len()).filter(|&at| order.get(at).is_some_and(|&dim| number(dim).is_none()));
    let places: Vec<usize> = places.collect();
    let Some(tiles) = tile_edit::removed(layout.tiles(), &places, layout.rank()) else {
        return Ok(None);
    };
    let order: Vec<u64> = order.iter().filter_map(|&dim| number(dim)).collect();
    let plain = layout.replaced(&order)?.with_tiles(&tiles);
    less.layout = Some(splits::carry(layout, &plain, &number));
    Ok(Some(less))
}

/// Returns the array without a dim, in a layout found for the remaining offsets by raising the core's value.
fn raised(shape: &ArrayShape, dim: usize) -> Result<ArrayShape, Error> {
    let layout = shape.layout_or_default();
    let covered = |_| {
        let extent = shape.dims.get(dim).copied().and_then(extent).unwrap_or(0);
        Error::unsupported(
            "dim {} of extent {} is covered by a tile, and no tiles say where the other dims are \
             without it",
            [dim as i128, extent.into()],
            "drop the tiles first, or keep the dim at extent 1",
        )
    };
    let mut one = shape.clone();
    if let Some(slot) = one.dims.get_mut(dim) {
        *slot = Dim::Static(1);
    }
    let mut extents = one.extents()?;
    let tensor = layout.clone().with_splits(&[]).lower(&extents)?;
    extents.remove(dim);
    let axes = (0..tensor.rank()).filter(|&axis| axis != dim);
    let modes: Vec<&[Mode]> = axes.filter_map(|axis| tensor.layout().axis(axis)).collect();
    let counts: Vec<usize> = modes.iter().map(|modes| modes.len()).collect();
    if !tensor.is_strided() {
        return Err(covered(()));
    }
    let strided = Strided::nested(&modes.concat(), &counts)?;
    let left = TensorLayout::new(&extents, &strided, tensor.capacity())?;
    let found = Layout::of(&left).map_err(|_| covered(()))?;
    let plain = layout
        .replaced(found.minor_to_major())?
        .with_tiles(found.tiles())
        .with_tail_padding_alignment(found.tail_padding_alignment())?;
    let (dims, numbers) = renamed(shape, &[dim]);
    let number = |dim: u64| numbers.get(index(dim)).copied().flatten();
    let layout = Some(splits::carry(&layout, &plain, &number));
    Ok(ArrayShape { element_type: shape.element_type, dims, layout })
}
