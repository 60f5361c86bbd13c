//! The threads that carry out requests, and the wait for them from other threads.

use std::{
    future::Future,
    pin::pin,
    process,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::{Either, select};
use tokio::runtime::{Builder, Handle, Runtime};

use crate::Error;

/// A value that each process makes once. A forked process inherits memory, but no threads, so it makes its own.
pub(crate) struct PerProcess<T: 'static>(Mutex<Option<(u32, &'static T)>>);

impl<T> PerProcess<T> {
    pub(crate) const fn new() -> PerProcess<T> {
        PerProcess(Mutex::new(None))
    }

    /// Returns the value of this process, which `make` makes if there is none.
    pub(crate) fn get(&self, make: impl FnOnce() -> T) -> &'static T {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *known {
            Some((process, value)) if process == process::id() => value,
            _ => {
                let value: &'static T = Box::leak(Box::new(make()));
                *known = Some((process::id(), value));
                value
            }
        }
    }
}

static RUNTIME: PerProcess<Result<Runtime, String>> = PerProcess::new();

/// Returns the runtime of this process.
pub(crate) fn runtime() -> Result<&'static Runtime, Error> {
    let made = RUNTIME.get(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2).thread_name("tilewright-remote").enable_all();
        builder.build().map_err(|error| error.to_string())
    });
    made.as_ref().map_err(|said| {
        Error::new("io", format!("cannot start threads for requests: {said}")).of_file()
    })
}

/// The number that ends all waits when it is not 0.
static SIGNAL: Mutex<Option<Arc<AtomicUsize>>> = Mutex::new(None);

/// The time between two looks at that number.
const LOOK: Duration = Duration::from_millis(50);

/// Ends all waits for requests, as cancelled, once this number is not 0: a handler of signals sets it. Uploads are still aborted.
///
/// ```
/// use std::sync::{Arc, atomic::AtomicUsize};
/// tilewright_remote::cancel_by(Arc::new(AtomicUsize::new(0)));
/// ```
pub fn cancel_by(signal: Arc<AtomicUsize>) {
    *SIGNAL.lock().unwrap_or_else(PoisonError::into_inner) = Some(signal);
}

/// The time for aborting uploads after a signal.
const LAST: Duration = Duration::from_secs(10);

fn is_signalled() -> bool {
    let signal = SIGNAL.lock().unwrap_or_else(PoisonError::into_inner);
    signal.as_ref().is_some_and(|signal| signal.load(Ordering::Relaxed) != 0)
}

/// Returns when the number is not 0.
async fn signalled() {
    while !is_signalled() {
        tokio::time::sleep(LOOK).await;
    }
}

fn cancelled() -> Error {
    Error::new("cancelled", "cancelled")
}

/// Returns an error after a signal.
pub(crate) fn check_signal() -> Result<(), Error> {
    if is_signalled() { Err(cancelled()) } else { Ok(()) }
}

/// Waits for the result of a future, or until a signal cancels it.
pub(crate) fn wait<T: Send>(future: impl Future<Output = T> + Send) -> Result<T, Error> {
    blocking(first(future, signalled()))?.ok_or_else(cancelled)
}

/// Waits for the result of a future also after a signal, but then not for long.
pub(crate) fn wait_to_end<T: Send>(future: impl Future<Output = T> + Send) -> Result<T, Error> {
    let late = async {
        signalled().await;
        tokio::time::sleep(LAST).await;
    };
    blocking(first(future, late))?
        .ok_or_else(|| Error::new("io", "the store did not answer in time").of_file())
}

/// Returns the result of a future unless the other ends first.
async fn first<T>(future: impl Future<Output = T>, other: impl Future<Output = ()>) -> Option<T> {
    match select(pin!(future), pin!(other)).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(_) => None,
    }
}

/// Waits for the result of a future. A thread of another runtime, which must not block, starts a thread that waits.
fn blocking<T: Send>(future: impl Future<Output = T> + Send) -> Result<T, Error> {
    let runtime = runtime()?;
    if Handle::try_current().is_err() {
        return Ok(runtime.block_on(future));
    }
    let waited = std::thread::scope(|scope| scope.spawn(|| runtime.block_on(future)).join());
    waited.map_err(|_| Error::new("io", "a request ended without a result").of_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once_and_again_in_another_process() {
        let value: PerProcess<u32> = PerProcess::new();
        assert_eq!((*value.get(|| 1), *value.get(|| 2)), (1, 1));
        // As after a fork: the value is that of another process.
        *value.0.lock().unwrap() = Some((process::id().wrapping_add(1), Box::leak(Box::new(1))));
        assert_eq!((*value.get(|| 3), *value.get(|| 4)), (3, 3));
    }
}
