//! Compares two arrays with tables: whether they are the same map, and where they first differ.
//!
//! Strided arrays are compared group by group: the difference of their offsets is a sum over the groups of dims that
//! tables connect, so each group is compared alone, with all other coordinates 0, and dims without a table are compared
//! by their modes. Others are compared element by element, within a budget.
//!
//! Law: the answer is the row-major first coordinate with different offsets, or `None` if there is none.

use tilewright_core::{Coord, Difference, Error, Layout, TensorLayout};

use crate::{
    TabledLayout,
    fold::{Groups, advance, count},
};

/// The most elements that are compared one by one.
const COMPARED: u64 = 1 << 24;

impl TabledLayout {
    /// Returns the row-major first coordinate with different offsets in the two layouts.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the extents differ; [undecided](Error::is_undecided) if more than 16,777,216
    /// elements would have to be compared one by one, which swizzles and merged dims require.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::{Along, Table, TabledLayout};
    /// let rows = TensorLayout::row_major(&[4, 1 << 40]).unwrap();
    /// let of = |list: [u64; 4]| {
    ///     let table = Arc::new(Table::new(4, list.map(Some)).unwrap());
    ///     let along = Along::new(&[(0, 1)], rows.extents(), table).unwrap();
    ///     TabledLayout::new(rows.extents(), vec![along], &rows).unwrap()
    /// };
    /// let first = of([0, 2, 3, 1]).first_difference(&of([0, 3, 2, 1])).unwrap().unwrap();
    /// assert_eq!((first.coord.as_slice(), first.left, first.right), (&[2, 0][..], 1 << 40, 2 << 40));
    /// assert_eq!(of([0, 2, 3, 1]).first_difference(&of([0, 2, 3, 1])), Ok(None));
    /// let other = TabledLayout::of(&TensorLayout::row_major(&[5, 2]).unwrap());
    /// assert!(of([0, 1, 2, 3]).first_difference(&other).unwrap_err().is_mismatch());
    /// ```
    pub fn first_difference(&self, other: &TabledLayout) -> Result<Option<Difference>, Error> {
        self.check_extents(other)?;
        if self.tables() == other.tables()
            && self.stored().same_function(other.stored()) == Ok(true)
        {
            return Ok(None);
        }
        if self.size() == 0 {
            return Ok(None);
        }
        if self.is_additive() && other.is_additive() {
            return self.first_by_group(other);
        }
        let dims: Vec<usize> = (0..self.extents().len()).collect();
        let mut coord = vec![0; dims.len()];
        self.first_in(other, &dims, &mut coord)?;
        self.differing(other, &coord)
    }

    /// Returns whether offsets are sums over groups.
    fn is_additive(&self) -> bool {
        self.stored().is_strided() && self.stored().layout().swizzle().is_identity()
    }

    /// Returns the difference at a coordinate, if there is one.
    fn differing(&self, other: &TabledLayout, coord: &[u64]) -> Result<Option<Difference>, Error> {
        let (left, right) = (self.offset(coord)?, other.offset(coord)?);
        let coord = Coord::new(coord)?;
        Ok((left != right).then_some(Difference { coord, left, right }))
    }

    /// Moves to the first coordinate of the box of these dims that differs, or to the origin after the last.
    fn first_in(
        &self,
        other: &TabledLayout,
        dims: &[usize],
        coord: &mut [u64],
    ) -> Result<(), Error> {
        let all = count(dims, self.extents());
        if all > COMPARED {
            return Err(Error::undecided(
                "layouts with index tables need a comparison of {} elements, more than {}",
                [all.into(), COMPARED.into()],
                "compare a part of the array",
            ));
        }
        while self.offset(coord)? == other.offset(coord)? {
            if !advance(coord, dims, self.extents()) {
                break;
            }
        }
        Ok(())
    }

    fn first_by_group(&self, other: &TabledLayout) -> Result<Option<Difference>, Error> {
        let rank = self.extents().len();
        let origin = vec![0; rank];
        if let Some(found) = self.differing(other, &origin)? {
            return Ok(Some(found));
        }
        let (own, its) = (Groups::of(rank, self.tables()), Groups::of(rank, other.tables()));
        let places = (own.plain.clone(), its.plain.clone());
        let groups = own.with(&its);
        let mut best: Option<Difference> = None;
        for dims in groups.all() {
            let mut coord = origin.clone();
            match (&dims[..], groups.plain.get(dims.first().copied().unwrap_or(0))) {
                ([dim], Some(Some(_))) => {
                    let axes = (places.0[*dim], places.1[*dim]);
                    let sides = (along(self, axes.0, *dim), along(other, axes.1, *dim));
                    let found = sides.0?.first_difference(&sides.1?)?;
                    coord[*dim] = found.map_or(0, |found| found.coord.as_slice()[0]);
                }
                _ => self.first_in(other, &dims, &mut coord)?,
            }
            let found = self.differing(other, &coord)?;
            let is_first = |found: &Difference| {
                best.as_ref().is_none_or(|best| found.coord.as_slice() < best.coord.as_slice())
            };
            best = found.filter(is_first).or(best);
        }
        Ok(best)
    }
}

/// Returns the offsets along a dim without a table, from 0.
fn along(of: &TabledLayout, axis: Option<usize>, dim: usize) -> Result<TensorLayout, Error> {
    let modes = axis.and_then(|axis| of.stored().layout().axis(axis)).unwrap_or(&[]);
    let layout = Layout::nested(modes, &[modes.len()])?;
    TensorLayout::new(&[of.extents()[dim]], &layout, layout.cosize().max(0) as u64)
}
