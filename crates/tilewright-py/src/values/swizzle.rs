//! `Swizzle`: permutations of offsets that are linear over xor.

use pyo3::{prelude::*, types::PyTuple};
use tilewright::layouts::Swizzle;

use crate::{
    arguments::integer::{Integer, Integers},
    errors::Raised,
};

/// CuTe's ``Swizzle<bits, base, shift>``: the xor of ``bits`` bits of an offset with the bits ``shift`` positions higher.
/// ``of_images`` makes any other permutation of offsets that is linear over xor.
///
/// >>> from tilewright import Swizzle
/// >>> swizzle = Swizzle(3, 3, 3)
/// >>> swizzle(64), swizzle.window, str(swizzle)
/// (72, 64, 'Sw<3,3,3>')
#[pyclass(name = "Swizzle", module = "tilewright", frozen, eq, hash)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PySwizzle(pub(crate) Swizzle);

#[pymethods]
impl PySwizzle {
    /// Raises ``Error`` for bits that exceed 64 or overlap themselves.
    #[new]
    #[pyo3(signature = (bits, base, shift, /))]
    fn new(bits: Integer<u8>, base: Integer<u8>, shift: Integer<i8>) -> PyResult<PySwizzle> {
        let (bits, base) = (bits.of("bits")?, base.of("base")?);
        Swizzle::new(bits, base, shift.of("shift")?).raised().map(PySwizzle)
    }

    /// Returns the swizzle that maps 1, 2, 4 … to these images, and the xor of numbers to the xor of their images. Raises
    /// ``Error`` if two offsets would have the same image.
    ///
    /// >>> from tilewright import Swizzle
    /// >>> Swizzle.of_images([2, 1])(5)
    /// 6
    #[staticmethod]
    #[pyo3(signature = (images, /))]
    fn of_images(images: Integers) -> PyResult<PySwizzle> {
        Swizzle::of_images(&images.of("images")?).raised().map(PySwizzle)
    }

    /// The images of 1, 2, 4 …, up to the last that changes; empty for a swizzle that three numbers describe.
    #[getter]
    fn images(&self) -> Vec<u64> {
        self.0.images().to_vec()
    }

    /// Returns the inverse swizzle.
    fn inverse(&self) -> PySwizzle {
        PySwizzle(self.0.inverse())
    }

    /// The number of bits that change.
    #[getter]
    fn bits(&self) -> u8 {
        self.0.bits()
    }

    /// The number of low bits that do not change.
    #[getter]
    fn base(&self) -> u8 {
        self.0.base()
    }

    /// The distance from the changed bits up to the bits that they are combined with.
    #[getter]
    fn shift(&self) -> i8 {
        self.0.shift()
    }

    /// The size of the aligned blocks of offsets that are permuted within themselves, in elements.
    #[getter]
    fn window(&self) -> u64 {
        self.0.window()
    }

    /// The number of elements that stay adjacent.
    #[getter]
    fn atom(&self) -> u64 {
        self.0.atom()
    }

    /// Returns the swizzled offset.
    fn __call__(&self, offset: Integer<u64>) -> PyResult<u64> {
        offset.of("offset").map(|offset| self.0.apply(offset))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        match self.0.is_field_xor() {
            true => format!("Swizzle({}, {}, {})", self.0.bits(), self.0.base(), self.0.shift()),
            false => format!("Swizzle.of_images({:?})", self.0.images()),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, PySwizzle>) -> PyResult<Reduced<'py>> {
        let (swizzle, kind) = (slf.get().0, slf.get_type());
        let arguments = (swizzle.bits(), swizzle.base(), swizzle.shift());
        match swizzle.is_field_xor() {
            true => Ok((kind.into_any(), arguments.into_pyobject(slf.py())?)),
            false => {
                let images = PyTuple::new(slf.py(), [swizzle.images().to_vec()])?;
                Ok((kind.getattr("of_images")?, images))
            }
        }
    }
}

/// The callable that unpickling calls, and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>);
