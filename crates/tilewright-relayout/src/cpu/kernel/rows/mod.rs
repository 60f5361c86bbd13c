//! Copies of contiguous runs: one by one, or in blocks past the caches.

mod write;

use super::{
    enter::{Work, enter},
    isa::Isa,
    vector::Vector,
};
use crate::{
    cpu::{cost, scratch::Scratch},
    program::region::{Loop, RegionRef, for_each},
};
use write::BlockWrite;
pub(super) use write::stream_line;

/// Copies `run` bytes.
pub(super) fn copy(src: &[u8], from: i64, out: &mut [u8], to: i64, run: u64) {
    let (from, to, run) = (from as usize, to as usize, run as usize);
    out[to..to + run].copy_from_slice(&src[from..from + run]);
}

/// Copies the runs of a part in the order of the destination.
pub(super) fn rows(isa: Isa, part: &RegionRef<'_>, src: &[u8], out: &mut [u8]) {
    let short = part.run < cost::LINE && part.is_within(src.len(), out.len());
    let (Some((level, outer)), true) = (part.loops.split_last(), short) else {
        return for_each(part.loops, part.src, part.dst, &mut |from, to| {
            copy(src, from, out, to, part.run);
        });
    };
    let (source, target, run) = (src.as_ptr(), out.as_mut_ptr(), part.run as usize);
    for_each(outer, part.src, part.dst, &mut |from, to| {
        let from = source.wrapping_offset(from as isize);
        let to = target.wrapping_offset(to as isize);
        // SAFETY: every byte of the part is within the slices, one of which is exclusive, as `is_within`
        // found. The machine has the instruction set, as `Isa::chosen` and its callers make sure.
        unsafe { enter(isa, isa.register(), Short { from, to, run, level }) };
    });
}

/// The runs of one loop, each shorter than a line.
struct Short<'a> {
    from: *const u8,
    to: *mut u8,
    run: usize,
    level: &'a Loop,
}

impl Work for Short<'_> {
    /// `run` bytes are readable at every iteration from `from` on and writable at every iteration from `to` on.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        let Short { from, to, run, level } = self;
        for i in 0..level.extent as isize {
            let from = from.wrapping_offset(i * level.src as isize);
            let to = to.wrapping_offset(i * level.dst as isize);
            // SAFETY: `# Safety` of `Work::with`: `run` bytes are readable and writable at every iteration, as `Short`
            // requires. `rows` makes a `Short` only of runs below a line, 64 bytes.
            unsafe { V::copy_short(from, to, run) };
        }
    }
}

/// Returns whether runs are long enough to be moved in blocks past the caches.
pub(crate) fn are_far(part: &RegionRef<'_>) -> bool {
    !part.packed && part.run >= cost::LINE
}

/// Returns whether all runs are whole lines of the destination.
fn are_lines(part: &RegionRef<'_>, out: &[u8]) -> bool {
    let on_line = |at: u64| at.is_multiple_of(cost::LINE);
    let first = (out.as_ptr().addr() as u64).wrapping_add_signed(part.dst);
    on_line(first)
        && on_line(part.run)
        && part.loops.iter().all(|level| on_line(level.dst.unsigned_abs()))
}

/// Returns whether the order of the destination is also the order of the source.
fn is_in_order(part: &RegionRef<'_>) -> bool {
    part.loops.is_sorted_by(|outer, inner| outer.src >= inner.src)
        && part.loops.iter().all(|level| level.src >= part.run as i64)
}

/// Copies runs of a line or more in [blocks](Blocks): past the caches, unless their ends would be too many partial
/// lines. While a block is streamed, the next one is prefetched.
pub(super) fn rows_far(
    isa: Isa,
    part: &RegionRef<'_>,
    src: &[u8],
    out: &mut [u8],
    scratch: &mut Scratch,
) {
    if part.run < cost::LINE || !part.is_within(src.len(), out.len()) {
        return rows(isa, part, src, out);
    }
    let mut blocks = scratch.take_rows();
    blocks.set(part);
    let chain = blocks.chain();
    let least = if chain > part.run { cost::STREAMED_CHAIN } else { cost::STREAMED_RUN };
    let streams = chain >= least || are_lines(part, out);
    if !streams && is_in_order(part) {
        scratch.give_rows(blocks);
        return rows(isa, part, src, out);
    }
    let carried = scratch.lines((blocks.carried() * LINE).max(LINE));
    let ends = src.as_ptr_range();
    let (from, to, run) = (src.as_ptr(), out.as_mut_ptr(), part.run as usize);
    let mut block = Some(blocks.first(part));
    while let Some(own) = block {
        blocks.list();
        block = blocks.next(part);
        let write = BlockWrite {
            blocks: &blocks,
            block: own,
            run,
            from: from.wrapping_offset(own.src as isize),
            to: to.wrapping_offset(own.dst as isize),
            source: (ends.start, ends.end),
            next: block.filter(|_| streams).map(|block| from.wrapping_offset(block.src as isize)),
            carried: carried.wrapping_add(own.carried * LINE),
            streams,
        };
        // SAFETY: every byte of the part is within the slices, one of which is exclusive, as was found before, and the
        // runs of a block are runs of the part; `carried` has a line for each segment of all unfinished blocks. The
        // machine has the instruction set, as `Isa::chosen` and its callers make sure.
        unsafe { enter(isa, isa.register(), write) };
    }
    scratch.give_rows(blocks);
    #[cfg(target_arch = "x86_64")]
    super::x86_64::fence();
}

const LINE: usize = cost::LINE as usize;
