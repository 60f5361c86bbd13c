//! `ReshardPlan`: a checkpoint in other shards, as tasks that any process may run.
//!
//! Law: a plan is fully described by its bytes, which contain paths and no data. So a pickle consists of these bytes,
//! and a worker that shares the file system can run any of the tasks.

use std::{ops::Range, path::PathBuf};

use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyAny, PyBytes, PyDict, PyList, PyMapping, PyTuple},
};
use tilewright::{
    Remedy,
    files::Collection,
    reshard::{Error, Form, Job, RawBox, RawTensor, Request, Rules, shards},
};

use super::convert::{Watcher, given, warned};
use crate::{
    arguments::{Integer, Integers, TextArgument, ask::spec_of, html, quoted, text},
    errors::{argument, refused},
};

/// Converts an error of resharding to an exception.
pub(crate) fn raised<T>(result: Result<T, Error>) -> PyResult<T> {
    raised_by(result, argument)
}

/// Converts an error of resharding to an exception, with its remedies as `argument` spells them.
fn raised_by<T>(result: Result<T, Error>, argument: fn(Remedy) -> String) -> PyResult<T> {
    result.map_err(|error| {
        let says = error.spelled(argument);
        let word = match error.io_kind() {
            Some(std::io::ErrorKind::NotFound) => "missing",
            Some(std::io::ErrorKind::PermissionDenied) => "denied",
            _ => error.kind(),
        };
        let kind = match error.is_usage() && word != "exists" {
            true => word.to_owned(),
            false => format!("file-{word}"),
        };
        refused(&kind, says)
    })
}

/// Returns a remedy for shards as arguments of functions that compare them, which take no extents.
fn for_shards(remedy: Remedy) -> String {
    match remedy {
        Remedy::Extents => {
            "rewrite them with reshard(), which takes extents= and trust_extents=".into()
        }
        other => argument(other),
    }
}

/// Opens the arrays of each path that is a folder of shards, by `from_mesh` and `from_rules` of a job.
pub(crate) fn opened<const N: usize>(
    py: Python<'_>,
    paths: [Option<&PathBuf>; N],
    job: &Bound<'_, PyDict>,
) -> PyResult<[Option<Collection>; N]> {
    let rules = sided(job, "from_mesh", "from_rules")?;
    let mut found = [const { None }; N];
    for (found, path) in found.iter_mut().zip(paths) {
        let Some(path) = path else { continue };
        *found = raised_by(py.detach(|| shards(path, rules.as_ref())), for_shards)?;
    }
    if rules.is_some() && found.iter().all(Option::is_none) {
        let said = "from_mesh= needs a folder with several files and no index";
        return Err(refused("arguments", said));
    }
    Ok(found)
}

/// A plan to rewrite a checkpoint in other shards: its sources, its result, and its tasks. ``reshard`` makes one, and ``load``
/// reads a saved one.
///
/// A task is a box of one tensor. Tasks are independent: they may run in any order, in any process that can access the files, and
/// more than once. Progress is recorded beside the result, so that a run after an interruption completes the rest. The result
/// appears when ``finish`` finds all of it on the disk. A plan is pickled as its bytes.
#[pyclass(name = "ReshardPlan", module = "tilewright", frozen)]
pub(crate) struct PyReshardPlan(Job);

