//! Reads tensors of files into the memory of a device, and moves them there into their layout.
//!
//! A tensor is read in the order of its dims, the last fastest, so it is copied to the device in pieces; a kernel then
//! moves it into its layout.

use std::ops::Range;

use pyo3::{
    prelude::*,
    types::{PySlice, PyString},
};
use tilewright::{
    cuda::Move,
    files::{Input, Reader, Reading, Tensor},
};

use super::{convert::Watcher, pieces::TensorBox};
use crate::{
    arguments::quoted,
    errors::{Raised, refused},
    foreign::{
        Device, Memory, PyDeviceArray, as_jax, cupy_empty, device::shared, numpy_empty,
        numpy_named, own_empty, torch_empty, within_cupy,
    },
    moves::{result::ResultForm, stream},
};

/// The largest number of host bytes of a piece, except for rows that end within a byte, as described in `pieces`.
const PIECE: u64 = 16 << 20;

/// The place of a result, and the library of its array.
pub(crate) enum LoadTarget {
    Host { torch: bool },
    Device(OnDevice),
}

/// A device, and the library of the result's array.
pub(crate) struct OnDevice {
    library: Library,
    /// The requested number; `None` means the library's current device.
    ordinal: Option<i32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Library {
    Own,
    Torch,
    Cupy,
    Jax,
}

impl LoadTarget {
    /// Returns the target for `framework=` and `device=`.
    pub(crate) fn of(
        framework: Option<String>,
        device: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<LoadTarget> {
        let device = device.map(|device| device.str().map(|text| text.to_string())).transpose()?;
        let number = match device.as_deref() {
            None | Some("cpu") => return LoadTarget::host(framework.as_deref()),
            Some("cuda") => None,
            Some(other) => match other.strip_prefix("cuda:").map(str::parse::<i32>) {
                Some(Ok(number)) if number >= 0 => Some(number),
                _ => {
                    let says =
                        format!("device= takes 'cpu', 'cuda' or 'cuda:1', not {}", quoted(other));
                    return Err(refused("arguments", says));
                }
            },
        };
        let library = match framework.as_deref() {
            None => Library::Own,
            Some("torch") => Library::Torch,
            Some("cupy") => Library::Cupy,
            Some("jax") => Library::Jax,
            Some(other) => {
                let says = format!(
                    "framework= takes 'torch', 'cupy' or 'jax' on a device, not {}; without it the result is a DeviceArray",
                    quoted(other)
                );
                return Err(refused("arguments", says));
            }
        };
        Ok(LoadTarget::Device(OnDevice { library, ordinal: number }))
    }

    fn host(framework: Option<&str>) -> PyResult<LoadTarget> {
        match framework {
            None | Some("numpy") => Ok(LoadTarget::Host { torch: false }),
            Some("torch") => Ok(LoadTarget::Host { torch: true }),
            Some(other) => {
                let says = format!(
                    "framework= takes 'numpy' or 'torch', not {}; with device='cuda' also 'cupy' and 'jax'",
                    quoted(other)
                );
                Err(refused("arguments", says))
            }
        }
    }
}

impl OnDevice {
    /// Returns the device with its present number.
    fn there(&self, py: Python<'_>) -> PyResult<There> {
        let number = self.ordinal.map_or_else(|| self.current(py), Ok)?;
        Ok(There { library: self.library, number })
    }

    /// Returns the number of the library's current device.
    fn current(&self, py: Python<'_>) -> PyResult<i32> {
        let cuda = |name| py.import(name)?.getattr("cuda");
        match self.library {
            Library::Torch => cuda("torch")?.call_method0("current_device")?.extract(),
            Library::Cupy => cuda("cupy")?.getattr("runtime")?.call_method0("getDevice")?.extract(),
            Library::Own | Library::Jax => Ok(0),
        }
    }
}

/// A device by its number, and the library of the result's array.
#[derive(Clone, Copy)]
struct There {
    library: Library,
    number: i32,
}

impl There {
    /// Returns a new array on this device.
    fn empty<'py>(
        self,
        py: Python<'py>,
        shape: &[u64],
        dtype: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let number = self.number;
        let dtype = PyString::new(py, dtype).into_any();
        match self.library {
            Library::Torch => torch_empty(py, shape, &dtype, Some(Device::new(number))),
            Library::Cupy => cupy_empty(py, shape, &dtype, number),
            Library::Own | Library::Jax => own_empty(py, shape, &dtype, number),
        }
    }

