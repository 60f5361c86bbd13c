//! The program as a function: `python -m tilewright`.

use std::ffi::OsString;

use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(main, module)?)
}

/// Runs the program with these arguments, the first of which is its name, and returns its exit code.
#[pyfunction]
#[pyo3(signature = (arguments, /))]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| tilewright_cli::run(arguments))
}
