//! Work on whole files, with progress and Ctrl-C: `convert`, and `recast`, which assembles the tensors of a file from those of
//! another by a recipe.

use std::{
    ffi::CString,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use pyo3::{
    PyTypeInfo,
    exceptions::{PyTypeError, PyUserWarning},
    prelude::*,
    types::{PyDict, PyMapping, PyString},
};
use tilewright::{
    Dtype, Error,
    ask::{Answer as _, Assembled, Converted, Guesses},
    files::{
        Assembling, Conversion, Input, Job, Packaging, Reading, Report, Request, Row, Tensor,
        Watch, inner::json, open_watched,
    },
    recipe::{self, Assembly, Made, Origin, Part, Recipe, Sizes, guess},
};

use crate::{
    arguments::{
        Bounded, Integer, Integers, TextArgument,
        ask::{dtype_of, fill_of, parsed_fill, spec_of},
        text,
    },
    errors::{Raised, refused},
    foreign::device,
    values::tensor::layout_of,
};

/// Returns the request of a job: a dictionary of the keywords of `convert` and `verify`.
pub(crate) fn request(job: &Bound<'_, PyDict>) -> PyResult<Request> {
    let value = |name| given(job, name);
    let mut request = Request::new()
        .verify(flag(job, "verify")?)
        .force(flag(job, "force")?)
        .skip_unfit(flag(job, "skip_unfit")?)
        .any_config(flag(job, "any_config")?);
    if let Some(to) = value("to")? {
        request = request.to(spec_of("to", &to)?);
    }
    if let Some(rules) = value("rules")? {
        let rules = rules.cast::<PyMapping>().map_err(|_| {
            PyTypeError::new_err("rules= takes a mapping from patterns of names to layouts")
        })?;
        for rule in rules.items()? {
            let (glob, spec) = rule.extract::<(TextArgument, Bound<'_, PyAny>)>()?;
            request = request.rule(glob.of("rules")?, spec_of("rules", &spec)?);
        }
    }
    if let Some(tensors) = value("tensors")? {
        request = globs(&tensors)?.into_iter().fold(request, Request::only);
    }
    if let Some(from) = value("from_")? {
        request = request.from(spec_of("from_", &from)?);
    }
    if let Some(dims) = value("dims")? {
        request = request.dims(&dims.extract::<Integers>()?.of("dims")?);
    }
    if let Some(dtype) = value("dtype")? {
        request = request.dtype(dtype_of(&dtype)?);
    }
    if let Some(store) = value("store")? {
        request = request.store(dtype_of(&store)?);
    }
    if let Some(fill) = value("fill")? {
        request = request.fill(parsed_fill(&fill_of(&fill)?)?);
    }
    let threads = integer(job, "threads")?;
    if let Some(memory) = integer(job, "memory")? {
        request = request.memory(memory);
    }
    Ok(request.threads(device::threads(threads)))
}

/// Returns the layout with which a tensor is read, if its file does not record it.
pub(crate) fn reading(
    from: Option<&Bound<'_, PyAny>>,
    dims: Option<Integers>,
    dtype: Option<&Bound<'_, PyAny>>,
) -> PyResult<Reading> {
    let mut reading = Reading::default();
    if let Some(from) = from {
        reading = reading.from(spec_of("from_", from)?);
    } else if dims.is_some() || dtype.is_some() {
        return Err(refused(
            "arguments",
            "dims= and dtype= go with from_=, the layout of the tensor",
        ));
    }
    if let Some(dims) = Integers::given("dims", dims)? {
        reading = reading.dims(&dims);
    }
    match dtype {
        Some(dtype) => Ok(reading.dtype(dtype_of(dtype)?)),
        None => Ok(reading),
    }
}

/// Returns the patterns of names: one, or those of a sequence.
fn globs(tensors: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if tensors.is_instance_of::<PyString>() {
        return Ok(vec![text("tensors", tensors)?]);
    }
    match tensors.extract::<Vec<TextArgument>>() {
        Ok(globs) if globs.is_empty() => {
            Err(refused("arguments", "tensors= is empty; leave it out for all tensors"))
        }
        Ok(globs) => globs.into_iter().map(|glob| glob.of("tensors")).collect(),
        Err(error) if error.is_instance_of::<PyTypeError>(tensors.py()) => {
            let found = tensors.get_type().name()?.to_string();
            let says = "tensors= takes a pattern of names, or a sequence of patterns";
            Err(PyTypeError::new_err(format!("{says}; not {found}")))
        }
        Err(error) => Err(error),
    }
}

/// Returns the value of a keyword, if it was given.
pub(crate) fn given<'py>(
    job: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(job.get_item(name)?.filter(|value| !value.is_none()))
}

/// Returns the integer value of a keyword.
pub(crate) fn integer<'py, T>(job: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<T>>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr> + Bounded,
{
    given(job, name)?.map(|value| value.extract::<Integer<T>>()?.of(name)).transpose()
}

pub(crate) fn flag(job: &Bound<'_, PyDict>, name: &str) -> PyResult<bool> {
    given(job, name)?.map_or(Ok(false), |value| value.is_truthy())
}

/// Runs `convert`, and returns a report as a dictionary.
#[pyfunction]
#[pyo3(signature = (input, output, job, progress = None, /))]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    input: PathBuf,
    output: PathBuf,
    job: &Bound<'py, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let request = request(job)?;
    let dry_run = flag(job, "dry_run")?;
    let watcher = Watcher::new(progress.as_ref())?;
    let opened =
        watcher.outcome(py.detach(|| open_watched(&input, request.reading(), &watcher)))?;
    let conversion = py.detach(|| Conversion::prepare(&opened, &output, request)).raised()?;
    let report = PyDict::new(py);
    report.set_item("warnings", warned(py, &input, conversion.warnings())?)?;
    let jobs = conversion.jobs().iter().map(|job| described(py, job));
    report.set_item("tensors", jobs.collect::<PyResult<Vec<_>>>()?)?;
    let (before, after) = Converted { conversion: &conversion, report: None }.bytes();
    report.set_item("bytes_in", before)?;
    report.set_item("bytes_out", after)?;
    report.set_item("files", Converted { conversion: &conversion, report: None }.files())?;
    report.set_item("dry_run", dry_run)?;
    if !dry_run {
        let done = py.detach(|| conversion.run(&watcher));
        let done = watcher.outcome(done)?;
        say_done(&report, &done)?;
    }
    Ok(report)
}

