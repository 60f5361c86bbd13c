//! Comparison of two shapes by their stored bytes, however they are written, and of a layout with itself without tiles.
//!
//! Law: shapes of equal dims are semantically equal iff every element has the same bits at the same position, in
//! storages of equal length. `E` at the natural width therefore equals none, a tile without effect equals no tile, and
//! two spellings of one order of the elements are equal.

use tilewright_core::Error;

use crate::{ArrayShape, Layout, Split, permutation::index};

impl ArrayShape {
    /// Returns whether two shapes of equal element types and dims are stored as the same bytes; `==` compares how they
    /// are written. Memory spaces, metadata prefixes and splits are compared; an absent layout is the row-major one. Shapes
    /// that are written alike are equal whatever they contain, unbounded dims included.
    ///
    /// [`ArrayShape::reshape_is_bitcast`] compares shapes of different dims.
    ///
    /// # Errors
    /// Those of [`ArrayShape::extents`] and [`Layout::lower`]; [undecided](Error::is_undecided) as in
    /// [`same_function`](tilewright_core::TensorLayout::same_function), never a guess.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let same = |a: &str, b: &str| {
    ///     ArrayShape::parse(a).unwrap().semantically_equal(&ArrayShape::parse(b).unwrap())
    /// };
    /// assert_eq!(same("f32[2]{0:E(32)}", "f32[2]{0}"), Ok(true));
    /// assert_eq!(same("f32[16,128]{1,0:T(8,128)}", "f32[16,128]"), Ok(true));
    /// assert_eq!(same("f32[16,129]{1,0:T(8,128)}", "f32[16,129]"), Ok(false));
    /// assert!(same("f32[?]", "f32[?]{0:T(8)}").unwrap_err().is_unsupported());
    /// ```
    pub fn semantically_equal(&self, other: &ArrayShape) -> Result<bool, Error> {
        if self == other {
            return Ok(true);
        }
        if self.element_type != other.element_type || self.dims != other.dims {
            return Ok(false);
        }
        if !self.same_storage(other)? || splits(self) != splits(other) {
            return Ok(false);
        }
        same_map(&self.layout_or_default(), &other.layout_or_default(), &self.extents()?)
    }

    /// Returns whether elements have the same width, and the storages the same length, memory and metadata prefix.
    pub(crate) fn same_storage(&self, other: &ArrayShape) -> Result<bool, Error> {
        let (a, b) = (self.layout_or_default(), other.layout_or_default());
        Ok(self.element_bits()? == other.element_bits()?
            && a.padded_elements(&self.extents()?)? == b.padded_elements(&other.extents()?)?
            && a.memory_space() == b.memory_space()
            && a.dynamic_metadata_prefix_bytes() == b.dynamic_metadata_prefix_bytes())
    }
}

/// Returns the splits by logical dim.
fn splits(shape: &ArrayShape) -> Vec<(u64, Vec<u64>)> {
    let layout = shape.layout_or_default();
    let order = layout.major_to_minor();
    let logical = |split: &Split| {
        let dim = order.get(index(split.dimension)).copied().unwrap_or(u64::MAX);
        (dim, split.indices.clone())
    };
    let mut splits: Vec<(u64, Vec<u64>)> = layout.splits().iter().map(logical).collect();
    tilewright_core::sort_short(&mut splits, Clone::clone);
    splits
}

/// Returns whether two layouts send every index of an array to the same offset.
pub(crate) fn same_map(a: &Layout, b: &Layout, dims: &[u64]) -> Result<bool, Error> {
    if dims.contains(&0) || a.minor_to_major() == b.minor_to_major() && a.tiles() == b.tiles() {
        return Ok(true);
    }
    if a.tiles().is_empty() && b.tiles().is_empty() {
        let long = |layout: &Layout| -> Vec<u64> {
            let order = layout.minor_to_major().iter().copied();
            order.filter(|&dim| dims.get(index(dim)) != Some(&1)).collect()
        };
        return Ok(long(a) == long(b));
    }
    a.lower(dims)?.same_function(&b.lower(dims)?)
}

impl Layout {
    /// Returns whether arrays of these dims are stored as without the tiles: the same order, no padding. The alignment of
    /// the tail is ignored.
    ///
    /// # Errors
    /// Those of [`Layout::lower`]; [undecided](Error::is_undecided) as in
    /// [`same_function`](tilewright_core::TensorLayout::same_function).
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let tiled = |text: &str| Layout::parse(text).unwrap();
    /// assert_eq!(tiled("{1,0:T(8,128)}").is_untiled(&[24, 128]), Ok(true));
    /// assert_eq!(tiled("{1,0:T(1,128)}").is_untiled(&[4, 256]), Ok(true));
    /// assert_eq!(tiled("{2,1,0:T(8,128)}").is_untiled(&[2, 3, 4]), Ok(false));
    /// ```
    #[doc(alias = "IsUntiledLayout")]
    pub fn is_untiled(&self, dims: &[u64]) -> Result<bool, Error> {
        self.validate(dims)?;
        if self.tiles().is_empty() {
            return Ok(true);
        }
        let plain = Layout::new(self.minor_to_major())?;
        let tiled = plain.clone().with_tiles(self.tiles());
        if tiled.padded_elements(dims)? != plain.padded_elements(dims)? {
            return Ok(false);
        }
        same_map(&tiled, &plain, dims)
    }
}
