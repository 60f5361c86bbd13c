//! From indices to places and back: XLA's `IndexUtil`, and its `LayoutUtil`'s index functions.
//!
//! Source: `xla/index_util.h`, `xla/layout_util.h`.
//!
//! The functions of this module know an order of the dims and nothing else, as XLA's do. [`Indexer`]
//! knows the whole layout: tiles, `*`, alignment.

mod bounds;
mod bump;
mod indexer;
mod linear;

pub use bounds::{compare_indices, index_in_bounds};
pub use bump::bump_indices;
pub use indexer::Indexer;
pub(crate) use linear::count;
pub use linear::{linear_index, multi_index};
