//! Queries and changes of layouts: XLA's `LayoutUtil`, as methods of [`Layout`],
//! [`ArrayShape`] and [`Shape`].
//!
//! - The order of the dims: queries for minor and major dims, changes, and byte strides of a dense row-major array.
//! - Dims that are split over several memories, and the length of the longest piece.
//! - Presence of layouts in shapes: queries, removal of layouts and tiles, and copies between shapes of the same structure.
//!
//! Source: `xla/layout_util.h`; the aliases are XLA's names.
//!
//! Law: a change of the order keeps every other property. Splits, which count physical dims, stay with the logical dims
//! that they split.

use tilewright_core::Error;

use crate::{
    ArrayShape, Dim, Ignore, Layout, PrimitiveType, Shape, ShapeKind, Split,
    permutation::{self, index},
    shape_util::{dimension_number, dimension_numbers},
};

impl Layout {
    /// Creates the untiled layout whose dims, slowest first, are `major_to_minor`.
    ///
    /// # Errors
    /// [illegal](Error::is_illegal) unless `major_to_minor` is a permutation of 0 … rank − 1.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// assert_eq!(Layout::from_major_to_minor(&[0, 2, 1]).unwrap().to_string(), "{1,2,0}");
    /// assert!(Layout::from_major_to_minor(&[1]).unwrap_err().is_illegal());
    /// ```
    #[doc(alias = "MakeLayoutFromMajorToMinor")]
    pub fn from_major_to_minor(major_to_minor: &[u64]) -> Result<Layout, Error> {
        Layout::new(&major_to_minor.iter().rev().copied().collect::<Vec<_>>())
    }

    /// Returns whether the order is row-major, `{n-1,…,1,0}`. Tiles do not matter. True for every rank below 2.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{2,1,0:T(8,128)}").unwrap();
    /// assert!(layout.is_descending() && !layout.is_ascending());
    /// ```
    #[doc(alias = "HasDescendingLayout")]
    pub fn is_descending(&self) -> bool {
        self.minor_to_major().is_sorted_by(|minor, major| minor > major)
    }

    /// Returns whether the order is column-major, `{0,1,…,n-1}`. Tiles do not matter.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let ascending = |text| Layout::parse(text).unwrap().is_ascending();
    /// assert!(ascending("{0,1,2}") && ascending("{0,1:T(8,128)}") && ascending("{0}"));
    /// assert!(!ascending("{1,0}"));
    /// ```
    #[doc(alias = "HasAscendingLayout")]
    pub fn is_ascending(&self) -> bool {
        self.minor_to_major().is_sorted()
    }

    /// Returns [`Layout::is_descending`]; this is its name in XLA's document: dim 0 is the most major, and so on in order.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// assert!(Layout::parse("{2,1,0}").unwrap().is_dim0_major());
    /// // Dim 0 is the most major here too, but the others are not in order.
    /// assert!(!Layout::parse("{1,2,0}").unwrap().is_dim0_major());
    /// ```
    #[doc(alias = "IsMonotonicWithDim0Major")]
    pub fn is_dim0_major(&self) -> bool {
        self.is_descending()
    }

    /// Returns [`Layout::is_ascending`]; this is its name in XLA's document: dim 0 is the most minor, and so on in order.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// assert!(Layout::parse("{0,1,2}").unwrap().is_dim0_minor());
    /// assert!(!Layout::parse("{0,2,1}").unwrap().is_dim0_minor());
    /// ```
    #[doc(alias = "IsMonotonicWithDim0Minor")]
    pub fn is_dim0_minor(&self) -> bool {
        self.is_ascending()
    }

    /// Returns the logical dim that varies `k`-th fastest, counted from 0.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) unless `k` is below the rank.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{1,2,0}").unwrap();
    /// assert_eq!((layout.minor(0), layout.major(0)), (Ok(1), Ok(0)));
    /// assert!(layout.minor(3).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "Minor")]
    pub fn minor(&self, k: usize) -> Result<u64, Error> {
        self.minor_to_major().get(k).copied().ok_or_else(|| no_position(k, self.rank()))
    }

