//! [`Table`]: the order in which indices of an array are stored.

use std::fmt;

use tilewright_core::Error;

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
