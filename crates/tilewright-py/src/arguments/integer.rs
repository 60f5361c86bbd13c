//! Converts Python's unbounded integers to the library's bounded ones. Functions that take extents, indices or counts
//! use it.
//!
//! Law: a value that is not an integer is a `TypeError`, as everywhere in Python; an integer out of bounds is the
//! package's `ArgumentError`, with the argument's name, the number and the bounds.

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
pub(crate) struct Integer<T>(Result<T, Not>);

/// The reason why a value is not an integer that the library accepts.
enum Not {
    /// Out of bounds; the text is the integer.
    Beyond(String),
    /// A value of the type of this name.
    Integer(String),
    /// An exception of the Python code that the conversion called.
    Other(PyErr),
}

impl Not {
    fn of(value: Borrowed<'_, '_, PyAny>, error: PyErr) -> Not {
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            // Python refuses to print integers of thousands of digits.
            let found = value.str().map_or_else(|_| "another".into(), |text| text.to_string());
            return Not::Beyond(found);
        }
        match value.get_type().name() {
            Ok(name) if error.is_instance_of::<PyTypeError>(value.py()) => {
                Not::Integer(name.to_string())
            }
            _ => Not::Other(error),
        }
    }
}

impl<T: Bounded> Integer<T> {
    /// Returns the integer, or an error that names the argument.
    pub(crate) fn of(self, argument: &str) -> PyResult<T> {
        let (least, most) = (T::LEAST, T::MOST);
        self.0.map_err(|not| match not {
            Not::Beyond(found) => {
                let says =
                    format!("{argument}= takes an integer from {least} to {most}, not {found}");
                refused("arguments", says)
            }
            Not::Integer(found) => {
                PyTypeError::new_err(format!("{argument}= takes an integer, not {found}"))
            }
            Not::Other(error) => error,
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
            return Ok(Integer(Err(Not::Integer("bool".into()))));
        }
        Ok(Integer(value.extract::<T>().map_err(|error| Not::of(value, error))))
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
