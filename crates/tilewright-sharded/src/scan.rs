//! The cursor over the text of a sharding, whose errors are those of this crate.

pub(crate) use tilewright_scan::{comma, did_you_mean, or_one_of};

use crate::{Error, limits::MAX_TEXT};

/// A reading position in the text of a sharding.
pub(crate) type Scanner<'a> = tilewright_scan::Scanner<'a, Error>;

/// The most values of one list in a text.
pub(crate) const MOST: usize = MAX_TEXT;
