//! Ranges of the destination and what they read: arrays larger than memory.

mod chunk;
pub(crate) mod cover;
pub(crate) mod scattered;

pub use chunk::{Chunk, Read};
