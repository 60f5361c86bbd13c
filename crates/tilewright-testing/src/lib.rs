//! Functions for the tests of several crates.
//!
//! `cargo test` checks each law on its smallest complete cases and on some of the larger ones. `cargo xtask oracles laws` runs
//! the same tests with every case.

#![forbid(unsafe_code)]

mod objects;

pub use objects::{Came, Objects, Planted};

/// The variable by which `cargo xtask oracles laws` requests every case.
const ALL: &str = "TILEWRIGHT_LAWS";

/// Returns a new folder for small files, in memory where the system has such a place: to sync them to a disk takes most of
/// the time of many tests.
///
/// ```
/// let folder = tilewright_testing::folder();
/// std::fs::write(folder.path().join("a"), "b").unwrap();
/// ```
///
/// # Panics
///
/// Panics if the system makes no folder.
pub fn folder() -> tempfile::TempDir {
    let made = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    made.unwrap_or_else(|error| panic!("no folder for temporary files: {error}"))
}

/// Returns the number of cases of a test, or the distance between them: `all` if every case is requested, or else `few`.
///
/// ```
/// let cases = tilewright_testing::cases(10_000, 500);
/// assert!(cases == 500 || std::env::var_os("TILEWRIGHT_LAWS").is_some());
/// ```
pub fn cases<N>(all: N, few: N) -> N {
    if std::env::var_os(ALL).is_some() { all } else { few }
}
