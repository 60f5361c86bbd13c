//! Divides the bound on memory among reading, moving and writing. Jobs, workers and the output use it.

use std::ops::Range;

use tilewright_relayout::{CALL, Chunk, Loop, Plan, Region, Tiles};
use tilewright_transfer::LONG;

/// The number of bytes of a piece if memory allows: a piece stays in the processor's cache until it is written.
pub(crate) const PIECE: u64 = 1 << 20;

/// The number of bytes of a piece of a remote source if memory allows: a request takes as long as many bytes.
const REMOTE_PIECE: u64 = 8 << 20;

/// The number of bytes from which on a request is long.
const REMOTE_LONG: u64 = 1 << 20;

/// The largest number of workers that read a remote source: they wait for most of the time.
const REMOTE_WORKERS: u64 = 8;

/// The largest number of bytes that a worker reads between two checks for cancellation.
const STEP: u64 = 1 << 20;

/// Smaller budgets are not divided: long reads save more than parallel work.
const DIVIDED: u64 = 8 << 20;

/// The way a tensor is converted.
pub(crate) enum Parts {
    /// It is read whole, and its result is made in pieces.
    Whole,
    /// By ranges of this number of bytes of the result.
    Ranges(u64),
    /// By these ranges of the result, which cut no region.
    Groups(Vec<Range<u64>>),
    /// By boxes of elements, whose places in the result are not contiguous.
    Tiles(Tiles),
}

/// The longest range that is made at once so that it cuts no region.
const GROUP: u64 = 2 * PIECE;

/// The largest tile: larger ones are not faster.
const TILE: u64 = 32 << 20;

/// Returns the total cost of calls and bytes, in bytes.
pub(crate) fn cost((calls, bytes): (u64, u64)) -> u64 {
    calls.saturating_mul(CALL).saturating_add(bytes)
}

/// Returns the cost of reading and writing ranges of `len` bytes, estimated from the first.
pub(crate) fn cost_of_ranges(plan: &Plan, len: u64) -> Result<u64, tilewright_relayout::Error> {
    plan.ranges(len).next().map_or(Ok(0), |range| cost_of_range(plan, range))
}

/// Returns the cost of reading and writing ranges like this one.
pub(crate) fn cost_of_range(
    plan: &Plan,
    range: Range<u64>,
) -> Result<u64, tilewright_relayout::Error> {
    let times = plan.dst_bytes().div_ceil((range.end - range.start).max(1));
    let chunk = plan.chunk(range)?;
    let (calls, bytes) = (chunk.reads().count() as u64 + 1, chunk.buffer_len() as u64);
    Ok(cost((calls.saturating_mul(times), bytes.saturating_mul(times))))
}

/// Returns true if a cost for this number of bytes is little more than that of the bytes: calls are few beside them.
pub(crate) fn is_cheap(cost: u128, bytes: u64) -> bool {
    cost <= u128::from(bytes) * 5 / 4
}

/// The distribution of the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// The number of workers that read and move at the same time.
    pub(crate) workers: usize,
    /// The number of pieces of a worker that may wait for the file, including the one that is being filled.
    pub(crate) slots: usize,
    /// The number of bytes that a worker may hold.
    pub(crate) share: u64,
    /// The number of bytes of a piece.
    pub(crate) piece: u64,
    /// True if the source is remote: workers then copy bytes too, and read whole pieces by one call.
    pub(crate) is_remote: bool,
}

impl Shares {
    /// Returns the shares of a bound on memory, after subtracting the needs of an output.
    pub(crate) fn of(limit: u64) -> Shares {
        let reserved = of_output(limit);
        let (workers, slots) = if limit < DIVIDED { (1, 1) } else { (2, 2) };
        let share = limit.saturating_sub(reserved) / workers as u64;
        Shares { workers, slots, share, piece: PIECE.min(share / 8).max(1), is_remote: false }
    }

