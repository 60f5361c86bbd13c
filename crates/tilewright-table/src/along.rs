//! [`Along`]: a table and the dims that it permutes.
//!
//! A table of one dim keeps the dims: the stored one has an index for each entry. A table of several dims permutes the
//! row-major number of their blocks. The stored array then has one dim for that number, at the position of the first of
//! them, followed by the indices inside the blocks that are longer than 1, in the order of the dims.
//!
//! Law: `restore(store(c)) = c`, and `store(c)` is below the stored extents.

use std::{fmt, sync::Arc};

use tilewright_core::{Error, MAX_MODES};

use crate::Table;

/// A table, and the dims of an array whose blocks it lists.
///
/// ```
/// use std::sync::Arc;
/// use tilewright_table::{Along, Table};
/// let table = Arc::new(Table::new(4, [3, 0, 1, 2].map(Some)).unwrap());
/// // The 2 × 2 blocks of 8 × 16 elements of an array of 16 × 32.
/// let along = Along::new(&[(0, 8), (1, 16)], &[16, 32], table).unwrap();
/// assert_eq!(along.stored_extents(), [4, 8, 16]);
/// assert_eq!(along.store(&[9, 3]), Some(vec![3, 1, 3]));
/// assert_eq!(along.restore(&[3, 1, 3]), Some(vec![9, 3]));
/// assert_eq!(along.to_string(), "table(0/8,1/16; 3,0..3)");
/// ```
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Along {
    blocks: Vec<Block>,
    extents: Vec<u64>,
    axes: Vec<Axis>,
    stored: Vec<u64>,
    table: Arc<Table>,
}

/// A dim whose blocks are listed: their length, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Block {
    pub(crate) dim: usize,
    pub(crate) by: u64,
    pub(crate) count: u64,
}

/// The origin of a stored dim.
///
/// ```
/// use std::sync::Arc;
/// use tilewright_table::{Along, Axis, Table};
/// let table = Arc::new(Table::new(3, [2, 0, 1].map(Some)).unwrap());
/// assert_eq!(Along::new(&[(1, 1)], &[5, 3], table).unwrap().axes(), [Axis::Dim(0), Axis::Place]);
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// A dim of the array, unchanged.
    Dim(usize),
    /// The position in the list.
    Place,
    /// The index inside the blocks of a dim.
    Rest(usize),
}

impl Along {
    /// Makes a table of the blocks of these dims of an array: pairs of a dim and the length of its blocks, 1 for single
    /// indices.
    ///
    /// # Errors
    /// - [illegal](Error::is_illegal) for an empty list of dims, dims that do not ascend, and blocks of length 0;
    /// - [out of range](Error::is_out_of_range) for a dim that the array does not have;
    /// - [mismatch](Error::is_mismatch) for blocks that do not divide it, or a table with another number of blocks;
    /// - [limit](Error::is_limit) beyond [`MAX_MODES`] dims or [`MAX_ENTRIES`](crate::MAX_ENTRIES).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tilewright_table::{Along, Table};
    /// let table = Arc::new(Table::new(2, [Some(1), None, Some(0)]).unwrap());
    /// let along = Along::new(&[(1, 16)], &[4, 32], Arc::clone(&table)).unwrap();
    /// assert_eq!(along.stored_extents(), [4, 48]);
    /// let wrong = |dims: &[(usize, u64)], extents: &[u64]| Along::new(dims, extents, Arc::clone(&table)).unwrap_err();
    /// assert!(wrong(&[(1, 16)], &[4, 48]).is_mismatch());
    /// assert!(wrong(&[(1, 16)], &[4, 40]).is_mismatch());
    /// assert!(wrong(&[(2, 1)], &[4, 2]).is_out_of_range());
    /// assert!(wrong(&[(1, 1), (0, 1)], &[4, 2]).is_illegal());
    /// ```
    pub fn new(dims: &[(usize, u64)], extents: &[u64], table: Arc<Table>) -> Result<Along, Error> {
        let blocks = blocks(dims, extents)?;
        let count = Along::count(dims, extents)?;
        if count != table.extent() {
            return Err(Error::mismatch(
                "an index table of {} indices for {}",
                [table.extent().into(), count.into()],
                "a table lists each index of its dims once",
            ));
        }
        if let [Block { dim, by, .. }] = blocks[..]
            && by > 1
        {
            // A table of the blocks of one dim becomes a table of its indices.
            return Along::new(&[(dim, 1)], extents, Arc::new(table.of_blocks(by)?));
        }
        let axes = axes(&blocks, extents.len());
        if axes.len() > MAX_MODES {
            let legal = "an array has at most 32 dims";
            return Err(Error::limit("{} stored dims", [axes.len() as i128], legal));
        }
        let by = |dim| blocks.iter().find(|own| own.dim == dim).map_or(1, |own| own.by);
        let extent = |axis: &Axis| match *axis {
            Axis::Dim(dim) => extents.get(dim).copied().unwrap_or(1),
            Axis::Place => table.stored(),
            Axis::Rest(dim) => by(dim),
        };
        let stored = axes.iter().map(extent).collect();
        Ok(Along { blocks, extents: extents.to_vec(), axes, stored, table })
    }