    /// Returns the logical dim that varies `k`-th slowest, counted from 0.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) unless `k` is below the rank.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let nhwc = Layout::parse("{1,3,2,0}").unwrap();
    /// // The batch is outermost, then rows, columns, channels.
    /// assert_eq!([0, 1, 2, 3].map(|k| nhwc.major(k).unwrap()), [0, 2, 3, 1]);
    /// assert!(nhwc.major(4).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "Major")]
    pub fn major(&self, k: usize) -> Result<u64, Error> {
        self.minor_to_major()
            .iter()
            .rev()
            .nth(k)
            .copied()
            .ok_or_else(|| no_position(k, self.rank()))
    }

    /// Returns the physical dim of each logical dim, counted from the most major.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// assert_eq!(Layout::parse("{1,2,0}").unwrap().logical_to_physical(), [0, 2, 1]);
    /// ```
    #[doc(alias = "MakeLogicalToPhysical")]
    pub fn logical_to_physical(&self) -> Vec<u64> {
        permutation::inverted(&self.major_to_minor())
    }

    /// Returns the logical dims, slowest first.
    pub(crate) fn major_to_minor(&self) -> Vec<u64> {
        self.minor_to_major().iter().rev().copied().collect()
    }

    /// Returns whether these logical dims, in any order, are adjacent in storage. Negative numbers count from the end.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a dim that does not exist; [illegal](Error::is_illegal) for one named
    /// twice.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{1,2,0}").unwrap();
    /// assert_eq!(layout.dimensions_are_consecutive(&[1, 2]), Ok(true));
    /// assert_eq!(layout.dimensions_are_consecutive(&[0, 1]), Ok(false));
    /// assert!(layout.dimensions_are_consecutive(&[3]).unwrap_err().is_out_of_range());
    /// assert!(layout.dimensions_are_consecutive(&[1, 1]).unwrap_err().is_illegal());
    /// ```
    #[doc(alias = "AreDimensionsConsecutive")]
    pub fn dimensions_are_consecutive(&self, dims: &[i64]) -> Result<bool, Error> {
        let physical = self.logical_to_physical();
        let dims = dimension_numbers(dims, self.rank())?;
        let places: Vec<u64> = dims.iter().filter_map(|&dim| physical.get(dim).copied()).collect();
        let (low, high) = (places.iter().min(), places.iter().max());
        Ok(low.zip(high).is_none_or(|(low, high)| high - low + 1 == places.len() as u64))
    }

    /// Returns this layout with its dims in another order, fastest first. This moves elements.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another number of dims; [illegal](Error::is_illegal) for an order that is not
    /// a permutation.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{1,0:T(8,128)SC(0:3)}").unwrap();
    /// assert_eq!(layout.with_order(&[0, 1]).unwrap().to_string(), "{0,1:T(8,128)SC(1:3)}");
    /// assert!(layout.with_order(&[0]).unwrap_err().is_mismatch());
    /// ```
    pub fn with_order(&self, minor_to_major: &[u64]) -> Result<Layout, Error> {
        permutation::check(minor_to_major, self.rank())?;
        Ok(carry(self, &self.replaced(minor_to_major)?, &Some))
    }

    /// Returns the same properties with another order, of any rank; splits are unchanged.
    pub(crate) fn replaced(&self, minor_to_major: &[u64]) -> Result<Layout, Error> {
        Layout::new(minor_to_major)?
            .with_tiles(self.tiles())
            .with_splits(self.splits())
            .with_tail_padding_alignment(self.tail_padding_alignment())?
            .with_element_size_in_bits(self.element_size_in_bits())?
            .with_memory_space(self.memory_space())?
            .with_dynamic_metadata_prefix_bytes(self.dynamic_metadata_prefix_bytes())?
            .with_index_type(self.index_type())?
            .with_pointer_type(self.pointer_type())
    }