    /// Returns the shares of a bound on memory. `remote` has the lengths of the tensors that are converted from a remote
    /// source; files have `None`. A remote source has more workers with larger pieces, but only as many as can hold the longest
    /// tensor: others would read it in short ranges, or with the bytes between them. Tensors that one worker alone cannot hold
    /// do not count, because fewer workers do not change that.
    pub(crate) fn of_source(limit: u64, remote: Option<impl IntoIterator<Item = u64>>) -> Shares {
        let Some(lengths) = remote else { return Shares::of(limit) };
        let (left, slots) = (limit.saturating_sub(of_output(limit)), Shares::of(limit).slots);
        let needed = |len: u64| {
            len.saturating_add((len / 3 + 8).min((slots as u64).saturating_mul(REMOTE_PIECE)))
        };
        let fitting = lengths.into_iter().map(needed).filter(|needed| *needed <= left);
        let needed = fitting.max().unwrap_or(0).max(DIVIDED);
        let workers = (left / needed).clamp(1, REMOTE_WORKERS) as usize;
        let share = left / workers as u64;
        let piece = REMOTE_PIECE.min(share / 8).max(1);
        Shares { workers, slots, share, piece, is_remote: true }
    }

    /// Returns the number of bytes from which on a read is long: a request takes as long as many calls.
    fn long(&self) -> u64 {
        if self.is_remote { REMOTE_LONG } else { LONG }
    }

    /// Returns the largest number of bytes of a window that is summed.
    pub(crate) fn window(&self) -> u64 {
        let piece = if self.is_remote { self.piece } else { PIECE };
        piece.min(self.share)
    }

    /// Returns the largest number of bytes that are read by one call.
    pub(crate) fn step(&self) -> usize {
        if self.is_remote { usize::MAX } else { STEP as usize }
    }

    /// Returns the number of bytes held by a worker that reads `src` bytes, with a list of `list`, for pieces of `dst` bytes.
    pub(crate) fn held(&self, src: u64, list: u64, dst: u64) -> u64 {
        src.saturating_add(list).saturating_add(dst.saturating_mul(self.slots as u64))
    }

    /// Returns the name of the kernel that moves most of a tensor: that of its plan, or of the first of the parts that memory
    /// allows.
    pub(crate) fn kernel(
        &self,
        plan: &Plan,
        placed: bool,
    ) -> Result<String, tilewright_relayout::Error> {
        Ok(match self.parts(plan, placed)? {
            Parts::Whole => plan.kernel_name(),
            Parts::Tiles(tiles) => tiles.kernel_name(),
            Parts::Ranges(len) => of_first(plan, plan.ranges(len).next())?,
            Parts::Groups(groups) => of_first(plan, groups.into_iter().next())?,
        })
    }

    /// Returns the way a tensor is converted; `placed` tells whether its result may be written in any order.
    pub(crate) fn parts(
        &self,
        plan: &Plan,
        placed: bool,
    ) -> Result<Parts, tilewright_relayout::Error> {
        let Shares { share, piece, .. } = *self;
        let whole = self.held(plan.src_bytes(), 0, piece.min(plan.dst_bytes()));
        if whole <= share && plan.src_bytes() <= piece {
            return Ok(Parts::Whole);
        }
        if let Some(groups) = self.groups(plan)? {
            return Ok(Parts::Groups(groups));
        }
        if plan.list_bytes(piece) == 0
            && let Some(range) = plan.ranges(piece).next()
        {
            let chunk = plan.chunk(range)?;
            if self.needed(&chunk) <= share && self.reads_on(&chunk) {
                return Ok(Parts::Ranges(piece));
            }
        }
        if whole <= share {
            return Ok(Parts::Whole);
        }
        let len = self.chunk_len(plan)?;
        let most = (share / (self.slots as u64 + 1)).clamp(1, TILE);
        match plan.tiles(most).filter(|_| placed) {
            Some(tiles) if cost(tiles.cost()) < cost_of_ranges(plan, len)? => {
                Ok(Parts::Tiles(tiles))
            }
            _ => Ok(Parts::Ranges(len)),
        }
    }

    /// Returns whether a chunk reads long runs, and few bytes that it does not need: of a remote source nearly none.
    fn reads_on(&self, chunk: &Chunk) -> bool {
        let (range, buffer) = (chunk.range(), chunk.buffer_len() as u64);
        let (reads, len) = (chunk.reads().count() as u64, range.end - range.start);
        let most = if self.is_remote { len + len / 64 } else { 2 * len };
        buffer >= reads.saturating_mul(self.long()) && buffer <= most
    }

