//! Moves array data from any layout to any other.
//!
//! A [`Plan`] is made from two [`TensorLayout`](tilewright_core::TensorLayout)s with the same logical extents and from
//! the widths of the [`Elements`]. Making it reads and writes no array data; a plan can be printed, kept and sent to
//! other threads. Running it writes every byte of the destination: the elements, and the fill wherever the destination
//! has padding.
//!
//! | task | call |
//! |---|---|
//! | the whole array, in memory | [`Plan::run`] |
//! | a byte range of the destination, the source in memory | [`Plan::run_range`] |
//! | a byte range of the destination, reading only what it needs | [`Plan::chunk`], [`Plan::ranges`] |
//! | boxes of elements, when neither long reads nor long writes are possible | [`Plan::tiles`] |
//! | the fill of the padding, before parts are moved | [`Plan::pad`] |
//! | a relayout within one buffer | [`Plan::in_place`] |
//! | strided arrays, as NumPy, torch and DLPack describe them | [`Plan::of_strides`] |
//! | a test whether elements fit in fewer bits | [`Elements::first_lossy`] |
//! | typed views | [`relayout`] |
//! | memory for a large array | [`Buffer`] |
//! | weighted sums of numbers in memory | [`fn@sums`] |
//!
//! Plans use the vector instructions that the machine has; they are detected at run time. The environment variable
//! `TILEWRIGHT_ISA` (`avx512`, `avx2`, `neon`, `generic`) selects another instruction set that the machine has, for
//! comparisons and tests. Other values are ignored.
//!
//! ```
//! use tilewright_core::TensorLayout;
//! use tilewright_relayout::{Elements, Plan};
//! let src = TensorLayout::row_major(&[2, 3]).unwrap();
//! let dst = TensorLayout::col_major(&[2, 3]).unwrap();
//! let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
//! let mut out = [0; 6];
//! plan.run(&[1, 2, 3, 4, 5, 6], &mut out, 1).unwrap();
//! assert_eq!(out, [1, 4, 2, 5, 3, 6]);
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

mod buffer;
mod cpu;
mod elements;
mod in_place;
mod plan;
mod program;
mod stream;
mod strides;
mod sums;

pub use buffer::Buffer;
pub use cpu::kernel::sums::{LANES, Numbers, Row};
pub use elements::{Elements, Extend, LossyElement};
pub use in_place::InPlace;
pub use plan::{Plan, relayout};
pub use program::{
    Program,
    digits::{DigitRange, Digits, Group, Op, SourceStep},
    gaps::{Gap, GapLoop},
    region::{Loop, Region},
};
pub use stream::{Areas, CALL, Chunk, DimDigit, Read, Tile, Tiles, Write, box_extents, halves};
pub use sums::sums;
pub use tilewright_error::Error;

/// Returns the error of a refusal of core; `what` names the object that the core was asked about. Kinds that mean nothing for
/// moves become `unsupported`.
pub(crate) fn refused_by_core(what: &str, refusal: &tilewright_core::Error) -> Error {
    let kind = match refusal.kind() {
        kind @ ("undecided" | "overflow" | "mismatch" | "out-of-range") => kind,
        _ => "unsupported",
    };
    Error::new(kind, format!("{what}: {refusal}"))
}
