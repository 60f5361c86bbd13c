//! safetensors: an 8-byte little-endian length, a JSON header of that length, the tensors' bytes.
//!
//! Format: <https://github.com/huggingface/safetensors>. The header is read and validated by the
//! `safetensors` crate; what it accepts in silence (a name twice) is found by a scan of our own.

mod header;
mod index;
mod scan;
mod write;

pub(crate) use header::{Entry, Header};
pub(crate) use index::Index;
pub(crate) use write::{header_bytes, order_by_alignment};
