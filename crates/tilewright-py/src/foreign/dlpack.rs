//! DLPack capsules: arrays of any library that are taken from one, and arrays of this package that are given in one.
//!
//! This package owns arrays in the memory of a device: results for libraries that cannot make an array for others to write, and
//! results of `get`.
//!
//! Source: DLPack 1.1, `include/dlpack/dlpack.h`, and its Python specification.

use std::{
    ffi::{CStr, c_void},
    sync::Arc,
};

use pyo3::{
    exceptions::{PyAttributeError, PyBufferError, PyRuntimeError, PyTypeError, PyValueError},
    ffi,
    prelude::*,
    types::{PyCapsule, PyDict, PyTuple},
};
use tilewright::{
    Dtype,
    cuda::{DeviceContext, Error, Memory as Allocated, Stream, StreamEvent},
    notation,
};

use crate::{
    arguments::tuple,
    errors::refused,
    foreign::{
        Description, Device, Family, Owner, Reach,
        device::{self, StreamEvents, Use, elsewhere, raised, shared},
        numpy,
        raw::{DataType, DlpackDevice, DlpackTensor, Managed, Refusal, Unversioned, Versioned},
    },
};

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

/// An array in the memory of a CUDA device, for any reader: ``from_dlpack`` of torch, cupy and jax, or code that accepts
/// ``__cuda_array_interface__``. Its memory is freed when the last user releases it.
///
/// The user passes the stream on which the array will be used, as DLPack defines it, and that stream waits for the work that
/// makes the array; the host does not wait.
#[pyclass(name = "DeviceArray", module = "tilewright", frozen)]
pub(crate) struct PyDeviceArray {
    memory: Arc<Owned>,
    ordinal: i32,
    dtype: Dtype,
    shape: Vec<u64>,
    /// In elements.
    strides: Vec<i64>,
    queued: Arc<StreamEvents>,
}

/// Memory that waits for the device when it is freed; the GIL is released meanwhile, because work on the device may need it.
#[derive(Debug)]
struct Owned(Option<Allocated>);

impl Owned {
    /// Returns the memory, which exists until the value is dropped.
    fn get(&self) -> &Allocated {
        self.0.as_ref().expect("memory is there until it is dropped")
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        let memory = &mut self.0;
        if Python::try_attach(|py| py.detach(|| drop(memory.take()))).is_none() {
            // The interpreter has ended, and the process ends: the memory ends with it.
            std::mem::forget(self.0.take());
        }
    }
}

/// Returns a new array with uninitialised bytes; `dtype` is a NumPy name.
pub(crate) fn empty<'py>(
    py: Python<'py>,
    shape: &[u64],
    dtype: &Bound<'py, PyAny>,
    ordinal: i32,
) -> PyResult<Bound<'py, PyAny>> {
    let name = dtype.str()?.to_string();
    let dtype = notation::dtype(&name)
        .map_err(|_| refused("dtype", format!("no array on a device has elements of {name}")))?;
    let bits = dtype.storage_bits().filter(|bits| bits.is_multiple_of(8)).unwrap_or(8);
    let size = shape.iter().try_fold(u64::from(bits / 8), |size, extent| size.checked_mul(*extent));
    let size = size.ok_or_else(|| refused("overflow", "an array beyond 64 bits"))?;
    let cuda = shared(py)?;
    device::let_go();
    let made = py.detach(|| Allocated::new(&DeviceContext::new(&cuda, ordinal)?, size));
    let memory = Arc::new(Owned(Some(made.map_err(|error| raised(&error))?)));
    let mut strides: Vec<i64> = Vec::with_capacity(shape.len());
    let mut within = 1i64;
    for extent in shape.iter().rev() {
        strides.push(within);
        within = within.saturating_mul(i64::try_from((*extent).max(1)).unwrap_or(i64::MAX));
    }
    strides.reverse();
    let (shape, queued) = (shape.to_vec(), Arc::default());
    let made = PyDeviceArray { memory, ordinal, dtype, shape, strides, queued };
    Ok(Bound::new(py, made)?.into_any())
}

/// Returns a jax array over the same memory.
pub(crate) fn as_jax<'py>(made: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    made.py().import("jax.dlpack")?.call_method1("from_dlpack", (made,))
}

impl PyDeviceArray {
    /// Writes bytes of the host; they have arrived when this returns.
    pub(crate) fn write(&self, py: Python<'_>, at: u64, data: &[u8]) -> PyResult<()> {
        py.detach(|| self.memory.get().write(at, data)).map_err(|error| raised(&error))
    }

