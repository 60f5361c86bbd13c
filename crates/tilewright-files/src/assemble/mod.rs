//! Assembles the tensors of a result from tensors of a source, as a solved recipe describes them.
//!
//! ```text
//! assembly  ->  pieces: nests of loops between storage and storage             (made, pieces, nest, stored)
//!           ->  runs that are copied, boxes, or ranges made of rows            (whole, grid, by_rows)
//!           ->  tasks that threads share                                       (tasks, hands, execute)
//!           ->  verification                                                   (prints, rows; later: recorded)
//! ```

mod assembling;
mod boxed;
mod by_rows;
mod cells;
mod config_json;
mod equal;
mod exact;
mod execute;
pub(crate) mod given;
mod grid;
mod hands;
#[cfg(test)]
mod laws;
mod made;
mod nest;
mod packaging;
mod pieces;
mod prints;
pub(crate) mod recorded;
mod rows;
mod stored;
mod sums;
mod tasks;
mod unequal;
mod whole;

pub use assembling::{Assembling, Row};
pub use packaging::Packaging;
