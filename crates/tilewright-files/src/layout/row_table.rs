//! The table beside a tensor that lists the group of each of its rows, such as `g_idx` beside the `qweight` of GPTQ. Conversions
//! and readers check it.
//!
//! The rows are in their original order, and the table maps each row to its scale. Plain dims, row-major or column-major, keep
//! this order, so the table stays valid. Formats for kernels assume that groups are in order and equally long. If they are not,
//! the rows must be sorted by group, with an index table. Law: a tensor is refused iff the target is such a format, its table
//! exists, and some row i is not of group i / n.

use std::{cell::OnceCell, collections::HashMap};

use tilewright_core::{Dtype, Remedy};
use tilewright_notation::ResolvedLayout;
use tilewright_table::{Block, TabledLayout};

use crate::{
    Error, Input, Tensor,
    convert::budget::{LEAST, zeros},
    error,
    layout::{element_layout::ElementLayout, order},
    open::origin::Origin,
};

/// The tables of an input.
pub(crate) struct Tables<'a> {
    input: &'a Input,
    /// The bytes of the tensors by their numbers, if these are arrays in memory.
    arrays: &'a [&'a [u8]],
    /// The numbers of the tensors by name, computed on first use.
    names: OnceCell<HashMap<&'a str, usize>>,
}

/// A tensor that is a table, and the position of its bytes.
pub(crate) struct RowTable<'a> {
    pub(crate) tensor: &'a Tensor,
    origin: Origin<'a>,
    at: u64,
}

