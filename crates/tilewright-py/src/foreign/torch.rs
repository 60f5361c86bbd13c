//! torch's tensors, through their methods: every element type, without a capsule.

use std::sync::{Mutex, PoisonError};

use pyo3::{
    intern,
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyTuple},
};
use tilewright::{Dtype, notation};

use super::{Description, Device, Facts, Family, Owner, Reach, raw::RawArray};
use crate::errors::refused;

static TENSOR: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static STRIDED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Returns the module, if it was imported; otherwise there cannot be a tensor.
fn imported(py: Python<'_>) -> PyResult<Option<Bound<'_, PyAny>>> {
    let modules = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
    Ok(modules.get_item("torch")?.filter(|module| !module.is_none()))
}

pub(super) fn is_tensor(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = array.py();
    if let Some(tensor) = TENSOR.get(py) {
        return array.is_instance(tensor.bind(py));
    }
    let Some(torch) = imported(py)? else { return Ok(false) };
    // A partially imported torch has no tensors yet.
    let Ok(tensor) = torch.getattr("Tensor") else { return Ok(false) };
    array.is_instance(TENSOR.get_or_init(py, || tensor.unbind()).bind(py))
}

/// Returns whether the array is of torch's own tensor class, once some tensor was seen. It is checked first, because the check
/// takes a hundredth of the time of the check for subclasses.
pub(super) fn is_plain(array: &Bound<'_, PyAny>) -> bool {
    TENSOR.get(array.py()).is_some_and(|tensor| array.get_type().is(tensor))
}

pub(super) fn said(tensor: &Bound<'_, PyAny>, reach: Reach) -> PyResult<Description> {
    if is_plain(tensor) {
        // A tensor of another layout has no address, which causes an error.
        return plain(tensor, reach).or_else(|error| strided(tensor, reach).and(Err(error)));
    }
    strided(tensor, reach).and_then(|()| plain(tensor, reach))
}

/// Returns the description of a strided tensor.
fn plain(tensor: &Bound<'_, PyAny>, reach: Reach) -> PyResult<Description> {
    let py = tensor.py();
    let dtype = tensor.getattr(intern!(py, "dtype"))?;
    let Element { dtype: element, itemsize, complex } = element(tensor, &dtype)?;
    let device = check(tensor, complex, reach)?;
    let data =
        tensor.call_method0(intern!(py, "data_ptr")).and_then(|data| data.extract::<usize>());
    let data = data.map_err(|error| {
        refused("array", format!("the tensor's memory cannot be read: {error}"))
    })?;
    // Nested tensors have no strides.
    let strides = tensor.call_method0(intern!(py, "stride")).and_then(integers::<i64>);
    let strides = strides.map_err(|error| {
        refused("array", format!("the tensor's strides cannot be read: {error}"))
    })?;
    let facts = Facts {
        shape: integers(tensor.getattr(intern!(py, "shape"))?)?,
        strides: strides.into_iter().map(|one| one.saturating_mul(itemsize as i64)).collect(),
        itemsize,
        dtype: element,
        swapped: false,
    };
    within_storage(tensor, &facts)?;
    // Autograd does not track reads; a write would bypass it.
    let writable = !tensor.getattr(intern!(py, "requires_grad"))?.is_truthy()?;
    Ok(Description {
        array: RawArray { data: data as *const u8, facts, writable },
        family: Family::Torch,
        device,
        own_dtype: Some(dtype.unbind()),
        owner: Owner::Object(tensor.clone().unbind()),
    })
}

/// Returns the integers of a tuple.
fn integers<'py, T>(tuple: Bound<'py, PyAny>) -> PyResult<Vec<T>>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    tuple.cast_into::<PyTuple>()?.iter_borrowed().map(|one| one.extract()).collect()
}

/// Refuses a tensor that is larger than its storage.
fn within_storage(tensor: &Bound<'_, PyAny>, facts: &Facts) -> PyResult<()> {
    let py = tensor.py();
    let held = tensor.call_method0(intern!(py, "untyped_storage"))?;
    let held = held.call_method0(intern!(py, "nbytes"))?.extract::<u64>()?;
    let first = tensor.call_method0(intern!(py, "storage_offset"))?.extract::<u64>()?;
    let end = facts.reach().map(|(below, span)| span.saturating_sub(below) as u64);
    let end = end.and_then(|end| first.checked_mul(facts.itemsize as u64)?.checked_add(end));
    if facts.size() > 0 && end.is_none_or(|end| end > held) {
        let says =
            format!("the tensor reaches beyond the {held} bytes of its storage, which was resized");
        return Err(refused("array", says));
    }
    Ok(())
}