    /// Returns this layout with a logical dim made the slowest; the order of the others is kept. A negative number
    /// counts from the end.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a dim that does not exist; at rank 0, no dim does.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{2,1,0}").unwrap();
    /// assert_eq!(layout.with_dim_major(1).unwrap().to_string(), "{2,0,1}");
    /// assert!(layout.with_dim_major(3).unwrap_err().is_out_of_range());
    /// ```
    /// ```compile_fail
    /// #![deny(unused_must_use)]
    /// # fn main() -> Result<(), tilewright_core::Error> {
    /// // error: unused `tilewright_xla::Layout` that must be used
    /// tilewright_xla::Layout::descending(3).with_dim_major(2)?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MoveDimToMajor")]
    pub fn with_dim_major(&self, dim: i64) -> Result<Layout, Error> {
        let moved = dimension_number(dim, self.rank())? as u64;
        let mut order = self.without(moved);
        order.push(moved);
        self.with_order(&order)
    }

    /// Returns this layout with a logical dim made the fastest; the order of the others is kept. A negative number
    /// counts from the end.
    ///
    /// # Errors
    /// Those of [`Layout::with_dim_major`].
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{2,0,3,1}").unwrap();
    /// assert_eq!(layout.with_dim_minor(3).unwrap().to_string(), "{3,2,0,1}");
    /// assert!(layout.with_dim_minor(4).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "MoveDimToMinor")]
    pub fn with_dim_minor(&self, dim: i64) -> Result<Layout, Error> {
        let moved = dimension_number(dim, self.rank())? as u64;
        let mut order = self.without(moved);
        order.insert(0, moved);
        self.with_order(&order)
    }

    fn without(&self, dim: u64) -> Vec<u64> {
        self.minor_to_major().iter().copied().filter(|&other| other != dim).collect()
    }

    /// Returns the layout of the array whose dims are `permutation` of this one's, with every element at its old offset:
    /// `p⁻¹ ∘ minor_to_major`. Tiles and splits are physical and are kept.
    ///
    /// # Errors
    /// Those of [`Layout::with_order`].
    pub(crate) fn permuted(&self, permutation: &[u64]) -> Result<Layout, Error> {
        permutation::check(permutation, self.rank())?;
        let inverse = permutation::inverted(permutation);
        let renamed = self.minor_to_major().iter().filter_map(|&dim| inverse.get(index(dim)));
        self.replaced(&renamed.copied().collect::<Vec<_>>())
    }
}

fn no_position(k: usize, rank: usize) -> Error {
    Error::out_of_range(
        "position {} of the {} dims of a layout",
        [k as i128, rank as i128],
        "positions count from 0",
    )
}

/// Returns whether an array with these byte strides is dense and row-major. The stride of a dim with one coordinate has no
/// effect and may have any value, and so may all strides of an empty array; XLA requires them to be equal.
///
/// # Errors
/// [mismatch](Error::is_mismatch) for another number of strides than dims; [unsupported](Error::is_unsupported) for a
/// type without values.
///
/// ```
/// use tilewright_xla::{PrimitiveType, layout_util::byte_strides_are_major_to_minor};
/// let dense = |strides: &[i64]| {
///     byte_strides_are_major_to_minor(strides, &[8, 9, 10, 11], PrimitiveType::F32)
/// };
/// assert_eq!(dense(&[3960, 440, 44, 4]), Ok(true));
/// assert_eq!(dense(&[1880, 440, 44, 4]), Ok(false));
/// assert!(dense(&[44, 4]).unwrap_err().is_mismatch());
/// ```
#[doc(alias = "ByteStridesIsMajorToMinor")]
pub fn byte_strides_are_major_to_minor(
    strides: &[i64],
    dims: &[u64],
    element_type: PrimitiveType,
) -> Result<bool, Error> {
    if strides.len() != dims.len() {
        return Err(Error::mismatch(
            "{} byte strides for {} dims",
            [strides.len() as i128, dims.len() as i128],
            "give one stride per dim",
        ));
    }
    let bits = element_type.storage_bits().ok_or_else(crate::shape_util::no_values)?;
    if dims.contains(&0) {
        return Ok(true);
    }
    let mut dense = i128::from(bits / 8);
    for (&stride, &dim) in strides.iter().zip(dims).rev() {
        if dim > 1 && i128::from(stride) != dense {
            return Ok(false);
        }
        dense = dense.saturating_mul(dim.into());
    }
    Ok(true)
}

