//! The extents of blocks that are contiguous enough on both sides, which [two passes](super::two_pass) and [staged
//! moves](super::staged) share.

use crate::{
    cpu::{
        cost,
        shape::{self, DST, FEW, SRC, StrideSide, moved},
    },
    program::region::{Loop, Region},
};

/// If the source has at least this many contiguous bytes, loops that the destination needs are left to the destination.
const ENOUGH: u64 = 512;

/// The iterations that a block takes of each loop, and the loops that are contiguous within it on either side.
pub(crate) struct BlockExtents {
    pub(crate) taken: Vec<u64>,
    pub(super) src: Vec<usize>,
    pub(super) dst: Vec<usize>,
}

/// The gaps of the source that staged blocks read, as a multiple of what is needed.
pub(super) const GAP: u64 = 4;

/// The loops of the source continue one another without gaps.
pub(super) const ADJACENT: u64 = 1;

impl BlockExtents {
    /// Returns the extents of blocks of about `most` bytes. Loops of the source may leave gaps up to `gap` times what they
    /// contain: a few lines more are read, in long stretches.
    pub(super) fn of(region: (&[Loop], u64), most: u64, gap: u64) -> BlockExtents {
        let chain = chain(region.0, region.1, DST, ADJACENT);
        BlockExtents::grown(region, &chain, (most, gap), vec![1; region.0.len()])
    }

    /// Returns the extents of blocks that begin with whole periods of the destination of `period` bytes, along which these
    /// iterations are taken.
    pub(crate) fn grown_from(region: (&[Loop], u64), period: u64, taken: Vec<u64>) -> BlockExtents {
        let chain = chain(region.0, period, DST, ADJACENT);
        let chain: Vec<usize> = chain.into_iter().filter(|i| taken[*i] == 1).collect();
        // The padding of a period takes room, too.
        let moved = taken.iter().product::<u64>().saturating_mul(region.1);
        let most = u128::from(cost::STAGED_BLOCK) * u128::from(moved) / u128::from(period.max(1));
        BlockExtents::grown(region, &chain, (most as u64, GAP), taken)
    }

    fn grown(
        region: (&[Loop], u64),
        dst: &[usize],
        (most, gap): (u64, u64),
        mut taken: Vec<u64>,
    ) -> BlockExtents {
        let (loops, run) = region;
        // The blocks of the destination leave room for a row of the source that is long enough to read.
        let long = (2 * most / cost::LEAST_READ_RUN).max(cost::WRITE_RUN);
        let write = (cost::WRITE_RUN, cost::WRITE_RUN, long);
        let read = (cost::READ_RUN, cost::LEAST_READ_RUN, most);
        let dst = grown(region, DST, &mut taken, dst, write, &[]);
        let chain = chain(loops, run, SRC, gap);
        let src = grown(region, SRC, &mut taken, &chain, read, &dst);
        enlarge(region, &mut taken, (&src, &dst), most);
        BlockExtents { taken, src, dst }
    }
}

/// Returns the loops that continue one another on one side, beginning at the run, or at the smallest stride if all
/// strides are larger than the run. A `gap` above 1 permits gaps: the stride of a loop is at most `gap` times the reach of the
/// previous loops, or `gap` lines if that is more.
fn chain(loops: &[Loop], run: u64, side: StrideSide, gap: u64) -> Vec<usize> {
    let stride = |i: usize| side(&loops[i]).unsigned_abs();
    let shortest = (0..loops.len()).map(stride).min();
    let (mut chain, mut end) = (Vec::new(), shortest.unwrap_or(run).max(run));
    let next = |end: u64, chain: &[usize]| {
        let most = if gap > 1 { end.max(cost::LINE).saturating_mul(gap) } else { end };
        let near = |j: &usize| (end..=most).contains(&stride(*j)) && !chain.contains(j);
        (0..loops.len()).filter(near).min_by_key(|j| stride(*j))
    };
    while let Some(i) = next(end, &chain) {
        chain.push(i);
        end = stride(i).saturating_mul(loops[i].extent);
    }
    chain
}

