//! The limits of a job: its memory, its threads, and the watcher that can cancel it. Each job makes one value and passes it on, so
//! that buffers are counted, threads are started, and cancellation is checked in one place.
//!
//! Law: the fault that [`Limits::first`] returns is that of the first piece with any, whatever the number of threads.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use tilewright_error::Error;

use crate::{Budget, Pool, cores, first};

/// The least memory of each thread of a search. With less in total, fewer threads run, because long reads are more important.
const LEAST: u64 = 256 << 10;

/// The least number of bytes of a tensor for each thread of a search.
const SHARE: u64 = 1 << 20;

/// The memory, the threads and the watcher of a job.
///
/// ```
/// use tilewright_transfer::Limits;
/// let limits = Limits::new(&(), 1 << 20, 2);
/// let buffer = limits.budget().buffer(1 << 20).unwrap();
/// assert!(limits.budget().buffer(1).is_err() && limits.watch().check_cancelled().is_ok());
/// ```
#[must_use]
pub struct Limits<'a> {
    watch: &'a dyn Watch,
    budget: Budget,
    threads: usize,
    pool: OnceLock<Pool>,
}

impl std::fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limits")
            .field("budget", &self.budget)
            .field("threads", &self.threads)
            .finish()
    }
}

impl<'a> Limits<'a> {
    /// Returns the limits of a job that may hold `memory` bytes in buffers; `threads` 0 means one per core.
    ///
    /// ```
    /// assert_eq!(tilewright_transfer::Limits::new(&(), 100, 1).budget().limit(), 100);
    /// ```
    pub fn new(watch: &'a dyn Watch, memory: u64, threads: usize) -> Limits<'a> {
        Limits::within(watch, Budget::new(memory), threads)
    }

    /// Returns the limits of a part of a job, or of one of its threads, that counts its buffers with the others.
    ///
    /// ```
    /// use tilewright_transfer::Limits;
    /// let job = Limits::new(&(), 100, 2);
    /// let part = Limits::within(&(), job.budget().clone(), 1);
    /// let _held = job.budget().buffer(60).unwrap();
    /// assert!(part.budget().buffer(60).is_err());
    /// ```
    pub fn within(watch: &'a dyn Watch, budget: Budget, threads: usize) -> Limits<'a> {
        let threads = if threads == 0 { cores() } else { threads };
        Limits { watch, budget, threads, pool: OnceLock::new() }
    }

    /// Returns the limits of a part of the job that reports no progress. It shares memory and number of threads.
    ///
    /// ```
    /// use tilewright_transfer::{Limits, Quiet};
    /// let (limits, quiet) = (Limits::new(&(), 100, 1), Quiet(&()));
    /// let _held = limits.budget().buffer(60).unwrap();
    /// assert!(limits.quiet(&quiet).budget().buffer(60).is_err());
    /// ```
    pub fn quiet<'q>(&self, quiet: &'q Quiet<'_>) -> Limits<'q> {
        Limits::within(quiet, self.budget.clone(), self.threads)
    }

    /// Returns the number of threads, at least 1.
    ///
    /// ```
    /// assert_eq!(tilewright_transfer::Limits::new(&(), 100, 3).threads(), 3);
    /// assert!(tilewright_transfer::Limits::new(&(), 100, 0).threads() > 0);
    /// ```
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Returns the watcher.
    ///
    /// ```
    /// assert!(!tilewright_transfer::Limits::new(&(), 100, 1).watch().cancelled());
    /// ```
    pub fn watch(&self) -> &'a dyn Watch {
        self.watch
    }

    /// Returns the bound on buffers.
    ///
    /// ```
    /// assert_eq!(tilewright_transfer::Limits::new(&(), 100, 1).budget().peak(), 0);
    /// ```
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Returns the threads that share each piece, which the first call starts.
    ///
    /// ```
    /// assert_eq!(tilewright_transfer::Limits::new(&(), 100, 1).pool().threads(), 1);
    /// ```
    pub fn pool(&self) -> &Pool {
        self.pool.get_or_init(|| Pool::new(self.threads))
    }

    /// Returns the number of threads that search `bytes` bytes.
    ///
    /// ```
    /// let limits = tilewright_transfer::Limits::new(&(), 1 << 30, 8);
    /// assert_eq!((limits.members(100), limits.members(1 << 30)), (1, 8));
    /// ```
    #[must_use]
    pub fn members(&self, bytes: u64) -> usize {
        let most = (bytes / SHARE).min(self.budget.limit() / LEAST);
        self.threads.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1)
    }

    /// Returns the first fault in the pieces. Each of `members` threads calls `join` once, and calls its result with each piece.
    /// Progress of `tells` bytes in total is reported, in proportion to the `size` of the finished pieces in `all`.
    ///
    /// # Errors
    /// The error of the first piece that failed, if no earlier one has a fault; `cancelled` if the watcher cancels.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let limits = tilewright_transfer::Limits::new(&(), 1 << 20, 2);
    /// let odd = || Ok(|piece: &u64| Ok::<_, Error>((piece % 2 == 1).then_some(*piece)));
    /// assert_eq!(limits.first(2, [2, 4, 7, 6, 9].into_iter(), (|_: &u64| 1, 5, 0), odd).unwrap(), Some(7));
    /// ```
    pub fn first<P: Send, T: Send, M>(
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
            self.watch.check_cancelled()
        });
        tell();
        found
    }
}

