//! Conversion of arguments that describe a layout: a SPEC, an element type, the layout of an array.

use pyo3::{
    PyTypeInfo,
    exceptions::PyTypeError,
    prelude::*,
    types::{PyAny, PyBool, PyComplex, PyFloat, PyInt, PyString},
};
use tilewright::{Dtype, Fill, Named, Spec, notation};

use crate::{
    errors::{Raised, about, parse},
    text::text,
    values::{PyLayout, PyTabledLayout, PyTensorLayout},
};

/// Returns the SPEC of an argument: a text, or a layout object.
pub(crate) fn spec_of(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<Spec> {
    if value.is_instance_of::<PyString>() {
        return Spec::parse(&text(argument, value)?).raised();
    }
    if let Ok(tensor) = value.cast::<PyTensorLayout>() {
        return Spec::parse(&tensor.get().0.to_spec()).raised();
    }
    if let Ok(tabled) = value.cast::<PyTabledLayout>() {
        return Spec::parse(&tabled.get().0.to_spec()).raised();
    }
    if let Ok(layout) = value.cast::<PyLayout>() {
        return Spec::parse(&format!("cute:{}", layout.get().0)).raised();
    }
    let found = value.get_type().name()?.to_string();
    Err(PyTypeError::new_err(format!(
        "{argument}= takes a layout: text, a Layout, a TensorLayout or a TabledLayout; not {found}"
    )))
}

/// Returns the layout of an argument, resolved for these dims and this element type.
pub(crate) fn resolve(
    argument: &str,
    value: &Bound<'_, PyAny>,
    dims: Option<&[u64]>,
    dtype: Option<Dtype>,
) -> PyResult<Named> {
    if let (Ok(tensor), None, None) = (value.cast::<PyTensorLayout>(), dims, dtype) {
        return Ok(tensor.get().0.clone());
    }
    spec_of(argument, value)?.resolve(dims, dtype).raised()
}

/// Returns NumPy's element type for Python's own types. By their names, `float` and `int` would be C's types.
fn python_type(value: &Bound<'_, PyAny>) -> Option<Dtype> {
    let py = value.py();
    let types = [
        (PyFloat::type_object(py), Dtype::F64),
        (PyInt::type_object(py), Dtype::S64),
        (PyBool::type_object(py), Dtype::Pred),
        (PyComplex::type_object(py), Dtype::C128),
    ];
    types.into_iter().find(|(own, _)| value.is(own)).map(|(_, dtype)| dtype)
}

/// Returns an element type: from a name in any spelling, or a type object of NumPy, ml_dtypes or torch.
pub(crate) fn dtype_of(value: &Bound<'_, PyAny>) -> PyResult<Dtype> {
    if value.is_instance_of::<PyString>() {
        return notation::dtype(&text("dtype", value)?).raised();
    }
    if let Some(dtype) = python_type(value) {
        return Ok(dtype);
    }
    // Accepts a class such as `numpy.float32`, a `numpy.dtype`, or a `torch.dtype`.
    let name = value.getattr("name").or_else(|_| value.getattr("__name__"));
    let text = name.and_then(|name| name.extract::<String>());
    notation::dtype(&text.unwrap_or(value.str()?.to_string())).raised()
}

/// Returns the value of padding as text, from a text or an integer such as 0.
pub(crate) fn fill_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if value.is_instance_of::<PyString>() {
        return text("fill", value);
    }
    if value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() {
        return Ok(value.str()?.to_string());
    }
    let found = value.get_type().name()?.to_string();
    Err(PyTypeError::new_err(format!(
        "fill= takes 0, or a text such as 'one', 'lowest' or '0x7f'; not {found}"
    )))
}

/// Parses the text of a padding value.
pub(crate) fn parsed_fill(text: &str) -> PyResult<Fill> {
    text.trim().parse().map_err(|error| about("fill", parse(text, &error)))
}
