//! Texts of Python's, which may hold halves of surrogate pairs, as those of the library, which are UTF-8.
//!
//! Law: what is no text is a `TypeError`, and a text that UTF-8 has no bytes for the package's `ArgumentError`; both
//! have the argument's name.

use pyo3::{Borrowed, exceptions::PyTypeError, prelude::*, types::PyString};

use crate::errors::refused;

/// A text that was given. What is wrong with it is said where the name of the argument is known.
pub(crate) struct Text(Result<String, Not>);

/// Why a value is no text that the library takes.
enum Not {
    /// Of this type.
    Text(String),
    /// Half of a surrogate pair stands at this character.
    Surrogate(usize),
}

impl Text {
    /// The text, or an error that names the argument.
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

    /// What was given of a text.
    pub(crate) fn given(argument: &str, text: Option<Text>) -> PyResult<Option<String>> {
        text.map(|text| text.of(argument)).transpose()
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Text {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Text> {
        let Ok(text) = value.cast::<PyString>() else {
            return Ok(Text(Err(Not::Text(value.get_type().name()?.to_string()))));
        };
        Ok(Text(match text.to_cow() {
            Ok(text) => Ok(text.into_owned()),
            // Python's error says where.
            Err(error) => Err(Not::Surrogate(error.value(value.py()).getattr("start")?.extract()?)),
        }))
    }
}

/// The text that an argument is.
pub(crate) fn text(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.extract::<Text>()?.of(argument)
}
