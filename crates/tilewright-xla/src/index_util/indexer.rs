//! Exact offsets under any layout, of any rank: applies the walk over the tiles to an index.
//!
//! Laws: `locate(offset(index)) = Element(index)`; every offset below the capacity holds one element or padding; if
//! [`Layout::lower`] succeeds, the offsets are equal.

use tilewright_core::{Error, Place};

use super::linear::check_index;
use crate::{ArrayShape, Layout, PaddedShape, TileDim, permutation};

/// The offsets of the elements of one array: prepared once, used often.
///
/// Neither the rank nor the nesting of tiles is limited, unlike [`Layout::lower`]. Offsets count elements.
///
/// Source: XLA's `docs/tiled_layout.md`.
///
/// ```
/// use tilewright_core::Place;
/// use tilewright_xla::{ArrayShape, index_util::Indexer};
/// let shape = ArrayShape::parse("f32[3,5]{1,0:T(2,2)}").unwrap();
/// let indexer = Indexer::of(&shape).unwrap();
/// assert_eq!((indexer.offset(&[2, 3]), indexer.capacity()), (Ok(17), 24));
/// assert_eq!(indexer.locate(10), Place::Element(vec![1, 4]));
/// assert_eq!((indexer.locate(9), indexer.locate(24)), (Place::Padding, Place::OutOfRange));
/// assert!(indexer.offset(&[2, 5]).unwrap_err().is_out_of_range());
/// ```
#[must_use]
#[derive(Clone, Debug)]
#[doc(alias = "LinearIndexForNestedTiling")]
#[doc(alias = "DelinearizeIndexForNestedTiling")]
pub struct Indexer {
    dims: Vec<u64>,
    major_to_minor: Vec<usize>,
    levels: Vec<Level>,
    bounds: Vec<u64>,
    capacity: u64,
}

/// One tile and the dims that it covers.
#[derive(Clone, Debug)]
struct Level {
    /// The number of dims of extent 1 that are prepended because the tile is longer.
    missing: usize,
    groups: Vec<MergedDims>,
    /// The number of dims in all groups.
    taken: usize,
}

/// Dims that are merged and then cut.
#[derive(Clone, Debug)]
struct MergedDims {
    /// The extents of the dims, major to minor.
    bounds: Vec<u64>,
    merged: u64,
    by: u64,
}

impl Indexer {
    /// Creates the indexer of an array of these dims in this layout.
    ///
    /// # Errors
    /// Those of [`Layout::padded_elements`].
    ///
    /// ```
    /// use tilewright_xla::{Layout, index_util::Indexer};
    /// // Tiles that do not divide one another.
    /// let layout = Layout::parse("{1,0:T(3,4)(2,1)}").unwrap();
    /// let indexer = Indexer::new(&layout, &[6, 8]).unwrap();
    /// assert_eq!((indexer.capacity(), indexer.offset(&[2, 0])), (64, Ok(8)));
    /// assert!(Indexer::new(&layout, &[6]).unwrap_err().is_mismatch());
    /// ```
    pub fn new(layout: &Layout, dims: &[u64]) -> Result<Indexer, Error> {
        let bounds = layout.final_bounds(dims)?;
        let capacity = layout.padded_elements(dims)?;
        let order = layout.minor_to_major().iter().rev().map(|&dim| permutation::index(dim));
        let major_to_minor: Vec<usize> = order.collect();
        let levels = levels(layout, layout.physical(dims));
        Ok(Indexer { dims: dims.to_vec(), major_to_minor, levels, bounds, capacity })
    }

