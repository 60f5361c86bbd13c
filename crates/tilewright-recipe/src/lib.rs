//! Recipes: the tensors of one checkpoint as the tensors of another.
#![forbid(unsafe_code)]

mod assembly;
mod config;
mod error;
pub mod kind;
mod recipe;
mod rule;
mod shipped;
mod solve;
mod tensor;
mod text;
mod value;

pub use crate::config::value as config_value;
pub use crate::shipped::{Guess, Guessed, guess};
pub use assembly::{Assembly, Digit, Equal, Made, Origin, Part};
pub use config::{ConfigChange, ConfigJson};
pub use error::{Error, Errors};
pub use recipe::Recipe;
pub use rule::expression::{Axis, Expression, Sizes};
pub use shipped::{Shipped, shipped};
pub use solve::RECIPE_KEY;
pub use tensor::Tensor;
pub use value::models::{Condition, Conditions, Contradiction};
