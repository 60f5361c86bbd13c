//! The bounds that let every value live without a heap.

/// The most leaves a [`Layout`](crate::Layout) has.
pub const MAX_MODES: usize = 32;

/// The deepest nesting of brackets.
pub const MAX_DEPTH: usize = 32;
