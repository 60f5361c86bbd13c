//! Integers of Python's, which have no bounds, as those of the library, which have.
//!
//! Law: what is no integer is a `TypeError`, as everywhere in Python; an integer out of bounds is the
//! package's `ArgumentError`, with the argument's name, the number and the bounds.

use std::fmt::Display;

use pyo3::{
    Borrowed,
    exceptions::{PyOverflowError, PyTypeError},
    prelude::*,
    types::{PyInt, PyString},
};

use crate::errors::refused;

/// The integers of the library that arguments are.
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

/// An integer that was given. Its bounds are looked at where the name of the argument is known.
pub(crate) struct Integer<T>(Result<T, String>);

impl<T: Bounded> Integer<T> {
    /// The integer; out of bounds, an error that names the argument.
    pub(crate) fn of(self, argument: &str) -> PyResult<T> {
        self.0.map_err(|found| {
            let (least, most) = (T::LEAST, T::MOST);
            let says = format!("{argument}= takes an integer from {least} to {most}, not {found}");
            refused("arguments", says)
        })
    }
}

impl<'a, 'py, T> FromPyObject<'a, 'py> for Integer<T>
where
    T: FromPyObject<'a, 'py, Error = PyErr>,
{
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Integer<T>> {
        match value.extract::<T>() {
            Ok(integer) => Ok(Integer(Ok(integer))),
            Err(error) if !error.is_instance_of::<PyOverflowError>(value.py()) => Err(error),
            // Python refuses to write integers of thousands of digits.
            Err(_) => {
                let found = value.str().map_or_else(|_| "another".into(), |text| text.to_string());
                Ok(Integer(Err(found)))
            }
        }
    }
}

/// The extents of an array, a coordinate of it, or a tile: a sequence of integers.
pub(crate) struct Integers(Vec<Integer<u64>>);

impl Integers {
    /// The integers; out of bounds, an error that names the argument.
    pub(crate) fn of(self, argument: &str) -> PyResult<Vec<u64>> {
        self.0.into_iter().map(|one| one.of(argument)).collect()
    }

    /// What was given of them.
    pub(crate) fn given(argument: &str, all: Option<Integers>) -> PyResult<Option<Vec<u64>>> {
        all.map(|all| all.of(argument)).transpose()
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Integers {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Integers> {
        if value.is_instance_of::<PyString>() || value.is_instance_of::<PyInt>() {
            let found = value.get_type().name()?.to_string();
            let says =
                format!("a sequence of integers is expected, such as (100, 30); not {found}");
            return Err(PyTypeError::new_err(says));
        }
        value.extract().map(Integers)
    }
}

/// What was given of an integer.
pub(crate) fn given<T: Bounded>(
    argument: &str,
    integer: Option<Integer<T>>,
) -> PyResult<Option<T>> {
    integer.map(|integer| integer.of(argument)).transpose()
}
