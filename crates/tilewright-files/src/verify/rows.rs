//! Traverses two layouts together over a box of coordinates: row by row along one logical dim, in stretches whose offsets are
//! arithmetic sequences on both sides. Comparisons of tensors and reads of boxes use it.
//!
//! Law: every coordinate of the box is part of one stretch, whose offsets are those of [`TensorLayout::offset`].

use tilewright_core::{Error, Run, TensorLayout};

use crate::verify::boxes::{Area, by_stride};

/// The number of elements from which on a row is long enough.
const LONG: u64 = 16;

/// Elements `from..from + len` of a row, and their offsets on either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) from: u64,
    pub(crate) len: u64,
    /// Offset and stride in the first layout.
    pub(crate) a: (i64, i64),
    /// Offset and stride in the second.
    pub(crate) b: (i64, i64),
}

/// The rows of two layouts of equal, non-empty extents.
pub(crate) struct Rows<'a> {
    a: &'a TensorLayout,
    b: &'a TensorLayout,
    /// The dims, those with the smallest strides in the second layout first.
    order: Vec<usize>,
    /// True if all rows of a box have the same stretches.
    additive: bool,
    /// The stretches of a box's first row relative to its first offsets, and the largest number that is kept.
    kept: Vec<Stretch>,
    most: usize,
}

/// Returns whether offsets are sums of contributions of each coordinate.
pub(crate) fn is_additive(layout: &TensorLayout) -> bool {
    layout.is_strided() && layout.layout().swizzle().is_identity()
}

impl<'a> Rows<'a> {
    /// Returns rows that keep at most `most` stretches; if a row has more, they are computed for each row.
    pub(crate) fn new(
        a: &'a TensorLayout,
        b: &'a TensorLayout,
        most: usize,
    ) -> Result<Rows<'a>, Error> {
        let additive = is_additive(a) && is_additive(b);
        Ok(Rows { a, b, order: by_stride(b)?, additive, kept: Vec::with_capacity(most), most })
    }

    /// Turns to two other layouts, and keeps the memory for stretches.
    pub(crate) fn turn_to(&mut self, [a, b]: [&'a TensorLayout; 2]) -> Result<(), Error> {
        let kept = std::mem::take(&mut self.kept);
        *self = Rows { kept, most: self.most, ..Rows::new(a, b, 0)? };
        Ok(())
    }

    /// Calls `see` with every stretch of a box, the coordinate at which its row starts, and the dim of the row (`None` for an
    /// array of rank 0), until it returns false.
    pub(crate) fn each(
        &mut self,
        area: &Area,
        see: &mut impl FnMut(&Stretch, &[u64], Option<usize>) -> bool,
    ) -> Result<(), Error> {
        let dim = self.along(area);
        let mut coord: Vec<u64> = area.iter().map(|range| range.start).collect();
        let kept = self.keep(&coord, area, dim)?;
        let mut starts = Starts::of(self, dim);
        loop {
            let go = match kept {
                true => self.kept_row(&coord, starts.at(self, &coord)?, dim, see),
                false => found(self.a, self.b, &coord, area, dim, &mut |stretch| {
                    see(stretch, &coord, dim)
                })?,
            };
            if !go || !self.next(&mut coord, area, dim) {
                return Ok(());
            }
        }
    }

    /// Returns the dim of a box's rows: the first long one in the order of the second layout.
    fn along(&self, area: &Area) -> Option<usize> {
        let len = |dim: usize| area[dim].end - area[dim].start;
        let long = self.order.iter().find(|dim| len(**dim) >= LONG);
        long.or_else(|| self.order.iter().max_by_key(|dim| len(**dim))).copied()
    }

    /// Keeps the stretches of the first row; returns false if there are too many, or if other rows have different ones.
    fn keep(&mut self, coord: &[u64], area: &Area, dim: Option<usize>) -> Result<bool, Error> {
        self.kept.clear();
        if !self.additive {
            return Ok(false);
        }
        let (a, b) = (self.a.offset(coord)?, self.b.offset(coord)?);
        let (kept, most) = (&mut self.kept, self.most);
        found(self.a, self.b, coord, area, dim, &mut |stretch| {
            let fits = kept.len() < most;
            if fits {
                let relative = Stretch {
                    a: (stretch.a.0 - a, stretch.a.1),
                    b: (stretch.b.0 - b, stretch.b.1),
                    ..*stretch
                };
                kept.push(relative);
            }
            fits
        })
    }

    /// Calls `see` with the stretches of a row that equal those of the first; returns false when `see` does.
    fn kept_row(
        &self,
        coord: &[u64],
        (a, b): (i64, i64),
        dim: Option<usize>,
        see: &mut impl FnMut(&Stretch, &[u64], Option<usize>) -> bool,
    ) -> bool {
        self.kept.iter().all(|stretch| {
            let (a, b) = ((stretch.a.0 + a, stretch.a.1), (stretch.b.0 + b, stretch.b.1));
            see(&Stretch { a, b, ..*stretch }, coord, dim)
        })
    }

    /// Moves `coord` to the start of the next row; returns false after the last.
    fn next(&self, coord: &mut [u64], area: &Area, along: Option<usize>) -> bool {
        for &dim in self.order.iter().filter(|dim| Some(**dim) != along) {
            coord[dim] += 1;
            if coord[dim] < area[dim].end {
                return true;
            }
            coord[dim] = area[dim].start;
        }
        false
    }
}

