//! The tests of `tilewright-device` from outside: one program, a module for each notion.

mod cases;
mod far;
mod gather;
mod golden;
mod host;
mod kernels;
mod mutants;
mod pairs;
mod realigned;
mod simulator;
mod swizzled;
mod ways;
mod widths;

/// How many cases a test takes: all of them where `TILEWRIGHT_LAWS` is set, as `cargo xtask oracles laws` does.
pub(crate) fn cases(all: usize, few: usize) -> usize {
    if std::env::var_os("TILEWRIGHT_LAWS").is_some() { all } else { few }
}
