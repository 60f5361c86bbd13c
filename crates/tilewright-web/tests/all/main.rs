//! Tests of `tilewright-web` through its public functions: one program with a module for each notion.

mod questions;

/// Returns the number of cases of a test: all of them if `TILEWRIGHT_LAWS` is set, as `cargo xtask oracles laws` does.
pub(crate) fn cases(all: usize, few: usize) -> usize {
    if std::env::var_os("TILEWRIGHT_LAWS").is_some() { all } else { few }
}
