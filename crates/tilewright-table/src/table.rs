//! [`Table`]: the order in which indices of an array are stored; and [`Along`]: a table and the dims that it permutes.

use std::{fmt, sync::Arc};

use tilewright_core::{Error, MAX_MODES};

/// The most entries of a table's list, and the most indices of its array: 16,777,216. Both directions are stored, with
/// 4 bytes for each entry.
pub const MAX_ENTRIES: u64 = 1 << 24;

/// The entry of a hole.
const HOLE: u32 = u32::MAX;

/// A list of indices: position `i` stores index `list[i]` of the array, or is a hole.
///
/// Law: every index of the array is in the list once.
///
/// ```
/// use tilewright_table::Table;
/// let table = Table::new(3, [Some(1), None, Some(0), Some(2)]).unwrap();
/// assert_eq!((table.extent(), table.stored(), table.holes()), (3, 4, 1));
/// assert_eq!((table.index(0), table.index(1), table.place(2)), (Some(1), None, Some(3)));
/// assert_eq!(table.to_string(), "1,-,0,2");
/// ```
#[must_use]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Table {
    list: Box<[u32]>,
    places: Box<[u32]>,
}

impl Table {
    /// Makes the table of an array's `extent` indices; `None` is a hole.
    ///
    /// # Errors
    /// [out of range](Error::is_out_of_range) for an index that the array does not have, [illegal](Error::is_illegal)
    /// for one that is stored twice or nowhere, [limit](Error::is_limit) beyond [`MAX_ENTRIES`].
    ///
    /// ```
    /// use tilewright_table::Table;
    /// assert!(Table::new(2, [Some(1), Some(0)]).is_ok());
    /// assert!(Table::new(2, [Some(1), Some(2)]).unwrap_err().is_out_of_range());
    /// let error = Table::new(3, [Some(1), Some(0)]).unwrap_err();
    /// assert!(error.is_illegal() && error.to_string().starts_with("index 2 of the array is stored nowhere"));
    /// ```
    pub fn new(extent: u64, list: impl IntoIterator<Item = Option<u64>>) -> Result<Table, Error> {
        check_count("the array has {} indices", extent)?;
        let mut places = vec![HOLE; extent as usize];
        let mut kept = Vec::new();
        for index in list {
            let at = kept.len() as u64;
            check_count("a list has more than {} entries", at)?;
            let Some(index) = index else {
                kept.push(HOLE);
                continue;
            };
            let Some(place) = usize::try_from(index).ok().and_then(|i| places.get_mut(i)) else {
                return Err(Error::out_of_range(
                    "entry {} of an index table is {}, but the dim has {} indices",
                    [at.into(), index.into(), extent.into()],
                    "entries count from 0; a hole is written -",
                ));
            };
            if *place != HOLE {
                return Err(Error::illegal(
                    "index {} of the array is stored at {} and at {}",
                    [index.into(), (*place).into(), at.into()],
                    "a layout gives each element one place",
                ));
            }
            *place = at as u32;
            kept.push(index as u32);
        }
        match places.iter().position(|place| *place == HOLE) {
            Some(index) => Err(Error::illegal(
                "index {} of the array is stored nowhere: the list has {} entries, and the dim {} indices",
                [index as i128, kept.len() as i128, extent.into()],
                "list every index once",
            )),
            None => Ok(Table { list: kept.into(), places: places.into() }),
        }
    }

    /// Makes the table that sorts an array's indices by their groups, stably; `groups[i]` is the group of index i.
    ///
    /// # Errors
    /// [limit](Error::is_limit) beyond [`MAX_ENTRIES`].
    ///
    /// ```
    /// use tilewright_table::Table;
    /// // The g_idx of GPTQ: rows 1 and 2 are in group 0.
    /// assert_eq!(Table::sorting(&[1, 0, 0, 1]).unwrap().to_string(), "1,2,0,3");
    /// ```
    pub fn sorting(groups: &[u64]) -> Result<Table, Error> {
        check_count("the array has {} indices", groups.len() as u64)?;
        let mut order: Vec<u32> = (0..groups.len() as u32).collect();
        order.sort_by_key(|index| groups.get(*index as usize));
        Table::new(groups.len() as u64, order.into_iter().map(|index| Some(index.into())))
    }

    /// Returns the number of the array's indices.
    ///
    /// ```
    /// use tilewright_table::Table;
    /// assert_eq!(Table::new(1, [None, Some(0)]).unwrap().extent(), 1);
    /// ```
    pub fn extent(&self) -> u64 {
        self.places.len() as u64
    }

    /// Returns the number of positions, holes included.
    ///
    /// ```
    /// use tilewright_table::Table;
    /// assert_eq!(Table::new(1, [None, Some(0)]).unwrap().stored(), 2);
    /// ```
    pub fn stored(&self) -> u64 {
        self.list.len() as u64
    }

