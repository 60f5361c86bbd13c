//! Ranges of the destination and what they read: arrays larger than memory.
//!
//! A chunk is the program of its plan within a byte range: regions clipped to it, with the same boxes over a
//! buffer that holds what they read, or digits, whose elements are found in a list of stretches. How far reads
//! are joined across bytes that nobody needs is the policy of [`cover`] and [`scattered`]. A tile is a box of the
//! elements instead, with its writes as well.

mod boxes;
mod chunk;
pub(crate) mod cover;
pub(crate) mod scattered;
mod sides;
mod tiles;

pub use chunk::{Chunk, Read};
pub use sides::{DimDigit, box_extents};
pub use tiles::{Tile, Tiles, Write};

/// A read or write of a file costs as much as this number of bytes: shorter gaps between reads are read.
///
/// ```
/// assert_eq!(tilewright_relayout::CALL, 4096);
/// ```
pub const CALL: u64 = 4096;
