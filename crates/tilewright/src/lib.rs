//! Tensor layouts as values: parse one from the notation you already use, ask it anything, prove two of
//! them equal, print it in another notation, and move real data from one to another.
//!
#![cfg_attr(not(feature = "relayout"), doc = "```ignore")]
#![cfg_attr(feature = "relayout", doc = "```")]
//! use tilewright::{Elements, Plan, TensorLayout, parse};
//!
//! // A layout is written in any notation: here Ascend's zN, in blocks of 2×2, of a matrix of 3×5.
//! let zn = parse("zN[M0=2,C0=2]")?.resolve(Some(&[3, 5]), None)?;
//!
//! // It says where each element is, and what is at each place.
//! assert_eq!(zn.layout().offset(&[1, 2])?, 10);
//! assert_eq!(zn.layout().capacity(), 24);
//!
//! // It is one value, whatever notation it came from; another notation says the same.
//! assert_eq!(zn.layout().layout().to_string(), "((2,2),(2,3)):((2,4),(1,8))");
//! let tags = parse("BA2a2b")?.resolve(Some(&[3, 5]), None)?;
//! assert!(zn.layout().same_function(tags.layout())?);
//!
//! // Data moves from any layout to any other: 15 elements of 2 bytes, padding zero.
//! let rows = TensorLayout::row_major(&[3, 5])?;
//! let plan = Plan::new(&rows, zn.layout(), Elements::same(16), 0)?;
//! let source: Vec<u8> = (0..15u16).flat_map(u16::to_le_bytes).collect();
//! let mut packed = vec![0xFF; 48];
//! plan.run(&source, &mut packed, 1)?;
//! let words: Vec<u16> = packed.chunks(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
//! assert_eq!(words[..8], [0, 1, 5, 6, 10, 11, 0, 0]);
//! # Ok::<(), tilewright::Error>(())
//! ```
//!
//! [`open`] and [`convert`] do this to files. The modules hold the rest:
//!
//! | module | what is in it | feature |
//! |---|---|---|
//! | [`layouts`] | the values and their algebra; no heap | |
//! | [`prelude`] | the names that most programs import | |
//! | [`notation`] | the notations, the catalogue of named formats | |
//! | [`fixed`] | layouts in types | |
//! | [`sharded`] | arrays in shards over a mesh of devices, and what each device holds | `sharded` |
//! | [`ask`] | questions of every kind, each with the type of its answer, its text and its JSON | `questions` |
//! | [`eval`] | expressions of the algebra | `questions` |
//! | [`banks`] | bank conflicts of shared memory, and the least change that removes them | `banks` |
//! | [`emit`] | the offset function of a layout, and its inverse, as code in six languages | `questions` |
//! | [`infer`], [`input`] | the layout between two buffers; readers of what a person types | `questions` |
//! | [`relayout`] | moves of data: plans, programs, buffers | `relayout` |
//! | [`device`], [`cuda`] | moves of data as kernels for devices; CUDA's driver and compiler at run time | `device` |
//! | [`files`] | safetensors, GGUF, npy, npz, pt and raw, with bounded memory | `files` |
//! | [`reshard`] | rewriting checkpoints from shards to other shards | `files` |
//! | [`learn`] | loaders learned from coded checkpoints: where each element of their results comes from | `learn` |
//! | [`recipe`] | the tensors of one checkpoint as the tensors of another; rewriting files by recipes | `files` |
//! | [`fingerprint`] | fingerprints of data that no layout changes | `files` |
//! | [`draw`] | pictures: SVG, HTML, TikZ, terminals | `questions` |
//! | [`xla`] | XLA's shapes and sizes; with `xla`, HLO modules and protos | always |
//! | [`module`] | HLO modules in files | `xla` |
//! | [`text`] | values as their texts in the formats of serde | `serde` |
//!
//! A further notation is two functions; [`notation::dialect`] describes how to add one.
//!
//! # Features
//!
//! All features are on by default. Without them a layout is still read, compared and printed in every notation, and eight
//! crates are built. The feature `formats` reads named formats of your own from TOML; `tables` is for storage orders that
//! are lists of numbers.
//!
//! # Integers
//!
//! Extents, sizes, coordinates and indices are `u64`. Offsets and strides, which may be negative, are `i64`. Ranks and the
//! numbers of dims, which index slices, are `usize`. Three places differ. XLA's model keeps the widths of its protos, so dims in
//! lists and linear indices are `u64`, and a number of a dim that may count from the end is `i64`. Layouts in types count in
//! `i64` throughout. `view[[i, j]]` takes `usize`, as slices do.
//!
//! `DESIGN.md` and `docs/explanation/comparison.md` of the project are its design and its comparison with other libraries.
//!
// A module whose feature is off is absent from the documentation; its links lead back here.
#![cfg_attr(not(feature = "sharded"), doc = "[`sharded`]: #features")]
#![cfg_attr(not(feature = "questions"), doc = "[`ask`]: #features")]
#![cfg_attr(not(feature = "questions"), doc = "[`eval`]: #features")]
#![cfg_attr(not(feature = "banks"), doc = "[`banks`]: #features")]
#![cfg_attr(not(feature = "questions"), doc = "[`emit`]: #features")]
#![cfg_attr(not(feature = "questions"), doc = "[`infer`]: #features")]
#![cfg_attr(not(feature = "questions"), doc = "[`input`]: #features")]
#![cfg_attr(not(feature = "relayout"), doc = "[`relayout`]: #features")]
#![cfg_attr(not(feature = "device"), doc = "[`device`]: #features")]
#![cfg_attr(not(feature = "device"), doc = "[`cuda`]: #features")]
#![cfg_attr(not(feature = "files"), doc = "[`files`]: #features")]
#![cfg_attr(not(feature = "files"), doc = "[`reshard`]: #features")]
#![cfg_attr(not(feature = "files"), doc = "[`recipe`]: #features")]
#![cfg_attr(not(feature = "files"), doc = "[`fingerprint`]: #features")]
#![cfg_attr(not(feature = "learn"), doc = "[`learn`]: #features")]
#![cfg_attr(not(feature = "questions"), doc = "[`draw`]: #features")]
#![cfg_attr(not(feature = "xla"), doc = "[`module`]: #features")]
#![cfg_attr(not(feature = "serde"), doc = "[`text`]: #features")]
#![cfg_attr(not(feature = "files"), doc = "[`open`]: #features\n[`convert`]: #features")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(feature = "questions")]
pub mod ask;
#[cfg(feature = "banks")]
pub mod banks;
mod comparison;
#[cfg(feature = "questions")]
pub mod draw;
#[cfg(feature = "questions")]
pub mod emit;
#[cfg(feature = "questions")]
pub mod eval;
#[cfg(feature = "questions")]
pub mod infer;
#[cfg(feature = "questions")]
pub mod input;
#[cfg(feature = "learn")]
pub mod learn;
#[cfg(feature = "xla")]
pub mod module;
#[cfg(feature = "files")]
pub mod recipe;
#[cfg(feature = "serde")]
pub mod text;

