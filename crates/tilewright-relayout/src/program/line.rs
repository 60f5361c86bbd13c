//! A number that grows evenly, as a loop goes on.

/// A number and by how much it grows with the input that is walked.
pub(crate) type Line = (u64, u64);
