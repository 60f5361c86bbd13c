//! `.npy`: a magic, a version, a header that is a Python dictionary, the elements.
//!
//! Format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>, versions 1 to 3.
//! The header is read by a small parser of our own, so that no file makes it recurse, overflow or
//! allocate beyond a bound.

mod descr;
mod header;
mod literal;

pub(crate) use descr::{Descr, default_descr};
pub(crate) use header::{Header, MAGIC, header_bytes};
