//! `verify`: compares a file with its original or with its records, and arrays in shards with whole ones.

use std::path::PathBuf;

use pyo3::{prelude::*, types::PyDict};
use tilewright::files::{self, Collection};

use super::{
    convert::{Watcher, given, request, warned},
    reshard,
};
use crate::errors::refused;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(verify, module)?)
}

/// Compares a finished file with its original, or with the fingerprints that it records; returns the difference as text, or None.
#[pyfunction]
#[pyo3(signature = (output, against, job, progress = None, /))]
fn verify(
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
    for name in ["to", "rules", "tensors", "from_", "dims", "dtype", "store", "fill"] {
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
