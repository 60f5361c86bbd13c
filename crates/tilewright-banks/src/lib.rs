//! Bank conflicts of shared memory: counts them, shows the threads, and finds the least change that removes them.
//!
//! A layout stores an array in shared memory. The threads of a warp access it by a map from (thread, value) to
//! coordinates. The memory has banks, and each bank delivers one word a cycle. A conflict: threads that are served in
//! one turn access different words of one bank, so they wait for each other.
//!
//! | question | item |
//! |---|---|
//! | the banks of a machine, and the threads that they serve together | [`Banks`], [`Turns`] |
//! | the elements of each thread | [`Spread`] |
//! | the elements that a thread reads or writes at once | [`Access`] |
//! | the conflicts of an access | [`conflicts`] |
//! | the least swizzle or padding that removes them, with the proof | [`fix`] |
//! | the swizzle that turns one layout into another | [`swizzle_between`] |
//! | the invertible matrix of bits that turns one layout into another | [`matrix_between`] |
//!
//! ```
//! use tilewright_banks::{Access, Banks, Spread, conflicts, fix};
//! use tilewright_core::TensorLayout;
//! // A tile of 32 × 32 floats, read by columns and written by rows.
//! let tile = TensorLayout::row_major(&[32, 32])?;
//! let read = Access::read("column", Spread::columns(&[32, 32], 1, 1, 32)?, 1)?;
//! let write = Access::write("row", Spread::rows(&[32, 32], 1, 1, 32)?, 1)?;
//! assert_eq!(conflicts(&tile, 32, &Banks::NVIDIA, &read)?.degree, 32);
//! assert_eq!(conflicts(&tile, 32, &Banks::NVIDIA, &write)?.degree, 1);
//!
//! let fix = fix(&tile, 32, &Banks::NVIDIA, &[read, write])?;
//! let swizzled = fix.swizzles.found.unwrap().layout;
//! assert_eq!(swizzled.layout().to_string(), "Sw<5,0,5> o (32,32):(32,1)");
//! let padded = fix.paddings.unwrap().found.unwrap().layout;
//! assert_eq!(padded.layout().to_string(), "(32,32):(33,1)");
//! # Ok::<(), tilewright_core::Error>(())
//! ```
#![forbid(unsafe_code)]

mod access;
mod banks;
mod between;
mod fix;
mod spread;

pub use crate::{
    between::matrix_between,
    fix::{Change, Failed, Pair},
};
pub use access::{Access, MAX_CELLS, Moment};
pub use banks::{Banks, Clash, Conflicts, MAX_LANES, Phase, Turns, Word, conflicts};
pub use between::{Between, Sample, swizzle_between};
pub use fix::{Fix, Found, Search, fix};
pub use spread::Spread;
