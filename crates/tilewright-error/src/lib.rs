//! [`Error`], the one error type of all crates above core: a kind, a message, the bytes at fault and remedies.
//!
//! Each crate re-exports it as its own `Error` and adds words for kinds, so `?` passes an error on unchanged. Core has
//! errors without a heap, which can be built in constants; they convert by `From`.
//!
//! Law: the message is complete without the kind, and the kind decides without the message.
//!
//! ```
//! use tilewright_core::TensorLayout;
//! use tilewright_error::{Error, Remedy};
//!
//! fn last(dims: &[u64]) -> Result<i64, Error> {
//!     if dims.is_empty() {
//!         return Err(Error::new("needs-dims", "the layout fits any array").with(&[Remedy::Dims]));
//!     }
//!     let last: Vec<u64> = dims.iter().map(|dim| dim - 1).collect();
//!     Ok(TensorLayout::row_major(dims)?.offset(&last)?)
//! }
//!
//! assert_eq!(last(&[100, 100])?, 9999);
//! let error = last(&[]).unwrap_err();
//! assert!(error.needs_dims());
//! assert_eq!(error.to_string(), "the layout fits any array; give the dims of the array");
//! assert!(last(&[1 << 32, 1 << 32]).unwrap_err().is_overflow());
//! # Ok::<(), Error>(())
//! ```
#![forbid(unsafe_code)]

mod error;
mod kind;

pub use error::Error;
pub use tilewright_core::Remedy;
