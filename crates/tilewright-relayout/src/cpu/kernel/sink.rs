//! The destination of registers: their positions in the destination, or first a stage, from which whole lines of the
//! destination are written.
//!
//! The stage consists of several small buffers that are used in turn. A filling is written while later ones are filled.
//! Its stores have left the processor's queue by then, so that a load may span two of them. Lines cross the runs of
//! fillings, so the end of each run is carried to the place before the run that continues it, in the same block or in
//! another one. Every line is then one load, at any address, and one streamed store.
#![allow(clippy::needless_range_loop)]

mod fillings;

use super::{exchange::exact, prefetch::Prefetches, transpose_run::BlockRun, vector::Vector};
use crate::{
    cpu::cost,
    cpu::transpose::{StepBuffer, TransposeBlock, WriteStep},
};
use fillings::{Filled, Fillings};

const LINE: usize = cost::LINE as usize;

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
