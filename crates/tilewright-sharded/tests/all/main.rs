//! The integration tests of `tilewright-sharded`: one program, with a module for each subject.

mod laws;
mod makers;
mod vectors;

/// Returns the number of cases of a test: all of them if `TILEWRIGHT_LAWS` is set, as `cargo xtask oracles laws` does.
pub(crate) fn cases(all: usize, few: usize) -> usize {
    if std::env::var_os("TILEWRIGHT_LAWS").is_some() { all } else { few }
}