    /// Records the end of queued work that uses the array.
    pub(crate) fn used(&self, to: Use, event: &Arc<StreamEvent>) {
        self.queued.used(to, event);
    }

    /// Returns whether all work that must precede an access to the array is done.
    pub(crate) fn is_free(&self, to: Use) -> bool {
        self.queued.before(to).is_empty()
    }

    /// Makes a stream wait for the work that must precede an access to the array.
    pub(crate) fn before(&self, to: Use, stream: Stream) -> Result<(), Error> {
        self.queued.before(to).iter().try_for_each(|event| event.before(stream))
    }

    /// Makes a stream of another library wait. The stream may be captured, and a graph cannot wait for queued work.
    fn given_to(&self, py: Python<'_>, stream: Stream) -> PyResult<()> {
        let queued = self.queued.before(Use::Write);
        if queued.is_empty() {
            return Ok(());
        }
        let cuda = shared(py)?;
        if StreamEvent::new(&cuda, self.ordinal, stream).map_err(|error| raised(&error))?.is_none()
        {
            let says = "a captured stream cannot wait for work on the array that is not done; wait for it before the capture";
            return Err(refused("captured", says));
        }
        queued.iter().try_for_each(|event| event.before(stream)).map_err(|error| raised(&error))
    }

    /// Returns the same memory as contiguous elements of another type and shape.
    pub(crate) fn seen_as(&self, dtype: &str, shape: &[u64]) -> PyResult<PyDeviceArray> {
        let dtype = notation::dtype(dtype).map_err(|_| {
            refused("dtype", format!("no array on a device has elements of {dtype}"))
        })?;
        let mut strides = vec![1i64; shape.len()];
        for dim in (1..shape.len()).rev() {
            let extent = i64::try_from(shape[dim].max(1)).unwrap_or(i64::MAX);
            strides[dim - 1] = strides[dim].saturating_mul(extent);
        }
        let (memory, queued) = (self.memory.clone(), self.queued.clone());
        let (ordinal, shape) = (self.ordinal, shape.to_vec());
        Ok(PyDeviceArray { memory, ordinal, dtype, shape, strides, queued })
    }

    fn itemsize(&self) -> i64 {
        self.dtype.storage_bits().map_or(1, |bits| i64::from(bits.div_ceil(8)))
    }

    fn size(&self) -> u64 {
        self.shape.iter().product()
    }

    fn bytes_strides(&self) -> Vec<i64> {
        self.strides.iter().map(|stride| stride.saturating_mul(self.itemsize())).collect()
    }
}

