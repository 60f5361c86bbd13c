//! Errors of texts that need more than they have, and of refusals by core.

use tilewright_core::{self as core, ParseError, Remedy};
use tilewright_error::Error;

/// Returns the error of a SPEC that is general and was resolved without dims.
pub(crate) fn needs_dims(message: impl Into<String>) -> Error {
    Error::new("needs-dims", message).with(&[Remedy::Dims])
}

/// Returns the error of a SPEC that depends on the element type and was resolved without one.
pub(crate) fn needs_dtype(message: impl Into<String>) -> Error {
    Error::new("needs-dtype", message).with(&[Remedy::Dtype])
}

/// Returns the error of a text that a parser of core refuses. Its kind is `parse` even if the text is well formed.
pub(crate) fn parsed(error: ParseError) -> Error {
    Error::from(error).of_kind("parse")
}

/// Returns the error of a linear map without an inverse or without strides. For a notation, the map is not legal.
pub(crate) fn of_map(refusal: core::Error) -> Error {
    let is_legal = !refusal.is_no_layout();
    let error = Error::from(refusal);
    if is_legal { error } else { error.of_kind("illegal") }
}
