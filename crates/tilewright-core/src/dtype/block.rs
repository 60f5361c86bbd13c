//! [`ElementBlock`]: the storage unit of block types, whose elements share bytes, as in GGUF's quantised types.

/// A group of bytes and the number of elements that it holds.
///
/// ```
/// use tilewright_core::{Dtype, ElementBlock};
/// assert_eq!(Dtype::Q8_0.block(), Some(ElementBlock { bytes: 34, elements: 32 }));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementBlock {
    /// The number of bytes of one block.
    pub bytes: u32,
    /// The number of elements of one block.
    pub elements: u32,
}
