//! The model of memory and caches, and the division of loops into blocks by it.
//!
//! The numbers are those that several kernels share, and those that decide the size of blocks. A number that only one
//! kernel uses is defined in that kernel's module.
//!
//! DRAM is fast only in long runs. Streamed writes in runs of 64, 128 and 256 bytes reach about 0.5, 0.9 and 1.2 of
//! memcpy; gathered reads in runs of 0.5, 1 and 2 KiB reach about 0.8, 0.9 and 1.0. A block is therefore at least that
//! long on both sides. The data that is prefetched while the previous block is moved must stay in the second-level
//! cache until its use, which limits blocks that are read directly into registers. A scratch buffer may be larger, at
//! the price of the third-level cache.
//!
//! A block takes some iterations of each loop. If they do not divide the loop, the last block begins earlier and moves
//! some elements twice, so that all blocks have equal shape.

use crate::program::region::Loop;

/// The bytes of a cache line.
pub(crate) const LINE: u64 = 64;

/// The contiguous bytes that a block writes.
pub(crate) const WRITE_RUN: u64 = 512;

/// The contiguous bytes that a block writes if rows of the source are a multiple of [`WAY`] bits apart, so that they
/// share the sets of a second-level cache.
pub(crate) const CROWDED_WRITE_RUN: u64 = 256;

/// The bits of one way of a second-level cache.
pub(crate) const WAY: i64 = 8 << 17;

/// The contiguous bytes that a block writes if more would make reads too short.
pub(crate) const LEAST_WRITE_RUN: u64 = 128;

/// The maximal number of lines that blocks carry to other blocks along the destination's runs: a mebibyte. On Zen 5 a
/// prototype lost a tenth when blocks advanced along the destination first instead; two runs on a busy Zen 4 contradict
/// each other.
pub(crate) const CARRIED: u64 = 1 << 14;

/// The contiguous bytes that a block reads.
pub(crate) const READ_RUN: u64 = 4096;

/// The contiguous bytes that a block reads at least, if possible. Beyond them, longer writes are worth more than longer
/// reads.
pub(crate) const LEAST_READ_RUN: u64 = 1024;

/// The approximate maximum of bytes of a block that is read directly into registers: the block and the next one, which
/// is prefetched meanwhile, fill a quarter of a second-level cache. Rows that are a power of two apart share the sets
/// of the cache and have no more space than that.
pub(crate) const BLOCK: u64 = 128 << 10;

/// The approximate maximum of bytes of a block that goes through a scratch buffer: block and buffer stay in a second-level
/// cache. On Emerald Rapids, powers of two of 1 and 2 bytes are 1.5 times as fast as with 1 MiB.
pub(crate) const SCRATCH_BLOCK: u64 = 256 << 10;

/// That maximum where the third-level cache is fast. The block is read only once, in the order of the source, so on AMD's
/// processors long reads are worth more than staying within a second-level cache (Zen 4: 0.36 → 0.48 of memcpy).
pub(crate) const LARGE_SCRATCH_BLOCK: u64 = 1 << 20;

/// The maximum of bytes to which a block of a two-pass move is extended: the block and the data that the next one reads
/// stay in a second-level cache.
pub(crate) const TWO_PASS_BLOCK: u64 = 512 << 10;

/// The approximate maximum of bytes of a block that is put together before it is streamed. With 64 KiB to 128 KiB, ten cases are
/// within 10 % of one another.
pub(crate) const STAGED_BLOCK: u64 = 128 << 10;

/// The bytes of a block that is short on one side.
pub(crate) const LEAST_BLOCK: u64 = 64 << 10;

/// The bytes of a block if all data is in caches: half a first-level cache.
pub(crate) const NEAR_BLOCK: u64 = 16 << 10;

/// The bytes of a block through a scratch buffer if all data is in caches, or one unit if that is more.
pub(crate) const NEAR_SCRATCH_BLOCK: u64 = 2 << 10;

/// If registers of some size move this multiple of the data, registers of half the size cost less.
pub(crate) const BADLY: f64 = 1.25;

/// Runs of this many bytes fill the smallest registers.
pub(crate) const LANE: u64 = 16;

/// Runs of more bytes are copied one by one.
pub(crate) const MAX_LANE: u64 = 32;

/// Destinations of fewer bytes are written through the caches.
pub(crate) const STREAM: u64 = 4 << 20;

/// The number of lines that are prefetched, into the second-level cache, or the first-level cache if that is faster.
pub(crate) const AHEAD: u64 = 128;

/// Regions of fewer bytes do not justify the cost of tables.
pub(crate) const LEAST: u64 = 2 << 10;

/// The units of a region below which the short tables of a tiled transpose do not pay.
pub(crate) const LEAST_TILED: u64 = 64;

