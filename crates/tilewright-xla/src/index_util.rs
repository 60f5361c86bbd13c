//! Conversion between indices and offsets: XLA's `IndexUtil`, and the index functions of its `LayoutUtil`.
//!
//! The functions of this module use only an order of the dims, without tiles or padding, like XLA's. [`Indexer`] uses
//! the whole layout: tiles, `*` and alignment, by the walk over the tiles. It takes layouts of any rank.
//!
//! Laws: `multi_index(dims, order, linear_index(dims, order, index)) = index`, and the linear indices are 0 up to the
//! number of elements. Of an indexer, `locate(offset(index)) = Element(index)`; every offset below the capacity holds
//! one element or padding; if [`Layout::lower`] succeeds, the offsets are equal.
//!
//! Source: `xla/index_util.h`, `xla/layout_util.h`.

use std::cmp::Ordering;

use tilewright_core::{Error, Place};

use crate::{ArrayShape, Layout, PaddedShape, TileDim, permutation};

/// Returns the position of an element in dense storage whose dims, fastest first, are in the order `minor_to_major`:
/// `Σ index[m[k]] · Π_{j<k} dims[m[j]]`. Rank 0 has only position 0.
///
/// # Errors
/// [mismatch](Error::is_mismatch) for an order or an index of another rank than the dims; [illegal](Error::is_illegal)
/// for an order that is not a permutation; [out of range](Error::is_out_of_range) for an index outside the dims;
/// [overflow](Error::is_overflow) beyond 2⁶³ − 1 elements.
///
/// ```
/// use tilewright_xla::index_util::linear_index;
/// assert_eq!(linear_index(&[10, 20], &[0, 1], &[3, 5]), Ok(53));
/// assert_eq!(linear_index(&[10, 20], &[1, 0], &[3, 5]), Ok(65));
/// assert!(linear_index(&[10, 20], &[1, 0], &[3, 20]).unwrap_err().is_out_of_range());
/// ```
#[doc(alias = "MultidimensionalIndexToLinearIndex")]
pub fn linear_index(dims: &[u64], minor_to_major: &[u64], index: &[u64]) -> Result<u64, Error> {
    let digits = in_order(dims, minor_to_major)?;
    check_index(dims, index)?;
    let entry = |&(dim, extent): &(usize, u64)| (index.get(dim).copied().unwrap_or(0), extent);
    Ok(digits.iter().rev().map(entry).fold(0, |linear, (entry, extent)| linear * extent + entry))
}

/// Returns the index of the element at a position: the inverse of [`linear_index`].
///
/// # Errors
/// Those of [`linear_index`]; [out of range](Error::is_out_of_range) for a position that is not below the number of
/// elements, also if that is 0.
///
/// ```
/// use tilewright_xla::index_util::multi_index;
/// assert_eq!(multi_index(&[10, 20], &[0, 1], 53).unwrap(), [3, 5]);
/// assert!(multi_index(&[10, 20], &[0, 1], 200).unwrap_err().is_out_of_range());
/// assert!(multi_index(&[3, 0], &[1, 0], 0).unwrap_err().is_out_of_range());
/// ```
#[doc(alias = "LinearIndexToMultidimensionalIndex")]
pub fn multi_index(dims: &[u64], minor_to_major: &[u64], linear: u64) -> Result<Vec<u64>, Error> {
    let digits = in_order(dims, minor_to_major)?;
    let count = digits.iter().fold(1, |count, &(_, extent)| count * extent);
    if linear >= count {
        return Err(Error::out_of_range(
            "linear index {} of an array of {} elements",
            [linear.into(), count.into()],
            "linear indices count from 0",
        ));
    }
    let (mut index, mut rest) = (vec![0; dims.len()], linear);
    for (dim, extent) in digits {
        if let Some(entry) = index.get_mut(dim) {
            *entry = rest % extent;
        }
        rest /= extent;
    }
    Ok(index)
}

/// Returns the dims with their extents, fastest first; checks that their product, with empty dims as 1, fits.
fn in_order(dims: &[u64], minor_to_major: &[u64]) -> Result<Vec<(usize, u64)>, Error> {
    permutation::check(minor_to_major, dims.len())?;
    count(dims)?;
    let digit = |&dim: &u64| {
        let dim = permutation::index(dim);
        Some((dim, *dims.get(dim)?))
    };
    Ok(minor_to_major.iter().filter_map(digit).collect())
}