    /// Returns ranges that cut no region, if short ones are read by few calls: their bytes stay in the processor's cache.
    fn groups(&self, plan: &Plan) -> Result<Option<Vec<Range<u64>>>, tilewright_relayout::Error> {
        let bounds = bounds(plan);
        let ends = bounds.iter().skip(1).copied().chain([plan.dst_bytes()]);
        let longest = bounds.iter().zip(ends).map(|(start, end)| end - start).max().unwrap_or(0);
        let most = GROUP.min(self.share / (self.slots as u64 + 1));
        if bounds.len() == 1 || longest > most {
            return Ok(None);
        }
        let all = || groups(&bounds, plan.dst_bytes(), longest.max(self.piece));
        let Some(first) = all().next() else { return Ok(None) };
        let cost = cost_of_range(plan, first.clone())?;
        let fits = self.needed(&plan.chunk(first)?) <= self.share;
        Ok((fits && is_cheap(cost.into(), plan.dst_bytes())).then(|| all().collect()))
    }

    /// Returns the number of bytes held by a worker that runs this chunk.
    fn needed(&self, chunk: &Chunk) -> u64 {
        let range = chunk.range();
        let len = range.end - range.start;
        self.held(chunk.buffer_len() as u64, list_bytes(chunk), len)
    }

    /// Returns the length of ranges that fit into the share, estimated from the first.
    fn chunk_len(&self, plan: &Plan) -> Result<u64, tilewright_relayout::Error> {
        let mut len = self.share / (self.slots as u64 + 1);
        // The list of reads is made before its length is known.
        while len > 64 && len.saturating_add(plan.list_bytes(len)) > self.share {
            len /= 2;
        }
        while let Some(range) = plan.ranges(len).next() {
            let chunk = plan.chunk(range)?;
            if len <= 64 || self.needed(&chunk) <= self.share {
                break;
            }
            len /= 2;
        }
        Ok(len)
    }
}

/// A list of reads of this number of bytes is not counted: other short lists of a worker are not either.
const SHORT_LIST: u64 = 1 << 10;

/// Returns the counted bytes of a chunk's list of reads.
pub(crate) fn list_bytes(chunk: &Chunk) -> u64 {
    chunk.overhead_bytes().saturating_sub(SHORT_LIST)
}

/// Returns the name of the kernel of the first range.
fn of_first(plan: &Plan, first: Option<Range<u64>>) -> Result<String, tilewright_relayout::Error> {
    first.map_or_else(|| Ok(plan.kernel_name()), |range| Ok(plan.chunk(range)?.kernel_name()))
}

/// Returns the positions, in ascending order, at which ranges begin that cut no region; the first is 0.
fn bounds(plan: &Plan) -> Vec<u64> {
    let ends = |region: &Region| {
        let reach: i64 = region.loops.iter().map(Loop::dst_reach).sum();
        (region.dst as u64, (region.dst + reach) as u64 + region.run)
    };
    // Positions of packed elements do not count bytes.
    let regions = plan.program().regions().filter(|all| all.iter().all(|region| !region.packed));
    let mut ends: Vec<(u64, u64)> = regions.unwrap_or_default().iter().map(ends).collect();
    ends.sort_unstable();
    let (mut bounds, mut reached) = (vec![0], 0);
    for (first, end) in ends {
        if first >= reached && first > 0 {
            bounds.push(first);
        }
        reached = reached.max(end);
    }
    bounds
}

/// Iterates over ranges of up to `len` bytes between these bounds and `end`; one that no bound divides may be longer.
fn groups(bounds: &[u64], end: u64, len: u64) -> impl Iterator<Item = Range<u64>> + '_ {
    let mut next = 0;
    std::iter::from_fn(move || {
        let start = *bounds.get(next).filter(|start| **start < end)?;
        let within = bounds.partition_point(|bound| *bound <= start.saturating_add(len));
        let last = end - start <= len;
        next = if last { bounds.len() } else { (next + 1).max(within - 1) };
        Some(start..bounds.get(next).copied().unwrap_or(end))
    })
}

/// The largest number of bytes that are copied through memory at once.
const COPY: u64 = 64 << 10;

/// Returns the number of bytes of the bound that an output may hold.
pub(crate) fn of_output(limit: u64) -> u64 {
    COPY.min(limit / 8)
}

#[cfg(test)]
mod tests {
    use tilewright_core::TensorLayout;
    use tilewright_relayout::{Elements, Program};

