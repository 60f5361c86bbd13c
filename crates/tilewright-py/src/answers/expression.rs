//! Expressions, and pictures of one operation of them: every operation of the algebra by its name, with Python values as arguments.
//!
//! The operations are those of `tilewright::eval`, so the program, the page and this package share one table. Arguments
//! and results are passed as values, without text.

use pyo3::{
    exceptions::{PyAttributeError, PyTypeError},
    prelude::*,
    types::{PyBool, PyDict, PyEllipsis, PyInt, PyList, PyString, PyTuple},
};
use tilewright::{
    eval::{self, Value},
    layouts::{LinearDim, LinearLayout},
};

use super::drawing::PyDrawing;
use crate::{
    arguments::{Integer, TextArgument, text},
    errors::{Raised, refused},
    values::{PyLayout, PySwizzle, PyTensorLayout, from_tuple},
};

/// Draws an operation of two layouts, a composition, a division or a product: A, B and the result, with corresponding parts in
/// one colour.
///
/// >>> from tilewright import draw_step
/// >>> draw_step("composition", "(6,2):(8,2)", "(4,3):(3,1)").svg[:4]
/// '<svg'
#[pyfunction]
#[pyo3(signature = (operation, a, b, /))]
pub(crate) fn draw_step(
    operation: &str,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
) -> PyResult<PyDrawing> {
    let known = operation == "composition"
        || operation.ends_with("_divide")
        || operation.ends_with("_product");
    if !known {
        let says = format!(
            "{operation} is not drawn as a step; only composition, divisions and products are"
        );
        return Err(refused("arguments", says));
    }
    let [a, b] = [argument(a)?, argument(b)?];
    PyDrawing::of_expression(&format!("{operation}({a}, {b})"))
}

/// The deepest nesting of an argument.
const DEEPEST: usize = 64;

/// A value of the expression language for which Python lacks a type: a tiler, a map to coordinates, a linear layout, a coordinate
/// with ``_``. It prints as its text and can be used as an argument again. Each kind has its own accessors; accessors of other
/// kinds raise ``AttributeError``.
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
    /// ``basis``, ``strides``, ``linear``, ``dims``, ``tiler``, ``slicer`` or ``padding``.
    #[getter]
    fn kind(&self) -> &'static str {
        self.value.kind()
    }

    /// The images of the bits of each input dim, lowest bit first, as one integer for each output dim. Only for a linear layout.
    ///
    /// >>> from tilewright import evaluate
    /// >>> evaluate("{lane=[[1,0],[0,2]]} -> (row:2,column:4)").bases
    /// {'lane': [(1, 0), (0, 2)]}
    #[getter]
    fn bases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (map, bases) = (self.linear("bases")?, PyDict::new(py));
        for dim in map.ins() {
            let images = (0..dim.bits()).filter_map(|bit| map.basis(dim.name(), bit));
            let images = images.map(|image| PyTuple::new(py, image.as_slice()));
            bases.set_item(dim.name(), images.collect::<PyResult<Vec<_>>>()?)?;
        }
        Ok(bases)
    }

    /// The size of each input dim. Only for a linear layout.
    ///
    /// >>> from tilewright.algebra import linear
    /// >>> linear("(4,8):(8,1)").in_dims
    /// {'dim0': 4, 'dim1': 8}
    #[getter]
    fn in_dims<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        sizes(py, self.linear("in_dims")?.ins())
    }

    /// The size of each output dim. Only for a linear layout.
    ///
    /// >>> from tilewright.algebra import linear
    /// >>> linear("(4,8):(8,1)").out_dims
    /// {'offset': 32}
    #[getter]
    fn out_dims<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        sizes(py, self.linear("out_dims")?.outs())
    }

    /// The size of each named dim, or ``None`` if the text does not give it. Only for names of dims.
    ///
    /// >>> from tilewright import evaluate
    /// >>> evaluate("[lane:32,warp]").dims
    /// {'lane': 32, 'warp': None}
    #[getter]
    fn dims<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (of, dims) = (self.of("dims", self.value.as_dims())?, PyDict::new(py));
        for (name, size) in of {
            dims.set_item(name, size)?;
        }
        Ok(dims)
    }

    /// The part for each axis, ``None`` for ``_``. Only for a tiler or a coordinate with ``_``.
    ///
    /// >>> from tilewright import evaluate
    /// >>> evaluate("<3:2,4,_>").parts
    /// (Layout('3:2'), 4, None)
    /// >>> evaluate("(1,(2,_))").parts
    /// (1, Value('(2,_)'))
    #[getter]
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let part = |part: &Value| match part.is_keep() {
            true => Ok(py.None()),
            false => python(py, part),
        };
        let parts = self.of("parts", self.value.parts())?;
        PyTuple::new(py, parts.iter().map(part).collect::<PyResult<Vec<_>>>()?)
    }

    /// The shape. Only for a map to coordinates.
    ///
    /// >>> from tilewright.algebra import make_identity_layout
    /// >>> make_identity_layout((2, 3)).shape
    /// (2, 3)
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_tuple(py, self.of("shape", self.value.as_basis())?.shape())
    }

    /// The path of each component of the coordinate, and the layout that computes it. Only for a map to coordinates.
    ///
    /// >>> from tilewright.algebra import make_identity_layout
    /// >>> make_identity_layout((2, 3)).components
    /// [((0,), Layout('(2,3):(1,0)')), ((1,), Layout('(2,3):(0,1)'))]
    #[getter]
    fn components<'py>(&self, py: Python<'py>) -> PyResult<Vec<(Bound<'py, PyTuple>, PyLayout)>> {
        let map = self.of("components", self.value.as_basis())?;
        let component = |i| Some((PyTuple::new(py, map.path(i)?), PyLayout(map.part(i)?)));
        let all = (0..map.components()).filter_map(component);
        all.map(|(path, layout)| Ok((path?, layout))).collect()
    }

    /// Draws a linear layout, with the place from which each coordinate comes, or strides such as ``1@0``, with the coordinates.
    /// Raises ``UnsupportedError`` for other values.
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

