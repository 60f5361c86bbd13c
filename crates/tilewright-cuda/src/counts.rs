//! What was compiled, read, loaded and launched: for tests, and for those who ask why a first call takes long.

use std::sync::atomic::{AtomicU64, Ordering};

/// What happened since the driver was opened.
///
/// ```
/// use tilewright_cuda::Counts;
/// assert_eq!(Counts::default().compiled, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Texts that were compiled.
    pub compiled: u64,
    /// Code that was read from disk in place of that.
    pub read: u64,
    /// Modules that were loaded.
    pub loaded: u64,
    /// Launches that were queued, or refused by the driver.
    pub launched: u64,
    /// Modules that are kept now.
    pub kept: u64,
}

/// The same as it is counted, from many threads.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) compiled: AtomicU64,
    pub(crate) read: AtomicU64,
    pub(crate) loaded: AtomicU64,
    pub(crate) launched: AtomicU64,
}

impl Counters {
    /// What was counted so far, and the number of modules that are kept.
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

/// One more.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
