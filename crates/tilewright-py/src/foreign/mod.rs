//! Arrays of other libraries, seen where they are.
//!
//! | file | whose arrays |
//! |---|---|
//! | `numpy.rs` | NumPy's, and what NumPy takes without a copy: buffers, `__array_interface__` |
//! | `torch.rs` | torch's tensors, by what they say of themselves |
//! | `device.rs` | none: where arrays on CUDA devices are, and the stream on which their library uses them now |
//! | `own.rs`, `marks.rs`, `export.rs` | this package's own on a device, where a library has no way to make one; what is queued on them; their capsules |
//! | `dlpack.rs` | all others, jax's among them, by a DLPack capsule |
//! | `storage.rs` | none: which arrays are taken for a storage, whose elements lie densely in order |
//! | `raw/` | none: what the structs of these libraries say, read without an interpreter |
//!
//! Each gives a [`Memory`]: where the elements lie and who keeps them alive. This folder is the only place of
//! the package where memory is read that Rust did not make.
//!
//! An owner is held from before the facts are read until after the bytes are: a buffer's export, a DLPack tensor,
//! an array of NumPy's with a weak reference, because of which NumPy refuses to resize it. What no owner can hold
//! is left to the caller, and the documentation of `relayout` says so: another thread that writes the same
//! elements, `ndarray.__setstate__`, torch's `resize_` and `set_`, and the memory behind an `__array_interface__`.

mod device;
mod dlpack;
mod export;
mod layout;
mod marks;
mod numpy;
mod own;
mod raw;
mod seen;
mod storage;
mod torch;

use pyo3::prelude::*;
use tilewright::{Dtype, TensorLayout, cuda::DeviceBytes};

use crate::{
    errors::{about, refused},
    held,
};

pub(crate) use device::{Device, cupy_empty, within_cupy};
pub(crate) use dlpack::order;
pub(crate) use marks::Use;
pub(crate) use numpy::{empty as numpy_empty, named as numpy_named};
pub(crate) use own::{PyDeviceArray, as_jax, empty as own_empty};
pub(crate) use raw::Facts;
use raw::{Array, Bytes, Refusal};
pub(crate) use seen::PyMemory;
pub(crate) use storage::Place;
pub(crate) use torch::empty as torch_empty;

/// Whose arrays these are, and so whose the result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Numpy,
    Torch,
    /// cupy's, which are on a device.
    Cupy,
    /// jax's on a device.
    Jax,
    /// Another library's, whose results are NumPy's.
    Other,
}

/// An array of another library: its facts, and where it is.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) facts: Facts,
    /// The bytes from the lowest element to behind the highest.
    bytes: Bytes,
    pub(crate) writable: bool,
    pub(crate) family: Family,
    /// The device whose memory the bytes are in; `None` for the CPU's.
    device: Option<Device>,
    /// The element type as the array has it.
    pub(crate) own_dtype: Option<Py<PyAny>>,
    /// Keeps the bytes alive.
    _owner: Owner,
}

/// Who keeps an array's bytes alive.
#[derive(Debug)]
#[allow(dead_code, reason = "an owner is there to be dropped")]
enum Owner {
    Object(Py<PyAny>),
    /// An array of NumPy's, what it says of itself, and what keeps its memory in place.
    Array(Py<PyAny>, Py<PyAny>, Vec<Py<PyAny>>),
    /// A tensor of DLPack's, and the object that exports it: a tensor without a deleter lives as long as that.
    Capsule(dlpack::Taken, Py<PyAny>),
}

// SAFETY: the field `bytes` is read and written only through `bytes()` and `bytes_mut()`, which borrow the value and so
// keep `_owner`, whose memory it points to. `_owner` may be dropped by any thread: a Python object may be released from
// any, and `Taken::drop` attaches to the interpreter before it calls a deleter.
unsafe impl Send for Memory {}
// SAFETY: through `&Memory` only `bytes` can be called, which gives a shared slice; `bytes_mut` takes `&mut Memory`.
unsafe impl Sync for Memory {}

/// What an array says of itself.
struct Said {
    array: Array,
    family: Family,
    device: Option<Device>,
    own_dtype: Option<Py<PyAny>>,
    owner: Owner,
}

