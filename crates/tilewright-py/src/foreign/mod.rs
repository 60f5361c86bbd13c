//! Arrays of other libraries, accessed in place.
//!
//! | file | arrays |
//! |---|---|
//! | `numpy.rs` | NumPy's, and objects that NumPy accepts without a copy: buffers, `__array_interface__` |
//! | `torch.rs` | torch's tensors, through their methods |
//! | `device.rs` | none: devices of arrays on CUDA, the stream on which their library uses them now, and the work that is queued on them |
//! | `dlpack.rs` | all others, including jax's, through a DLPack capsule; this package's own on a device, and their capsules |
//! | `raw/` | none: the structs of these libraries, read without an interpreter |
//!
//! Each file returns a [`Memory`]: the place of the elements and the owner that keeps them alive. This folder is the
//! only part of the package that reads memory which Rust did not allocate. This file makes layouts of arrays from their facts
//! (`Memory` in Python), and checks arrays that are used as a storage: their elements are dense, in C order or, if the caller
//! says so, in Fortran order.
//!
//! An owner is held from before the facts are read until after the bytes are: a buffer's export, a DLPack tensor, or a
//! NumPy array with a weak reference, because of which NumPy refuses to resize it. Some changes cannot be prevented by
//! an owner and are left to the caller, as the documentation of `relayout` states: another thread that writes the same
//! elements, `ndarray.__setstate__`, torch's `resize_` and `set_`, and the memory of an `__array_interface__`.

pub(crate) mod device;
mod dlpack;
mod numpy;
mod raw;
mod torch;

pub(crate) use crate::foreign::device::{Device, Use, cupy_empty, within_cupy};
pub(crate) use crate::foreign::dlpack::{PyDeviceArray, as_jax, empty as own_empty, order};
pub(crate) use crate::foreign::numpy::{empty as numpy_empty, named as numpy_named};
pub(crate) use crate::foreign::raw::Facts;
pub(crate) use crate::foreign::torch::empty as torch_empty;

use pyo3::{PyResult, prelude::*, types::PyTuple};
use tilewright::{
    Dtype, Layout, TensorLayout,
    cuda::DeviceBytes,
    layouts::{MAX_MODES, Mode},
};

use crate::{
    arguments::tuple,
    errors::{Raised, about, refused},
    foreign::raw::{BEYOND, ByteRange, RawArray, Refusal},
};

/// The library of an array, which determines the library of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Numpy,
    Torch,
    /// cupy's arrays, which are on a device.
    Cupy,
    /// jax's arrays on a device.
    Jax,
    /// Arrays of another library, whose results are NumPy's.
    Other,
}

/// An array of another library: its facts, and its place.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) facts: Facts,
    /// The bytes from the lowest element to the end of the highest.
    bytes: ByteRange,
    pub(crate) writable: bool,
    pub(crate) family: Family,
    /// The device that holds the bytes; `None` for the CPU.
    device: Option<Device>,
    /// The element type object of the array.
    pub(crate) own_dtype: Option<Py<PyAny>>,
    /// Keeps the bytes alive.
    _owner: Owner,
}

/// The object that keeps an array's bytes alive.
#[derive(Debug)]
#[allow(dead_code, reason = "an owner is there to be dropped")]
enum Owner {
    Object(Py<PyAny>),
    /// A NumPy array, its array struct, and the weak references that keep its memory in place.
    Array(Py<PyAny>, Py<PyAny>, Vec<Py<PyAny>>),
    /// A DLPack tensor, and the object that exports it: a tensor without a deleter is valid as long as that object.
    Capsule(dlpack::Taken, Py<PyAny>),
}

// SAFETY: the field `bytes` is read and written only through `bytes()` and `bytes_mut()`, which borrow the value and so
// keep `_owner`, whose memory it points to. `_owner` may be dropped by any thread: a Python object may be released from
// any, and `Taken::drop` attaches to the interpreter before it calls a deleter.
unsafe impl Send for Memory {}
// SAFETY: through `&Memory` only `bytes` can be called, which gives a shared slice; `bytes_mut` takes `&mut Memory`.
unsafe impl Sync for Memory {}

