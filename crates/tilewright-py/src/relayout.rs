//! `relayout`: a move of one array, its plan kept for the next array that looks the same.

use pyo3::{prelude::*, types::PyTuple};
use tilewright::{Dtype, Fill, Named};

use crate::{
    ask::Ask,
    cache::Cache,
    copy,
    foreign::{Facts, Memory},
    forks,
    integer::{Integer, Integers, given},
    plan,
    prepare::Prepared,
    spec::dtype_of,
    text::Text,
};

/// What decides a plan: what is asked, the source's facts, and the output's where its layout is the destination.
#[derive(PartialEq, Eq, Hash)]
struct Key(Ask, Facts, Option<Facts>);

static PLANS: Cache<Key, Prepared> = Cache::new();

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
    order: Option<Text>,
) -> PyResult<Bound<'py, PyAny>> {
    let ask = Ask::new(from_, to, dims, dtype, bits, fill, order)?;
    let source = Memory::anywhere(array)?;
    let own = match (out, &ask.to) {
        (Some(out), None) => Some(Memory::given_anywhere("out", out)?),
        _ => None,
    };
    let key = Key(ask, source.facts.clone(), own.as_ref().map(|own| own.facts.clone()));
    let prepared = PLANS.find_or(key, |key| Prepared::new(&key.0, &source.facts, own.as_ref()))?;
    plan::run(&prepared, (&source, array), "array", out, given("threads", threads)?)
}

/// What ``relayout`` gives for an array of this shape and element type, for a library that asks before there is an
/// array: its shape, its element type by NumPy's name, and the layouts of source and result as SPECs that say nothing
/// of padding's content. ``strides`` are the array's, in elements; without them its elements lie side by side, the last
/// dim fastest.
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
    order: Option<Text>,
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

/// The SPEC of a layout whose padding may hold anything.
fn unfilled(side: &Named) -> String {
    let (dtype, bits) = (side.dtype(), side.explicit_bits());
    side.clone().with_elements(dtype, bits, Fill::Unspecified).to_spec()
}

/// Hits, misses, the number of plans kept, and the most that are.
#[pyfunction]
fn plan_cache_info() -> (u64, u64, usize, usize) {
    PLANS.info()
}

/// Forgets all plans and counts from 0.
#[pyfunction]
fn plan_cache_clear() {
    PLANS.clear();
}

/// Called in a child, first.
#[pyfunction]
fn forked() {
    forks::count();
    PLANS.forget();
    copy::forget();
}
