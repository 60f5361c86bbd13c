//! The fillings of a stage that wait to be written, and their lines.

use super::LINE;
use crate::{
    cpu::kernel::{ask::Requests, rows, vector::Vector},
    cpu::weave::Stage,
};

/// The fillings of a stage that are not yet written.
pub(super) struct Fillings {
    ring: [Filled; Stage::BUFFERS],
    /// How many were filled, and how many of these were written.
    pub(super) filled: usize,
    written: usize,
    /// The next run of the first that is not written whole, and what is being written.
    next: usize,
    lines: Lines,
    /// Bytes that were filled for which none were written.
    due: usize,
}

/// A filled buffer.
#[derive(Clone, Copy)]
pub(super) struct Filled {
    pub(super) buffer: *mut u8,
    /// The first byte in the destination.
    pub(super) to: *mut u8,
    /// The bytes of its runs that were written before, up to where a line was carried from; `None` where
    /// the runs begin.
    pub(super) again: Option<i64>,
    /// Whether none goes on where its runs end.
    pub(super) last: bool,
    /// The lines that were carried to its runs, and that are carried from there.
    pub(super) carried: *mut u8,
}

/// Lines that go from a buffer to the destination.
#[derive(Clone, Copy)]
struct Lines {
    from: *const u8,
    to: *mut u8,
    count: usize,
    /// The bytes of one more line that are written.
    tail: usize,
}

const NO_LINES: Lines =
    Lines { from: core::ptr::null(), to: core::ptr::null_mut(), count: 0, tail: 0 };

const NOT_FILLED: Filled = Filled {
    buffer: core::ptr::null_mut(),
    to: core::ptr::null_mut(),
    again: None,
    last: true,
    carried: core::ptr::null_mut(),
};

impl Fillings {
    pub(super) fn new() -> Fillings {
        Fillings {
            ring: [NOT_FILLED; Stage::BUFFERS],
            filled: 0,
            written: 0,
            next: 0,
            lines: NO_LINES,
            due: 0,
        }
    }

    /// Adds a filling, which is filled from now on.
    #[inline(always)]
    pub(super) fn open(&mut self, stage: &Stage, filled: Filled) {
        self.ring[self.filled % stage.buffers] = filled;
    }

    /// Writes all that is left.
    ///
    /// # Safety
    /// As for [`Fillings::make_room`].
    #[inline(always)]
    pub(super) unsafe fn end<V: Vector>(&mut self, stage: &Stage) {
        while self.written < self.filled {
            // SAFETY: the caller's promise.
            unsafe { self.finish::<V>(stage) };
        }
    }

    /// Writes what the next buffer still holds.
    ///
    /// # Safety
    /// As for [`Run::all`], of these fillings.
    #[inline(always)]
    pub(super) unsafe fn make_room<V: Vector>(&mut self, stage: &Stage) {
        while self.filled - self.written >= stage.buffers {
            // SAFETY: the caller's promise.
            unsafe { self.finish::<V>(stage) };
        }
    }

    /// Writes what is left of the first buffer that is not written.
    ///
    /// # Safety
    /// As for [`Fillings::make_room`].
    #[inline(always)]
    unsafe fn finish<V: Vector>(&mut self, stage: &Stage) {
        let before = self.written;
        while self.written == before {
            // SAFETY: the caller's promise.
            unsafe { self.write::<V>(stage, usize::MAX, &mut Requests::none()) };
        }
    }

    /// Writes a line for each line that was filled, if all other buffers wait to be written.
    ///
    /// # Safety
    /// As for [`Fillings::make_room`].
    #[inline(always)]
    pub(super) unsafe fn go_on<V: Vector>(
        &mut self,
        stage: &Stage,
        bytes: usize,
        requests: &mut Requests<'_>,
    ) {
        self.due += bytes;
        while self.due >= LINE && self.filled - self.written + 1 >= stage.buffers {
            // SAFETY: the caller's promise.
            let lines = unsafe { self.write::<V>(stage, self.due / LINE, requests) };
            self.due -= lines * LINE;
        }
        self.due %= LINE;
    }

    /// Writes so many lines, or fewer if a run ends. Returns how many.
    ///
    /// # Safety
    /// As for [`Fillings::make_room`].
    #[inline(always)]
    unsafe fn write<V: Vector>(
        &mut self,
        stage: &Stage,
        most: usize,
        requests: &mut Requests<'_>,
    ) -> usize {
        // SAFETY: lines lie in a buffer and in the destination, where they are whole; the caller's
        // promise.
        unsafe {
            let lines = &mut self.lines;
            let count = lines.count.min(most);
            for _ in 0..count {
                requests.some::<V>(1);
                rows::stream_line::<V>(lines.from, lines.to);
                (lines.from, lines.to) = (lines.from.add(LINE), lines.to.add(LINE));
            }
            lines.count -= count;
            if lines.count == 0 {
                if lines.tail > 0 {
                    V::copy_short(lines.from, lines.to, lines.tail);
                    lines.tail = 0;
                }
                self.next_run::<V>(stage);
            }
            count
        }
    }