    /// Returns the number of holes.
    ///
    /// ```
    /// use tilewright_table::Table;
    /// assert_eq!(Table::new(1, [None, Some(0)]).unwrap().holes(), 1);
    /// ```
    pub fn holes(&self) -> u64 {
        self.stored() - self.extent()
    }

    /// Returns the index that a position stores; `None` for a hole, and beyond the list.
    ///
    /// ```
    /// use tilewright_table::Table;
    /// let table = Table::new(2, [Some(1), Some(0)]).unwrap();
    /// assert_eq!((table.index(0), table.index(2)), (Some(1), None));
    /// ```
    pub fn index(&self, place: u64) -> Option<u64> {
        let index = self.list.get(usize::try_from(place).ok()?).copied()?;
        (index != HOLE).then_some(index.into())
    }

    /// Returns the position that stores an index; `None` beyond the array.
    ///
    /// ```
    /// use tilewright_table::Table;
    /// let table = Table::new(2, [Some(1), Some(0)]).unwrap();
    /// assert_eq!((table.place(0), table.place(2)), (Some(1), None));
    /// ```
    pub fn place(&self, index: u64) -> Option<u64> {
        self.places.get(usize::try_from(index).ok()?).map(|place| (*place).into())
    }

    /// Returns the index at each position, [`u32::MAX`] for a hole.
    ///
    /// ```
    /// use tilewright_table::Table;
    /// assert_eq!(Table::new(1, [None, Some(0)]).unwrap().list(), [u32::MAX, 0]);
    /// ```
    pub fn list(&self) -> &[u32] {
        &self.list
    }

    /// Returns the position of each index.
    ///
    /// ```
    /// use tilewright_table::Table;
    /// assert_eq!(Table::new(1, [None, Some(0)]).unwrap().places(), [1]);
    /// ```
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// Converts a table of blocks of `by` indices to a table of single indices.
    ///
    /// # Errors
    /// [limit](Error::is_limit) beyond [`MAX_ENTRIES`].
    ///
    /// ```
    /// use tilewright_table::Table;
    /// let blocks = Table::new(2, [Some(1), None, Some(0)]).unwrap();
    /// assert_eq!(blocks.of_blocks(2).unwrap().to_string(), "2,3,-,-,0,1");
    /// ```
    pub fn of_blocks(&self, by: u64) -> Result<Table, Error> {
        check_count("the array has {} indices", self.stored().saturating_mul(by))?;
        let block = |index: &u32| {
            let (hole, first) = (*index == HOLE, u64::from(*index) * by);
            (0..by).map(move |at| (!hole).then_some(first + at))
        };
        Table::new(self.extent() * by, self.list.iter().flat_map(block))
    }
}

fn check_count(message: &'static str, count: u64) -> Result<(), Error> {
    if count > MAX_ENTRIES {
        let legal = "an index table has at most 16,777,216 entries";
        return Err(Error::limit(message, [count.into()], legal));
    }
    Ok(())
}

/// Prints the list; runs of three or more that increase by 1 are ranges without their ends.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = &*self.list;
        while let Some(first) = rest.first() {
            if rest.len() < self.list.len() {
                f.write_str(",")?;
            }
            let grows = |(at, index): (usize, &u32)| *first != HOLE && *index == first + at as u32;
            let run = rest.iter().enumerate().take_while(|entry| grows(*entry)).count();
            let len = if run > 2 { run } else { 1 };
            match (*first, len) {
                (HOLE, _) => f.write_str("-")?,
                (first, 1) => write!(f, "{first}")?,
                (first, len) => write!(f, "{first}..{}", u64::from(first) + len as u64)?,
            }
            rest = rest.get(len..).unwrap_or_default();
        }
        Ok(())
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({self})")
    }
}

// [`Along`]: a table and the dims that it permutes.
//
// A table of one dim keeps the dims: the stored one has an index for each entry. A table of several dims permutes the
// row-major number of their blocks. The stored array then has one dim for that number, at the position of the first of
// them, followed by the indices inside the blocks that are longer than 1, in the order of the dims.
//
// A block of a dim may be one of a group of blocks: `1/8%2` is the number of the block of 8 within each pair of
// blocks. The table then permutes blocks within each group, and the rest of the dim counts the groups too.
//
// Law: `restore(store(c)) = c`, and `store(c)` is below the stored extents.

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
    axes: Vec<StorageAxis>,
    stored: Vec<u64>,
    table: Arc<Table>,
}

