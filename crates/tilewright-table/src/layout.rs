//! [`TabledLayout`]: an array whose storage order needs tables, the layout of shape and strides that equals it if there is
//! one, and comparisons of two.

use std::fmt;

use tilewright_core::{
    Coord, Difference, Error, Layout, Mode, Place, Profile, Swizzle, TensorLayout,
};

use crate::{Along, table::StorageAxis};

/// Logical extents, the tables that define the storage order of indices, and the layout of the stored array.
///
/// The tables act one after another: the first on the coordinate of the array, each other on the stored coordinate of
/// the previous one. The [`TensorLayout`] is that of the array that the last one stores.
///
/// ```
/// use std::sync::Arc;
/// use tilewright_core::{Fractal, Place, TensorLayout};
/// use tilewright_table::{Along, Table, TabledLayout};
/// // Rows 2 and 0 of three, a hole, and row 1, in fractals of 2 × 2.
/// let list = [Some(2), Some(0), None, Some(1)];
/// let along = Along::new(&[(0, 1)], &[3, 4], Arc::new(Table::new(3, list).unwrap())).unwrap();
/// let stored = Fractal::ZN.pattern(2, 2).layout(&[4, 4]).unwrap();
/// let layout = TabledLayout::new(&[3, 4], vec![along], &stored).unwrap();
/// assert_eq!(layout.offset(&[1, 0]), stored.offset(&[3, 0]));
/// assert_eq!((layout.size(), layout.padding()), (12, 4));
/// assert_eq!(layout.locate(stored.offset(&[2, 1]).unwrap()), Ok(Place::Padding));
///
/// let rows = TensorLayout::row_major(&[3, 4]).unwrap();
/// assert!(TabledLayout::new(&[3, 4], layout.tables().to_vec(), &rows).unwrap_err().is_mismatch());
/// ```
#[must_use]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TabledLayout {
    extents: Vec<u64>,
    tables: Vec<Along>,
    stored: TensorLayout,
}

impl TabledLayout {
    /// Makes the layout of an array of these extents, whose tables produce the array that `stored` lays out.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if the extents of a table, or of `stored`, differ from the stored extents before
    /// it.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// // Without a table, it equals the layout.
    /// let rows = TensorLayout::row_major(&[3, 4]).unwrap();
    /// assert_eq!(TabledLayout::new(&[3, 4], vec![], &rows).unwrap().fold(), Some(rows.clone()));
    /// assert!(TabledLayout::new(&[4, 3], vec![], &rows).unwrap_err().is_mismatch());
    /// ```
    pub fn new(
        extents: &[u64],
        tables: Vec<Along>,
        stored: &TensorLayout,
    ) -> Result<TabledLayout, Error> {
        let mut now = extents;
        for along in &tables {
            agree(now, along.extents())?;
            now = along.stored_extents();
        }
        agree(now, stored.extents())?;
        Ok(TabledLayout { extents: extents.to_vec(), tables, stored: stored.clone() })
    }

    /// Makes a layout without tables.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// let rows = TensorLayout::row_major(&[3, 4]).unwrap();
    /// assert!(TabledLayout::of(&rows).tables().is_empty());
    /// ```
    pub fn of(layout: &TensorLayout) -> TabledLayout {
        let extents = layout.extents().to_vec();
        TabledLayout { extents, tables: Vec::new(), stored: layout.clone() }
    }

    /// Returns the extents of the array.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// assert_eq!(TabledLayout::of(&TensorLayout::row_major(&[3, 4]).unwrap()).extents(), [3, 4]);
    /// ```
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// Returns the tables; the first acts first.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// assert_eq!(TabledLayout::of(&TensorLayout::row_major(&[3, 4]).unwrap()).tables(), []);
    /// ```
    pub fn tables(&self) -> &[Along] {
        &self.tables
    }

    /// Returns the layout of the stored array.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// let rows = TensorLayout::row_major(&[3, 4]).unwrap();
    /// assert_eq!(TabledLayout::of(&rows).stored(), &rows);
    /// ```
    pub fn stored(&self) -> &TensorLayout {
        &self.stored
    }

    /// Returns the number of elements.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// assert_eq!(TabledLayout::of(&TensorLayout::row_major(&[3, 4]).unwrap()).size(), 12);
    /// ```
    pub fn size(&self) -> u64 {
        // Each table stores at least as much as the array has, and the stored array fits in 64 bits.
        self.extents.iter().fold(1, |all: u64, extent| all.saturating_mul(*extent))
    }

    /// Returns the number of stored positions without an element of the array: holes, and padding of the stored layout.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// let rows = TensorLayout::row_major(&[3, 4]).unwrap().with_capacity(20).unwrap();
    /// assert_eq!(TabledLayout::of(&rows).padding(), 8);
    /// ```
    pub fn padding(&self) -> u64 {
        self.stored.padding().saturating_add(self.stored.size().saturating_sub(self.size()))
    }