    /// Returns the number of blocks of these dims of an array together.
    ///
    /// # Errors
    /// As [`Along::new`]; [overflow](Error::is_overflow) beyond 64 bits.
    ///
    /// ```
    /// use tilewright_table::Along;
    /// assert_eq!(Along::count(&[(0, 8), (1, 16)], &[16, 32]).unwrap(), 4);
    /// assert!(Along::count(&[(0, 8)], &[20]).unwrap_err().is_mismatch());
    /// ```
    pub fn count(dims: &[(usize, u64)], extents: &[u64]) -> Result<u64, Error> {
        let counts = blocks(dims, extents)?;
        let all = counts.iter().try_fold(1u64, |all, block| all.checked_mul(block.count));
        all.ok_or_else(|| Error::overflow("an index table of {} dims", [dims.len() as i128], ""))
    }

    /// Iterates over the dims, each with the length of its blocks.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tilewright_table::{Along, Table};
    /// let table = Arc::new(Table::new(2, [1, 0].map(Some)).unwrap());
    /// let along = Along::new(&[(1, 1)], &[8, 2], table).unwrap();
    /// assert_eq!(along.dims().collect::<Vec<_>>(), [(1, 1)]);
    /// ```
    pub fn dims(&self) -> impl Iterator<Item = (usize, u64)> {
        self.blocks.iter().map(|block| (block.dim, block.by))
    }

    /// Returns the extents of the array.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tilewright_table::{Along, Table};
    /// let table = Arc::new(Table::new(2, [Some(1), None, Some(0)]).unwrap());
    /// assert_eq!(Along::new(&[(1, 1)], &[8, 2], table).unwrap().extents(), [8, 2]);
    /// ```
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// Returns the extents of the stored array.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tilewright_table::{Along, Table};
    /// let table = Arc::new(Table::new(2, [Some(1), None, Some(0)]).unwrap());
    /// assert_eq!(Along::new(&[(1, 1)], &[8, 2], table).unwrap().stored_extents(), [8, 3]);
    /// ```
    pub fn stored_extents(&self) -> &[u64] {
        &self.stored
    }

    /// Returns the origin of each stored dim.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tilewright_table::{Along, Axis, Table};
    /// let table = Arc::new(Table::new(4, [3, 0, 1, 2].map(Some)).unwrap());
    /// let along = Along::new(&[(0, 1), (2, 8)], &[2, 5, 16], table).unwrap();
    /// assert_eq!(along.axes(), [Axis::Place, Axis::Rest(2), Axis::Dim(1)]);
    /// ```
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Returns the table.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tilewright_table::{Along, Table};
    /// let table = Arc::new(Table::new(2, [1, 0].map(Some)).unwrap());
    /// assert_eq!(Along::new(&[(0, 1)], &[2], table).unwrap().table().place(1), Some(0));
    /// ```
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// Returns the stored coordinate of one of the array; `None` outside of the array.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tilewright_table::{Along, Table};
    /// let table = Arc::new(Table::new(2, [1, 0].map(Some)).unwrap());
    /// let along = Along::new(&[(0, 1)], &[2, 8], table).unwrap();
    /// assert_eq!((along.store(&[0, 7]), along.store(&[2, 7])), (Some(vec![1, 7]), None));
    /// ```
    pub fn store(&self, coord: &[u64]) -> Option<Vec<u64>> {
        let mut number = 0;
        for Block { dim, by, count } in &self.blocks {
            let own = coord.get(*dim)? / by;
            if own >= *count {
                return None;
            }
            number = number * count + own;
        }
        let place = self.table.place(number)?;
        let index = |axis: &Axis| match *axis {
            Axis::Dim(dim) => coord.get(dim).copied(),
            Axis::Place => Some(place),
            Axis::Rest(dim) => Some(coord.get(dim)? % self.by(dim)),
        };
        self.axes.iter().map(index).collect()
    }

