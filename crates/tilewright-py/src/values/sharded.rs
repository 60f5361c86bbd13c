//! `Sharded`: an array cut over a mesh of devices, and `Shard`: the part of one device.
//!
//! Law: a value is fully described by its text. `repr`, pickles and the conversion of other packages' objects
//! (`_sharded.py`) all use it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use pyo3::{
    prelude::*,
    types::{PyAny, PyDict, PySlice, PyTuple, PyType},
};
use tilewright::{
    InShards,
    ask::{ShardsExplanation, ShardsTranslation},
    sharded::{Shard, is_sharded},
};

use crate::{
    arguments::{Integer, Integers, TextArgument, ask::dtype_of, html, quoted, tuple},
    errors::{Raised, refused},
    values::PyTensorLayout,
};

/// The largest number of lines of a table in a notebook.
const ROWS: usize = 64;

/// An array cut over a mesh of devices: the elements of each device, and the layout of each shard in memory.
///
/// ``Sharded("f32[8,6] @ mesh(dp=2,tp=2) P('dp','tp')")`` parses ``ARRAY @ SHARDING [/ SPEC]`` in the notations of torch, JAX,
/// XLA, Shardy and Megatron; ``Sharded("mesh(2) [Shard(0)]", dims, dtype)`` takes the array as arguments, like
/// ``tilewright.sharded``, which also accepts the objects of torch and JAX.
///
/// Two are equal when every device holds the same elements in the same layout, whatever the names of the axes are.
///
/// Raises ``ParseError`` with ``span`` and a caret, ``MismatchError``, ``UnsupportedError`` for partial sums.
///
/// >>> from tilewright import Sharded
/// >>> array = Sharded("f32[9,4] @ mesh(dp=4,tp=2) [Shard(0), Replicate()]")
/// >>> print(array.of(4))
/// 4 (dp=2,tp=0)  [6,9) × [0,4)
/// >>> array.replicated, [shard.shape for shard in array.shards()][::2]
/// (('tp',), [(3, 4), (3, 4), (3, 4), (0, 4)])
#[pyclass(name = "Sharded", module = "tilewright", frozen)]
#[derive(Clone)]
pub(crate) struct PySharded {
    pub(crate) array: InShards,
    text: String,
}

