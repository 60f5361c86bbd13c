//! Comparisons of data. Fingerprints of arrays and files, which no layout changes, and `verify`: a file against its original or
//! its records, and arrays in shards against whole ones.

use std::path::PathBuf;

use pyo3::{exceptions::PyTypeError, prelude::*, types::PyDict};
use tilewright::{
    ask::{Answer, Printed, SameData},
    files::{self, Collection, Key, Packaging, Reading, Request, open_watched},
    fingerprint::{self, Array, Fingerprint},
    layouts::ByteOrder,
    relayout::Elements,
};

use crate::{
    arguments::{Integers, TextArgument, ask::Ask},
    errors::{about, refused},
    files::{
        convert::{Watcher, given, request, solved_by, warned},
        reshard,
    },
    foreign::Memory,
    moves::{
        plan,
        prepare::{self, Narrow, extend},
    },
};

/// The fingerprint of an array's data: equal in every layout, byte order, padding, file and number of shards.
///
/// The fingerprints of parts without common elements add up to that of the whole, with ``+`` or ``sum``. ``Fingerprint(text)``
/// parses the 16 digits that ``str`` returns.
///
/// >>> from tilewright import Fingerprint
/// >>> Fingerprint("0000000000000001") + Fingerprint("0000000000000002")
/// Fingerprint('0000000000000003')
#[pyclass(name = "Fingerprint", module = "tilewright", frozen, eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PyFingerprint(Fingerprint);

#[pymethods]
impl PyFingerprint {
    #[new]
    #[pyo3(signature = (text, /))]
    fn new(text: TextArgument) -> PyResult<PyFingerprint> {
        text.of("text")?.parse().map(PyFingerprint).map_err(|error| raised(&error))
    }

    fn __add__(&self, other: &PyFingerprint) -> PyFingerprint {
        PyFingerprint(self.0 + other.0)
    }

    /// Supports ``sum``, which begins with 0.
    fn __radd__(&self, other: u64) -> PyResult<PyFingerprint> {
        match other {
            0 => Ok(self.clone()),
            _ => Err(PyTypeError::new_err(
                "a fingerprint can be added to a fingerprint, or to 0, with which sum() begins",
            )),
        }
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Fingerprint('{}')", self.0)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().into_any(), (slf.get().0.to_string(),)))
    }
}

/// Returns the fingerprint of an array.
#[pyfunction]
#[pyo3(name = "fingerprint", signature = (array, layout, dims, dtype, origin, key, /))]
pub(crate) fn fingerprint_of(
    array: &Bound<'_, PyAny>,
    layout: Option<&Bound<'_, PyAny>>,
    dims: Option<Integers>,
    dtype: Option<&Bound<'_, PyAny>>,
    origin: Option<Integers>,
    key: Option<TextArgument>,
) -> PyResult<PyFingerprint> {
    let (py, key) = (array.py(), key_of(key)?);
    let ask = Ask::new(layout, None, dims, dtype, None, None, None)?;
    let memory = Memory::given("array", array)?;
    let (side, source) = prepare::read(&ask, &memory.facts)?;
    plan::expected(&source, &memory, "array")?;
    let bytes = memory.bytes()?;
    let Some(dtype) = side.stored().dtype() else {
        return Err(refused("needs-dtype", "the element type is not known; give dtype="));
    };
    let elements = Elements { extend: extend(dtype), ..Elements::same(side.bits) };
    let narrow = Narrow::of(elements, Some(dtype), Some(memory.facts.dtype), false)?;
    if let Some(narrow) = &narrow {
        py.detach(|| narrow.check(side.stored().layout(), bytes))?;
    }
    let order = if memory.facts.swapped { ByteOrder::Big } else { ByteOrder::Little };
    let origin = Integers::given("origin", origin)?;
    let made = || {
        let array = Array::new(side.stored().layout(), dtype)?;
        let array = match dtype.block() {
            Some(_) => array,
            None => array.bits(side.bits)?,
        };
        let array = array.order(order);
        match &origin {
            Some(origin) => array.at(origin),
            None => Ok(array),
        }
    };
    let array = made().map_err(|error| raised(&error))?;
    let found = py.detach(|| array.fingerprint(bytes, &key));
    found.map(PyFingerprint).map_err(|error| raised(&error))
}