    /// Creates the indexer of an array of this shape, in its layout, row-major if there is none. A bounded dim has its
    /// bound.
    ///
    /// # Errors
    /// Those of [`ArrayShape::extents`] and [`Indexer::new`].
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, index_util::Indexer};
    /// let indexer = |text| Indexer::of(&ArrayShape::parse(text).unwrap());
    /// assert_eq!(indexer("f32[<=4,8]").unwrap().offset(&[3, 7]), Ok(31));
    /// assert!(indexer("f32[?,8]").unwrap_err().is_unsupported());
    /// ```
    pub fn of(shape: &ArrayShape) -> Result<Indexer, Error> {
        Indexer::new(&shape.layout_or_default(), &shape.extents()?)
    }

    /// Creates the indexer of an array padded to widths.
    ///
    /// ```
    /// use tilewright_core::Place;
    /// use tilewright_xla::{PaddedShape, index_util::Indexer};
    /// let shape = PaddedShape::parse("f32[2,3]{0,1}pad(3,5)fill(0)").unwrap();
    /// let indexer = Indexer::of_padded(&shape);
    /// assert_eq!((indexer.offset(&[1, 2]), indexer.capacity()), (Ok(7), 15));
    /// assert_eq!((indexer.locate(7), indexer.locate(8)), (Place::Element(vec![1, 2]), Place::Padding));
    /// ```
    pub fn of_padded(shape: &PaddedShape) -> Indexer {
        let order = shape.layout().minor_to_major().iter().rev();
        let major_to_minor: Vec<usize> = order.map(|&dim| permutation::index(dim)).collect();
        let width = |&dim: &usize| shape.widths().get(dim).copied().unwrap_or(0);
        let bounds = major_to_minor.iter().map(width).collect();
        let (dims, capacity) = (shape.extents().to_vec(), shape.capacity());
        Indexer { dims, major_to_minor, levels: Vec::new(), bounds, capacity }
    }

    /// Returns the length of the storage, in elements.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, index_util::Indexer};
    /// let shape = ArrayShape::parse("bf16[20,200]{1,0:T(8,128)(2,1)}").unwrap();
    /// // Three rows of tiles by two, 1024 elements each.
    /// assert_eq!(Indexer::of(&shape).unwrap().capacity(), 6 * 1024);
    /// ```
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns the extents of the array.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, index_util::Indexer};
    /// let shape = ArrayShape::parse("f32[<=20,200]{1,0:T(8,128)}").unwrap();
    /// // The range of an index, without padding and flags.
    /// assert_eq!(Indexer::of(&shape).unwrap().dims(), [20, 200]);
    /// ```
    pub fn dims(&self) -> &[u64] {
        &self.dims
    }

    /// Returns the offset of the element with this index, in elements.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for an index of another rank; [out of range](Error::is_out_of_range) for an index
    /// outside the dims.
    ///
    /// ```
    /// use tilewright_xla::{ArrayShape, index_util::Indexer};
    /// let shape = ArrayShape::parse("bf16[20,200]{1,0:T(8,128)(2,1)}").unwrap();
    /// let indexer = Indexer::of(&shape).unwrap();
    /// // Two rows share a word: the element below is next, the element to the right follows it.
    /// assert_eq!([[0, 0], [1, 0], [0, 1]].map(|index| indexer.offset(&index)), [Ok(0), Ok(1), Ok(2)]);
    /// assert!(indexer.offset(&[20, 0]).unwrap_err().is_out_of_range());
    /// assert!(indexer.offset(&[0]).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "LinearIndex")]
    pub fn offset(&self, index: &[u64]) -> Result<u64, Error> {
        check_index(&self.dims, index)?;
        let entry = |&dim: &usize| index.get(dim).copied().unwrap_or(0);
        let mut entries: Vec<u64> = self.major_to_minor.iter().map(entry).collect();
        for level in &self.levels {
            level.enter(&mut entries);
        }
        Ok(ravel(&entries, &self.bounds))
    }

    /// Returns the element or padding at an offset.
    ///
    /// ```
    /// use tilewright_core::Place;
    /// use tilewright_xla::{ArrayShape, index_util::Indexer};
    /// let shape = ArrayShape::parse("bf16[20,200]{1,0:T(8,128)(2,1)}").unwrap();
    /// let indexer = Indexer::of(&shape).unwrap();
    /// assert_eq!(indexer.locate(1), Place::Element(vec![1, 0]));
    /// // Column 200 does not exist: it is 72 columns into the second tile.
    /// assert_eq!(indexer.locate(1024 + 2 * 72), Place::Padding);
    /// ```
    pub fn locate(&self, offset: u64) -> Place<Vec<u64>> {
        if offset >= self.capacity {
            return Place::OutOfRange;
        }
        self.element(offset).map_or(Place::Padding, Place::Element)
    }

    fn element(&self, offset: u64) -> Option<Vec<u64>> {
        let mut entries = unravel(offset, &self.bounds)?;
        for level in self.levels.iter().rev() {
            level.leave(&mut entries)?;
        }
        let mut index = vec![0; self.dims.len()];
        for (&dim, entry) in self.major_to_minor.iter().zip(entries) {
            *index.get_mut(dim)? = entry;
        }
        // Padded widths exceed the extents.
        index.iter().zip(&self.dims).all(|(entry, extent)| entry < extent).then_some(index)
    }
}

