//! `relayout`: moves one array, and keeps the plan for the next array with the same facts.

use pyo3::{prelude::*, types::PyTuple};
use tilewright::{ArrayLayout, Dtype, Fill};

use super::{
    copy::{self, Cache},
    driver, plan,
    prepare::Prepared,
};
use crate::{
    arguments::{
        ask::{Ask, dtype_of},
        integer::{Integer, Integers, given},
        text::TextArgument,
    },
    foreign::{Facts, Memory},
};

/// The key of a plan: the arguments, the source's facts, and those of the output if its layout is the destination.
#[derive(PartialEq, Eq, Hash)]
struct PlanKey(Ask, Facts, Option<Facts>);

static PLANS: Cache<PlanKey, Prepared> = Cache::new();

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(relayout, module)?)?;
    module.add_function(wrap_pyfunction!(relayout_form, module)?)?;
    module.add_function(wrap_pyfunction!(plan_cache_info, module)?)?;
    module.add_function(wrap_pyfunction!(plan_cache_clear, module)?)?;
    module.add_function(wrap_pyfunction!(forked, module)?)
}

#[pyfunction]
#[pyo3(signature = (array, /, to = None, *, from_ = None, out = None, threads = None, dims = None, dtype = None, bits = None, fill = None, order = None), text_signature = "(array, /, to=None, *, from_=None, out=None, threads=None, dims=None, dtype=None, bits=None, fill=None, order='C')")]
#[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
fn relayout<'py>(
    array: &Bound<'py, PyAny>,
    to: Option<&Bound<'py, PyAny>>,
    from_: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<Integer<usize>>,
    dims: Option<Integers>,
    dtype: Option<&Bound<'py, PyAny>>,
    bits: Option<Integer<u32>>,
    fill: Option<&Bound<'py, PyAny>>,
    order: Option<TextArgument>,
) -> PyResult<Bound<'py, PyAny>> {
    let ask = Ask::new(from_, to, dims, dtype, bits, fill, order)?;
    let source = Memory::anywhere(array)?;
    let own = match (out, &ask.to) {
        (Some(out), None) => Some(Memory::given_anywhere("out", out)?),
        _ => None,
    };
    let key = PlanKey(ask, source.facts.clone(), own.as_ref().map(|own| own.facts.clone()));
    let prepared = PLANS.find_or(key, |key| Prepared::new(&key.0, &source.facts, own.as_ref()))?;
    plan::run(&prepared, (&source, array), "array", out, given("threads", threads)?)
}

/// Returns the form of the result of ``relayout`` for an array of this shape and element type, for a library that needs it before
/// an array exists: its shape, the NumPy name of its element type, and the layouts of source and result as SPECs without a
/// promise about padding. ``strides`` are the array's strides, in elements; by default it is contiguous, the last dim fastest.
#[pyfunction]
#[pyo3(signature = (shape, element, /, to, *, strides = None, from_ = None, dims = None, dtype = None, bits = None, fill = None, order = None), text_signature = "(shape, element, /, to, *, strides=None, from_=None, dims=None, dtype=None, bits=None, fill=None, order='C')")]
#[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
fn relayout_form<'py>(
    py: Python<'py>,
    shape: Integers,
    element: &Bound<'py, PyAny>,
    to: &Bound<'py, PyAny>,
    strides: Option<Integers>,
    from_: Option<&Bound<'py, PyAny>>,
    dims: Option<Integers>,
    dtype: Option<&Bound<'py, PyAny>>,
    bits: Option<Integer<u32>>,
    fill: Option<&Bound<'py, PyAny>>,
    order: Option<TextArgument>,
) -> PyResult<(Bound<'py, PyTuple>, &'static str, String, String)> {
    let ask = Ask::new(from_, Some(to), dims, dtype, bits, fill, order)?;
    let facts = Facts::dense(&shape.of("shape")?, dtype_of(element)?);
    let facts = match Integers::given("strides", strides)? {
        Some(strides) => facts.with_strides(&strides)?,
        None => facts,
    };
    let Prepared { form, from, to, .. } = Prepared::new(&ask, &facts, None)?;
    let own = || facts.dtype.and_then(Dtype::array_name).unwrap_or("uint8");
    let shape = PyTuple::new(py, form.listed())?;
    Ok((shape, form.element().unwrap_or_else(own), unfilled(&from), unfilled(&to)))
}

/// Returns the SPEC of a layout whose padding may have any value.
fn unfilled(side: &ArrayLayout) -> String {
    let stored = side.stored().clone();
    let (dtype, bits) = (stored.dtype(), stored.explicit_bits());
    side.clone().with_stored(stored.with_elements(dtype, bits, Fill::Unspecified)).to_spec()
}

/// Returns the hits, the misses, the number of plans in the cache, and the largest number that it keeps.
#[pyfunction]
fn plan_cache_info() -> (u64, u64, usize, usize) {
    PLANS.info()
}

/// Removes all plans and resets the counts.
#[pyfunction]
fn plan_cache_clear() {
    PLANS.clear();
}

/// Prepares a forked child; called there before anything else.
#[pyfunction]
fn forked() {
    driver::count();
    PLANS.forget();
    copy::forget();
}