/// Adds the results of a finished run to its report.
fn say_done(report: &Bound<'_, PyDict>, done: &Report) -> PyResult<()> {
    report.set_item("bytes_written", done.bytes_written())?;
    report.set_item("verified", done.verified())?;
    report.set_item("peak_memory", done.peak_memory())
}

/// Returns messages about a file, each of which was issued as a warning at the caller of the package.
pub(crate) fn warned(
    py: Python<'_>,
    path: &Path,
    sentences: impl Iterator<Item = String>,
) -> PyResult<Vec<String>> {
    let warn = |sentence: String| {
        let text = format!("{}: {sentence}", path.display()).replace('\0', " ");
        // Level 1 is the function in `_files.py`, level 2 its caller.
        PyErr::warn(py, &PyUserWarning::type_object(py), &CString::new(text)?, 2)?;
        Ok(sentence)
    };
    sentences.map(warn).collect()
}

/// Returns the description of one tensor of a conversion.
fn described<'py>(py: Python<'py>, job: &Job) -> PyResult<Bound<'py, PyDict>> {
    let (action, reason) = Converted::action(job);
    let row = PyDict::new(py);
    row.set_item("name", job.name())?;
    row.set_item("action", action)?;
    let (from, to) = job.array_layouts();
    row.set_item("from_", layout_of(py, &from)?)?;
    row.set_item("to", layout_of(py, &to)?)?;
    row.set_item("bytes_in", job.bytes_in())?;
    row.set_item("bytes_out", job.bytes_out())?;
    row.set_item("padding_bytes", job.padding())?;
    row.set_item("kernel", job.kernel())?;
    row.set_item("reason", reason)?;
    Ok(row)
}

/// Returns the tensors of a file, and warnings about it.
#[pyfunction]
#[pyo3(signature = (path, job, /))]
pub(crate) fn info<'py>(
    py: Python<'py>,
    path: PathBuf,
    job: &Bound<'py, PyDict>,
) -> PyResult<(Vec<Bound<'py, PyDict>>, Vec<String>)> {
    let request = request(job)?;
    let watcher = Watcher::new(None)?;
    let opened = watcher.outcome(py.detach(|| open_watched(&path, request.reading(), &watcher)))?;
    let row = |tensor: &Tensor| {
        let row = PyDict::new(py);
        row.set_item("name", tensor.name())?;
        row.set_item("layout", layout_of(py, &tensor.array_layout())?)?;
        Ok(row)
    };
    let rows = opened.tensors().iter().map(row).collect::<PyResult<_>>()?;
    Ok((rows, warned(py, &path, opened.warnings())?))
}

/// The time between two checks for Ctrl-C.
const PAUSE: Duration = Duration::from_millis(50);

/// Follows a run for Python: calls back with the bytes done and the bytes in total, and checks for Ctrl-C.
pub(crate) struct Watcher {
    progress: Option<Py<PyAny>>,
    total: AtomicU64,
    done: AtomicU64,
    /// The time of the last check for Ctrl-C.
    looked: Mutex<Instant>,
    /// The exception that Python raised, which ends the run.
    raised: Mutex<Option<PyErr>>,
}

