//! What the tests of the crates share.
//!
//! `cargo test` asks each law in its smallest complete form and of some of the larger cases. `cargo xtask oracles laws` runs
//! the same tests with every case.

#![forbid(unsafe_code)]

/// The variable in which `cargo xtask oracles laws` asks for every case.
const ALL: &str = "TILEWRIGHT_LAWS";

/// Returns the number of cases of a test, or the distance between them: `all` if every case is asked for, or else `few`.
///
/// ```
/// let cases = tilewright_testing::cases(10_000, 500);
/// assert!(cases == 500 || std::env::var_os("TILEWRIGHT_LAWS").is_some());
/// ```
pub fn cases<N>(all: N, few: N) -> N {
    if std::env::var_os(ALL).is_some() { all } else { few }
}