/// Returns the number of elements.
///
/// # Errors
/// Overflow beyond 2⁶³ − 1, also of the other dims of an empty array.
pub(crate) fn count(dims: &[u64]) -> Result<u64, Error> {
    let (mut product, mut empty) = (1u128, false);
    for (at, &dim) in dims.iter().enumerate() {
        empty |= dim == 0;
        product *= u128::from(dim.max(1));
        if product > i64::MAX as u128 {
            return Err(Error::overflow(
                "the dims up to dim {} multiply to {} elements",
                [at as i128, product as i128],
                "an array has at most 2^63 - 1 elements",
            ));
        }
    }
    Ok(if empty { 0 } else { product as u64 })
}

/// Checks that an index is inside the dims.
pub(crate) fn check_index(dims: &[u64], index: &[u64]) -> Result<(), Error> {
    if dims.len() != index.len() {
        return Err(Error::mismatch(
            "an index of {} entries into an array of {} dims",
            [index.len() as i128, dims.len() as i128],
            "give one entry per dim",
        ));
    }
    match index.iter().zip(dims).position(|(entry, dim)| entry >= dim) {
        None => Ok(()),
        Some(at) => Err(Error::out_of_range(
            "index {} in dim {} of extent {}",
            [
                index.get(at).copied().unwrap_or(0).into(),
                at as i128,
                dims.get(at).copied().unwrap_or(0).into(),
            ],
            "indices count from 0",
        )),
    }
}

/// Returns whether an element has this index: the index has the rank of the dims, and each entry is at least 0 and below
/// its dim. XLA accepts negative indices.
///
/// ```
/// use tilewright_xla::index_util::index_in_bounds;
/// assert!(index_in_bounds(&[2, 2], &[1, 0]) && index_in_bounds(&[], &[]));
/// assert!(!index_in_bounds(&[2, 2], &[-1, 0]) && !index_in_bounds(&[2, 2], &[1]));
/// ```
#[doc(alias = "IndexInBounds")]
pub fn index_in_bounds(dims: &[u64], index: &[i64]) -> bool {
    let within = |(&entry, &dim): (&i64, &u64)| u64::try_from(entry).is_ok_and(|at| at < dim);
    dims.len() == index.len() && index.iter().zip(dims).all(within)
}

/// Compares two indices in row-major order: the first entries that differ decide.
///
/// # Errors
/// [mismatch](Error::is_mismatch) for indices of different ranks, where XLA aborts.
///
/// ```
/// use std::cmp::Ordering;
/// use tilewright_xla::index_util::compare_indices;
/// assert_eq!(compare_indices(&[1, 9], &[2, 0]), Ok(Ordering::Less));
/// assert!(compare_indices(&[1], &[1, 0]).unwrap_err().is_mismatch());
/// ```
#[doc(alias = "CompareIndices")]
pub fn compare_indices(a: &[u64], b: &[u64]) -> Result<Ordering, Error> {
    if a.len() != b.len() {
        return Err(Error::mismatch(
            "an index of {} entries compared with one of {}",
            [a.len() as i128, b.len() as i128],
            "compare only indices into arrays of equal rank",
        ));
    }
    Ok(a.cmp(b))
}

/// Moves an index to the next one in logical row-major order (the last dim fastest), whatever the layout. At the last
/// index, returns `false` and changes nothing.
///
/// # Errors
/// [mismatch](Error::is_mismatch) for an index of another rank; [out of range](Error::is_out_of_range) for an index
/// outside the dims. The index is unchanged in both cases.
///
/// ```
/// use tilewright_xla::index_util::bump_indices;
/// let mut index = [0, 1];
/// assert_eq!((bump_indices(&[2, 2], &mut index), index), (Ok(true), [1, 0]));
/// let mut last = [1, 1];
/// assert_eq!((bump_indices(&[2, 2], &mut last), last), (Ok(false), [1, 1]));
/// assert!(bump_indices(&[2, 2], &mut [0, 2]).unwrap_err().is_out_of_range());
/// ```
#[doc(alias = "BumpIndices")]
pub fn bump_indices(dims: &[u64], index: &mut [u64]) -> Result<bool, Error> {
    check_index(dims, index)?;
    let next = index.iter().zip(dims).rposition(|(&entry, &dim)| entry + 1 < dim);
    let Some(at) = next else { return Ok(false) };
    for (dim, entry) in index.iter_mut().enumerate().skip(at) {
        *entry = if dim == at { *entry + 1 } else { 0 };
    }
    Ok(true)
}

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
