//! Boxes of an array in NumPy's basic indexing: slices without steps, integers, one `...`. `get` of an open checkpoint uses it.

use std::ops::Range;

use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyEllipsis, PyList, PySlice, PyTuple},
};

use crate::{errors::refused, integer::Integer};

/// A range for each dim, and the dims that are removed from a result.
pub(crate) struct PartIndex {
    pub(crate) ranges: Vec<Range<u64>>,
    pub(crate) left_out: Vec<usize>,
}

impl PartIndex {
    /// Returns the box of an argument, for an array of these dims; dims after the given ones are whole.
    pub(crate) fn of(value: &Bound<'_, PyAny>, dims: &[u64]) -> PyResult<PartIndex> {
        let given: Vec<Bound<'_, PyAny>> =
            match value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>() {
                true => value.extract()?,
                false => vec![value.clone()],
            };
        let dots = |item: &Bound<'_, PyAny>| item.is_instance_of::<PyEllipsis>();
        let count = given.iter().filter(|item| dots(item)).count();
        let named = given.len() - count;
        if count > 1 || named > dims.len() {
            let rank = dims.len();
            let says = format!(
                "box= has {named} dims and {count} times '...', for a tensor of rank {rank}; '...' stands once"
            );
            return Err(refused("arguments", says));
        }
        let before = given.iter().position(dots).unwrap_or(named);
        let (mut ranges, mut left_out) = (Vec::new(), Vec::new());
        let whole = dims.len() - named;
        for (dim, extent) in dims.iter().enumerate() {
            let item = match dim {
                dim if dim < before => given.get(dim),
                dim if dim < before + whole => None,
                // One of the given items may be the dots.
                dim => given.get(dim - whole + count),
            };
            let Some(item) = item else {
                ranges.push(0..*extent);
                continue;
            };
            let (range, is_one) = taken(item, dim, *extent)?;
            if is_one {
                left_out.push(dim);
            }
            ranges.push(range);
        }
        Ok(PartIndex { ranges, left_out })
    }

    /// Returns whether a dim is removed.
    pub(crate) fn leaves_out(&self) -> bool {
        !self.left_out.is_empty()
    }
}

/// Returns the range of a dim that an item selects, and whether the item is an integer.
fn taken(item: &Bound<'_, PyAny>, dim: usize, extent: u64) -> PyResult<(Range<u64>, bool)> {
    let Ok(slice) = item.cast::<PySlice>() else {
        return one(item, dim, extent).map(|at| (at..at + 1, true));
    };
    let step = slice.getattr("step")?;
    if !step.is_none() && !step.eq(1)? {
        let says =
            format!("box= takes slices without steps; dim {dim} has a step of {}", step.str()?);
        return Err(refused("arguments", says));
    }
    let found = slice.indices(isize::try_from(extent).unwrap_or(isize::MAX))?;
    let (start, stop) = (found.start.max(0) as u64, found.stop.max(0) as u64);
    Ok((start..stop.max(start), false))
}

/// Returns the coordinate of an integer; negative ones count from the end.
fn one(item: &Bound<'_, PyAny>, dim: usize, extent: u64) -> PyResult<u64> {
    let is_bool = item.is_instance_of::<pyo3::types::PyBool>();
    if is_bool || !item.hasattr("__index__")? {
        let found = item.get_type().name()?;
        let says = format!("box= takes slices, integers and '...'; dim {dim} is given {found}");
        return Err(PyTypeError::new_err(says));
    }
    let at = item.extract::<Integer<i64>>()?.of("box")?;
    let from_end = if at < 0 { i128::from(at) + i128::from(extent) } else { i128::from(at) };
    u64::try_from(from_end).ok().filter(|at| *at < extent).ok_or_else(|| {
        refused("out-of-range", format!("box= asks for {at} in dim {dim} of extent {extent}"))
    })
}