/// The blocks of a dim that a table lists: all of them, or those of each group.
///
/// A pair `(dim, by)` converts to all blocks of `by` indices, a triple `(dim, by, of)` to those of each group of `of`.
///
/// ```
/// use tilewright_table::Block;
/// let block = Block::from((1, 8, 2));
/// assert_eq!((block.dim, block.by, block.of, block.to_string().as_str()), (1, 8, Some(2), "1/8%2"));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Block {
    /// The dim.
    pub dim: usize,
    /// The length of a block, in indices.
    pub by: u64,
    /// The number of blocks of a group; `None` if all blocks are listed.
    pub of: Option<u64>,
}

impl From<(usize, u64)> for Block {
    fn from((dim, by): (usize, u64)) -> Block {
        Block { dim, by, of: None }
    }
}

impl From<(usize, u64, u64)> for Block {
    fn from((dim, by, of): (usize, u64, u64)) -> Block {
        Block { dim, by, of: Some(of) }
    }
}

impl Block {
    /// Returns the number of an index's block, within its group.
    fn number(&self, index: u64) -> u64 {
        let number = index / self.by;
        self.of.map_or(number, |of| number % of)
    }

    /// Returns the rest of an index: its position in its block and, for groups, the number of the group before it.
    fn rest(&self, index: u64) -> u64 {
        let group = self.of.map_or(0, |of| index / self.by / of);
        group * self.by + index % self.by
    }

    /// Returns the index with this number and this rest.
    fn index(&self, number: u64, rest: u64) -> u64 {
        let group = self.of.map_or(0, |of| rest / self.by * of);
        (group + number) * self.by + rest % self.by
    }

    /// Returns whether a dim remains beside the number: of blocks longer than 1, and of groups.
    ///
    /// ```
    /// use tilewright_table::Block;
    /// let remains = [Block::from((0, 1)), Block::from((0, 4)), Block::from((0, 1, 2))].map(|block| block.has_rest());
    /// assert_eq!(remains, [false, true, true]);
    /// ```
    pub fn has_rest(&self) -> bool {
        self.by > 1 || self.of.is_some()
    }

    /// Returns the number of blocks that are listed, of a dim of this extent.
    pub(crate) fn count(&self, extent: u64) -> u64 {
        self.of.unwrap_or(extent / self.by)
    }
}

/// Prints the blocks as in a SPEC: `1/8%2`.
impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.dim)?;
        if self.by > 1 {
            write!(f, "/{}", self.by)?;
        }
        self.of.map_or(Ok(()), |of| write!(f, "%{of}"))
    }
}

/// The origin of a stored dim.
///
/// ```
/// use std::sync::Arc;
/// use tilewright_table::{Along, StorageAxis, Table};
/// let table = Arc::new(Table::new(3, [2, 0, 1].map(Some)).unwrap());
/// assert_eq!(Along::new(&[(1, 1)], &[5, 3], table).unwrap().axes(), [StorageAxis::Dim(0), StorageAxis::Place]);
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StorageAxis {
    /// A dim of the array, unchanged.
    Dim(usize),
    /// The position in the list.
    Place,
    /// The index inside the blocks of a dim, with the number of the group before it.
    Rest(usize),
}

impl Along {
    /// Makes a table of the [blocks](Block) of these dims of an array: pairs of a dim and the length of its blocks, 1 for
    /// single indices; or triples that end with the number of blocks of a group.
    ///
    /// # Errors
    /// - [illegal](Error::is_illegal) for an empty list of dims, dims that do not ascend, and blocks or groups of length 0;
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
    ///
    /// // Every second row changes places with the next.
    /// let table = Arc::new(Table::new(2, [1, 0].map(Some)).unwrap());
    /// let pairs = Along::new(&[(0, 1, 2)], &[8, 3], table).unwrap();
    /// assert_eq!((pairs.stored_extents(), pairs.store(&[5, 0])), (&[2, 4, 3][..], Some(vec![0, 2, 0])));
    /// ```
    pub fn new<B: Copy + Into<Block>>(
        dims: &[B],
        extents: &[u64],
        table: Arc<Table>,
    ) -> Result<Along, Error> {
        let all: Vec<Block> = dims.iter().map(|block| (*block).into()).collect();
        Along::of_blocks(all, extents, table)
    }

