//! The part of a nest that lies in a range of the destination.
//!
//! Law: the jobs of disjoint ranges that cover the destination visit every position of the nest once.

use std::ops::Range;

use crate::nest::{Nest, Turn};

/// A box of runs: what a kernel is given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    pub(crate) packed: bool,
    pub(crate) src: i64,
    pub(crate) dst: i64,
    pub(crate) run: u64,
    pub(crate) turns: &'a [Turn],
}

impl Job<'_> {
    /// Whether every unit lies within the first `src` units of the source and `dst` of the destination.
    pub(crate) fn is_within(&self, src: usize, dst: usize) -> bool {
        let stays = |first: i64, reach: fn(&Turn) -> i64, len: usize| {
            let sum = |part: fn(i128) -> i128| {
                self.turns.iter().map(|turn| part(i128::from(reach(turn)))).sum::<i128>()
            };
            let low = i128::from(first) + sum(|reach| reach.min(0));
            let high = i128::from(first) + sum(|reach| reach.max(0)) + i128::from(self.run);
            low >= 0 && high <= len as i128
        };
        stays(self.src, Turn::src_reach, src) && stays(self.dst, Turn::dst_reach, dst)
    }
}

/// Which turns of a loop meet a range, and which of them lie within.
pub(crate) struct Met {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) within: Range<u64>,
}

impl Met {
    /// Of the turns from `dst` on, each `inner` units long, those that meet `low..high`.
    pub(crate) fn of(turn: &Turn, dst: i64, inner: i64, (low, high): (i64, i64)) -> Met {
        let count = |distance: i64| match distance {
            ..=0 => 0,
            _ => ((distance as u64).div_ceil(turn.dst as u64)).min(turn.extent),
        };
        // First turn that ends above `low`; first that begins at or above it; and so on.
        let from = count(low - dst - inner + 1);
        let to = count(high - dst);
        let begin = count(low - dst);
        let end = count(high - dst - inner + 1);
        Met { from, to: to.max(from), within: begin..end.max(begin) }
    }
}

/// Calls `f` with the boxes of a nest in the destination units `low..high`.
pub(crate) fn clip(nest: &Nest, range: (i64, i64), f: &mut dyn FnMut(Job<'_>)) {
    cut(nest, range, |met| met.within.clone(), f);
}

/// Calls `f` with boxes that hold the positions of a nest in the destination units `low..high`; of the
/// turns that meet the range, `whole` says which are taken as they are, at least those within.
pub(crate) fn cut(nest: &Nest, range: (i64, i64), whole: Whole, f: &mut dyn FnMut(Job<'_>)) {
    cut_job(nest.job(), range, whole, f);
}

/// Which turns are taken whole: between `from` and `to`, or none.
pub(crate) type Whole = fn(&Met) -> Range<u64>;

fn cut_job(job: Job<'_>, (low, high): (i64, i64), whole: Whole, f: &mut dyn FnMut(Job<'_>)) {
    let length = length(&job);
    if job.dst + length <= low || job.dst >= high {
        return;
    }
    if low <= job.dst && job.dst + length <= high {
        return f(job);
    }
    let Some((turn, rest)) = job.turns.split_first() else {
        return f(clip_run(job, low, high));
    };
    let met = Met::of(turn, job.dst, length - turn.dst_reach(), (low, high));
    let at = |i: u64| Job {
        src: job.src + i as i64 * turn.src,
        dst: job.dst + i as i64 * turn.dst,
        turns: rest,
        ..job
    };
    let taken = whole(&met);
    if taken.is_empty() {
        (met.from..met.to).for_each(|i| cut_job(at(i), (low, high), whole, f));
        return;
    }
    (met.from..taken.start).for_each(|i| cut_job(at(i), (low, high), whole, f));
    let extent = taken.end - taken.start;
    if extent == 1 {
        f(at(taken.start));
    } else {
        let mut turns = job.turns.to_vec();
        turns[0].extent = extent;
        f(Job { turns: &turns, ..at(taken.start) });
    }
    (taken.end..met.to).for_each(|i| cut_job(at(i), (low, high), whole, f));
}

/// The units from the first position to behind the last, in the destination.
pub(crate) fn length(job: &Job<'_>) -> i64 {
    job.turns.iter().map(Turn::dst_reach).sum::<i64>() + job.run as i64
}

/// The part of a job without turns.
pub(crate) fn clip_run(job: Job<'_>, low: i64, high: i64) -> Job<'_> {
    let from = low.max(job.dst);
    let to = high.min(job.dst + job.run as i64);
    Job { src: job.src + (from - job.dst), dst: from, run: (to - from) as u64, ..job }
}
