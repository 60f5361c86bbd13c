//! Progress of a long run, and its cancellation.

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
}

/// A watcher that does nothing.
impl Watch for () {}