    fn of_blocks(blocks: Vec<Block>, extents: &[u64], table: Arc<Table>) -> Result<Along, Error> {
        let count = Along::count(&blocks, extents)?;
        if count != table.extent() {
            return Err(Error::mismatch(
                "an index table of {} indices for {}",
                [table.extent().into(), count.into()],
                "a table lists each index of its dims once",
            ));
        }
        if let [Block { dim, by, of: None }] = blocks[..]
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
        let whole = |dim: usize| extents.get(dim).copied().unwrap_or(1);
        let rest = |own: &Block| own.of.map_or(own.by, |of| whole(own.dim) / of);
        let extent = |axis: &StorageAxis| match *axis {
            StorageAxis::Dim(dim) => whole(dim),
            StorageAxis::Place => table.stored(),
            StorageAxis::Rest(dim) => blocks.iter().find(|own| own.dim == dim).map_or(1, rest),
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
    pub fn count<B: Copy + Into<Block>>(dims: &[B], extents: &[u64]) -> Result<u64, Error> {
        let all: Vec<Block> = dims.iter().map(|block| (*block).into()).collect();
        check(&all, extents)?;
        let count = |block: &Block| block.count(extents.get(block.dim).copied().unwrap_or(0));
        let all = all.iter().try_fold(1u64, |all, block| all.checked_mul(count(block)));
        all.ok_or_else(|| Error::overflow("an index table of {} dims", [dims.len() as i128], ""))
    }

    /// Returns the blocks of the dims.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tilewright_table::{Along, Block, Table};
    /// let table = Arc::new(Table::new(2, [1, 0].map(Some)).unwrap());
    /// let along = Along::new(&[(1, 1)], &[8, 2], table).unwrap();
    /// assert_eq!(along.blocks(), [Block::from((1, 1))]);
    /// ```
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
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
    /// use tilewright_table::{Along, StorageAxis, Table};
    /// let table = Arc::new(Table::new(4, [3, 0, 1, 2].map(Some)).unwrap());
    /// let along = Along::new(&[(0, 1), (2, 8)], &[2, 5, 16], table).unwrap();
    /// assert_eq!(along.axes(), [StorageAxis::Place, StorageAxis::Rest(2), StorageAxis::Dim(1)]);
    /// ```
    pub fn axes(&self) -> &[StorageAxis] {
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
        for block in &self.blocks {
            let (index, extent) = (*coord.get(block.dim)?, *self.extents.get(block.dim)?);
            if index >= extent {
                return None;
            }
            number = number * block.count(extent) + block.number(index);
        }
        let place = self.table.place(number)?;
        let block = |dim| self.blocks.iter().find(|own| own.dim == dim);
        let index = |axis: &StorageAxis| match *axis {
            StorageAxis::Dim(dim) => coord.get(dim).copied(),
            StorageAxis::Place => Some(place),
            StorageAxis::Rest(dim) => Some(block(dim)?.rest(*coord.get(dim)?)),
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
                StorageAxis::Dim(dim) | StorageAxis::Rest(dim) => *coord.get_mut(dim)? += index,
                StorageAxis::Place => number = self.table.index(*index)?,
            }
        }
        for block in self.blocks.iter().rev() {
            let count = block.count(*self.extents.get(block.dim)?);
            let rest = coord.get_mut(block.dim)?;
            *rest = block.index(number % count, *rest);
            number /= count;
        }
        Some(coord)
    }
}

/// Checks that these are blocks of the dims of an array.
fn check(blocks: &[Block], extents: &[u64]) -> Result<(), Error> {
    if blocks.is_empty() {
        return Err(Error::illegal(
            "an index table names no dim",
            [],
            "name one, as in table(0; 1,0)",
        ));
    }
    for pair in blocks.windows(2) {
        if let [first, second] = pair
            && first.dim >= second.dim
        {
            let dims = [first.dim as i128, second.dim as i128];
            let legal = "name each dim once, in ascending order";
            return Err(Error::illegal("an index table names dim {} and then {}", dims, legal));
        }
    }
    blocks.iter().try_for_each(|block| check_block(block, extents))
}

fn check_block(block: &Block, extents: &[u64]) -> Result<(), Error> {
    let Block { dim, by, of } = *block;
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
    match of {
        Some(0) => {
            let legal = "a group has at least 1 block";
            Err(Error::illegal("groups of 0 blocks of dim {}", [dim as i128], legal))
        }
        Some(of) if !(extent / by).is_multiple_of(of) => Err(Error::mismatch(
            "groups of {} blocks of {} do not divide the {} indices of dim {}",
            [of.into(), by.into(), extent.into(), dim as i128],
            "an index table needs whole groups of blocks; pad the array",
        )),
        Some(_) | None => Ok(()),
    }
}

/// Returns the origins of the stored dims of an array of `rank` dims.
fn axes(blocks: &[Block], rank: usize) -> Vec<StorageAxis> {
    let mut axes = Vec::new();
    for dim in 0..rank {
        match blocks.iter().position(|own| own.dim == dim) {
            None => axes.push(StorageAxis::Dim(dim)),
            Some(0) => {
                axes.push(StorageAxis::Place);
                axes.extend(
                    blocks
                        .iter()
                        .filter(|own| own.has_rest())
                        .map(|own| StorageAxis::Rest(own.dim)),
                );
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
        for (at, block) in self.blocks.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{block}")?;
        }
        write!(f, "; {})", self.table)
    }
}
