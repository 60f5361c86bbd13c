//! Open checkpoints: a tensor, or a box of one, as an array in any layout.
//!
//! Boxes of an array in NumPy's basic indexing: slices without steps, integers, one `...`. `get` of an open checkpoint
//! uses it.

use std::{
    collections::HashMap,
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use pyo3::{
    exceptions::{PyKeyError, PyTypeError},
    prelude::*,
    types::{PyDict, PyEllipsis, PyIterator, PyList, PySlice, PyString, PyTuple},
};
use tilewright::{
    ask::words,
    files::{Input, Reader, Tensor, open_watched},
};

use super::{
    convert::{Watcher, reading, request, warned},
    load::{Load, LoadTarget},
};
use crate::{
    arguments::{Integer, Integers, TextArgument, ask::spec_of, given, html, quoted, text, tuple},
    errors::{Raised, refused},
    foreign::{Argument, Facts, Memory, device, numpy_empty, torch_empty},
    moves::result::{ResultForm, ResultOrder},
    values::tensor::layout_of,
};

/// The number of rows of a table in a notebook.
const ROWS: usize = 20;

/// An open file, and the numbers of its tensors by name.
struct OpenFile {
    input: Input,
    places: HashMap<String, usize>,
}

/// An open checkpoint: its tensors by name, as arrays, in any layout. ``open`` returns one.
///
/// Iteration yields the names in the order of their bytes; ``len`` counts them; ``name in checkpoint`` tests for one. A tensor is
/// read only when it is requested. A ``with`` statement closes the checkpoint at its end.
#[pyclass(name = "Checkpoint", module = "tilewright", frozen)]
pub(crate) struct PyCheckpoint {
    path: PathBuf,
    held: RwLock<Option<Arc<OpenFile>>>,
}

/// Opens a file of weights.
#[pyfunction]
#[pyo3(signature = (path, job, /))]
pub(crate) fn open_checkpoint(
    py: Python<'_>,
    path: PathBuf,
    job: &Bound<'_, PyDict>,
) -> PyResult<PyCheckpoint> {
    let request = request(job)?;
    let watcher = Watcher::new(None)?;
    let input = watcher.outcome(py.detach(|| open_watched(&path, request.reading(), &watcher)))?;
    warned(py, &path, input.warnings())?;
    let named = input.tensors().iter().enumerate();
    let mut places: HashMap<String, usize> =
        named.map(|(i, tensor)| (tensor.name().to_owned(), i)).collect();
    let tied =
        input.tied().filter_map(|(name, of)| Some((name.to_owned(), *places.get(of.name())?)));
    let tied: Vec<(String, usize)> = tied.collect();
    places.extend(tied);
    // For a folder, the path is that of the file in it.
    let path = if path.is_dir() { input.path().to_path_buf() } else { path };
    let held = RwLock::new(Some(Arc::new(OpenFile { input, places })));
    Ok(PyCheckpoint { path, held })
}

impl PyCheckpoint {
    /// Returns the metadata of the file.
    pub(crate) fn texts(&self) -> PyResult<HashMap<String, String>> {
        let held = self.held()?;
        Ok(held.input.metadata().map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
    }

    /// Returns the open file, which stays open for the caller if another thread closes the checkpoint.
    fn held(&self) -> PyResult<Arc<OpenFile>> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner).clone();
        held.ok_or_else(|| {
            let path = self.path.display();
            refused("arguments", format!("{path} is closed; open it again to read tensors"))
        })
    }
}

