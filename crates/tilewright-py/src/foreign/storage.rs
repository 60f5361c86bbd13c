//! Arrays as the library sees them: the layout of an array from its facts (`Memory` in Python), and arrays used as a
//! storage, whose elements are dense, in C order or, if the caller says so, in Fortran order.

use pyo3::{PyResult, prelude::*, types::PyTuple};
use tilewright::{
    Layout, TensorLayout,
    layouts::{MAX_MODES, Mode},
};

use super::{Facts, Family, Memory, raw::BEYOND};
use crate::{
    arguments::text::tuple,
    errors::{Raised, refused},
};

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
