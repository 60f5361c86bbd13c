//! Layouts for other dims that make the reshape to them free.
//!
//! Untiled dims between two split points of [`common_factors`] can change freely iff they are adjacent in storage, in
//! descending order; dims of extent 1 do not matter. Each group of dims is a block, and a free reshape keeps exactly the
//! order of the blocks in storage.

use tilewright_core::Error;

use super::common_factors;
use crate::{ArrayShape, Dim, permutation::index};

impl ArrayShape {
    /// Returns the array of `dims` that is the same bytes as this one, if there is one. Dims of extent 1 become the most
    /// major ones. The other properties of the layout are kept.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for another number of elements; [unsupported](Error::is_unsupported) for an array
    /// with tiles or splits if no aligned layout with the same ones is found; those of [`ArrayShape::reshape_is_bitcast`].
    ///
    /// ```
    /// use tilewright_xla::ArrayShape;
    /// let shape = ArrayShape::parse("f32[3,8,5,7,11]{3,2,1,0,4}").unwrap();
    /// let aligned = shape.align_layouts(&[4, 3, 2, 7, 5, 11]).unwrap().unwrap();
    /// assert_eq!(aligned.to_string(), "f32[4,3,2,7,5,11]{4,3,2,1,0,5}");
    /// assert_eq!(shape.align_layouts(&[4, 3, 2, 5, 77]), Ok(None));
    /// assert!(shape.align_layouts(&[4, 3]).unwrap_err().is_mismatch());
    /// ```
    #[doc(alias = "AlignLayouts")]
    pub fn align_layouts(&self, dims: &[u64]) -> Result<Option<ArrayShape>, Error> {
        let (from, layout) = (self.extents()?, self.checked_layout()?);
        let (long_from, long_to) = (long_dims(&from), long_dims(dims));
        let splits = common_factors(&picked(&from, &long_from), &picked(dims, &long_to))?;
        let cuts: Vec<usize> = splits.iter().map(|&(i, _)| i).collect();
        let tiled = !layout.tiles().is_empty() || !layout.splits().is_empty();
        let blocks = match blocks(&layout.major_to_minor(), &long_from, &cuts) {
            Some(blocks) => blocks,
            // Without elements, any order is free.
            None if from.contains(&0) => (0..splits.len().saturating_sub(1)).collect(),
            None if tiled => return Err(not_found(layout.tiles().len())),
            None => return Ok(None),
        };
        let long = |block: &usize| {
            let group = splits.get(*block).zip(splits.get(block + 1));
            group.map_or(&[][..], |(&(_, from), &(_, to))| long_to.get(from..to).unwrap_or(&[]))
        };
        let units = (0..dims.len()).filter(|dim| long_to.binary_search(dim).is_err());
        let order: Vec<u64> = units
            .chain(blocks.iter().flat_map(long).copied())
            .map(|dim| dim as u64)
            .collect::<Vec<_>>();
        let order: Vec<u64> = order.into_iter().rev().collect();
        let aligned = ArrayShape {
            element_type: self.element_type,
            dims: dims.iter().map(|&extent| Dim::Static(extent)).collect(),
            layout: Some(layout.replaced(&order)?),
        };
        match tiled {
            false => Ok(Some(aligned)),
            true if self.reshape_is_bitcast(&aligned)? => Ok(Some(aligned)),
            true => Err(not_found(layout.tiles().len())),
        }
    }
}

fn not_found(tiles: usize) -> Error {
    Error::unsupported(
        "no layout with the same {} tiles makes this reshape free",
        [tiles as i128],
        "align the untiled array",
    )
}

/// Returns the dims whose extent is not 1.
fn long_dims(extents: &[u64]) -> Vec<usize> {
    (0..extents.len()).filter(|&dim| extents.get(dim) != Some(&1)).collect()
}

fn picked(extents: &[u64], dims: &[usize]) -> Vec<u64> {
    dims.iter().filter_map(|&dim| extents.get(dim).copied()).collect()
}

/// Returns the blocks, cut from the long dims at `cuts`, in storage order, slowest first; `None` if the dims of a block
/// are not adjacent there or not in order.
fn blocks(major_to_minor: &[u64], long: &[usize], cuts: &[usize]) -> Option<Vec<usize>> {
    let numbers = major_to_minor.iter().map(|&dim| index(dim));
    let mut stored = numbers.filter_map(|dim| long.binary_search(&dim).ok());
    let mut blocks = Vec::new();
    while let Some(first) = stored.next() {
        let block = cuts.binary_search(&first).ok()?;
        let end = *cuts.get(block + 1)?;
        for wanted in first + 1..end {
            if stored.next()? != wanted {
                return None;
            }
        }
        blocks.push(block);
    }
    Some(blocks)
}

/// Returns whether two untiled arrays of one size have the same blocks in the same order, which suffices for a free
/// reshape.
pub(super) fn same_blocks(a: &ArrayShape, b: &ArrayShape) -> Result<bool, Error> {
    let (from, to) = (a.extents()?, b.extents()?);
    let (long_from, long_to) = (long_dims(&from), long_dims(&to));
    let splits = common_factors(&picked(&from, &long_from), &picked(&to, &long_to))?;
    let (cuts_a, cuts_b): (Vec<usize>, Vec<usize>) = splits.into_iter().unzip();
    let stored = |shape: &ArrayShape, long: &[usize], cuts: &[usize]| {
        Ok(blocks(&shape.checked_layout()?.major_to_minor(), long, cuts))
    };
    let before = stored(a, &long_from, &cuts_a)?;
    Ok(before.is_some() && before == stored(b, &long_to, &cuts_b)?)
}
