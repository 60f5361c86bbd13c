//! Where registers go: to their places in the destination, or first into a stage, a small buffer that
//! holds what a few steps write together, from which whole lines of the destination are written.
#![allow(clippy::needless_range_loop)]

use super::{
    vector::Vector,
    weave::{Run, Store, exact},
};
use crate::{
    cost,
    weave::{Block, Stage, Write},
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
    /// Asks for the lines of which a stage will write only a part.
    #[inline(always)]
    fn ask_to_write<V: Vector>(&self, stage: &Stage, start: i64) {
        for dst in &stage.dst {
            let run = self.first.wrapping_offset((start + *dst) as isize);
            if self.begins {
                V::prefetch_to_write(run);
            }
            if self.ends.is_none() {
                V::prefetch_to_write(run.wrapping_add(stage.run - 1));
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
                super::rows::stream::<V>(from, to.add(skip), end - skip, &[]);
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

    /// Writes the registers of a step.
    ///
    /// # Safety
    /// As for [`Run::all`], of this step.
    #[inline(always)]
    pub(super) unsafe fn put<V: Vector, const W: usize>(
        &self,
        sink: &Sink<'_, W>,
        i: usize,
        step: &Write,
        held: &mut [V; W],
    ) {
        if let Some(table) = &self.weave.lanes.table {
            for register in held.iter_mut() {
                // SAFETY: the table has 64 bytes, each below the bytes of a register.
                *register = unsafe { register.arrange(table.as_ptr()) };
            }
        }
        // SAFETY: the caller's promise; a stage holds what its steps write together.
        unsafe {
            if sink.streamed {
                let to = sink.first.offset(step.dst as isize);
                for k in 0..W {
                    held[k].stream(to.offset(sink.at[k] as isize));
                }
                return;
            }
            let Some(stage) = sink.stage else {
                let to = sink.first.offset(step.dst as isize);
                for k in 0..W {
                    held[k].store(to.offset(sink.at[k] as isize));
                }
                return;
            };
            let first = i / stage.steps * stage.steps;
            let start = self.weave.steps.write[first].dst;
            if i == first {
                sink.ask_to_write::<V>(stage, start);
            }
            let to = sink.buffer.offset((step.dst - start) as isize);
            for k in 0..W {
                held[k].store(to.offset(sink.at[k] as isize));
            }
            if i + 1 == first + stage.steps {
                sink.flush::<V>(stage, start);
            }
        }
    }
}
