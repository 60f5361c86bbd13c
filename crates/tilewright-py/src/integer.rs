//! Integers of Python's, which have no bounds, as those of the library, which have.
//!
//! Law: what is no integer is a `TypeError`, as everywhere in Python; an integer out of bounds is the
//! package's `ArgumentError`, with the argument's name, the number and the bounds.

use std::fmt::Display;

use pyo3::{
    Borrowed,
    exceptions::{PyOverflowError, PyTypeError},
    prelude::*,
    types::{PyBool, PyString},
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

/// An integer that was given. What is wrong with it is said where the name of the argument is known.
pub(crate) struct Integer<T>(Result<T, Not>);

/// Why a value is no integer that the library takes.
enum Not {
    /// Out of bounds, as text.
    Beyond(String),
    /// Of this type.
    Integer(String),
    /// Python code that it calls failed.
    Other(PyErr),
}

impl Not {
    fn of(value: Borrowed<'_, '_, PyAny>, error: PyErr) -> Not {
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            // Python refuses to write integers of thousands of digits.
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
    /// The integer, or an error that names the argument.
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
        // Python counts with truth values; who gives one here meant something else.
        if value.is_instance_of::<PyBool>() {
            return Ok(Integer(Err(Not::Integer("bool".into()))));
        }
        Ok(Integer(value.extract::<T>().map_err(|error| Not::of(value, error))))
    }
}

/// The extents of an array, a coordinate of it, or a tile: a sequence of integers; or the type of what is none.
pub(crate) struct Integers(Result<Vec<Integer<u64>>, String>);

impl Integers {
    /// The integers, or an error that names the argument.
    pub(crate) fn of(self, argument: &str) -> PyResult<Vec<u64>> {
        let all = self.0.map_err(|found| {
            let says = "takes a sequence of integers, such as (100, 30)";
            PyTypeError::new_err(format!("{argument}= {says}; not {found}"))
        });
        all?.into_iter().map(|one| one.of(argument)).collect()
    }

    /// What was given of them.
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

/// What was given of an integer.
pub(crate) fn given<T: Bounded>(
    argument: &str,
    integer: Option<Integer<T>>,
) -> PyResult<Option<T>> {
    integer.map(|integer| integer.of(argument)).transpose()
}
