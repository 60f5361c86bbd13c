//! Assembles the tensors of a result from tensors of a source, as a solved recipe describes them.
//!
//! ```text
//! assembly  ->  pieces: nests of loops between storage and storage             (made, pieces, nest)
//!           ->  a plan for each tensor, and the source that it reads           (whole, moved, stored)
//!           ->  parts of tensors, which threads make                           (making, execute)
//!           ->  verification without plans                                     (recorded, cells)
//! ```

pub(crate) mod apart;
mod assembling;
mod config_json;
mod execute;
pub(crate) mod given;
#[cfg(test)]
mod laws;
pub(crate) mod making;
mod packaging;
pub(crate) mod pieces;
pub(crate) mod planned;
pub(crate) mod recorded;
#[cfg(test)]
mod refusals;
mod stored;

pub use assembling::{Assembling, Row};
pub use packaging::Packaging;
