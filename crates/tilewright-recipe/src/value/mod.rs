//! Values of a recipe: sizes, conditions, and their inputs.
//!
//! ```text
//! quantity   a size: an expression of the configuration, the tensors and other sizes
//! condition  what must hold of such expressions, and requirements and notes with them
//! models     the configurations that a recipe is for
//! known      names in all of these: a misspelled one is refused
//! ```

pub(crate) mod condition;
pub(crate) mod known;
pub(crate) mod models;
pub(crate) mod quantity;