/// Extends the block along the first loops of a chain, until `target` bytes are contiguous, or at least `least` if a
/// block is full, at `most` bytes. Once enough bytes are contiguous, loops in `others` are not extended.
fn grown(
    (loops, run): (&[Loop], u64),
    side: StrideSide,
    taken: &mut [u64],
    chain: &[usize],
    (target, least, most): (u64, u64, u64),
    others: &[usize],
) -> Vec<usize> {
    let first = chain.first().map(|i| side(&loops[*i]).unsigned_abs());
    let (mut together, mut grown) = (first.unwrap_or(1), Vec::new());
    for &i in chain {
        if together >= target || together >= ENOUGH && others.contains(&i) {
            break;
        }
        let (extent, line) = (loops[i].extent, whole_lines(together));
        let others = taken.iter().product::<u64>() / taken[i] * run;
        let room = (most / others.max(1)).max(least.div_ceil(together));
        let take = fitting(extent, target.div_ceil(together).min(room), room);
        let take = in_lines(extent, take, line, room).max(taken[i]);
        taken[i] = take;
        grown.push(i);
        together = together.saturating_mul(take);
        if take < loops[i].extent {
            break;
        }
    }
    grown
}

/// Returns the iterations of a loop with this stride that fill whole lines.
fn whole_lines(stride: u64) -> u64 {
    cost::LINE >> stride.trailing_zeros().min(cost::LINE.trailing_zeros())
}

/// Returns about `wanted` iterations of a loop, or a few more, up to `room`. If there are few blocks, they have equal
/// sizes, so that the last one moves few iterations twice.
fn fitting(extent: u64, wanted: u64, room: u64) -> u64 {
    let count = (extent / wanted.max(1)).max(1);
    if count >= FEW {
        return wanted;
    }
    let fits = |taken: &u64| *taken <= room && moved(extent, *taken) <= extent + extent / 4;
    (count..)
        .map(|count| extent.div_ceil(count))
        .find(|taken| fits(taken) || *taken <= 1)
        .unwrap_or(1)
}

/// Returns `taken`, or a few more iterations that fill whole lines, if there is room and little more is moved twice.
fn in_lines(extent: u64, taken: u64, line: u64, room: u64) -> u64 {
    let lines = taken.next_multiple_of(line).min(extent);
    let is_worth = moved(extent, lines) <= moved(extent, taken) + extent / 8;
    if lines <= room && is_worth { lines } else { taken }
}

/// Extends a small block along its last loop on each side.
fn enlarge(
    (loops, run): (&[Loop], u64),
    taken: &mut [u64],
    (src, dst): (&[usize], &[usize]),
    most: u64,
) {
    let ends: [(_, StrideSide); 2] = [(dst.last(), DST), (src.last(), SRC)];
    for i in ends.iter().filter_map(|(last, _)| last.copied()) {
        let cut = ends.iter().filter(|(last, _)| *last == Some(&i));
        let lines = cut.map(|(_, side)| whole_lines(side(&loops[i]).unsigned_abs()));
        let line = lines.max().unwrap_or(1);
        let bytes = taken.iter().product::<u64>() * run;
        let room = most / bytes.max(1);
        if room >= 2 {
            let (extent, room) = (loops[i].extent, taken[i] * room);
            let even = shape::even(extent, room);
            let longer = in_lines(extent, even, line, room).max(taken[i]);
            if moved(extent, longer) <= moved(extent, taken[i]).max(extent + extent / 8) {
                taken[i] = longer;
            }
        }
    }
}

/// Returns a region of loops around runs, in the order of the destination.
pub(crate) fn region(mut loops: Vec<Loop>, run: u64) -> Region {
    tilewright_core::sort_short(&mut loops, |level| core::cmp::Reverse(level.dst));
    let mut region = Region { packed: false, src: 0, dst: 0, run, loops };
    region.merge();
    region
}