    /// Returns the array's coordinate of a stored one; `None` for a hole.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tilewright_table::{Along, Table};
    /// let table = Arc::new(Table::new(2, [Some(1), None, Some(0)]).unwrap());
    /// let along = Along::new(&[(0, 1)], &[2, 8], table).unwrap();
    /// assert_eq!((along.restore(&[2, 7]), along.restore(&[1, 7])), (Some(vec![0, 7]), None));
    /// ```
    pub fn restore(&self, stored: &[u64]) -> Option<Vec<u64>> {
        let mut coord = vec![0; self.extents.len()];
        let mut number = 0;
        for (axis, index) in self.axes.iter().zip(stored) {
            match *axis {
                Axis::Dim(dim) | Axis::Rest(dim) => *coord.get_mut(dim)? += index,
                Axis::Place => number = self.table.index(*index)?,
            }
        }
        for Block { dim, by, count } in self.blocks.iter().rev() {
            *coord.get_mut(*dim)? += number % count * by;
            number /= count;
        }
        Some(coord)
    }

    fn by(&self, dim: usize) -> u64 {
        self.blocks.iter().find(|own| own.dim == dim).map_or(1, |own| own.by)
    }
}

fn blocks(dims: &[(usize, u64)], extents: &[u64]) -> Result<Vec<Block>, Error> {
    if dims.is_empty() {
        return Err(Error::illegal(
            "an index table names no dim",
            [],
            "name one, as in table(0; 1,0)",
        ));
    }
    for pair in dims.windows(2) {
        if let [(first, _), (second, _)] = *pair
            && first >= second
        {
            let dims = [first as i128, second as i128];
            let legal = "name each dim once, in ascending order";
            return Err(Error::illegal("an index table names dim {} and then {}", dims, legal));
        }
    }
    let block = |(dim, by): &(usize, u64)| {
        let (dim, by) = (*dim, *by);
        let extent = *extents.get(dim).ok_or_else(|| {
            Error::out_of_range(
                "an index table names dim {} of an array of {} dims",
                [dim as i128, extents.len() as i128],
                "dims count from 0",
            )
        })?;
        if by == 0 {
            let legal = "a block has at least 1 index";
            return Err(Error::illegal("blocks of length 0 of dim {}", [dim as i128], legal));
        }
        if !extent.is_multiple_of(by) {
            return Err(Error::mismatch(
                "blocks of {} do not divide the {} indices of dim {}",
                [by.into(), extent.into(), dim as i128],
                "an index table needs whole blocks",
            ));
        }
        Ok(Block { dim, by, count: extent / by })
    };
    dims.iter().map(block).collect()
}

/// Returns the origins of the stored dims of an array of `rank` dims.
fn axes(blocks: &[Block], rank: usize) -> Vec<Axis> {
    let mut axes = Vec::new();
    for dim in 0..rank {
        match blocks.iter().position(|own| own.dim == dim) {
            None => axes.push(Axis::Dim(dim)),
            Some(0) => {
                axes.push(Axis::Place);
                axes.extend(blocks.iter().filter(|own| own.by > 1).map(|own| Axis::Rest(own.dim)));
            }
            Some(_) => {}
        }
    }
    axes
}

/// Prints the table as in a SPEC: `table(0; 3,0..3)`.
impl fmt::Display for Along {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("table(")?;
        for (at, Block { dim, by, .. }) in self.blocks.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{dim}")?;
            if *by > 1 {
                write!(f, "/{by}")?;
            }
        }
        write!(f, "; {})", self.table)
    }
}
