//! The work that is queued on an array of this package.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tilewright::cuda::Mark;

/// The kind of access of a move to an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    Write,
}

/// The ends of the queued reads and writes of an array, for all views of its memory.
#[derive(Debug, Default)]
pub(super) struct Marks(Mutex<Queued>);

#[derive(Debug, Default)]
struct Queued {
    written: Option<Arc<Mark>>,
    read: Vec<Arc<Mark>>,
}

impl Marks {
    fn lock(&self) -> MutexGuard<'_, Queued> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the end of queued work. A write has waited for all work before it.
    pub(super) fn used(&self, to: Use, mark: &Arc<Mark>) {
        let mut queued = self.lock();
        queued.read.retain(|mark| !is_done(mark));
        match to {
            Use::Read => queued.read.push(mark.clone()),
            Use::Write => queued.written = Some(mark.clone()),
        }
    }

    /// Returns the unfinished work that must precede another access: writes precede all, reads precede writes.
    pub(super) fn before(&self, to: Use) -> Vec<Arc<Mark>> {
        let queued = self.lock();
        let read = queued.read.iter().filter(|_| to == Use::Write);
        queued.written.iter().chain(read).filter(|mark| !is_done(mark)).cloned().collect()
    }
}

/// Returns whether a mark is known to be done.
fn is_done(mark: &Mark) -> bool {
    mark.is_done().unwrap_or(false)
}