impl PyValue {
    /// Returns the value that an accessor reads, or an error for a value of another kind.
    fn of<T>(&self, accessor: &str, found: Option<T>) -> PyResult<T> {
        found.ok_or_else(|| {
            let kind = self.value.kind();
            PyAttributeError::new_err(format!("a value of kind '{kind}' has no '{accessor}'"))
        })
    }

    fn linear(&self, accessor: &str) -> PyResult<&LinearLayout> {
        self.of(accessor, self.value.as_linear())
    }
}

/// Returns names and sizes.
fn sizes<'py>(py: Python<'py>, dims: &[LinearDim]) -> PyResult<Bound<'py, PyDict>> {
    let sizes = PyDict::new(py);
    for dim in dims {
        sizes.set_item(dim.name(), dim.size())?;
    }
    Ok(sizes)
}

/// Returns the value of an expression, as a Python value if there is a type for it: the result of ``tilewright eval``.
///
/// Raises an ``Error`` with ``span`` if the text does not parse, the arguments of an operation are wrong, or the result does not
/// exist.
///
/// >>> from tilewright import evaluate
/// >>> evaluate("logical_divide((6,8):(8,1), <3,4>)")
/// Layout('((3,2),(4,2)):((8,24),(1,4))')
/// >>> evaluate("size((3,(2,2)))")
/// 12
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn evaluate(py: Python<'_>, text: TextArgument) -> PyResult<Py<PyAny>> {
    let text = text.of("text")?;
    let value = py.detach(|| eval::evaluate(&text)).raised()?;
    python(py, &value)
}

/// Returns the value of an expression as text, as ``tilewright eval`` prints it.
///
/// >>> from tilewright import evaluate_text
/// >>> evaluate_text("(6,2):(8,2) o (4,3):(3,1)")
/// '((2,2),3):((24,2),8)'
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn evaluate_text(py: Python<'_>, text: TextArgument) -> PyResult<String> {
    let text = text.of("text")?;
    py.detach(|| eval::evaluate(&text)).raised().map(|value| value.to_string())
}

/// Returns the name, the arguments and the meaning of every operation.
///
/// >>> from tilewright import functions
/// >>> [arguments for name, arguments, meaning in functions() if name == "complement"]
/// ['L[, n]']
#[pyfunction]
pub(crate) fn functions() -> Vec<(&'static str, &'static str, &'static str)> {
    eval::functions()
        .map(|function| (function.name(), function.arguments(), function.doc()))
        .collect()
}

/// Calls an operation by its name.
///
/// >>> from tilewright.algebra import operation
/// >>> operation("size", (3, (2, 2)))
/// 12
#[pyfunction]
#[pyo3(signature = (name, /, *arguments))]
pub(crate) fn operation(
    py: Python<'_>,
    name: TextArgument,
    arguments: &Bound<'_, PyTuple>,
) -> PyResult<Py<PyAny>> {
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

/// Converts a Python value to one of the expression language.
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

/// Converts an integer, including NumPy's integers.
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

/// Converts a sequence to a tuple of integers, or to a tiler if it contains a layout of any class.
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

/// Converts a value of the expression language to a Python value.
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
        // A cut prints its offset even if it is 0.
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
