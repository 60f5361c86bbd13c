//! `Memory`: an array as the library sees it.

use pyo3::{prelude::*, types::PyTuple};

use super::{Facts, Memory};
use crate::spelling::tuple;

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
