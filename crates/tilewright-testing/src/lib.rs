//! Functions for the tests of several crates.
//!
//! `cargo test` checks each law on its smallest complete cases and on some of the larger ones. `cargo xtask oracles laws` runs
//! the same tests with every case.

#![forbid(unsafe_code)]

/// The variable by which `cargo xtask oracles laws` requests every case.
const ALL: &str = "TILEWRIGHT_LAWS";

/// Returns the number of cases of a test, or the distance between them: `all` if every case is requested, or else `few`.
///
/// ```
/// let cases = tilewright_testing::cases(10_000, 500);
/// assert!(cases == 500 || std::env::var_os("TILEWRIGHT_LAWS").is_some());
/// ```
pub fn cases<N>(all: N, few: N) -> N {
    if std::env::var_os(ALL).is_some() { all } else { few }
}