/// The description of an array by its library.
struct Description {
    array: RawArray,
    family: Family,
    device: Option<Device>,
    own_dtype: Option<Py<PyAny>>,
    owner: Owner,
}

/// The places of arrays that are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Host,
    Devices,
}

impl From<Refusal> for PyErr {
    fn from(why: Refusal) -> PyErr {
        refused(why.kind, why.says)
    }
}

impl Memory {
    /// Returns the memory of an array of any library, with elements that are plain numbers.
    pub(crate) fn of(array: &Bound<'_, PyAny>) -> PyResult<Memory> {
        Memory::of_any(array)?.plain(array.py())
    }

    /// Returns the memory of an array of plain numbers, which may be on a CUDA device.
    pub(crate) fn anywhere(array: &Bound<'_, PyAny>) -> PyResult<Memory> {
        Memory::any_anywhere(array)?.plain(array.py())
    }

    /// Returns the memory of an array argument, which may be on a CUDA device; an error names the argument.
    pub(crate) fn given_anywhere(argument: &str, array: &Bound<'_, PyAny>) -> PyResult<Memory> {
        Memory::anywhere(array).map_err(|error| about(argument, error))
    }

    /// Refuses elements that are not plain numbers.
    fn plain(self, py: Python<'_>) -> PyResult<Memory> {
        let memory = self;
        match (memory.family, memory.facts.dtype, &memory.own_dtype) {
            (Family::Torch, None, Some(own)) => {
                let name = own.bind(py).str()?;
                let says =
                    format!("elements of {name} are not plain numbers; view them as bytes first");
                Err(refused("dtype", says))
            }
            _ => Ok(memory),
        }
    }

    /// Returns the memory of an array of any library, with elements that are copied unchanged.
    pub(crate) fn of_any(array: &Bound<'_, PyAny>) -> PyResult<Memory> {
        Memory::within(array, Reach::Host)
    }

    /// Returns the memory of an array with any elements, which may be on a CUDA device.
    pub(crate) fn any_anywhere(array: &Bound<'_, PyAny>) -> PyResult<Memory> {
        Memory::within(array, Reach::Devices)
    }

    fn within(array: &Bound<'_, PyAny>, reach: Reach) -> PyResult<Memory> {
        if torch::is_plain(array) {
            return Memory::new(torch::said(array, reach)?);
        }
        if numpy::is_array(array)? {
            return Memory::new(numpy::said(array)?);
        }
        if torch::is_tensor(array)? {
            return Memory::new(torch::said(array, reach)?);
        }
        if array.hasattr("__dlpack__")? {
            return Memory::new(dlpack::said(array, reach)?);
        }
        if let Some(view) = numpy::view(array)? {
            return Memory::new(Description { family: Family::Other, ..numpy::said(&view)? });
        }
        if array.hasattr("__cuda_array_interface__")? {
            let says = "the array is in the memory of a GPU; bring it to the CPU first";
            return Err(refused("device", says));
        }
        let found = array.get_type().fully_qualified_name()?.to_string();
        Err(refused(
            "array",
            format!(
                "{found} cannot share memory: it has neither __dlpack__ nor \
                 __array_interface__ nor a buffer; make an array of it first"
            ),
        ))
    }

    /// Returns the memory of an array argument; an error names the argument.
    pub(crate) fn given(argument: &str, array: &Bound<'_, PyAny>) -> PyResult<Memory> {
        Memory::of(array).map_err(|error| about(argument, error))
    }

    fn new(said: Description) -> PyResult<Memory> {
        let Description { array, family, device, own_dtype, owner } = said;
        let RawArray { data, mut facts, writable } = array;
        facts.settle();
        let bytes = ByteRange::of(data, &facts)?;
        Ok(Memory { facts, bytes, writable, family, device, own_dtype, _owner: owner })
    }