/// Returns the fingerprints of a file or a folder as JSON.
#[pyfunction]
#[pyo3(signature = (path, tensors, key, reading, /))]
pub(crate) fn fingerprints(
    py: Python<'_>,
    path: PathBuf,
    tensors: Vec<String>,
    key: Option<TextArgument>,
    reading: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let [sharded] = reshard::opened(py, [Some(&path)], reading)?;
    let (key, reading) = (key_of(key)?, request(reading)?.reading().clone());
    let watcher = Watcher::new(None)?;
    let found = py.detach(|| {
        let all = sharded.map_or_else(|| Collection::open_as(&path, &reading), Ok)?;
        let (arrays, said) = (all.arrays(), all.warnings().collect::<Vec<_>>());
        let all = read_as(all.only(&tensors)?, &reading, arrays)?;
        Ok((all.fingerprints(&key, &watcher)?, said))
    });
    let (found, said) = watcher.outcome(found)?;
    warned(py, &path, said.into_iter())?;
    Ok(Printed { key, found }.to_json().to_string())
}

/// Returns the differences between two files or folders as JSON, and as text.
#[pyfunction]
#[pyo3(signature = (a, b, tensors, key, reading, /))]
pub(crate) fn same_data(
    py: Python<'_>,
    a: PathBuf,
    b: PathBuf,
    tensors: Vec<String>,
    key: Option<TextArgument>,
    reading: &Bound<'_, PyDict>,
) -> PyResult<(String, String)> {
    let sharded = reshard::opened(py, [Some(&a), Some(&b)], reading)?;
    let (key, reading) = (key_of(key)?, request(reading)?.reading().clone());
    let watcher = Watcher::new(None)?;
    let found = py.detach(|| {
        let (one, other) = match sharded {
            [None, None] => Collection::open_both(&a, &b, &reading)?,
            [one, other] => (
                one.map_or_else(|| Collection::open_as(&a, &reading), Ok)?,
                other.map_or_else(|| Collection::open_as(&b, &reading), Ok)?,
            ),
        };
        let arrays = one.arrays() + other.arrays();
        let said = [&one, &other].map(|all| all.warnings().collect::<Vec<_>>());
        let (one, other) = one.only_of(other, &tensors)?;
        let (one, other) = (read_as(one, &reading, arrays)?, read_as(other, &reading, arrays)?);
        Ok((files::same_data(&one, &other, &key, &watcher)?, said))
    });
    let (found, said) = watcher.outcome(found)?;
    for (path, said) in [&a, &b].into_iter().zip(said) {
        warned(py, path, said.into_iter())?;
    }
    let answer = SameData(found);
    Ok((answer.to_json().to_string(), answer.to_string()))
}

/// Reads named tensors by the keywords, unless there is an array without a name: in that case the keywords apply to the array.
fn read_as(all: Collection, reading: &Reading, arrays: usize) -> Result<Collection, files::Error> {
    if arrays > 0 { Ok(all) } else { all.read_as(reading) }
}

/// Returns the key given as hexadecimal digits, or the default key.
fn key_of(key: Option<TextArgument>) -> PyResult<Key> {
    let Some(key) = key else { return Ok(Key::default()) };
    key.of("key")?.parse().map_err(|error| about("key", raised(&error)))
}

fn raised(error: &fingerprint::Error) -> PyErr {
    refused(error.kind(), error.to_string())
}

