//! Contiguous runs.

use super::{
    enter::{Work, enter},
    isa::Isa,
    tile::Scratch,
    vector::Vector,
};
use crate::{clip::Job, cost, nest::for_each};
use core::ops::Range;

/// Copies `run` bytes.
pub(super) fn copy(src: &[u8], from: i64, out: &mut [u8], to: i64, run: u64) {
    let (from, to, run) = (from as usize, to as usize, run as usize);
    out[to..to + run].copy_from_slice(&src[from..from + run]);
}

/// Copies the runs of a job in the order of the destination.
pub(super) fn rows(job: &Job<'_>, src: &[u8], out: &mut [u8]) {
    for_each(job.turns, job.src, job.dst, &mut |from, to| copy(src, from, out, to, job.run));
}

/// Whether runs are worth writing past the caches: some lines, whole ones if they are few.
pub(super) fn are_far(job: &Job<'_>, out: &[u8]) -> bool {
    let line = cost::LINE;
    let on_line = |at: u64| at.is_multiple_of(line);
    let first = (out.as_ptr().addr() as u64).wrapping_add(job.dst as u64);
    let whole = || {
        let turns = job.turns.iter().all(|turn| on_line(turn.dst.unsigned_abs()));
        turns && on_line(job.run) && on_line(first)
    };
    !job.packed && (job.run >= cost::WRITE_RUN || job.run >= 2 * line && whole())
}

/// The same past the caches: while a run is copied, the next one is asked for. Short runs go in the
/// order of the source, since short writes cost less than short reads.
pub(super) fn rows_far(isa: Isa, job: &Job<'_>, src: &[u8], out: &mut [u8], scratch: &mut Scratch) {
    let mut turns = scratch.take_turns(job.turns);
    if job.run < cost::READ_RUN {
        turns.sort_by_key(|turn| core::cmp::Reverse(turn.src.unsigned_abs()));
    }
    let mut last: Option<(&[u8], Range<usize>)> = None;
    for_each(&turns, job.src, job.dst, &mut |from, to| {
        let (from, to, run) = (from as usize, to as usize, job.run as usize);
        let next = &src[from..from + run];
        if let Some((row, place)) = last.replace((next, to..to + run)) {
            copy_far(isa, row, next, &mut out[place]);
        }
    });
    if let Some((row, place)) = last {
        copy_far(isa, row, &[], &mut out[place]);
    }
    scratch.give_turns(turns);
    #[cfg(target_arch = "x86_64")]
    super::x86_64::fence();
}

/// Copies a run past the caches, asking for the lines of the run itself further on, and of the `next`.
fn copy_far(isa: Isa, from: &[u8], next: &[u8], to: &mut [u8]) {
    assert_eq!(from.len(), to.len());
    let (source, target) = (from.as_ptr(), to.as_mut_ptr());
    let register = isa.register();
    // SAFETY: both slices have as many bytes, and one of them is exclusive; the machine has the
    // instruction set, as `Isa::chosen` and its callers make sure.
    unsafe { enter(isa, register, Stream { from: source, to: target, len: from.len(), next }) };
}

/// A run that is copied past the caches.
struct Stream<'a> {
    from: *const u8,
    to: *mut u8,
    len: usize,
    next: &'a [u8],
}

impl Work for Stream<'_> {
    /// As for [`stream`].
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        // SAFETY: the caller's promise.
        unsafe { stream::<V>(self.from, self.to, self.len, self.next) }
    }
}

/// Copies `len` bytes, whole lines of the destination past the caches, asking for lines further on and
/// for those of `next`, unless it is empty.
///
/// # Safety
/// `len` bytes at `from` are readable and at `to` writable, and the two do not overlap; the machine has
/// the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn stream<V: Vector>(from: *const u8, to: *mut u8, len: usize, next: &[u8]) {
    let head = (to.addr().wrapping_neg() % LINE).min(len);
    let lines = (len - head) / LINE;
    let tail = head + lines * LINE;
    // SAFETY: the caller's promise: every part lies within `len`, and `to + head` is on a line.
    unsafe {
        if head > 0 {
            V::copy_short(from, to, head);
        }
        for line in 0..lines {
            let at = head + line * LINE;
            if !next.is_empty() {
                let ahead = at + AHEAD;
                let asked = match ahead.checked_sub(len) {
                    None => from.wrapping_add(ahead),
                    Some(over) => next.as_ptr().wrapping_add(over),
                };
                V::prefetch(asked);
            }
            for part in (0..LINE).step_by(V::BYTES) {
                V::load(from.add(at + part)).stream(to.add(at + part));
            }
        }
        if tail < len {
            V::copy_short(from.add(tail), to.add(tail), len - tail);
        }
    }
}

const LINE: usize = cost::LINE as usize;

/// The bytes that a run is asked for ahead.
const AHEAD: usize = (cost::AHEAD * cost::LINE) as usize;
