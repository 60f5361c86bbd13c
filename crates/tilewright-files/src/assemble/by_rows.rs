//! Layouts that loops do not describe: the rows of a tensor are made in memory, and a plan moves ranges of them to their places.
//! Descriptions of tensors choose it, and each thread's buffers run it.

use std::ops::Range;

use tilewright_relayout::Plan;

use super::{grid::Grid, stored::in_rows};
use crate::{
    Error,
    layout::held::Held,
    transfer::{
        job,
        shares::{cost_of_ranges, is_cheap},
    },
};

/// Ranges are tried from this many bytes on: bytes of short ranges are still in the cache when they are written.
pub(crate) const LEAST: u64 = 1 << 20;

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
    /// Returns the plan from one box of rows to the layout.
    pub(crate) fn new(held: &Held, grid: Grid) -> Result<ByRows, String> {
        let said = |error: Error| error.to_string();
        let rows = in_rows(held)?;
        let fill = job::stored_fill("", held).map_err(said)?;
        let plan = Plan::of(job::program("", &rows, held, fill).map_err(said)?);
        let bytes = held.bytes().ok_or("takes more than 2^63 bytes")?;
        Ok(ByRows { plan, held: held.clone(), bytes, grid, most: LEAST })
    }

    /// Chooses the length of ranges, of up to `most` bytes: the shortest whose reads of rows are few beside their bytes, or
    /// the one that costs least.
    pub(crate) fn settle(&mut self, most: u64) {
        let most = most.max(1);
        let longer = |len: &u64| len.checked_mul(4).filter(|_| *len < most);
        let lengths = std::iter::successors(Some(LEAST), longer).map(|len| len.min(most));
        let mut best = u64::MAX;
        self.most = LEAST.min(most);
        // A list of reads is made before its length is known.
        let fits = |len: &u64| len.saturating_add(self.plan.list_bytes(*len)) <= most;
        // A long list of reads takes longer than the rows themselves: they are made whole.
        let whole =
            self.plan.list_bytes(LEAST) > 0 && self.plan.src_bytes().max(self.bytes) <= most;
        for len in lengths.filter(fits) {
            // A plan that lists no reads says so when it runs.
            let Ok(cost) = cost_of_ranges(&self.plan, len) else { return };
            if cost < best {
                (best, self.most) = (cost, len);
            }
            if is_cheap(cost.into(), self.bytes) {
                return;
            }
            if whole {
                break;
            }
        }
        if whole {
            self.most = u64::MAX;
        }
    }

    /// Iterates over the ranges that are made, in order.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range<u64>> + Send + use<> {
        self.plan.ranges(self.most.max(1))
    }
}

#[cfg(test)]
mod tests {
    use tilewright_core::{Dtype, Fill};
    use tilewright_notation::Spec;

    use super::*;

    /// Ranges of a swizzle of rows are read at once. Those of columns would be read in pieces of a few elements, so they are
    /// as long as the memory allows, until the pieces are long.
    #[test]
    fn ranges_are_long_where_reads_would_be_short() {
        let extents = [2048u64, 2048];
        let reads = |spec: &str, most: u64| {
            let named =
                Spec::parse(spec).unwrap().resolve(Some(&extents), Some(Dtype::Bf16)).unwrap();
            let held = Held::of(&named, Dtype::Bf16, 16, Fill::Unspecified).unwrap();
            let units = extents[0] * extents[1];
            let grid = Grid { radix: units, rows: 1, columns: units, pieces: Vec::new() };
            let mut by_rows = ByRows::new(&held, grid).unwrap();
            by_rows.settle(most);
            let chunks = by_rows.ranges().map(|range| by_rows.plan.chunk(range).unwrap());
            (by_rows.most, chunks.map(|chunk| chunk.reads().count()).sum::<usize>())
        };
        let (rows, columns) =
            ("S<2,3,3> o (2048,2048):(2048,1)", "S<2,3,3> o (2048,2048):(1,2048)");
        assert_eq!(reads(rows, 64 << 20).0, LEAST);
        assert!(reads(rows, 64 << 20).1 <= 16);
        let short = reads(columns, LEAST);
        let long = reads(columns, 64 << 20);
        assert_eq!(short.0, LEAST);
        assert!(8 * long.1 <= short.1, "{long:?} {short:?}");
        assert_eq!(reads(columns, 1000).0, 1000);
        // No strides and no matrix of bits say this one, so reads would be listed.
        let listed = "S<2,3,3> o (2048,2048):(1,2056)";
        assert_eq!(reads(listed, 64 << 20).0, u64::MAX);
    }
}
