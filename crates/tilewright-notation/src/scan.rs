//! The cursor over the text of a SPEC, whose errors are those of this crate.

pub(crate) use tilewright_scan::{comma, did_you_mean, distance, nearest, tuple};

use crate::error::Error;

/// A reading position in the text of a SPEC.
pub(crate) type Scanner<'a> = tilewright_scan::Scanner<'a, Error>;
