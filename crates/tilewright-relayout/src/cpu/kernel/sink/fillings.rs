//! The filled buffers of a stage that are not written yet, and their writing line by line.

use super::LINE;
use crate::{
    cpu::kernel::{prefetch::Prefetches, rows, vector::Vector},
    cpu::transpose::StepBuffer,
};

/// The most lines of a run that are written without a step between.
const TOGETHER: usize = 8;

/// The fillings of a stage that are not yet written.
pub(super) struct Fillings {
    ring: [Filled; StepBuffer::BUFFERS],
    /// The number of fillings so far, and the number of these that were written.
    pub(super) filled: usize,
    written: usize,
    /// The next run of the first filling that is not completely written, and its first line that is not written.
    next: usize,
    line: usize,
    /// The filled bytes for which no line was written yet; below 0 if more were written.
    due: isize,
}

/// A filled buffer.
#[derive(Clone, Copy)]
pub(super) struct Filled {
    pub(super) buffer: *mut u8,
    /// The first byte in the destination.
    pub(super) to: *mut u8,
    /// The bytes of a run.
    pub(super) run: usize,
    /// The bytes of its runs that were written before, up to where a line was carried from; `None` if the runs begin
    /// here.
    pub(super) again: Option<i64>,
    /// True if the runs end here.
    pub(super) last: bool,
    /// The lines that were carried to its runs, and that are carried from them.
    pub(super) carried: *mut u8,
}

const NOT_FILLED: Filled = Filled {
    buffer: core::ptr::null_mut(),
    to: core::ptr::null_mut(),
    run: 0,
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
            line: 0,
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
            unsafe { self.write::<V>(stage, &mut Prefetches::none()) };
        }
    }

    /// Writes about a line for each line that was filled, if all other buffers wait to be written.
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
        if self.filled - self.written + 1 < stage.buffers {
            return;
        }
        self.due += bytes as isize;
        while self.due > 0 && self.filled - self.written + 1 >= stage.buffers {
            // SAFETY: `# Safety` of `make_room`, which `go_on` shares, is what `write` requires. A filling waits to be
            // written, since there are at least two buffers (`StepBuffer::of`) and all but the one that is filled now wait.
            self.due -= (unsafe { self.write::<V>(stage, prefetches) } * LINE) as isize;
        }
    }

    /// Writes the next lines of the first filling that is not completely written, all of one run. Returns their number.
    ///
    /// # Safety
    /// Those of [`Fillings::make_room`].
    #[inline(always)]
    unsafe fn write<V: Vector>(
        &mut self,
        stage: &StepBuffer,
        prefetches: &mut Prefetches<'_>,
    ) -> usize {
        let filled = &self.ring[self.written % stage.buffers];
        let run = self.next;
        // SAFETY: `# Safety` of `make_room`: the fillings are in the destination, and the machine has the instruction set. Run
        // `run` of the stage is in the destination and in the buffer.
        let (lines, end) = unsafe {
            if (run, self.line) == (0, 0) && V::BYTES < LINE {
                filled.take::<V>(stage);
            }
            filled.write::<V>(stage, (run, self.line), prefetches)
        };
        self.line = end.unwrap_or(0);
        if end.is_none() {
            self.next += 1;
            if self.next == stage.dst.len() {
                (self.next, self.written) = (0, self.written + 1);
            }
        }
        lines
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

    /// Writes some of the lines that end in a run, from line `at` on, past the caches, and requests a line of the source with each. If
    /// the run goes on elsewhere, its last bytes are carried there; otherwise they are written, and so are its first bytes if it begins
    /// here. Returns the number of lines, and the next line, if there is one.
    ///
    /// # Safety
    /// The buffer and what is carried are those of the stage, the run is writable in the destination, and no one else uses it; the
    /// machine has the instruction set.
    #[inline(always)]
    unsafe fn write<V: Vector>(
        &self,
        stage: &StepBuffer,
        (run, at): (usize, usize),
        prefetches: &mut Prefetches<'_>,
    ) -> (usize, Option<usize>) {
        let from = self.buffer.wrapping_add(LINE + run * stage.pitch).cast_const();
        let begin = self.to.wrapping_offset(stage.dst[run] as isize);
        let carried = self.carried.wrapping_add(run * LINE);
        let phase = begin.addr() % LINE;
        let line = begin.wrapping_sub(phase);
        // The lines that end in the run, beginning with the one in which it begins, and those that were written before.
        let count = (phase + self.run) / LINE;
        let first = match self.again {
            Some(again) => (phase + again as usize) / LINE,
            None => usize::from(phase > 0),
        };
        // All of them, if the block before wrote more than this filling has.
        let first = first.max(at).min(count);
        let end = count.min(first + TOGETHER);
        // SAFETY: `# Safety` of `write`: `self.run` bytes, at least a line, are readable at `from` and writable at `begin`. In the
        // buffer there is a line before a run, and its last line is complete, so all lines up to `count` are readable. What is written
        // before `begin` is in a line of which the filling before carried that part here, so it is writable.
        unsafe {
            if self.again.is_none() && phase > 0 && at == 0 {
                V::copy_short(from, begin, LINE - phase);
            }
            let last = match (first.checked_sub(1), self.again) {
                (Some(before), _) => V::load(from.add(before * LINE)),
                (None, Some(again)) if V::BYTES == LINE => {
                    let last = V::load(carried);
                    last.joined(last, LINE - again as usize)
                }
                (None, _) => V::load(from),
            };
            let lines = rows::RunLines { phase, first, count: end };
            lines.stream::<V>(from, line, last, || prefetches.some::<V>(1));
            if end < count {
                return (end - first, Some(end));
            }
            let rest = (phase + self.run) % LINE;
            if rest > 0 && self.last {
                let end = from.add(self.run - rest);
                V::copy_short(end, line.wrapping_add(count * LINE), rest);
            } else if rest > 0 {
                copy_line::<V>(from.add(self.run - LINE), carried);
            }
        }
        (end - first, None)
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
