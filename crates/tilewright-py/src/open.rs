//! Checkpoints that are open: a tensor, or a box of one, as an array in the layout that is asked for.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use pyo3::{
    exceptions::PyKeyError,
    prelude::*,
    types::{PyDict, PyIterator, PyList, PyString, PyTuple},
};
use tilewright::{
    ask::words,
    files::{Input, Reader, Tensor, open_watched},
};

use crate::{
    convert::{Watcher, reading, request, warned},
    errors::{Raised, refused},
    foreign::{Facts, Memory, Place, numpy_empty, torch_empty},
    forks,
    integer::{Integer, Integers, given},
    load::{Load, Target},
    order::Order,
    part::Part,
    result::Form,
    spec::spec_of,
    spelling::{html, quoted, tuple},
    tabled::layout_of,
    text::{Text, text},
};

/// The rows of a table in a notebook.
const ROWS: usize = 20;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyCheckpoint>()?;
    module.add_function(wrap_pyfunction!(open_checkpoint, module)?)
}

/// A file that is open, and where its tensors are by name.
struct Held {
    input: Input,
    places: HashMap<String, usize>,
}

/// A checkpoint that is open: its tensors by name, as arrays, in the layout that is asked for. ``open`` gives one.
///
/// Iterating gives the names in the order of their bytes; ``len`` counts them; ``name in checkpoint`` tells whether there
/// is one. Nothing is read of a tensor until it is asked for. It closes at the end of a ``with``.
#[pyclass(name = "Checkpoint", module = "tilewright", frozen)]
pub(crate) struct PyCheckpoint {
    path: PathBuf,
    held: RwLock<Option<Arc<Held>>>,
}

/// Opens a file of weights.
#[pyfunction]
#[pyo3(signature = (path, job, /))]
fn open_checkpoint(
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
    // Of a folder it is the file in it.
    let path = if path.is_dir() { input.path().to_path_buf() } else { path };
    let held = RwLock::new(Some(Arc::new(Held { input, places })));
    Ok(PyCheckpoint { path, held })
}

impl PyCheckpoint {
    /// What the file says beside its tensors.
    pub(crate) fn texts(&self) -> PyResult<HashMap<String, String>> {
        let held = self.held()?;
        Ok(held.input.metadata().map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
    }

    /// What is open, also while another thread closes it.
    fn held(&self) -> PyResult<Arc<Held>> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner).clone();
        held.ok_or_else(|| {
            let path = self.path.display();
            refused("arguments", format!("{path} is closed; open it again to read tensors"))
        })
    }
}

#[pymethods]
impl PyCheckpoint {
    /// A tensor as an array: of NumPy's, or of torch's with ``framework="torch"``.
    ///
    /// Without ``to`` it has its logical dims, the last fastest, whatever the file stores; with ``to`` the shape of the
    /// storage, as ``relayout`` gives it. Elements keep their type; packed ones and blocks of quantised ones are
    /// bytes. ``box`` takes a part: slices without steps, integers and one ``...``, as NumPy's basic indexing; an integer
    /// leaves its dim out, and goes without ``to``. ``out`` is written instead of a new array, and given back: any
    /// contiguous array of the result's size and element type, or of bytes. The file is read straight into it; beside it
    /// no more than 64 MiB are held. ``threads`` is one per core unless given.
    ///
    /// ``from_`` and ``dtype`` read words that hold smaller elements, ``m.get(name, to="MARLIN as s32", from_="GPTQ",
    /// dtype="u4")``; ``dims`` are their logical dims where the words do not say them.
    ///
    /// ``device="cuda"`` or ``"cuda:1"`` gives an array there: the file is read in pieces of at most 16 MiB, copied to the
    /// device, and moved into the layout ``to`` by a kernel; with ``to`` the device holds the tensor twice meanwhile. It is a
    /// ``DeviceArray``, or an array of ``framework="torch"``, ``"cupy"`` or ``"jax"``, ready on that library's current stream.
    ///
    /// Raises ``KeyError`` for a name that is not there, ``ArgumentError`` for a layout or a box that does not fit, and
    /// ``FileError`` for a file that was changed or cut short.
    #[pyo3(signature = (name, /, to = None, *, r#box = None, out = None, framework = None, threads = None, from_ = None, dims = None, dtype = None, device = None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
        to: Option<&Bound<'py, PyAny>>,
        r#box: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        framework: Option<Text>,
        threads: Option<Integer<usize>>,
        from_: Option<&Bound<'py, PyAny>>,
        dims: Option<Integers>,
        dtype: Option<&Bound<'py, PyAny>>,
        device: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let held = self.held()?;
        let tensor = held.tensor(name)?;
        let target = Target::of(Text::given("framework", framework)?, device)?;
        let threads = forks::threads(given("threads", threads)?);
        let to = to.map(|to| spec_of("to", to)).transpose()?;
        let reading = reading(from_, dims, dtype)?;
        let own = held.input.layout_as(tensor, &reading).raised();
        let part = r#box.map(|part| Part::of(part, own?.layout().extents())).transpose()?;
        if to.is_some() && part.as_ref().is_some_and(Part::leaves_out) {
            let says = "box= with to= takes slices, for a layout is one of all dims; an integer i as slice(i, i + 1)";
            return Err(refused("arguments", says));
        }
        let area = part.as_ref().map(|part| part.ranges.as_slice());
        let reader = held.input.reader_as(tensor, &reading, to.as_ref(), area).raised()?;
        let form = form(&reader, part.as_ref().filter(|_| to.is_none()))?;
        let torch = match target {
            Target::Host { torch } => torch,
            Target::Device(_) if out.is_some() => {
                let says = "out= goes without device=; get an array there, and tilewright.copy_(out, array)";
                return Err(refused("arguments", says));
            }
            Target::Device(target) => {
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

    /// The layout that a tensor has in the file.
    #[pyo3(signature = (name, /))]
    fn layout<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let held = self.held()?;
        let tensor = held.tensor(name)?;
        layout_of(py, tensor.layout(), tensor.tabled())
    }

    /// The names of the tensors, in the order of their bytes.
    fn keys(&self) -> PyResult<Vec<String>> {
        Ok(self.held()?.input.tensors().iter().map(|tensor| tensor.name().to_owned()).collect())
    }

    /// What the file says beside its tensors, as texts by their names.
    #[getter]
    fn metadata(&self) -> PyResult<HashMap<String, String>> {
        self.texts()
    }

    /// Names that stand for a tensor of another name, each with that name: tied tensors, which a file stores once. They
    /// are answered as names are, and are not listed.
    #[getter]
    fn tied(&self) -> PyResult<HashMap<String, String>> {
        let held = self.held()?;
        Ok(held.input.tied().map(|(name, of)| (name.to_owned(), of.name().to_owned())).collect())
    }

    /// What kind of file it is: ``safetensors``, ``sharded safetensors``, ``GGUF``, ``npy``, ``npz`` or ``raw``.
    #[getter]
    fn format(&self) -> PyResult<&'static str> {
        Ok(self.held()?.input.format())
    }