    pub(crate) fn shape(&self) -> &[u64] {
        &self.facts.shape
    }

    pub(crate) fn itemsize(&self) -> usize {
        self.facts.itemsize
    }

    pub(crate) fn dtype(&self) -> Option<Dtype> {
        self.facts.dtype
    }

    /// Returns the number of bytes from the lowest element to the end of the highest.
    pub(crate) fn span(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether two arrays have the same element type object of their library, if both have one.
    pub(crate) fn is_of_type(&self, py: Python<'_>, other: &Memory) -> PyResult<bool> {
        match (&self.own_dtype, &other.own_dtype) {
            (Some(own), Some(other)) => own.bind(py).eq(other),
            _ => Ok(true),
        }
    }

    /// Returns the layout over exactly these bytes: dims are the array's, offset 0 is the lowest element.
    pub(crate) fn layout(&self) -> PyResult<TensorLayout> {
        self.facts.layout()
    }

    /// Returns the bytes from the lowest element to the highest, of an array on the CPU.
    pub(crate) fn bytes(&self) -> PyResult<&[u8]> {
        self.on_host()?;
        // SAFETY: the exporting library gave address, shape, strides and element size for readable memory, which
        // `on_host` found to be the CPU's, and `_owner` keeps it alive while the value is borrowed.
        Ok(unsafe { self.bytes.read() })
    }

    /// Refuses an array on a device.
    fn on_host(&self) -> PyResult<()> {
        match self.device {
            None => Ok(()),
            Some(device) => Err(device.refused()),
        }
    }

    /// Returns the device of the array; `None` for the CPU.
    pub(crate) fn device(&self) -> Option<Device> {
        self.device
    }

    /// Returns the bytes of an array on a device, from the lowest element to the highest.
    pub(crate) fn device_bytes(&self) -> Option<DeviceBytes> {
        self.device?;
        let (address, bytes) = (self.bytes.address() as u64, self.bytes.len() as u64);
        // SAFETY: the exporting library gave address, shape, strides and element size for memory of the device. What is
        // queued runs on the stream on which that library uses the array now, so the library orders its own work and the
        // reuse of the memory behind it; or `turn.rs` orders it with that stream, before and after, and holds the array
        // until the move is done. That another stream uses the array meanwhile is left to the caller, as for any operation of
        // the library.
        Some(unsafe { DeviceBytes::new(address, bytes) })
    }

    /// Returns the bytes for writing, if they are writable; nothing else gets them meanwhile.
    pub(crate) fn bytes_mut(&mut self) -> PyResult<&mut [u8]> {
        if !self.writable {
            return Err(refused("read-only", "the output is read-only"));
        }
        self.on_host()?;
        // SAFETY: the memory is as in `bytes`; `writable`, checked above, is what the exporting library said of it; `fits`
        // of `plan.rs` refuses an output that overlaps its source, and a new result overlaps nothing. `Live` of `learn.rs`
        // lends one array at a time, and what is written there are bytes of its own.
        Ok(unsafe { self.bytes.write() })
    }

    /// Returns a new array in the same place, of this array's library or NumPy, with uninitialised bytes; `dtype` is the
    /// library's type or a NumPy name.
    pub(crate) fn empty<'py>(
        &self,
        shape: &[u64],
        dtype: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = dtype.py();
        if self.device.is_some() {
            device::let_go();
        }
        match (self.family, self.device) {
            (Family::Torch, device) => torch::empty(py, shape, dtype, device),
            (Family::Cupy, Some(device)) => cupy_empty(py, shape, dtype, device.ordinal()),
            (Family::Cupy | Family::Jax | Family::Numpy | Family::Other, None) => {
                numpy::empty(py, shape, dtype)
            }
            (Family::Numpy | Family::Jax | Family::Other, Some(device)) => {
                own_empty(py, shape, dtype, device.ordinal())
            }
        }
    }

