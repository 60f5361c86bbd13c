//! The scratch buffers of a thread, which are reused from run to run.

use crate::{cpu::scratch::Scratch, program::region::Loop};
use std::sync::{Mutex, PoisonError};

/// The buffers of a thread.
#[derive(Default)]
pub(super) struct WorkBuffers {
    /// The bytes on their way from source to destination.
    pub(super) bytes: Vec<u8>,
    /// The loops of a block.
    pub(super) loops: Vec<Loop>,
    /// The scratch of the kernels.
    pub(super) scratch: Scratch,
}

impl WorkBuffers {
    /// Grows the scratch buffer to at least `bytes` bytes.
    pub(super) fn reserve(&mut self, bytes: u64) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        if self.bytes.len() < bytes {
            self.bytes.resize(bytes, 0);
        }
    }
}

/// The buffers that no thread uses at present.
#[derive(Default)]
pub(super) struct BufferPool(Mutex<Vec<WorkBuffers>>);

impl Clone for BufferPool {
    fn clone(&self) -> BufferPool {
        BufferPool::default()
    }
}

impl BufferPool {
    /// Calls `f` with buffers of at least `bytes` bytes that nothing else uses.
    pub(super) fn with(&self, bytes: u64, f: impl FnOnce(&mut WorkBuffers)) {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut work = held.unwrap_or_default();
        work.reserve(bytes);
        f(&mut work);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(work);
    }
}
