//! Values of a recipe: sizes, conditions, and their inputs.
//!
//! ```text
//! lookup       a value of the configuration, by its path
//! dims         a dim of the source's tensors, by a pattern of their names
//! lack         the reason that a size is missing
//! operator     exact arithmetic of sizes
//! quantity     a size: an expression of these
//! condition    what must hold of such expressions
//! requirement  a condition with its direction and its message
//! models       the configurations that a recipe is for
//! known        names in all of these: a misspelled one is refused
//! ```

pub(crate) mod condition;
pub(crate) mod dims;
pub(crate) mod known;
pub(crate) mod lack;
pub(crate) mod lookup;
pub(crate) mod models;
pub(crate) mod operator;
pub(crate) mod quantity;
pub(crate) mod requirement;
