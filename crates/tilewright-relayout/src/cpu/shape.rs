//! The division of loops into blocks: functions that all choices of blocks share.
//!
//! A block takes some iterations of each loop. If they do not divide the loop, the last block begins earlier and moves
//! some elements twice, so that all blocks have equal shape.

use crate::program::region::Loop;

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
