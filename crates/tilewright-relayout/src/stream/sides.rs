//! The extents of boxes whose contiguous stretches have about equal length in two layouts.
//!
//! Law: a box has at most the stated number of elements. Its shape affects speed only.

/// A digit of a dim in the storage order of an array: its values step over `place` coordinates of the dim `axis`.
///
/// ```
/// // The rows within a tile of 8 rows, and the tiles.
/// use tilewright_relayout::DimDigit;
/// let dim = [DimDigit { axis: 0, place: 1, extent: 8 }, DimDigit { axis: 0, place: 8, extent: 100 }];
/// assert_eq!(dim[1].place, dim[0].place * dim[0].extent);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DimDigit {
    /// The dim.
    pub axis: usize,
    /// The coordinates of one step.
    pub place: u64,
    /// The number of values.
    pub extent: u64,
}

/// A box that cannot double grows to a multiple of this, which kernels move best.
const GRAIN: u64 = 16;

/// Returns the extents of a box of at most `most` elements, at least one. `stored` has the digits of two storage
/// orders, the contiguous ones first. The box begins as one element. Then it grows along the next digit of the order
/// with the shorter stretches, up to twice as far.
///
/// ```
/// use tilewright_relayout::{DimDigit, box_extents};
/// let (rows, columns) = (DimDigit { axis: 0, place: 1, extent: 3001 }, DimDigit { axis: 1, place: 1, extent: 7007 });
/// // One is stored by rows, the other by columns.
/// assert_eq!(box_extents(&[3001, 7007], [&[columns, rows], &[rows, columns]], 4096), [64, 64]);
/// ```
pub fn box_extents(extents: &[u64], stored: [&[DimDigit]; 2], most: u64) -> Vec<u64> {
    let mut sides = vec![1; extents.len()];
    loop {
        let size: u64 = sides.iter().product();
        let mut ordered = stored;
        tilewright_core::sort_short(&mut ordered, |stored| stretch(stored, &sides, extents));
        let grown = ordered.into_iter().find_map(|stored| {
            let (axis, to) = growth(stored, &sides, extents)?;
            let room = most / (size / sides[axis]);
            let to = if to <= room { to } else { room / GRAIN * GRAIN };
            (to > sides[axis]).then_some((axis, to))
        });
        match grown {
            Some((axis, to)) => sides[axis] = to,
            None => return sides,
        }
    }
}

/// Returns the number of coordinates that a digit reaches along its dim.
fn end(digit: &DimDigit, extents: &[u64]) -> u64 {
    digit.place.saturating_mul(digit.extent).min(extents[digit.axis])
}

/// Returns the number of elements of a box that are contiguous in memory.
fn stretch(stored: &[DimDigit], sides: &[u64], extents: &[u64]) -> u64 {
    let mut run = 1u64;
    for digit in stored {
        let end = end(digit, extents);
        let reached = sides[digit.axis].min(end).div_ceil(digit.place);
        run = run.saturating_mul(reached);
        if sides[digit.axis] < end {
            break;
        }
    }
    run
}

/// Returns the dim that extends the stretches, and its next extent; `None` if the box contains the whole array.
fn growth(stored: &[DimDigit], sides: &[u64], extents: &[u64]) -> Option<(usize, u64)> {
    let digit = stored.iter().find(|digit| sides[digit.axis] < end(digit, extents))?;
    let twice = sides[digit.axis].max(digit.place).saturating_mul(2) / digit.place * digit.place;
    Some((digit.axis, twice.min(end(digit, extents))))
}
