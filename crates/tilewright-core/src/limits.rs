//! The limits that allow every value to be stored without a heap.

/// The largest number of leaves of a [`Layout`](crate::Layout).
pub const MAX_MODES: usize = 32;

/// The deepest nesting of brackets.
pub const MAX_DEPTH: usize = 32;
