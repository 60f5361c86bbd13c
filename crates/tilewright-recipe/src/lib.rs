//! Recipes: the tensors of one checkpoint as the tensors of another.
#![forbid(unsafe_code)]

mod assembly;
mod config;
mod error;
mod recipe;
mod rule;
mod shipped;
mod solve;
mod tensor;
mod text {
    //! Recipes as texts: the TOML file that is read and written, and the table that people read.

    mod print;
    mod read;
    pub(crate) mod toml_file;
}
mod value {
    //! Values of a recipe: sizes, conditions, and their inputs.
    //!
    //! ```text
    //! quantity   a size: an expression of the configuration, the tensors and other sizes
    //! condition  what must hold of such expressions, and requirements and notes with them
    //! models     the configurations that a recipe is for
    //! ```

    pub(crate) mod condition;
    pub(crate) mod models;
    pub(crate) mod quantity;
}

pub use crate::{
    config::value as config_value,
    shipped::{Guess, Guessed, guess},
};
pub use assembly::{Assembly, Digit, Equal, Made, Origin, Part};
pub use config::{ConfigChange, ConfigJson};
pub use error::{Error, Errors, kind};
pub use recipe::Recipe;
pub use rule::expression::{Axis, Expression, Sizes};
pub use shipped::{Shipped, shipped};
pub use solve::RECIPE_KEY;
pub use tensor::Tensor;
pub use value::models::{Condition, Conditions, Contradiction};