impl RowTable<'_> {
    /// Calls `found` with pieces of the bytes, each with the position of its first byte, and returns the first answer. One small
    /// piece at a time is in memory.
    pub(crate) fn find<T>(
        &self,
        mut found: impl FnMut(u64, &[u8]) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let (len, mut piece) = (self.tensor.len, [0; LEAST as usize]);
        for from in (0..len).step_by(piece.len()) {
            let step = (len - from).min(LEAST) as usize;
            let piece = piece.get_mut(..step).unwrap_or_default();
            self.origin.read(piece, self.at.saturating_add(from))?;
            if let Some(answer) = found(from, piece) {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }
}

impl<'a> Tables<'a> {
    pub(crate) fn new(input: &'a Input) -> Tables<'a> {
        Tables::of_arrays(input, &[])
    }

    pub(crate) fn of_arrays(input: &'a Input, arrays: &'a [&'a [u8]]) -> Tables<'a> {
        Tables { input, arrays, names: OnceCell::new() }
    }

    /// Returns the table beside a tensor whose name has this last part.
    pub(crate) fn beside(
        &self,
        tensor: &Tensor,
        last: &str,
    ) -> Result<Option<RowTable<'a>>, Error> {
        match tensor.name.rsplit_once('.') {
            Some((layer, _)) => self.table(&format!("{layer}.{last}")),
            None => self.table(last),
        }
    }

    fn table(&self, name: &str) -> Result<Option<RowTable<'a>>, Error> {
        let tensors = self.input.tensors();
        let all = || tensors.iter().enumerate().map(|(at, tensor)| (tensor.name(), at)).collect();
        let Some(number) = self.names.get_or_init(all).get(name) else { return Ok(None) };
        let Some(tensor) = tensors.get(*number) else { return Ok(None) };
        let (origin, at) = match self.arrays.get(*number) {
            Some(bytes) => (Origin::Memory(bytes, &self.input.path), 0),
            None => self.input.place(tensor).map(|(source, at)| (Origin::File(source), at))?,
        };
        Ok(Some(RowTable { tensor, origin, at }))
    }

    /// Returns the reason why the rows of a tensor, read as `from`, are in an order that `to` cannot have; `None` if there is
    /// none.
    pub(crate) fn permuted(
        &self,
        tensor: &Tensor,
        from: &ElementLayout,
        to: &ElementLayout,
    ) -> Result<Option<String>, Error> {
        // The storage of a target with index tables has its rows in another order.
        let sorted = to.tables().map(|tables| tables.array.layout());
        let (from, to) = (&*from.named, &*to.named);
        let keeps = |own: &&str| to.row_table() == Some(*own) || order::is_plain(to);
        let Some(table) = from.row_table().filter(|own| !keeps(own)) else { return Ok(None) };
        match self.beside(tensor, table)? {
            Some(table) => said((tensor, from, to), &table, sorted),
            None => Ok(None),
        }
    }
}

/// Checks the order of a tensor's rows by the table beside it, and returns the reason if it is wrong.
fn said(
    (tensor, from, to): (&Tensor, &ResolvedLayout, &ResolvedLayout),
    table: &RowTable<'_>,
    sorted: Option<&TabledLayout>,
) -> Result<Option<String>, Error> {
    let own = table.tensor;
    let about = |said: String| Some(format!("tensor {:?}: {:?} {said}", tensor.name, own.name));
    let listed = own.held.is_row_major() && !own.held.order.is_big();
    let wide = match (own.dims(), own.dtype(), own.bits()) {
        ([_], Dtype::S32, 32) if listed => 4,
        ([_], Dtype::S64, 64) if listed => 8,
        _ => {
            let is = own.layout().to_spec();
            let said = format!(
                "is `{is}`; the groups of rows must be integers in one dim, such as s32[128]"
            );
            return Ok(about(said));
        }
    };
    let found = match sorted {
        Some(sorted) => unsorted(table, wide, sorted)?,
        None => unordered(table, wide)?,
    };
    Ok(found.and_then(|(row, group)| {
        let (from, to) = (from.name(), to.name());
        let list = own.name.rsplit('.').next().unwrap_or(&own.name);
        about(format!(
            "permutes the rows: row {row} is of group {group}, and {to} needs the groups in order. Sort the rows by their groups with an index table: `table(0; tensor {list}) {to}`. {from}, row-major and col-major keep the rows as they are"
        ))
    }))
}

/// Returns the error for permuted rows.
pub(crate) fn refused(why: String) -> Error {
    error::usage(why).with(&[Remedy::LeaveOut, Remedy::SkipUnfit])
}

/// Returns the first row that is not of the group of its place, with its group; the table has integers of `wide` bytes.
fn unordered(table: &RowTable<'_>, wide: usize) -> Result<Option<(u64, i64)>, Error> {
    let mut order = RowOrder::default();
    table.find(|_, piece| piece.chunks_exact(wide).map(number).find_map(|group| order.next(group)))
}

/// Returns the first place whose row is not of the group of that place, with its group. Index tables give the order of the rows;
/// only tables of the first dim alone are followed.
fn unsorted(
    table: &RowTable<'_>,
    wide: usize,
    sorted: &TabledLayout,
) -> Result<Option<(u64, i64)>, Error> {
    let mut bytes = zeros(table.tensor.len)?;
    table.origin.read(&mut bytes, table.at)?;
    let groups: Vec<i64> = bytes.chunks_exact(wide).map(number).collect();
    let mut rows: Vec<Option<usize>> = (0..groups.len()).map(Some).collect();
    for along in sorted.tables().iter().filter(|along| along.blocks() == [Block::from((0, 1))]) {
        let list = (0..along.table().stored()).map(|place| along.table().index(place));
        rows = list.map(|row| rows.get(usize::try_from(row?).ok()?).copied().flatten()).collect();
    }
    let mut order = RowOrder::default();
    let mut placed = rows.iter().flatten().filter_map(|row| groups.get(*row));
    Ok(placed.find_map(|group| order.next(*group)))
}

/// Returns an integer, little-endian.
fn number(bytes: &[u8]) -> i64 {
    match *bytes {
        [a, b, c, d] => i32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => i64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    }
}

/// The number of rows that were in order, and the length of groups, which is known when the second group begins.
#[derive(Default)]
struct RowOrder {
    rows: u64,
    len: Option<u64>,
}

impl RowOrder {
    /// Adds a row, and returns it with its group if that is not the group of its place.
    fn next(&mut self, group: i64) -> Option<(u64, i64)> {
        let row = self.rows;
        if self.len.is_none() && group != 0 {
            self.len = Some(row.max(1));
        }
        let placed = self.len.map_or(0, |len| row / len);
        self.rows += 1;
        (u64::try_from(group) != Ok(placed)).then_some((row, group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unordered(groups: &[i64]) -> Option<(u64, i64)> {
        let mut order = RowOrder::default();
        groups.iter().find_map(|group| order.next(*group))
    }

    #[test]
    fn groups_in_order_are_equally_long() {
        for len in 1..5usize {
            for rows in 0..17 {
                let table: Vec<i64> = (0..rows).map(|row| (row / len) as i64).collect();
                assert_eq!(unordered(&table), None, "{table:?}");
                // Any other group of a row is found, except in a last group that has only this row.
                for (row, other) in (0..rows).flat_map(|row| (-1..6).map(move |other| (row, other)))
                {
                    let mut changed = table.clone();
                    changed[row] = other;
                    let is_table =
                        (1..=rows).any(|n| (0..rows).all(|r| changed[r] == (r / n) as i64));
                    assert_eq!(unordered(&changed).is_none(), is_table, "{changed:?}");
                }
            }
        }
        assert_eq!(unordered(&[0, 1, 0, 1]), Some((2, 0)));
        assert_eq!(unordered(&[1, 0]), Some((0, 1)));
    }
}
