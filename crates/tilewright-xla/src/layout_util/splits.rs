//! Dims that are split over several memories, and the length of the longest piece.

use tilewright_core::Error;

use crate::{ArrayShape, Layout, Split, permutation::index, shape_util::dimension_number};

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