impl Layout {
    /// Returns the split of a physical dim, counted from the most major; `None` if it is not split.
    ///
    /// ```
    /// use tilewright_xla::Layout;
    /// let layout = Layout::parse("{0,1:SC(0:3)(1:2,4)}").unwrap();
    /// assert_eq!(layout.split(1).unwrap().indices, [2, 4]);
    /// assert!(layout.split(2).is_none());
    /// ```
    #[doc(alias = "GetSplitConfig")]
    pub fn split(&self, physical: u64) -> Option<&Split> {
        self.splits().iter().find(|split| split.dimension == physical)
    }
}

impl ArrayShape {
    /// Returns the length of the longest piece of a logical dim; its extent if it is not split. A negative number counts
    /// from the end.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for a dim that does not exist; those of [`ArrayShape::extents`] and
    /// [`Layout::validate`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[150,200,100]{0,1,2:SC(0:30)(1:40,130)}").unwrap();
    /// assert_eq!([0, 1, 2].map(|dim| shape.max_split_size(dim).unwrap()), [150, 90, 70]);
    /// assert!(shape.max_split_size(3).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "MaxSplitSize")]
    pub fn max_split_size(&self, dim: i64) -> Result<u64, Error> {
        let dim = dimension_number(dim, self.dims.len())?;
        let pieces = self.max_split_sizes()?;
        Ok(pieces.get(dim).copied().unwrap_or(0))
    }

    /// Returns the number of elements of the largest piece: the product of the longest pieces of the dims.
    ///
    /// # Errors
    /// Those of [`ArrayShape::max_split_size`]; [overflow](Error::is_overflow) beyond 2⁶³ − 1.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let largest = |text| ArrayShape::parse(text).unwrap().max_elements_in_per_split();
    /// // Pieces of 30 and 70 by pieces of 40, 90 and 70, and 150 in one piece.
    /// assert_eq!(largest("f32[150,200,100]{0,1,2:SC(0:30)(1:40,130)}"), Ok(70 * 90 * 150));
    /// assert!(largest("f32[?]").unwrap_err().is_unsupported());
    /// ```
    #[doc(alias = "MaxElementsInPerSplit")]
    pub fn max_elements_in_per_split(&self) -> Result<u64, Error> {
        crate::index_util::count(&self.max_split_sizes()?)
    }

    /// Returns the length of the longest piece of every dim.
    pub(crate) fn max_split_sizes(&self) -> Result<Vec<u64>, Error> {
        let (mut sizes, layout) = (self.extents()?, self.layout_or_default());
        layout.validate(&sizes)?;
        let order = layout.major_to_minor();
        for split in layout.splits() {
            let dim = order.get(index(split.dimension)).map(|&dim| index(dim));
            if let Some(size) = dim.and_then(|dim| sizes.get_mut(dim)) {
                *size = longest(*size, &split.indices);
            }
        }
        Ok(sizes)
    }
}

/// Returns the length of the longest piece of `extent` cut at ascending indices.
fn longest(extent: u64, indices: &[u64]) -> u64 {
    let begins = std::iter::once(0).chain(indices.iter().copied());
    let ends = indices.iter().copied().chain([extent]);
    begins.zip(ends).map(|(begin, end)| end.saturating_sub(begin)).max().unwrap_or(extent)
}

/// Returns `to` with the splits of `from`, each on its logical dim, whose new number is `renamed` of the old one. The
/// splits of a removed dim are dropped.
pub(crate) fn carry(from: &Layout, to: &Layout, renamed: &dyn Fn(u64) -> Option<u64>) -> Layout {
    let (old, new) = (from.major_to_minor(), to.logical_to_physical());
    let place = |split: &Split| {
        let dim = renamed(*old.get(index(split.dimension))?)?;
        Some(Split { dimension: *new.get(index(dim))?, indices: split.indices.clone() })
    };
    let mut splits: Vec<Split> = from.splits().iter().filter_map(place).collect();
    tilewright_core::sort_short(&mut splits, |split| split.dimension);
    to.clone().with_splits(&splits)
}

