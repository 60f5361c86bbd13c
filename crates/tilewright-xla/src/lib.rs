//! XLA's model of shapes and layouts, exact where XLA is not.
//!
//! | value | what it is |
//! |---|---|
//! | [`PrimitiveType`] | the element types, their widths and the bit patterns of their extremes |
//! | [`Tile`] | one `T(…)` group: how the most minor dims are cut |
//! | [`Layout`] | `{1,0:T(8,128)(2,1)E(4)}`: the order of the dims, tiles, alignment, packing |
//! | [`ArrayShape`] | `f32[3,5]{1,0:T(2,2)}`: an element type, dims and a layout |
//! | [`Shape`] | any shape: an array, a tuple, a token, an opaque value, a buffer |
//! | [`Padded`], [`PaddingValue`] | the original proto's `padded_dimensions` and `padding_value` |
//! | [`PaddedShape`] | an array's shape with them: `f32[2,3]{0,1}pad(3,5)fill(0)` |
//! | [`HloModule`] | a module's computations and instructions, from its text or its proto |
//! | [`Buffers`], [`Tiling`] | what its arrays take, as they are and under other tiles |
//!
//! [`Layout::lower`] turns a layout into a [`tilewright_core::TensorLayout`] that addresses every
//! element exactly, for any nesting of tiles; [`Layout::of`] is the way back. Whatever XLA aborts on,
//! wraps or overlooks is an error value here.
//!
//! A method that returns a layout or a shape leaves its receiver as it is; one that takes `&mut self` changes it and
//! returns no value.
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
//! The feature `proto`, on by default, is for what a module holds: [`HloModule`] and the values made of it, and
//! [`proto`]. Without it shapes and layouts are read and printed as text, and nothing depends on `prost`.
//!
// What is left out has no page.
#![cfg_attr(
    not(feature = "proto"),
    doc = "[`HloModule`]: crate\n[`Buffers`]: crate\n[`Tiling`]: crate\n[`proto`]: crate"
)]
//!
//! # Speed
//!
//! `cargo bench -p tilewright-xla --bench shapes`, medians on one core of an x86-64 server:
//!
//! | what | takes |
//! |---|---|
//! | to read `f32[2,3]{1,0}` | 0.21 µs |
//! | to read `bf16[20,200]{1,0:T(8,128)(2,1)}` | 0.40 µs |
//! | to read a tuple of four arrays | 0.66 µs |
//! | to print the tiled one; to read its proto | 0.23 µs; 0.72 µs |
//! | to lower it; an element's offset then | 1.6 µs; 10 ns |
//! | to read a module of 50 MiB of text: every instruction's name, opcode and shape | 0.27 s (187 MiB/s) |
//! | the same if it is one literal | 0.075 s (670 MiB/s) |
//!
//! Texts and protos may be hostile: `cargo run --release -p tilewright-xla --example fuzz -- 600` damages
//! recorded ones at random and looks for panics, hangs and values that do not print back.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod array_shape;
#[cfg(feature = "proto")]
mod hlo;
pub mod index_util;
mod layout;
pub mod layout_util;
mod list;
mod lower;
pub mod packing;
mod padded_shape;
mod padding;
mod padding_value;
pub mod permutation;
mod primitive_type;
mod primitive_values;
mod program;
#[cfg(feature = "proto")]
pub mod proto;
mod raise;
mod semantic;
mod shape;
mod shape_error;
mod shape_index;
pub mod shape_util;
mod text;
mod tile;
mod validate;
mod validate_shape;

#[cfg(feature = "proto")]
pub use hlo::{
    Buffer, Buffers, HloComputation, HloError, HloInstruction, HloModule, HloSourceError, Tiling,
    Unsized,
};
pub use layout::{ArrayShape, Dim, Layout, Split};
pub use layout_util::Ignore;
pub use padded_shape::PaddedShape;
pub use padding::{Padded, fill_text, parse_fill};
pub use padding_value::PaddingValue;
pub use primitive_type::PrimitiveType;
pub use program::{Parameter, ProgramShape};
pub use shape::{Shape, ShapeKind};
pub use shape_error::ShapeError;
pub use shape_index::ShapeIndex;
pub use tile::{Tile, TileDim};