#[pymethods]
impl PyReshardPlan {
    /// Reads a plan from a file that ``save`` or ``tilewright reshard plan`` wrote.
    ///
    /// Raises ``FileError`` for a file that is not a plan, and for a source that has changed since.
    #[staticmethod]
    #[pyo3(signature = (path, /))]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<PyReshardPlan> {
        raised(py.detach(|| Job::of_plan(&path))).map(PyReshardPlan)
    }

    /// Returns the plan with these bytes.
    #[staticmethod]
    #[pyo3(signature = (data, /))]
    fn from_bytes(py: Python<'_>, data: &Bound<'_, PyBytes>) -> PyResult<PyReshardPlan> {
        let data = data.as_bytes().to_vec();
        raised(py.detach(|| Job::of_bytes(&data))).map(PyReshardPlan)
    }

    /// Returns the plan as the bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &raised(self.0.plan())?))
    }

    /// Writes the plan to a new file, for processes that share the file system. Raises ``FileExistsError``.
    #[pyo3(signature = (path, /))]
    fn save(&self, path: PathBuf) -> PyResult<()> {
        raised(self.0.write_plan(&path))
    }

    /// The name of the plan, which differs if the request or a source differs.
    #[getter]
    fn id(&self) -> &str {
        self.0.id()
    }

    /// The number of tasks.
    #[getter]
    fn tasks(&self) -> u64 {
        self.0.tasks()
    }

    /// The number of tensors.
    #[getter]
    fn tensors(&self) -> usize {
        self.0.tensors()
    }

    /// The number of bytes of all tensors, each counted once.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.0.bytes()
    }

    /// The number of bytes of the files of the result.
    #[getter]
    fn written(&self) -> u64 {
        self.0.written()
    }

    /// The names of the files of the result.
    #[getter]
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.files().collect::<Vec<_>>())
    }

    /// The form of the result: ``hf``, ``dcp`` or ``ranks``.
    #[getter]
    fn form(&self) -> &'static str {
        self.0.form().name()
    }

    /// The tensors whose extents no file states, by name, with the extents that their shards imply. If the last shard file is
    /// missing, these extents are too small.
    #[getter]
    fn assumed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let assumed = PyDict::new(py);
        for (name, extents) in self.0.assumed() {
            assumed.set_item(name, PyTuple::new(py, extents)?)?;
        }
        Ok(assumed)
    }

    /// The folder of the result.
    #[getter]
    fn output(&self) -> PathBuf {
        self.0.output().to_owned()
    }

    /// Returns a task by its number: the tensor, and the slices of it.
    #[pyo3(signature = (number, /))]
    fn task<'py>(
        &self,
        py: Python<'py>,
        number: Integer<u64>,
    ) -> PyResult<(String, Bound<'py, PyTuple>)> {
        let number = number.of("number")?;
        let task = self.0.task(number).ok_or_else(|| self.no_task(number))?;
        let slices = task.start.iter().zip(&task.extents).map(|(start, extent)| {
            pyo3::types::PySlice::new(
                py,
                *start as isize,
                start.saturating_add(*extent) as isize,
                1,
            )
        });
        Ok((task.tensor.clone(), PyTuple::new(py, slices.collect::<Vec<_>>())?))
    }

    /// Returns the tasks of one of several processes: consecutive ones, in equal numbers if possible.
    #[pyo3(signature = (rank, world, /))]
    fn share<'py>(
        &self,
        py: Python<'py>,
        rank: Integer<u64>,
        world: Integer<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (rank, world) = (rank.of("rank")?, world.of("world")?);
        if rank >= world {
            let says = format!("rank {rank} of {world} processes; ranks begin at 0");
            return Err(refused("out-of-range", says));
        }
        let Range { start, end } = self.0.share(rank, world);
        py.import("builtins")?.getattr("range")?.call1((start, end))
    }

    /// Returns the tasks that are not on the disk yet, in order.
    fn missing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, raised(py.detach(|| self.0.missing()))?)
    }

    /// Runs the missing tasks, makes the result visible, and returns the number of tasks that it ran.
    ///
    /// The GIL is released meanwhile. Ctrl-C and exceptions of ``progress`` end the run between two tasks, and finished tasks are
    /// kept. ``threads`` is 1 by default: each thread has buffers of the plan's memory, and its own journal.
    ///
    /// Raises ``FileExistsError`` for a result that already exists, ``FileError`` for files that cannot be read or written, and
    /// for a source that changed.
    #[pyo3(signature = (*, threads = None, progress = None))]
    fn run(
        &self,
        py: Python<'_>,
        threads: Option<Integer<usize>>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        self.ran(py, threads, progress.as_ref(), |threads, watcher| {
            self.0.run_all_threads(threads, watcher)
        })
    }

    /// Runs those of these tasks that are missing, and returns their number, like ``run``, but does not make the result visible.
    #[pyo3(signature = (tasks, /, *, threads = None, progress = None))]
    fn run_tasks(
        &self,
        py: Python<'_>,
        tasks: Integers,
        threads: Option<Integer<usize>>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let tasks = tasks.of("tasks")?;
        if let Some(wrong) = tasks.iter().find(|task| **task >= self.0.tasks()) {
            return Err(self.no_task(*wrong));
        }
        self.ran(py, threads, progress.as_ref(), |threads, watcher| {
            self.0.run_threads(&tasks, threads, "python", watcher)
        })
    }

    /// Makes the result visible if all tasks are on the disk.
    ///
    /// Each task of a plan with ``verify`` was compared by the run that wrote it. With ``verify=True`` here, all tasks are
    /// compared once more, in ``threads`` threads.
    ///
    /// Raises ``FileError`` of the kind ``incomplete`` with the missing tasks, of the kind ``changed`` for a source that has
    /// changed, of the kind ``corrupt`` for a task whose result differs; ``FileExistsError``.
    #[pyo3(signature = (*, verify = false, threads = None))]
    fn finish(
        &self,
        py: Python<'_>,
        verify: bool,
        threads: Option<Integer<usize>>,
    ) -> PyResult<()> {
        self.ran(py, threads, None, |threads, watcher| match verify {
            true => self.0.finish_verified(threads, watcher),
            false => self.0.finish(),
        })
    }

    fn _repr_html_(&self) -> String {
        format!("<pre>{}</pre>", html(&self.said()))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyReshardPlan>().is_ok_and(|other| self.0.id() == other.get().0.id())
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        self.0.id().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("<ReshardPlan {}>", self.said())
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, PyReshardPlan>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = slf.get().to_bytes(slf.py())?;
        Ok((slf.get_type().getattr("from_bytes")?, (bytes,)))
    }
}