impl ArrayShape {
    /// Copies another array's layout, or its absence; the extents may differ.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another rank; those of [`Layout::validate`](crate::Layout::validate) for a layout
    /// whose splits do not fit these extents. Nothing is changed in both cases.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let source = ArrayShape::parse("f32[123,42,7]{2,0,1}").unwrap();
    /// let mut target = ArrayShape::parse("s8[2,3,5]").unwrap();
    /// target.copy_layout_from(&source).unwrap();
    /// assert_eq!(target.to_string(), "s8[2,3,5]{2,0,1}");
    /// let mut flat = ArrayShape::parse("f32[2,3]{1,0}").unwrap();
    /// assert!(flat.copy_layout_from(&source).unwrap_err().to_string().contains("ranks differ: 3 and 2"));
    /// ```
    #[doc(alias = "CopyLayoutBetweenShapes")]
    pub fn copy_layout_from(&mut self, source: &ArrayShape) -> Result<(), Error> {
        check(source, self)?;
        self.layout = source.layout.clone();
        Ok(())
    }
}

impl Shape {
    /// Copies the layout of each array from a shape of the same structure; see [`ArrayShape::copy_layout_from`].
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if ranks, tuple sizes or structures differ. Nothing is changed then.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let source = Shape::parse("(f32[2,3]{0,1}, token[])").unwrap();
    /// let mut target = Shape::parse("(f32[4,5]{1,0}, token[])").unwrap();
    /// target.copy_layouts_from(&source).unwrap();
    /// assert_eq!(target.to_string(), "(f32[4,5]{0,1}, token[])");
    /// let mut other = Shape::parse("(f32[4,5])").unwrap();
    /// assert!(other.copy_layouts_from(&source).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "CopyLayoutBetweenShapes")]
    pub fn copy_layouts_from(&mut self, source: &Shape) -> Result<(), Error> {
        let mut arrays = Vec::new();
        pairs(source, self, &mut |source, target| {
            check(source, target)?;
            arrays.push(source.layout.clone());
            Ok(())
        })?;
        let mut layouts = arrays.into_iter();
        self.for_each_array_mut(&mut |array| array.layout = layouts.next().flatten());
        Ok(())
    }

    /// Returns whether the arrays of two shapes have equal layouts, one by one; extents are not compared. XLA does not
    /// apply `ignore` inside tuples.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if ranks, tuple sizes or structures differ.
    ///
    /// ```
    /// use tilewright_xla::{Ignore, Shape};
    /// let a = Shape::parse("((f32[2,3]{0,1:T(2,2)}))").unwrap();
    /// let b = Shape::parse("((f32[4,5]{0,1}))").unwrap();
    /// assert_eq!(a.layouts_equal(&b, Ignore { tiles: true, ..Ignore::NOTHING }), Ok(true));
    /// assert_eq!(a.layouts_equal(&b, Ignore::NOTHING), Ok(false));
    /// let other = Shape::parse("(f32[4,5]{0,1})").unwrap();
    /// assert!(a.layouts_equal(&other, Ignore::NOTHING).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "LayoutsInShapesEqual")]
    pub fn layouts_equal(&self, other: &Shape, ignore: Ignore) -> Result<bool, Error> {
        let mut equal = true;
        pairs(self, other, &mut |a, b| {
            check_rank(a, b)?;
            equal &= match (&a.layout, &b.layout) {
                (Some(a), Some(b)) => a.equal(b, ignore),
                (a, b) => a.is_none() == b.is_none(),
            };
            Ok(())
        })?;
        Ok(equal)
    }
}

