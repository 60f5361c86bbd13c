//! The tests of `tilewright` from outside: one program, a module for each notion.

#[cfg(all(feature = "relayout", feature = "banks"))]
mod answers;
#[cfg(feature = "banks")]
mod banks;
mod cpp;
mod emit;
mod eval_any;
mod eval_cases;
mod eval_vectors;
#[cfg(feature = "xla")]
mod explain;
mod fixed_picture;
mod infer;
mod tuples;
#[cfg(all(feature = "relayout", feature = "xla"))]
mod xla_moves;

/// How many cases a test takes: all of them where `TILEWRIGHT_LAWS` is set, as `cargo xtask oracles laws` does.
#[cfg(feature = "xla")]
pub(crate) fn cases(all: usize, few: usize) -> usize {
    if std::env::var_os("TILEWRIGHT_LAWS").is_some() { all } else { few }
}