#[pymethods]
impl PySharded {
    #[new]
    #[pyo3(signature = (text, /, dims = None, dtype = None))]
    fn new(
        text: TextArgument,
        dims: Option<Integers>,
        dtype: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PySharded> {
        let (text, dims) = (text.of("sharding")?, Integers::given("dims", dims)?);
        let dtype = dtype.map(dtype_of).transpose()?;
        let known = is_sharded(&text);
        let text = match &dims {
            Some(dims) if !known => {
                let dims: Vec<String> = dims.iter().map(u64::to_string).collect();
                let (dtype, dims) = (dtype.map_or("", |it| it.name()), dims.join(","));
                format!("{dtype}[{dims}] @ {}", text.trim())
            }
            None if !known && dtype.is_some() => {
                return Err(refused(
                    "needs-dims",
                    "the text has a sharding but no array; give dims=, the array's extents",
                ));
            }
            Some(_) | None => text.trim().to_owned(),
        };
        let array = InShards::parse(&text).raised()?;
        let (own, own_type) = (array.sharded.extents(), array.sharded.dtype());
        if dims.as_ref().is_some_and(|dims| dims != own)
            || dtype.is_some_and(|it| Some(it) != own_type)
        {
            let (said, dims) = (array.sharded.array(), dims.map_or(String::new(), |it| tuple(&it)));
            let dtype = dtype.map_or("", |it| it.name());
            let says = format!("the text describes {said}, the arguments describe {dims} {dtype}");
            return Err(refused("mismatch", says.trim_end()));
        }
        Ok(PySharded { array, text })
    }

    /// The text of the whole value; parsing it returns an equal value.
    #[getter]
    fn spec(&self) -> &str {
        &self.text
    }

    /// The extents of the whole array.
    #[getter]
    fn dims<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array.sharded.extents())
    }

    /// The extents of the whole array, under NumPy's name for them.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.dims(py)
    }

    /// The element type by XLA's name; None if unknown.
    #[getter]
    fn dtype(&self) -> Option<&'static str> {
        self.array.sharded.dtype().map(|dtype| dtype.name())
    }

    /// The axes of the mesh and their sizes, in order; an axis without a name has its number as name.
    #[getter]
    fn mesh<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (axes, mesh) = (PyDict::new(py), self.array.sharded.mesh());
        for (axis, size) in mesh.sizes().iter().enumerate() {
            axes.set_item(mesh.name(axis), size)?;
        }
        Ok(axes)
    }

    /// The devices in the order of the mesh; None if the sharding is for any number of devices.
    #[getter]
    fn devices<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let mesh = self.array.sharded.mesh();
        let devices: Option<Vec<u64>> = (0..mesh.count()).map(|at| mesh.device(at)).collect();
        devices.map(|devices| PyTuple::new(py, devices)).transpose()
    }

    /// The axes along which all devices hold equal data.
    #[getter]
    fn replicated<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let sharded = &self.array.sharded;
        PyTuple::new(
            py,
            sharded
                .replicated()
                .into_iter()
                .map(|axis| sharded.mesh().name(axis))
                .collect::<Vec<_>>(),
        )
    }

    /// Returns the shard of every device, in the order of the mesh.
    fn shards(&self) -> Vec<PyShard> {
        self.array.sharded.shards().map(|shard| self.with(shard)).collect()
    }

    /// Returns the shard of a device, by its number. Raises ``OutOfRangeError`` for a device that is not in the mesh.
    fn of(&self, device: Integer<u64>) -> PyResult<PyShard> {
        let device = device.of("device")?;
        let mesh = self.array.sharded.mesh();
        let place = (0..mesh.count()).find(|at| mesh.device(*at).is_none_or(|it| it == device));
        let none = || refused("out-of-range", format!("{mesh} lacks the device {device}"));
        Ok(self.with(self.array.sharded.shard(place.ok_or_else(none)?).raised()?))
    }

    /// Returns the shard of the device at a position of the mesh, counted with the last axis fastest.
    fn at(&self, position: Integer<u64>) -> PyResult<PyShard> {
        Ok(self.with(self.array.sharded.shard(position.of("position")?).raised()?))
    }

    /// Returns the one layout of all shards, with the memory of the devices one after the other. Raises ``NoLayoutError`` with
    /// the first device that one layout cannot describe, ``UnsupportedError`` if shards are not row-major.
    ///
    /// >>> from tilewright import Sharded
    /// >>> Sharded("f32[8,6] @ mesh(2,2) [Shard(0), Shard(1)]").as_layout().translate("cute")
    /// '((4,2),(3,2)):((3,24),(1,12))'
    fn as_layout(&self) -> PyResult<PyTensorLayout> {
        self.array.as_layout().raised().map(PyTensorLayout)
    }

    /// Returns the sharding in another notation: ``torch``, ``jax``, ``hlo``, ``shardy`` or ``megatron``. Raises
    /// ``UnsupportedError`` with the first device that would hold other elements in that notation.
    ///
    /// >>> from tilewright import Sharded
    /// >>> Sharded("f32[8,6] @ mesh(dp=2,tp=2) P('dp','tp')").to("hlo")
    /// Sharded('f32[8,6] @ {devices=[2,2]<=[4]}')
    #[pyo3(signature = (notation, /))]
    fn to(&self, notation: TextArgument) -> PyResult<PySharded> {
        let notation = notation.of("notation")?;
        // Only notations of shardings are accepted: a notation of layouts has one layout, which is not a sharding.
        tilewright::sharded::dialect::dialect(&notation).raised()?;
        let said = ShardsTranslation::of(&self.array, &notation).raised()?;
        PySharded::read(said.layout)
    }

    /// Returns only the sharding in another notation, or the one layout of all shards in a notation of layouts.
    #[pyo3(signature = (to, /))]
    fn translate(&self, to: TextArgument) -> PyResult<String> {
        Ok(ShardsTranslation::of(&self.array, &to.of("to")?).raised()?.text)
    }

    /// Explains the sharding in words and numbers.
    fn explain(&self) -> String {
        ShardsExplanation::of(&self.array).to_string()
    }

    /// Returns the first device that holds other elements in another sharding of the same array, as text; None if every device
    /// holds the same elements.
    #[pyo3(signature = (other, /))]
    fn difference(&self, other: PyRef<'_, PySharded>) -> Option<String> {
        let found = self.array.sharded.difference(&other.array.sharded);
        found.map(|difference| difference.to_string())
    }

    fn _repr_html_(&self) -> String {
        let mut lines = vec![self.text.clone()];
        lines.extend(self.array.sharded.shards().take(ROWS).map(|shard| shard.to_string()));
        let left = self.array.sharded.mesh().count().saturating_sub(ROWS as u64);
        lines.extend((left > 0).then(|| format!("… and {left} more devices")));
        format!("<pre>{}</pre>", html(&lines.join("\n")))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PySharded>().is_ok_and(|other| self.is(other.get()))
    }

    fn __hash__(&self) -> u64 {
        let sharded = &self.array.sharded;
        let mut hasher = DefaultHasher::new();
        (sharded.extents(), sharded.dtype(), sharded.mesh().count()).hash(&mut hasher);
        hasher.finish()
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("Sharded({})", quoted(&self.text))
    }

    fn __reduce__<'py>(slf: &Bound<'py, PySharded>) -> (Bound<'py, PyType>, (String,)) {
        (slf.get_type(), (slf.get().text.clone(),))
    }
}

