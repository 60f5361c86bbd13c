//! Blocked transpose: rows of the source are read into a scratch buffer, whose columns become rows of the destination.
//! Strides that are powers of two do no harm, since every cache line is read and written once per block.

use super::{Codec, gather};
use crate::{
    cpu::scratch::Scratch,
    program::region::{Loop, RegionRef, for_each},
};

/// Two loops and the extents of a block in them.
struct LoopPair<'a> {
    /// The loop with the smallest stride in the source.
    s: &'a Loop,
    /// The innermost loop of the destination.
    d: &'a Loop,
    count: (usize, usize),
}

/// The bytes of the scratch buffer: a part of the second-level cache.
const SCRATCH: usize = 256 << 10;

/// The bytes of a block's row in the source. Short reads cost more than short writes.
const READ: usize = 2048;

/// The bytes of a block's row in the destination.
const WRITE: usize = 256;

/// Bytes between rows of the scratch buffer, so that rows do not share cache sets.
const SKEW: usize = 64;

/// Returns the extents of a block in the source's contiguous loop and in the destination's. If one loop is short, the
/// other gets more.
pub(super) fn block_size(width: usize, s_extent: u64, d_extent: u64) -> (usize, usize) {
    let least = |extent: u64, limit: usize| extent.min(limit.max(1) as u64) as usize;
    let room = SCRATCH / width;
    let d = least(d_extent, WRITE.div_ceil(width));
    let s = least(s_extent, (READ / width).max(READ * 64 / (d * width)).min(room / d));
    (s, least(d_extent, (room / s).min(4 * WRITE.max(READ * 64 / (s * width)) / width).max(d)))
}

/// Moves a part in blocks of its loop `minor` and its last loop.
pub(super) fn blocks<const W: usize>(
    codec: Codec,
    part: &RegionRef<'_>,
    minor: usize,
    src: &[u8],
    out: &mut [u8],
    scratch: &mut Scratch,
) {
    let Some((d, rest)) = part.loops.split_last() else { return };
    let s = &rest[minor];
    let mut outer = scratch.take_loops(rest);
    outer.remove(minor);
    let whole = (s.extent as usize, d.extent as usize);
    let size = block_size(W, s.extent, d.extent);
    for_each(&outer, part.src, part.dst, &mut |from, to| {
        // Blocks advance along the destination's rows first, so that the pages of their rows stay in the TLB.
        for s0 in (0..whole.0).step_by(size.0) {
            for d0 in (0..whole.1).step_by(size.1) {
                let from = from + s0 as i64 * s.src + d0 as i64 * d.src;
                let to = to + s0 as i64 * s.dst + d0 as i64 * d.dst;
                let count = (size.0.min(whole.0 - s0), size.1.min(whole.1 - d0));
                block::<W>(codec, &LoopPair { s, d, count }, (src, from), (out, to), scratch);
            }
        }
    });
    scratch.give_loops(outer);
}

/// Moves one block: its rows into the scratch buffer, and its columns out of it.
fn block<const W: usize>(
    codec: Codec,
    pair: &LoopPair<'_>,
    (src, from): (&[u8], i64),
    (out, to): (&mut [u8], i64),
    scratch: &mut Scratch,
) {
    let (columns, rows) = pair.count;
    let pitch = columns + SKEW.div_ceil(W);
    let (block, line) = scratch.elements::<W>(rows * pitch + rows).split_at_mut(rows * pitch);
    for (i, row) in block.chunks_exact_mut(pitch).enumerate() {
        let at = from + i as i64 * pair.d.src;
        gather::load(codec, src, at, pair.s.src, &mut row[..columns]);
    }
    let contiguous = matches!(codec, Codec::Bytes) && pair.d.dst == W as i64 && pair.s.dst > 0;
    for j in 0..columns {
        let at = to + j as i64 * pair.s.dst;
        if contiguous {
            column(block, pitch, j, out[at as usize..][..rows * W].as_chunks_mut::<W>().0);
        } else {
            column(block, pitch, j, line);
            gather::store(codec, out, at, pair.d.dst, line);
        }
    }
}

/// Copies column `j` of a block.
fn column<const W: usize>(block: &[[u8; W]], pitch: usize, j: usize, to: &mut [[u8; W]]) {
    for (element, row) in to.iter_mut().zip(block.chunks_exact(pitch)) {
        *element = row[j];
    }
}
