//! Arguments that describe a layout, and the arguments of a move as values that can be compared.
//!
//! A layout is given as a SPEC, an element type or the layout of an array. The values of a move form the key of the
//! plan cache. Most functions of the package parse their arguments with this module.

use pyo3::{
    PyTypeInfo,
    exceptions::PyTypeError,
    prelude::*,
    types::{PyAny, PyBool, PyComplex, PyFloat, PyInt, PyString},
};
use tilewright::{ArrayLayout, Dtype, Fill, ResolvedLayout, Spec, files::FileLists, notation};

use crate::arguments::{Integer, Integers, given};
use crate::arguments::{TextArgument, text};
use crate::{
    errors::{Raised, about, parse},
    moves::result::ResultOrder,
    values::{PyLayout, PyTabledLayout, PyTensorLayout},
};

/// The arguments of a move, without the arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Ask {
    pub(crate) from: Option<Wanted>,
    pub(crate) to: Option<Wanted>,
    pub(crate) dims: Option<Vec<u64>>,
    pub(crate) dtype: Option<Dtype>,
    /// The width of a stored element of the destination.
    pub(crate) bits: Option<u32>,
    pub(crate) fill: Option<String>,
    /// The order in which a new result lists its extents.
    pub(crate) order: ResultOrder,
}

/// A layout argument as it was given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wanted {
    /// A SPEC.
    Text(String),
    /// A layout that is already parsed.
    Read(Box<ResolvedLayout>),
}

impl Wanted {
    /// Returns the layout of an argument.
    pub(crate) fn of(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<Wanted> {
        if value.is_instance_of::<PyString>() {
            return text(argument, value).map(Wanted::Text);
        }
        if let Ok(tensor) = value.cast::<PyTensorLayout>() {
            return Ok(Wanted::Read(Box::new(tensor.get().0.clone())));
        }
        spec_of(argument, value).map(|spec| Wanted::Text(spec.to_string()))
    }

    /// Returns the layout for these dims and this element type.
    pub(crate) fn resolve(
        &self,
        dims: Option<&[u64]>,
        dtype: Option<Dtype>,
    ) -> Result<ResolvedLayout, notation::Error> {
        match self {
            Wanted::Text(text) => Spec::parse(text)?.resolve(dims, dtype),
            Wanted::Read(read) => {
                let own = read.dtype();
                let agrees = dims.is_none_or(|dims| dims == read.layout().extents())
                    && (own.is_none() || dtype.is_none() || own == dtype);
                let (bits, fill) = (read.explicit_bits(), read.fill());
                let named = ResolvedLayout::clone(read).with_elements(own.or(dtype), bits, fill);
                let named = named.with_byte_order(None);
                // The error is that of the SPEC, which names the values that disagree.
                if agrees { Ok(named) } else { Spec::parse(&named.to_spec())?.resolve(dims, dtype) }
            }
        }
    }

    /// Returns the layout for these dims and this element type, with its index tables if it has any.
    pub(crate) fn array_layout(
        &self,
        dims: Option<&[u64]>,
        dtype: Option<Dtype>,
    ) -> Result<ArrayLayout, notation::Error> {
        match self.spec().filter(Spec::has_tables) {
            Some(spec) => spec.array_layout(dims, dtype, &FileLists::default()),
            None => self.resolve(dims, dtype).map(|named| ArrayLayout::of(&named)),
        }
    }

    /// Returns its SPEC; `None` for a text that does not parse.
    pub(crate) fn spec(&self) -> Option<Spec> {
        match self {
            Wanted::Text(text) => Spec::parse(text).ok(),
            Wanted::Read(read) => Spec::parse(&read.to_spec()).ok(),
        }
    }

    /// Returns the width of the element type that a layout itself names.
    pub(crate) fn dtype_bits(&self) -> Option<u32> {
        match self {
            Wanted::Text(text) => {
                let named = Spec::parse(text).and_then(|spec| spec.resolve(None, None)).ok()?;
                named.dtype().and(named.element_bits())
            }
            Wanted::Read(read) => read.dtype()?.storage_bits(),
        }
    }
}

impl Ask {
    pub(crate) fn new(
        from: Option<&Bound<'_, PyAny>>,
        to: Option<&Bound<'_, PyAny>>,
        dims: Option<Integers>,
        dtype: Option<&Bound<'_, PyAny>>,
        bits: Option<Integer<u32>>,
        fill: Option<&Bound<'_, PyAny>>,
        order: Option<TextArgument>,
    ) -> PyResult<Ask> {
        Ok(Ask {
            from: from.map(|from| Wanted::of("from_", from)).transpose()?,
            to: to.map(|to| Wanted::of("to", to)).transpose()?,
            dims: Integers::given("dims", dims)?,
            dtype: dtype.map(dtype_of).transpose()?,
            bits: given("bits", bits)?,
            fill: fill.map(fill_of).transpose()?,
            order: ResultOrder::of(order)?,
        })
    }
}

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
) -> PyResult<ResolvedLayout> {
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
