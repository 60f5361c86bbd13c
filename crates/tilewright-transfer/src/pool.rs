//! Threads that share the work on one piece of data.

use std::ops::Range;

use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};
use tilewright_error::Error;
use tilewright_relayout::Plan;

/// The least number of bytes that a thread makes.
const LEAST: usize = 64 << 10;

/// The most threads of a pool.
const MOST: usize = 1024;

/// The threads of a job that share each piece; the calling thread alone if there is one.
///
/// ```
/// let pool = tilewright_transfer::Pool::new(1);
/// assert_eq!(pool.threads(), 1);
/// ```
#[must_use]
#[derive(Debug)]
pub struct Pool {
    threads: usize,
    pool: Option<ThreadPool>,
}

impl Pool {
    /// Starts the threads. If the system does not start `threads` of them, there is one.
    ///
    /// ```
    /// assert!(tilewright_transfer::Pool::new(2).threads() <= 2);
    /// ```
    pub fn new(threads: usize) -> Pool {
        let pool = (threads != 1)
            .then(|| ThreadPoolBuilder::new().num_threads(threads.min(MOST)).build().ok())
            .flatten()
            .filter(|pool| pool.current_num_threads() > 1);
        let threads = pool.as_ref().map_or(1, ThreadPool::current_num_threads);
        Pool { threads, pool }
    }

    /// Returns the number of threads.
    ///
    /// ```
    /// assert_eq!(tilewright_transfer::Pool::new(1).threads(), 1);
    /// ```
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Calls [`Plan::run_range`] for parts of the range in all threads.
    ///
    /// # Errors
    /// Those of the plan.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let (rows, columns) = (TensorLayout::row_major(&[2, 3]).unwrap(), TensorLayout::col_major(&[2, 3]).unwrap());
    /// let plan = Plan::new(&rows, &columns, Elements::same(8), 0).unwrap();
    /// let mut out = [0; 4];
    /// tilewright_transfer::Pool::new(1).run_range(&plan, 2..6, &[1, 2, 3, 4, 5, 6], &mut out).unwrap();
    /// assert_eq!(out, [2, 5, 3, 6]);
    /// ```
    pub fn run_range(
        &self,
        plan: &Plan,
        range: Range<u64>,
        src: &[u8],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let start = range.start;
        self.parts(out, |out, at| {
            let from = start + at;
            plan.run_range(from..from + out.len() as u64, src, out)
        })
    }

    /// Calls `work` for parts of `bytes` in all threads, each with the position of its first byte.
    ///
    /// # Errors
    /// One of those of `work`.
    ///
    /// ```
    /// let mut bytes = [0; 3];
    /// let read = |part: &mut [u8], at: u64| Ok::<(), ()>(part.fill(7 + at as u8));
    /// tilewright_transfer::Pool::new(1).parts(&mut bytes, read).unwrap();
    /// assert_eq!(bytes, [7, 7, 7]);
    /// ```
    pub fn parts<E: Send>(
        &self,
        bytes: &mut [u8],
        work: impl Fn(&mut [u8], u64) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let Some(pool) = self.pool.as_ref().filter(|_| bytes.len() >= 2 * LEAST) else {
            return work(bytes, 0);
        };
        let each = bytes.len().div_ceil(pool.current_num_threads()).next_multiple_of(LEAST);
        let part = |(i, bytes): (usize, &mut [u8])| work(bytes, (i * each) as u64);
        pool.install(|| bytes.par_chunks_mut(each).enumerate().try_for_each(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_bytes_for_any_number_of_threads() {
        for (threads, len) in
            (1..5).flat_map(|threads| [0, 1, LEAST, 5 * LEAST + 3].map(|len| (threads, len)))
        {
            let mut bytes = vec![0; len];
            let count = |part: &mut [u8], at: u64| {
                let numbers = part.iter_mut().zip(at..);
                numbers.for_each(|(byte, at)| *byte += (at % 251) as u8 + 1);
                Ok::<(), ()>(())
            };
            Pool::new(threads).parts(&mut bytes, count).unwrap();
            assert!(bytes.iter().zip(0u64..).all(|(byte, at)| u64::from(*byte) == at % 251 + 1));
        }
    }
}
