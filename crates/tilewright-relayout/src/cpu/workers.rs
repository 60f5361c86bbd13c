//! Workers: the threads of a plan, and their buffers.
//!
//! Threads start when a run first needs them, are shared by all later runs and chunks, and end with
//! the plan.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::{Scope, ThreadPool, ThreadPoolBuilder};

use crate::{
    Error,
    cpu::{kernel::WaitingLines, rows::Blocks},
    program::region::Loop,
};

/// The maximal number of threads.
const MOST: usize = 1024;

/// Returns the number of threads that a caller means, at most [`MOST`]: 0 means one per core.
pub(crate) fn wanted(threads: usize) -> usize {
    if threads == 0 { shared() } else { threads.min(MOST) }
}

/// Returns the number of threads that all plans share: only the caller's if the system starts no others. They must be
/// started here, because rayon ends the program if it cannot start them itself.
fn shared() -> usize {
    static STARTED: OnceLock<bool> = OnceLock::new();
    let started = *STARTED.get_or_init(|| match ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        // Either other code has started them already, or the system refused.
        Err(error) => std::error::Error::source(&error).is_none(),
    });
    if started { rayon::current_num_threads() } else { 1 }
}

/// The threads that a plan has started.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Option<Arc<ThreadPool>>>);

impl Clone for Pool {
    /// A changed copy of a plan starts its own threads.
    fn clone(&self) -> Pool {
        Pool::default()
    }
}

impl Pool {
    /// Calls `work` with every number below `count`, in this many threads including the caller's; 0 means one per core.
    /// A thread takes the next number when it has finished one.
    pub(crate) fn each(
        &self,
        threads: usize,
        count: usize,
        work: &(dyn Fn(usize) + Sync),
    ) -> Result<(), Error> {
        let next = AtomicUsize::new(0);
        let go = || {
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= count {
                    return;
                }
                work(i);
            }
        };
        // All threads of a run are started at once, even if its first calls have few numbers.
        let (all, others) = (wanted(threads) - 1, wanted(threads).min(count).saturating_sub(1));
        if others == 0 {
            go();
            return Ok(());
        }
        match threads {
            0 => rayon::in_place_scope(|scope| together(scope, others, &go)),
            _ => self.of(all)?.in_place_scope(|scope| together(scope, others, &go)),
        }
        Ok(())
    }

    /// Runs `work` on at least `threads` threads, or on [`MOST`].
    pub(crate) fn run(&self, threads: usize, work: impl FnOnce() + Send) -> Result<(), Error> {
        self.of(threads.min(MOST))?.install(work);
        Ok(())
    }

    fn of(&self, threads: usize) -> Result<Arc<ThreadPool>, Error> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = held.as_ref()
            && pool.current_num_threads() >= threads
        {
            return Ok(Arc::clone(pool));
        }
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
            Error::unsupported(format!("{threads} threads could not be started: {error}"))
        })?;
        Ok(Arc::clone(held.insert(Arc::new(pool))))
    }
}

/// Runs `go` in the caller's thread and in others.
fn together<'s>(scope: &Scope<'s>, others: usize, go: &'s (dyn Fn() + Sync)) {
    (0..others).for_each(|_| scope.spawn(move |_| go()));
    go();
}

// Buffers of one thread, and lists of buffers that no thread uses at present. They are reused from run to run.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_started_once_and_again_only_for_more() {
        let pool = Pool::default();
        let two = pool.of(2).unwrap();
        assert!(Arc::ptr_eq(&two, &pool.of(1).unwrap()));
        let three = pool.of(3).unwrap();
        assert_eq!(three.current_num_threads(), 3);
        assert!(Arc::ptr_eq(&three, &pool.of(2).unwrap()));
    }

    #[test]
    fn every_number_is_worked_on_once() {
        let pool = Pool::default();
        for threads in 0..5 {
            for count in [0, 1, 2, 3, 100] {
                let done: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                let work = |i: usize| {
                    done[i].fetch_add(1, Ordering::Relaxed);
                };
                pool.each(threads, count, &work).unwrap();
                assert!(done.iter().all(|times| times.load(Ordering::Relaxed) == 1));
            }
        }
    }
}
