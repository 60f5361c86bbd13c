//! memcpy on a given number of threads: the baseline of every case.

use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};

use crate::Error;

/// The bytes of a page; parts begin at pages.
const PAGE: usize = 1 << 12;

/// Threads that copy.
pub(crate) struct Copier {
    pool: Option<ThreadPool>,
    threads: usize,
}

impl Copier {
    pub(crate) fn new(threads: usize) -> Result<Copier, Error> {
        let start = || ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = (threads > 1).then(start).transpose().map_err(|error| {
            Error::machine(format!("{threads} threads could not be started: {error}"))
        })?;
        Ok(Copier { pool, threads })
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Copies all of `src`, one part for each thread, with the same number of pages in all parts.
    pub(crate) fn copy(&self, src: &[u8], dst: &mut [u8]) {
        match &self.pool {
            None => dst.copy_from_slice(src),
            Some(pool) => {
                let part = src.len().div_ceil(self.threads).next_multiple_of(PAGE).max(PAGE);
                pool.install(|| {
                    let parts = dst.par_chunks_mut(part).zip(src.par_chunks(part));
                    parts.for_each(|(to, from)| to.copy_from_slice(from));
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_threads_copies_all() {
        for (threads, len) in [(1, 5), (2, 0), (2, 3), (3, 5 * PAGE + 1), (4, PAGE)] {
            let src: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let mut dst = vec![0; len];
            Copier::new(threads).unwrap().copy(&src, &mut dst);
            assert!(src == dst, "{threads} threads, {len} bytes");
        }
    }
}
