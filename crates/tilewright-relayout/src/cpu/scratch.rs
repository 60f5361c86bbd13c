//! Buffers of one thread, kept from run to run.

use crate::{cpu::rows::Blocks, program::region::Loop};

/// A buffer for the blocks of one thread.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    bytes: Vec<u8>,
    loops: Vec<Loop>,
    block: Block,
    rows: Blocks,
}

/// A buffer for what is on its way, on a line.
#[derive(Debug, Default)]
pub(crate) struct Block(Vec<u8>);

impl Block {
    /// `len` bytes, which it was taken for.
    pub(crate) fn bytes(&mut self, len: usize) -> &mut [u8] {
        let first = self.0.as_ptr().align_offset(64);
        &mut self.0[first..][..len]
    }
}

impl Scratch {
    /// A buffer of this number of bytes, on a line.
    pub(crate) fn lines(&mut self, bytes: usize) -> *mut u8 {
        if self.bytes.len() < bytes + 64 {
            self.bytes.resize(bytes + 64, 0);
        }
        let start = self.bytes.as_mut_ptr();
        start.wrapping_add(start.align_offset(64))
    }

    /// A buffer of at least `len` bytes, until it is given back.
    pub(crate) fn take_block(&mut self, len: usize) -> Block {
        let mut block = core::mem::take(&mut self.block);
        if block.0.len() < len + 64 {
            block.0.resize(len + 64, 0);
        }
        block
    }

    pub(crate) fn give_block(&mut self, block: Block) {
        self.block = block;
    }

    /// A list that holds these loops, until it is given back.
    pub(crate) fn take_loops(&mut self, loops: &[Loop]) -> Vec<Loop> {
        let mut list = core::mem::take(&mut self.loops);
        list.clear();
        list.extend_from_slice(loops);
        list
    }

    pub(crate) fn give_loops(&mut self, loops: Vec<Loop>) {
        self.loops = loops;
    }

    /// Blocks of runs, with what they keep, until they are given back.
    pub(crate) fn take_rows(&mut self) -> Blocks {
        core::mem::take(&mut self.rows)
    }

    pub(crate) fn give_rows(&mut self, blocks: Blocks) {
        self.rows = blocks;
    }

    /// A buffer of this number of elements.
    pub(crate) fn elements<const W: usize>(&mut self, count: usize) -> &mut [[u8; W]] {
        if self.bytes.len() < count * W {
            self.bytes.resize(count * W, 0);
        }
        self.bytes[..count * W].as_chunks_mut::<W>().0
    }
}
