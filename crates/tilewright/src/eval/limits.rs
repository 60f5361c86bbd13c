//! The bounds of an expression: its text, its nesting, and the lists it answers.

/// The longest expression that is read, in bytes.
pub const MAX_TEXT: usize = 16 * 1024;

/// How deep calls, tuples and tilers may stand in one another.
pub const MAX_NESTING: usize = 48;

/// How many calls, tuples and operands one expression may have.
pub const MAX_NODES: usize = 4096;

/// The longest list that is answered: `offsets`, `swizzle`.
pub const MAX_LIST: u64 = 65_536;
