//! How loops are cut into blocks: what all that shapes blocks has in common.
//!
//! A block takes some turns of each loop. Blocks at the end of a loop that they do not divide begin earlier, and
//! move some elements twice, so that all blocks are alike.

use crate::program::region::Loop;

/// Which side of a loop a stride is taken from.
pub(super) type Side = fn(&Loop) -> i64;

pub(super) const SRC: Side = |turn| turn.src;
pub(super) const DST: Side = |turn| turn.dst;

/// Fewer blocks than this along a loop are of even size: what the last one moves twice would be much.
pub(super) const FEW: u64 = 8;

/// The turns of a block: at most `wanted`, and nearly the same number in all blocks of `extent` turns.
pub(super) fn even(extent: u64, wanted: u64) -> u64 {
    let blocks = extent.div_ceil(wanted.max(1));
    extent.div_ceil(blocks.max(1)).max(1)
}

/// The turns of a loop of `extent` turns that are moved in blocks of `taken`, some of them twice.
pub(super) fn moved(extent: u64, taken: u64) -> u64 {
    extent.div_ceil(taken).saturating_mul(taken)
}

/// The first turn of each block of `taken` turns, at most `extent`; the last block begins earlier.
pub(super) fn firsts(extent: u64, taken: u64) -> impl Iterator<Item = i64> {
    let last = extent.saturating_sub(taken);
    (0..extent.div_ceil(taken)).map(move |n| (n * taken).min(last) as i64)
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