#[pymethods]
impl PyDeviceArray {
    /// Returns the elements as a NumPy array, after all work queued on the device is done.
    ///
    /// .. code-block:: python
    ///
    ///     with tw.open("model.safetensors") as m:
    ///         weights = m.get("a.weight", device="cuda")
    ///     weights.numpy()      # of weights.shape and weights.dtype
    ///
    /// :raises DtypeError: if NumPy does not have such elements and ml_dtypes is not installed :raises DeviceError: ``driver`` if
    /// queued work failed
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let name = self.dtype.array_name().unwrap_or("uint8");
        let mut data = vec![0; usize::try_from(self.memory.get().bytes()).unwrap_or(usize::MAX)];
        py.detach(|| self.memory.get().read(0, &mut data)).map_err(|error| raised(&error))?;
        let flat = py.import("numpy")?.call_method1("frombuffer", (data.as_slice(), "uint8"))?;
        let keywords = PyDict::new(py);
        keywords.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        keywords.set_item("dtype", numpy::named(py, name)?)?;
        keywords.set_item("strides", PyTuple::new(py, self.bytes_strides())?)?;
        keywords.set_item("buffer", flat)?;
        let seen = py.import("numpy")?.getattr("ndarray")?.call((), Some(&keywords))?;
        seen.call_method0("copy")
    }

    /// Returns the same memory with its dims in another order; reversed by default.
    ///
    /// .. code-block:: python
    ///
    ///     weights.shape                      # (2, 3, 4)
    ///     weights.transpose().shape          # (4, 3, 2)
    ///     weights.transpose([0, 2, 1]).shape # (2, 4, 3)
    ///
    /// :raises ArgumentError: if ``axes`` do not name each dim once, such as ``[0, 0, 1]``
    #[pyo3(signature = (axes = None, /))]
    fn transpose(&self, axes: Option<Vec<usize>>) -> PyResult<PyDeviceArray> {
        let rank = self.shape.len();
        let axes = axes.unwrap_or_else(|| (0..rank).rev().collect());
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..rank) {
            let says =
                format!("axes {} of an array of {rank} dims; each is named once", tuple(&axes));
            return Err(refused("arguments", says));
        }
        let (memory, queued) = (self.memory.clone(), self.queued.clone());
        let shape = axes.iter().map(|axis| self.shape[*axis]).collect();
        let strides = axes.iter().map(|axis| self.strides[*axis]).collect();
        Ok(PyDeviceArray {
            memory,
            queued,
            shape,
            strides,
            ordinal: self.ordinal,
            dtype: self.dtype,
        })
    }

    /// The extents, in elements: ``(2, 3)``.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    /// The strides in bytes, like NumPy's: ``(12, 4)`` for ``(2, 3)`` elements of ``float32``.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.bytes_strides())
    }

    /// The element type by NumPy's name: ``float32``.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.dtype.array_name().unwrap_or("uint8")
    }

    /// The number of bytes of the elements: 24 for ``(2, 3)`` elements of ``float32``.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.size().saturating_mul(self.itemsize().unsigned_abs())
    }

    /// The device pointer to the first element. A user of the pointer must wait for queued work, as ``numpy`` does.
    #[getter]
    fn address(&self) -> u64 {
        self.memory.get().address()
    }

    /// The device: ``cuda:0``.
    #[getter]
    fn device(&self) -> String {
        format!("cuda:{}", self.ordinal)
    }

    /// The array for numba and others; the default stream waits for the work that makes it.
    #[getter(__cuda_array_interface__)]
    fn interface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let named =
            numpy::named(py, self.dtype()).and_then(|dtype| dtype.getattr("str")?.extract());
        let code: String = named.unwrap_or_default();
        if code.is_empty() || code.contains('V') {
            let says = format!("__cuda_array_interface__ cannot express {}", self.dtype());
            return Err(PyAttributeError::new_err(says));
        }
        self.given_to(py, Stream::LEGACY)?;
        let says = PyDict::new(py);
        says.set_item("version", 3)?;
        says.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        says.set_item("strides", PyTuple::new(py, self.bytes_strides())?)?;
        says.set_item("typestr", code)?;
        says.set_item(
            "data",
            (if self.size() > 0 { self.memory.get().address() } else { 0 }, false),
        )?;
        says.set_item("stream", 1)?;
        Ok(says)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        (2, self.ordinal)
    }

    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        this: Bound<'py, Self>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, own) = (this.py(), this.get());
        if dl_device.is_some_and(|device| device != (2, own.ordinal)) || copy == Some(true) {
            let says =
                format!("the array is on {}, and is neither copied nor moved there", own.device());
            return Err(PyBufferError::new_err(says));
        }
        match stream.map(u64::try_from) {
            None => own.given_to(py, Stream::LEGACY)?,
            Some(Ok(0)) => {
                let says = "stream=0 is ambiguous; 1 is the default stream, 2 the default stream of the thread";
                return Err(refused("arguments", says));
            }
            // SAFETY: by the protocol the caller gives a stream that exists.
            Some(Ok(handle)) => own.given_to(py, unsafe { Stream::new(handle) })?,
            // -1: the caller orders its own work.
            Some(Err(_)) => {}
        }
        let element = (own.dtype.dlpack_code(), u8::try_from(own.itemsize() * 8).ok());
        let (Some(code), Some(bits)) = element else {
            return Err(PyBufferError::new_err(format!(
                "DLPack cannot express elements of {}",
                own.dtype()
            )));
        };
        let export = Export {
            address: own.memory.get().address(),
            ordinal: own.ordinal,
            element: (code, bits),
            shape: own
                .shape
                .iter()
                .map(|extent| i64::try_from(*extent).unwrap_or(i64::MAX))
                .collect(),
            strides: own.strides.clone(),
        };
        export.capsule(this.into_any(), max_version.is_some_and(|(major, _)| major >= 1))
    }

    fn __repr__(&self) -> String {
        format!(
            "<DeviceArray on {}: {}, shape {}>",
            self.device(),
            self.dtype(),
            tuple(&self.shape)
        )
    }
}

const VERSIONED: &CStr = c"dltensor_versioned";
const UNVERSIONED: &CStr = c"dltensor";
/// The version of DLPack whose structs these are.
const VERSION: (u32, u32) = (1, 0);

/// The facts that a capsule states about its array.
struct Export {
    pub(super) address: u64,
    pub(super) ordinal: i32,
    /// DLPack's code of the element type, and its width in bits.
    pub(super) element: (u8, u8),
    pub(super) shape: Vec<i64>,
    /// In elements.
    pub(super) strides: Vec<i64>,
}