/// The known facts of a torch element type.
#[derive(Clone, Copy)]
struct Element {
    /// The element type of layouts; `None` if they cannot name it.
    dtype: Option<Dtype>,
    itemsize: usize,
    complex: bool,
}

/// A cache of element types: the text of one takes longer than all other queries of a tensor.
static ELEMENTS: Mutex<Vec<(Py<PyAny>, Element)>> = Mutex::new(Vec::new());

/// The largest number of cached types; torch has about forty.
const MOST_ELEMENTS: usize = 100;

/// Returns the facts of a tensor's element type, which is `dtype`.
fn element(tensor: &Bound<'_, PyAny>, dtype: &Bound<'_, PyAny>) -> PyResult<Element> {
    let known = || ELEMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, element)) = known().iter().find(|(known, _)| known.is(dtype)) {
        return Ok(*element);
    }
    let name = dtype.str()?.to_string();
    let found = notation::dtype(&name).ok();
    let plain = ["torch.q", "torch.bits"].iter().all(|other| !name.starts_with(other));
    if found.is_none() && !plain {
        let says = format!(
            "elements of {name} are not plain numbers; take .int_repr(), or view them as bytes"
        );
        return Err(refused("dtype", says));
    }
    let itemsize = tensor.call_method0("element_size")?.extract()?;
    let complex = dtype.getattr("is_complex")?.is_truthy()?;
    let element = Element { dtype: found, itemsize, complex };
    let mut known = known();
    if known.len() < MOST_ELEMENTS {
        known.push((dtype.clone().unbind(), element));
    }
    Ok(element)
}

/// Refuses tensors in other places, or whose bytes are not their values.
fn check(tensor: &Bound<'_, PyAny>, complex: bool, reach: Reach) -> PyResult<Option<Device>> {
    let py = tensor.py();
    let device = on_device(tensor, reach)?;
    let lazy = [
        // Real numbers equal their conjugates.
        (complex, intern!(py, "is_conj"), "conjugated", "resolve_conj"),
        (true, intern!(py, "is_neg"), "negated", "resolve_neg"),
    ];
    for (_, asks, how, resolve) in lazy.into_iter().filter(|(may, ..)| *may) {
        if tensor.call_method0(asks)?.is_truthy()? {
            return Err(refused("copy", format!("the tensor is {how} lazily; pass .{resolve}()")));
        }
    }
    Ok(device)
}

/// Returns the CUDA device of a tensor, if devices are accepted; `None` for the CPU.
fn on_device(tensor: &Bound<'_, PyAny>, reach: Reach) -> PyResult<Option<Device>> {
    if tensor.getattr(intern!(tensor.py(), "is_cpu"))?.is_truthy()? {
        return Ok(None);
    }
    if reach == Reach::Devices && tensor.getattr(intern!(tensor.py(), "is_cuda"))?.is_truthy()? {
        return Device::of_torch(tensor).map(Some);
    }
    let device = tensor.getattr("device")?.str()?;
    Err(refused(
        "device",
        format!("the tensor is on {device}; bring it to the CPU first, by .cpu()"),
    ))
}

/// Refuses tensors that are not strided arrays.
fn strided(tensor: &Bound<'_, PyAny>, reach: Reach) -> PyResult<()> {
    let py = tensor.py();
    on_device(tensor, reach)?;
    let strided = || py.import("torch")?.getattr("strided").map(Bound::unbind);
    let layout = tensor.getattr(intern!(py, "layout"))?;
    if layout.is(STRIDED.get_or_try_init(py, strided)?.bind(py)) {
        return Ok(());
    }
    let says =
        format!("a tensor of layout {} has no single buffer; pass .to_dense()", layout.str()?);
    Err(refused("array", says))
}

/// Returns a new tensor on the CPU or a device, with uninitialised bytes; `dtype` is torch's type or a NumPy name.
pub(crate) fn empty<'py>(
    py: Python<'py>,
    shape: &[u64],
    dtype: &Bound<'py, PyAny>,
    device: Option<Device>,
) -> PyResult<Bound<'py, PyAny>> {
    let torch = py.import("torch")?;
    let dtype = match dtype.extract::<String>() {
        Ok(name) => torch.getattr(&*name).map_err(|_| {
            refused("dtype", format!("torch has no {name}; give an output of another library"))
        })?,
        Err(_) => dtype.clone(),
    };
    let keywords = PyDict::new(py);
    keywords.set_item("dtype", dtype)?;
    if let Some(device) = device {
        keywords.set_item("device", format!("cuda:{}", device.ordinal()))?;
    }
    torch.getattr("empty")?.call((PyTuple::new(py, shape)?,), Some(&keywords))
}
