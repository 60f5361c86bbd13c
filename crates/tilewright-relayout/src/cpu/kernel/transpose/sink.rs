//! The destination of registers: their positions in the destination, or first a stage, from which whole lines of the
//! destination are written.
//!
//! The stage consists of several small buffers that are used in turn. A filling is written while later ones are filled.
//! Its stores have left the processor's queue by then, so that a load may span two of them. Lines cross the runs of
//! fillings, so the end of each run is carried to the place before the run that continues it, in the same block or in
//! another one. Every line is then one load, at any address, and one streamed store.
#![allow(clippy::needless_range_loop)]

use super::{BlockRun, LINE};
use crate::cpu::{
    kernel::{combine, exchange::exact, isa::Vector, prefetch::Prefetches},
    transpose::{StepBuffer, TransposeBlock, WriteStep},
};

/// The destination of the registers of blocks, `W` at a time. With `CACHED`, registers are written directly to their
/// positions, through the caches.
pub(super) struct Sink<'a, const W: usize, const CACHED: bool> {
    run: &'a BlockRun<'a>,
    /// The first byte of the current block, and the way to write its registers.
    first: *mut u8,
    block: TransposeBlock,
    stage: Option<&'a StepBuffer>,
    streamed: bool,
    at: [i64; W],
    fillings: Fillings,
}

impl<'a, const W: usize, const CACHED: bool> Sink<'a, W, CACHED> {
    /// Returns the destination of the registers of a run's blocks.
    #[inline(always)]
    pub(super) fn new(run: &'a BlockRun<'a>) -> Self {
        let fillings = Fillings::new();
        let block = TransposeBlock { src: 0, dst: 0, again: None, last: true, place: 0 };
        let (first, at) = (run.buffers.dst, *exact(&run.transpose.steps.write_dst));
        Sink { run, first, block, stage: None, streamed: false, at, fillings }
    }

    /// Starts a block. Returns the writing steps in groups that are written together.
    #[inline(always)]
    pub(super) fn begin<V: Vector>(
        &mut self,
        block: &TransposeBlock,
    ) -> core::slice::Chunks<'a, WriteStep> {
        let steps = &self.run.transpose.steps;
        self.first = self.run.buffers.dst.wrapping_offset(block.dst as isize);
        if CACHED {
            return steps.write.chunks(steps.write.len().max(1));
        }
        let lines = V::BYTES == LINE && steps.aligned && self.first.addr().is_multiple_of(LINE);
        self.stage = steps.stage.as_ref().filter(|_| !lines);
        self.streamed = lines;
        self.block = *block;
        self.at = match self.stage {
            Some(stage) => *exact(&stage.at),
            None => *exact(&steps.write_dst),
        };
        let together = self.stage.map_or(steps.write.len(), |stage| stage.steps);
        steps.write.chunks(together.max(1))
    }

    /// Prepares for the steps of filling `number`. Returns the address that represents the first byte of the block: a
    /// step with `dst` writes at `dst` bytes after it.
    ///
    /// # Safety
    /// Those of [`BlockRun::all`], for the fillings so far; the steps are those of the filling.
    #[inline(always)]
    pub(super) unsafe fn open<V: Vector>(&mut self, number: usize, steps: &[WriteStep]) -> *mut u8 {
        let stage = self.stage.filter(|_| !CACHED);
        let (Some(stage), Some(first)) = (stage, steps.first()) else { return self.first };
        // SAFETY: `# Safety` of `open`: the fillings are in the destination, and the machine has the instruction set.
        // `close` counts only fillings whose steps were run.
        unsafe { self.fillings.make_room::<V>(stage) };
        let (buffer, filling) =
            (self.run.buffer(stage, self.fillings.filled), &stage.fillings[number]);
        let again = filling.again.or(self.block.again);
        let last = filling.last && self.block.last;
        let to = self.first.wrapping_offset(first.dst as isize);
        let carried = self.run.carried(stage, self.block.place, filling.carried);
        self.fillings.open(stage, Filled { buffer, to, again, last, carried });
        // The lines that the filling after the next one carries, which may be in a more distant cache.
        for k in 0..stage.dst.len() {
            V::prefetch_to_write(carried.wrapping_add((2 * stage.dst.len() + k) * LINE));
        }
        prefetch_to_write::<V>(stage, to, (again.is_none(), last));
        buffer.wrapping_add(LINE).wrapping_offset(-first.dst as isize)
    }

    /// Ends the filling that was opened last, whose steps were run.
    #[inline(always)]
    pub(super) fn close(&mut self) {
        self.fillings.filled += usize::from(!CACHED && self.stage.is_some());
    }

    /// Writes the registers of a step to where it was [opened](Sink::open).
    ///
    /// # Safety
    /// Those of [`BlockRun::all`], for this step.
    #[inline(always)]
    pub(super) unsafe fn put<V: Vector>(
        &mut self,
        open: *mut u8,
        step: &WriteStep,
        held: &mut [V; W],
        prefetches: &mut Prefetches<'_>,
    ) {
        if let Some(table) = &self.run.transpose.permutation.table {
            for register in held.iter_mut() {
                // SAFETY: the table has 64 bytes, each below the bytes of a register.
                *register = unsafe { register.arrange(table.as_ptr()) };
            }
        }
        let to = open.wrapping_offset(step.dst as isize);
        for k in 0..W {
            let to = to.wrapping_offset(self.at[k] as isize);
            // SAFETY: `# Safety` of `BlockRun::all`: every byte that the step writes is in the destination.
            // Where there is a stage, `open` is in a buffer that holds what the steps of a filling write
            // (`StepBuffer::bytes`). `begin` sets `streamed` only where registers are lines, the block begins on a
            // line, and so does every register of it (`Steps::aligned`).
            unsafe {
                if !CACHED && self.streamed {
                    held[k].stream(to);
                } else {
                    held[k].store(to);
                }
            }
        }
        match self.stage.filter(|_| !CACHED) {
            // SAFETY: `# Safety` of `BlockRun::all`: all fillings opened before this one are in the destination,
            // and its buffer is full.
            Some(stage) => unsafe { self.fillings.go_on::<V>(stage, W * V::BYTES, prefetches) },
            None => prefetches.some::<V>(W * V::BYTES / LINE),
        }
    }

    /// Writes everything that is left.
    ///
    /// # Safety
    /// Those of [`BlockRun::all`].
    #[inline(always)]
    pub(super) unsafe fn end<V: Vector>(&mut self) {
        if let Some(stage) = self.run.transpose.steps.stage.as_ref().filter(|_| !CACHED) {
            // SAFETY: `# Safety` of `BlockRun::all`: every filling is in the destination. `close` counts only
            // those whose steps were run.
            unsafe { self.fillings.end::<V>(stage) };
        }
    }
}

/// Prefetches the lines of which a filling writes only a part: at the start and at the end of its runs.
#[inline(always)]
fn prefetch_to_write<V: Vector>(stage: &StepBuffer, to: *mut u8, (begins, ends): (bool, bool)) {
    if !begins && !ends {
        return;
    }
    let within_line = |at: *mut u8| !at.addr().is_multiple_of(LINE);
    for dst in &stage.dst {
        let run = to.wrapping_offset(*dst as isize);
        let end = run.wrapping_add(stage.run);
        if begins && within_line(run) {
            V::prefetch_to_write(run);
        }
        if ends && within_line(end) {
            V::prefetch_to_write(end);
        }
    }
}

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
                combine::stream_line::<V>(lines.from, lines.to);
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
