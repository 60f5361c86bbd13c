//! Progress of a long run, and the way to stop it.

/// Progress and cancellation of a run; every method has a default that does nothing.
///
/// A run calls these at least every few megabytes of reading or writing, from the thread that started it; where it takes a
/// watcher that is `Sync`, from others too.
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
    /// Takes the number of bytes that the run will report in all; called once, first.
    fn total(&self, bytes: u64) {
        let _ = bytes;
    }

    /// Takes the number of bytes that were done since the last call.
    fn advance(&self, bytes: u64) {
        let _ = bytes;
    }

    /// Returns whether to stop; the run then returns an error that says it was cancelled, and leaves nothing unfinished.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Nobody watches.
impl Watch for () {}
