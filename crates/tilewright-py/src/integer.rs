//! Integers of Python's, which have no bounds, as those of the library, which have.
//!
//! Law: what is no integer is a `TypeError`, as everywhere in Python; an integer out of bounds is the
//! package's `ArgumentError`, with the number and the bounds.

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

/// An integer within the bounds of its type.
pub(crate) struct Integer<T>(pub(crate) T);

impl<'a, 'py, T> FromPyObject<'a, 'py> for Integer<T>
where
    T: FromPyObject<'a, 'py, Error = PyErr> + Bounded,
{
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Integer<T>> {
        value.extract::<T>().map(Integer).map_err(|error| {
            if !error.is_instance_of::<PyOverflowError>(value.py()) {
                return error;
            }
            // Python refuses to write integers of thousands of digits.
            let found = value.str().map_or_else(|_| "another".into(), |text| text.to_string());
            refused(
                "arguments",
                format!("an integer from {} to {} is expected, not {found}", T::LEAST, T::MOST),
            )
        })
    }
}

/// The extents of an array, a coordinate of it, or a tile: a sequence of integers.
pub(crate) struct Integers(pub(crate) Vec<u64>);

impl<'a, 'py> FromPyObject<'a, 'py> for Integers {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Integers> {
        if value.is_instance_of::<PyString>() || value.is_instance_of::<PyInt>() {
            let found = value.get_type().name()?.to_string();
            let says =
                format!("a sequence of integers is expected, such as (100, 30); not {found}");
            return Err(PyTypeError::new_err(says));
        }
        let all: Vec<Integer<u64>> = value.extract()?;
        Ok(Integers(all.into_iter().map(|one| one.0).collect()))
    }
}

/// What was given of them.
pub(crate) fn given<T>(integer: Option<Integer<T>>) -> Option<T> {
    integer.map(|integer| integer.0)
}
