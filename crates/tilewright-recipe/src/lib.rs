//! Recipes: the tensors of one checkpoint as the tensors of another.
#![forbid(unsafe_code)]

mod assembly;

pub use assembly::{Assembly, Digit, Equal, Made, Origin, Part};
