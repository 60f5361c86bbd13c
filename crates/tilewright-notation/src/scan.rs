//! Cursor over the text of a SPEC, and the errors that every reader of a text raises: a text that needs dims or an
//! element type, and a refusal by core.
//!
//! All dialects use it. An error of the cursor is one of this crate.

use tilewright_core::{self as core, ParseError, Remedy};

use crate::Error;

pub(crate) use tilewright_scan::{alternatives, comma, did_you_mean, distance, nearest, tuple};

/// The characters of a text outside brackets and quotes: where each is, with the one before it in the text.
pub(crate) fn outside(text: &str) -> impl Iterator<Item = (usize, Option<char>, char)> {
    let (mut depth, mut quote, mut before) = (0usize, None, None);
    text.char_indices().filter_map(move |(at, c)| {
        let last = before.replace(c);
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 => return Some((at, last, c)),
            (None, _) => {}
        }
        None
    })
}

/// A reading position in the text of a SPEC.
pub(crate) type Scanner<'a> = tilewright_scan::Scanner<'a, Error>;

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

#[cfg(test)]
mod tests {
    use super::outside;

    #[test]
    fn brackets_and_quotes_are_left_out_with_what_they_hold() {
        let left = |text| outside(text).collect::<Vec<_>>();
        assert_eq!(left("a(b[c]d)e"), [(0, None, 'a'), (8, Some(')'), 'e')]);
        assert_eq!(
            left("x'(y'z\"'\"w"),
            [(0, None, 'x'), (5, Some('\''), 'z'), (9, Some('"'), 'w')]
        );
        // Brackets that close nothing open nothing.
        assert_eq!(left(")t"), [(1, Some(')'), 't')]);
        assert!(left("{(t").is_empty() && left("'t").is_empty() && left("").is_empty());
    }
}
