//! `Layout`: CuTe's layout, a function from coordinates to offsets in elements, and `Swizzle`: a permutation of offsets that
//! is linear over xor.

use pyo3::{
    exceptions::PyIndexError,
    prelude::*,
    types::{PyAny, PyTuple},
};
use tilewright::{
    Layout, Spec,
    layouts::{IntTuple, Swizzle},
};

use crate::{
    answers::{drawing::PyDrawing, expression},
    arguments::{Integer, Integers},
    errors::{self, Raised},
    values::{PyLayout, PySwizzle, PyTensorLayout, alone, from_tuple},
};

#[pymethods]
impl PyLayout {
    #[new]
    #[pyo3(signature = (shape, stride = None, /))]
    fn new(shape: &Bound<'_, PyAny>, stride: Option<&Bound<'_, PyAny>>) -> PyResult<PyLayout> {
        if let (Ok(text), None) = (shape.extract::<String>(), stride) {
            return PyLayout::parse(&text);
        }
        if let (Ok(layout), None) = (shape.cast::<PyLayout>(), stride) {
            return Ok(layout.get().clone());
        }
        let shape = tuple(shape)?;
        let layout = match stride {
            Some(stride) => Layout::from_shape_stride(&shape, &tuple(stride)?),
            None => Layout::compact_col_major(&shape),
        };
        layout.raised().map(PyLayout)
    }

    /// The extents, nested like the layout.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_tuple(py, &self.0.shape())
    }

    /// The strides in elements, nested like the shape.
    #[getter]
    fn stride<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_tuple(py, &self.0.stride())
    }

    /// The number that is added to every offset, in elements.
    #[getter]
    fn offset(&self) -> i64 {
        self.0.offset()
    }

    /// The xor of offset bits that is applied last.
    #[getter]
    fn swizzle(&self) -> PySwizzle {
        PySwizzle(self.0.swizzle())
    }

    /// The number of coordinates.
    #[getter]
    fn size(&self) -> u64 {
        self.0.size()
    }

    /// 1 + the largest offset reached, in elements; 0 when empty.
    #[getter]
    fn cosize(&self) -> i64 {
        self.0.cosize()
    }

    /// The number of axes.
    #[getter]
    fn rank(&self) -> usize {
        self.0.rank()
    }

    /// The depth of nesting of the shape: 0 for an integer.
    #[getter]
    fn depth(&self) -> usize {
        self.0.depth()
    }

    /// Returns the offset of a coordinate, in elements. One integer counts colexicographically, a tuple may be nested like the
    /// shape, and several arguments are a tuple: ``layout(1, 2)``. Raises ``OutOfRangeError`` outside the domain.
    #[pyo3(signature = (*coord))]
    fn __call__(&self, py: Python<'_>, coord: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
        let coord = alone(coord);
        if let Ok(index) = coord.extract::<u64>() {
            let offset = self.0.offset_of(index).raised()?;
            return Ok(offset.into_pyobject(py)?.into_any().unbind());
        }
        expression::call(py, "crd2idx", &[coord, Bound::new(py, self.clone())?.into_any()])
    }

    /// Returns all offsets, colexicographically: the first mode varies fastest. Raises ``LimitError`` beyond a million.
    fn offsets(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        expression::call(py, "offsets", &[Bound::new(py, self.clone())?.into_any()])
    }

    /// Returns whether no two coordinates share an offset. Raises ``UndecidedError`` if that takes too long to decide.
    fn injective(&self) -> PyResult<bool> {
        self.0.injective().raised()
    }

    /// Returns whether every offset of the span is reached.
    fn exhaustive(&self) -> bool {
        self.0.exhaustive()
    }

    /// Returns the layout as that of an array whose dims are its axes.
    fn tensor(&self) -> PyResult<PyTensorLayout> {
        let spec = Spec::parse(&format!("cute:{}", self.0)).raised()?;
        spec.resolve(None, None).raised().map(PyTensorLayout)
    }

    fn __len__(&self) -> usize {
        self.0.rank()
    }

    /// Returns one axis as a layout.
    fn __getitem__(&self, axis: isize) -> PyResult<PyLayout> {
        let rank = self.0.rank() as isize;
        let at = if axis < 0 { axis + rank } else { axis };
        if !(0..rank).contains(&at) {
            return Err(PyIndexError::new_err(format!("axis {axis} of a layout of rank {rank}")));
        }
        self.0.get(&[at as usize]).raised().map(PyLayout)
    }

    /// Returns the composition: ``(A @ B)(c)`` is ``A(B(c))``.
    fn __matmul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        expression::call(
            py,
            "composition",
            &[Bound::new(py, self.clone())?.into_any(), other.clone()],
        )
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Layout('{}')", self.0)
    }

    fn __reduce__<'py>(slf: &Bound<'py, PyLayout>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().into_any(), (slf.get().0.to_string(),)))
    }

    /// Draws the layout as ``TensorLayout.draw`` does. With ``tile``, the layout maps threads and values to the cells of that
    /// tile, and the picture shows the thread that holds each cell.
    #[pyo3(signature = (*, tile = None))]
    fn draw(&self, tile: Option<Integers>) -> PyResult<PyDrawing> {
        match tile {
            Some(tile) => PyDrawing::owners(&self.0, &tile.of("tile")?),
            None => self.tensor()?.grid(),
        }
    }

    fn _repr_html_(&self) -> PyResult<String> {
        Ok(self.tensor()?.html())
    }
}

impl PyLayout {
    /// Parses CuTe's text.
    pub(crate) fn parse(text: &str) -> PyResult<PyLayout> {
        Layout::parse(text).map(PyLayout).map_err(|error| errors::parse(text, &error))
    }
}

/// Returns integers nested in tuples or lists.
pub(crate) fn tuple(value: &Bound<'_, PyAny>) -> PyResult<IntTuple> {
    let value = expression::argument(value)?;
    let none = || errors::refused("parse", format!("{value} is not a tuple of integers"));
    value.as_tuple().cloned().ok_or_else(none)
}

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
