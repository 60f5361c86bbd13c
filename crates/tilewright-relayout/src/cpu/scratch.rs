//! Buffers of one thread, and lists of buffers that no thread uses at present. They are reused from run to run.

use std::sync::{Mutex, PoisonError};

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

/// The buffers of a thread.
#[derive(Default)]
pub(crate) struct WorkBuffers {
    /// The bytes on their way from source to destination.
    pub(crate) bytes: Vec<u8>,
    /// The loops of a block.
    pub(crate) loops: Vec<Loop>,
    /// The scratch of the kernels.
    pub(crate) scratch: Scratch,
}

impl WorkBuffers {
    /// Grows the scratch buffer to at least `bytes` bytes.
    pub(crate) fn reserve(&mut self, bytes: u64) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        if self.bytes.len() < bytes {
            self.bytes.resize(bytes, 0);
        }
    }
}

/// The buffers that no thread uses at present.
pub(crate) struct FreeList<T>(Mutex<Vec<T>>);

impl<T> Default for FreeList<T> {
    fn default() -> FreeList<T> {
        FreeList(Mutex::default())
    }
}

impl<T> Clone for FreeList<T> {
    /// A copy has its own buffers.
    fn clone(&self) -> FreeList<T> {
        FreeList::default()
    }
}

impl<T: Default> FreeList<T> {
    /// Calls `f` with buffers that nothing else uses, and keeps them for later runs.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let list = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let held = list().pop();
        let mut buffers = held.unwrap_or_default();
        let result = f(&mut buffers);
        list().push(buffers);
        result
    }
}
