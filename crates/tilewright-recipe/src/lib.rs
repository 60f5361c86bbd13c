//! Recipes: the tensors of one checkpoint as the tensors of another.
#![forbid(unsafe_code)]

mod assembly;
mod conditions;
mod error;
mod expression;
mod globs;
mod name;
mod print;
mod quantity;
mod recipe;
mod reference;
mod rule;
mod shipped;
mod solve;
mod table;
mod tensor;
mod toml_file;

pub use assembly::{Assembly, Digit, Equal, Made, Origin, Part};
pub use conditions::Contradiction;
pub use error::{Error, Errors, Kind};
pub use expression::{Axis, Expression, Sizes};
pub use recipe::Recipe;
pub use shipped::{Guess, Shipped, guess, shipped};
pub use solve::RECIPE_KEY;
pub use tensor::Tensor;
