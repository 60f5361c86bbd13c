//! Progress of a long run, and its cancellation.

use tilewright_error::Error;

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
