//! Arrays of any library, through a DLPack capsule.
//!
//! Source: DLPack 1.1, `include/dlpack/dlpack.h`, and its Python specification.

use super::{
    Description, Device, Family, Owner, Reach,
    device::elsewhere,
    raw::{Refusal, dlpack::Managed},
};
use crate::errors::refused;
use pyo3::{
    exceptions::{PyAttributeError, PyBufferError, PyRuntimeError, PyTypeError, PyValueError},
    ffi,
    prelude::*,
    types::{PyCapsule, PyDict},
};
use tilewright::cuda::Stream;

/// The kinds of CPU memory, and of host memory that a GPU can access as well.
const HOST: [i32; 3] = [1, 3, 11];
/// Memory of a CUDA device, and memory that it shares with the CPU.
const CUDA: [i32; 2] = [2, 13];

/// The stream number that tells a library not to order anything.
const UNORDERED: i64 = -1;

/// A tensor taken out of its capsule, returned to its library when dropped.
#[derive(Debug)]
pub(super) struct Taken(Managed);

impl Drop for Taken {
    fn drop(&mut self) {
        // Deleters may access Python objects: without an interpreter the tensor remains until the process ends.
        // SAFETY: a value is dropped once, and nothing is asked of the tensor afterwards.
        let _ = Python::try_attach(|_| unsafe { self.0.delete() });
    }
}

pub(super) fn said(array: &Bound<'_, PyAny>, reach: Reach) -> PyResult<Description> {
    let device = array.call_method0("__dlpack_device__");
    let device = device.map_err(|error| unshared(array.py(), error))?;
    let (kind, id) = device.extract::<(i32, i32)>().map_err(|_| {
        refused("array", "the array shares no memory: its __dlpack_device__ is not two integers")
    })?;
    let device = match kind {
        kind if HOST.contains(&kind) => None,
        kind if CUDA.contains(&kind) => Some(Device::of_array(array, id)?),
        kind => return Err(elsewhere(kind, id)),
    };
    let (family, device) = device.map_or((Family::Other, None), |(family, on)| (family, Some(on)));
    if let (Some(device), Reach::Host) = (device, reach) {
        return Err(device.refused());
    }
    // If the library's stream is known, the move is ordered with that stream when it is queued.
    let stream = device.map(|device| match device.stream() {
        Some(_) => UNORDERED,
        None => Stream::LEGACY.handle().cast_signed(),
    });
    let taken = take(&capsule(array, stream)?)?;
    let said = taken.0.array()?;
    same_place(taken.0.device(), device, id)?;
    let owner = Owner::Capsule(taken, array.clone().unbind());
    Ok(Description { array: said, family, device, own_dtype: None, owner })
}

/// Refuses a tensor that is on another device than its array states.
fn same_place((kind, id): (i32, i32), device: Option<Device>, own: i32) -> Result<(), Refusal> {
    let same = match device {
        None => HOST.contains(&kind),
        Some(device) => CUDA.contains(&kind) && id == device.ordinal(),
    };
    if same {
        return Ok(());
    }
    let says = format!(
        "the array says that it is on device {own} of another kind or number than its DLPack tensor, which is on device {id} \
         of kind {kind}"
    );
    Err(Refusal::new("array", says))
}

/// Makes an array's library order its queued work before a stream; returns the capsule.
pub(crate) fn order(array: &Bound<'_, PyAny>, stream: Stream) -> PyResult<Option<Py<PyAny>>> {
    match array.hasattr("__dlpack__")? {
        true => capsule(array, Some(stream.handle().cast_signed())).map(|it| Some(it.unbind())),
        false => Ok(None),
    }
}

/// Returns the capsule, without a copy if the library can promise that. Unfinished work on the array is ordered before `stream`,
/// if there is one, except for [`UNORDERED`].
fn capsule<'py>(array: &Bound<'py, PyAny>, stream: Option<i64>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let export = array.getattr("__dlpack__")?;
    let keywords = PyDict::new(py);
    if let Some(stream) = stream {
        keywords.set_item("stream", stream)?;
    }
    let plain = keywords.copy()?;
    keywords.set_item("max_version", (1, 1))?;
    keywords.set_item("copy", false)?;
    let given = match export.call((), Some(&keywords)) {
        // An older library does not have these arguments.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => export.call((), Some(&plain)),
        given => given,
    };
    given.map_err(|error| unshared(py, error))
}

/// Returns the error of a library that does not share memory: traced jax arrays raise `AttributeError`.
fn unshared(py: Python<'_>, error: PyErr) -> PyErr {
    let refuses = error.is_instance_of::<PyAttributeError>(py)
        || error.is_instance_of::<PyBufferError>(py)
        || error.is_instance_of::<PyValueError>(py)
        || error.is_instance_of::<PyRuntimeError>(py);
    match refuses {
        true => refused("array", format!("the array does not share its memory: {error}")),
        false => error,
    }
}

/// Takes the tensor of a capsule, which cannot be used again.
fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Taken> {
    let py = capsule.py();
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| {
        refused("array", "the array shares no memory: its __dlpack__ gives no capsule")
    })?;
    for (name, used, is_versioned) in [
        (c"dltensor_versioned", c"used_dltensor_versioned", true),
        (c"dltensor", c"used_dltensor", false),
    ] {
        // SAFETY: `capsule` is a live `PyCapsule`, as `cast` checked above, and `name` a static string that ends in 0.
        if unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) } == 0 {
            continue;
        }
        // SAFETY: `PyCapsule_IsValid` just said that `capsule` has this name and a pointer that is not null.
        let raw = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr()) };
        // SAFETY: `capsule` as above; `used` is a static string, so it outlives the capsule. The capsule's own destructor
        // does nothing under this name, so `Taken` now owns the tensor.
        if unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()) } != 0 {
            return Err(PyErr::fetch(py));
        }
        // SAFETY: by the protocol a capsule of this name has a pointer to the struct of this kind; under its other name
        // nobody else frees it before `Taken` does.
        return Ok(Taken(unsafe { Managed::new(raw, is_versioned) }));
    }
    Err(refused("array", "the capsule of __dlpack__ was already used, or is not a DLPack capsule"))
}
