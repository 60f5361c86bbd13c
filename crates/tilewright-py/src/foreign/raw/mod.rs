//! The structs in which other libraries describe an array, read without an interpreter.
//!
//! | file | content |
//! |---|---|
//! | `dlpack.rs` | the tensors of DLPack's capsules |
//! | `numpy.rs` | the struct behind NumPy's `__array_struct__` |
//! | `facts.rs` | shape, strides and element type, and their reach |
//! | `bytes.rs` | the bytes that contain the elements |
//!
//! Law: whatever the numbers in a struct are, only the struct and its lists are read, and the bytes are the smallest range that
//! contains every element. This folder does not need Python, so `tests/all/foreign.rs` compiles it into a separate program, which
//! Miri interprets.

mod bytes;
pub(crate) mod dlpack;
mod facts;
pub(crate) mod numpy;

pub(crate) use bytes::ByteRange;
pub(crate) use facts::Facts;

/// The reason why an array's memory is refused: the word of its exception, and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) kind: &'static str,
    pub(crate) says: String,
}

impl Refusal {
    pub(crate) fn new(kind: &'static str, says: impl Into<String>) -> Refusal {
        Refusal { kind, says: says.into() }
    }
}

pub(crate) const BEYOND: &str = "the array reaches beyond this machine's addresses";

/// An array as a struct describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawArray {
    /// The address of the element at coordinates 0.
    pub(crate) data: *const u8,
    pub(crate) facts: Facts,
    pub(crate) writable: bool,
}
