//! The native half of the Python package `tilewright`; the other half is in `python/tilewright/`.
//!
//! Values of the library become classes, its errors the exceptions of `_errors.py`. Arrays of other libraries are
//! accessed in place, never copied: `foreign/` is the only code that reads their memory.
#![deny(unsafe_code)]

mod answers {
    //! Answers to questions about layouts: texts, pictures, values of expressions, code.

    pub(crate) mod drawing;
    pub(crate) mod expression;
    pub(crate) mod kernels;
    pub(crate) mod words;
}
mod arguments;
mod errors;
mod files {
    //! Work on files: open, load, save, convert, reshard, fingerprint.

    pub(crate) mod convert;
    pub(crate) mod fingerprint;
    pub(crate) mod load;
    pub(crate) mod open;
    pub(crate) mod pieces;
    pub(crate) mod reshard;
    pub(crate) mod save;
}
#[allow(unsafe_code)]
mod foreign;
mod learn;
mod moves {
    //! Moves of arrays in memory and on devices, the plans behind them and the arrays that they return.

    pub(crate) mod plan;
    pub(crate) mod prepare;
    pub(crate) mod relayout;
    pub(crate) mod result;
    pub(crate) mod stream;
}
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
