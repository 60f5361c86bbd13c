//! Checks whether a reshape is free.
//!
//! Law: a reshape is free iff every element, by its row-major number, has the same offset before and after, with the same
//! bits, in a storage of the same length. XLA does not compare tiles and element sizes.

use tilewright_core::Error;

use super::{align, respell};
use crate::{ArrayShape, index_util, index_util::Indexer, permutation};

impl ArrayShape {
    /// Returns whether reshaping this array to `output` moves no byte. A reshape between two empty arrays is free; between
    /// arrays of different sizes or types, or in different memories, it is not.
    ///
    /// # Errors
    /// Those of [`ArrayShape::extents`] and [`Layout::lower`](crate::Layout::lower);
    /// [unsupported](Error::is_unsupported) if dims change while some are split over memories;
    /// [undecided](Error::is_undecided) as in [`same_function`](tilewright_core::TensorLayout::same_function), never a guess.
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let free = |a: &str, b: &str| {
    ///     ArrayShape::parse(a).unwrap().reshape_is_bitcast(&ArrayShape::parse(b).unwrap())
    /// };
    /// assert_eq!(free("f32[3,4]{1,0}", "f32[6,2]{1,0}"), Ok(true));
    /// assert_eq!(free("f32[4,6]{1,0:T(2,3)}", "f32[24]{0}"), Ok(false));
    /// assert_eq!(free("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", "f32[112,110]{1,0:T(2,3)}"), Ok(true));
    /// ```
    #[doc(alias = "ReshapeIsBitcast")]
    pub fn reshape_is_bitcast(&self, output: &ArrayShape) -> Result<bool, Error> {
        let (from, to) = (self.extents()?, output.extents()?);
        if from == to && self.dims == output.dims {
            return self.semantically_equal(output);
        }
        let elements = (index_util::count(&from)?, index_util::count(&to)?);
        if self.element_type != output.element_type
            || elements.0 != elements.1
            || !self.same_storage(output)?
        {
            return Ok(false);
        }
        let (before, after) = (self.layout_or_default(), output.layout_or_default());
        if !before.splits().is_empty() || !after.splits().is_empty() {
            return Err(Error::unsupported(
                "a reshape of {} dims to {} with dims split over memories",
                [from.len() as i128, to.len() as i128],
                "drop the splits first",
            ));
        }
        let tiled = !before.tiles().is_empty() || !after.tiles().is_empty();
        if elements.0 == 0 || !tiled && align::same_blocks(self, output)? {
            return Ok(true);
        }
        if witness(&Indexer::of(self)?, &Indexer::of(output)?)? {
            return Ok(false);
        }
        respell::same_order(&before.lower(&from)?, &after.lower(&to)?)
    }

    /// Returns whether `output` is the same bytes as this array in one of the ways that XLA knows: equal, a free reshape,
    /// or a free transpose by some permutation.
    ///
    /// # Errors
    /// Those of [`ArrayShape::reshape_is_bitcast`] and [`ArrayShape::deduce_transpose_dimensions_for_bitcast`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = |text: &str| ArrayShape::parse(text).unwrap();
    /// assert_eq!(shape("f32[5,3]{1,0}").is_reshape_or_transpose_bitcast(&shape("f32[3,5]{0,1}")), Ok(true));
    /// assert_eq!(shape("f32[5,3]{1,0}").is_reshape_or_transpose_bitcast(&shape("f32[3,5]{1,0}")), Ok(true));
    /// assert_eq!(shape("f32[5,3]{1,0}").is_reshape_or_transpose_bitcast(&shape("f32[5,3]{0,1}")), Ok(false));
    /// ```
    #[doc(alias = "IsReshapeOrTransposeBitcast")]
    pub fn is_reshape_or_transpose_bitcast(&self, output: &ArrayShape) -> Result<bool, Error> {
        Ok(self.reshape_is_bitcast(output)?
            || self.deduce_transpose_dimensions_for_bitcast(output)?.is_some())
    }
}

/// Returns whether one of a few elements has different offsets: those around the positions at which dims restart. This
/// decides most reshapes that are not free, of any rank, at once.
fn witness(a: &Indexer, b: &Indexer) -> Result<bool, Error> {
    let count = index_util::count(a.dims())?;
    let mut numbers = vec![count.saturating_sub(1)];
    for dims in [a.dims(), b.dims()] {
        let mut product = 1u64;
        for &dim in dims.iter().rev() {
            product = product.saturating_mul(dim);
            numbers.extend([product.saturating_sub(1), product, product.saturating_add(1)]);
        }
    }
    for number in numbers.into_iter().filter(|&number| number < count) {
        let offset = |indexer: &Indexer| {
            let rows: Vec<u64> = (0..indexer.dims().len() as u64).rev().collect();
            debug_assert!(permutation::is_permutation(&rows));
            indexer.offset(&index_util::multi_index(indexer.dims(), &rows, number)?)
        };
        if offset(a)? != offset(b)? {
            return Ok(true);
        }
    }
    Ok(false)
}
