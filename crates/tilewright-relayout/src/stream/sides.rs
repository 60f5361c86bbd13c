//! The extents of boxes whose contiguous stretches have about equal length in two layouts, and a cut of an array into boxes.
//!
//! Laws: a box has at most the stated number of elements. The boxes contain every position once. Their shape affects speed
//! only.

use core::ops::Range;

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

/// An iterator over the boxes of an array, each as a range for each dim.
///
/// ```
/// use tilewright_relayout::Areas;
/// // Boxes of 2 rows and 2 columns, of which the rows change fastest.
/// let areas: Vec<_> = Areas::new(vec![3, 4], vec![2, 2], vec![0, 1]).collect();
/// assert_eq!(areas[..2], [vec![0..2, 0..2], vec![2..3, 0..2]]);
/// assert_eq!(areas.len(), 4);
/// ```
#[derive(Clone, Debug)]
pub struct Areas {
    extents: Vec<u64>,
    pub(crate) sides: Vec<u64>,
    order: Vec<usize>,
    next: Option<Vec<u64>>,
}

impl Areas {
    /// Cuts an array of these extents into boxes of the extents `sides`. The dims change in this order, the first fastest.
    ///
    /// ```
    /// assert_eq!(tilewright_relayout::Areas::new(vec![5], vec![2], vec![0]).next(), Some(vec![0..2]));
    /// ```
    pub fn new(extents: Vec<u64>, sides: Vec<u64>, order: Vec<usize>) -> Areas {
        let next = Some(vec![0; extents.len()]);
        Areas { extents, sides, order, next }
    }

    /// Returns the number of boxes.
    pub(crate) fn len(&self) -> u64 {
        let counts = self.extents.iter().zip(&self.sides).map(|(all, side)| all.div_ceil(*side));
        counts.fold(1, u64::saturating_mul)
    }
}

impl Iterator for Areas {
    type Item = Vec<Range<u64>>;

    fn next(&mut self) -> Option<Vec<Range<u64>>> {
        let low = self.next.take()?;
        let end = |dim: usize| low[dim].saturating_add(self.sides[dim]).min(self.extents[dim]);
        let area: Vec<Range<u64>> = (0..low.len()).map(|dim| low[dim]..end(dim)).collect();
        let mut next = low;
        for &dim in &self.order {
            if area[dim].end < self.extents[dim] {
                next[dim] = area[dim].end;
                self.next = Some(next);
                break;
            }
            next[dim] = 0;
        }
        Some(area)
    }
}

/// Returns the two halves of a box; `None` for a single position.
///
/// ```
/// use tilewright_relayout::halves;
/// assert_eq!(halves(&[0..3, 5..9]), Some([vec![0..3, 5..7], vec![0..3, 7..9]]));
/// assert!(halves(&[1..2, 5..6]).is_none() && halves(&[]).is_none());
/// ```
pub fn halves(area: &[Range<u64>]) -> Option<[Vec<Range<u64>>; 2]> {
    let len = |dim: &usize| area[*dim].end - area[*dim].start;
    let longest = (0..area.len()).max_by_key(len).filter(|dim| len(dim) > 1)?;
    let (mut low, mut high) = (area.to_vec(), area.to_vec());
    let middle = area[longest].start + len(&longest) / 2;
    (low[longest].end, high[longest].start) = (middle, middle);
    Some([low, high])
}
