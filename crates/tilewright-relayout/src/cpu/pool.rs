//! The threads of a plan: started when a run first asks for them, shared by all later runs and chunks,
//! gone with the plan.

use crate::{Error, cpu::kernel::Scratch};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Arc, Mutex, PoisonError};

/// More threads than this are not started.
const MOST: usize = 1024;

/// The threads that a plan started so far.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Option<Arc<ThreadPool>>>);

impl Clone for Pool {
    /// A changed copy of a plan starts its own.
    fn clone(&self) -> Pool {
        Pool::default()
    }
}

impl Pool {
    /// Runs `work` on at least `threads` threads, or as many as are allowed.
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

/// Buffers for blocks, kept from run to run.
#[derive(Default)]
pub(crate) struct Scratches(Mutex<Vec<Scratch>>);

impl Clone for Scratches {
    fn clone(&self) -> Scratches {
        Scratches::default()
    }
}

impl Scratches {
    /// A buffer that no one uses.
    pub(crate) fn take(&self) -> Scratch {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Keeps a buffer.
    pub(crate) fn give(&self, scratch: Scratch) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
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
}
