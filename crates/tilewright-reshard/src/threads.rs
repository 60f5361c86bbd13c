//! Shares tasks between threads of one process: each thread has its own buffers and journal, as a process has.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use tilewright_files::Watch;
use tilewright_transfer::together;

use crate::{Error, Job, run::RunState};

/// A watch that all threads share: it adds up their bytes, and stops all if one of them fails.
struct Together<'w> {
    watch: &'w (dyn Watch + Sync),
    total: Mutex<u64>,
    failed: AtomicBool,
}

impl Watch for Together<'_> {
    fn total(&self, bytes: u64) {
        // The lock keeps totals in order: a smaller total that arrives later would be exceeded by the progress.
        let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        *total = total.saturating_add(bytes);
        self.watch.total(*total);
    }

    fn advance(&self, bytes: u64) {
        self.watch.advance(bytes);
    }

    fn cancelled(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.watch.cancelled()
    }
}

impl Job {
    /// Runs those of these tasks that are not done in several threads, which share the request's memory.
    ///
    /// # Errors
    /// As [`Job::run`]; if one thread fails, the others stop after their current task.
    ///
    /// ```
    /// # use tilewright_reshard::{Job, Request};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let folder = tempfile::tempdir().unwrap();
    /// let job = Job::prepare(Request::new(path, folder.path().join("out"))).unwrap();
    /// assert_eq!(job.run_threads(&[7, 0, 3], 2, "one", &()).unwrap(), 3);
    /// assert_eq!(job.missing().unwrap(), [1, 2, 4, 5, 6]);
    /// ```
    pub fn run_threads(
        &self,
        tasks: &[u64],
        threads: usize,
        who: &str,
        watch: &(dyn Watch + Sync),
    ) -> Result<u64, Error> {
        let _claim = self.claim(who, false)?;
        self.check_padding(watch)?;
        self.work_threads(tasks, threads, who, watch).map_err(|error| self.leaving(error))
    }

    /// Runs tasks in several threads of a process that holds the claim.
    pub(crate) fn work_threads(
        &self,
        tasks: &[u64],
        threads: usize,
        who: &str,
        watch: &(dyn Watch + Sync),
    ) -> Result<u64, Error> {
        let threads = threads.clamp(1, tasks.len().max(1));
        let shared = RunState::new(self, threads);
        if threads == 1 {
            return self.work(tasks.iter().copied(), who, &shared, watch);
        }
        let (total, failed) = (Mutex::new(0), AtomicBool::new(false));
        let all = Together { watch, total, failed };
        let share = |tasks: &[u64]| {
            let done = self.work(tasks.iter().copied(), who, &shared, &all);
            all.failed.fetch_or(done.is_err(), Ordering::Relaxed);
            done
        };
        let shares: Vec<&[u64]> = tasks.chunks(tasks.len().div_ceil(threads)).collect();
        let mut ends =
            together(shares.len(), |number| share(shares.get(number).unwrap_or(&&[][..])));
        // The returned error is the one that stopped the other threads.
        let of = |end: &Result<u64, Error>| match end {
            Err(error) if error.kind() != "cancelled" => 0,
            Err(_) => 1,
            Ok(_) => 2,
        };
        ends.sort_by_key(of);
        ends.into_iter().try_fold(0, |sum, end| Ok(sum + end?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Records totals, with a pause in which another thread could overtake.
    struct Seen(Mutex<Vec<u64>>);

    impl Watch for Seen {
        fn total(&self, bytes: u64) {
            thread::yield_now();
            self.0.lock().unwrap().push(bytes);
        }
    }

    #[test]
    fn totals_are_said_in_their_order() {
        let seen = Seen(Mutex::new(Vec::new()));
        let (total, failed) = (Mutex::new(0), AtomicBool::new(false));
        let together = Together { watch: &seen, total, failed };
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..200).for_each(|_| together.total(3)));
            }
        });
        let expected: Vec<u64> = (1..=1600).map(|n| 3 * n).collect();
        assert_eq!(*seen.0.lock().unwrap(), expected);
    }
}
