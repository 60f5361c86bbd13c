//! Groups of an array's dims that tables connect: a table of several dims makes one stored dim of them. Folding and
//! comparison work group by group.
//!
//! Law: if the stored array is strided, the offset of an element is the sum of one term for each group.

use crate::{Along, along::StorageAxis};

/// The groups of dims, and the stored dims of dims without a table.
pub(crate) struct Groups {
    /// The first dim of the group of each dim.
    pub(crate) root: Vec<usize>,
    /// The stored dim of each dim on which no table acts.
    pub(crate) plain: Vec<Option<usize>>,
}

impl Groups {
    pub(crate) fn of(rank: usize, tables: &[Along]) -> Groups {
        let mut root: Vec<usize> = (0..rank).collect();
        let mut acted = vec![false; rank];
        let owner = owners(rank, tables, |first, dim| {
            acted[dim] = true;
            unite(&mut root, first, dim);
        });
        let is_acted = |dim: usize| (0..rank).any(|other| acted[other] && root[other] == root[dim]);
        let place = |dim: usize| owner.iter().position(|own| *own == dim);
        let plain = (0..rank).map(|dim| place(dim).filter(|_| !is_acted(dim))).collect();
        Groups { root, plain }
    }

    /// Merges the groups with those of another layout's tables.
    pub(crate) fn with(mut self, other: &Groups) -> Groups {
        for (dim, root) in other.root.iter().enumerate() {
            unite(&mut self.root, *root, dim);
        }
        let both = self.plain.iter().zip(&other.plain);
        let is_plain: Vec<bool> = both.map(|(a, b)| a.is_some() && b.is_some()).collect();
        for (own, is_plain) in self.plain.iter_mut().zip(is_plain) {
            *own = own.filter(|_| is_plain);
        }
        self
    }

    /// Iterates over the dims of each group, ordered by their first.
    pub(crate) fn all(&self) -> impl Iterator<Item = Vec<usize>> {
        let firsts = (0..self.root.len()).filter(|dim| self.root[*dim] == *dim);
        firsts.map(|first| (0..self.root.len()).filter(|dim| self.root[*dim] == first).collect())
    }
}

/// Returns a dim of the array for each stored dim of an array of `rank` dims with these tables. For each dim of a
/// table, it calls `bind` with the first dim of the same table, and the dim.
///
/// ```
/// use std::sync::Arc;
/// use tilewright_table::{Along, Table, owners};
/// let table = Arc::new(Table::new(6, [5, 0, 1, 2, 3, 4].map(Some)).unwrap());
/// let along = Along::new(&[(0, 1), (2, 8)], &[3, 5, 16], table).unwrap();
/// let mut bound = Vec::new();
/// // The position in the list, the rest of dim 2, and dim 1.
/// assert_eq!(owners(3, &[along], |first, dim| bound.push((first, dim))), [0, 2, 1]);
/// assert_eq!(bound, [(0, 0), (0, 2)]);
/// ```
pub fn owners(rank: usize, tables: &[Along], mut bind: impl FnMut(usize, usize)) -> Vec<usize> {
    let mut owners: Vec<usize> = (0..rank).collect();
    for along in tables {
        let own = |dim: usize| owners.get(dim).copied();
        let Some(first) = along.blocks().first().and_then(|block| own(block.dim)) else { continue };
        along.blocks().iter().filter_map(|block| own(block.dim)).for_each(|dim| bind(first, dim));
        let owner = |axis: &StorageAxis| match *axis {
            StorageAxis::Dim(dim) | StorageAxis::Rest(dim) => own(dim).unwrap_or(first),
            StorageAxis::Place => first,
        };
        owners = along.axes().iter().map(owner).collect();
    }
    owners
}

/// Merges two groups; the root is the first dim of both.
fn unite(root: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root[a], root[b]);
    root.iter_mut().filter(|root| **root == a.max(b)).for_each(|root| *root = a.min(b));
}

/// Advances to the next coordinate of the box of these dims, the last fastest; returns false after the last.
pub(crate) fn advance(coord: &mut [u64], dims: &[usize], extents: &[u64]) -> bool {
    for dim in dims.iter().rev() {
        coord[*dim] += 1;
        if coord[*dim] < extents[*dim] {
            return true;
        }
        coord[*dim] = 0;
    }
    false
}

/// Returns the number of coordinates of the box of these dims, at most 2⁶⁴ − 1.
pub(crate) fn count(dims: &[usize], extents: &[u64]) -> u64 {
    dims.iter().fold(1, |all: u64, dim| all.saturating_mul(extents[*dim]))
}