impl Watcher {
    pub(crate) fn new(progress: Option<&Bound<'_, PyAny>>) -> PyResult<Watcher> {
        if let Some(other) = progress.filter(|progress| !progress.is_callable()) {
            let found = other.get_type().name()?.to_string();
            return Err(PyTypeError::new_err(format!(
                "progress= takes a function of the bytes done and the total bytes; not {found}"
            )));
        }
        let progress = progress.map(|progress| progress.clone().unbind());
        let (total, done) = (AtomicU64::new(0), AtomicU64::new(0));
        let looked = Mutex::new(Instant::now());
        Ok(Watcher { progress, total, done, looked, raised: Mutex::new(None) })
    }

    /// Returns whether it is time to check for Ctrl-C: not so often that other threads have to wait for the GIL.
    fn is_time(&self) -> bool {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_time = looked.elapsed() >= PAUSE;
        if is_time {
            *looked = Instant::now();
        }
        is_time
    }

    fn look(&self) {
        if self.progress.is_none() && !self.is_time() {
            return;
        }
        self.ask(|py| {
            py.check_signals()?;
            // Read while no other thread calls, so that the numbers of calls never fall.
            let (done, total) =
                (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
            match &self.progress {
                Some(progress) => progress.call1(py, (done, total)).map(drop),
                None => Ok(()),
            }
        });
    }

    /// Calls Python, and keeps an exception that it raises.
    fn ask(&self, ask: impl FnOnce(Python<'_>) -> PyResult<()>) {
        if let Err(error) = Python::attach(ask) {
            self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    /// Takes the exception that Python raised meanwhile.
    pub(crate) fn taken(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns the result, or the exception that Python raised meanwhile.
    pub(crate) fn outcome<T>(&self, result: Result<T, Error>) -> PyResult<T> {
        match (result, self.taken()) {
            (Err(error), Some(raised)) if error.is_cancelled() => Err(raised),
            (Ok(_), Some(raised)) => Err(raised),
            (Err(error), _) if error.is_cancelled() => Err(refused("cancelled", "cancelled")),
            (result, _) => result.raised(),
        }
    }
}

impl Watch for Watcher {
    fn total(&self, bytes: u64) {
        self.total.store(bytes, Ordering::Relaxed);
        self.look();
    }

    fn advance(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
        self.look();
    }

    /// Also called when there is no progress yet, such as while a file is opened.
    fn cancelled(&self) -> bool {
        if self.is_time() {
            self.ask(|py| py.check_signals());
        }
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// Returns the shipped recipes that fit a checkpoint, as JSON.
#[pyfunction]
#[pyo3(signature = (path, /))]
pub(crate) fn guess_recipe(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let watcher = Watcher::new(None)?;
    let opened = py.detach(|| open_watched(&path, &Reading::default(), &watcher));
    let opened = watcher.outcome(opened)?;
    let config = opened.config().raised()?;
    Ok(Guesses(guess(&opened.recipe_tensors(), config.as_ref())).to_json().to_string())
}

/// A tensor without data: its name, element type and dims.
type Head = (String, String, Vec<u64>);

/// A part of a tensor: its source and the element there, or none and the bits of the fill; its first element; and digits, each
/// with its extent and its strides in the source and in the tensor.
type MadePiece = (Option<usize>, u64, u64, Vec<(u64, u64, u64)>);

/// Tensors that a recipe makes, each with its parts, and the recipe back.
type Solved = (Vec<(Head, Vec<MadePiece>)>, String);

/// Solves a recipe without any data. Returns the heads of the tensors that it makes, their parts, and the recipe back. Rules
/// may round.
#[pyfunction]
#[pyo3(signature = (recipe, tensors, config = None, /))]
pub(crate) fn solve_recipe(
    py: Python<'_>,
    recipe: &str,
    tensors: Vec<Head>,
    config: Option<&str>,
) -> PyResult<Solved> {
    let recipe = Recipe::parse(recipe).raised()?.rounding();
    let one = |(name, dtype, dims): Head| {
        let known = Dtype::spelled(&dtype);
        let unknown =
            || Error::usage(format!("{name:?} has the element type {dtype:?}")).in_field("dtype");
        Ok::<_, Error>(recipe::Tensor::new(name.clone(), known.ok_or_else(unknown)?, dims))
    };
    let tensors = tensors.into_iter().map(one).collect::<Result<Vec<_>, _>>().raised()?;
    let config = config.map(json).transpose();
    let config =
        config.map_err(|error| Error::usage(error.to_string()).in_field("config")).raised()?;
    let solved = py.detach(|| recipe.solve(&tensors, config.as_ref(), &Sizes::new())).raised()?;
    let back = solved.metadata.into_iter().map(|(_, back)| back).collect();
    let piece = |part: Part| {
        let (source, at) = match part.origin {
            Origin::Source { tensor, offset } => (Some(tensor), offset),
            Origin::Fill(bits) => (None, bits),
        };
        let digits = part.digits.iter().map(|it| (it.extent, it.source, it.made)).collect();
        (source, at, part.offset, digits)
    };
    let head = |made: Made| {
        let parts = made.parts.into_iter().map(piece).collect();
        ((made.name, made.dtype.name().to_owned(), made.extents), parts)
    };
    Ok((solved.made.into_iter().map(head).collect(), back))
}

/// Runs `recast`, and returns a report as a dictionary.
#[pyfunction]
#[pyo3(name = "recast", signature = (input, output, job, progress = None, /))]
pub(crate) fn recast_files<'py>(
    py: Python<'py>,
    input: PathBuf,
    output: PathBuf,
    job: &Bound<'py, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let asked = request(job)?;
    let dry_run = flag(job, "dry_run")?;
    let largest: Option<u64> = integer(job, "max_shard_size")?;
    let from = given(job, "metadata")?.map(|from| from.extract::<PathBuf>()).transpose()?;
    let watcher = Watcher::new(progress.as_ref())?;
    let open = |path: &PathBuf| open_watched(path, &Reading::default(), &watcher);
    let opened = watcher.outcome(py.detach(|| open(&input)))?;
    let metadata = from.map(|from| watcher.outcome(py.detach(|| open(&from)))).transpose()?;
    let assembly = solved_by(job, &opened)?;
    let trusted = flag(job, "trust_metadata")?;
    let packaging = Packaging { metadata: metadata.as_ref(), largest, trusted };
    let prepared =
        py.detach(|| Assembling::prepare(&opened, &assembly, &output, asked, &packaging));
    let prepared = prepared.raised()?;
    let report = PyDict::new(py);
    let said = prepared.cautions().map(str::to_owned).chain(prepared.warnings());
    report.set_item("warnings", warned(py, &input, said)?)?;
    let rows = prepared.rows().iter().map(|row| recast_row(py, row));
    report.set_item("tensors", rows.collect::<PyResult<Vec<_>>>()?)?;
    report.set_item("files", prepared.companions().collect::<Vec<_>>())?;
    report.set_item("dry_run", dry_run)?;
    if !dry_run {
        let done = watcher.outcome(py.detach(|| prepared.run(&watcher)))?;
        say_done(&report, &done)?;
    }
    let said = Assembled { job: &prepared, report: None };
    report.set_item("bytes_out", said.bytes())?;
    Ok(report)
}

/// Solves the recipe of a job on an input, which records the recipe if the job names none.
pub(crate) fn solved_by(job: &Bound<'_, PyDict>, input: &Input) -> PyResult<Assembly> {
    let recipe = match given(job, "recipe")? {
        None => recipe::recorded(input).raised()?,
        Some(name) => named(&text("recipe", &name)?, flag(job, "inverse")?)?,
    };
    let recipe = if flag(job, "any_config")? { recipe.for_any_config() } else { recipe };
    let allow = given(job, "allow")?.map(|names| names.extract::<Vec<String>>()).transpose()?;
    let recipe = recipe::allowing(recipe, &allow.unwrap_or_default()).raised()?;
    recipe::solved(&recipe, input, &sizes(job)?).raised()
}

/// Returns a recipe by its name, or its inverse.
fn named(name: &str, inverse: bool) -> PyResult<Recipe> {
    let recipe = recipe::find(name).raised()?;
    Ok(if inverse { recipe.inverse() } else { recipe })
}

/// Returns sizes by the names of their axes.
fn sizes(job: &Bound<'_, PyDict>) -> PyResult<Sizes> {
    let Some(sizes) = given(job, "sizes")? else { return Ok(Sizes::new()) };
    let items = sizes.call_method0("items")?;
    let pair = |item: PyResult<Bound<'_, PyAny>>| {
        let (axis, size) = item?.extract::<(TextArgument, Integer<u64>)>()?;
        Ok((axis.of("sizes")?, size.of("sizes")?))
    };
    items.try_iter()?.map(pair).collect()
}

/// Returns the description of one tensor of the result.
fn recast_row<'py>(py: Python<'py>, row: &Row) -> PyResult<Bound<'py, PyDict>> {
    let said = PyDict::new(py);
    said.set_item("name", &row.name)?;
    said.set_item("to", &row.spec)?;
    said.set_item("sources", &row.sources)?;
    said.set_item("bytes_out", row.bytes)?;
    said.set_item("how", row.how)?;
    Ok(said)
}
