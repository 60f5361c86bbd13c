//! One run of a register transpose: pointers to its source, its destination and the scratch buffers between them.

use super::prefetch::Prefetch;
use crate::cpu::{
    cost,
    transpose::{RegisterTranspose, StepBuffer},
};

const LINE: usize = cost::LINE as usize;

/// The way in which registers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Store {
    /// Through the caches.
    Cached,
    /// Past the caches.
    Streamed,
}

/// The addresses of a part's data, and the way in which it is written.
#[derive(Clone, Copy)]
pub(super) struct Buffers {
    pub(super) src: *const u8,
    pub(super) dst: *mut u8,
    pub(super) store: Store,
}

/// One run over all blocks.
pub(super) struct BlockRun<'a> {
    pub(super) transpose: &'a RegisterTranspose,
    pub(super) buffers: Buffers,
    /// The lines that direct blocks prefetch, instead of those of the next block.
    pub(super) prefetch: Option<&'a Prefetch<'a>>,
    /// Two blocks, the buffers of a stage and the carried lines, beginning on a line.
    pub(super) scratch: *mut u8,
}

impl BlockRun<'_> {
    /// Returns the buffer of a stage for filling `number`; the buffers are used in turn.
    #[inline(always)]
    pub(super) fn buffer(&self, stage: &StepBuffer, number: usize) -> *mut u8 {
        let blocks = 2 * self.transpose.steps.lines * self.transpose.register;
        self.scratch.wrapping_add(blocks + number % stage.buffers * stage.bytes)
    }

    /// Returns the lines that a block carries, from line `line` on.
    #[inline(always)]
    pub(super) fn carried(&self, stage: &StepBuffer, block: usize, line: usize) -> *mut u8 {
        let blocks = 2 * self.transpose.steps.lines * self.transpose.register;
        let lines = (block * stage.carried + line) * LINE;
        self.scratch.wrapping_add(blocks + stage.buffers * stage.bytes + lines)
    }
}
