//! Contiguous runs.

use super::{
    enter::{Work, enter},
    isa::Isa,
    tile::Scratch,
    vector::Vector,
};
use crate::{
    cpu::clip::RegionRef,
    cpu::cost,
    program::region::{Loop, for_each},
};

/// Copies `run` bytes.
pub(super) fn copy(src: &[u8], from: i64, out: &mut [u8], to: i64, run: u64) {
    let (from, to, run) = (from as usize, to as usize, run as usize);
    out[to..to + run].copy_from_slice(&src[from..from + run]);
}

/// Copies the runs of a part in the order of the destination.
pub(super) fn rows(part: &RegionRef<'_>, src: &[u8], out: &mut [u8]) {
    for_each(part.loops, part.src, part.dst, &mut |from, to| copy(src, from, out, to, part.run));
}

/// Whether runs are worth writing past the caches: some lines, whole ones if they are few.
pub(super) fn are_far(part: &RegionRef<'_>, out: &[u8]) -> bool {
    !part.packed
        && (part.run >= cost::WRITE_RUN || part.run >= 2 * cost::LINE && are_lines(part, out))
}

/// Whether all runs are whole lines of the destination.
fn are_lines(part: &RegionRef<'_>, out: &[u8]) -> bool {
    let on_line = |at: u64| at.is_multiple_of(cost::LINE);
    let first = (out.as_ptr().addr() as u64).wrapping_add_signed(part.dst);
    on_line(first)
        && on_line(part.run)
        && part.loops.iter().all(|turn| on_line(turn.dst.unsigned_abs()))
}

/// The same past the caches: while a run is copied, the next one is asked for. Short runs of whole lines
/// go in the order of the source, since short writes cost less than short reads; other runs go in that
/// of the destination, where one ends on the line on which the next begins.
pub(super) fn rows_far(
    isa: Isa,
    part: &RegionRef<'_>,
    src: &[u8],
    out: &mut [u8],
    scratch: &mut Scratch,
) {
    let mut loops = scratch.take_loops(part.loops);
    if part.run < cost::READ_RUN && are_lines(part, out) {
        loops.sort_by_key(|turn| core::cmp::Reverse(turn.src.unsigned_abs()));
        if part.run <= cost::WRITE_RUN && lines(isa, part, &loops, src, out) {
            return scratch.give_loops(loops);
        }
    }
    let mut last: Option<(&[u8], usize)> = None;
    let mut seam = Seam::default();
    for_each(&loops, part.src, part.dst, &mut |from, to| {
        let next = &src[from as usize..][..part.run as usize];
        if let Some((row, place)) = last.replace((next, to as usize)) {
            seam.copy(isa, row, next, out, place);
        }
    });
    if let Some((row, place)) = last {
        seam.copy(isa, row, &[], out, place);
    }
    seam.close(out);
    scratch.give_loops(loops);
    #[cfg(target_arch = "x86_64")]
    super::x86_64::fence();
}

/// Copies short runs of whole lines, those of the innermost turn at once: one by one, the way into each
/// would cost as much as the run. Returns whether there is one and all lie within the slices.
fn lines(isa: Isa, part: &RegionRef<'_>, loops: &[Loop], src: &[u8], out: &mut [u8]) -> bool {
    let Some((inner, outer)) = loops.split_last() else { return false };
    if !part.is_within(src.len(), out.len()) {
        return false;
    }
    let (source, target, len) = (src.as_ptr(), out.as_mut_ptr(), part.run as usize);
    for_each(outer, part.src, part.dst, &mut |from, to| {
        let from = source.wrapping_offset(from as isize);
        let to = target.wrapping_offset(to as isize);
        // SAFETY: every byte of the part lies within the slices, one of which is exclusive, and its runs
        // are whole lines of the destination, as was found before; the machine has the instruction set,
        // as `Isa::chosen` and its callers make sure.
        unsafe { enter(isa, isa.register(), Lines { from, to, len, turn: inner }) };
    });
    #[cfg(target_arch = "x86_64")]
    super::x86_64::fence();
    true
}

/// Runs of `len` bytes, whole lines of the destination, a turn apart.
struct Lines<'a> {
    from: *const u8,
    to: *mut u8,
    len: usize,
    turn: &'a Loop,
}

impl Work for Lines<'_> {
    /// As for [`stream_line`], of all their lines.
    #[inline(always)]
    unsafe fn with<V: Vector>(self) {
        for i in 0..self.turn.extent as isize {
            let from = self.from.wrapping_offset(i * self.turn.src as isize);
            let to = self.to.wrapping_offset(i * self.turn.dst as isize);
            for at in (0..self.len).step_by(LINE) {
                V::prefetch(from.wrapping_add(at + AHEAD));
                // SAFETY: the caller's promise.
                unsafe { stream_line::<V>(from.wrapping_add(at), to.wrapping_add(at)) };
            }
        }
    }
}

