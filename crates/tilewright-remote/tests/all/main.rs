//! Tests of objects against a server on this machine. One process has one environment, so all tests share one server, each with
//! a bucket of its own; tests that count requests or plant faults hold the lock.

mod faults;
mod reading;
mod writing;

use std::{
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tilewright_remote::{Location, Patience, set_patience, set_variable};
use tilewright_testing::Objects;

static SERVER: LazyLock<Mutex<Objects>> = LazyLock::new(|| {
    set_patience(Patience { retries: 3, first: Duration::from_millis(1), ..Patience::default() });
    let server = Objects::start();
    server.variables().iter().for_each(|(name, value)| set_variable(name, value));
    Mutex::new(server)
});

/// Returns the server for a test of its own.
fn server() -> MutexGuard<'static, Objects> {
    let server = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    server.clear();
    server.take();
    server
}

/// Returns bytes that differ everywhere.
fn bytes(len: usize) -> Vec<u8> {
    (0..len as u64).map(|at| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

fn location(text: &str) -> Location {
    Location::parse(text).unwrap()
}