// Progress of a long run, and its cancellation.

/// Progress and cancellation of a run; every method has a default that does nothing.
///
/// A run calls these every few megabytes of reading or writing, and resharding after each task, from the thread that
/// started it. If it takes a watcher that is `Sync`, it also calls them from other threads.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use tilewright_transfer::Watch;
/// #[derive(Default)]
/// struct Counter(AtomicU64);
/// impl Watch for Counter {
///     fn advance(&self, bytes: u64) {
///         self.0.fetch_add(bytes, Ordering::Relaxed);
///     }
/// }
/// let counter = Counter::default();
/// counter.advance(5);
/// assert!(!counter.cancelled());
/// ```
pub trait Watch {
    /// Receives the total number of bytes that the run will report; called first, and again if the run finds more work.
    fn total(&self, bytes: u64) {
        let _ = bytes;
    }

    /// Receives the number of bytes that were processed since the last call.
    fn advance(&self, bytes: u64) {
        let _ = bytes;
    }

    /// Returns whether to stop. The run then returns an error that says that it was cancelled. It leaves nothing behind,
    /// except that resharding keeps finished tasks, which the next run takes up.
    fn cancelled(&self) -> bool {
        false
    }

    /// Returns an error if the run is cancelled. Loops over data call it every few megabytes.
    ///
    /// # Errors
    /// `cancelled` if [`Watch::cancelled`] returns true.
    ///
    /// ```
    /// use tilewright_transfer::Watch;
    /// struct Stopped;
    /// impl Watch for Stopped {
    ///     fn cancelled(&self) -> bool {
    ///         true
    ///     }
    /// }
    /// assert!(().check_cancelled().is_ok());
    /// assert_eq!(Stopped.check_cancelled().unwrap_err().kind(), "cancelled");
    /// ```
    fn check_cancelled(&self) -> Result<(), Error> {
        match self.cancelled() {
            true => Err(Error::new("cancelled", "cancelled").of_file()),
            false => Ok(()),
        }
    }
}

/// A watcher that does nothing.
impl Watch for () {}

/// A watcher that can cancel a run and ignores progress: bytes that are read again were counted before.
///
/// ```
/// use tilewright_transfer::{Quiet, Watch};
/// let quiet = Quiet(&());
/// quiet.advance(5);
/// assert!(!quiet.cancelled());
/// ```
pub struct Quiet<'a>(pub &'a dyn Watch);

impl std::fmt::Debug for Quiet<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Quiet")
    }
}

impl Watch for Quiet<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
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
        for members in 1..5 {
            for wrong in [vec![], vec![0], vec![99], vec![98, 40, 41, 42, 77], vec![7, 8]] {
                let watch = Counter::default();
                let limits = Limits::new(&watch, 1 << 30, members);
                let join = || Ok(|piece: &u64| Ok(wrong.contains(piece).then_some(*piece)));
                let found = limits.first(members, 0..100, (|_: &u64| 1, 100, 1000), join).unwrap();
                assert_eq!(found, wrong.iter().min().copied());
                assert!(found.is_some() || watch.told.get() == 1000);
            }
        }
    }

    #[test]
    fn an_error_is_told_and_a_watcher_stops_all() {
        let error = |piece: &u64| match piece {
            50 => Err(Error::usage("fifty")),
            _ => Ok(None::<u64>),
        };
        for members in 1..4 {
            let limits = Limits::new(&(), 1 << 30, members);
            let found = limits.first(members, 0..100, (|_: &u64| 1, 100, 100), || Ok(error));
            assert!(found.unwrap_err().to_string().contains("fifty"));
            let none = || Err::<fn(&u64) -> Result<Option<u64>, Error>, _>(Error::usage("none"));
            assert!(limits.first(members, 0..9, (|_: &u64| 1, 9, 9), none).is_err());
            let watch = Counter { most: Some(0), ..Counter::default() };
            let limits = Limits::new(&watch, 1 << 30, members);
            let join = || Ok(|_: &u64| Ok(None::<u64>));
            assert!(
                limits.first(members, 0.., (|_: &u64| 1, 9, 9), join).unwrap_err().is_cancelled()
            );
        }
    }

    #[test]
    fn small_tensors_and_small_bounds_take_one_thread() {
        let members = |limit: u64, bytes| Limits::new(&(), limit, 8).members(bytes);
        assert_eq!((members(1 << 30, 1 << 30), members(1 << 30, 100)), (8, 1));
        assert_eq!((members(64 << 10, 1 << 30), members(1 << 20, 1 << 30)), (1, 4));
    }
}
