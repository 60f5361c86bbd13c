//! The bounds of every value of this crate, and the cursor over the text of a sharding, whose errors are those of this
//! crate.

use crate::Error;

pub(crate) use tilewright_scan::{comma, did_you_mean, or_one_of};

/// The most axes of a mesh, and the most dims of an array.
pub const MAX_AXES: usize = 32;

/// The most positions of a mesh.
pub const MAX_DEVICES: u64 = 1 << 16;

/// The most intervals of all positions of a sharded array together. The rules of cutting give an upper bound before any
/// list is made.
pub const MAX_INTERVALS: u64 = 1 << 22;

/// The longest text that is read, in bytes.
pub const MAX_TEXT: usize = 64 * 1024;

/// A reading position in the text of a sharding.
pub(crate) type Scanner<'a> = tilewright_scan::Scanner<'a, Error>;

/// The most values of one list in a text.
pub(crate) const MOST: usize = MAX_TEXT;