#[pymethods]
impl PyCheckpoint {
    /// Returns a tensor as an array of NumPy, or of torch with ``framework="torch"``.
    ///
    /// Without ``to`` the array has the logical dims, the last fastest, whatever the file stores; with ``to`` it has the shape of
    /// the storage, as from ``relayout``. Elements keep their type; packed elements and blocks of quantised ones are bytes.
    /// ``box`` selects a part: slices without steps, integers and one ``...``, as in NumPy's basic indexing. An integer removes
    /// its dim, and cannot be combined with ``to``. ``out`` is written and returned instead of a new array: any contiguous array
    /// of the result's size and element type, or of bytes. The file is read directly into it, with at most 64 MiB of other
    /// buffers. ``threads`` is one per core by default.
    ///
    /// ``from_`` and ``dtype`` read words that hold smaller elements, ``m.get(name, to="MARLIN as s32", from_="GPTQ",
    /// dtype="u4")``; ``dims`` are their logical dims if the words do not determine them.
    ///
    /// ``device="cuda"`` or ``"cuda:1"`` returns an array there: the file is read in pieces of at most 16 MiB, which are copied
    /// to the device, and a kernel moves them into the layout ``to``; with ``to`` the device holds the tensor twice meanwhile.
    /// The result is a ``DeviceArray``, or an array of ``framework="torch"``, ``"cupy"`` or ``"jax"``, ready on that library's
    /// current stream.
    ///
    /// Raises ``KeyError`` for a missing name, ``ArgumentError`` for a layout or a box that does not fit, and ``FileError`` for a
    /// file that was changed or truncated.
    #[pyo3(signature = (name, /, to = None, *, r#box = None, out = None, framework = None, threads = None, from_ = None, dims = None, dtype = None, device = None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
        to: Option<&Bound<'py, PyAny>>,
        r#box: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        framework: Option<TextArgument>,
        threads: Option<Integer<usize>>,
        from_: Option<&Bound<'py, PyAny>>,
        dims: Option<Integers>,
        dtype: Option<&Bound<'py, PyAny>>,
        device: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let held = self.held()?;
        let tensor = held.tensor(name)?;
        let target = LoadTarget::of(TextArgument::given("framework", framework)?, device)?;
        let threads = device::threads(given("threads", threads)?);
        let to = to.map(|to| spec_of("to", to)).transpose()?;
        let reading = reading(from_, dims, dtype)?;
        let own = held.input.layout_as(tensor, &reading).raised();
        let part = r#box.map(|part| PartIndex::of(part, own?.layout().extents())).transpose()?;
        if to.is_some() && part.as_ref().is_some_and(PartIndex::leaves_out) {
            let says = "box= with to= takes slices, because a layout covers all dims; write an integer i as slice(i, i + 1)";
            return Err(refused("arguments", says));
        }
        let area = part.as_ref().map(|part| part.ranges.as_slice());
        let reader = held.input.reader_as(tensor, &reading, to.as_ref(), area).raised()?;
        let form = form(&reader, part.as_ref().filter(|_| to.is_none()))?;
        let torch = match target {
            LoadTarget::Host { torch } => torch,
            LoadTarget::Device(_) if out.is_some() => {
                let says = "out= and device= exclude each other; load an array on the device, then call tilewright.copy_(out, array)";
                return Err(refused("arguments", says));
            }
            LoadTarget::Device(target) => {
                let load = Load { input: &held.input, tensor, reading: &reading, reader: &reader };
                return load.run(py, &target, &form, area, to.is_some(), threads);
            }
        };
        let made = match out {
            Some(out) => out.clone(),
            None => empty(py, &form, torch)?,
        };
        let mut memory = Memory::given("out", &made)?;
        if out.is_some() {
            fits(&form, &reader, &memory)?;
        }
        let bytes = memory.bytes_mut()?;
        let watcher = Watcher::new(None)?;
        let done = py.detach(|| reader.read_into(bytes, threads, &watcher));
        watcher.outcome(done)?;
        Ok(made)
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.get(py, name, None, None, None, None, None, None, None, None, None)
    }

    /// Returns the layout of a tensor in the file.
    #[pyo3(signature = (name, /))]
    fn layout<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let held = self.held()?;
        let tensor = held.tensor(name)?;
        layout_of(py, &tensor.array_layout())
    }

    /// Returns the names of the tensors, in the order of their bytes.
    fn keys(&self) -> PyResult<Vec<String>> {
        Ok(self.held()?.input.tensors().iter().map(|tensor| tensor.name().to_owned()).collect())
    }

    /// The metadata of the file, as texts by their names.
    #[getter]
    fn metadata(&self) -> PyResult<HashMap<String, String>> {
        self.texts()
    }

    /// Names that stand for a tensor of another name, each with that name: tied tensors, which a file stores once. They can be
    /// used like other names, and are not listed.
    #[getter]
    fn tied(&self) -> PyResult<HashMap<String, String>> {
        let held = self.held()?;
        Ok(held.input.tied().map(|(name, of)| (name.to_owned(), of.name().to_owned())).collect())
    }

    /// The format of the file: ``safetensors``, ``sharded safetensors``, ``GGUF``, ``npy``, ``npz`` or ``raw``.
    #[getter]
    fn format(&self) -> PyResult<&'static str> {
        Ok(self.held()?.input.format())
    }

    /// The path.
    #[getter]
    fn path(&self) -> &Path {
        &self.path
    }

    /// True if the checkpoint is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.held().is_err()
    }

    /// Closes the file; a read that is in progress completes first.
    fn close(&self) {
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.held()?.input.tensors().len())
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        let held = self.held()?;
        Ok(name.extract::<String>().is_ok_and(|name| held.places.contains_key(&name)))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.keys()?)?.try_iter()
    }

    fn __enter__(this: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        this.get().held()?;
        Ok(this)
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyTuple>) {
        self.close();
    }

    fn __repr__(&self) -> String {
        let path = quoted(&self.path.display().to_string());
        match self.held() {
            Ok(held) => format!("<Checkpoint {path}: {}>", held.says()),
            Err(_) => format!("<Checkpoint {path}: closed>"),
        }
    }

    /// Returns a table of the first tensors.
    fn _repr_html_(&self) -> String {
        let path = html(&self.path.display().to_string());
        let Ok(held) = self.held() else { return format!("<p>{path}: closed</p>") };
        let tensors = held.input.tensors();
        let rows: String = tensors.iter().take(ROWS).map(row).collect();
        let more = tensors.len().saturating_sub(ROWS);
        let more = match more {
            0 => String::new(),
            _ => format!("<tr><td colspan=\"4\">{more} more</td></tr>"),
        };
        let head = "<tr><th>tensor</th><th>dims</th><th>layout</th><th>bytes</th></tr>";
        format!("<table><caption>{path}: {}</caption>{head}{rows}{more}</table>", held.says())
    }
}

