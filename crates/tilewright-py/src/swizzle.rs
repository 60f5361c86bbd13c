//! `Swizzle`: CuTe's xor of address bits.

use pyo3::prelude::*;
use tilewright::core::Swizzle;

use crate::{errors::Raised, integer::Integer};

/// CuTe's ``Swizzle<bits, base, shift>``: the xor of ``bits`` bits of an offset with the bits ``shift`` higher.
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
    /// Raises ``Error`` for bits that leave 64 or overlap themselves.
    #[new]
    #[pyo3(signature = (bits, base, shift, /))]
    fn new(bits: Integer<u8>, base: Integer<u8>, shift: Integer<i8>) -> PyResult<PySwizzle> {
        let (bits, base) = (bits.of("bits")?, base.of("base")?);
        Swizzle::new(bits, base, shift.of("shift")?).raised().map(PySwizzle)
    }

    /// The number of bits that change.
    #[getter]
    fn bits(&self) -> u8 {
        self.0.bits()
    }

    /// The number of low bits that stay.
    #[getter]
    fn base(&self) -> u8 {
        self.0.base()
    }

    /// From the changed bits up to the bits they are combined with.
    #[getter]
    fn shift(&self) -> i8 {
        self.0.shift()
    }

    /// The size of the aligned blocks of offsets that are permuted within themselves, in elements.
    #[getter]
    fn window(&self) -> u64 {
        self.0.window()
    }

    /// The elements that stay side by side.
    #[getter]
    fn atom(&self) -> u64 {
        self.0.atom()
    }

    /// The swizzled offset.
    fn __call__(&self, offset: Integer<u64>) -> PyResult<u64> {
        offset.of("offset").map(|offset| self.0.apply(offset))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Swizzle({}, {}, {})", self.0.bits(), self.0.base(), self.0.shift())
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, PySwizzle>,
    ) -> (Bound<'py, pyo3::types::PyType>, (u8, u8, i8)) {
        let swizzle = slf.get().0;
        (slf.get_type(), (swizzle.bits(), swizzle.base(), swizzle.shift()))
    }
}
