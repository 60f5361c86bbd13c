//! The tests of `tilewright-notation` from outside: one program, a module for each notion.

mod catalogue;
mod contract;
mod cutlass;
mod format_corpus;
mod meaning;
mod recognised;
mod round_trip;
mod tables;
mod translate;
mod transposed;
mod triton;
mod triton_instructions;
mod vectors;

/// How many cases a test takes: all of them where `TILEWRIGHT_LAWS` is set, as `cargo xtask oracles laws` does.
pub(crate) fn cases(all: usize, few: usize) -> usize {
    if std::env::var_os("TILEWRIGHT_LAWS").is_some() { all } else { few }
}