/// Returns a tensor as a row of a table.
fn row(tensor: &Tensor) -> String {
    let dims = tuple(tensor.dims());
    let (name, layout) = (html(tensor.name()), html(&tensor.spec()));
    let bytes = words::bytes(tensor.bytes());
    format!("<tr><td>{name}</td><td>{dims}</td><td>{layout}</td><td>{bytes}</td></tr>")
}

impl OpenFile {
    /// Returns the tensor of a name.
    fn tensor(&self, name: &Bound<'_, PyAny>) -> PyResult<&Tensor> {
        let wanted = text("name", name)?;
        let found = self.places.get(&wanted).and_then(|place| self.input.tensors().get(*place));
        found.ok_or_else(|| match self.nearest(name) {
            Ok(error) | Err(error) => error,
        })
    }

    /// Returns the error for a missing name.
    fn nearest(&self, name: &Bound<'_, PyAny>) -> PyResult<PyErr> {
        let known: Vec<&str> = self.input.tensors().iter().map(Tensor::name).take(10_000).collect();
        let matches = name.py().import("difflib")?.getattr("get_close_matches")?;
        let near = matches.call1((name, known, 1))?.extract::<Vec<String>>()?;
        let meant = near.first().map(|near| format!("; did you mean {}?", quoted(near)));
        let (path, name) = (self.input.path().display(), name.repr()?);
        let meant = meant.unwrap_or_default();
        Ok(PyKeyError::new_err(format!("{path} lacks the tensor {name}{meant}")))
    }

    /// Returns a description as text.
    fn says(&self) -> String {
        let (count, format) = (self.input.tensors().len(), self.input.format());
        let bytes: u64 = self.input.tensors().iter().map(Tensor::bytes).sum();
        let tensors = words::counted(count as u128, "tensor");
        format!("{format}, {tensors}, {}", words::bytes(bytes))
    }
}

/// Returns the form of the result; `part` has the dims that are removed.
fn form(reader: &Reader<'_>, part: Option<&PartIndex>) -> PyResult<ResultForm> {
    let (named, bits) = (reader.layout(), reader.bits());
    if reader.is_big_endian() {
        let says = "arrays in memory are little-endian; leave the order of bytes out of to=";
        return Err(refused("unsupported", says));
    }
    if named.stored_as().is_some() {
        return Ok(ResultForm::of(None, named.dtype(), bits, named, ResultOrder::C));
    }
    let mut shape = named.storage_shape();
    // A block of elements counts as one element.
    if let Some(block) = named.dtype().and_then(|dtype| dtype.block()) {
        let n = u64::from(block.elements);
        match shape.last_mut().filter(|last| last.is_multiple_of(n)) {
            Some(last) => *last /= n,
            None => shape = vec![reader.bytes() * 8 / u64::from(bits)],
        }
    }
    let kept = |dim: &usize| part.is_none_or(|part| !part.left_out.contains(dim));
    let shape = (0..shape.len()).filter(kept).filter_map(|dim| shape.get(dim).copied()).collect();
    Ok(ResultForm::new(None, named.dtype(), bits, shape, ResultOrder::C))
}

/// Returns a new array for the result.
fn empty<'py>(py: Python<'py>, form: &ResultForm, torch: bool) -> PyResult<Bound<'py, PyAny>> {
    let name = PyString::new(py, form.element().unwrap_or("uint8")).into_any();
    match torch {
        true => torch_empty(py, &form.shape, &name, None),
        false => numpy_empty(py, &form.shape, &name),
    }
}

