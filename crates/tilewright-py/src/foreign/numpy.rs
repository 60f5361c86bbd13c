//! NumPy's arrays, through the C struct behind `__array_struct__`.
//!
//! Source: NumPy, "The array interface protocol", `PyArrayInterface`.

use pyo3::{
    exceptions::PyTypeError,
    ffi, intern,
    prelude::*,
    sync::PyOnceLock,
    types::{PyMemoryView, PySlice, PyString, PyTuple, PyWeakrefReference},
};
use tilewright::{Dtype, notation};

use super::{Description, Family, Owner, raw::RawArray};
use crate::errors::{broken, refused};
use crate::foreign::raw::ArrayInterface;

/// The longest chain of views that is followed; NumPy makes chains of two.
const MOST_VIEWS: usize = 64;

static ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static MASKED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Returns a NumPy attribute, looked up once.
fn ours<'py>(
    py: Python<'py>,
    lock: &'static PyOnceLock<Py<PyAny>>,
    module: &str,
    name: &str,
) -> PyResult<&'py Bound<'py, PyAny>> {
    let found = lock.get_or_try_init(py, || py.import(module)?.getattr(name).map(Bound::unbind))?;
    Ok(found.bind(py))
}

pub(super) fn is_array(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    // Checks the type itself: `isinstance` would trust an object's `__class__`.
    let (class, base) = (array.get_type(), ours(array.py(), &ARRAY, "numpy", "ndarray")?);
    Ok(class.is(base) || class.is_subclass(base)?)
}

/// Returns an array over the memory of an object with a buffer or `__array_interface__`; `None` for others.
pub(super) fn view<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = object.py();
    if let Ok(interface) = object.getattr("__array_interface__") {
        return shared(object, &interface).map(Some);
    }
    let memoryview = py.import("builtins")?.getattr("memoryview")?;
    match memoryview.call1((object,)) {
        Ok(buffer) => py.import("numpy")?.getattr("asarray")?.call1((buffer,)).map(Some),
        Err(error) if error.is_instance_of::<PyTypeError>(py) => Ok(None),
        Err(error) => Err(refused("array", format!("its buffer cannot be read: {error}"))),
    }
}

/// Returns NumPy's array of an object with an interface, if its address is that of the interface.
fn shared<'py>(
    object: &Bound<'py, PyAny>,
    interface: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = object.py().import("numpy")?.getattr("asarray")?.call1((object,))?;
    let at = |interface: &Bound<'py, PyAny>| -> PyResult<usize> {
        interface.get_item("data")?.get_item(0)?.extract()
    };
    let own = array.getattr("__array_interface__")?;
    match (at(interface), at(&own)) {
        (Ok(there), Ok(here)) if there == here => Ok(array),
        _ => Err(refused("copy", "NumPy copies this object; make an array of it first")),
    }
}

pub(super) fn said(array: &Bound<'_, PyAny>) -> PyResult<Description> {
    let py = array.py();
    if !array.get_type().is(ours(py, &ARRAY, "numpy", "ndarray")?)
        && array.is_instance(ours(py, &MASKED, "numpy.ma", "MaskedArray")?)?
    {
        let says = "a masked array has two buffers; pass its .data, or .filled()";
        return Err(refused("array", says));
    }
    // Taken before the address is read, so that the address stays valid.
    let pins = pins(array)?;
    let own_dtype = attribute(array, intern!(py, "dtype"))?;
    let capsule = attribute(array, intern!(py, "__array_struct__"))?;
    // SAFETY: `capsule` is a live object, the `__array_struct__` that NumPy's own class gave, and a null name is what
    // NumPy's capsules have. For any other object the call returns null, which is checked below.
    let raw = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), std::ptr::null()) };
    if raw.is_null() {
        return Err(PyErr::fetch(py));
    }
    // SAFETY: `raw` is not null, as checked above, and is the pointer of NumPy's `__array_struct__`, which by the
    // protocol is a `PyArrayInterface`. It lives as long as `capsule`, which this function and the owner hold.
    let interface = unsafe { &*raw.cast::<ArrayInterface>() };
    // SAFETY: by the protocol the lists of the struct have `nd` integers each; `capsule` keeps them alive.
    let Some(said) = (unsafe { interface.array() }) else {
        return Err(broken("NumPy's array struct is not as documented"));
    };
    let writable = match interface.has_fields() {
        true => attribute(array, intern!(py, "flags"))?.getattr("writeable")?.is_truthy()?,
        false => said.writable,
    };
    let mut said = RawArray { writable, ..said };
    said.facts.dtype = dtype(said.facts.dtype, &own_dtype)?;
    Ok(Description {
        device: None,
        array: said,
        family: Family::Numpy,
        own_dtype: Some(own_dtype.unbind()),
        owner: Owner::Array(array.clone().unbind(), capsule.unbind(), pins),
    })
}

