//! Recipes: the tensors of one checkpoint as the tensors of another.
#![forbid(unsafe_code)]

mod assembly;
mod condition;
mod conditions;
mod config;
mod dims;
mod error;
mod expression;
mod globs;
mod guess;
mod name;
mod operator;
mod print;
mod quantity;
mod recipe;
mod recipe_parts;
mod reference;
mod requirement;
mod rule;
mod shipped;
mod solve;
mod table;
mod tensor;
mod toml_file;

pub use assembly::{Assembly, Digit, Equal, Made, Origin, Part};
pub use conditions::{Condition, Conditions, Contradiction};
pub use config::{ConfigChange, ConfigJson};
pub use error::{Error, Errors, Kind};
pub use expression::{Axis, Expression, Sizes};
pub use guess::{Guess, Guessed, guess};
pub use recipe::Recipe;
pub use shipped::{Shipped, shipped};
pub use solve::RECIPE_KEY;
pub use tensor::Tensor;