    /// The path.
    #[getter]
    fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.held().is_err()
    }

    /// Closes the file, once whatever reads it has ended.
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

    /// A table of the first tensors.
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

/// A tensor as a row of a table.
fn row(tensor: &Tensor) -> String {
    let dims = tuple(tensor.dims());
    let (name, layout) = (html(tensor.name()), html(&tensor.spec()));
    let bytes = words::bytes(tensor.bytes());
    format!("<tr><td>{name}</td><td>{dims}</td><td>{layout}</td><td>{bytes}</td></tr>")
}

impl Held {
    /// The tensor of a name.
    fn tensor(&self, name: &Bound<'_, PyAny>) -> PyResult<&Tensor> {
        let wanted = text("name", name)?;
        let found = self.places.get(&wanted).and_then(|place| self.input.tensors().get(*place));
        found.ok_or_else(|| match self.nearest(name) {
            Ok(error) | Err(error) => error,
        })
    }

    /// The error for a name that is not there.
    fn nearest(&self, name: &Bound<'_, PyAny>) -> PyResult<PyErr> {
        let known: Vec<&str> = self.input.tensors().iter().map(Tensor::name).take(10_000).collect();
        let matches = name.py().import("difflib")?.getattr("get_close_matches")?;
        let near = matches.call1((name, known, 1))?.extract::<Vec<String>>()?;
        let meant = near.first().map(|near| format!("; did you mean {}?", quoted(near)));
        let (path, name) = (self.input.path().display(), name.repr()?);
        let meant = meant.unwrap_or_default();
        Ok(PyKeyError::new_err(format!("{path} lacks the tensor {name}{meant}")))
    }

    /// What it is, in words.
    fn says(&self) -> String {
        let (count, format) = (self.input.tensors().len(), self.input.format());
        let bytes: u64 = self.input.tensors().iter().map(Tensor::bytes).sum();
        let tensors = words::counted(count as u128, "tensor");
        format!("{format}, {tensors}, {}", words::bytes(bytes))
    }
}

/// What the result looks like; `part` says which dims are left out.
fn form(reader: &Reader<'_>, part: Option<&Part>) -> PyResult<Form> {
    let (named, bits) = (reader.layout(), reader.bits());
    if reader.is_big_endian() {
        let says =
            "arrays have the lowest byte of an element first; leave the order of bytes out of to=";
        return Err(refused("unsupported", says));
    }
    if named.stored_as().is_some() {
        return Ok(Form::of(None, named.dtype(), bits, named, Order::C));
    }
    let mut shape = named.storage_shape();
    // Blocks of elements are one each.
    if let Some(block) = named.dtype().and_then(|dtype| dtype.block()) {
        let n = u64::from(block.elements);
        match shape.last_mut().filter(|last| last.is_multiple_of(n)) {
            Some(last) => *last /= n,
            None => shape = vec![reader.bytes() * 8 / u64::from(bits)],
        }
    }
    let kept = |dim: &usize| part.is_none_or(|part| !part.left_out.contains(dim));
    let shape = (0..shape.len()).filter(kept).filter_map(|dim| shape.get(dim).copied()).collect();
    Ok(Form::new(None, named.dtype(), bits, shape, Order::C))
}

/// A new array for the result.
fn empty<'py>(py: Python<'py>, form: &Form, torch: bool) -> PyResult<Bound<'py, PyAny>> {
    let name = PyString::new(py, form.element().unwrap_or("uint8")).into_any();
    match torch {
        true => torch_empty(py, &form.shape, &name, None),
        false => numpy_empty(py, &form.shape, &name),
    }
}

/// Refuses an output of another size or other elements; bytes are taken for any.
fn fits(form: &Form, reader: &Reader<'_>, out: &Memory) -> PyResult<()> {
    let Ok(bytes) = out.row_major_bytes(Place::Out) else {
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
        let given = crate::plan::element(&out.facts);
        let says = format!("an output of {given} where the result is of {of}");
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
