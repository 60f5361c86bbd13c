//! Conversion between indices and offsets: XLA's `IndexUtil`, and the index functions of its `LayoutUtil`.
//!
//! Source: `xla/index_util.h`, `xla/layout_util.h`.
//!
//! The functions of this module use only an order of the dims, like XLA's. [`Indexer`] uses the whole layout: tiles, `*`
//! and alignment.

mod bounds;
mod bump;
mod indexer;
mod linear;

pub use bounds::{compare_indices, index_in_bounds};
pub use bump::bump_indices;
pub use indexer::Indexer;
pub(crate) use linear::count;
pub use linear::{linear_index, multi_index};