pub use tilewright_core as layouts;
#[cfg(feature = "device")]
pub use tilewright_cuda as cuda;
#[cfg(feature = "device")]
pub use tilewright_device as device;
#[cfg(feature = "files")]
pub use tilewright_files as files;
#[cfg(feature = "files")]
pub use tilewright_fingerprint as fingerprint;
pub use tilewright_fixed as fixed;
pub use tilewright_notation as notation;
#[cfg(feature = "relayout")]
pub use tilewright_relayout as relayout;
#[cfg(feature = "files")]
pub use tilewright_reshard as reshard;
#[cfg(feature = "sharded")]
pub use tilewright_sharded as sharded;
pub use tilewright_xla as xla;

#[cfg(feature = "questions")]
pub use ask::Explanation;
pub use comparison::{Comparison, compare};
#[cfg(feature = "questions")]
pub use input::InShards;
pub use tilewright_core::{Dtype, Fill, Layout, Remedy, TensorLayout, expect_const, layout};
pub use tilewright_error::Error;
pub use tilewright_notation::{ArrayLayout, Lists, ResolvedLayout, Spec, TabledLayout, recognise};
#[cfg(feature = "relayout")]
pub use tilewright_relayout::{Elements, Plan};

/// The names that most programs import: `use tilewright::prelude::*;`.
///
/// XLA's layout has the name `XlaLayout` here, because a [`Layout`] is a shape with strides.
///
/// ```
/// use tilewright::prelude::*;
///
/// let zn = parse("zN[M0=2,C0=2]")?.resolve(Some(&[3, 5]), None)?;
/// let rows = TensorLayout::from(&Layout::parse("(3,5):(5,1)").unwrap());
/// assert!(!zn.layout().same_function(&rows)?);
/// # Ok::<(), Error>(())
/// ```
pub mod prelude {
    pub use tilewright_core::{
        Coord, Dtype, Fill, IntTuple, Layout, Mode, Place, Swizzle, TensorLayout, View, ViewMut,
        expect_const, layout,
    };
    #[cfg(feature = "relayout")]
    pub use tilewright_relayout::{Elements, Plan};
    pub use tilewright_xla::{
        ArrayShape, Layout as XlaLayout, PaddedShape, PaddingValue, PrimitiveType, Shape, Tile,
        index_util::Indexer,
    };

