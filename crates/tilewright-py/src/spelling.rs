//! Numbers and texts in Python's spelling, for messages and for the texts of values. Most modules use them.

use std::fmt::Display;

/// Returns a tuple: `(2, 3)`, `(4,)`, `()`.
pub(crate) fn tuple<T: Display>(parts: &[T]) -> String {
    match parts {
        [one] => format!("({one},)"),
        parts => {
            let all: Vec<String> = parts.iter().map(ToString::to_string).collect();
            format!("({})", all.join(", "))
        }
    }
}

/// Returns a text between quotes.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains('\'') {
        format!("\"{}\"", text.replace('"', "\\\""))
    } else {
        format!("'{text}'")
    }
}

/// Returns a text escaped for HTML.
pub(crate) fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
