//! `TabledLayout`: a layout of an array whose storage order needs index tables.

use pyo3::{
    prelude::*,
    types::{PyAny, PyString, PyTuple},
};
use tilewright::{ArrayLayout, ask::TabledExplanation, compare, files::FileLists};

use super::tensor::{coordinate, located};
use crate::{
    answers::words::PyComparison,
    arguments::{
        ask::{dtype_of, spec_of},
        integer::{Integer, Integers},
        text::quoted,
    },
    errors::Raised,
    values::{PyTabledLayout, PyTensorLayout, alone},
};

/// A table: the dims with the lengths of their blocks, and the list.
type Table<'py> = (Bound<'py, PyTuple>, Vec<Option<u64>>);

/// Returns the layout of an argument, with its index tables if it has any.
pub(crate) fn array_layout(
    argument: &str,
    value: &Bound<'_, PyAny>,
    dims: Option<&[u64]>,
    dtype: Option<tilewright::Dtype>,
) -> PyResult<ArrayLayout> {
    if let Ok(own) = value.cast::<PyTabledLayout>() {
        return Ok(own.get().0.clone());
    }
    if let (Ok(own), None, None) = (value.cast::<PyTensorLayout>(), dims, dtype) {
        return Ok(ArrayLayout::of(&own.get().0));
    }
    let spec = spec_of(argument, value)?;
    spec.array_layout(dims, dtype, &FileLists::default()).raised()
}

/// Returns the layout of a tensor of a file, or of one side of a conversion: a `TensorLayout` if it does not have index tables.
pub(crate) fn layout_of<'py>(py: Python<'py>, array: &ArrayLayout) -> PyResult<Bound<'py, PyAny>> {
    Ok(match array.has_tables() {
        true => Bound::new(py, PyTabledLayout(array.clone()))?.into_any(),
        false => Bound::new(py, PyTensorLayout(array.stored().clone()))?.into_any(),
    })
}

#[pymethods]
impl PyTabledLayout {
    #[new]
    #[pyo3(signature = (spec, /, dims = None, dtype = None))]
    fn new(
        spec: &Bound<'_, PyAny>,
        dims: Option<Integers>,
        dtype: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyTabledLayout> {
        let dtype = dtype.map(dtype_of).transpose()?;
        let dims = Integers::given("dims", dims)?;
        array_layout("spec", spec, dims.as_deref(), dtype).map(PyTabledLayout)
    }

    /// One SPEC with the whole layout, including the entries of the tables.
    #[getter]
    fn spec(&self) -> String {
        self.0.to_spec()
    }

    /// The logical extents.
    #[getter]
    fn dims<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.layout().extents())
    }

    /// The element type; None if unknown.
    #[getter]
    fn dtype(&self) -> Option<&'static str> {
        self.0.stored().dtype().map(|dtype| dtype.name())
    }

    /// The width of a stored element in bits; None if unknown.
    #[getter]
    fn bits(&self) -> Option<u32> {
        self.0.stored().element_bits()
    }

    /// The number of logical elements.
    #[getter]
    fn size(&self) -> u64 {
        self.0.layout().size()
    }

    /// The length of the storage, in elements.
    #[getter]
    fn capacity(&self) -> u64 {
        self.0.layout().stored().capacity()
    }

    /// The number of storage elements that hold no element of the array: holes, and padding of the stored array.
    #[getter]
    fn padding(&self) -> u64 {
        self.0.layout().padding()
    }

    /// Each table, in the order of application: pairs of a dim and the length of its blocks, and the list. Where blocks are
    /// listed group by group, the pair is a triple that ends with the number of blocks of a group.
    #[getter]
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Vec<Table<'py>>> {
        let table = |along: &tilewright::notation::Along| {
            let dims = along.blocks().iter().map(|block| {
                PyTuple::new(
                    py,
                    [block.dim as u64, block.by].into_iter().chain(block.of).collect::<Vec<_>>(),
                )
            });
            let dims = PyTuple::new(py, dims.collect::<PyResult<Vec<_>>>()?)?;
            let list = (0..along.table().stored()).map(|place| along.table().index(place));
            Ok((dims, list.collect()))
        };
        self.0.layout().tables().iter().map(table).collect()
    }

    /// The layout of the stored array.
    #[getter]
    fn stored(&self) -> PyTensorLayout {
        PyTensorLayout(self.0.stored().clone())
    }

    /// Returns the offset of a coordinate, in elements: ``offset(16, 0)``, or one sequence. Raises ``OutOfRangeError`` outside
    /// the dims.
    #[pyo3(signature = (*coord))]
    fn offset(&self, coord: &Bound<'_, PyTuple>) -> PyResult<i64> {
        self.0.layout().offset(&coordinate(&alone(coord))?).raised()
    }

    /// Returns the coordinate at an offset of the storage, in elements; None for a hole or padding. Raises ``OutOfRangeError``
    /// beyond the storage.
    fn coord<'py>(
        &self,
        py: Python<'py>,
        offset: Integer<i64>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let layout = self.0.layout();
        located(py, offset, self.capacity(), |offset| layout.locate(offset))
    }

    /// Returns whether another layout is the same map over the same dims; if not, with the first difference.
    fn same(&self, other: &Bound<'_, PyAny>) -> PyResult<PyComparison> {
        let (dims, dtype) = (self.0.layout().extents(), self.0.stored().dtype());
        let other = array_layout("other", other, None, None)
            .or_else(|_| array_layout("other", other, Some(dims), dtype))?;
        PyComparison::between(&self.0, &other)
    }

    /// Explains the layout in words and numbers.
    fn explain(&self) -> String {
        TabledExplanation::of(&self.0).to_string()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyTabledLayout>().is_ok_and(|other| {
            let other = &other.get().0;
            let alike = compare(&self.0, other).is_ok_and(|it| it.to_string() == "same");
            alike && self.0.to_spec() == other.to_spec()
        })
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.0.to_spec().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__<'py>(&self, py: Python<'py>) -> PyResult<String> {
        let text = PyString::new(py, &self.0.to_spec());
        Ok(format!("TabledLayout({})", quoted(&text.to_string())))
    }

    fn __str__(&self) -> String {
        self.0.to_spec()
    }
}