impl PySharded {
    /// Parses a whole text.
    fn read(text: String) -> PyResult<PySharded> {
        Ok(PySharded { array: InShards::parse(&text).raised()?, text })
    }

    fn with(&self, shard: Shard) -> PyShard {
        PyShard { shard, of: self.clone() }
    }

    /// Returns whether every device holds the same elements in the same layout.
    fn is(&self, other: &PySharded) -> bool {
        self.array.shard == other.array.shard
            && self.array.sharded.difference(&other.array.sharded).is_none()
    }
}

/// The part of an array in shards that one device holds. ``Sharded.shards`` and ``Sharded.of`` return shards.
///
/// >>> from tilewright import Sharded
/// >>> shard = Sharded("f32[8,3] @ mesh(2) [_StridedShard(0, sf=2)]").of(0)
/// >>> shard.intervals
/// (((0, 2), (4, 2)), ((0, 3),))
/// >>> import numpy as np
/// >>> whole, local = np.arange(24).reshape(8, 3), np.empty(shard.shape, int)
/// >>> for there, here in shard.boxes():
/// ...     local[here] = whole[there]
/// >>> local[:, 0].tolist()
/// [0, 3, 12, 15]
#[pyclass(name = "Shard", module = "tilewright", frozen)]
pub(crate) struct PyShard {
    shard: Shard,
    of: PySharded,
}

#[pymethods]
impl PyShard {
    /// The number of the device; None if the sharding is for any number of devices.
    #[getter]
    fn device(&self) -> Option<u64> {
        self.shard.device()
    }

    /// The position in the mesh, counted with the last axis fastest.
    #[getter]
    fn position(&self) -> u64 {
        self.shard.position()
    }

    /// The position along each axis of the mesh.
    #[getter]
    fn coord<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.shard.coord())
    }

    /// The indices of each dim that the device holds, in local order: first index and length of each interval.
    #[getter]
    fn intervals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let list = |[start, length]: &[u64; 2]| (*start, *length);
        let dims = self
            .shard
            .dims()
            .iter()
            .map(|dim| PyTuple::new(py, dim.as_slice().iter().map(list).collect::<Vec<_>>()));
        PyTuple::new(py, dims.collect::<PyResult<Vec<_>>>()?)
    }

    /// The extents of the local array, without padding.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.shard.extents())
    }

    /// The extents of the local array in memory; elements beyond ``shape`` are padding.
    #[getter]
    fn stored_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.shard.stored())
    }

    /// The layout of the local array in memory; None if the text does not give one, or the device holds no element.
    #[getter]
    fn layout(&self) -> PyResult<Option<PyTensorLayout>> {
        Ok(self.of.array.layout(&self.shard).raised()?.map(PyTensorLayout))
    }

    /// Returns the boxes that the device holds, in local order: slices of the whole array, and slices of the local array.
    fn boxes<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Vec<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)>> {
        let slices = |starts: &[u64], extents: &[u64]| {
            let one = |(start, extent): (&u64, &u64)| {
                let (start, end) = (*start as isize, start.saturating_add(*extent) as isize);
                PySlice::new(py, start, end, 1)
            };
            PyTuple::new(py, starts.iter().zip(extents).map(one).collect::<Vec<_>>())
        };
        let parts = self.shard.boxes();
        parts
            .map(|it| Ok((slices(&it.start, &it.extents)?, slices(&it.local, &it.extents)?)))
            .collect()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let same = |other: &PyShard| self.shard == other.shard && self.of.is(&other.of);
        other.cast::<PyShard>().is_ok_and(|other| same(other.get()))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.shard.position(), self.shard.extents()).hash(&mut hasher);
        hasher.finish()
    }

    fn __str__(&self) -> String {
        self.shard.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Shard {}>", self.shard)
    }

    fn __reduce__<'py>(slf: &Bound<'py, PyShard>) -> PyResult<(Bound<'py, PyAny>, (u64,))> {
        let whole = Bound::new(slf.py(), slf.get().of.clone())?;
        Ok((whole.getattr("at")?, (slf.get().shard.position(),)))
    }
}