/// The end of a run that is no whole line, until it is known whether the next run goes on there.
struct Seam {
    bytes: [u8; LINE],
    /// Where it begins in the destination, and how many bytes there are.
    at: usize,
    len: usize,
}

impl Default for Seam {
    fn default() -> Seam {
        Seam { bytes: [0; LINE], at: 0, len: 0 }
    }
}

impl Seam {
    /// Copies a run to `to`, all but the part of a line at its end.
    fn copy(&mut self, isa: Isa, mut from: &[u8], next: &[u8], out: &mut [u8], mut to: usize) {
        let first = out.as_ptr().addr();
        if self.len > 0 && self.at + self.len == to {
            let room = LINE - first.wrapping_add(to) % LINE;
            let taken = room.min(from.len());
            self.bytes[self.len..][..taken].copy_from_slice(&from[..taken]);
            self.len += taken;
            (from, to) = (&from[taken..], to + taken);
            if taken < room {
                return;
            }
            if self.len == LINE {
                copy_far(isa, &self.bytes, &[], &mut out[self.at..][..LINE]);
                self.len = 0;
            }
        }
        self.close(out);
        let over = (first.wrapping_add(to + from.len()) % LINE).min(from.len());
        let (lines, rest) = from.split_at(from.len() - over);
        if !lines.is_empty() {
            copy_far(isa, lines, next, &mut out[to..][..lines.len()]);
        }
        self.bytes[..over].copy_from_slice(rest);
        (self.at, self.len) = (to + lines.len(), over);
    }

    /// Writes what no run went on with.
    fn close(&mut self, out: &mut [u8]) {
        out[self.at..][..self.len].copy_from_slice(&self.bytes[..self.len]);
        self.len = 0;
    }
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
            stream_line::<V>(from.add(at), to.add(at));
        }
        if tail < len {
            V::copy_short(from.add(tail), to.add(tail), len - tail);
        }
    }
}

/// Copies a line past the caches: its parts one right behind the other, so that they are one write.
///
/// # Safety
/// As for [`stream`], of a line at `from` and at `to`, which is on a line.
#[inline(always)]
pub(super) unsafe fn stream_line<V: Vector>(from: *const u8, to: *mut u8) {
    const { assert!(V::BYTES >= LINE / 4) };
    // SAFETY: the caller's promise: `count` registers are a line.
    unsafe {
        let count = LINE / V::BYTES;
        let held = [0, 1, 2, 3].map(|k| V::load(from.add(k % count * V::BYTES)));
        for (k, part) in held.into_iter().enumerate().take(count) {
            part.stream(to.add(k * V::BYTES));
        }
    }
}

const LINE: usize = cost::LINE as usize;

/// The bytes that a run is asked for ahead.
const AHEAD: usize = (cost::AHEAD * cost::LINE) as usize;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_of_whole_lines_go_where_they_belong() {
        for isa in Isa::ALL.iter().copied().filter(|isa| isa.is_here()) {
            for (run, gap, back) in [(128, 0, false), (192, 64, false), (256, 5, true)] {
                let (rows, columns) = (7i64, 5i64);
                let step = run + gap;
                let turn = |extent, src, dst| Loop { extent, src, dst };
                let (src, first) =
                    if back { (-step, 3 + (rows * columns - 1) * step) } else { (step, 3) };
                let loops = [turn(5, src, 7 * run), turn(7, src * columns, run)];
                let source: Vec<u8> =
                    (0..3 + rows * columns * step).map(|i| ((i * 167) >> 3) as u8).collect();
                let mut out = vec![0xA5; (rows * columns * run) as usize + 3 * LINE];
                let to = (out.as_ptr().align_offset(LINE) + LINE) as i64;
                let mut expected = out.clone();
                for_each(&loops, first, to, &mut |from, to| {
                    let (from, to, run) = (from as usize, to as usize, run as usize);
                    expected[to..][..run].copy_from_slice(&source[from..][..run]);
                });
                let part = RegionRef {
                    packed: false,
                    src: first,
                    dst: to,
                    run: run as u64,
                    loops: &loops,
                };
                assert!(are_far(&part, &out) && are_lines(&part, &out));
                let list = part.loops.to_vec();
                assert!(lines(isa, &part, &list, &source, &mut out), "{}", isa.name());
                assert!(out == expected, "{} {run}", isa.name());
                out.fill(0xA5);
                rows_far(isa, &part, &source, &mut out, &mut Scratch::default());
                assert!(out == expected, "{} {run}", isa.name());
                // Nothing outside either slice is touched.
                let end = 3 + (rows * columns - 1) * step + run;
                let short = &source[..end as usize - 1];
                assert!(!lines(isa, &part, &list, short, &mut out), "{} {run}", isa.name());
            }
        }
    }
}