/// Returns an attribute as NumPy defines it. A subclass may define another, which could describe another array's memory.
fn attribute<'py>(
    array: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    let base = ours(array.py(), &ARRAY, "numpy", "ndarray")?;
    match array.get_type().is(base) {
        true => array.getattr(name),
        false => base.getattr(name)?.call_method1(intern!(array.py(), "__get__"), (array,)),
    }
}

/// Returns weak references to the array and to those of whose memory it is a view. NumPy does not move the memory of an array
/// with weak references: `resize` refuses, even with `refcheck=False`. An export of its buffer does not prevent that.
fn pins(array: &Bound<'_, PyAny>) -> PyResult<Vec<Py<PyAny>>> {
    let mut pins = Vec::new();
    let mut next = Some(array.clone());
    while let Some(array) = next.filter(|_| pins.len() < MOST_VIEWS) {
        pins.push(PyWeakrefReference::new(&array)?.into_any().unbind());
        next = viewed(&array)?;
    }
    Ok(pins)
}

/// Returns the array of whose memory this one is a view, directly or through a buffer.
fn viewed<'py>(array: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let base = attribute(array, intern!(array.py(), "base"))?;
    if base.is_none() {
        return Ok(None);
    }
    let base = match base.cast_into::<PyMemoryView>() {
        Ok(buffer) => buffer.getattr("obj")?,
        Err(other) => other.into_inner(),
    };
    Ok(is_array(&base)?.then_some(base))
}

/// Returns the element type if its code does not determine it; `None` for one that layouts cannot name, an error for Python
/// objects.
fn dtype(coded: Option<Dtype>, own: &Bound<'_, PyAny>) -> PyResult<Option<Dtype>> {
    if coded.is_some() {
        return Ok(coded);
    }
    if own.getattr("hasobject")?.is_truthy()? {
        let says = "elements are Python objects, which cannot be moved as bytes";
        return Err(refused("dtype", says));
    }
    let name = own.getattr("name")?.extract::<String>()?;
    Ok(notation::dtype(&name).ok())
}

/// Arrays of at least this number of bytes begin at a cache line, because whole lines are written faster.
const LARGE: u64 = 1 << 16;
const LINE: usize = 64;

/// Returns a new NumPy array with uninitialised bytes; `dtype` is NumPy's type or a name.
pub(crate) fn empty<'py>(
    py: Python<'py>,
    shape: &[u64],
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let made = match dtype.extract::<String>() {
        Ok(name) => named(py, &name)?,
        Err(_) => dtype.clone(),
    };
    let empty = ours(py, &EMPTY, "numpy", "empty")?;
    let item = made.getattr(intern!(py, "itemsize"))?.extract::<u64>()?;
    let bytes = shape.iter().fold(item, |bytes, extent| bytes.saturating_mul(*extent));
    if bytes < LARGE {
        return empty.call1((PyTuple::new(py, shape)?, made));
    }
    let raw = empty.call1((bytes.saturating_add(LINE as u64), "uint8"))?;
    let skip = said(&raw)?.array.data.align_offset(LINE) as u64;
    let line = raw.get_item(PySlice::new(py, to_isize(skip)?, to_isize(skip + bytes)?, 1))?;
    line.call_method1("view", (made,))?.call_method1("reshape", (PyTuple::new(py, shape)?,))
}

/// Converts a length to Python's index type.
fn to_isize(bytes: u64) -> PyResult<isize> {
    isize::try_from(bytes)
        .map_err(|_| refused("overflow", "an array beyond this machine's addresses"))
}

/// Returns an element type of NumPy or ml_dtypes.
pub(crate) fn named<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let numpy = py.import("numpy")?;
    let make = numpy.getattr("dtype")?;
    if let Ok(found) = make.call1((name,)) {
        return Ok(found);
    }
    let narrow = py.import("ml_dtypes").and_then(|module| module.getattr(name));
    narrow.and_then(|found| make.call1((found,))).map_err(|_| {
        let says =
            format!("NumPy alone has no {name}; install ml_dtypes, or give an output of bytes");
        refused("dtype", says)
    })
}
