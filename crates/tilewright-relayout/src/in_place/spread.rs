//! Distribution of a swap among threads: at any time, each thread owns parts of the buffer that no other thread has.
//!
//! If the outermost loop keeps its stride, its iterations are parts that exchange nothing. If it swaps with another
//! loop, the buffer is cut into panels along it. A thread takes two panels and swaps the blocks that each has in the
//! other. All pairs of panels meet in rounds, and a panel has one partner in each round.

use super::exchange::{ExchangeParts, Tasks};
use crate::program::region::Loop;
use core::ops::Range;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// The number of panels for each thread; several, so that slow threads do not delay the others.
const PANELS_PER_THREAD: u64 = 4;

/// The minimal bytes of a part.
const LEAST: u64 = 1 << 14;

/// Runs a swap over the whole buffer.
pub(super) fn run(tasks: &Tasks<'_>, buffer: &mut [u8], threads: usize) {
    let ranges: Vec<_> = tasks.swap.loops.iter().map(|level| 0..level.extent).collect();
    spread(tasks, &ranges, (buffer, 0), threads);
}

fn spread(tasks: &Tasks<'_>, ranges: &[Range<u64>], part: (&mut [u8], i64), threads: usize) {
    let swap = tasks.swap;
    let outer = (threads > 1).then(|| outermost(tasks, ranges)).flatten();
    match (outer, &swap.partners) {
        (Some(outer), Some(partners)) if partners[outer] == outer => {
            stays(tasks, ranges, outer, part, threads);
        }
        (Some(outer), Some(partners)) => {
            panels(tasks, ranges, (outer, partners[outer]), part, threads);
        }
        _ => tasks.run(ranges, true, &mut ExchangeParts { blocks: part, images: None }),
    }
}

/// Returns the loop with the largest source stride, if the other loops stay within one of its iterations on both sides.
fn outermost(tasks: &Tasks<'_>, ranges: &[Range<u64>]) -> Option<usize> {
    let swap = tasks.swap;
    let partners = swap.partners.as_ref()?;
    let free = |i: &usize| ranges[*i] == (0..swap.loops[*i].extent);
    let outer = (0..swap.loops.len()).filter(free).max_by_key(|&i| swap.loops[i].src)?;
    let step = swap.loops[outer].src;
    let length = |skip: usize, reach: fn(&Loop) -> i64| {
        let others = (0..swap.loops.len()).filter(|i| *i != skip && free(i));
        swap.src + others.map(|i| reach(&swap.loops[i])).sum::<i64>() + swap.run as i64
    };
    // A region that swaps with itself begins at the same position on both sides.
    let within =
        length(outer, Loop::src_reach) <= step && length(partners[outer], Loop::dst_reach) <= step;
    within.then_some(outer)
}

/// Distributes the iterations of a loop that keeps its stride.
fn stays(
    tasks: &Tasks<'_>,
    ranges: &[Range<u64>],
    outer: usize,
    (part, start): (&mut [u8], i64),
    threads: usize,
) {
    let level = tasks.swap.loops[outer];
    let together = (LEAST / level.src as u64).max(1);
    let size = (level.src as u64 * together) as usize;
    let parts = level.extent.div_ceil(together) as usize;
    part.par_chunks_mut(size).take(parts).enumerate().for_each(|(i, part)| {
        let first = i as u64 * together;
        let mut ranges = ranges.to_vec();
        ranges[outer] = first..level.extent.min(first + together);
        let part = (part, start + first as i64 * level.src);
        let threads = if together > 1 { 1 } else { threads };
        spread(tasks, &ranges, part, threads);
    });
}

/// Distributes pairs of panels of a pair of loops.
fn panels(
    tasks: &Tasks<'_>,
    ranges: &[Range<u64>],
    (outer, partner): (usize, usize),
    (part, start): (&mut [u8], i64),
    threads: usize,
) {
    let level = tasks.swap.loops[outer];
    let block = tasks.swap.shape[outer].max(LEAST.div_ceil(level.src as u64));
    let height = level.extent.div_ceil(threads as u64 * PANELS_PER_THREAD).next_multiple_of(block);
    let rows = |i: usize| {
        let first = i as u64 * height;
        first..level.extent.min(first + height)
    };
    let begin = |i: usize| start + (i as u64 * height) as i64 * level.src;
    let panels: Vec<_> = part
        .chunks_mut((height * level.src as u64) as usize)
        .take(level.extent.div_ceil(height) as usize)
        .map(Mutex::new)
        .collect();
    let held = |i: usize| panels[i].lock().unwrap_or_else(PoisonError::into_inner);
    let swap = |i: usize, j: usize| {
        let mut ranges = ranges.to_vec();
        (ranges[outer], ranges[partner]) = (rows(i), rows(j));
        let mut one = held(i);
        let blocks = (&mut **one, begin(i));
        if i == j {
            return tasks.run(&ranges, true, &mut ExchangeParts { blocks, images: None });
        }
        let mut other = held(j);
        let images = Some((&mut **other, begin(j)));
        tasks.run(&ranges, false, &mut ExchangeParts { blocks, images });
    };
    (0..panels.len()).into_par_iter().for_each(|i| swap(i, i));
    let players = panels.len().next_multiple_of(2);
    for round in 0..players - 1 {
        (0..players / 2).into_par_iter().for_each(|table| {
            let (i, j) = meeting(players, round, table);
            if j < panels.len() {
                swap(i, j);
            }
        });
    }
}

/// Returns the two players at a table in a round, the smaller first. Over all rounds, an even number of players all
/// meet once.
fn meeting(players: usize, round: usize, table: usize) -> (usize, usize) {
    let others = players - 1;
    let seat = |i: usize| (round + i) % others;
    let (a, b) = match table {
        0 => (others, seat(0)),
        _ => (seat(table), seat(others - table)),
    };
    (a.min(b), a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn all_players_meet_once_and_sit_at_one_table_a_round() {
        for players in (2..=24).step_by(2) {
            let mut met = BTreeSet::new();
            for round in 0..players - 1 {
                let mut seated = BTreeSet::new();
                for table in 0..players / 2 {
                    let (i, j) = meeting(players, round, table);
                    assert!(i < j && j < players && met.insert((i, j)));
                    assert!(seated.insert(i) && seated.insert(j));
                }
            }
            assert_eq!(met.len(), players * (players - 1) / 2);
        }
    }
}
