//! XLA's model of shapes and layouts, exact where XLA is not.
//!
//! | value | what it is |
//! |---|---|
//! | [`PrimitiveType`] | the element types, their widths and the bit patterns of their extremes |
//! | [`Tile`] | one `T(…)` group: the tile that cuts the most minor dims |
//! | [`Layout`] | `{1,0:T(8,128)(2,1)E(4)}`: the order of the dims, tiles, alignment, packing |
//! | [`ArrayShape`] | `f32[3,5]{1,0:T(2,2)}`: an element type, dims and a layout |
//! | [`Shape`] | any shape: an array, a tuple, a token, an opaque value, a buffer |
//! | [`Padded`], [`PaddingValue`] | the original proto's `padded_dimensions` and `padding_value` |
//! | [`PaddedShape`] | an array's shape with this padding: `f32[2,3]{0,1}pad(3,5)fill(0)` |
//! | [`HloModule`] | a module's computations and instructions, from its text or its proto |
//! | [`Buffers`], [`Tiling`] | the storage of a module's arrays, in their layouts and under other tiles |
//!
//! [`Layout::lower`] turns a layout into a [`tilewright_core::TensorLayout`] that returns the exact offset of every
//! element, for any nesting of tiles; [`Layout::of`] is its inverse. Where XLA aborts, wraps or misses a fault, this
//! crate returns an error.
//!
//! A method that returns a layout or a shape does not change its receiver; a method that takes `&mut self` changes it
//! and returns no value.
//!
//! ```
//! use tilewright_core::Place;
//! use tilewright_xla::ArrayShape;
//! let shape = ArrayShape::parse("f32[3,5]{1,0:T(2,2)}").unwrap();
//! let tensor = shape.lower().unwrap();
//! assert_eq!(tensor.offset(&[2, 3]), Ok(17));
//! assert_eq!(tensor.locate(9), Ok(Place::Padding));
//! assert_eq!(shape.bytes(), Ok(96));
//! assert_eq!(shape.to_string(), "f32[3,5]{1,0:T(2,2)}");
//! ```
//!
//! The feature `proto`, on by default, provides [`HloModule`] and its values, and [`proto`]. Without it, shapes and
//! layouts are read and printed as text only, and the crate does not depend on `prost`.
//!
// Without the feature, these names link to the crate, since their pages are missing.
#![cfg_attr(
    not(feature = "proto"),
    doc = "[`HloModule`]: crate\n[`Buffers`]: crate\n[`Tiling`]: crate\n[`proto`]: crate"
)]
//!
//! # Speed
//!
//! `cargo bench -p tilewright-xla --bench shapes`, medians on one core of an x86-64 server:
//!
//! | operation | time |
//! |---|---|
//! | read `f32[2,3]{1,0}` | 0.21 µs |
//! | read `bf16[20,200]{1,0:T(8,128)(2,1)}` | 0.40 µs |
//! | read a tuple of four arrays | 0.66 µs |
//! | print the tiled shape; read its proto | 0.23 µs; 0.72 µs |
//! | lower it; then compute an element's offset | 1.6 µs; 10 ns |
//! | read a module of 50 MiB of text: every instruction's name, opcode and shape | 0.27 s (187 MiB/s) |
//! | read a text of that size that is one literal | 0.075 s (670 MiB/s) |
//!
//! Texts and protos may be hostile: `cargo run --release -p tilewright-xla --example fuzz -- 600` damages recorded ones
//! at random and looks for panics, hangs and values that do not print back.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod array_shape;
#[cfg(feature = "proto")]
mod hlo;
pub mod index_util;
mod layout;
pub mod layout_util;
mod lower;
pub mod packing;
mod padding;
pub mod permutation;
mod primitive_type;
#[cfg(feature = "proto")]
pub mod proto;
mod raise;
mod shape;
pub mod shape_util;
mod text;
mod validate;

pub use crate::padding::PaddedShape;
pub use crate::{
    padding::PaddingValue,
    shape::{Parameter, ProgramShape, ShapeIndex},
};
#[cfg(feature = "proto")]
pub use hlo::{Buffer, Buffers, HloComputation, HloInstruction, HloModule, Tiling, Unsized};
pub use layout::{ArrayShape, Dim, Layout, Split};
pub use layout::{Tile, TileDim};
pub use padding::{Padded, fill_text, parse_fill};
pub use primitive_type::PrimitiveType;
pub use shape::{Shape, ShapeKind};
pub use shape_util::Ignore;
pub use tilewright_error::Error;
