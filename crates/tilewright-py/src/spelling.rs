//! Numbers and texts as Python writes them, for messages and for the texts that values show themselves by.

use std::fmt::Display;

/// A tuple: `(2, 3)`, `(4,)`, `()`.
pub(crate) fn tuple<T: Display>(parts: &[T]) -> String {
    match parts {
        [one] => format!("({one},)"),
        parts => {
            let all: Vec<String> = parts.iter().map(ToString::to_string).collect();
            format!("({})", all.join(", "))
        }
    }
}

/// A text between quotes.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains('\'') {
        format!("\"{}\"", text.replace('"', "\\\""))
    } else {
        format!("'{text}'")
    }
}

/// A text as a part of a page.
pub(crate) fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
