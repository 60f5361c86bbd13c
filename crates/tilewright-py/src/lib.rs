//! The native half of the Python package `tilewright`; the other half is in `python/tilewright/`.
//!
//! Values of the library become classes, its errors the exceptions of `_errors.py`. Arrays of other libraries are accessed in
//! place, never copied: `foreign/` is the only code that reads their memory.
#![deny(unsafe_code)]

mod ask;
mod banks;
mod cache;
mod catalogue;
mod convert;
mod copy;
mod device;
mod drawing;
mod driver;
mod emit;
mod errors;
mod expression;
mod fingerprint;
#[allow(unsafe_code)]
mod foreign;
mod forks;
mod held;
mod integer;
mod layout;
mod load;
mod narrow;
mod open;
mod order;
mod part;
mod pieces;
mod plan;
mod prepare;
mod program;
mod recast;
mod relayout;
mod reshard;
mod result;
mod save;
mod sharded;
mod spec;
mod spelling;
mod step;
mod swizzle;
mod tabled;
mod tensor;
mod text;
mod turn;
mod values;
mod verify;
mod words;

use pyo3::prelude::*;

/// Registers everything that the package uses from here; its Python files define what is public.
#[pymodule]
fn _tilewright(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::register(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<values::PyLayout>()?;
    module.add_class::<values::PyTensorLayout>()?;
    module.add_class::<values::PyTabledLayout>()?;
    module.add_class::<swizzle::PySwizzle>()?;
    module.add_class::<expression::PyValue>()?;
    module.add_class::<words::PyExplanation>()?;
    module.add_class::<words::PyComparison>()?;
    module.add_class::<words::PyInference>()?;
    module.add_class::<catalogue::PyFormat>()?;
    module.add_class::<foreign::PyMemory>()?;
    module.add_class::<foreign::PyDeviceArray>()?;
    module.add_class::<plan::PyPlan>()?;
    module.add_class::<drawing::PyDrawing>()?;
    step::register(module)?;
    expression::register(module)?;
    words::register(module)?;
    banks::register(module)?;
    catalogue::register(module)?;
    emit::register(module)?;
    relayout::register(module)?;
    copy::register(module)?;
    convert::register(module)?;
    recast::register(module)?;
    fingerprint::register(module)?;
    open::register(module)?;
    save::register(module)?;
    sharded::register(module)?;
    reshard::register(module)?;
    verify::register(module)?;
    program::register(module)
}
