//! Index tables: layouts whose storage order along a dim is an arbitrary list of numbers.
//!
//! | value | meaning |
//! |---|---|
//! | [`Table`] | a list: stored index i holds index `list[i]` of the array, or is a hole |
//! | [`Along`] | a table and its dims: one dim, its [blocks](Block), or the product of several dims' blocks |
//! | [`TabledLayout`] | an array, its tables, and the [`TensorLayout`](tilewright_core::TensorLayout) of the stored array |
//!
//! Law: a table is a bijection between the array's indices and the stored ones that are not holes. So each element has
//! one position, and each position at most one element; a list that repeats an index, or leaves one out, is not a
//! table.
//!
//! ```
//! use std::sync::Arc;
//! use tilewright_core::TensorLayout;
//! use tilewright_table::{Along, Table, TabledLayout};
//! // Four rows, stored in the order 2, 0, 1, 3.
//! let table = Table::new(4, [2, 0, 1, 3].map(Some)).unwrap();
//! let stored = TensorLayout::row_major(&[4, 8]).unwrap();
//! let rows = TabledLayout::new(&[4, 8], vec![Along::new(&[(0, 1)], &[4, 8], Arc::new(table)).unwrap()], &stored).unwrap();
//! assert_eq!(rows.offset(&[2, 5]), Ok(5));
//! assert_eq!(rows.offset(&[1, 0]), Ok(16));
//! // It cannot be expressed by shape and strides.
//! assert!(rows.fold().is_none());
//!
//! let error = Table::new(4, [2, 0, 2, 1].map(Some)).unwrap_err();
//! assert!(error.to_string().starts_with("index 2 of the array is stored at 0 and at 2"));
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod layout;
mod table;

pub use layout::{TabledLayout, owners, unite};
pub use table::{Along, Block, MAX_ENTRIES, StorageAxis, Table};

/// True if index tables are built in, by the feature `tables`. Without it, texts with tables are refused, and code that
/// would look for tables is left out.
pub const TABLES: bool = cfg!(feature = "tables");