    use super::*;

    /// Pairs of regions that interleave are not cut, for any length of ranges; a longer pair is one range.
    #[test]
    fn groups_follow_one_another_and_cut_no_region() {
        let rows = |src: i64, dst: i64| Region {
            packed: false,
            src,
            dst,
            run: 4,
            loops: vec![Loop { extent: 5, src: 4, dst: 8 }],
        };
        // Pairs of 40 bytes, with 8 bytes of padding behind each.
        let regions = (0..7).flat_map(|n| [rows(40 * n, 48 * n), rows(40 * n + 20, 48 * n + 4)]);
        let program = Program::of_regions(regions.collect(), (280, 336), 32, 0).unwrap();
        let plan = Plan::of(program);
        for len in 1..400 {
            let mut next = 0;
            for Range { start, end } in groups(&bounds(&plan), plan.dst_bytes(), len) {
                assert_eq!((start, start % 48, end % 48), (next, 0, 0));
                assert!(end - start <= len.max(48) && end > start);
                next = end;
            }
            assert_eq!(next, 336, "{len}");
        }
    }

    /// A remote tensor is read whole whenever three quarters of the memory can hold it.
    #[test]
    fn remote_tensors_are_read_whole_if_memory_allows() {
        let rows = TensorLayout::row_major(&[3000, 2000]).unwrap();
        let columns = TensorLayout::col_major(&[3000, 2000]).unwrap();
        let plan = Plan::new(&rows, &columns, Elements::same(16), 0).unwrap();
        let len = plan.src_bytes();
        for limit in (len * 4 / 3 + (65 << 10)..1 << 30).step_by(3_333_333) {
            let shares = Shares::of_source(limit, Some([len]));
            assert!(shares.share * shares.workers as u64 <= limit);
            assert!(matches!(shares.parts(&plan, false), Ok(Parts::Whole)), "{limit}");
        }
        assert_eq!(Shares::of_source(1 << 30, Some([len])).workers as u64, REMOTE_WORKERS);
        let short = Shares::of_source(len, Some([len]));
        assert!(matches!(short.parts(&plan, false), Ok(Parts::Ranges(_))));
    }

    /// Fewer workers do not hold a tensor that one alone cannot hold.
    #[test]
    fn a_tensor_that_never_fits_leaves_the_workers() {
        let limit = 256 << 20;
        let workers = |lengths: &[u64]| {
            Shares::of_source(limit, Some(lengths.iter().copied())).workers as u64
        };
        let (short, half, long) = (1 << 20, 160 << 20, 300 << 20);
        assert_eq!(workers(&[short]), REMOTE_WORKERS);
        assert_eq!(workers(&[short, half]), 1);
        assert_eq!(workers(&[short, long]), REMOTE_WORKERS);
        assert_eq!(workers(&[short, half, long]), 1);
        assert_eq!(workers(&[80 << 20, long]), 2);
    }

    /// The named kernel is the one that runs, for every bound on memory: chunks cut the regions of a plan.
    #[test]
    fn a_kernel_is_named_after_the_ranges_that_memory_allows() {
        let rows = TensorLayout::row_major(&[3000, 2000]).unwrap();
        let columns = TensorLayout::col_major(&[3000, 2000]).unwrap();
        let plan = Plan::new(&rows, &columns, Elements::same(16), 0).unwrap();
        let named = |limit| Shares::of(limit).kernel(&plan, false).unwrap();
        assert_eq!(named(1 << 30), plan.kernel_name());
        let mut seen = Vec::new();
        for limit in (12..24).map(|log| 1 << log) {
            let shares = Shares::of(limit);
            let Parts::Ranges(len) = shares.parts(&plan, false).unwrap() else {
                panic!("ranges: 12 MB do not fit")
            };
            let chunk = plan.chunk(plan.ranges(len).next().unwrap()).unwrap();
            assert_eq!(shares.kernel(&plan, false).unwrap(), chunk.kernel_name(), "{limit}");
            assert!(matches!(shares.parts(&plan, true), Ok(Parts::Tiles(_))), "{limit}");
            seen.push(chunk.kernel_name());
        }
        assert!(seen.iter().any(|name| *name != plan.kernel_name()), "{seen:?}");
    }
}
