//! What a range of the destination reads where boxes are too many or their bits too uneven to keep: a
//! sorted list of stretches of the source, in which each box finds its own.

use crate::{
    Elements,
    clip::Job,
    cover::{Dense, split},
    nest::{Turn, for_each},
};

/// The stretches are sorted and joined each time this many have come together, and twice as many as
/// the last time.
const BATCH: usize = 1 << 12;

/// A stretch of source bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stretch {
    from: u64,
    to: u64,
}

/// Stretches of the source, packed one after the other in a buffer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stretches {
    all: Vec<Stretch>,
    /// Where each begins in the buffer.
    at: Vec<u64>,
    limit: usize,
}

/// Calls `f` with each dense box of a job, the source position it is lowest at, and its span.
fn for_each_dense(job: &Job<'_>, f: &mut dyn FnMut(Job<'_>, u64, u64)) {
    let dense = Dense::of(job);
    let (inner, outer) = (dense.turns(job, true), dense.turns(job, false));
    let below: i64 = inner.iter().map(|turn: &Turn| turn.src_reach().min(0)).sum();
    for_each(&outer, job.src, job.dst, &mut |src, dst| {
        f(Job { src, dst, turns: &inner, ..*job }, (src + below) as u64, dense.span);
    });
}

impl Stretches {
    /// Adds what a job reads; `unit` is the bits of its source positions.
    pub(crate) fn add(&mut self, job: &Job<'_>, unit: u64) {
        for_each_dense(job, &mut |_, low, span| {
            let (from, phase) = split(low, unit);
            self.all.push(Stretch { from, to: from + (phase + span * unit).div_ceil(8) });
            if self.all.len() >= self.limit.max(BATCH) {
                self.join(|_| 0);
                self.limit = self.all.len() * 2;
            }
        });
    }

    /// Joins stretches across the gaps that are no longer than what follows them.
    pub(crate) fn finish(&mut self) {
        self.join(|_| 0);
        self.join(|next| next.to - next.from);
        let mut at = 0;
        for stretch in &self.all {
            self.at.push(at);
            at += stretch.to - stretch.from;
        }
    }

    fn join(&mut self, gap: impl Fn(&Stretch) -> u64) {
        self.all.sort_unstable();
        self.all.dedup_by(|next, last| {
            let joins = next.from <= last.to.saturating_add(gap(next));
            if joins {
                last.to = last.to.max(next.to);
            }
            joins
        });
    }

    /// The bytes of the buffer.
    pub(crate) fn bytes(&self) -> u64 {
        self.all.iter().map(|stretch| stretch.to - stretch.from).sum()
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Stretch `i`: its byte offset in the source, its length, and its position in the buffer.
    pub(crate) fn read(&self, i: usize) -> (u64, u64, u64) {
        let stretch = self.all[i];
        (stretch.from, stretch.to - stretch.from, self.at[i])
    }

    /// Calls `f` with the boxes of a job, their source positions those of the buffer.
    pub(crate) fn place(&self, job: &Job<'_>, elements: Elements, f: &mut dyn FnMut(Job<'_>)) {
        let unit = if job.packed { u64::from(elements.src_bits) } else { 8 };
        for_each_dense(job, &mut |job, low, _| {
            let (from, phase) = split(low, unit);
            // Every box of the range was added; its stretch is the last that begins no later.
            let i = self.all.partition_point(|stretch| stretch.from <= from).saturating_sub(1);
            let at = self.at[i] + (from - self.all[i].from);
            let placed = ((at * 8 + phase) / unit) as i64 + (job.src - low as i64);
            f(Job { src: placed, ..job });
        });
    }
}
