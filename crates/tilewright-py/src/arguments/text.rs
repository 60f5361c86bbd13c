//! Converts Python's texts, which may contain halves of surrogate pairs, to the library's UTF-8 texts. Functions that
//! take names, paths or layouts use it.
//!
//! Law: a value that is not a text is a `TypeError`, and a text that UTF-8 cannot encode is the package's
//! `ArgumentError`; both have the argument's name.
//!
//! Numbers and texts in Python's spelling, for messages and for the texts of values. Most modules use them.

use std::fmt::Display;

use pyo3::{Borrowed, exceptions::PyTypeError, prelude::*, types::PyString};

use crate::errors::refused;

/// A text argument. Its error is created when the name of the argument is known.
pub(crate) struct TextArgument(Result<String, Not>);

/// The reason why a value is not a text that the library accepts.
enum Not {
    /// A value of the type of this name.
    Text(String),
    /// Half of a surrogate pair is at this character.
    Surrogate(usize),
}

impl TextArgument {
    /// Returns the text, or an error that names the argument.
    pub(crate) fn of(self, argument: &str) -> PyResult<String> {
        self.0.map_err(|not| match not {
            Not::Text(found) => {
                PyTypeError::new_err(format!("{argument}= takes a text, not {found}"))
            }
            Not::Surrogate(at) => {
                let says = format!(
                    "{argument}= takes a text that UTF-8 can hold; character {at} is half of a surrogate pair"
                );
                refused("arguments", says)
            }
        })
    }

    /// Returns the text of an optional argument.
    pub(crate) fn given(argument: &str, text: Option<TextArgument>) -> PyResult<Option<String>> {
        text.map(|text| text.of(argument)).transpose()
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for TextArgument {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<TextArgument> {
        let Ok(text) = value.cast::<PyString>() else {
            return Ok(TextArgument(Err(Not::Text(value.get_type().name()?.to_string()))));
        };
        Ok(TextArgument(match text.to_cow() {
            Ok(text) => Ok(text.into_owned()),
            // Python's error has the position.
            Err(error) => Err(Not::Surrogate(error.value(value.py()).getattr("start")?.extract()?)),
        }))
    }
}

/// Returns the text of an argument.
pub(crate) fn text(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.extract::<TextArgument>()?.of(argument)
}

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