    /// Returns the offset of an element, in elements.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) for a coordinate of another rank, [out of range](Error::is_out_of_range) for one
    /// outside the extents.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// let rows = TabledLayout::of(&TensorLayout::row_major(&[3, 4]).unwrap());
    /// assert_eq!(rows.offset(&[1, 2]), Ok(6));
    /// assert!(rows.offset(&[3, 0]).unwrap_err().is_out_of_range());
    /// ```
    pub fn offset(&self, coord: &[u64]) -> Result<i64, Error> {
        if coord.len() != self.extents.len() {
            return Err(Error::mismatch(
                "a coordinate of {} numbers does not fit an array of {} dims",
                [coord.len() as i128, self.extents.len() as i128],
                "give one number per dim",
            ));
        }
        let outside = coord.iter().zip(&self.extents).position(|(index, extent)| index >= extent);
        if let Some(dim) = outside {
            let numbers = [coord[dim].into(), dim as i128, self.extents[dim].into()];
            let legal = "coordinates count from 0";
            return Err(Error::out_of_range("index {} in dim {} of {}", numbers, legal));
        }
        let mut at = coord.to_vec();
        for along in &self.tables {
            at = along.store(&at).unwrap_or_default();
        }
        self.stored.offset(&at)
    }

    /// Returns the contents of an offset: an element by its coordinate, or padding, which includes holes.
    ///
    /// # Errors
    /// As [`TensorLayout::locate`].
    ///
    /// ```
    /// use tilewright_core::{Coord, Place, TensorLayout};
    /// use tilewright_table::TabledLayout;
    /// let rows = TabledLayout::of(&TensorLayout::row_major(&[3, 4]).unwrap());
    /// assert_eq!(rows.locate(6), Ok(Place::Element(Coord::new(&[1, 2]).unwrap())));
    /// assert_eq!(rows.locate(12), Ok(Place::OutOfRange));
    /// ```
    pub fn locate(&self, offset: i64) -> Result<Place, Error> {
        let Place::Element(stored) = self.stored.locate(offset)? else {
            return self.stored.locate(offset);
        };
        let mut at = stored.as_slice().to_vec();
        for along in self.tables.iter().rev() {
            match along.restore(&at) {
                Some(before) => at = before,
                None => return Ok(Place::Padding),
            }
        }
        Ok(Place::Element(Coord::new(&at)?))
    }

    /// Checks that another array has the same extents.
    ///
    /// # Errors
    /// [mismatch](Error::is_mismatch) if it does not, with the dim.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::TabledLayout;
    /// let of = |extents: &[u64]| TabledLayout::of(&TensorLayout::row_major(extents).unwrap());
    /// assert!(of(&[3, 4]).check_extents(&of(&[3, 4])).is_ok());
    /// assert!(of(&[3, 4]).check_extents(&of(&[4, 3])).unwrap_err().is_mismatch());
    /// ```
    pub fn check_extents(&self, other: &TabledLayout) -> Result<(), Error> {
        if self.extents == other.extents {
            return Ok(());
        }
        let same = self.extents.iter().zip(&other.extents).position(|(a, b)| a != b);
        Err(match same {
            Some(dim) if self.extents.len() == other.extents.len() => Error::mismatch(
                "dim {} has {} indices on one side and {} on the other",
                [dim as i128, self.extents[dim].into(), other.extents[dim].into()],
                "both sides must be the same array",
            ),
            _ => Error::mismatch(
                "{} dims on one side and {} on the other",
                [self.extents.len() as i128, other.extents.len() as i128],
                "both sides must be the same array",
            ),
        })
    }

    /// Returns whether some table has a hole.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tilewright_core::TensorLayout;
    /// use tilewright_table::{Along, Table, TabledLayout};
    /// let table = Arc::new(Table::new(1, [None, Some(0)]).unwrap());
    /// let stored = TensorLayout::row_major(&[2]).unwrap();
    /// let along = Along::new(&[(0, 1)], &[1], table).unwrap();
    /// assert!(TabledLayout::new(&[1], vec![along], &stored).unwrap().has_holes());
    /// ```
    pub fn has_holes(&self) -> bool {
        self.tables.iter().any(|along| along.table().holes() > 0)
    }
}

fn agree(extents: &[u64], own: &[u64]) -> Result<(), Error> {
    if extents.len() != own.len() {
        return Err(Error::mismatch(
            "{} dims are stored, but their placement has {}",
            [extents.len() as i128, own.len() as i128],
            "the ranks agree",
        ));
    }
    match extents.iter().zip(own).position(|(a, b)| a != b) {
        Some(dim) => Err(Error::mismatch(
            "stored dim {} has {} indices, but its placement has {}",
            [dim as i128, extents[dim].into(), own[dim].into()],
            "the extents agree",
        )),
        None => Ok(()),
    }
}

/// Prints the tables, and the layout of the stored array.
impl fmt::Debug for TabledLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.extents)?;
        for along in &self.tables {
            write!(f, " {along}")?;
        }
        write!(f, " {:?}", self.stored)
    }
}

// Finds the layout of shape and strides that equals a layout with tables, if the tables consist of digits.
//
// A table acts on a group of dims. Along each of them, from the origin, offsets are split into digits: the longest run
// of equal steps is the lowest digit, and the rest is split the same way at its multiples. Then every element of the
// group is compared. Law: the result, if there is one, is the same map, with the same capacity.
//
// Groups of an array's dims that tables connect: a table of several dims makes one stored dim of them. Folding and
// comparison work group by group.
//
// Law: if the stored array is strided, the offset of an element is the sum of one term for each group.

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

// Compares two arrays with tables: whether they are the same map, and where they first differ.
//
// Strided arrays are compared group by group: the difference of their offsets is a sum over the groups of dims that
// tables connect, so each group is compared alone, with all other coordinates 0, and dims without a table are compared
// by their modes. Others are compared element by element, within a budget.
//
// Law: the answer is the row-major first coordinate with different offsets, or `None` if there is none.

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
