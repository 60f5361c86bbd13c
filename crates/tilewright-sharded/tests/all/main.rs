//! The tests of `tilewright-sharded` from outside: one program, a module for each notion.

mod laws;
mod makers;
mod vectors;

/// How many cases a test takes: all of them where `TILEWRIGHT_LAWS` is set, as `cargo xtask oracles laws` does.
pub(crate) fn cases(all: usize, few: usize) -> usize {
    if std::env::var_os("TILEWRIGHT_LAWS").is_some() { all } else { few }
}
