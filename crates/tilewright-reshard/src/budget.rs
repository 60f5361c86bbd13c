//! The memory that the threads of a run share.

use std::sync::{Condvar, Mutex};

/// Bytes that threads take for a task and give back behind it.
pub(crate) struct Budget {
    free: Mutex<u64>,
    changed: Condvar,
    all: u64,
}

impl Budget {
    pub(crate) fn new(all: u64) -> Budget {
        Budget { free: Mutex::new(all), changed: Condvar::new(), all }
    }

    /// Waits until there are this many bytes, at most all, and takes them.
    pub(crate) fn take(&self, bytes: u64) -> Taken<'_> {
        let bytes = bytes.min(self.all);
        let free = self.free.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let waited = self.changed.wait_while(free, |free| *free < bytes);
        *waited.unwrap_or_else(|poisoned| poisoned.into_inner()) -= bytes;
        Taken { bytes, of: self }
    }
}

/// Bytes that are taken until this is dropped.
pub(crate) struct Taken<'b> {
    bytes: u64,
    of: &'b Budget,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        *self.of.free.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += self.bytes;
        self.of.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn no_more_is_taken_than_there_is() {
        let (budget, now, most) = (Budget::new(100), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..6u64 {
                let (budget, now, most) = (&budget, &now, &most);
                scope.spawn(move || {
                    for turn in 0..200u64 {
                        // More than all is all.
                        let bytes = 1 + (thread * 37 + turn * 11) % 130;
                        let taken = budget.take(bytes);
                        let held = now.fetch_add(taken.bytes, Ordering::SeqCst) + taken.bytes;
                        most.fetch_max(held, Ordering::SeqCst);
                        now.fetch_sub(taken.bytes, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(*budget.free.lock().unwrap(), 100);
        assert!(most.into_inner() <= 100);
    }
}
