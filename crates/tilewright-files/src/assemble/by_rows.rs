//! Layouts that loops do not describe: the rows of a tensor are made in memory, and a plan moves ranges of them to their places.
//! Descriptions of tensors choose it, and each thread's buffers run it.

use std::ops::Range;

use tilewright_relayout::Plan;

use super::{grid::Grid, stored::in_rows};
use crate::{Error, layout::held::Held, transfer::job};

/// A layout, and the plan from rows to it.
#[derive(Clone, Debug)]
pub(crate) struct ByRows {
    /// The plan from rows to the storage.
    pub(crate) plan: Plan,
    pub(crate) held: Held,
    /// The number of bytes of the storage.
    pub(crate) bytes: u64,
    /// One box of all rows.
    pub(crate) grid: Grid,
    /// The largest number of bytes that are made at once.
    pub(crate) most: u64,
}

impl ByRows {
    /// Returns the plan from one box of rows to the layout, in ranges of about `most` bytes.
    pub(crate) fn new(held: &Held, grid: Grid, most: u64) -> Result<ByRows, String> {
        let said = |error: Error| error.to_string();
        let rows = in_rows(held)?;
        let fill = job::stored_fill("", held).map_err(said)?;
        let plan = Plan::of(job::program("", &rows, held, fill).map_err(said)?);
        let bytes = held.bytes().ok_or("takes more than 2^63 bytes")?;
        Ok(ByRows { plan, held: held.clone(), bytes, grid, most })
    }

    /// Iterates over the ranges that are made, in order.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range<u64>> + Send + use<> {
        self.plan.ranges(self.most.max(1))
    }
}