impl PyReshardPlan {
    /// Runs a part of the plan without the GIL, and raises what `progress` raised.
    fn ran<T: Send>(
        &self,
        py: Python<'_>,
        threads: Option<Integer<usize>>,
        progress: Option<&Bound<'_, PyAny>>,
        run: impl FnOnce(usize, &Watcher) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let threads = threads.map(|threads| threads.of("threads")).transpose()?.unwrap_or(1);
        let watcher = Watcher::new(progress)?;
        let done = py.detach(|| run(threads, &watcher));
        match (done, watcher.taken()) {
            (Err(error), Some(exception)) if error.kind() == "cancelled" => Err(exception),
            (Ok(_), Some(exception)) => Err(exception),
            (done, _) => raised(done),
        }
    }

    fn no_task(&self, number: u64) -> PyErr {
        let says = format!("task {number} of a plan of {}", self.0.tasks());
        refused("out-of-range", says)
    }

    fn said(&self) -> String {
        let (id, tasks, bytes, form) =
            (self.0.id(), self.0.tasks(), self.0.bytes(), self.0.form().name());
        let output = quoted(&self.0.output().display().to_string());
        format!("{id}: {tasks} tasks, {bytes} bytes, as {form} to {output}")
    }
}

/// Returns the plan of a request: a dictionary of the keywords of `reshard`, with meshes and shardings as texts.
#[pyfunction]
#[pyo3(signature = (input, output, job, /))]
pub(crate) fn reshard_plan(
    py: Python<'_>,
    input: PathBuf,
    output: PathBuf,
    job: &Bound<'_, PyDict>,
) -> PyResult<PyReshardPlan> {
    let value = |name| given(job, name);
    let mut request = Request::new(&input, output);
    if let Some(rules) = sided(job, "from_mesh", "from_rules")? {
        request = request.from(rules);
    }
    if let Some(rules) = sided(job, "mesh", "rules")? {
        request = request.to(rules);
    }
    if let Some(form) = value("form")? {
        let form = text("form", &form)?;
        let none =
            || refused("arguments", format!("form= takes hf, dcp or ranks, not {}", quoted(&form)));
        request = request.form(Form::parse(&form).ok_or_else(none)?);
    }
    if let Some(format) = value("format")? {
        request = request.format(&text("format", &format)?);
    }
    if let Some(path) = value("metadata")? {
        request = request.metadata(path.extract::<PathBuf>()?);
    }
    if let Some(to) = value("to")? {
        request = request.layout(&spec_of("to", &to)?.to_string());
    }
    if let Some(most) = value("max_shard_size")? {
        request = request.shard_size(most.extract::<Integer<u64>>()?.of("max_shard_size")?);
    }
    if let Some(memory) = value("memory")? {
        request = request.memory(memory.extract::<Integer<u64>>()?.of("memory")?);
    }
    if let Some(extents) = value("extents")? {
        request = stated(request, &extents)?;
    }
    if let Some(listed) = value("listed")? {
        request = raised(request.extents_text(&text("extents", &listed)?))?;
    }
    let flag = |name| value(name)?.map_or(Ok(false), |value| value.is_truthy());
    request = request.verify(flag("verify")?).force(flag("force")?);
    request = request.trust_replicas(flag("trust_replicas")?);
    request = request.drop_padding(flag("drop_padding")?);
    request = request.trust_extents(flag("trust_extents")?);
    request = request.trust_metadata(flag("trust_metadata")?);
    let boxes = value("boxes")?.map(|boxes| listed(&boxes)).transpose()?;
    let job = py.detach(|| match boxes {
        Some((files, tensors)) => Job::of_boxes(request, &files, &tensors),
        None => Job::prepare(request),
    });
    let job = raised(job)?;
    let advice = || argument(Remedy::Extents);
    let assumed = job.assumption().map(|said| format!("{said}; {}", advice()));
    warned(py, &input, assumed.into_iter().chain(job.remarks()))?;
    Ok(PyReshardPlan(job))
}