    pub use super::{Error, parse};
}

/// Reads a layout in any notation. [`Spec::resolve`] then gives the layout of an array.
///
/// # Errors
/// [parse](Error::is_parse), with the bytes at fault and what would be legal there; if several notations read the text, with
/// each reading.
///
/// ```
/// use tilewright::parse;
/// let spec = parse("f32[3,5]{1,0:T(2,2)}")?;
/// assert_eq!(spec.resolve(None, None)?.layout().offset(&[2, 3])?, 17);
/// let error = parse("row-mayor").unwrap_err();
/// assert!(error.is_parse() && error.to_string().contains("did you mean `row-major`?"));
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn parse(text: &str) -> Result<Spec, Error> {
    Spec::parse(text)
}

/// Opens a file of tensors; its name and first bytes tell the format. [`files::open`] also takes what a file without a header
/// does not contain.
///
/// # Errors
/// [i/o](Error::is_io) if the file cannot be read, [corrupt](Error::is_corrupt) if it is not a file of tensors.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
/// let input = tilewright::open(path)?;
/// assert!(input.tensors().iter().any(|tensor| tensor.name().contains("k_proj")));
/// assert!(tilewright::open("no/such/file.npy").unwrap_err().is_io());
/// # Ok::<(), tilewright::Error>(())
/// ```
#[cfg(feature = "files")]
pub fn open(path: impl AsRef<std::path::Path>) -> Result<files::Input, Error> {
    files::open(path, &files::Reading::default())
}

/// Converts a file of tensors to another file. The result is complete or absent. It replaces an existing file only if the
/// request [forces](files::Request::force) it.
///
/// # Errors
/// As [`files::Conversion::prepare`] and [`files::Conversion::run`].
///
/// ```
/// use tilewright::{convert, files::Request, parse};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
/// # let folder = tempfile::tempdir()?;
/// # let out = folder.path().join("zn.safetensors");
/// let request = Request::new().rule("*_proj.weight", parse("zN")?).verify(true);
/// let report = convert(path, &out, request.clone())?;
/// assert_eq!(report.bytes_written(), std::fs::metadata(&out)?.len());
/// assert!(convert(path, &out, request).unwrap_err().is_exists());
/// # Ok::<(), tilewright::Error>(())
/// ```
#[cfg(feature = "files")]
pub fn convert(
    from: impl AsRef<std::path::Path>,
    to: impl AsRef<std::path::Path>,
    request: files::Request,
) -> Result<files::Report, Error> {
    let input = files::open(from, request.reading())?;
    files::Conversion::prepare(&input, to, request)?.run(&())
}

/// The README's examples, run as doctests.
#[cfg(all(doctest, feature = "files", feature = "draw", feature = "xla"))]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

/// The example of the README of the packages, run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct PackagesReadme;

/// The examples of the tutorial for those who write kernels, run as doctests.
#[cfg(all(doctest, feature = "files", feature = "draw", feature = "xla"))]
#[doc = include_str!("../../../docs/tutorials/kernels.md")]
pub struct KernelWriters;

/// The examples of the tutorial for those who write compilers, run as doctests.
#[cfg(all(doctest, feature = "files", feature = "draw", feature = "xla"))]
#[doc = include_str!("../../../docs/tutorials/compilers.md")]
pub struct CompilerWriters;

/// The examples of the page on recipes for checkpoints, run as doctests.
#[cfg(all(doctest, feature = "files"))]
#[doc = include_str!("../../../docs/reference/recipes.md")]
pub struct CheckpointRecipes;

/// The examples of the page on running recipes, run as doctests.
#[cfg(all(doctest, feature = "files"))]
#[doc = include_str!("../../../docs/reference/running-recipes.md")]
pub struct RunningRecipes;

/// The examples of the page on bank conflicts, run as doctests.
#[cfg(all(doctest, feature = "banks"))]
#[doc = include_str!("../../../docs/how-to/bank-conflicts.md")]
pub struct BankConflicts;

/// The examples of the page on the Rust crates, run as doctests.
#[cfg(all(doctest, feature = "files"))]
#[doc = include_str!("../../../docs/reference/rust.md")]
pub struct RustCrates;

/// The examples of the chapter on the algebra, run as doctests.
#[cfg(all(doctest, feature = "files", feature = "draw", feature = "xla"))]
#[doc = include_str!("../../../docs/tutorials/algebra.md")]
pub struct Algebra;
