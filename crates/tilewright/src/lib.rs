//! Tensor layouts as values: parse one from the notation you already use, ask it anything, prove two of
//! them equal, print it in another notation, and move real data from one to another.
//!
//! This crate is the door to the house; each room is a crate of its own, re-exported here. In reading
//! order:
//!
//! | room | what is in it |
//! |---|---|
//! | [`core`] | [`Layout`], [`TensorLayout`], the algebra: values without a heap |
//! | [`xla`] | XLA's [`ArrayShape`], [`Shape`], [`HloModule`]: texts, protos, exact sizes and addresses |
//! | [`notation`] | [`Spec`]: any notation in, any notation out; the catalogue of named formats |
//! | [`relayout`] | moves array data from any layout to any other |
//! | [`files`] | `.safetensors`, `.npy` and raw files, rewritten with bounded memory |
//! | [`draw`] | layouts and conversions as pictures: SVG, HTML, TikZ, terminals |
//! | [`ask`] | questions of every kind, each with the type of its answer, its text and its JSON |
//! | [`picture`], [`eval`] | layouts drawn in text; expressions of the algebra |
//! | [`infer`](mod@infer) | the layout that maps one buffer to another |
//! | [`input`] | what a person typed, read |
//! | [`module`] | HLO modules in files |
//!
//! ```
//! use tilewright::{Spec, TensorLayout};
//! use tilewright::relayout::{Elements, Plan};
//!
//! // Ascend's zN of a 3×5 matrix of 16-bit elements, in blocks of 2×2 for the example.
//! let zn = Spec::parse("zN[M0=2,C0=2]")?.resolve(Some(&[3, 5]), None)?;
//! assert_eq!(zn.layout().layout().to_string(), "((2,2),(2,3)):((2,4),(1,8))");
//!
//! // Move data into it: 15 elements of 2 bytes, padding zero.
//! let rows = TensorLayout::row_major(&[3, 5])?;
//! let plan = Plan::new(&rows, zn.layout(), Elements::same(16), 0)?;
//! let source: Vec<u8> = (0..15u16).flat_map(u16::to_le_bytes).collect();
//! let mut packed = vec![0xFF; 48];
//! plan.run(&source, &mut packed, 1)?;
//! let words: Vec<u16> = packed.chunks(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
//! assert_eq!(words[..8], [0, 1, 5, 6, 10, 11, 0, 0]);
//!
//! // What would XLA's array take under TPU tiles, and why?
//! use tilewright::{ArrayShape, xla::Tiling};
//! let array = Tiling::parse("T(8,128)")?.apply(&ArrayShape::parse("f32[8,100,3]{2,1,0}")?)?;
//! assert_eq!((array.bytes()?, array.unpadded_bytes()?), (425_984, 9600));
//! let advice = array.layout_or_default().padding_advice(&[8, 100, 3])?;
//! assert_eq!(advice.suggestion(), "{1,0,2:T(8,128)} would be ×1.3 instead of ×44.4");
//! # Ok::<(), tilewright::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod ask;
pub mod draw;
mod error;
pub mod eval;
pub mod infer;
pub mod input;
pub mod module;
pub mod picture;

pub use tilewright_core as core;
pub use tilewright_files as files;
pub use tilewright_fixed as fixed;
pub use tilewright_notation as notation;
pub use tilewright_relayout as relayout;
pub use tilewright_xla as xla;

pub use ask::{Comparison, Explanation, compare};
pub use error::Error;
pub use tilewright_core::{
    BasisLayout, Block, Blocks, ByteOrder, Coord, Difference, Digit, Dtype, DtypeKind,
    ElementBlock, Fill, Fractal, IntTuple, Layout, LayoutTile, LayoutTv, LeftInverse, LinearDim,
    LinearLayout, Loop, Mode, ParseError, Pattern, Place, Profile, Refinement, Remedy, Run, Slicer,
    Step, Swizzle, TensorLayout, Tiler, View, ViewMut, expect_const, layout,
};
pub use tilewright_notation::{Named, Spec, recognise};
pub use tilewright_xla::{ArrayShape, HloModule, PrimitiveType, Shape};

/// The README's examples, run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

/// The examples of the tutorial for those who write kernels, run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/kernel-writers.md")]
pub struct KernelWriters;

/// The examples of the tutorial for those who write compilers, run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/compiler-writers.md")]
pub struct CompilerWriters;

/// The examples of the chapter on the algebra, run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/algebra.md")]
pub struct Algebra;
