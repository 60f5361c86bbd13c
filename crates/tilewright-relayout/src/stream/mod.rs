//! Streaming: ranges of the destination and their reads, for arrays larger than memory.
//!
//! A chunk is the program of its plan within a byte range. It holds regions clipped to the range, over a buffer of the
//! bytes that they read, or digits, whose elements are found in a list of stretches. [`cover`] and [`scattered`] decide
//! how far reads are joined across bytes that are not needed. A tile is a box of elements with its reads and its
//! writes.

mod boxes;
mod chunk;
pub(crate) mod cover;
pub(crate) mod scattered;
mod tiles;

pub use boxes::{Areas, DimDigit, box_extents, halves};
pub use chunk::{Chunk, Read};
pub use tiles::{Tile, Tiles, Write};

/// The cost of a read or write of a file, as a number of bytes: shorter gaps between reads are read.
///
/// ```
/// assert_eq!(tilewright_relayout::CALL, 4096);
/// ```
pub const CALL: u64 = 4096;
