//! Expressions: every operation of the algebra by its name, with Python's values as arguments.
//!
//! The operations are those of `tilewright::eval`, so there is one table of them for the program, the page and
//! this package. Arguments and results go as values, without text.

use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBool, PyEllipsis, PyInt, PyList, PyString, PyTuple},
};
use tilewright::eval::{self, Value};

use crate::{
    drawing::PyDrawing,
    errors::{Raised, refused},
    integer::Integer,
    swizzle::PySwizzle,
    text::{Text, text},
    values::{PyLayout, PyTensorLayout, from_tuple},
};

/// The deepest nesting of an argument.
const DEEPEST: usize = 64;

/// A value of the expression language that Python has no type of its own for: a tiler, a map to coordinates, a
/// linear layout, a coordinate with ``_``. It prints as its text and is taken as an argument again.
///
/// >>> from tilewright.algebra import linear
/// >>> linear("(4,4):(4,1)")
/// Value('{dim0=[4,8],dim1=[1,2]} -> (offset:16)')
#[pyclass(name = "Value", module = "tilewright", frozen, eq, hash)]
#[derive(Clone)]
pub(crate) struct PyValue {
    value: Value,
    text: String,
}

impl PartialEq for PyValue {
    fn eq(&self, other: &PyValue) -> bool {
        (self.value.kind(), &self.text) == (other.value.kind(), &other.text)
    }
}

impl std::hash::Hash for PyValue {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

#[pymethods]
impl PyValue {
    /// ``basis``, ``linear``, ``dims``, ``tiler``, ``slicer`` or ``padding``.
    #[getter]
    fn kind(&self) -> &'static str {
        self.value.kind()
    }

    /// The picture of a linear layout, by which place each coordinate comes from, or of strides such as ``1@0``, by
    /// the coordinates. Raises ``UnsupportedError`` for other values.
    ///
    /// >>> from tilewright import evaluate
    /// >>> "T3" in evaluate("{lane=[[0,1],[1,0]]} -> (row:2,column:2)").draw().svg
    /// True
    fn draw(&self) -> PyResult<PyDrawing> {
        PyDrawing::of_expression(&self.text)
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("Value('{}')", self.text)
    }

    fn __reduce__(slf: &Bound<'_, PyValue>) -> PyResult<(Py<PyAny>, (String,))> {
        let evaluate = slf.py().import("tilewright")?.getattr("evaluate")?;
        Ok((evaluate.unbind(), (slf.get().text.clone(),)))
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate_text, module)?)?;
    module.add_function(wrap_pyfunction!(functions, module)?)?;
    module.add_function(wrap_pyfunction!(operation, module)?)
}

/// The value of an expression, as Python's where it has such a value: what ``tilewright eval`` computes.
///
/// Raises an ``Error`` with ``span``: the text does not parse, an operation is not given what it takes, or what is
/// asked for does not exist.
///
/// >>> from tilewright import evaluate
/// >>> evaluate("logical_divide((6,8):(8,1), <3,4>)")
/// Layout('((3,2),(4,2)):((8,24),(1,4))')
/// >>> evaluate("size((3,(2,2)))")
/// 12
#[pyfunction]
#[pyo3(signature = (text, /))]
fn evaluate(py: Python<'_>, text: Text) -> PyResult<Py<PyAny>> {
    let text = text.of("text")?;
    let value = py.detach(|| eval::evaluate(&text)).raised()?;
    python(py, &value)
}

/// The value of an expression as text, as ``tilewright eval`` prints it.
///
/// >>> from tilewright import evaluate_text
/// >>> evaluate_text("(6,2):(8,2) o (4,3):(3,1)")
/// '((2,2),3):((24,2),8)'
#[pyfunction]
#[pyo3(signature = (text, /))]
fn evaluate_text(py: Python<'_>, text: Text) -> PyResult<String> {
    let text = text.of("text")?;
    py.detach(|| eval::evaluate(&text)).raised().map(|value| value.to_string())
}

/// Name, arguments and meaning of every operation.
///
/// >>> from tilewright import functions
/// >>> [arguments for name, arguments, meaning in functions() if name == "complement"]
/// ['L[, n]']
#[pyfunction]
fn functions() -> Vec<(&'static str, &'static str, &'static str)> {
    eval::functions()
        .map(|function| (function.name(), function.arguments(), function.doc()))
        .collect()
}