impl Level {
    /// Converts the entries outside the tile to those inside.
    fn enter(&self, entries: &mut Vec<u64>) {
        entries.splice(0..0, std::iter::repeat_n(0, self.missing));
        let mut rest = entries.split_off(entries.len().saturating_sub(self.taken));
        let mut inner = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let tail = rest.split_off(group.bounds.len().min(rest.len()));
            let merged = ravel(&rest, &group.bounds);
            entries.push(merged / group.by);
            inner.push(merged % group.by);
            rest = tail;
        }
        entries.append(&mut inner);
    }

    /// Converts back; `None` if no entries outside lead here.
    fn leave(&self, entries: &mut Vec<u64>) -> Option<()> {
        let count = self.groups.len();
        let inner = entries.split_off(entries.len().checked_sub(count)?);
        let outer = entries.split_off(entries.len().checked_sub(count)?);
        for ((group, quotient), remainder) in self.groups.iter().zip(outer).zip(inner) {
            let merged = quotient.checked_mul(group.by)?.checked_add(remainder)?;
            entries.extend(unravel(merged, &group.bounds)?);
        }
        entries.drain(..self.missing.min(entries.len()));
        Some(())
    }
}

/// Returns the row-major number of entries within bounds.
fn ravel(entries: &[u64], bounds: &[u64]) -> u64 {
    entries.iter().zip(bounds).fold(0, |number, (entry, bound)| number * bound + entry)
}

/// Returns the entries of a row-major number, if it is within the bounds.
fn unravel(number: u64, bounds: &[u64]) -> Option<Vec<u64>> {
    let (mut entries, mut rest) = (vec![0; bounds.len()], number);
    for (entry, &bound) in entries.iter_mut().zip(bounds).rev() {
        *entry = rest.checked_rem(bound)?;
        rest /= bound;
    }
    (rest == 0).then_some(entries)
}

/// Returns the tiles of a layout that is known to fit, each with the dims that it covers.
fn levels(layout: &Layout, mut bounds: Vec<u64>) -> Vec<Level> {
    let mut levels = Vec::with_capacity(layout.tiles().len());
    for tile in layout.tiles() {
        let missing = tile.dims().len().saturating_sub(bounds.len());
        bounds.splice(0..0, std::iter::repeat_n(1, missing));
        let taken = tile.dims().len();
        let suffix = bounds.split_off(bounds.len() - taken);
        let groups = groups(&suffix, tile.dims());
        bounds.extend(groups.iter().map(|group| group.merged.div_ceil(group.by)));
        bounds.extend(groups.iter().map(|group| group.by));
        levels.push(Level { missing, groups, taken });
    }
    levels
}

fn groups(suffix: &[u64], dims: &[TileDim]) -> Vec<MergedDims> {
    let (mut groups, mut bounds) = (Vec::new(), Vec::new());
    for (&bound, &dim) in suffix.iter().zip(dims) {
        bounds.push(bound);
        if let TileDim::Size(by) = dim {
            let merged = bounds.iter().fold(1u64, |product, &bound| product.saturating_mul(bound));
            groups.push(MergedDims { bounds: std::mem::take(&mut bounds), merged, by });
        }
    }
    groups
}

impl ArrayShape {
    /// Returns the offset of an element, in elements, exact under any tiles. For many elements, use an [`Indexer`].
    ///
    /// # Errors
    /// Those of [`Indexer::of`] and [`Indexer::offset`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("bf16[2048]{0:T(1024)(128)(2,1)}").unwrap();
    /// assert_eq!((shape.linear_index(&[128]), shape.linear_index(&[1])), (Ok(1), Ok(2)));
    /// assert!(shape.linear_index(&[2048]).unwrap_err().is_out_of_range());
    /// ```
    #[doc(alias = "LinearIndexForNestedTiling")]
    pub fn linear_index(&self, index: &[u64]) -> Result<u64, Error> {
        Indexer::of(self)?.offset(index)
    }

    /// Returns what an offset holds: an element, padding, or out of range.
    ///
    /// # Errors
    /// Those of [`Indexer::of`].
    ///
    /// ```
    /// use tilewright_core::Place;
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[3,5]{1,0:T(2,2)}").unwrap();
    /// assert_eq!(shape.multi_index(10), Ok(Place::Element(vec![1, 4])));
    /// assert_eq!(shape.multi_index(9), Ok(Place::Padding));
    /// assert!(ArrayShape::parse("f32[?]").unwrap().multi_index(0).unwrap_err().is_unsupported());
    /// ```
    #[doc(alias = "DelinearizeIndexForNestedTiling")]
    pub fn multi_index(&self, offset: u64) -> Result<Place<Vec<u64>>, Error> {
        Ok(Indexer::of(self)?.locate(offset))
    }
}
