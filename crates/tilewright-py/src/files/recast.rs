//! `recast`: the tensors of a file assembled from those of another, by a recipe.

use std::path::PathBuf;

use pyo3::{prelude::*, types::PyDict};
use tilewright::{
    Dtype, Error,
    ask::{Answer as _, Assembled, Guesses},
    files::{Assembling, Packaging, Reading, Row, inner::json, open_watched},
    recast,
    recipe::{Made, Origin, Part, Recipe, Sizes, Tensor, guess},
};

use super::convert::{Watcher, flag, given, integer, request, say_done, warned};
use crate::{
    arguments::{
        integer::Integer,
        text::{TextArgument, text},
    },
    errors::Raised,
};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(guess_recipe, module)?)?;
    module.add_function(wrap_pyfunction!(solve_recipe, module)?)?;
    module.add_function(wrap_pyfunction!(recast_files, module)?)
}

/// Returns the shipped recipes that fit a checkpoint, as JSON.
#[pyfunction]
#[pyo3(signature = (path, /))]
fn guess_recipe(py: Python<'_>, path: PathBuf) -> PyResult<String> {
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
fn solve_recipe(
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
        Ok::<_, Error>(Tensor::new(name.clone(), known.ok_or_else(unknown)?, dims))
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
fn recast_files<'py>(
    py: Python<'py>,
    input: PathBuf,
    output: PathBuf,
    job: &Bound<'py, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let asked = request(job)?;
    let (dry_run, sizes) = (flag(job, "dry_run")?, sizes(job)?);
    let largest: Option<u64> = integer(job, "max_shard_size")?;
    let from = given(job, "metadata")?.map(|from| from.extract::<PathBuf>()).transpose()?;
    let watcher = Watcher::new(progress.as_ref())?;
    let open = |path: &PathBuf| open_watched(path, &Reading::default(), &watcher);
    let opened = watcher.outcome(py.detach(|| open(&input)))?;
    let metadata = from.map(|from| watcher.outcome(py.detach(|| open(&from)))).transpose()?;
    let recipe = match given(job, "recipe")? {
        None => recast::recorded(&opened).raised()?,
        Some(name) => named(&text("recipe", &name)?, flag(job, "inverse")?)?,
    };
    let recipe = if flag(job, "any_config")? { recipe.for_any_config() } else { recipe };
    let allow = given(job, "allow")?.map(|names| names.extract::<Vec<String>>()).transpose()?;
    let recipe = recast::allowing(recipe, &allow.unwrap_or_default()).raised()?;
    let assembly = recast::solved(&recipe, &opened, &sizes).raised()?;
    let trusted = flag(job, "trust_metadata")?;
    let packaging = Packaging { metadata: metadata.as_ref(), largest, trusted };
    let prepared =
        py.detach(|| Assembling::prepare(&opened, &assembly, &output, asked, &packaging));
    let prepared = prepared.raised()?;
    let report = PyDict::new(py);
    let said = prepared.cautions().map(str::to_owned).chain(prepared.warnings());
    report.set_item("warnings", warned(py, &input, said)?)?;
    let rows = prepared.rows().iter().map(|row| described(py, row));
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

/// Returns a recipe by its name, or its inverse.
fn named(name: &str, inverse: bool) -> PyResult<Recipe> {
    let recipe = recast::recipe(name).raised()?;
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
fn described<'py>(py: Python<'py>, row: &Row) -> PyResult<Bound<'py, PyDict>> {
    let said = PyDict::new(py);
    said.set_item("name", &row.name)?;
    said.set_item("to", &row.spec)?;
    said.set_item("sources", &row.sources)?;
    said.set_item("bytes_out", row.bytes)?;
    said.set_item("how", row.how)?;
    Ok(said)
}