/// An operation by its name.
///
/// >>> from tilewright.algebra import operation
/// >>> operation("size", (3, (2, 2)))
/// 12
#[pyfunction]
#[pyo3(signature = (name, /, *arguments))]
fn operation(py: Python<'_>, name: Text, arguments: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    call(py, &name.of("name")?, &arguments.iter().collect::<Vec<_>>())
}

/// Calls an operation.
pub(crate) fn call(
    py: Python<'_>,
    name: &str,
    arguments: &[Bound<'_, PyAny>],
) -> PyResult<Py<PyAny>> {
    let arguments = arguments.iter().map(argument).collect::<PyResult<Vec<Value>>>()?;
    let value = py.detach(|| eval::call(name, arguments)).raised()?;
    python(py, &value)
}

/// A value of Python's as one of the expression language.
pub(crate) fn argument(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    nested(value, 0)
}

fn nested(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > DEEPEST {
        return Err(refused("limit", format!("an argument nested deeper than {DEEPEST}")));
    }
    if let Ok(layout) = value.cast::<PyLayout>() {
        return Ok(Value::from(&layout.get().0));
    }
    if let Ok(tensor) = value.cast::<PyTensorLayout>() {
        return Ok(Value::from(&tensor.get().0));
    }
    if let Ok(swizzle) = value.cast::<PySwizzle>() {
        return Ok(Value::from(swizzle.get().0));
    }
    if let Ok(value) = value.cast::<PyValue>() {
        return Ok(value.get().value.clone());
    }
    if value.is_none() || value.is_instance_of::<PyEllipsis>() {
        return Ok(Value::keep());
    }
    if value.is_instance_of::<PyString>() {
        return eval::evaluate(&text("argument", value)?).raised();
    }
    if value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>() {
        return sequence(value, depth);
    }
    integer(value)
}

/// An integer, also one of NumPy's.
fn integer(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if !value.is_instance_of::<PyBool>()
        && let Ok(index) = value.call_method0("__index__")
        && index.is_instance_of::<PyInt>()
    {
        return index.extract::<Integer<i64>>()?.of("argument").map(Value::from);
    }
    let found = value.get_type().name()?.to_string();
    Err(PyTypeError::new_err(format!(
        "an operation takes layouts, integers, tuples of these, None for `_`, or text; not {found}"
    )))
}

/// A tuple of integers, or with a layout of any class in it a tiler.
fn sequence(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    let (mut parts, mut tiler) = (Vec::new(), false);
    for part in value.try_iter()? {
        let part = part?;
        let part = nested(&part, depth + 1)?;
        tiler |= !matches!(part.kind(), "integer" | "tuple" | "slicer");
        parts.push(part);
    }
    if tiler { Value::tiler(parts).raised() } else { Value::tuple(parts).raised() }
}

/// A value of the language as Python's.
fn python(py: Python<'_>, value: &Value) -> PyResult<Py<PyAny>> {
    if let Some(answer) = value.as_bool() {
        return Ok(PyBool::new(py, answer).to_owned().into_any().unbind());
    }
    if let Some(tuple) = value.as_tuple() {
        return from_tuple(py, tuple).map(Bound::unbind);
    }
    if let Some(list) = value.as_list() {
        return Ok(PyList::new(py, list)?.into_any().unbind());
    }
    let text = value.to_string();
    if let Some(layout) = value.as_layout() {
        let own = layout.to_string();
        // An offset of 0 is printed where a cut has one.
        if text == own || text.strip_suffix("+0") == Some(&own) {
            return Ok(Bound::new(py, PyLayout(layout.clone()))?.into_any().unbind());
        }
    }
    if let Some(swizzle) = value.as_swizzle() {
        return Ok(Bound::new(py, PySwizzle(swizzle))?.into_any().unbind());
    }
    if let Some(named) = value.to_named() {
        return Ok(Bound::new(py, PyTensorLayout(named))?.into_any().unbind());
    }
    Ok(Bound::new(py, PyValue { value: value.clone(), text })?.into_any().unbind())
}