/// Refuses an output of another size or element type; bytes are always accepted.
fn fits(form: &ResultForm, reader: &Reader<'_>, out: &Memory) -> PyResult<()> {
    let Ok(bytes) = out.row_major_bytes(Argument::Out) else {
        let (shape, strides) = (tuple(out.shape()), tuple(&out.facts.strides));
        let says = format!(
            "out= is an array of shape {shape} and strides {strides} bytes, which is not contiguous: a file is read into \
             one run of memory; get an array without out=, and tilewright.copy_(out, array)"
        );
        return Err(refused("copy", says));
    };
    let (wanted, given) = (reader.bytes(), bytes.len() as u64);
    let Facts { itemsize, dtype, swapped, .. } = &out.facts;
    let is_bytes = *itemsize == 1 && dtype.is_none_or(|dtype| dtype == tilewright::Dtype::U8);
    let same = form.dtype().is_none_or(|own| *dtype == Some(own));
    if !is_bytes && (!same || out.facts.bits() != form.bits || *swapped) {
        let of = reader.layout().dtype().map_or("bytes", |dtype| dtype.name());
        let given = crate::moves::plan::element(&out.facts);
        let says = format!("an output of {given} but the result has {of}");
        return Err(refused("dtype", says));
    }
    if wanted != given {
        let (shape, own) = (tuple(&form.shape), tuple(out.shape()));
        let says = format!(
            "an output of {given} bytes, shape {own}, for a result of {wanted} bytes, shape {shape}"
        );
        return Err(refused("mismatch", says));
    }
    Ok(())
}

/// A range for each dim, and the dims that are removed from a result.
pub(crate) struct PartIndex {
    pub(crate) ranges: Vec<Range<u64>>,
    pub(crate) left_out: Vec<usize>,
}

impl PartIndex {
    /// Returns the box of an argument, for an array of these dims; dims after the given ones are whole.
    pub(crate) fn of(value: &Bound<'_, PyAny>, dims: &[u64]) -> PyResult<PartIndex> {
        let given: Vec<Bound<'_, PyAny>> =
            match value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>() {
                true => value.extract()?,
                false => vec![value.clone()],
            };
        let dots = |item: &Bound<'_, PyAny>| item.is_instance_of::<PyEllipsis>();
        let count = given.iter().filter(|item| dots(item)).count();
        let named = given.len() - count;
        if count > 1 || named > dims.len() {
            let rank = dims.len();
            let says = format!(
                "box= has {named} dims and {count} times '...', for a tensor of rank {rank}; '...' stands once"
            );
            return Err(refused("arguments", says));
        }
        let before = given.iter().position(dots).unwrap_or(named);
        let (mut ranges, mut left_out) = (Vec::new(), Vec::new());
        let whole = dims.len() - named;
        for (dim, extent) in dims.iter().enumerate() {
            let item = match dim {
                dim if dim < before => given.get(dim),
                dim if dim < before + whole => None,
                // One of the given items may be the dots.
                dim => given.get(dim - whole + count),
            };
            let Some(item) = item else {
                ranges.push(0..*extent);
                continue;
            };
            let (range, is_one) = taken(item, dim, *extent)?;
            if is_one {
                left_out.push(dim);
            }
            ranges.push(range);
        }
        Ok(PartIndex { ranges, left_out })
    }

    /// Returns whether a dim is removed.
    pub(crate) fn leaves_out(&self) -> bool {
        !self.left_out.is_empty()
    }
}

/// Returns the range of a dim that an item selects, and whether the item is an integer.
fn taken(item: &Bound<'_, PyAny>, dim: usize, extent: u64) -> PyResult<(Range<u64>, bool)> {
    let Ok(slice) = item.cast::<PySlice>() else {
        return one(item, dim, extent).map(|at| (at..at + 1, true));
    };
    let step = slice.getattr("step")?;
    if !step.is_none() && !step.eq(1)? {
        let says =
            format!("box= takes slices without steps; dim {dim} has a step of {}", step.str()?);
        return Err(refused("arguments", says));
    }
    let found = slice.indices(isize::try_from(extent).unwrap_or(isize::MAX))?;
    let (start, stop) = (found.start.max(0) as u64, found.stop.max(0) as u64);
    Ok((start..stop.max(start), false))
}

/// Returns the coordinate of an integer; negative ones count from the end.
fn one(item: &Bound<'_, PyAny>, dim: usize, extent: u64) -> PyResult<u64> {
    let is_bool = item.is_instance_of::<pyo3::types::PyBool>();
    if is_bool || !item.hasattr("__index__")? {
        let found = item.get_type().name()?;
        let says = format!("box= takes slices, integers and '...'; dim {dim} is given {found}");
        return Err(PyTypeError::new_err(says));
    }
    let at = item.extract::<Integer<i64>>()?.of("box")?;
    let from_end = if at < 0 { i128::from(at) + i128::from(extent) } else { i128::from(at) };
    u64::try_from(from_end).ok().filter(|at| *at < extent).ok_or_else(|| {
        refused("out-of-range", format!("box= asks for {at} in dim {dim} of extent {extent}"))
    })
}
