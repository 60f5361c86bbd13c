//! Every notation for tensor layouts, read into one value and printed from it.
//!
//! | value | what it is |
//! |---|---|
//! | [`Spec`] | a layout as written, in any notation |
//! | [`ResolvedLayout`] | the layout of an array, its name, and what is known of its elements |
//! | [`Words`] | how its storage is spelled as elements of another type |
//! | [`ArrayLayout`] | the layout of an array with index tables, which digits cannot express |
//! | [`notations`], [`notation`] | the notations a layout is read from and printed in |
//! | [`catalogue`] | the named formats: zN, NC1HWC0, COL32 … |
//! | [`recognise`] | which of these names a layout has |
//! | [`dtype`] | the spellings of element types |
//! | [`Error`] | why not, where, and what would be legal |
//! | [`add_notation`], [`dialect`], [`add_formats`] | a notation, or formats, of your own |
//!
//! A consumer takes a `ResolvedLayout` and never learns how it was written; a notation is one file and knows no
//! consumer.
//!
// A function that is left out does not have a page.
#![cfg_attr(not(feature = "formats"), doc = "[`add_formats`]: crate")]
//!
//! ```
//! use tilewright_notation::{Spec, dtype};
//! let spec = Spec::parse("(m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0").unwrap();
//! let named = spec.resolve(Some(&[100, 100]), dtype("f16").ok()).unwrap();
//! assert_eq!(named.layout().offset(&[99, 99]), Ok(12339));
//! assert_eq!(
//!     named.to_spec(),
//!     "f16[100,100] (m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0",
//! );
//!
//! let error = Spec::parse("(m1 m0:16) n -> n m1 m2").unwrap_err();
//! assert_eq!(
//!     error.render(),
//!     "no digit is called `m2`; there are m1 m0 n; did you mean `m1`? Also near: `m0`\n  \
//!      (m1 m0:16) n -> n m1 m2\n                       ^^",
//! );
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(feature = "formats")]
mod add_formats;
mod array_layout;
mod catalogue;
pub mod dialect;
mod dtype;
mod literal;
mod notation;
mod parsed_spec;
mod recognise;
mod resolved_layout;
mod spec;
mod spelled;
mod tables;
mod words;

pub use crate::tables::Lists;
#[cfg(feature = "formats")]
pub use add_formats::add_formats;
pub use array_layout::ArrayLayout;
pub use catalogue::{
    Allowed, Constant, Format, Group, Preset, Quantised, TabledFormat, Units, Width, catalogue,
    formats_with_tables, groups,
};
pub use dialect::{add_notation, notation, notations};
pub use dtype::{dtype, dtype_in_order};
pub use notation::Notation;
pub use recognise::{Recognised, recognise};
pub use resolved_layout::ResolvedLayout;
pub use spec::{MAX_TABLED, MAX_TEXT, Spec};
pub use tilewright_error::Error;
pub use tilewright_table::{Along, Block, MAX_ENTRIES, TABLES, Table, TabledLayout};
pub use words::Words;