/// Compares a finished file with its original, or with the fingerprints that it records; returns the difference as text, or None.
#[pyfunction]
#[pyo3(signature = (output, against, job, progress = None, /))]
pub(crate) fn verify(
    py: Python<'_>,
    output: PathBuf,
    against: Option<PathBuf>,
    job: &Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Option<String>> {
    let sharded = reshard::opened(py, [Some(&output), against.as_ref()], job)?;
    let request = request(job)?;
    let watcher = Watcher::new(progress.as_ref())?;
    if sharded.iter().any(Option::is_some) {
        return verify_shards(py, sharded, (&output, against.as_ref(), job), &watcher);
    }
    if let (Some(_), Some(against)) = (given(job, "recipe")?, &against) {
        return verify_by_recipe(py, (&output, against), (job, &request), &watcher);
    }
    let done = py.detach(|| match against {
        Some(against) => {
            let verdict = files::verify(&output, against, &request, &watcher)?;
            let remark = verdict.remark();
            Ok((verdict, remark))
        }
        None => {
            let checked = files::verify_recorded(&output, &request, &watcher)?;
            let remark = checked.remark();
            Ok((checked.verdict, remark))
        }
    });
    let (verdict, remark) = watcher.outcome(done)?;
    warned(py, &output, remark.into_iter())?;
    Ok(difference(verdict))
}

/// Compares a file with its original by the recipe of a job.
fn verify_by_recipe(
    py: Python<'_>,
    (output, against): (&PathBuf, &PathBuf),
    (job, request): (&Bound<'_, PyDict>, &Request),
    watcher: &Watcher,
) -> PyResult<Option<String>> {
    let from = given(job, "metadata")?.map(|from| from.extract::<PathBuf>()).transpose()?;
    let open = |path: &PathBuf, reading: &Reading| open_watched(path, reading, watcher);
    let original = watcher.outcome(py.detach(|| open(against, request.reading())))?;
    let from = from.map(|from| watcher.outcome(py.detach(|| open(&from, &Reading::default()))));
    let from = from.transpose()?;
    let assembly = solved_by(job, &original)?;
    let packaging = Packaging { metadata: from.as_ref(), ..Packaging::default() };
    let by = (request, &packaging);
    let done = py.detach(|| files::verify_recipe(output, &original, &assembly, by, watcher));
    let verdict = watcher.outcome(done)?;
    warned(py, output, verdict.remark().into_iter())?;
    Ok(difference(verdict))
}

fn difference(verdict: files::Verdict) -> Option<String> {
    match verdict {
        files::Verdict::Same { .. } => None,
        files::Verdict::Differs(difference) => Some(difference.to_string()),
    }
}

/// Compares the arrays of a result with those of its original, at least one of them in shards.
fn verify_shards(
    py: Python<'_>,
    [output, original]: [Option<Collection>; 2],
    (out, against, job): (&PathBuf, Option<&PathBuf>, &Bound<'_, PyDict>),
    watcher: &Watcher,
) -> PyResult<Option<String>> {
    for name in ["to", "rules", "tensors", "from_", "dims", "dtype", "store", "fill", "recipe"] {
        if given(job, name)?.is_some() {
            let said = format!("{name}= does not apply to shards, whose arrays are compared");
            return Err(refused("arguments", said));
        }
    }
    let Some(against) = against else {
        let said = "fingerprints of shards are not compared with recorded ones; against= names the checkpoint";
        return Err(refused("arguments", said));
    };
    let done = py.detach(|| {
        let output = output.map_or_else(|| Collection::open(out), Ok)?;
        let original = original.map_or_else(|| Collection::open(against), Ok)?;
        let said = [&output, &original].map(|all| all.warnings().collect::<Vec<_>>());
        Ok((files::verify_data(&output, &original, watcher)?, said))
    });
    let (verdict, said) = watcher.outcome(done)?;
    for (path, said) in [out, against].into_iter().zip(said) {
        warned(py, path, said.into_iter())?;
    }
    Ok(difference(verdict))
}