/// Adds the extents of tensors to a request: pairs of a pattern and a sequence.
fn stated(mut request: Request, extents: &Bound<'_, PyAny>) -> PyResult<Request> {
    let pairs = extents.extract::<Vec<(TextArgument, Integers)>>().map_err(|_| {
        PyTypeError::new_err("extents= takes a mapping from patterns of names to extents")
    })?;
    for (glob, extents) in pairs {
        request = raised(request.extents(&glob.of("extents")?, &extents.of("extents")?))?;
    }
    Ok(request)
}

/// A box as Python lists it: file, position of the first byte, first indices, extents.
type Listed = (usize, u64, Vec<u64>, Vec<u64>);

/// Returns the files and the tensors that a Python library lists.
fn listed(boxes: &Bound<'_, PyAny>) -> PyResult<(Vec<PathBuf>, Vec<RawTensor>)> {
    let (files, tensors) =
        boxes.extract::<(Vec<PathBuf>, Vec<(String, String, Vec<u64>, Vec<Listed>)>)>()?;
    let one = |(file, at, start, extents)| RawBox { file, at, start, extents };
    let tensor = |(name, dtype, extents, boxes): (String, String, Vec<u64>, Vec<Listed>)| {
        RawTensor { name, dtype, extents, boxes: boxes.into_iter().map(one).collect() }
    };
    Ok((files, tensors.into_iter().map(tensor).collect()))
}

/// Returns the rules of one side, if a mesh is given for it.
fn sided(job: &Bound<'_, PyDict>, mesh: &str, name: &str) -> PyResult<Option<Rules>> {
    let rules = given(job, name)?;
    let Some(axes) = given(job, mesh)? else {
        return match rules {
            None => Ok(None),
            Some(_) => Err(refused(
                "arguments",
                format!("{name}= needs {mesh}=, the mesh that the rules shard over"),
            )),
        };
    };
    let mut all = raised(Rules::new(&text(mesh, &axes)?))?;
    if let Some(rules) = rules {
        let rules = rules.cast::<PyMapping>().map_err(|_| {
            PyTypeError::new_err(format!(
                "{name}= takes a mapping from patterns of names to shardings"
            ))
        })?;
        for rule in rules.items()? {
            let (glob, sharding) = rule.extract::<(TextArgument, TextArgument)>()?;
            all = raised(all.rule(&glob.of(name)?, &sharding.of(name)?))?;
        }
    }
    Ok(Some(all))
}