/// Checks that `target` can have the layout of `source`.
fn check(source: &ArrayShape, target: &ArrayShape) -> Result<(), Error> {
    check_rank(source, target)?;
    match &source.layout {
        // Splits are within bounds; an unbounded dim has none to check.
        Some(layout) if !layout.splits().is_empty() => layout.validate(&bounds(target)),
        _ => Ok(()),
    }
}

fn bounds(shape: &ArrayShape) -> Vec<u64> {
    let bound = |dim: &Dim| match *dim {
        Dim::Static(extent) | Dim::Bounded(extent) => extent,
        Dim::Unbounded => i64::MAX as u64,
    };
    shape.dims.iter().map(bound).collect()
}

fn check_rank(source: &ArrayShape, target: &ArrayShape) -> Result<(), Error> {
    if source.dims.len() == target.dims.len() {
        return Ok(());
    }
    Err(Error::mismatch(
        "ranks differ: {} and {}",
        [source.dims.len() as i128, target.dims.len() as i128],
        "a layout only fits arrays of its rank",
    ))
}

/// Calls `visit` for each pair of arrays at the same position.
fn pairs(
    a: &Shape,
    b: &Shape,
    visit: &mut dyn FnMut(&ArrayShape, &ArrayShape) -> Result<(), Error>,
) -> Result<(), Error> {
    match (a.kind(), b.kind()) {
        (ShapeKind::Array(a), ShapeKind::Array(b))
        | (ShapeKind::Buffer(a), ShapeKind::Buffer(b)) => visit(a, b),
        (ShapeKind::Tuple(a), ShapeKind::Tuple(b)) if a.len() == b.len() => {
            a.iter().zip(b).try_for_each(|(a, b)| pairs(a, b, visit))
        }
        (ShapeKind::Tuple(a), ShapeKind::Tuple(b)) => Err(Error::mismatch(
            "tuple element counts differ: {} and {}",
            [a.len() as i128, b.len() as i128],
            "the shapes must have the same structure",
        )),
        (ShapeKind::Token, ShapeKind::Token) | (ShapeKind::Opaque, ShapeKind::Opaque) => Ok(()),
        _ => Err(Error::mismatch(
            "shape structures differ: one has an array, tuple, token, opaque value or buffer where \
             the other has something else",
            [],
            "the shapes must have the same structure",
        )),
    }
}

impl ArrayShape {
    /// Returns the array in the plain row-major layout. The whole old layout is replaced; XLA's `SetToDefaultLayout` keeps
    /// the tiles, element size, alignment and memory space of the old order.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[2,3]{0,1:T(2,2)L(64)S(1)}").unwrap();
    /// assert_eq!(shape.with_default_layout().to_string(), "f32[2,3]{1,0}");
    /// ```
    #[doc(alias = "SetToDefaultLayout")]
    #[doc(alias = "GetWithDefaultLayout")]
    pub fn with_default_layout(mut self) -> ArrayShape {
        self.layout = Some(Layout::descending(self.dims.len()));
        self
    }

    /// Removes the layout.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let mut shape = ArrayShape::parse("f32[2,3]{0,1}").unwrap();
    /// shape.clear_layout();
    /// assert_eq!(shape.to_string(), "f32[2,3]");
    /// ```
    #[doc(alias = "ClearLayout")]
    pub fn clear_layout(&mut self) {
        self.layout = None;
    }

    /// Removes the tiles, and keeps the rest of the layout.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let mut shape = ArrayShape::parse("s4[8,128]{0,1:T(8,128)E(4)S(1)}").unwrap();
    /// shape.clear_tiles();
    /// assert_eq!(shape.to_string(), "s4[8,128]{0,1:E(4)S(1)}");
    /// ```
    #[doc(alias = "ClearTiles")]
    pub fn clear_tiles(&mut self) {
        self.layout = self.layout.take().map(|layout| layout.with_tiles(&[]));
    }