/// Where an array may be that is taken.
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
    /// The memory of an array of any library, of plain numbers.
    pub(crate) fn of(array: &Bound<'_, PyAny>) -> PyResult<Memory> {
        Memory::of_any(array)?.plain(array.py())
    }

    /// The same of an array that may be on a CUDA device.
    pub(crate) fn anywhere(array: &Bound<'_, PyAny>) -> PyResult<Memory> {
        Memory::any_anywhere(array)?.plain(array.py())
    }

    /// The memory of an array that an argument is, and that may be on a CUDA device; an error names it.
    pub(crate) fn given_anywhere(argument: &str, array: &Bound<'_, PyAny>) -> PyResult<Memory> {
        Memory::anywhere(array).map_err(|error| about(argument, error))
    }

    /// Refuses elements that are no plain numbers.
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

    /// The memory of an array of any library, of elements that are copied as they are.
    pub(crate) fn of_any(array: &Bound<'_, PyAny>) -> PyResult<Memory> {
        Memory::within(array, Reach::Host)
    }

    /// The same of an array that may be on a CUDA device.
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
            return Memory::new(Said { family: Family::Other, ..numpy::said(&view)? });
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

    /// The memory of an array that an argument is; an error names it.
    pub(crate) fn given(argument: &str, array: &Bound<'_, PyAny>) -> PyResult<Memory> {
        Memory::of(array).map_err(|error| about(argument, error))
    }

    fn new(said: Said) -> PyResult<Memory> {
        let Said { array, family, device, own_dtype, owner } = said;
        let Array { data, mut facts, writable } = array;
        facts.settle();
        let bytes = Bytes::of(data, &facts)?;
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

    /// The bytes from the lowest element to behind the highest.
    pub(crate) fn span(&self) -> usize {
        self.bytes.len()
    }

    /// Whether two arrays have one element type in the words of their library, where both have such words.
    pub(crate) fn is_of_type(&self, py: Python<'_>, other: &Memory) -> PyResult<bool> {
        match (&self.own_dtype, &other.own_dtype) {
            (Some(own), Some(other)) => own.bind(py).eq(other),
            _ => Ok(true),
        }
    }

    /// The layout over these very bytes: dims are the array's, offset 0 is the lowest element.
    pub(crate) fn layout(&self) -> PyResult<TensorLayout> {
        self.facts.layout()
    }

    /// The bytes from the lowest element to the highest, of an array on the CPU.
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

    /// The device that the array is on; `None` for the CPU.
    pub(crate) fn device(&self) -> Option<Device> {
        self.device
    }

    /// The bytes of an array on a device, from the lowest element to the highest.
    pub(crate) fn device_bytes(&self) -> Option<DeviceBytes> {
        self.device?;
        let (address, bytes) = (self.bytes.address() as u64, self.bytes.len() as u64);
        // SAFETY: the exporting library gave address, shape, strides and element size for memory of the device. What is
        // queued runs on the stream on which that library uses the array now, so the library orders its own work and the
        // reuse of the memory behind it; or `turn.rs` orders it with that stream, before and behind, and holds the array
        // until the move is done. That another stream uses the array meanwhile is left to the caller, as for any operation of
        // the library.
        Some(unsafe { DeviceBytes::new(address, bytes) })
    }

    /// The same bytes, where they may be written and nobody else is given them meanwhile.
    pub(crate) fn bytes_mut(&mut self) -> PyResult<&mut [u8]> {
        if !self.writable {
            return Err(refused("read-only", "the output is read-only"));
        }
        self.on_host()?;
        // SAFETY: the memory is as in `bytes`; `writable`, checked above, is what the exporting library said of it; `fits`
        // of `plan.rs` refuses an output that overlaps its source, and a new result overlaps nothing.
        Ok(unsafe { self.bytes.write() })
    }

    /// A new array where this one is, of its library or NumPy's, its bytes not yet written; `dtype` is the library's or a
    /// name of NumPy's.
    pub(crate) fn empty<'py>(
        &self,
        shape: &[u64],
        dtype: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = dtype.py();
        if self.device.is_some() {
            held::let_go();
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

    /// A new array that `empty` made, once something was moved into it, as one of this one's library.
    pub(crate) fn handed_over<'py>(&self, made: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match self.family {
            Family::Jax if self.device.is_some() => as_jax(&made),
            _ => Ok(made),
        }
    }

    /// Whether two arrays have a byte in common.
    pub(crate) fn overlaps(&self, other: &Memory) -> bool {
        self.bytes.overlaps(&other.bytes)
    }
}
