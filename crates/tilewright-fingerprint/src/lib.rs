//! Fingerprints of array data that no layout changes.
//!
//! | task | call |
//! |---|---|
//! | the fingerprint of bytes in memory | [`Array::fingerprint`] |
//! | the fingerprint of a part of a whole, to be added to others | [`Array::at`], `+` |
//! | the fingerprint of a box of coordinates, to find differences | [`Array::part`] |
//! | the fingerprint of data that is not in memory | [`Array::windows`] |
//! | one number for many tensors | [`all`] |
//!
//! A fingerprint finds accidents: two different arrays with equal dims agree with a probability of at most 2⁻⁵⁶ over
//! the [`Key`], for ranks up to 8. It does not protect against somebody who knows the key.
//!
//! ```
//! use tilewright_core::{Dtype, TensorLayout};
//! use tilewright_fingerprint::{Array, Key};
//! let (rows, columns) = (TensorLayout::row_major(&[2, 3]).unwrap(), TensorLayout::col_major(&[2, 3]).unwrap());
//! let of = |layout, bytes: &[u8]| Array::new(layout, Dtype::U8)?.fingerprint(bytes, &Key::default());
//! assert_eq!(of(&rows, &[1, 2, 3, 4, 5, 6])?, of(&columns, &[1, 4, 2, 5, 3, 6])?);
//! # Ok::<(), tilewright_fingerprint::Error>(())
//! ```
#![forbid(unsafe_code)]

mod array;
mod key;
mod plan;
mod sum;
mod value;

pub use array::{Array, Window, Windows};
pub use key::Key;
pub use tilewright_error::Error;
pub use value::{Entry, Fingerprint, all};
