//! Where registers go: to their places in the destination, or first into a stage, a small buffer that
//! holds what a few steps write together, from which whole lines of the destination are written.
#![allow(clippy::needless_range_loop)]

use super::{
    vector::Vector,
    weave::{Run, Store, exact},
};
use crate::{
    cpu::cost,
    cpu::weave::{Block, Stage, Write},
};

/// Where the registers of a block go: to the destination, or to a stage.
pub(super) struct Sink<'a, const W: usize> {
    first: *mut u8,
    streamed: bool,
    stage: Option<&'a Stage>,
    at: [i64; W],
    buffer: *mut u8,
    /// Which bytes of its runs the block writes: see [`Block`].
    begins: bool,
    ends: Option<i64>,
}

impl<const W: usize> Sink<'_, W> {
    /// The writing steps that go on together: those of a filling of the stage, or all.
    #[inline(always)]
    pub(super) fn together<'s>(&self, steps: &'s [Write]) -> core::slice::Chunks<'s, Write> {
        steps.chunks(self.stage.map_or(steps.len(), |stage| stage.steps).max(1))
    }

    /// Makes ready for steps that go on together: where a step writes is so many bytes behind the result
    /// as it is behind the first byte of the block.
    #[inline(always)]
    pub(super) fn open<V: Vector>(&self, steps: &[Write]) -> *mut u8 {
        let (Some(stage), Some(first)) = (self.stage, steps.first()) else { return self.first };
        self.ask_to_write::<V>(stage, first.dst);
        self.buffer.wrapping_offset(-first.dst as isize)
    }

    /// Writes what steps that went on together left in the stage.
    ///
    /// # Safety
    /// These steps were run since the sink was opened for them; the machine has the instruction set.
    #[inline(always)]
    pub(super) unsafe fn close<V: Vector>(&self, steps: &[Write]) {
        if let (Some(stage), Some(first)) = (self.stage, steps.first()) {
            // SAFETY: the caller's promise.
            unsafe { self.flush::<V>(stage, first.dst) };
        }
    }

    /// Asks for the lines of which a stage will write only a part.
    #[inline(always)]
    fn ask_to_write<V: Vector>(&self, stage: &Stage, start: i64) {
        let within_line = |at: *mut u8| !at.addr().is_multiple_of(cost::LINE as usize);
        for dst in &stage.dst {
            let run = self.first.wrapping_offset((start + *dst) as isize);
            let end = run.wrapping_add(stage.run);
            if self.begins && within_line(run) {
                V::prefetch_to_write(run);
            }
            if self.ends.is_none() && within_line(end) {
                V::prefetch_to_write(end);
            }
        }
    }

    /// Writes what the stage holds: of each run, the whole lines that begin in the block's own part of
    /// it, and what lies before and behind where no other block writes that.
    ///
    /// # Safety
    /// The runs of the stage lie in the destination, `start` from the block's first byte; the machine
    /// has the instruction set.
    #[inline(always)]
    unsafe fn flush<V: Vector>(&self, stage: &Stage, start: i64) {
        const LINE: usize = cost::LINE as usize;
        for (k, dst) in stage.dst.iter().enumerate() {
            let to = self.first.wrapping_offset((start + *dst) as isize);
            let phase = to.addr().wrapping_neg() % LINE;
            let skip = if self.begins { 0 } else { phase };
            let end = match self.ends {
                Some(by) => (by as usize).saturating_sub(phase).next_multiple_of(LINE) + phase,
                None => stage.run,
            };
            let end = end.min(stage.run).max(skip);
            // SAFETY: the caller's promise; the stage holds its runs, and `skip..end` lies within one.
            unsafe {
                let from = self.buffer.add(k * stage.pitch + skip);
                super::rows::stream::<V>(from, to.add(skip), end - skip);
            }
        }
    }
}

impl Run<'_> {
    /// Where the registers of a block go.
    #[inline(always)]
    pub(super) fn sink<V: Vector, const W: usize>(&self, block: &Block) -> Sink<'_, W> {
        let first = self.buffers.dst.wrapping_offset(block.dst as isize);
        let steps = &self.weave.steps;
        let lines = V::BYTES == 64 && steps.aligned && first.addr().is_multiple_of(64);
        let whole = lines || self.buffers.store == Store::Cached;
        let stage = if whole { None } else { steps.stage.as_ref() };
        let streamed = lines && self.buffers.store == Store::Streamed;
        let at = match stage {
            Some(stage) => *exact(&stage.at),
            None => *exact(&steps.write_dst),
        };
        let buffer = self.scratch.wrapping_add(2 * steps.lines * V::BYTES);
        Sink { first, streamed, stage, at, buffer, begins: block.begins, ends: block.ends }
    }

    /// Writes the registers of a step, to where its sink was [opened](Sink::open).
    ///
    /// # Safety
    /// As for [`Run::all`], of this step.
    #[inline(always)]
    pub(super) unsafe fn put<V: Vector, const W: usize>(
        &self,
        sink: &Sink<'_, W>,
        open: *mut u8,
        step: &Write,
        held: &mut [V; W],
    ) {
        if let Some(table) = &self.weave.lanes.table {
            for register in held.iter_mut() {
                // SAFETY: the table has 64 bytes, each below the bytes of a register.
                *register = unsafe { register.arrange(table.as_ptr()) };
            }
        }
        let to = open.wrapping_offset(step.dst as isize);
        for k in 0..W {
            let to = to.wrapping_offset(sink.at[k] as isize);
            // SAFETY: the caller's promise; a stage holds what its steps write together, and registers
            // are streamed only if they are lines.
            unsafe {
                if sink.streamed {
                    held[k].stream(to);
                } else {
                    held[k].store(to);
                }
            }
        }
    }
}
