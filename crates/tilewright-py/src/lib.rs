//! The native half of the Python package `tilewright`; the other half is in `python/tilewright/`.
//!
//! Values of the library become classes, its errors the exceptions of `_errors.py`. Arrays of other libraries are
//! accessed in place, never copied: `foreign/` is the only code that reads their memory.
#![deny(unsafe_code)]

mod answers;
mod arguments;
mod errors;
mod files;
#[allow(unsafe_code)]
mod foreign;
mod moves;
mod values;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Registers everything that the package uses from here; its Python files define what is public.
#[pymodule]
fn _tilewright(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::register(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<values::PyLayout>()?;
    module.add_class::<values::PyTensorLayout>()?;
    module.add_class::<values::PyTabledLayout>()?;
    module.add_class::<values::swizzle::PySwizzle>()?;
    module.add_class::<answers::expression::PyValue>()?;
    module.add_class::<answers::words::PyExplanation>()?;
    module.add_class::<answers::words::PyComparison>()?;
    module.add_class::<answers::words::PyInference>()?;
    module.add_class::<answers::catalogue::PyFormat>()?;
    module.add_class::<foreign::PyMemory>()?;
    module.add_class::<foreign::PyDeviceArray>()?;
    module.add_class::<moves::plan::PyPlan>()?;
    module.add_class::<answers::drawing::PyDrawing>()?;
    answers::expression::register_step(module)?;
    answers::expression::register(module)?;
    answers::words::register(module)?;
    answers::kernels::register(module)?;
    answers::catalogue::register(module)?;
    answers::kernels::register_emit(module)?;
    moves::relayout::register(module)?;
    moves::copy::register(module)?;
    files::convert::register(module)?;
    files::recast::register(module)?;
    files::fingerprint::register(module)?;
    files::open::register(module)?;
    files::save::register(module)?;
    values::sharded::register(module)?;
    files::reshard::register(module)?;
    files::verify::register(module)?;
    register_main(module)
}

pub(crate) fn register_main(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(main, module)?)
}

/// Runs the program with these arguments, the first of which is its name, and returns its exit code.
#[pyfunction]
#[pyo3(signature = (arguments, /))]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| tilewright_cli::run(arguments))
}
