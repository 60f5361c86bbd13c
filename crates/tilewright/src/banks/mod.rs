//! Bank conflicts of shared memory: everything of `tilewright-banks`, and readers for accesses and machines as people write them.
//!
//! ```text
//! access  := [ 'read' | 'write' ] what
//! what    := 'row' | 'column'
//!          | ('ldmatrix' | 'stmatrix') { '.' ('x1' | 'x2' | 'x4' | 'trans' | word of PTX) }
//!          | spec [ 'over' dims ] [ 'threads' integer ]
//! machine := 'nvidia' | 'cdna3' | 'cdna4' | banks 'x' bytes
//! ```
//!
//! The accesses `row` and `column` are threads along the rows or down the columns of the array, with an element or a vector each.
//! Another access is a SPEC of one of three kinds:
//!
//! - A distribution of an array over threads, such as `#ttg.blocked<{…}>`.
//! - A format of the fragments of a matrix unit, such as `MMA_M16N8K16_16BIT_A`, or any other format whose places are thread
//!   after thread, with the number of threads.
//! - A layout of threads and values whose offsets count the cells of a tile, the first dim fastest, as CuTe's thread-value
//!   layouts do. The tile is the array, or `over (16,8)`, and repeats over the array.
//!
//! `32x4` is `nvidia`, `64x4` is `cdna4`.
//!
//! ```
//! use tilewright::{banks, input::Array};
//! let tile = Array::default().layout("spec", "f16[64,64] row-major")?;
//! let access = banks::access("ldmatrix.x4", &tile, &banks::Banks::NVIDIA, None)?;
//! let count = banks::conflicts(tile.layout(), 16, &banks::machine("32x4")?, &access)?;
//! assert_eq!((count.instructions, count.degree), (16, 8));
//! # Ok::<(), tilewright::Error>(())
//! ```

mod code;
mod read;

pub use tilewright_banks::*;

pub use code::index_code;
pub use read::{access, machine};