    /// Converts a new array made by `empty`, after something was moved into it, to one of this array's library.
    pub(crate) fn handed_over<'py>(&self, made: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match self.family {
            Family::Jax if self.device.is_some() => as_jax(&made),
            _ => Ok(made),
        }
    }

    /// Returns whether two arrays have a byte in common.
    pub(crate) fn overlaps(&self, other: &Memory) -> bool {
        self.bytes.overlaps(&other.bytes)
    }
}

/// The argument of an array, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// It is read, and has this name.
    Source(&'static str),
    /// It is written.
    Out,
}

impl Argument {
    fn name(self) -> &'static str {
        match self {
            Argument::Source(name) => name,
            Argument::Out => "out",
        }
    }

    /// Returns the error for an array in Fortran order whose shape is a palindrome.
    fn undecided(self, shape: &str, copied: &str) -> String {
        let name = self.name();
        let (lists, instead) = match self {
            Argument::Source(_) => (
                "may list the extents of a storage innermost first, or be a transposed one",
                format!("pass {name}.T for the first, {copied} for the second"),
            ),
            Argument::Out => (
                "may list the extents of the result innermost first, or be its transpose",
                "give order='F' for the first, an output in C's order for the second".to_owned(),
            ),
        };
        format!("{name}= of shape {shape} in Fortran's order {lists}; {instead}")
    }
}

impl Memory {
    /// Returns the length in bytes of a storage of these extents, outermost first. The array lists them in this order or, in
    /// Fortran order, reversed. If its shape is a palindrome, only `told` distinguishes that from the transpose of a storage.
    pub(crate) fn storage_length(
        &self,
        place: Argument,
        shape: &[u64],
        told: bool,
    ) -> PyResult<usize> {
        let own = &self.facts.shape;
        let turned = own.iter().rev().eq(shape) && self.facts.is_col_major();
        if !turned || self.facts.is_row_major() {
            return self.is_row_major(place).map(|()| self.span());
        }
        match told || *own != shape {
            true => Ok(self.span()),
            false => {
                Err(refused("copy", place.undecided(&tuple(own), &self.contiguous(place.name()))))
            }
        }
    }

    /// Returns the bytes of an array whose elements are dense, the last dim fastest.
    pub(crate) fn row_major_bytes(&self, place: Argument) -> PyResult<&[u8]> {
        self.is_row_major(place).and_then(|()| self.bytes())
    }

    /// Returns the bytes of a row-major array for writing; see [`Memory::bytes_mut`].
    pub(crate) fn row_major_bytes_mut(&mut self) -> PyResult<&mut [u8]> {
        self.is_row_major(Argument::Out)?;
        self.bytes_mut()
    }

    /// Refuses an array whose elements are not dense with the last dim fastest.
    fn is_row_major(&self, place: Argument) -> PyResult<()> {
        if self.facts.is_row_major() {
            return Ok(());
        }
        let (shape, strides) = (tuple(&self.facts.shape), tuple(&self.facts.strides));
        let instead = match place {
            Argument::Out => "give an output that is".to_owned(),
            Argument::Source(name) => {
                format!("it is not copied silently; pass {}", self.contiguous(name))
            }
        };
        let name = place.name();
        Err(refused(
            "copy",
            format!(
                "{name}= is an array of shape {shape} and strides {strides} bytes, which is not contiguous; {instead}"
            ),
        ))
    }

    /// Returns the Python expression that makes a contiguous copy.
    fn contiguous(&self, name: &str) -> String {
        match self.family {
            Family::Torch => format!("{name}.contiguous()"),
            Family::Cupy => format!("cupy.ascontiguousarray({name})"),
            Family::Numpy | Family::Jax | Family::Other => {
                format!("numpy.ascontiguousarray({name})")
            }
        }
    }
}

