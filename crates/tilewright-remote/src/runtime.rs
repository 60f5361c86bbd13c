//! The threads that carry out requests, and the wait for them from other threads.

use std::{
    future::Future,
    process,
    sync::{Mutex, PoisonError},
};

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

/// Waits for the result of a future. A thread of another runtime, which must not block, starts a thread that waits.
pub(crate) fn wait<T: Send>(future: impl Future<Output = T> + Send) -> Result<T, Error> {
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