    /// Returns the memory space; 0, the default one, if there is no layout.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let space = |text| ArrayShape::parse(text).unwrap().memory_space();
    /// assert_eq!((space("f32[8]{0:S(5)}"), space("f32[8]")), (5, 0));
    /// ```
    #[doc(alias = "MemorySpace")]
    pub fn memory_space(&self) -> u64 {
        self.layout.as_ref().map_or(0, Layout::memory_space)
    }

    /// Returns whether the layout sets an element size in bits.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let custom = |text| ArrayShape::parse(text).unwrap().has_custom_element_size();
    /// assert!(custom("pred[8]{0:E(32)}") && !custom("pred[8]{0}"));
    /// ```
    #[doc(alias = "HasCustomElementSizeInBits")]
    pub fn has_custom_element_size(&self) -> bool {
        self.layout.as_ref().is_some_and(|layout| layout.element_size_in_bits() != 0)
    }
}

impl Shape {
    /// Gives every array the plain row-major layout; see [`ArrayShape::with_default_layout`].
    /// [`Shape::with_default_layouts`] keeps existing layouts.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let mut shape = Shape::parse("(f32[2,3]{0,1:T(2,2)}, token[])").unwrap();
    /// shape.set_to_default_layouts();
    /// assert_eq!(shape.to_string(), "(f32[2,3]{1,0}, token[])");
    /// ```
    #[doc(alias = "SetToDefaultLayout")]
    pub fn set_to_default_layouts(&mut self) {
        self.for_each_array_mut(&mut |array| {
            array.layout = Some(Layout::descending(array.dims.len()));
        });
    }

    /// Removes the layout of every array.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let mut shape = Shape::parse("(f32[2,3]{0,1}, b(f32[4]{0}))").unwrap();
    /// shape.clear_layouts();
    /// assert_eq!(shape.to_string(), "(f32[2,3], b(f32[4]))");
    /// assert!(!shape.has_any_layout());
    /// ```
    #[doc(alias = "ClearLayout")]
    pub fn clear_layouts(&mut self) {
        self.for_each_array_mut(&mut ArrayShape::clear_layout);
    }

    /// Removes the tiles of every array, and keeps the rest of the layouts.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let mut shape = Shape::parse("(f32[8,128]{0,1:T(8,128)}, token[])").unwrap();
    /// shape.clear_tiles();
    /// assert_eq!(shape.to_string(), "(f32[8,128]{0,1}, token[])");
    /// ```
    #[doc(alias = "ClearTiles")]
    pub fn clear_tiles(&mut self) {
        self.for_each_array_mut(&mut ArrayShape::clear_tiles);
    }

    /// Returns whether every array has a layout. Tokens and opaque values need none.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// assert!(Shape::parse("(f32[2]{0}, token[])").unwrap().has_layouts());
    /// assert!(!Shape::parse("(f32[2]{0}, f32[2])").unwrap().has_layouts());
    /// ```
    #[doc(alias = "HasLayout")]
    pub fn has_layouts(&self) -> bool {
        let mut all = true;
        self.for_each_array(&mut |array| all &= array.layout.is_some());
        all
    }

    /// Returns whether some array has a layout. XLA also returns true for a token or an opaque value, which has none.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let any = |text| Shape::parse(text).unwrap().has_any_layout();
    /// assert!(any("(f32[2], f32[3]{0})"));
    /// assert!(!any("(f32[2], f32[3])") && !any("token[]"));
    /// ```
    #[doc(alias = "HasAnyLayout")]
    pub fn has_any_layout(&self) -> bool {
        let mut any = false;
        self.for_each_array(&mut |array| any |= array.layout.is_some());
        any
    }

    /// Returns whether the layout of some array sets an element size in bits.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let custom = |text| Shape::parse(text).unwrap().has_custom_element_size();
    /// assert!(custom("(f32[2]{0}, s4[8]{0:E(4)})") && !custom("(f32[2]{0}, s4[8]{0})"));
    /// ```
    #[doc(alias = "HasCustomElementSizeInBits")]
    pub fn has_custom_element_size(&self) -> bool {
        let mut any = false;
        self.for_each_array(&mut |array| any |= array.has_custom_element_size());
        any
    }
}
