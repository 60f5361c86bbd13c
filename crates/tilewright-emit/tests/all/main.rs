//! The tests of `tilewright-emit` from outside: one program, a module for each notion.

mod compiled;

/// The number of cases of a test: all of them if `TILEWRIGHT_LAWS` is set, as `cargo xtask oracles laws` does.
pub(crate) fn cases(all: usize, few: usize) -> usize {
    if std::env::var_os("TILEWRIGHT_LAWS").is_some() { all } else { few }
}