/// The offsets at which rows start: along the dim in which rows follow one another, they are runs as well.
struct Starts {
    dim: Option<usize>,
    /// The coordinate whose offsets are known, these offsets, the steps to the next row, and the number of rows that follow at
    /// these steps.
    coord: Vec<u64>,
    at: (i64, i64),
    step: (i64, i64),
    left: u64,
}

impl Starts {
    fn of(rows: &Rows<'_>, along: Option<usize>) -> Starts {
        let dim = rows.order.iter().copied().find(|dim| Some(*dim) != along);
        Starts { dim, coord: vec![], at: (0, 0), step: (0, 0), left: 0 }
    }

    /// Returns the offsets of `coord`, which is the last requested one or one after it.
    fn at(&mut self, rows: &Rows<'_>, coord: &[u64]) -> Result<(i64, i64), Error> {
        if let Some(dim) = self.dim
            && self.left > 0
            && let Some(last) = self.coord.get_mut(dim)
        {
            *last += 1;
            self.left -= 1;
            if self.coord == coord {
                self.at = (self.at.0 + self.step.0, self.at.1 + self.step.1);
                return Ok(self.at);
            }
        }
        (self.at, self.left) = ((rows.a.offset(coord)?, rows.b.offset(coord)?), 0);
        if let Some(dim) = self.dim {
            let (a, b): (Run, Run) = (rows.a.run(coord, dim)?, rows.b.run(coord, dim)?);
            (self.step, self.left) = ((a.stride, b.stride), a.len.min(b.len).saturating_sub(1));
        }
        self.coord.clear();
        self.coord.extend_from_slice(coord);
        Ok(self.at)
    }
}

/// Finds the stretches of the row that starts at `coord`; returns false when `see` does.
fn found(
    a: &TensorLayout,
    b: &TensorLayout,
    start: &[u64],
    area: &Area,
    dim: Option<usize>,
    see: &mut impl FnMut(&Stretch) -> bool,
) -> Result<bool, Error> {
    let Some(dim) = dim else {
        let (a, b) = (a.offset(start)?, b.offset(start)?);
        return Ok(see(&Stretch { from: 0, len: 1, a: (a, 0), b: (b, 0) }));
    };
    let (mut coord, end) = (start.to_vec(), area[dim].end);
    while coord[dim] < end {
        let (a, b): (Run, Run) = (a.run(&coord, dim)?, b.run(&coord, dim)?);
        let len = a.len.min(b.len).min(end - coord[dim]).max(1);
        let (a, b) = ((a.offset, a.stride), (b.offset, b.stride));
        if !see(&Stretch { from: coord[dim], len, a, b }) {
            return Ok(false);
        }
        coord[dim] += len;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use tilewright_core::{Fractal, Layout, Step};

    use super::*;
    use crate::verify::boxes::boxes;

    /// Returns every element of the traversal, with both offsets.
    fn walked(
        a: &TensorLayout,
        b: &TensorLayout,
        (most, kept): (u64, usize),
    ) -> Vec<(Vec<u64>, i64, i64)> {
        let (mut rows, mut all) = (Rows::new(a, b, kept).unwrap(), Vec::new());
        let whole = a.extents().iter().map(|extent| 0..*extent).collect();
        for area in boxes([a, b], [&[]; 2], (&whole, most)).unwrap() {
            rows.each(&area, &mut |stretch, start, dim| {
                for i in 0..stretch.len {
                    let mut at = start.to_vec();
                    if let Some(dim) = dim {
                        at[dim] = stretch.from + i;
                    }
                    let i = i as i64;
                    all.push((at, stretch.a.0 + i * stretch.a.1, stretch.b.0 + i * stretch.b.1));
                }
                true
            })
            .unwrap();
        }
        all.sort();
        all
    }

    #[test]
    fn a_walk_visits_every_element_with_its_offsets() {
        let merged = Layout::parse("(2,4,4):(4,8,1)").unwrap();
        let steps = [Step::Merge { major: 1, minor: 2 }, Step::Split { axis: 1, by: 4 }];
        let merged = TensorLayout::with_steps(&[2, 3, 5], &steps, &merged, 32).unwrap();
        let swizzled = Layout::parse("Sw<2,0,2> o (4,8):(8,1)").unwrap();
        let extents: [&[u64]; 5] = [&[], &[37], &[20, 3], &[5, 33], &[2, 3, 17]];
        let mut pairs = vec![
            (TensorLayout::row_major(&[2, 3, 5]).unwrap(), merged),
            (TensorLayout::col_major(&[4, 8]).unwrap(), TensorLayout::of(&swizzled)),
        ];
        for extents in extents {
            let (row, col) = (TensorLayout::row_major(extents), TensorLayout::col_major(extents));
            pairs.push((row.unwrap(), col.unwrap()));
        }
        let zn = Fractal::ZN.pattern(4, 8).layout(&[9, 30]).unwrap();
        pairs.push((zn, TensorLayout::row_major(&[9, 30]).unwrap()));
        for (a, b) in &pairs {
            let mut expected: Vec<_> = (0..a.size())
                .map(|i| {
                    let coord = a.coord_of(i).unwrap().as_slice().to_vec();
                    let offsets = (a.offset(&coord).unwrap(), b.offset(&coord).unwrap());
                    (coord, offsets.0, offsets.1)
                })
                .collect();
            expected.sort();
            for sizes in [(1000, 100), (1000, 0), (40, 3), (7, 9), (1, 1)] {
                assert_eq!(walked(a, b, sizes), expected, "{a:?} {b:?} {sizes:?}");
            }
        }
    }
}
