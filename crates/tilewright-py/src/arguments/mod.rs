//! Arguments of functions: integers and texts of Python as values of the library; layouts are in [`ask`].
//!
//! Python's integers are unbounded, and its texts may contain halves of surrogate pairs.
//!
//! Law: a value of another type is a `TypeError`, as everywhere in Python. An integer out of bounds and a text that UTF-8 cannot
//! encode are the package's `ArgumentError`, with the argument's name, and for an integer the number and the bounds.
//!
//! Numbers and texts in Python's spelling, for messages and for the texts of values, are here too.

pub(crate) mod ask;

use std::fmt::Display;

use pyo3::{
    Borrowed,
    exceptions::{PyOverflowError, PyTypeError},
    prelude::*,
    types::{PyBool, PyString},
};

use crate::errors::refused;

/// The integer types of arguments.
pub(crate) trait Bounded: Sized + Display {
    const LEAST: Self;
    const MOST: Self;
}

macro_rules! bounded {
    ($($integer:ty)*) => {$(
        impl Bounded for $integer {
            const LEAST: Self = <$integer>::MIN;
            const MOST: Self = <$integer>::MAX;
        }
    )*};
}

bounded!(u8 u32 u64 usize i8 i64);

/// An integer argument. Its error is created when the name of the argument is known.
pub(crate) struct Integer<T>(Result<T, NotInteger>);

/// The reason why a value is not an integer that the library accepts.
enum NotInteger {
    /// Out of bounds; the text is the integer.
    Beyond(String),
    /// A value of the type of this name.
    Integer(String),
    /// An exception of the Python code that the conversion called.
    Other(PyErr),
}

impl NotInteger {
    fn of(value: Borrowed<'_, '_, PyAny>, error: PyErr) -> NotInteger {
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            // Python refuses to print integers of thousands of digits.
            let found = value.str().map_or_else(|_| "another".into(), |text| text.to_string());
            return NotInteger::Beyond(found);
        }
        match value.get_type().name() {
            Ok(name) if error.is_instance_of::<PyTypeError>(value.py()) => {
                NotInteger::Integer(name.to_string())
            }
            _ => NotInteger::Other(error),
        }
    }
}

impl<T: Bounded> Integer<T> {
    /// Returns the integer, or an error that names the argument.
    pub(crate) fn of(self, argument: &str) -> PyResult<T> {
        let (least, most) = (T::LEAST, T::MOST);
        self.0.map_err(|not| match not {
            NotInteger::Beyond(found) => {
                let says =
                    format!("{argument}= takes an integer from {least} to {most}, not {found}");
                refused("arguments", says)
            }
            NotInteger::Integer(found) => {
                PyTypeError::new_err(format!("{argument}= takes an integer, not {found}"))
            }
            NotInteger::Other(error) => error,
        })
    }
}

impl<'a, 'py, T> FromPyObject<'a, 'py> for Integer<T>
where
    T: FromPyObject<'a, 'py, Error = PyErr>,
{
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Integer<T>> {
        // In Python, truth values are integers; as an argument here, one is a mistake.
        if value.is_instance_of::<PyBool>() {
            return Ok(Integer(Err(NotInteger::Integer("bool".into()))));
        }
        Ok(Integer(value.extract::<T>().map_err(|error| NotInteger::of(value, error))))
    }
}

/// The extents of an array, a coordinate of it, or a tile: a sequence of integers, or the type name of another value.
pub(crate) struct Integers(Result<Vec<Integer<u64>>, String>);

impl Integers {
    /// Returns the integers, or an error that names the argument.
    pub(crate) fn of(self, argument: &str) -> PyResult<Vec<u64>> {
        let all = self.0.map_err(|found| {
            let says = "takes a sequence of integers, such as (100, 30)";
            PyTypeError::new_err(format!("{argument}= {says}; not {found}"))
        });
        all?.into_iter().map(|one| one.of(argument)).collect()
    }

    /// Returns the integers of an optional argument.
    pub(crate) fn given(argument: &str, all: Option<Integers>) -> PyResult<Option<Vec<u64>>> {
        all.map(|all| all.of(argument)).transpose()
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Integers {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Integers> {
        let found = || value.get_type().name().map(|name| name.to_string());
        if value.is_instance_of::<PyString>() {
            return Ok(Integers(Err(found()?)));
        }
        match value.extract() {
            Ok(all) => Ok(Integers(Ok(all))),
            Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
                Ok(Integers(Err(found()?)))
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns the integer of an optional argument.
pub(crate) fn given<T: Bounded>(
    argument: &str,
    integer: Option<Integer<T>>,
) -> PyResult<Option<T>> {
    integer.map(|integer| integer.of(argument)).transpose()
}

/// A text argument. Its error is created when the name of the argument is known.
pub(crate) struct TextArgument(Result<String, NotText>);

/// The reason why a value is not a text that the library accepts.
enum NotText {
    /// A value of the type of this name.
    Text(String),
    /// Half of a surrogate pair is at this character.
    Surrogate(usize),
}

impl TextArgument {
    /// Returns the text, or an error that names the argument.
    pub(crate) fn of(self, argument: &str) -> PyResult<String> {
        self.0.map_err(|not| match not {
            NotText::Text(found) => {
                PyTypeError::new_err(format!("{argument}= takes a text, not {found}"))
            }
            NotText::Surrogate(at) => {
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
            return Ok(TextArgument(Err(NotText::Text(value.get_type().name()?.to_string()))));
        };
        Ok(TextArgument(match text.to_cow() {
            Ok(text) => Ok(text.into_owned()),
            // Python's error has the position.
            Err(error) => {
                Err(NotText::Surrogate(error.value(value.py()).getattr("start")?.extract()?))
            }
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
