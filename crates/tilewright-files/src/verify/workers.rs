//! Threads that search the pieces of one tensor for the first one with a fault. The calling thread is one of them: it polls the
//! watcher and reports progress. All comparisons and fingerprints use them.
//!
//! Law: the fault that is returned is that of the first piece with any, whatever the number of threads.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tilewright_transfer::{cores, first};

use crate::{Error, Watch, error, transfer::budget::Budget};

/// The least memory of each thread. With less in total, fewer threads run, because long reads are more important.
const LEAST: u64 = 256 << 10;

/// The least number of bytes of a tensor for each thread.
const SHARE: u64 = 1 << 20;

/// The workers of a search: watcher, memory and number of threads.
#[derive(Clone, Copy)]
pub(crate) struct Workers<'a> {
    watch: &'a dyn Watch,
    budget: &'a Budget,
    threads: usize,
}

impl<'a> Workers<'a> {
    /// Returns workers; `threads` 0 means one per core.
    pub(crate) fn new(watch: &'a dyn Watch, budget: &'a Budget, threads: usize) -> Workers<'a> {
        let threads = if threads == 0 { cores() } else { threads };
        Workers { watch, budget, threads }
    }

    pub(crate) fn watch(&self) -> &'a dyn Watch {
        self.watch
    }

    pub(crate) fn budget(&self) -> &'a Budget {
        self.budget
    }

    /// Returns the number of threads for a tensor of `bytes` bytes.
    pub(crate) fn members(&self, bytes: u64) -> usize {
        let most = (bytes / SHARE).min(self.budget.limit() / LEAST);
        self.threads.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1)
    }

    /// Returns the first fault in the pieces. Each of `members` threads calls `join` once, and calls its result with each piece.
    /// Progress of `tells` bytes in total is reported, in proportion to the `size` of the finished pieces in `all`.
    pub(crate) fn first<P: Send, T: Send, M>(
        &self,
        members: usize,
        pieces: impl Iterator<Item = P> + Send,
        (size, all, tells): (impl Fn(&P) -> u64 + Sync, u64, u64),
        join: impl Fn() -> Result<M, Error> + Sync,
    ) -> Result<Option<T>, Error>
    where
        M: FnMut(&P) -> Result<Option<T>, Error>,
    {
        let (done, told) = (AtomicU64::new(0), AtomicU64::new(0));
        let tell = || {
            let done = u128::from(tells) * u128::from(done.load(Relaxed)) / u128::from(all.max(1));
            self.watch.advance(done as u64 - told.swap(done as u64, Relaxed));
        };
        let join = || {
            let (mut member, done, size) = (join()?, &done, &size);
            Ok(move |piece: &P| {
                let found = member(piece);
                done.fetch_add(size(piece), Relaxed);
                found
            })
        };
        let found = first(members, pieces, join, &mut || {
            tell();
            go_on(self.watch)
        });
        tell();
        found
    }
}

/// A watcher that can cancel a run, and ignores progress: bytes that are read again were counted before.
pub(crate) struct Quiet<'a>(pub(crate) &'a dyn Watch);

impl Watch for Quiet<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// Returns an error if the watcher has cancelled.
pub(crate) fn go_on(watch: &dyn Watch) -> Result<(), Error> {
    if watch.cancelled() { Err(error::cancelled()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[derive(Default)]
    struct Counter {
        told: Cell<u64>,
        most: Option<u64>,
    }

    impl Watch for Counter {
        fn advance(&self, bytes: u64) {
            self.told.set(self.told.get() + bytes);
        }

        fn cancelled(&self) -> bool {
            self.most.is_some_and(|most| self.told.get() >= most)
        }
    }

    #[test]
    fn the_first_piece_that_has_something_is_found_by_every_number_of_threads() {
        let budget = Budget::new(1 << 30);
        for members in 1..5 {
            for wrong in [vec![], vec![0], vec![99], vec![98, 40, 41, 42, 77], vec![7, 8]] {
                let watch = Counter::default();
                let workers = Workers::new(&watch, &budget, members);
                let join = || Ok(|piece: &u64| Ok(wrong.contains(piece).then_some(*piece)));
                let found = workers.first(members, 0..100, (|_: &u64| 1, 100, 1000), join).unwrap();
                assert_eq!(found, wrong.iter().min().copied());
                assert!(found.is_some() || watch.told.get() == 1000);
            }
        }
    }

    #[test]
    fn an_error_is_told_and_a_watcher_stops_all() {
        let budget = Budget::new(1 << 30);
        let error = |piece: &u64| match piece {
            50 => Err(error::usage("fifty")),
            _ => Ok(None::<u64>),
        };
        for members in 1..4 {
            let workers = Workers::new(&(), &budget, members);
            let found = workers.first(members, 0..100, (|_: &u64| 1, 100, 100), || Ok(error));
            assert!(found.unwrap_err().to_string().contains("fifty"));
            let none = || Err::<fn(&u64) -> Result<Option<u64>, Error>, _>(error::usage("none"));
            assert!(workers.first(members, 0..9, (|_: &u64| 1, 9, 9), none).is_err());
            let watch = Counter { most: Some(0), ..Counter::default() };
            let workers = Workers::new(&watch, &budget, members);
            let join = || Ok(|_: &u64| Ok(None::<u64>));
            assert!(
                workers.first(members, 0.., (|_: &u64| 1, 9, 9), join).unwrap_err().is_cancelled()
            );
        }
    }

    #[test]
    fn small_tensors_and_small_bounds_take_one_thread() {
        let members = |limit: u64, bytes| Workers::new(&(), &Budget::new(limit), 8).members(bytes);
        assert_eq!((members(1 << 30, 1 << 30), members(1 << 30, 100)), (8, 1));
        assert_eq!((members(64 << 10, 1 << 30), members(1 << 20, 1 << 30)), (1, 4));
    }
}
