//! Tensor layouts as values.
//!
//! A layout maps each element of an array to its position in memory. Every notation is read into the values of this
//! crate, and every consumer takes them. The values, and where to start:
//!
//! | value | what it is |
//! |---|---|
//! | [`Layout`] | a function from a nested coordinate to an element offset: [`Mode`]s under a [`Profile`], an offset, a [`Swizzle`] |
//! | [`BasisLayout`] | a function from coordinates to coordinates: strides such as `1@0` |
//! | [`LinearLayout`] | a function between coordinates of powers of two that is linear over bits: named dims, bases |
//! | [`TensorLayout`] | logical extents + a layout of the padded domain + a capacity: a framework's "shape with its layout" |
//! | [`Pattern`] | the digits of each axis and the order in which they are stored: the definition of every dense tiled format |
//! | [`Refinement`] | two tensor layouts over the same coordinates as one list of loops |
//! | [`View`], [`ViewMut`] | a slice indexed through a tensor layout |
//! | [`Dtype`], [`ByteOrder`], [`Fill`] | the type of the elements, and the value of padding |
//! | [`Error`], [`ParseError`], [`Remedy`] | the reason for a refusal, and what to change |
//!
//! Offsets count elements, never bytes. Nothing in this crate allocates, panics on input or overflows. Almost
//! everything is `const fn`, so one implementation serves run time and compile time.
//!
//! ```
//! use tilewright_core::{Layout, Place, TensorLayout};
//! // 3×5 elements in tiles of 2×2: the edge tiles hold padding.
//! let layout = Layout::parse("((2,2),(2,3)):((2,12),(1,4))").unwrap();
//! let tensor = TensorLayout::new(&[3, 5], &layout, 24).unwrap();
//! assert_eq!(tensor.offset(&[2, 3]), Ok(17));
//! assert_eq!(tensor.locate(9), Ok(Place::Padding));
//! assert_eq!(tensor.padding(), 9);
//! ```
//!
//! # Speed
//!
//! `cargo bench -p tilewright-core --bench layouts`, medians on one core of a shared x86-64 server. Runs differ by a
//! fifth and more, depending on the load of the machine:
//!
//! | operation | time |
//! |---|---|
//! | offset of a coordinate, 4 modes whose extents are not powers of two | 3.1 ns |
//! | offset of a linear index, the same layout | 5.8 ns |
//! | offset of an element of `bf16[20,200]{1,0:T(8,128)(2,1)}` | 9.1 ns |
//! | composition of 4 modes with 4 | 170 ns |
//! | coalesce, 4 modes | 43 to 54 ns |
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod algebra;
mod basis;
mod const_fn;
mod dtype;
mod error;
mod layout;
pub mod linear;
mod refine;
mod same;
#[cfg(test)]
mod small;
mod sort;
mod swizzle;
mod tensor;

pub use crate::{layout::Mode, refine::block::Blocks, same::Difference};
pub use algebra::{LayoutPart, LayoutTile, LayoutTv, LeftInverse, SEARCH_STATES, Slicer, Tiler};
pub use basis::{BasisLayout, MAX_BASES};
pub use dtype::{ByteOrder, Dtype, DtypeKind, ElementBlock, Fill};
pub use error::{
    Error,
    message::{Counted, Remedy},
    parse::{ParseError, Rendered},
};
pub use layout::{
    Layout,
    coord::{Coord, MAX_DEPTH, MAX_MODES, unravel_index},
    index::SEARCH_STEPS,
    observe::{SEARCH_BITS, gcd},
    profile::Profile,
    tuple::IntTuple,
};
pub use linear::{LinearDim, LinearLayout};
pub use refine::{
    Refinement,
    block::{Block, Loop, MAX_LOOPS},
    orders::Orders,
};
pub use same::SEARCH_BLOCKS;
pub use sort::{sort_short, sort_short_by};
pub use swizzle::Swizzle;
pub use tensor::{
    TensorLayout,
    index::{MAX_STEPS, Place, Run, Step},
    pattern::{Digit, Fractal, Pattern},
    view::{View, ViewMut},
};
