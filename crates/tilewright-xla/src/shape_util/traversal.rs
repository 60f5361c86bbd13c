//! Iteration over the indices of an array, or over a regular subset, in the order of its dims.

use std::ops::ControlFlow;

use tilewright_core::Error;

use crate::{
    ArrayShape, index_util,
    permutation::{self, index},
};

/// Calls `visit` with each index `base ≤ i < base + count`, in steps of `step`, the most minor dim fastest, until it
/// breaks. A count of 0 keeps a dim at its base; an empty array has no indices.
///
/// To run in parallel, split the most major dim and call this for each part.
///
/// # Errors
/// [mismatch](Error::is_mismatch) for lists of another length than the dims; [illegal](Error::is_illegal) for an order
/// that is not a permutation, and for a step of 0 with a count above 0, with which XLA never ends;
/// [out of range](Error::is_out_of_range) for a range that leaves the array; [overflow](Error::is_overflow) beyond 2⁶³ − 1
/// elements.
///
/// ```
/// use std::ops::ControlFlow;
/// use tilewright_xla::shape_util::for_each_index;
/// let mut seen = Vec::new();
/// let done = for_each_index(&[2, 2], &[1, 0], &[1, 0], &[0, 2], &[0, 1], |index| {
///     seen.push(index.to_vec());
///     ControlFlow::<()>::Continue(())
/// });
/// assert_eq!(done, Ok(ControlFlow::Continue(())));
/// assert_eq!(seen, [[1, 0], [1, 1]]);
/// let stuck = for_each_index(&[2], &[0], &[0], &[2], &[0], |_| ControlFlow::<()>::Continue(()));
/// assert!(stuck.unwrap_err().is_illegal());
/// ```
#[doc(alias = "ForEachIndex")]
#[doc(alias = "ForEachIndexWithStatus")]
#[doc(alias = "ForEachIndexNoStatus")]
pub fn for_each_index<B>(
    dims: &[u64],
    minor_to_major: &[u64],
    base: &[u64],
    count: &[u64],
    step: &[u64],
    mut visit: impl FnMut(&[u64]) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, Error> {
    permutation::check(minor_to_major, dims.len())?;
    let elements = index_util::count(dims)?;
    let ranges = ranges(dims, base, count, step)?;
    if elements == 0 {
        return Ok(ControlFlow::Continue(()));
    }
    let mut at = base.to_vec();
    loop {
        if let ControlFlow::Break(value) = visit(&at) {
            return Ok(ControlFlow::Break(value));
        }
        if !advance(&mut at, &ranges, minor_to_major) {
            return Ok(ControlFlow::Continue(()));
        }
    }
}

/// The indices of one dim.
struct Range {
    base: u64,
    end: u64,
    step: u64,
}

/// Moves to the next index; returns `false` after the last.
fn advance(at: &mut [u64], ranges: &[Range], minor_to_major: &[u64]) -> bool {
    for &dim in minor_to_major {
        let (Some(entry), Some(range)) = (at.get_mut(index(dim)), ranges.get(index(dim))) else {
            continue;
        };
        match entry.checked_add(range.step) {
            Some(next) if next < range.end => {
                *entry = next;
                return true;
            }
            _ => *entry = range.base,
        }
    }
    false
}

fn ranges(dims: &[u64], base: &[u64], count: &[u64], step: &[u64]) -> Result<Vec<Range>, Error> {
    if [base.len(), count.len(), step.len()] != [dims.len(); 3] {
        return Err(Error::mismatch(
            "{} bases, {} counts and {} steps for {} dims",
            [base.len() as i128, count.len() as i128, step.len() as i128, dims.len() as i128],
            "give one of each per dim",
        ));
    }
    let mut ranges = Vec::with_capacity(dims.len());
    for (at, (&dim, ((&base, &count), &step))) in
        dims.iter().zip(base.iter().zip(count).zip(step)).enumerate()
    {
        let end = base.checked_add(count).filter(|&end| end <= dim && base <= dim);
        let Some(end) = end else {
            return Err(Error::out_of_range(
                "dim {}: {} indices from {} in an extent of {}",
                [at as i128, count.into(), base.into(), dim.into()],
                "the range has to be within the array",
            ));
        };
        if count == 0 && base == dim && dim > 0 {
            return Err(Error::out_of_range(
                "dim {} kept at index {} of {}",
                [at as i128, base.into(), dim.into()],
                "indices count from 0",
            ));
        }
        if step == 0 && count > 0 {
            return Err(Error::illegal(
                "dim {}: {} indices in steps of 0",
                [at as i128, count.into()],
                "a step is 1 or more; a count of 0 keeps the dim at its base",
            ));
        }
        ranges.push(Range { base, end, step });
    }
    Ok(ranges)
}

impl ArrayShape {
    /// Calls `visit` with every index, in the order of the layout's dims, the most minor fastest, until it breaks. With
    /// tiles this is not storage order; to iterate by offsets, use [`Indexer::locate`](index_util::Indexer).
    ///
    /// # Errors
    /// Those of [`for_each_index`] and [`ArrayShape::extents`].
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use tilewright_xla::ArrayShape;
    /// let mut seen = Vec::new();
    /// let shape = ArrayShape::parse("f32[2,2]{0,1}").unwrap();
    /// let done = shape.for_each_index(|index| {
    ///     seen.push(index.to_vec());
    ///     if seen.len() == 3 { ControlFlow::Break("three") } else { ControlFlow::Continue(()) }
    /// });
    /// assert_eq!(done, Ok(ControlFlow::Break("three")));
    /// assert_eq!(seen, [[0, 0], [1, 0], [0, 1]]);
    /// ```
    #[doc(alias = "ForEachIndex")]
    pub fn for_each_index<B>(
        &self,
        visit: impl FnMut(&[u64]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Error> {
        let (dims, rank) = (self.extents()?, self.dims.len());
        let layout = self.checked_layout()?;
        for_each_index(&dims, layout.minor_to_major(), &vec![0; rank], &dims, &vec![1; rank], visit)
    }
}
