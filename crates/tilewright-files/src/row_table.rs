//! The table beside a tensor that lists the group of each of its rows, such as `g_idx` beside the `qweight` of GPTQ.
//!
//! Rows whose groups are in order, equally long, are where any other format has them. Others want an index table: the
//! rows sorted by their groups. Law: a tensor is refused iff its table is there and some row i is not of group i / n.

use std::{cell::OnceCell, collections::HashMap};

use tilewright_core::{Dtype, Remedy};
use tilewright_notation::Named;

use crate::{Error, Input, Tensor};

/// The longest table that is read, in bytes.
const MOST: u64 = 1 << 30;

/// The tables of a file.
pub(crate) struct Tables<'a> {
    input: &'a Input,
    /// The tensors by name, once they are asked for.
    names: OnceCell<HashMap<&'a str, &'a Tensor>>,
}

impl<'a> Tables<'a> {
    pub(crate) fn new(input: &'a Input) -> Tables<'a> {
        Tables { input, names: OnceCell::new() }
    }

    fn tensor(&self, name: &str) -> Option<&'a Tensor> {
        let all = || self.input.tensors().iter().map(|tensor| (tensor.name(), tensor)).collect();
        self.names.get_or_init(all).get(name).copied()
    }

    /// Why the rows of a tensor, read as `from`, are in no order that `to` can have; `None` where they are.
    pub(crate) fn permuted(
        &self,
        tensor: &Tensor,
        from: &Named,
        to: &Named,
    ) -> Result<Option<String>, Error> {
        let Some(table) = from.row_table().filter(|own| to.row_table() != Some(own)) else {
            return Ok(None);
        };
        let layer = tensor.name.rsplit_once('.').map(|(layer, _)| layer);
        let beside = layer.map_or_else(|| table.to_owned(), |layer| format!("{layer}.{table}"));
        match self.tensor(&beside) {
            Some(found) => said(self.input, (tensor, from), found),
            None => Ok(None),
        }
    }
}

/// Why the rows of a tensor are in no order, of the table beside it.
fn said(
    input: &Input,
    (tensor, from): (&Tensor, &Named),
    found: &Tensor,
) -> Result<Option<String>, Error> {
    let beside = &found.name;
    let groups = groups(input, found)?;
    let about = |said: String| Some(format!("tensor {:?}: {beside:?} {said}", tensor.name));
    let Some(groups) = groups else {
        let (dtype, dims) = (found.dtype(), found.dims());
        let said = format!("is {dtype} {dims:?}; the groups of rows are integers in one dim");
        return Ok(about(said));
    };
    Ok(unordered(&groups).and_then(|(row, group)| {
        about(format!(
            "permutes the rows: row {row} is of group {group}. It wants an index table: sort the rows by their groups first; {} keeps their order",
            from.name()
        ))
    }))
}

/// The error of rows that are permuted.
pub(crate) fn refused(why: String) -> Error {
    Error::usage(why).with(&[Remedy::LeaveOut, Remedy::SkipUnfit])
}

/// The group of each row; `None` for a tensor that is no list of integers.
fn groups(input: &Input, table: &Tensor) -> Result<Option<Vec<i64>>, Error> {
    let wide = match (table.dims(), table.dtype(), table.bits()) {
        ([_], Dtype::S32, 32) => 4,
        ([_], Dtype::S64, 64) => 8,
        _ => return Ok(None),
    };
    let bytes = input.bytes(table, MOST)?;
    let number = |bytes: &[u8]| match *bytes {
        [a, b, c, d] => i32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => i64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    };
    Ok(Some(bytes.chunks_exact(wide).map(number).collect()))
}

/// The first row that is not of the group of its place, with its group.
fn unordered(groups: &[i64]) -> Option<(usize, i64)> {
    let len = groups.iter().position(|group| *group != 0).unwrap_or(groups.len()).max(1);
    let placed = |row: usize| i64::try_from(row / len).ok();
    groups.iter().copied().enumerate().find(|(row, group)| placed(*row) != Some(*group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_in_order_are_equally_long() {
        for len in 1..5usize {
            for rows in 0..17 {
                let table: Vec<i64> = (0..rows).map(|row| (row / len) as i64).collect();
                assert_eq!(unordered(&table), None, "{table:?}");
                // Any other group of a row is found, but for one of a last group that no row follows.
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
