//! Errors of expressions, with the bytes at fault.

use std::borrow::Cow;

use tilewright_core as core;

use crate::Error;

/// Returns the error of a parser of core, which refused the text that begins at byte `at`.
pub(super) fn core_parse(at: usize, error: &core::ParseError) -> Error {
    let (from, to) = error.span();
    let kind = error.cause().map_or("parse", core::Error::kind);
    Error::new(kind, error.to_string()).at((at + from, at + to))
}

/// Returns the error of core about the value at `span`, which `subject` describes.
pub(super) fn core(span: (usize, usize), subject: &str, error: &core::Error) -> Error {
    let between = if subject.is_empty() { "" } else { ": " };
    Error::new(error.kind(), format!("{subject}{between}{error}")).at(span)
}

/// Returns the error of core about a whole expression.
#[cfg(feature = "draw")]
pub(crate) fn whole(text: &str, error: &core::Error) -> Error {
    core((0, text.len()), "", error).in_text(text)
}

/// Returns the error of a SPEC at `span`, whose own text begins at `at`.
pub(super) fn spec(span: (usize, usize), at: usize, error: &Error) -> Error {
    let inner = error.span().map(|(from, to)| (at + from, at + to));
    let hint = if error.needs_dims() || error.needs_dtype() {
        "; write the array before it, such as \"f16[100,100] zN\""
    } else {
        ""
    };
    Error::new(error.kind(), format!("{}{hint}", error.message())).at(inner.unwrap_or(span))
}

/// Shortens a name for a message, since it may be as long as the text.
pub(super) fn shortened(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &name[..end]).into(),
        None => name.into(),
    }
}
