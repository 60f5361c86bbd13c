//! [`ElementBlock`]: the unit of storage of block types, whose elements share bytes, as in GGUF's quantised
//! types.

/// Bytes with the elements that they hold.
///
/// ```
/// use tilewright_core::{Dtype, ElementBlock};
/// assert_eq!(Dtype::Q8_0.block(), Some(ElementBlock { bytes: 34, elements: 32 }));
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementBlock {
    /// The bytes of one block.
    pub bytes: u32,
    /// The elements in it.
    pub elements: u32,
}
