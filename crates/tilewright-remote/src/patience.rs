//! The number and time of retries after a fault that may pass: one setting for the process.

use std::{
    future::Future,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::web::Fault;

/// The number of retries of a request, the time that they may take together, and the first wait.
///
/// ```
/// let usual = tilewright_remote::Patience::default();
/// assert_eq!((usual.retries, usual.total.as_secs()), (10, 180));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Patience {
    /// The largest number of retries of a request.
    pub retries: usize,
    /// The time after the first request in which retries begin.
    pub total: Duration,
    /// The wait before the first retry; each later one is twice as long, at most 15 seconds.
    pub first: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        let (total, first) = (Duration::from_secs(180), Duration::from_millis(100));
        Patience { retries: 10, total, first }
    }
}

/// The shortest time of a try.
const SHORTEST: Duration = Duration::from_secs(1);

/// The longest wait before a retry.
pub(crate) const LONGEST: Duration = Duration::from_secs(15);

static PATIENCE: Mutex<Option<Patience>> = Mutex::new(None);

/// Returns the patience of this process.
///
/// ```
/// assert!(tilewright_remote::patience().retries > 0);
/// ```
#[must_use]
pub fn patience() -> Patience {
    PATIENCE.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or_default()
}

/// Sets the patience for objects and uploads that are opened afterwards.
///
/// ```
/// use tilewright_remote::{Patience, patience, set_patience};
/// set_patience(Patience { retries: 3, ..Patience::default() });
/// assert_eq!(patience().retries, 3);
/// ```
pub fn set_patience(patience: Patience) {
    *PATIENCE.lock().unwrap_or_else(PoisonError::into_inner) = Some(patience);
}

/// The tries of one request.
pub(crate) struct Tries {
    patience: Patience,
    begun: Instant,
    done: usize,
}

impl Tries {
    pub(crate) fn new() -> Tries {
        Tries { patience: patience(), begun: Instant::now(), done: 0 }
    }

    /// Waits for a try, but not longer than all tries may take: a server that sends a byte now and then is given up.
    pub(crate) async fn within<T>(
        &self,
        tried: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        let left = self.patience.total.saturating_sub(self.begun.elapsed()).max(SHORTEST);
        let said =
            || format!("the answer took longer than {:.0} s", self.patience.total.as_secs_f32());
        match tokio::time::timeout(left, tried).await {
            Ok(done) => done,
            Err(_) => Err(Fault::Passing(said(), None)),
        }
    }

    /// Waits before the next try; returns whether there is one. `asked` is the wait that the server asks for.
    pub(crate) async fn again(&mut self, asked: Option<Duration>) -> bool {
        if self.done >= self.patience.retries || self.begun.elapsed() > self.patience.total {
            return false;
        }
        let times = 1u32.checked_shl(self.done.min(20) as u32).unwrap_or(u32::MAX);
        let wait = self.patience.first.saturating_mul(times).max(asked.unwrap_or_default());
        self.done += 1;
        tokio::time::sleep(wait.min(LONGEST)).await;
        true
    }

    /// Returns a clause on the tries, for the end of a message.
    pub(crate) fn said(&self) -> String {
        match self.done {
            0 => String::new(),
            done => {
                format!(" (after {done} retries in {:.1} s)", self.begun.elapsed().as_secs_f32())
            }
        }
    }
}
