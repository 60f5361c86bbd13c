//! Counts of code that was compiled, read, loaded and launched: for tests, and to explain why a first call is slow.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of events since the driver was opened.
///
/// ```
/// use tilewright_cuda::Counts;
/// assert_eq!(Counts::default().compiled, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// The number of texts that were compiled.
    pub compiled: u64,
    /// The number of times that code was read from disk instead.
    pub read: u64,
    /// The number of modules that were loaded.
    pub loaded: u64,
    /// The number of launches that were queued, or refused by the driver.
    pub launched: u64,
    /// The number of modules that are loaded now.
    pub kept: u64,
}

/// The counters behind [`Counts`], which many threads update.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) compiled: AtomicU64,
    pub(crate) read: AtomicU64,
    pub(crate) loaded: AtomicU64,
    pub(crate) launched: AtomicU64,
}

impl Counters {
    /// Returns the counts so far, and the number of modules that are loaded.
    pub(crate) fn with(&self, kept: usize) -> Counts {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            compiled: get(&self.compiled),
            read: get(&self.read),
            loaded: get(&self.loaded),
            launched: get(&self.launched),
            kept: kept as u64,
        }
    }
}

/// Increments a counter.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
