//! How a caller follows a long run, and stops it.

/// Progress and cancellation of a run; every method has a default that does nothing.
///
/// A run calls these from the thread that started it, at least every few megabytes of reading or
/// writing.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use tilewright_files::Watch;
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
    /// How many bytes the run will report in all; called once, first.
    fn total(&self, bytes: u64) {
        let _ = bytes;
    }

    /// Another `bytes` bytes are done.
    fn advance(&self, bytes: u64) {
        let _ = bytes;
    }

    /// Whether to stop; the run then answers an error that
    /// [`is_cancelled`](crate::Error::is_cancelled), and leaves nothing behind.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Nobody watches.
impl Watch for () {}

/// An error if the watcher asked to stop.
pub(crate) fn go_on(watch: &dyn Watch) -> Result<(), crate::Error> {
    if watch.cancelled() { Err(crate::Error::cancelled()) } else { Ok(()) }
}
