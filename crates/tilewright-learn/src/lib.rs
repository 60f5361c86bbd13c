//! Exact descriptions of loaders: the source of each element that a loader makes of a checkpoint.
//!
//! A loader is anything that turns named arrays into named arrays: a packing function, an engine. It is learned in three
//! steps.
//!
//! 1. [`Space`] gives every source element a number, and makes arrays whose values code these numbers, one digit a load.
//! 2. The loader runs once a load. [`Decoder`] reads each result of all loads: every element is a source element, zero, a
//!    constant, or unexplained.
//! 3. [`describe`] turns the numbers into [`MapTerm`]s: boxes of mixed-radix digits, digits that are XORed onto others, and
//!    tables where nothing shorter exists.
//!
//! Law: [`Description::expand`] of a description equals the numbers that it describes. `describe` verifies this itself. A
//! description may be long, but it is never wrong.
//!
//! ```
//! use tilewright_core::Dtype;
//! use tilewright_learn::{Decoder, MapSource, Sources, Space, describe};
//! let sources = Sources::numbered([("w".into(), vec![2, 3])])?;
//! let space = Space::new(sources, 128)?;
//! // The loader transposes: 2×3 becomes 3×2.
//! let mut decoder = Decoder::new(&space, Dtype::Bf16, 6)?;
//! for load in 0..space.loads() {
//!     let bytes = space.coded(0, load, Dtype::Bf16)?;
//!     let moved: Vec<u8> = [0, 3, 1, 4, 2, 5].iter().flat_map(|i| bytes[2 * i..2 * i + 2].to_vec()).collect();
//!     decoder.add(&moved)?;
//! }
//! let map = decoder.finish()?;
//! let learned = describe(&map.ids, space.sources())?;
//! assert_eq!(learned.terms().len(), 1);
//! assert_eq!(learned.expand()?, map.ids);
//! # Ok::<(), tilewright_learn::Error>(())
//! ```
#![forbid(unsafe_code)]

mod code;
mod decode;
mod describe;
mod description;
mod dims;
mod fit;
mod learned;
mod places;
mod plane;
mod source;
mod space;
mod term;
mod text;
mod xor;

pub use code::Code;
pub use decode::{Constants, Decoded, Decoder};
pub use describe::describe;
pub use description::{Description, Held};
pub use learned::{
    Inverted, Learned, LearnedResult, Mismatch, NamedArray, Unexplained, learn_result,
};
pub use places::Chosen;
pub use source::{COMPUTED, CONSTANT, MapSource, Sources, ZERO};
pub use space::Space;
pub use term::{MapDigit, MapTerm, Origin, TermAxis, TermPart};
pub use tilewright_error::Error;
