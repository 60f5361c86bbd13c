//! A number as a linear function of the input.

/// The first value and the growth per step of the input.
pub(crate) type Line = (u64, u64);
