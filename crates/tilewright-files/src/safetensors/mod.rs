//! safetensors: an 8-byte little-endian length, a JSON header of that length, the tensors' bytes.
//!
//! Format: <https://github.com/huggingface/safetensors>. The header is read in one pass of our own, which
//! names the tensor at fault and finds what the reference accepts in silence (a name twice); the tests
//! hold it against the `safetensors` crate, which also gives the element types.

mod header;
mod index;
mod scan;
mod write;

pub(crate) use header::{Entry, Header};
pub(crate) use index::Index;
pub(crate) use write::{header_bytes, order_by_alignment};