/// The contiguous bytes that a block of runs writes. The optimum of this and [`ROWS_READ`] is flat: on a Zen 4, 256 B
/// to 1 KiB written and 8 to 32 KiB read are within 10 % of one another; 64 B written and 4 KiB read are a fifth
/// slower. Rows of 2 KiB lose a fifth with 16 of them in a block, since they share sets.
pub(crate) const ROWS_WRITE: u64 = 512;

/// The contiguous bytes that a block of runs reads.
pub(crate) const ROWS_READ: u64 = 16 << 10;

/// Runs that continue one another in the destination stay in one block up to this many bytes.
pub(crate) const ROWS_CHAIN: u64 = 2 << 10;

/// The minimal bytes of a block of runs: 8 KiB are a tenth slower.
pub(crate) const LEAST_ROWS: u64 = 16 << 10;

/// The approximate maximum of bytes of a block of runs: a first-level cache.
pub(crate) const MOST_ROWS: u64 = 32 << 10;

/// The maximal number of lines that blocks of runs carry for one another: a quarter of a second-level cache.
pub(crate) const MOST_CARRIED: usize = 4 << 10;

/// Runs of at least this many bytes are blocks by themselves.
pub(crate) const LONG_RUN: u64 = 8 << 10;

/// Runs of fewer bytes that are followed by gaps in the destination are written through the caches. Runs of 200 and 500
/// B reach 0.36 and 0.50 of memcpy when streamed and 0.55 and 0.80 through the caches; from 4 KB on both are equal.
pub(crate) const STREAMED_RUN: u64 = 4 << 10;

/// The limit for several runs that continue one another, which are joined.
pub(crate) const STREAMED_CHAIN: u64 = 1 << 10;

/// The minimal bytes of a thread's range, unless the plan sets another minimum.
pub(crate) const MIN_RANGE: u64 = 1 << 14;

// The division of loops into blocks.

/// The side from which the stride of a loop is taken.
pub(super) type StrideSide = fn(&Loop) -> i64;

pub(super) const SRC: StrideSide = |level| level.src;
pub(super) const DST: StrideSide = |level| level.dst;

/// If there are fewer blocks than this along a loop, they get equal sizes, since the last one would move much twice.
pub(super) const FEW: u64 = 8;

/// Returns the iterations of a block: at most `wanted`, and nearly equal in all blocks of `extent` iterations.
pub(super) fn even(extent: u64, wanted: u64) -> u64 {
    let blocks = extent.div_ceil(wanted.max(1));
    extent.div_ceil(blocks.max(1)).max(1)
}

/// Returns the iterations that blocks of `taken` move of a loop of `extent` iterations, counting those that are moved
/// twice.
pub(super) fn moved(extent: u64, taken: u64) -> u64 {
    extent.div_ceil(taken).saturating_mul(taken)
}

/// Returns the first iteration of each block of `taken` iterations, at most `extent`; the last block begins earlier.
pub(super) fn firsts(extent: u64, taken: u64) -> impl Iterator<Item = i64> {
    let last = extent.saturating_sub(taken);
    (0..extent.div_ceil(taken)).map(move |n| (n * taken).min(last) as i64)
}

/// Calls `f` with the first positions of each block of some loops from these positions on; a block takes these iterations. Blocks at
/// the end of a loop begin earlier.
pub(super) fn blocks(
    (loops, taken): (&[Loop], &[u64]),
    (src, dst): (i64, i64),
    f: &mut dyn FnMut(i64, i64),
) {
    let Some(((level, loops), (own, taken))) = loops.split_first().zip(taken.split_first()) else {
        return f(src, dst);
    };
    for at in firsts(level.extent, *own) {
        blocks((loops, taken), (src + at * level.src, dst + at * level.dst), f);
    }
}

/// The first positions of a block in the source and in the destination.
pub(super) type Position = (i64, i64);

/// Calls `f` with each position that `walk` yields, and with the one after it, if there is one.
pub(super) fn with_next(
    walk: impl FnOnce(&mut dyn FnMut(i64, i64)),
    f: &mut dyn FnMut(Position, Option<Position>),
) {
    let mut last = None;
    walk(&mut |src, dst| {
        if let Some(last) = last.replace((src, dst)) {
            f(last, Some((src, dst)));
        }
    });
    if let Some(last) = last {
        f(last, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_every_turn_and_none_beyond() {
        for extent in 1..70 {
            for wanted in 1..70 {
                let taken = even(extent, wanted);
                assert!((1..=extent.min(wanted)).contains(&taken));
                let mut seen = vec![0; extent as usize];
                for first in firsts(extent, taken) {
                    seen[first as usize..][..taken as usize].iter_mut().for_each(|n| *n += 1);
                }
                assert!(seen.iter().all(|n| *n >= 1), "{extent} {taken}");
                assert_eq!(seen.iter().sum::<u64>(), moved(extent, taken));
            }
        }
    }
}
