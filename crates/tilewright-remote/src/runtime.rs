//! The threads that carry out requests, and the wait for them from other threads.

use std::{future::Future, sync::OnceLock};

use tokio::runtime::{Builder, Handle, Runtime};

use crate::Error;

static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();

/// Returns the runtime of this process.
pub(crate) fn runtime() -> Result<&'static Runtime, Error> {
    let made = RUNTIME.get_or_init(|| {
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
