//! Threads that share the work on one piece. Workers and readers use them.

use std::ops::Range;

use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};
use tilewright_relayout::{Error, Plan};

use crate::open::origin::Origin;

/// The least number of bytes that a thread makes.
const LEAST: usize = 64 << 10;

/// The requested threads; the calling thread alone if there is one.
pub(crate) struct Pool {
    threads: usize,
    pool: Option<ThreadPool>,
}

impl Pool {
    /// Starts the threads: 0 means one per core. If the system does not start `threads` of them, there is one.
    pub(crate) fn new(threads: usize) -> Pool {
        let pool = (threads != 1)
            .then(|| ThreadPoolBuilder::new().num_threads(threads.min(1024)).build().ok())
            .flatten()
            .filter(|pool| pool.current_num_threads() > 1);
        let threads = pool.as_ref().map_or(1, ThreadPool::current_num_threads);
        Pool { threads, pool }
    }

    /// Returns the number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Calls [`Plan::run_range`] for parts of the range in all threads.
    pub(crate) fn run_range(
        &self,
        plan: &Plan,
        range: Range<u64>,
        src: &[u8],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let Some(pool) = self.pool.as_ref().filter(|_| out.len() >= 2 * LEAST) else {
            return plan.run_range(range, src, out);
        };
        let each = out.len().div_ceil(pool.current_num_threads()).next_multiple_of(LEAST);
        let part = |(i, out): (usize, &mut [u8])| {
            let from = range.start + (i * each) as u64;
            plan.run_range(from..from + out.len() as u64, src, out)
        };
        pool.install(|| out.par_chunks_mut(each).enumerate().try_for_each(part))
    }

    /// Calls [`Origin::read`] for parts of the bytes in all threads.
    pub(crate) fn read(&self, source: Origin<'_>, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        let Some(pool) = self.pool.as_ref().filter(|_| bytes.len() >= 2 * LEAST) else {
            return source.read(bytes, at);
        };
        let each = bytes.len().div_ceil(pool.current_num_threads()).next_multiple_of(LEAST);
        let part = |(i, bytes): (usize, &mut [u8])| source.read(bytes, at + (i * each) as u64);
        pool.install(|| bytes.par_chunks_mut(each).enumerate().try_for_each(part))
    }
}
