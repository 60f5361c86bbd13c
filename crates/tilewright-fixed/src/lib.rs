//! Layouts in types: TLA's tuples of integers, in which each integer is static or dynamic.
//!
//! Law: every question about a fixed layout has the answer of the run-time [`Layout`](tilewright_core::Layout) that
//! [`FixedLayout::lower`] returns. Static integers take no memory, and the compiler computes with them through the same
//! `const fn`. An offset in a layout of static integers compiles to the code one would write by hand.
//!
//! A layout can be made at three times:
//!
//! | | made by | errors are |
//! |---|---|---|
//! | run time | [`Layout::parse`](tilewright_core::Layout::parse) and its neighbours | values, [`Error`](tilewright_core::Error) |
//! | constant | [`layout!`](tilewright_core::layout), [`expect_const!`](tilewright_core::expect_const) | compile errors, of const items already in `cargo check` |
//! | in types | [`make_layout`] and the other functions here | compile errors: brackets in `cargo check`, integers in a build |
//!
//! ```
//! use tilewright_fixed::{_1, _2, _3, _4, _12, _16, _32, make_layout, make_layout_tile};
//! // The TLA document's example: 8×12 in blocks of 4×4.
//! let tiled = make_layout(((_4, _2), (_4, _3)), ((_4, _16), (_1, _32)));
//! assert_eq!((tiled.offset((1, 5)), size_of_val(&tiled)), (37, 0));
//! // Outside it is some number, or a compile error if the coordinate is static; the checked form refuses.
//! assert!(tiled.checked_offset((8, 0)).unwrap_err().is_out_of_range());
//! // A tile of it keeps blocks and strides.
//! let tile = make_layout_tile(tiled, (_4, _4));
//! assert_eq!(tile.to_string(), "((_4,_1),(_4,_1)):((_4,_16),(_1,_32))");
//! // Only what is dynamic takes memory.
//! let mixed = make_layout((_2, 4u32), (_12, _1));
//! assert_eq!((mixed.to_string().as_str(), size_of_val(&mixed)), ("(_2,4):(_12,_1)", 4));
//! ```
//! ```compile_fail
//! use tilewright_fixed::{_1, _2, _4, make_layout};
//! // error[E0277]: the extents `(Int<4>, Int<2>)` and the strides `(Int<1>,)` are not integers in the same brackets
//! make_layout((_4, _2), (_1,));
//! ```
//!
//! | TLA | here |
//! |---|---|
//! | `Int<100>`, `C<100>`, `_4` | [`Int`], [`C`] of any integer, as a type and as a value: `Int::<100>`; short names `_0` to `_64` and powers of two; arithmetic between them in [`op`] |
//! | `tla::tuple`, `IntTuple` | Rust's tuples, and the trait [`FixedTuple`] |
//! | `MakeShape(4, 3)`, `MakeStride`, `MakeCoord` | the tuple itself: `(4, 3)` |
//! | `get<1, 0>(t)`, `rank<1>(t)` | [`t.at((_1, _0))`](FixedTuple::at), `t.at(_1).rank()`; [`t.get::<1>()`](FixedTuple::get) |
//! | `MakeLayout(shape, stride)` | [`make_layout`] |
//! | `crd2offset(coord, shape, stride)` | [`crd2offset`], of any rank and nesting, and [`checked_crd2offset`] |
//! | `MakeLayoutTile`, `GetTile` | [`make_layout_tile`], [`make_tile`] |
//! | `MakeLayout<half, zN>(rows, cols)` | [`zN::layout(rows, cols, 16)`](Format::layout), [`zN::try_layout`](Format::try_layout) |
//! | (not there) | the algebra: [`StaticLayout`] |
//!
//! Source: CATLASS, `include/tla/`.
#![no_std]
#![forbid(unsafe_code)]

mod derived;
pub mod format;
mod integer;
mod layout;
mod tile;
mod tuple;

pub use derived::{Derived, LayoutOperation, StaticLayout, algebra};
pub use format::{ColumnMajor, Format, L0C, RowMajor, Weight4BitnZ, nN, nZ, zN, zZ};
pub use integer::{
    Calc, Expr, Int as C, NO_INTEGER, Operation, ceil_div, max, min, op, round_up, *,
};
pub use layout::{
    Congruent, Coordinate, FixedLayout, checked_crd2offset, checked_idx2crd, crd2offset, idx2crd,
    make_layout,
};
pub use tile::{
    Axis, FixedLayoutTile, FixedTile, PlaceBy, ShiftBy, TileBy, make_layout_tile, make_tile,
};
pub use tuple::{At, FixedTuple, Get, Printed, Static};

#[cfg(test)]
extern crate std;