    /// Copies bytes of the host to the bytes of a device's array at `at`.
    fn copy<'py>(
        self,
        to: &Bound<'py, PyAny>,
        at: u64,
        piece: &Bound<'py, PyAny>,
        length: u64,
    ) -> PyResult<()> {
        let py = to.py();
        if let Ok(own) = to.cast::<PyDeviceArray>() {
            return own.get().write(py, at, Memory::of(piece)?.bytes()?);
        }
        let place = |at: u64| {
            isize::try_from(at)
                .map_err(|_| refused("overflow", "an array beyond this machine's addresses"))
        };
        let part = to.get_item(PySlice::new(py, place(at)?, place(at + length)?, 1))?;
        match self.library {
            Library::Torch => part.call_method1(
                "copy_",
                (py.import("torch")?.call_method1("from_numpy", (piece,))?,),
            )?,
            // The copy runs on the current stream of the current device.
            Library::Cupy | Library::Own | Library::Jax => {
                within_cupy(py, self.number, |_| part.call_method1("set", (piece,)))?
            }
        };
        Ok(())
    }

    /// Returns bytes as elements of this type and shape.
    fn seen<'py>(
        self,
        bytes: &Bound<'py, PyAny>,
        dtype: &str,
        shape: &[u64],
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = bytes.py();
        if let Ok(own) = bytes.cast::<PyDeviceArray>() {
            return Ok(Bound::new(py, own.get().seen_as(dtype, shape)?)?.into_any());
        }
        let shape = pyo3::types::PyTuple::new(py, shape)?;
        let dtype = match self.library {
            Library::Torch => py.import("torch")?.getattr(dtype)?,
            Library::Cupy | Library::Own | Library::Jax => numpy_named(py, dtype)?,
        };
        bytes.call_method1("view", (dtype,))?.call_method1("reshape", (shape,))
    }
}

/// A tensor to be read to a device.
pub(crate) struct Load<'a> {
    pub(crate) input: &'a Input,
    pub(crate) tensor: &'a Tensor,
    pub(crate) reading: &'a Reading,
    pub(crate) reader: &'a Reader<'a>,
}

impl Load<'_> {
    /// Reads, copies and moves the tensor, and returns the result of `form`; `moves` is true if its layout is not the order of
    /// the dims.
    pub(crate) fn run<'py>(
        &self,
        py: Python<'py>,
        target: &OnDevice,
        form: &ResultForm,
        area: Option<&[Range<u64>]>,
        moves: bool,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let there = target.there(py)?;
        // A missing driver is reported before anything is read.
        shared(py)?;
        let dtype = form.element().unwrap_or("uint8");
        let program = moves.then(|| self.reader.from_rows()).transpose().raised()?;
        let bytes = program.as_ref().map_or(self.reader.bytes(), |program| program.src_bytes());
        let flat = there.empty(py, &[bytes], "uint8")?;
        self.fill(py, there, &flat, area, threads)?;
        let made = match program {
            None => there.seen(&flat, dtype, &form.shape)?,
            Some(program) => {
                let made = there.empty(py, &form.shape, dtype)?;
                let sides = (Memory::anywhere(&flat)?, Memory::anywhere(&made)?);
                stream::moved(py, &Move::new(program), (&sides.0, &flat), (&sides.1, &made))?;
                made
            }
        };
        if target.library == Library::Jax { as_jax(&made) } else { Ok(made) }
    }

    /// Reads the tensor in the order of its dims, piece by piece, to a device.
    fn fill(
        &self,
        py: Python<'_>,
        there: There,
        flat: &Bound<'_, PyAny>,
        area: Option<&[Range<u64>]>,
        threads: usize,
    ) -> PyResult<()> {
        let whole: Vec<Range<u64>> = match area {
            Some(area) => area.to_vec(),
            None => {
                let own = self.input.layout_as(self.tensor, self.reading).raised()?;
                own.layout().extents().iter().map(|extent| 0..*extent).collect()
            }
        };
        let all = self.rows(&whole)?;
        let watcher = Watcher::new(None)?;
        let mut at = 0;
        for piece in TensorBox::new(whole, all.bits(), all.bytes()).pieces(PIECE) {
            let reader = self.rows(&piece)?;
            let length = reader.bytes();
            let host = numpy_empty(py, &[length], &PyString::new(py, "uint8").into_any())?;
            let mut memory = Memory::of(&host)?;
            let to = memory.bytes_mut()?;
            let done = py.detach(|| reader.read_into(to, threads, &watcher));
            watcher.outcome(done)?;
            drop(memory);
            if length > 0 {
                there.copy(flat, at, &host, length)?;
            }
            at += length;
        }
        Ok(())
    }

    /// Returns the reader of a box of the tensor, last dim fastest.
    fn rows(&self, area: &[Range<u64>]) -> PyResult<Reader<'_>> {
        self.input.reader_as(self.tensor, self.reading, None, Some(area)).raised()
    }
}
