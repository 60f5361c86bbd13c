//! Buffers of one thread, reused from run to run.

use crate::{
    cpu::{kernel::WaitingLines, rows::Blocks},
    program::region::Loop,
};

/// The buffers that one thread needs for blocks.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    bytes: Vec<u8>,
    loops: Vec<Loop>,
    block: LineBuffer,
    rows: Blocks,
    waiting: WaitingLines,
}

/// A buffer that begins on a cache line.
#[derive(Debug, Default)]
pub(crate) struct LineBuffer(Vec<u8>);

impl LineBuffer {
    /// Returns the `len` bytes for which it was taken.
    pub(crate) fn bytes(&mut self, len: usize) -> &mut [u8] {
        let first = self.0.as_ptr().align_offset(64);
        &mut self.0[first..][..len]
    }
}

impl Scratch {
    /// Returns a buffer of this many bytes that begins on a cache line.
    pub(crate) fn lines(&mut self, bytes: usize) -> *mut u8 {
        if self.bytes.len() < bytes + 64 {
            self.bytes.resize(bytes + 64, 0);
        }
        let start = self.bytes.as_mut_ptr();
        start.wrapping_add(start.align_offset(64))
    }

    /// Takes a buffer of at least `len` bytes, which the caller gives back.
    pub(crate) fn take_block(&mut self, len: usize) -> LineBuffer {
        let mut block = core::mem::take(&mut self.block);
        if block.0.len() < len + 64 {
            block.0.resize(len + 64, 0);
        }
        block
    }

    pub(crate) fn give_block(&mut self, block: LineBuffer) {
        self.block = block;
    }

    /// Takes a list of these loops, which the caller gives back.
    pub(crate) fn take_loops(&mut self, loops: &[Loop]) -> Vec<Loop> {
        let mut list = core::mem::take(&mut self.loops);
        list.clear();
        list.extend_from_slice(loops);
        list
    }

    pub(crate) fn give_loops(&mut self, loops: Vec<Loop>) {
        self.loops = loops;
    }

    /// Takes the blocks of runs with their lists, which the caller gives back.
    pub(crate) fn take_rows(&mut self) -> Blocks {
        core::mem::take(&mut self.rows)
    }

    pub(crate) fn give_rows(&mut self, blocks: Blocks) {
        self.rows = blocks;
    }

    /// Takes the lines that wait for their other bytes, which the caller gives back.
    pub(crate) fn take_waiting(&mut self) -> WaitingLines {
        core::mem::take(&mut self.waiting)
    }

    pub(crate) fn give_waiting(&mut self, waiting: WaitingLines) {
        self.waiting = waiting;
    }

    /// Returns a buffer of this many elements.
    pub(crate) fn elements<const W: usize>(&mut self, count: usize) -> &mut [[u8; W]] {
        if self.bytes.len() < count * W {
            self.bytes.resize(count * W, 0);
        }
        self.bytes[..count * W].as_chunks_mut::<W>().0
    }
}