impl Facts {
    /// Returns the facts of an array with other strides, in elements.
    pub(crate) fn with_strides(mut self, strides: &[u64]) -> PyResult<Facts> {
        if strides.len() != self.shape.len() {
            let (shape, strides) = (tuple(&self.shape), tuple(strides));
            let says = format!("strides={strides} of an array of shape {shape}");
            return Err(refused("mismatch", says));
        }
        let bytes = |stride: &u64| {
            i64::try_from(*stride).unwrap_or(i64::MAX).saturating_mul(self.itemsize as i64)
        };
        self.strides = strides.iter().map(bytes).collect();
        self.settle();
        Ok(self)
    }

    /// Returns the layout over exactly these bytes: dims are the array's, offset 0 is the lowest element.
    pub(crate) fn layout(&self) -> PyResult<TensorLayout> {
        let (origin, span) = self.reach().ok_or_else(|| refused("array", BEYOND))?;
        let size = self.itemsize as i64;
        if self.strides.iter().any(|stride| stride % size != 0) {
            let (strides, item) = (tuple(&self.strides), self.itemsize);
            let says = format!("strides of {strides} bytes are not whole elements of {item} bytes");
            return Err(refused("copy", format!("{says}; copy the array first")));
        }
        if self.shape.len() > MAX_MODES {
            let dims = self.shape.len();
            let says = format!("an array of {dims} dims; a layout has at most {MAX_MODES}");
            return Err(refused(
                "limit",
                format!("{says}, so leave out dims of extent 1 or merge some"),
            ));
        }
        let modes = self.shape.iter().zip(&self.strides);
        let modes =
            modes.map(|(extent, stride)| Mode::new(*extent, stride / size)).collect::<Vec<_>>();
        let flat = Layout::flat(&modes).and_then(|flat| flat.with_offset(origin as i64 / size));
        let capacity = (span / self.itemsize) as u64;
        TensorLayout::new(&self.shape, &flat.raised()?, capacity).raised()
    }
}

/// An array as the library sees it: its address, its shape, its strides. Nothing is copied; the array is kept alive, and NumPy
/// refuses to resize it meanwhile.
///
/// Raises ``ArrayError`` if there is no memory to share, ``DeviceError`` if it is not this machine's memory.
///
/// >>> import numpy
/// >>> from tilewright import Memory
/// >>> array = numpy.zeros((2, 3), numpy.float32)
/// >>> memory = Memory(array)
/// >>> memory.address == array.ctypes.data, memory.nbytes, memory.dtype
/// (True, 24, 'f32')
#[pyclass(name = "Memory", module = "tilewright", frozen)]
pub(crate) struct PyMemory(Memory);

#[pymethods]
impl PyMemory {
    #[new]
    #[pyo3(signature = (array, /))]
    fn new(array: &Bound<'_, PyAny>) -> PyResult<PyMemory> {
        Memory::of(array).map(PyMemory)
    }

    /// The address of the lowest element.
    #[getter]
    fn address(&self) -> usize {
        self.0.bytes.address()
    }

    /// The number of bytes from the lowest element to the end of the highest.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.bytes.len()
    }

    /// The extents.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.facts.shape)
    }

    /// The strides in bytes; 0 for a dim of at most one coordinate.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.facts.strides)
    }

    /// The element type by XLA's name; None for one that layouts cannot name.
    #[getter]
    fn dtype(&self) -> Option<&'static str> {
        self.0.facts.dtype.map(|dtype| dtype.name())
    }

    /// True if the library that owns it permits writing.
    #[getter]
    fn writable(&self) -> bool {
        self.0.writable
    }

    fn __repr__(&self) -> String {
        let Facts { shape, strides, itemsize, dtype, .. } = &self.0.facts;
        let (at, shape, strides) = (self.0.bytes.address(), tuple(shape), tuple(strides));
        let dtype = dtype.map_or_else(|| format!("{itemsize} bytes"), |dtype| dtype.name().into());
        format!("<Memory at {at:#x}: {dtype}, shape {shape}, strides {strides} bytes>")
    }
}
