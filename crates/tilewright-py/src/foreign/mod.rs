//! Arrays of other libraries, accessed in place.
//!
//! | file | arrays |
//! |---|---|
//! | `numpy.rs` | NumPy's, and objects that NumPy accepts without a copy: buffers, `__array_interface__` |
//! | `torch.rs` | torch's tensors, through their methods |
//! | `device.rs` | none: devices of arrays on CUDA, the stream on which their library uses them now, and the work that is queued on them |
//! | `own.rs` | this package's own on a device, for libraries that cannot make one, and their capsules |
//! | `dlpack.rs` | all others, including jax's, through a DLPack capsule |
//! | `storage.rs` | none: checks that an array can be used as a storage, with dense elements in order |
//! | `raw/` | none: the structs of these libraries, read without an interpreter |
//!
//! Each file returns a [`Memory`]: the place of the elements and the owner that keeps them alive. This folder is the
//! only part of the package that reads memory which Rust did not allocate.
//!
//! An owner is held from before the facts are read until after the bytes are: a buffer's export, a DLPack tensor, or a
//! NumPy array with a weak reference, because of which NumPy refuses to resize it. Some changes cannot be prevented by
//! an owner and are left to the caller, as the documentation of `relayout` states: another thread that writes the same
//! elements, `ndarray.__setstate__`, torch's `resize_` and `set_`, and the memory of an `__array_interface__`.

pub(crate) mod device;
mod dlpack;
mod numpy;
mod own;
mod raw;
mod storage;
mod torch;

use pyo3::prelude::*;
use tilewright::{Dtype, TensorLayout, cuda::DeviceBytes};

use crate::errors::{about, refused};
use raw::{ByteRange, RawArray, Refusal};

pub(crate) use device::{Device, Use, cupy_empty, within_cupy};
pub(crate) use dlpack::order;
pub(crate) use numpy::{empty as numpy_empty, named as numpy_named};
pub(crate) use own::{PyDeviceArray, as_jax, empty as own_empty};
pub(crate) use raw::Facts;
pub(crate) use storage::{Argument, PyMemory};
pub(crate) use torch::empty as torch_empty;

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
        // of `plan.rs` refuses an output that overlaps its source, and a new result overlaps nothing.
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
