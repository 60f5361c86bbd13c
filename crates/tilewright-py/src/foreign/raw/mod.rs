//! What other libraries say of an array, read from their structs without an interpreter.
//!
//! | file | what it reads |
//! |---|---|
//! | `dlpack.rs` | the tensors of DLPack's capsules |
//! | `numpy.rs` | the struct behind NumPy's `__array_struct__` |
//! | `facts.rs` | shape, strides and element type, and how far they reach |
//! | `bytes.rs` | the bytes that the elements lie in |
//!
//! Law: whatever the numbers in a struct are, what is read lies in the struct and in its lists, and the bytes are the
//! smallest range that holds every element. Nothing here needs Python, so `tests/all/foreign.rs` compiles this folder into a
//! program of its own, which Miri interprets.

mod bytes;
pub(crate) mod dlpack;
mod facts;
pub(crate) mod numpy;

pub(crate) use bytes::Bytes;
pub(crate) use facts::Facts;

/// Why an array's memory is not taken: the word of its exception, and a sentence.
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
pub(crate) struct Array {
    /// The address of the element of coordinates 0.
    pub(crate) data: *const u8,
    pub(crate) facts: Facts,
    pub(crate) writable: bool,
}
