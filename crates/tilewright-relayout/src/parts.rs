//! A job cut along one of its loops, so that threads move its parts at the same time.
//!
//! Ranges of the destination cut its outermost loop only. Where that is the source's innermost, or has
//! fewer blocks than there are threads, each thread would read a part of every run: another loop is cut
//! then.
//!
//! Law: the parts of a job hold each of its elements once.

use crate::{clip::Job, nest::Turn};

/// How a job is cut: the loop, and how many of its turns a part takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    turn: usize,
    taken: u64,
    parts: u64,
}

/// Parts per thread, so that threads that are slowed down do not hold up the rest.
pub(crate) const PER_THREAD: u64 = 4;

impl Cut {
    /// How threads share a job that goes in blocks of this shape; `None` where they do it as well by
    /// ranges of the destination, which whole blocks of the outermost loop are.
    pub(crate) fn of(turns: &[Turn], shape: &[u64], threads: u64) -> Option<Cut> {
        let threads = threads.max(1);
        let count = |i: usize| turns[i].extent.div_ceil(shape[i]);
        // The share of the threads' time in which they have a block, in thousandths.
        let busy = |i: usize| {
            count(i).saturating_mul(1000) / count(i).div_ceil(threads).saturating_mul(threads)
        };
        // Of those that are equal, the one that is the furthest out.
        let turn = (0..turns.len()).rev().max_by_key(|&i| busy(i))?;
        if busy(turn) <= busy(0) {
            return None;
        }
        let blocks = count(turn).div_ceil(threads.saturating_mul(PER_THREAD));
        let taken = blocks * shape[turn];
        // What is shorter than a block goes with the part before.
        let extent = turns[turn].extent;
        let parts = extent / taken + u64::from(extent % taken >= shape[turn]);
        Some(Cut { turn, taken, parts })
    }

    /// How many parts there are.
    pub(crate) fn parts(&self) -> u64 {
        self.parts
    }

    /// A part of the job, whose loops are kept in `turns`.
    pub(crate) fn part<'t>(&self, job: &Job<'_>, i: u64, turns: &'t mut Vec<Turn>) -> Job<'t> {
        turns.clear();
        turns.extend_from_slice(job.turns);
        let turn = &mut turns[self.turn];
        let from = i * self.taken;
        let rest = turn.extent - from;
        turn.extent = if i + 1 < self.parts { self.taken } else { rest };
        let (src, dst) = (job.src + from as i64 * turn.src, job.dst + from as i64 * turn.dst);
        Job { packed: job.packed, src, dst, run: job.run, turns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nest::for_each;

    #[test]
    fn parts_hold_every_element_once() {
        let mut cut = 0;
        for extents in [[3, 5, 7], [2, 40, 3], [8, 9, 1], [1, 2, 50]] {
            for shape in [[3, 5, 7], [2, 4, 3], [8, 2, 1], [1, 1, 16]] {
                for threads in [1, 2, 3, 7, 64] {
                    let strides = [(1, 1000), (60, 60), (5, 1)];
                    let turn = |i: usize| Turn {
                        extent: extents[i],
                        src: strides[i].0,
                        dst: strides[i].1,
                    };
                    let turns = [turn(0), turn(1), turn(2)];
                    let job = Job { packed: false, src: 9, dst: 4, run: 1, turns: &turns };
                    let Some(it) = Cut::of(&turns, &shape, threads) else { continue };
                    cut += 1;
                    let fitting: Vec<u64> = (0..3).map(|i| shape[i].min(extents[i])).collect();
                    assert!(it.turn > 0 && it.parts() <= threads * PER_THREAD);
                    let (mut all, mut got, mut kept) = (Vec::new(), Vec::new(), Vec::new());
                    for_each(&turns, job.src, job.dst, &mut |src, dst| all.push((src, dst)));
                    for i in 0..it.parts() {
                        let part = it.part(&job, i, &mut kept);
                        let long = |(turn, shape): (&Turn, &u64)| turn.extent >= *shape;
                        assert!(part.turns.iter().zip(&fitting).all(long));
                        for_each(part.turns, part.src, part.dst, &mut |s, d| got.push((s, d)));
                    }
                    all.sort_unstable();
                    got.sort_unstable();
                    assert_eq!(all, got);
                }
            }
        }
        assert!(cut > 20, "{cut}");
    }

    #[test]
    fn the_outermost_loop_is_left_to_ranges_if_all_threads_get_blocks_of_it() {
        let turn = |extent, src, dst| Turn { extent, src, dst };
        let turns = [turn(96, 4, 9000), turn(96, 400, 384), turn(96, 40_000, 4)];
        assert_eq!(Cut::of(&turns, &[12, 3, 96], 2), None);
        assert_eq!(Cut::of(&turns, &[96, 3, 96], 1), None);
        // One block of the outermost: the next one has enough, in parts of whole blocks.
        assert_eq!(Cut::of(&turns, &[96, 3, 96], 2), Some(Cut { turn: 1, taken: 12, parts: 8 }));
        // None has enough for so many, but one has more.
        assert_eq!(Cut::of(&turns, &[96, 96, 32], 4), Some(Cut { turn: 2, taken: 32, parts: 3 }));
    }
}
