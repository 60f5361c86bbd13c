//! The filled buffers of a stage that are not written yet, and their writing line by line.

use super::LINE;
use crate::{
    cpu::kernel::{prefetch::Prefetches, rows, vector::Vector},
    cpu::transpose::StepBuffer,
};

/// The fillings of a stage that are not yet written.
pub(super) struct Fillings {
    ring: [Filled; StepBuffer::BUFFERS],
    /// The number of fillings so far, and the number of these that were written.
    pub(super) filled: usize,
    written: usize,
    /// The next run of the first filling that is not completely written, and the lines being written.
    next: usize,
    lines: Lines,
    /// The filled bytes for which no line was written yet.
    due: usize,
}

/// A filled buffer.
#[derive(Clone, Copy)]
pub(super) struct Filled {
    pub(super) buffer: *mut u8,
    /// The first byte in the destination.
    pub(super) to: *mut u8,
    /// The bytes of its runs that were written before, up to where a line was carried from; `None` if the runs begin
    /// here.
    pub(super) again: Option<i64>,
    /// True if the runs end here.
    pub(super) last: bool,
    /// The lines that were carried to its runs, and that are carried from them.
    pub(super) carried: *mut u8,
}

/// Lines on their way from a buffer to the destination.
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
            ring: [NOT_FILLED; StepBuffer::BUFFERS],
            filled: 0,
            written: 0,
            next: 0,
            lines: NO_LINES,
            due: 0,
        }
    }

    /// Adds a filling, which is filled from now on.
    #[inline(always)]
    pub(super) fn open(&mut self, stage: &StepBuffer, filled: Filled) {
        self.ring[self.filled % stage.buffers] = filled;
    }

    /// Writes everything that is left.
    ///
    /// # Safety
    /// Those of [`Fillings::make_room`].
    #[inline(always)]
    pub(super) unsafe fn end<V: Vector>(&mut self, stage: &StepBuffer) {
        while self.written < self.filled {
            // SAFETY: `# Safety` of `make_room`, which `end` shares, is what `finish` requires. A filling waits to be
            // written: `written < filled`.
            unsafe { self.finish::<V>(stage) };
        }
    }

    /// Writes what the next buffer still holds.
    ///
    /// # Safety
    /// Those of [`BlockRun::all`], for these fillings.
    #[inline(always)]
    pub(super) unsafe fn make_room<V: Vector>(&mut self, stage: &StepBuffer) {
        while self.filled - self.written >= stage.buffers {
            // SAFETY: `# Safety` of `make_room` is what `finish` requires. A filling waits to be written, since there
            // are at least two buffers (`StepBuffer::of`).
            unsafe { self.finish::<V>(stage) };
        }
    }

    /// Writes the rest of the first buffer that is not completely written.
    ///
    /// # Safety
    /// Those of [`Fillings::make_room`].
    #[inline(always)]
    unsafe fn finish<V: Vector>(&mut self, stage: &StepBuffer) {
        let before = self.written;
        while self.written == before {
            // SAFETY: `# Safety` of `make_room`, which `finish` shares, is what `write` requires.
            unsafe { self.write::<V>(stage, usize::MAX, &mut Prefetches::none()) };
        }
    }

    /// Writes a line for each line that was filled, if all other buffers wait to be written.
    ///
    /// # Safety
    /// Those of [`Fillings::make_room`].
    #[inline(always)]
    pub(super) unsafe fn go_on<V: Vector>(
        &mut self,
        stage: &StepBuffer,
        bytes: usize,
        prefetches: &mut Prefetches<'_>,
    ) {
        self.due += bytes;
        while self.due >= LINE && self.filled - self.written + 1 >= stage.buffers {
            // SAFETY: `# Safety` of `make_room`, which `go_on` shares, is what `write` requires. A filling waits to be
            // written, since there are at least two buffers (`StepBuffer::of`) and all but the one that is filled now wait.
            let lines = unsafe { self.write::<V>(stage, self.due / LINE, prefetches) };
            self.due -= lines * LINE;
        }
        self.due %= LINE;
    }

    /// Writes at most `most` lines, fewer if a run ends. Returns their number.
    ///
    /// # Safety
    /// Those of [`Fillings::make_room`].
    #[inline(always)]
    unsafe fn write<V: Vector>(
        &mut self,
        stage: &StepBuffer,
        most: usize,
        prefetches: &mut Prefetches<'_>,
    ) -> usize {
        // SAFETY: `# Safety` of `make_room`: the fillings are in the destination, and the machine has the
        // instruction set. `Filled::lines` gave `count` whole lines and `tail` more bytes that are in the
        // buffer and in the destination. It put `to` on a line.
        unsafe {
            let lines = &mut self.lines;
            let count = lines.count.min(most);
            for _ in 0..count {
                prefetches.some::<V>(1);
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

    /// Continues with the next run.
    ///
    /// # Safety
    /// Those of [`Fillings::make_room`].
    #[inline(always)]
    unsafe fn next_run<V: Vector>(&mut self, stage: &StepBuffer) {
        let filled = &self.ring[self.written % stage.buffers];
        // SAFETY: `# Safety` of `make_room`: the run of `stage.run` bytes at `stage.dst[next]` is in the destination.
        // In the buffer it begins a line after `next * stage.pitch`, and `take` has put what was carried into that
        // line.
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
    /// Takes the lines that were carried to the places before its runs. It does so at once, since stored bytes need
    /// time before they can be loaded fast.
    ///
    /// # Safety
    /// The buffer and what is carried are those of the stage; the machine has the instruction set.
    #[inline(always)]
    unsafe fn take<V: Vector>(&self, stage: &StepBuffer) {
        let Some(again) = self.again.filter(|again| *again < LINE as i64) else { return };
        for (k, dst) in stage.dst.iter().enumerate() {
            if self.to.wrapping_offset(*dst as isize).addr().is_multiple_of(LINE) {
                continue;
            }
            // SAFETY: `carried` has a line for each run of a filling, and there is a line before each run of a buffer.
            // The copy ends `again` bytes into the run, and those bytes of it are already there.
            unsafe {
                let run = self.buffer.add(k * stage.pitch + again as usize);
                copy_line::<V>(self.carried.add(k * LINE), run);
            }
        }
    }

    /// Carries the end of a run to the run that continues it.
    ///
    /// # Safety
    /// Those of [`Filled::take`]; there is such a run.
    #[inline(always)]
    unsafe fn carry<V: Vector>(&self, stage: &StepBuffer, run: usize) {
        let end = self.to.wrapping_offset(stage.dst[run] as isize + stage.run as isize);
        if !self.last && !end.addr().is_multiple_of(LINE) {
            // SAFETY: `# Safety` of `carry`: the buffer and `carried` are those of the stage. A run has at least a
            // line's bytes (`StepBuffer::of`) and begins a line after `run * stage.pitch`, so its last line begins
            // `stage.run` bytes after that. `carried` has a line for each run.
            unsafe {
                let end = self.buffer.add(run * stage.pitch + stage.run);
                copy_line::<V>(end, self.carried.add(run * LINE));
            }
        }
    }

    /// Returns the whole lines of a run of `run` bytes. If its first line was carried here in part, that line is one of
    /// them. If the run begins here, its bytes before the first whole line are written at once.
    ///
    /// # Safety
    /// The run is readable at `from`, with a line before it, and writable at `to`; the machine has the
    /// instruction set.
    #[inline(always)]
    unsafe fn lines<V: Vector>(&self, from: *const u8, to: *mut u8, run: usize) -> Lines {
        let phase = to.addr() % LINE;
        let before = self.again.is_some_and(|again| phase as i64 + again < LINE as i64);
        let skip = if before { 0 } else { phase.wrapping_neg() % LINE };
        // SAFETY: `# Safety` of `lines`: `run` bytes are readable at `from`, with a line before it, and
        // writable at `to`. `phase` and `skip` are below a line, and a run has at least a line's bytes
        // (`StepBuffer::of`).
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
        // SAFETY: `# Safety` of `copy_line`: a line is readable at `from` and writable at `to`.
        unsafe { V::load(from.add(at)).store(to.add(at)) };
    }
}
