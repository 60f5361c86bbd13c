//! Blocks that are contiguous enough on both sides: their extents, which [two passes](super::two_pass) and
//! [stages](super::staged) share, and their images in a buffer.
//!
//! Bytes that are contiguous in the destination are contiguous in the image, which stays in a cache until it is streamed. Staged
//! moves and joined regions use images.

use crate::{
    cpu::{
        cost::{self, DST, FEW, SRC, StrideSide, moved},
        kernel::{Isa, LineWriter, Runs},
        scratch::Scratch,
    },
    program::region::{Loop, Region, for_each},
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
            let even = cost::even(extent, room);
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

// Images of blocks.

/// The fewest bytes of a run of the image.
const LEAST_RUN: u64 = cost::WRITE_RUN;

/// A block of loops around pieces of the destination.
pub(crate) struct Image {
    /// The loops from the source to the image.
    pub(crate) first: Vec<Loop>,
    /// The loops over contiguous runs, from the image to the destination.
    outer: Vec<Loop>,
    /// The bytes of a run, and of the image.
    len: u64,
    bytes: u64,
}

impl Image {
    /// Returns the image of a block of these iterations of loops around `piece` bytes; `None` if it is too
    /// large for a cache, or its runs are too short.
    pub(crate) fn of((loops, piece): (&[Loop], u64), taken: &[u64]) -> Option<Image> {
        let mut order: Vec<usize> = (0..taken.len()).filter(|i| taken[*i] > 1).collect();
        tilewright_core::sort_short(&mut order, |&i| loops[i].dst);
        let (mut len, mut bytes, mut first, mut outer) = (piece, piece, Vec::new(), Vec::new());
        for i in order {
            let (level, extent) = (&loops[i], taken[i]);
            if outer.is_empty() && level.dst as u64 == len {
                len *= extent;
            } else {
                if outer.is_empty() {
                    // An odd number of lines, so that runs do not share the sets of a cache.
                    bytes = (bytes.div_ceil(cost::LINE) | 1) * cost::LINE;
                }
                outer.push(Loop { extent, src: bytes as i64, dst: level.dst });
            }
            first.push(Loop { extent, src: level.src, dst: bytes as i64 });
            bytes = bytes.checked_mul(extent)?;
        }
        (len >= LEAST_RUN && bytes <= cost::LARGE_SCRATCH_BLOCK).then_some(Image {
            first,
            outer,
            len,
            bytes,
        })
    }

    /// Returns the buffer of the image and its runs.
    pub(crate) fn stage(&self) -> Stage {
        let mut places = Vec::new();
        for_each(&self.outer, cost::LINE as i64, 0, &mut |at, dst| places.push((at as usize, dst)));
        let runs = Runs { len: self.len as usize, places };
        Stage { bytes: (self.bytes + 2 * cost::LINE) as usize, runs }
    }
}

/// The buffer of an image, and the runs that are streamed from it.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    /// The bytes of the buffer, with a line before and after the image.
    pub(crate) bytes: usize,
    pub(crate) runs: Runs,
}

impl Stage {
    /// Streams the blocks whose first positions `walk` yields. `begin` gets the buffer before the first block. `fill` puts each block
    /// together, from its source position and that of the next block.
    pub(crate) fn stream(
        &self,
        (isa, scratch): (Isa, &mut Scratch),
        out: &mut [u8],
        walk: impl FnOnce(&mut dyn FnMut(i64, i64)),
        begin: impl FnOnce(&mut [u8]),
        mut fill: impl FnMut(&mut Scratch, i64, Option<i64>, &mut [u8]),
    ) {
        let (mut buffer, mut waiting) = (scratch.take_block(self.bytes), scratch.take_waiting());
        let image = buffer.bytes(self.bytes);
        begin(image);
        let mut writer = LineWriter::new(isa, &mut waiting, &self.runs, out);
        cost::with_next(walk, &mut |(from, to), next| {
            fill(scratch, from, next.map(|(next, _)| next), image);
            writer.write(image, to, next.map(|(_, next)| next));
        });
        writer.end();
        scratch.give_waiting(waiting);
        scratch.give_block(buffer);
    }
}
