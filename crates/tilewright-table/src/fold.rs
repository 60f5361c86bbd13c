//! Finds the layout of shape and strides that equals a layout with tables, if the tables consist of digits.
//!
//! A table acts on a group of dims. Along each of them, from the origin, offsets are split into digits: the longest run
//! of equal steps is the lowest digit, and the rest is split the same way at its multiples. Then every element of the
//! group is compared. Law: the result, if there is one, is the same map, with the same capacity.
//!
//! Groups of an array's dims that tables connect: a table of several dims makes one stored dim of them. Folding and
//! comparison work group by group.
//!
//! Law: if the stored array is strided, the offset of an element is the sum of one term for each group.

use tilewright_core::{Layout, Mode, Profile, Swizzle, TensorLayout};

use crate::{Along, TabledLayout, along::StorageAxis};

/// The most elements of a group that are compared.
const COMPARED: u64 = 1 << 24;

impl TabledLayout {
    /// Returns the same map as shape and strides, if its tables consist of digits: reversed, cut into halves, blocks in
    /// another regular order, or in their own. `None` if they do not, and for tables below merged dims.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::{Along, Table, TabledLayout};
    /// let rows = TensorLayout::row_major(&[4, 8]).unwrap();
    /// let of = |list: [u64; 4]| {
    ///     let table = Arc::new(Table::new(4, list.map(Some)).unwrap());
    ///     let along = Along::new(&[(0, 1)], &[4, 8], table).unwrap();
    ///     TabledLayout::new(&[4, 8], vec![along], &rows).unwrap().fold()
    /// };
    /// assert_eq!(of([0, 2, 1, 3]).unwrap().layout().to_string(), "((2,2),8):((16,8),1)");
    /// assert_eq!(of([3, 2, 1, 0]).unwrap().layout().to_string(), "(4,8):(-8,1)+24");
    /// assert_eq!(of([0, 2, 3, 1]), None);
    /// ```
    pub fn fold(&self) -> Option<TensorLayout> {
        if self.tables().is_empty() {
            return Some(self.stored().clone());
        }
        if !self.stored().is_strided() || self.size() == 0 {
            return None;
        }
        let own = self.stored().layout();
        let straight = Layout::new(own.modes(), own.profile(), own.offset(), Swizzle::IDENTITY);
        let stored = TensorLayout::new(
            self.stored().extents(),
            &straight.ok()?,
            // Without the swizzle, offsets may exceed the capacity.
            self.stored().capacity().max(u64::try_from(own.bounds()?.1).ok()? + 1),
        );
        let plain =
            TabledLayout::new(self.extents(), self.tables().to_vec(), &stored.ok()?).ok()?;
        let (modes, counts, offset) = plain.digits()?;
        let layout =
            Layout::new(&modes, &Profile::nested(&counts).ok()?, offset, own.swizzle()).ok()?;
        TensorLayout::new(self.extents(), &layout, self.stored().capacity()).ok()
    }

    /// Returns the modes of all dims, their number by dim, and the offset of the origin.
    fn digits(&self) -> Option<(Vec<Mode>, Vec<usize>, i64)> {
        let groups = Groups::of(self.extents().len(), self.tables());
        let mut of_dim = vec![Vec::new(); self.extents().len()];
        for dims in groups.all() {
            if let [dim] = dims[..]
                && let Some(axis) = groups.plain[dim]
            {
                of_dim[dim] = self.stored().layout().axis(axis)?.to_vec();
                continue;
            }
            if count(&dims, self.extents()) > COMPARED {
                return None;
            }
            for dim in &dims {
                of_dim[*dim] = self.digits_of(*dim)?;
            }
            self.is_sum(&dims, &of_dim)?;
        }
        let offset = self.at(&vec![0; self.extents().len()])?;
        let counts = of_dim.iter().map(Vec::len).collect();
        Some((of_dim.into_iter().flatten().collect(), counts, offset))
    }

    fn at(&self, coord: &[u64]) -> Option<i64> {
        self.offset(coord).ok()
    }

    /// Returns the digits of the offsets along a dim, from the origin.
    fn digits_of(&self, dim: usize) -> Option<Vec<Mode>> {
        let (mut coord, extent) = (vec![0; self.extents().len()], self.extents()[dim]);
        let start = self.at(&coord)?;
        let mut step = |index: u64| {
            coord[dim] = index;
            self.at(&coord)?.checked_sub(start)
        };
        let (mut modes, mut below) = (Vec::new(), 1u64);
        while below < extent {
            let stride = step(below)?;
            let mut iterations = 2;
            while below * iterations < extent
                && Some(step(below * iterations)?) == stride.checked_mul(iterations as i64)
            {
                iterations += 1;
            }
            if !extent.is_multiple_of(below * iterations) {
                return None;
            }
            modes.push(Mode::new(iterations, stride));
            below *= iterations;
        }
        if modes.is_empty() {
            modes.push(Mode::new(extent, 0));
        }
        Some(modes)
    }

    /// Checks that the offsets of a group are the sums of its digits times strides; `None` if they are not.
    fn is_sum(&self, dims: &[usize], of_dim: &[Vec<Mode>]) -> Option<()> {
        let mut coord = vec![0; self.extents().len()];
        let start = self.at(&coord)?;
        loop {
            let mut said = start;
            for dim in dims {
                let mut rest = coord[*dim];
                for mode in &of_dim[*dim] {
                    said = said.checked_add((rest % mode.extent()) as i64 * mode.stride())?;
                    rest /= mode.extent();
                }
            }
            if self.at(&coord)? != said {
                return None;
            }
            if !advance(&mut coord, dims, self.extents()) {
                return Some(());
            }
        }
    }
}

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

/// Merges the groups of two dims; the root of a group is its first dim.
///
/// ```
/// let mut root = [0, 1, 2];
/// tilewright_table::unite(&mut root, 2, 0);
/// assert_eq!(root, [0, 1, 0]);
/// ```
pub fn unite(root: &mut [usize], a: usize, b: usize) {
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
