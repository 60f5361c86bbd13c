//! Blocked transpose: rows of the source into a scratch buffer, columns of it into rows of the
//! destination. Strides that are powers of two do no harm, since every
//! cache line is read and written once per block.

use super::{
    Codec, line,
    zip::{self, Pair},
};
use crate::{
    cpu::scratch::Scratch,
    program::region::{RegionRef, for_each},
};

/// The bytes of the scratch buffer: a part of the second-level cache.
const SCRATCH: usize = 256 << 10;

/// The bytes of a block's row in the source. Short reads cost more than short writes.
const READ: usize = 2048;

/// The bytes of a block's row in the destination.
const WRITE: usize = 256;

/// Bytes between rows of the scratch buffer, so that rows do not share cache sets.
const SKEW: usize = 64;

/// The elements of a block along the source's contiguous loop and along the destination's. What one
/// loop is too short for is left to the other.
pub(super) fn block_size(width: usize, s_extent: u64, d_extent: u64) -> (usize, usize) {
    let least = |extent: u64, limit: usize| extent.min(limit.max(1) as u64) as usize;
    let room = SCRATCH / width;
    let d = least(d_extent, WRITE.div_ceil(width));
    let s = least(s_extent, (READ / width).max(READ * 64 / (d * width)).min(room / d));
    (s, least(d_extent, (room / s).min(4 * WRITE.max(READ * 64 / (s * width)) / width).max(d)))
}

/// Moves a part in blocks of its turn `minor` and its last.
pub(super) fn tile<const W: usize>(
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
    let whole = Pair { s, d, count: (s.extent as usize, d.extent as usize) };
    if let Codec::Bytes = codec
        && whole.is_zip::<W>()
    {
        for_each(&outer, part.src, part.dst, &mut |from, to| {
            zip::zip::<W>(&whole, src, from, out, to);
        });
        return scratch.give_loops(outer);
    }
    let size = block_size(W, s.extent, d.extent);
    for_each(&outer, part.src, part.dst, &mut |from, to| {
        // Down the destination's rows first: the pages of one block's rows stay in reach.
        for s0 in (0..whole.count.0).step_by(size.0) {
            for d0 in (0..whole.count.1).step_by(size.1) {
                let from = from + s0 as i64 * s.src + d0 as i64 * d.src;
                let to = to + s0 as i64 * s.dst + d0 as i64 * d.dst;
                let count = (size.0.min(whole.count.0 - s0), size.1.min(whole.count.1 - d0));
                block::<W>(codec, &Pair { s, d, count }, (src, from), (out, to), scratch);
            }
        }
    });
    scratch.give_loops(outer);
}

/// Moves one block: its rows into the scratch buffer, and its columns out of it.
fn block<const W: usize>(
    codec: Codec,
    pair: &Pair<'_>,
    (src, from): (&[u8], i64),
    (out, to): (&mut [u8], i64),
    scratch: &mut Scratch,
) {
    let (columns, rows) = pair.count;
    let pitch = columns + SKEW.div_ceil(W);
    let (block, line) = scratch.elements::<W>(rows * pitch + rows).split_at_mut(rows * pitch);
    for (i, row) in block.chunks_exact_mut(pitch).enumerate() {
        let at = from + i as i64 * pair.d.src;
        line::load(codec, src, at, pair.s.src, &mut row[..columns]);
    }
    let contiguous = matches!(codec, Codec::Bytes) && pair.d.dst == W as i64 && pair.s.dst > 0;
    let done = if contiguous {
        let to = &mut out[to as usize..];
        squares::<W>(block, pitch, (to, pair.s.dst as usize), (rows, columns))
    } else {
        (0, 0)
    };
    for j in 0..columns {
        let (skip, at) = (if j < done.1 { done.0 } else { 0 }, to + j as i64 * pair.s.dst);
        let rest = &block[skip * pitch..];
        if contiguous {
            let row = out[at as usize..][..rows * W].as_chunks_mut::<W>().0;
            column(rest, pitch, j, &mut row[skip..]);
        } else {
            column(rest, pitch, j, line);
            line::store(codec, out, at, pair.d.dst, line);
        }
    }
}

/// Transposes the whole squares of a block, where this machine has registers for them; returns the rows
/// and columns done.
fn squares<const W: usize>(
    block: &[[u8; W]],
    pitch: usize,
    to: (&mut [u8], usize),
    size: (usize, usize),
) -> (usize, usize) {
    let from = (block.as_flattened(), pitch * W);
    #[cfg(target_arch = "x86_64")]
    {
        use super::x86_64::sse2;
        match W {
            1 => sse2::squares::<1, 16>(from, to, size),
            2 => sse2::squares::<2, 8>(from, to, size),
            4 => sse2::squares::<4, 4>(from, to, size),
            8 => sse2::squares::<8, 2>(from, to, size),
            _ => (0, 0),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (from, to, size);
        (0, 0)
    }
}

/// Copies column `j` of a block.
fn column<const W: usize>(block: &[[u8; W]], pitch: usize, j: usize, to: &mut [[u8; W]]) {
    for (element, row) in to.iter_mut().zip(block.chunks_exact(pitch)) {
        *element = row[j];
    }
}
