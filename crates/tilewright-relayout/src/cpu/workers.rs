//! Workers: the threads of a plan. Their buffers are in `scratch.rs`.
//!
//! Threads start when a run first needs them, are shared by all later runs and chunks, and end with
//! the plan.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::{Scope, ThreadPool, ThreadPoolBuilder};

use crate::Error;

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