/// A tensor in both forms, with the objects that keep its lists and its memory alive.
struct Exported {
    versioned: Versioned,
    unversioned: Unversioned,
    _export: Export,
    _owner: Py<PyAny>,
}

impl Export {
    fn tensor(&self) -> DlpackTensor {
        let (code, bits) = self.element;
        DlpackTensor {
            data: std::ptr::with_exposed_provenance(self.address as usize),
            device: DlpackDevice { kind: 2, id: self.ordinal },
            ndim: self.shape.len() as i32,
            dtype: DataType { code, bits, lanes: 1 },
            shape: self.shape.as_ptr(),
            strides: self.strides.as_ptr(),
            byte_offset: 0,
        }
    }

    /// Returns the capsule, versioned or of the older kind; `owner` owns the memory.
    pub(super) fn capsule(
        self,
        owner: Bound<'_, PyAny>,
        is_versioned: bool,
    ) -> PyResult<Bound<'_, PyAny>> {
        let py = owner.py();
        let context = std::ptr::null_mut();
        let (major, minor) = VERSION;
        let (deleter, other) = (Some(end_versioned as _), Some(end_unversioned as _));
        let versioned =
            Versioned { major, minor, context, deleter, flags: 0, tensor: self.tensor() };
        let unversioned = Unversioned { tensor: self.tensor(), context, deleter: other };
        let exported = Exported { versioned, unversioned, _export: self, _owner: owner.unbind() };
        let raw: *mut Exported = Box::into_raw(Box::new(exported));
        // SAFETY: `raw` was just made by `Box::into_raw` and nobody else has it; its fields are written and their addresses
        // taken through it.
        let (pointer, name): (*mut c_void, _) = unsafe {
            (*raw).versioned.context = raw.cast();
            (*raw).unversioned.context = raw.cast();
            match is_versioned {
                true => ((&raw mut (*raw).versioned).cast(), VERSIONED),
                false => ((&raw mut (*raw).unversioned).cast(), UNVERSIONED),
            }
        };
        // SAFETY: `pointer` is not null, `name` is static, and `end` takes a capsule of either name.
        let made = unsafe { ffi::PyCapsule_New(pointer, name.as_ptr(), Some(end)) };
        if made.is_null() {
            // SAFETY: `raw` comes from `Box::into_raw`, and no capsule has it.
            drop(unsafe { Box::from_raw(raw) });
            return Err(PyErr::fetch(py));
        }
        // SAFETY: `PyCapsule_New` gave a new reference, which is not null.
        Ok(unsafe { Bound::from_owned_ptr(py, made) })
    }
}

/// The deleter of a versioned tensor.
///
/// # Safety
/// `raw` is the tensor of an [`Exported`], whose deleter was not called before.
unsafe extern "C" fn end_versioned(raw: *mut Versioned) {
    // SAFETY: `# Safety`: `raw` lives, and its context is the box that it is in.
    unsafe { free((*raw).context) }
}

/// The deleter of a tensor of the older kind.
///
/// # Safety
/// As for [`end_versioned`].
unsafe extern "C" fn end_unversioned(raw: *mut Unversioned) {
    // SAFETY: `# Safety`: `raw` lives, and its context is the box that it is in.
    unsafe { free((*raw).context) }
}

/// # Safety
/// `context` comes from `Box::into_raw` of an [`Exported`], and is not used again.
unsafe fn free(context: *mut c_void) {
    // The owner is an object of Python's, and a deleter may be called by any thread: without an interpreter the box is left
    // to the end of the process.
    // SAFETY: `# Safety` of `free`.
    let _ = Python::try_attach(|_| drop(unsafe { Box::from_raw(context.cast::<Exported>()) }));
}

/// The destructor of a capsule: frees a tensor that no library has taken.
///
/// # Safety
/// `capsule` is one that [`Export::capsule`] made.
unsafe extern "C" fn end(capsule: *mut ffi::PyObject) {
    for name in [VERSIONED, UNVERSIONED] {
        // SAFETY: `capsule` is a capsule that is being destroyed; `name` is static.
        if unsafe { ffi::PyCapsule_IsValid(capsule, name.as_ptr()) } == 0 {
            continue;
        }
        // SAFETY: the capsule has this name still, so nobody took the tensor, and its pointer is that of `Export::capsule`.
        unsafe {
            let pointer = ffi::PyCapsule_GetPointer(capsule, name.as_ptr());
            match name == VERSIONED {
                true => end_versioned(pointer.cast()),
                false => end_unversioned(pointer.cast()),
            }
        }
        return;
    }
}
