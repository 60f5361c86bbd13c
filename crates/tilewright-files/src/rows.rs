//! Two layouts walked together: row by row along one logical dim, in stretches whose offsets form
//! arithmetic sequences on both sides.
//!
//! The walk follows the second layout's storage as far as whole dims allow, so that whoever reads the
//! second from a file reads it nearly in order; the first may be hopped about in.

use tilewright_core::{Error, Run, TensorLayout};

/// Beyond so many stretches a row, they are found anew for every row.
const KEPT: usize = 1 << 16;

/// Rows of so many elements are long enough to be worth their start.
const LONG: u64 = 16;

/// Elements `from..from + len` of a row, and where they lie on either side.
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
    /// The dim along which a row goes; `None` for an array of rank 0.
    dim: Option<usize>,
    /// The other dims, those with the smallest strides in the second layout first.
    others: Vec<usize>,
    /// The first row's stretches relative to its first offsets, if every row has the same.
    kept: Option<Vec<Stretch>>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(a: &'a TensorLayout, b: &'a TensorLayout) -> Result<Rows<'a>, Error> {
        let extents = a.extents();
        let mut others = by_stride(b)?;
        let long = others.iter().position(|&dim| extents[dim] >= LONG);
        let longest = (0..others.len()).max_by_key(|&i| extents[others[i]]);
        let dim = long.or(longest).map(|i| others.remove(i));
        let mut rows = Rows { a, b, dim, others, kept: None };
        let additive =
            |layout: &TensorLayout| layout.is_strided() && layout.layout().swizzle().is_identity();
        let length = dim.map_or(1, |dim| extents[dim]);
        if additive(a) && additive(b) && a.size() > length {
            rows.kept = rows.relative()?;
        }
        Ok(rows)
    }

    /// The dim along which a row goes.
    pub(crate) fn dim(&self) -> Option<usize> {
        self.dim
    }

    /// The stretches of the first row, its first offsets taken off; `None` if they are too many.
    fn relative(&self) -> Result<Option<Vec<Stretch>>, Error> {
        let (mut origin, mut kept) = (vec![0; self.a.rank()], Vec::new());
        let (a, b) = (self.a.offset(&origin)?, self.b.offset(&origin)?);
        let mut too_many = false;
        self.found(&mut origin, &mut |stretch| {
            too_many = kept.len() == KEPT;
            if !too_many {
                kept.push(Stretch {
                    a: (stretch.a.0 - a, stretch.a.1),
                    b: (stretch.b.0 - b, stretch.b.1),
                    ..stretch
                });
            }
            !too_many
        })?;
        Ok((!too_many).then_some(kept))
    }

    /// Finds the stretches of the row that starts at `coord`, until `see` answers false.
    fn found(&self, coord: &mut [u64], see: &mut dyn FnMut(Stretch) -> bool) -> Result<(), Error> {
        let Some(dim) = self.dim else {
            let (a, b) = (self.a.offset(coord)?, self.b.offset(coord)?);
            see(Stretch { from: 0, len: 1, a: (a, 0), b: (b, 0) });
            return Ok(());
        };
        let mut from = 0;
        while from < self.a.extents()[dim] {
            coord[dim] = from;
            let (a, b): (Run, Run) = (self.a.run(coord, dim)?, self.b.run(coord, dim)?);
            let len = a.len.min(b.len).max(1);
            let (a, b) = ((a.offset, a.stride), (b.offset, b.stride));
            if !see(Stretch { from, len, a, b }) {
                break;
            }
            from += len;
        }
        coord[dim] = 0;
        Ok(())
    }

    /// Calls `see` with every stretch of the row that starts at `coord`, until it answers false.
    pub(crate) fn row(
        &self,
        coord: &mut [u64],
        see: &mut dyn FnMut(Stretch) -> bool,
    ) -> Result<(), Error> {
        let Some(kept) = &self.kept else { return self.found(coord, see) };
        let (a, b) = (self.a.offset(coord)?, self.b.offset(coord)?);
        for stretch in kept {
            let (a, b) = ((stretch.a.0 + a, stretch.a.1), (stretch.b.0 + b, stretch.b.1));
            if !see(Stretch { a, b, ..*stretch }) {
                break;
            }
        }
        Ok(())
    }

    /// The start of the row behind the one at `coord`; false behind the last.
    pub(crate) fn next(&self, coord: &mut [u64]) -> bool {
        for &dim in &self.others {
            coord[dim] += 1;
            if coord[dim] < self.a.extents()[dim] {
                return true;
            }
            coord[dim] = 0;
        }
        false
    }
}

/// The dims of a layout, those whose neighbours lie closest first; dims of one coordinate last.
fn by_stride(layout: &TensorLayout) -> Result<Vec<usize>, Error> {
    let (origin, mut keyed) = (vec![0; layout.rank()], Vec::new());
    for dim in (0..layout.rank()).rev() {
        let run = layout.run(&origin, dim)?;
        let distance = if run.len > 1 { run.stride.unsigned_abs() } else { u64::MAX };
        keyed.push((distance, dim));
    }
    keyed.sort_by_key(|(distance, _)| *distance);
    Ok(keyed.into_iter().map(|(_, dim)| dim).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{Fractal, Layout, Step};

    /// Every element of the walk, with both offsets.
    fn walked(a: &TensorLayout, b: &TensorLayout) -> Vec<(Vec<u64>, i64, i64)> {
        let rows = Rows::new(a, b).unwrap();
        let (mut coord, mut all) = (vec![0; a.rank()], Vec::new());
        loop {
            let start = coord.clone();
            rows.row(&mut coord, &mut |stretch| {
                for i in 0..stretch.len {
                    let mut at = start.clone();
                    if let Some(dim) = rows.dim() {
                        at[dim] = stretch.from + i;
                    }
                    let i = i as i64;
                    all.push((at, stretch.a.0 + i * stretch.a.1, stretch.b.0 + i * stretch.b.1));
                }
                true
            })
            .unwrap();
            assert_eq!(coord, start);
            if !rows.next(&mut coord) {
                all.sort();
                return all;
            }
        }
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
            assert_eq!(walked(a, b), expected, "{a:?} {b:?}");
        }
    }
}
