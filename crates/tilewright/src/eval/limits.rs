//! Bounds of an expression: its text, its nesting, and the lists in its value.

/// The largest length of an expression in bytes.
pub const MAX_TEXT: usize = 16 * 1024;

/// The largest nesting depth of calls, tuples and tilers.
pub const MAX_NESTING: usize = 48;

/// The largest number of calls, tuples and operands in one expression.
pub const MAX_NODES: usize = 4096;

/// The largest length of a list in a value: `offsets`, `swizzle`.
pub const MAX_LIST: u64 = 65_536;
