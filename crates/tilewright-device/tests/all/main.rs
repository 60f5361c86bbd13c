//! The integration tests of `tilewright-device`: one program, with a module for each subject.

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

/// Returns the number of cases of a test: all of them if `TILEWRIGHT_LAWS` is set, as `cargo xtask oracles laws` does.
pub(crate) fn cases(all: usize, few: usize) -> usize {
    if std::env::var_os("TILEWRIGHT_LAWS").is_some() { all } else { few }
}
