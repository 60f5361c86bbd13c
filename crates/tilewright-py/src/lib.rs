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
mod learn;
mod moves;
mod values;

/// Everything that the package uses from here; its Python files define what is public.
#[pyo3::pymodule]
mod _tilewright {
    use std::ffi::OsString;

    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::{
        answers::{
            drawing::PyDrawing,
            expression::{PyValue, draw_step, evaluate, evaluate_text, functions, operation},
            kernels::{PyBankConflicts, bank_conflicts, emit},
            words::{
                PyComparison, PyExplanation, PyFormat, PyInference, add_formats, distribution,
                formats, infer, notations, same,
            },
        },
        files::{
            convert::{convert, guess_recipe, info, recast_files, solve_recipe},
            fingerprint::{PyFingerprint, fingerprint_of, fingerprints, same_data, verify},
            open::{PyCheckpoint, open_checkpoint},
            reshard::{PyReshardPlan, reshard_plan},
            save::save,
        },
        foreign::{PyDeviceArray, PyMemory},
        moves::{
            plan::PyPlan,
            relayout::{
                contiguous, copy_, copy_if_strided, empty_like, forked, plan_cache_clear,
                plan_cache_info, relayout, relayout_form,
            },
        },
        values::{
            PyLayout, PySwizzle, PyTabledLayout, PyTensorLayout,
            sharded::{PyShard, PySharded},
        },
    };

    /// Runs the program with these arguments, the first of which is its name, and returns its exit code.
    #[pyfunction]
    #[pyo3(signature = (arguments, /))]
    fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| tilewright_cli::run(arguments))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        crate::learn::register(module)?;
        crate::errors::register(module)
    }
}
