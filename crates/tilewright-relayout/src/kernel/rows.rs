//! Contiguous runs.

use crate::{clip::Job, nest::for_each};

/// Copies `run` bytes.
pub(super) fn copy(src: &[u8], from: i64, out: &mut [u8], to: i64, run: u64) {
    let (from, to, run) = (from as usize, to as usize, run as usize);
    out[to..to + run].copy_from_slice(&src[from..from + run]);
}

/// Copies the runs of a job in the order of the destination.
pub(super) fn rows(job: &Job<'_>, src: &[u8], out: &mut [u8]) {
    for_each(job.turns, job.src, job.dst, &mut |from, to| copy(src, from, out, to, job.run));
}
