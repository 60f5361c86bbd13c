//! Layouts of arrays. `TensorLayout` has a name and the known facts of the elements; `TabledLayout` also has index tables.

use pyo3::{
    prelude::*,
    types::{PyAny, PyString, PyTuple, PyType},
};
use tilewright::{
    ArrayLayout, Dtype, Fill, ResolvedLayout, TensorLayout,
    ask::{Look, Shown, TabledExplanation, TextLimits},
    compare,
    files::FileLists,
    layouts::Place,
    notation,
};

use crate::{
    answers::{
        drawing::{DrawingKind, PyDrawing},
        words::{PyComparison, PyExplanation},
    },
    arguments::{
        Integer, Integers, TextArgument,
        ask::{dtype_of, resolve, spec_of},
        given, html, quoted,
    },
    errors::{Raised, refused},
    foreign::Memory,
    values::{PyLayout, PyTabledLayout, PyTensorLayout, alone},
};

#[pymethods]
impl PyTensorLayout {
    #[new]
    #[pyo3(signature = (spec, /, dims = None, dtype = None))]
    fn new(
        spec: &Bound<'_, PyAny>,
        dims: Option<Integers>,
        dtype: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyTensorLayout> {
        let dtype = dtype.map(dtype_of).transpose()?;
        let dims = Integers::given("dims", dims)?;
        resolve("spec", spec, dims.as_deref(), dtype).map(PyTensorLayout)
    }

    /// Returns the layout of an array: its dims, its strides, its element type. Nothing is copied.
    ///
    /// Raises ``ArrayError`` for an object that is not an array of numbers in this machine's memory.
    ///
    /// >>> import numpy
    /// >>> from tilewright import TensorLayout
    /// >>> TensorLayout.of(numpy.zeros((3, 5), numpy.float32, order="F")).layout
    /// Layout('(3,5):(1,3)')
    #[staticmethod]
    #[pyo3(signature = (array, /))]
    fn of(array: &Bound<'_, PyAny>) -> PyResult<PyTensorLayout> {
        let memory = Memory::of(array)?;
        let (layout, bits) = (memory.layout()?, memory.facts.odd_bits());
        Ok(PyTensorLayout(ResolvedLayout::new("", layout, memory.dtype(), bits, Fill::Unspecified)))
    }

    /// One concrete SPEC with the whole layout; parsing it returns an equal layout.
    #[getter]
    fn spec(&self) -> String {
        self.0.to_spec()
    }

    /// The name of the layout: the text of its SPEC.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// The logical extents.
    #[getter]
    fn dims<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.layout().extents())
    }

    /// The logical extents, under NumPy's name for them; ``storage_shape`` has the extents of the storage.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.dims(py)
    }

    /// The number of logical dims, under NumPy's name for it.
    #[getter]
    fn ndim(&self) -> usize {
        self.rank()
    }

    /// The number of logical dims.
    #[getter]
    fn rank(&self) -> usize {
        self.0.layout().rank()
    }

    /// The element type by XLA's name (``f32``, ``bf16``, ``s4`` …); None if unknown.
    #[getter]
    fn dtype(&self) -> Option<&'static str> {
        self.0.dtype().map(|dtype| dtype.name())
    }

    /// The width of a stored element in bits; None if unknown.
    #[getter]
    fn bits(&self) -> Option<u32> {
        self.0.element_bits()
    }

    /// The number of logical elements.
    #[getter]
    fn size(&self) -> u64 {
        self.0.layout().size()
    }

    /// The length of the storage, in elements.
    #[getter]
    fn capacity(&self) -> u64 {
        self.0.layout().capacity()
    }

    /// The length of the storage, in bytes; None if the width of an element is unknown.
    #[getter]
    fn nbytes(&self) -> Option<u128> {
        let bits = u128::from(self.0.element_bits()?);
        Some((u128::from(self.0.layout().capacity()) * bits).div_ceil(8))
    }

    /// The number of storage elements that hold no logical element.
    #[getter]
    fn padding(&self) -> u64 {
        self.0.layout().padding()
    }

    /// The value of padding: ``0``, ``one``, ``lowest``, ``highest``, ``0x…``; None if nothing is promised.
    #[getter]
    fn fill(&self) -> Option<String> {
        let fill = self.0.fill();
        (fill != Fill::Unspecified).then(|| fill.to_string())
    }

    /// The extents of the storage, outermost first, with which any reader can load it; one length if the storage is not a box of
    /// digits.
    #[getter]
    fn storage_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.storage_shape())
    }

    /// The element type and the shape of the words in which the storage is written, ``('s32', (256, 8192))``, or None.
    #[getter]
    fn stored_as<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(&'static str, Bound<'py, PyTuple>)>> {
        let words = self.0.stored_as();
        words.map(|words| Ok((words.dtype().name(), PyTuple::new(py, words.shape())?))).transpose()
    }

    /// The layout of only the padded array. Raises ``UnsupportedError`` if dims are merged or split unevenly, so that an offset
    /// is not a sum of one term per dim.
    #[getter]
    fn layout(&self) -> PyResult<PyLayout> {
        let layout = self.0.layout();
        if layout.is_strided() {
            return Ok(PyLayout(layout.layout().clone()));
        }
        let spec = self.0.to_spec();
        Err(refused(
            "unsupported",
            format!("{spec} is not a layout of one axis per dim; use its offsets"),
        ))
    }

    /// True if no two elements share an offset. Raises ``UndecidedError`` if that takes too long to decide.
    #[getter]
    fn injective(&self) -> PyResult<bool> {
        self.0.layout().injective().raised()
    }

    /// Returns the offset of a coordinate, in elements: ``offset(16, 0)``, or one sequence ``offset((16, 0))``. Raises
    /// ``OutOfRangeError`` outside the dims.
    #[pyo3(signature = (*coord))]
    fn offset(&self, coord: &Bound<'_, PyTuple>) -> PyResult<i64> {
        self.0.layout().offset(&coordinate(&alone(coord))?).raised()
    }

    /// Returns the coordinate at an offset of the storage, in elements; None for padding. Raises ``OutOfRangeError`` beyond the
    /// storage.
    fn coord<'py>(
        &self,
        py: Python<'py>,
        offset: Integer<i64>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let layout = self.0.layout();
        located(py, offset, layout.capacity(), |offset| layout.locate(offset))
    }

    /// Returns the layout in another notation, on one line; ``tilewright.notations()`` lists them. Raises ``UnsupportedError`` if
    /// that notation cannot express it.
    ///
    /// >>> from tilewright import TensorLayout
    /// >>> TensorLayout("f32[3,5]{1,0:T(2,2)}").translate("cute")
    /// '((2,2),(2,3)):((2,12),(1,4)) valid (3,5)'
    #[pyo3(signature = (to, /))]
    fn translate(&self, to: TextArgument) -> PyResult<String> {
        notation::notation(&to.of("to")?).raised()?.print(&self.0).raised()
    }

    /// Explains the layout in words and numbers.
    fn explain(&self) -> PyExplanation {
        PyExplanation::of(&self.0)
    }

    /// Returns whether another layout is the same map over the same dims; if not, with the first difference.
    fn same(&self, other: &Bound<'_, PyAny>) -> PyResult<PyComparison> {
        let (dims, dtype) = (self.0.layout().extents(), self.0.dtype());
        let other = resolve("other", other, None, None)
            .or_else(|_| resolve("other", other, Some(dims), dtype))?;
        PyComparison::between(&ArrayLayout::of(&self.0), &ArrayLayout::of(&other))
    }

    /// Returns the names of this layout in the catalogue.
    fn recognise(&self) -> Vec<String> {
        tilewright::recognise(&self.0).into_iter().map(|found| found.name).collect()
    }

    /// Returns the layout as text, as ``tilewright show`` prints it: coordinates on both margins, an offset in each cell.
    /// ``names`` draws the elements as a, b, c …, ``numbers`` their row-major numbers; ``tiles`` draws borders around tiles
    /// instead of cells; ``memory`` draws memory in a line instead of a grid. With ``other``, a layout of the same array, both
    /// are drawn side by side. Output beyond ``width`` characters and ``rows`` rows is omitted, with a note.
    #[pyo3(signature = (other = None, /, *, names = false, numbers = false, memory = false, tiles = false, width = None, rows = None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python, each with a default")]
    fn show(
        &self,
        other: Option<&Bound<'_, PyAny>>,
        names: bool,
        numbers: bool,
        memory: bool,
        tiles: bool,
        width: Option<Integer<u64>>,
        rows: Option<Integer<u64>>,
    ) -> PyResult<String> {
        let usual = TextLimits::default();
        let width = given("width", width)?
            .map_or(usual.width, |width| usize::try_from(width).unwrap_or(usize::MAX));
        let limits =
            TextLimits { width, rows: given("rows", rows)?.unwrap_or(usual.rows), ..usual };
        let look = Look { memory, tiles, limits, ..Look::default() }.labelled(names, numbers);
        let shown = match other {
            None => Shown::one(&self.0, &look),
            Some(other) => {
                let other =
                    resolve("other", other, Some(self.0.layout().extents()), self.0.dtype())?;
                Shown::two(&self.0, &other, &look)
            }
        };
        Ok(shown.raised()?.picture)
    }

    /// Draws a picture. ``grid`` shows the storage offset of each element, ``memory`` the element at each offset. With ``to``,
    /// the picture shows the same array in both layouts; with ``threads`` and ``values``, the thread that holds each element if
    /// these are stored thread after thread; with ``vector``, the banks of shared memory, and the number of conflicts when a
    /// thread reads this number of elements at once.
    #[pyo3(signature = (kind = None, *, to = None, threads = None, values = None, vector = None), text_signature = "($self, kind='grid', *, to=None, threads=None, values=None, vector=None)")]
    fn draw(
        &self,
        kind: Option<TextArgument>,
        to: Option<&Bound<'_, PyAny>>,
        threads: Option<Integer<u64>>,
        values: Option<Integer<u64>>,
        vector: Option<Integer<u64>>,
    ) -> PyResult<PyDrawing> {
        let to = to.map(|to| resolve("to", to, Some(self.0.layout().extents()), self.0.dtype()));
        let to = to.transpose()?;
        let vector = given("vector", vector)?;
        let threads = match (given("threads", threads)?, given("values", values)?) {
            (Some(threads), values) => Some((threads, values.unwrap_or(1))),
            (None, Some(_)) => return Err(refused("arguments", "values= needs threads=")),
            (None, None) => None,
        };
        let kind = TextArgument::given("kind", kind)?;
        let name = kind.as_deref().unwrap_or("grid");
        PyDrawing::of(&self.0, &DrawingKind { name, to: to.as_ref(), threads, vector })
    }

    fn _repr_html_(&self) -> String {
        self.html()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyTensorLayout>().is_ok_and(|other| self.facts() == other.get().facts())
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        self.0.layout().hash(&mut hasher);
        self.dtype().hash(&mut hasher);
        hasher.finish()
    }

    fn __str__(&self) -> String {
        self.0.to_spec()
    }

    fn __repr__(&self) -> String {
        format!("TensorLayout({})", quoted(&self.0.to_spec()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, PyTensorLayout>) -> (Bound<'py, PyType>, (String,)) {
        (slf.get_type(), (slf.get().0.to_spec(),))
    }
}

impl PyTensorLayout {
    /// Returns the facts that are equal if two layouts are.
    fn facts(&self) -> (&TensorLayout, Option<Dtype>, Option<u32>, Fill) {
        (self.0.layout(), self.0.dtype(), self.0.element_bits(), self.0.fill())
    }

    /// Returns the picture of the storage offset of each element.
    pub(crate) fn grid(&self) -> PyResult<PyDrawing> {
        PyDrawing::of(&self.0, &DrawingKind { name: "grid", to: None, threads: None, vector: None })
    }

    /// Returns the picture for a notebook, or text if it cannot be drawn.
    pub(crate) fn html(&self) -> String {
        let shown = || {
            Shown::one(&self.0, &Look::default())
                .map_or_else(|_| self.0.to_spec(), |one| one.picture)
        };
        let text = || format!("<pre>{}</pre>", html(&shown()));
        PyDrawing::small_grid(&self.0).unwrap_or_else(|_| text())
    }
}

/// Returns the coordinate of the element at an offset of a storage of `capacity` elements; None for padding.
fn located(
    py: Python<'_>,
    offset: Integer<i64>,
    capacity: u64,
    locate: impl Fn(i64) -> Result<Place, tilewright::layouts::Error>,
) -> PyResult<Option<Bound<'_, PyTuple>>> {
    let offset = offset.of("offset")?;
    match locate(offset).raised()? {
        Place::Element(coord) => PyTuple::new(py, coord.as_slice()).map(Some),
        Place::Padding => Ok(None),
        Place::OutOfRange => {
            let says = format!("offset {offset} of a storage of {capacity} elements");
            Err(refused("out-of-range", says))
        }
    }
}

/// Returns the integers of a sequence, or one integer as a list.
fn coordinate(coord: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    match coord.try_iter() {
        Ok(_) => coord.extract::<Integers>()?.of("coord"),
        Err(_) => coord.extract::<Integer<u64>>()?.of("coord").map(|one| vec![one]),
    }
}

/// A table: the dims with the lengths of their blocks, and the list.
type Table<'py> = (Bound<'py, PyTuple>, Vec<Option<u64>>);

/// Returns the layout of an argument, with its index tables if it has any.
pub(crate) fn array_layout(
    argument: &str,
    value: &Bound<'_, PyAny>,
    dims: Option<&[u64]>,
    dtype: Option<Dtype>,
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
        let table = |along: &notation::Along| {
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
