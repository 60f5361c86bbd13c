//! Tests of `tilewright` through its public functions: one program with a module for each notion.

#[cfg(all(feature = "relayout", feature = "banks"))]
mod answers;
#[cfg(feature = "banks")]
mod banks;
#[cfg(feature = "questions")]
mod cpp;
#[cfg(feature = "questions")]
mod emit;
#[cfg(all(feature = "files", feature = "device", feature = "xla"))]
mod errors;
#[cfg(feature = "questions")]
mod eval_any;
#[cfg(feature = "questions")]
mod eval_cases;
#[cfg(feature = "questions")]
mod eval_vectors;
#[cfg(all(feature = "questions", feature = "xla"))]
mod explain;
#[cfg(feature = "questions")]
mod fixed_picture;
#[cfg(feature = "questions")]
mod infer;
#[cfg(feature = "learn")]
mod learn;
#[cfg(feature = "questions")]
mod tuples;
#[cfg(all(feature = "relayout", feature = "xla"))]
mod xla_moves;