    /// Goes on with the next run.
    ///
    /// # Safety
    /// As for [`Fillings::make_room`].
    #[inline(always)]
    unsafe fn next_run<V: Vector>(&mut self, stage: &Stage) {
        let filled = &self.ring[self.written % stage.buffers];
        // SAFETY: a run of the stage lies in the destination, and in its buffer behind a line that holds
        // what was carried; the caller's promise.
        unsafe {
            match self.next.checked_sub(1) {
                Some(before) => filled.carry::<V>(stage, before),
                None => filled.take::<V>(stage),
            }
            if self.next == stage.dst.len() {
                (self.next, self.written) = (0, self.written + 1);
                return;
            }
            let to = filled.to.wrapping_offset(stage.dst[self.next] as isize);
            let from = filled.buffer.add(LINE + self.next * stage.pitch);
            self.lines = filled.lines::<V>(from, to, stage.run);
        }
        self.next += 1;
    }
}

impl Filled {
    /// Takes what was carried to before its runs: at once, since what is stored needs time to be loaded fast.
    ///
    /// # Safety
    /// The buffer and what is carried are those of the stage; the machine has the instruction set.
    #[inline(always)]
    unsafe fn take<V: Vector>(&self, stage: &Stage) {
        let Some(again) = self.again.filter(|again| *again < LINE as i64) else { return };
        for (k, dst) in stage.dst.iter().enumerate() {
            if self.to.wrapping_offset(*dst as isize).addr().is_multiple_of(LINE) {
                continue;
            }
            // SAFETY: as many lines are carried as a filling has runs, and before each run of a buffer
            // lies a line; what is written behind it are the bytes that are there.
            unsafe {
                let run = self.buffer.add(k * stage.pitch + again as usize);
                copy_line::<V>(self.carried.add(k * LINE), run);
            }
        }
    }

    /// Carries the end of a run to the one that goes on there.
    ///
    /// # Safety
    /// As for [`Filled::take`]; there is such a run.
    #[inline(always)]
    unsafe fn carry<V: Vector>(&self, stage: &Stage, run: usize) {
        let end = self.to.wrapping_offset(stage.dst[run] as isize + stage.run as isize);
        if !self.last && !end.addr().is_multiple_of(LINE) {
            // SAFETY: a run has at least a line's bytes, and begins a line behind its buffer; the caller's
            // promise.
            unsafe {
                let end = self.buffer.add(run * stage.pitch + stage.run);
                copy_line::<V>(end, self.carried.add(run * LINE));
            }
        }
    }

    /// The lines of a run of so many bytes: whole ones, where another run wrote the first part of one; the
    /// part at the beginning, if none did, is written.
    ///
    /// # Safety
    /// The run is readable at `from`, with a line before it, and writable at `to`; the machine has the
    /// instruction set.
    #[inline(always)]
    unsafe fn lines<V: Vector>(&self, from: *const u8, to: *mut u8, run: usize) -> Lines {
        let phase = to.addr() % LINE;
        let before = self.again.is_some_and(|again| phase as i64 + again < LINE as i64);
        let skip = if before { 0 } else { phase.wrapping_neg() % LINE };
        // SAFETY: the caller's promise; a run has at least as many bytes as a line.
        unsafe {
            if self.again.is_none() && skip > 0 {
                V::copy_short(from, to, skip);
            }
            let (from, to, bytes) = match before {
                true => (from.sub(phase), to.wrapping_sub(phase), run + phase),
                false => (from.add(skip), to.add(skip), run - skip),
            };
            let tail = if self.last { bytes % LINE } else { 0 };
            Lines { from, to, count: bytes / LINE, tail }
        }
    }
}

/// Copies a line, of any alignment.
///
/// # Safety
/// A line is readable at `from` and writable at `to`, and the two do not overlap; the machine has the
/// instruction set.
#[inline(always)]
unsafe fn copy_line<V: Vector>(from: *const u8, to: *mut u8) {
    for at in (0..LINE).step_by(V::BYTES) {
        // SAFETY: the caller's promise.
        unsafe { V::load(from.add(at)).store(to.add(at)) };
    }
}
