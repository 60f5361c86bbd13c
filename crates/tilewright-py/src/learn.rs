//! Loaders learned from coded arrays, and descriptions of maps. `python/tilewright/_learn.py` calls the loaders.

use std::{collections::HashMap, path::PathBuf};

use pyo3::{
    prelude::*,
    types::{PyAny, PyBytes, PyDict, PyString},
};
use tilewright::{
    Dtype,
    learn::{
        self, Description, Dropped, Learned, LiveArrays, MapSource, MapTerm, NamedArray,
        NamedSizes, Origin, Predicted, RankMemory, Report, Sources, Space, TermAxis, array_layout,
    },
};

use crate::{
    arguments::{Integers, TextArgument, ask::dtype_of},
    errors::{Raised, about, refused},
    foreign::{Argument, Memory, numpy_empty},
    values::PyTensorLayout,
};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyMapDescription>()?;
    module.add_class::<PyMapTerm>()?;
    module.add_class::<PyLearnSpace>()?;
    module.add_class::<PyLearnedMaps>()?;
    module.add_function(wrap_pyfunction!(predicted_plan, module)?)?;
    module.add_function(wrap_pyfunction!(confirmed_plan, module)?)?;
    module.add_function(wrap_pyfunction!(describe_map, module)?)
}

/// One part of a map: elements of a result that come from one source, or from a family of sources, by one rule.
///
/// >>> import numpy as np
/// >>> from tilewright import describe_map
/// >>> term = describe_map(np.array([1, 4, 2, 5, 3, 6]), [("w", (2, 3), 1)]).terms[0]
/// >>> print(term)
/// w : n k -> k n
/// >>> term.axes
/// [(0, 6, [(2, 3, 1), (3, 1, 2)])]
#[pyclass(name = "MapTerm", module = "tilewright", frozen)]
pub(crate) struct PyMapTerm {
    term: MapTerm,
    name: String,
    pattern: String,
}

/// An axis of a term: its first index, their number, and its digits, the least significant first: extent, step in the source, step
/// in the result. A table has two lists in place of the digits.
type AxisOf = (u64, u64, Vec<(u64, i64, i64)>);

#[pymethods]
impl PyMapTerm {
    /// The name of the source; ``{}`` stands for numbers that are axes. ``zero``, ``constant`` or ``computed`` for elements
    /// that come from no source.
    #[getter]
    fn source(&self) -> &str {
        &self.name
    }

    /// The term as a pattern.
    #[getter]
    fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The element of the source at digits of 0.
    #[getter]
    fn offset(&self) -> i64 {
        self.term.offset
    }

    /// The place in the result at digits of 0.
    #[getter]
    fn at(&self) -> i64 {
        self.term.at
    }

    /// The axes: first index, count, and digits of extent, step in the source, step in the result. A table has a digit with an
    /// extent of 1 for each entry.
    #[getter]
    fn axes(&self) -> Vec<AxisOf> {
        let one = |axis: &TermAxis| match axis {
            TermAxis::Digits { first, count, digits } => {
                (*first, *count, digits.iter().map(|d| (d.extent, d.source, d.result)).collect())
            }
            TermAxis::Table { source, result } => {
                let steps = source.iter().zip(result).map(|(s, r)| (1, *s, *r));
                (0, result.len() as u64, steps.collect())
            }
        };
        self.term.axes.iter().map(one).collect()
    }

    /// Pairs of digits: the first is XORed onto the second.
    #[getter]
    fn xor(&self) -> Vec<(usize, usize)> {
        self.term.xor.clone()
    }

    /// The number of elements.
    #[getter]
    fn elements(&self) -> u64 {
        self.term.elements()
    }

    /// The number of integers that describe the term.
    #[getter]
    fn integers(&self) -> u64 {
        self.term.integers()
    }

    fn __str__(&self) -> &str {
        &self.pattern
    }

    fn __repr__(&self) -> String {
        format!("<MapTerm: {} @ {}>", self.pattern, self.term.at)
    }
}

/// An exact description of where each element of a result comes from; ``print`` it for one line a term.
///
/// >>> import numpy as np
/// >>> from tilewright import describe_map
/// >>> described = describe_map(np.array([1, 2, 3, -1, 4, 5, 6, -1]), [("w", (2, 3), 1)])
/// >>> described.integers, described.expand().tolist()
/// (9, [1, 2, 3, -1, 4, 5, 6, -1])
#[pyclass(name = "MapDescription", module = "tilewright", frozen)]
pub(crate) struct PyMapDescription {
    description: Description,
    shape: Vec<u64>,
    dtype: Option<Dtype>,
    /// The ids of the intermediate array that the description is of.
    through: Option<Vec<i64>>,
}

#[pymethods]
impl PyMapDescription {
    /// The terms, one a source or a family of sources where the map is regular.
    #[getter]
    fn terms(&self) -> Vec<PyMapTerm> {
        let one = |term: &MapTerm| PyMapTerm {
            term: term.clone(),
            name: self.description.name(term),
            pattern: self.description.pattern(term),
        };
        self.description.terms().iter().map(one).collect()
    }

    /// The number of integers of all terms.
    #[getter]
    fn integers(&self) -> u64 {
        self.description.integers()
    }

    /// The number of elements of the result, padding included.
    #[getter]
    fn size(&self) -> u64 {
        self.description.size()
    }

    /// The kind of the elements that no term has: ``zero``, ``constant`` or ``computed``.
    #[getter]
    fn rest(&self) -> &'static str {
        match self.description.rest() {
            Origin::Zero => "zero",
            Origin::Constant => "constant",
            Origin::Computed | Origin::Source(_) => "computed",
        }
    }

    /// The layout, if the result holds one whole source and padding.
    #[getter]
    fn layout(&self) -> Option<PyTensorLayout> {
        let layout = array_layout(&self.description, self.dtype)?;
        Some(PyTensorLayout(layout.stored().clone()))
    }

    /// The number of times that the elements of each source are held: the least, the most, and the number of elements that are not.
    #[getter]
    fn held<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let held = py.detach(|| self.description.held()).raised()?;
        held_of(py, self.description.sources().list().iter().map(|s| s.name.as_str()), &held)
    }

    /// Returns the number of each element of the result, as an int64 array: what was described.
    fn expand<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut ids = py.detach(|| self.description.expand()).raised()?;
        if let Some(through) = &self.through {
            ids.iter_mut().filter(|id| **id >= 0).for_each(|id| *id = through[*id as usize]);
        }
        let made = numpy_empty(py, &self.shape, PyString::new(py, "int64").as_any())?;
        if !ids.is_empty() {
            let mut memory = Memory::of(&made)?;
            for (bytes, id) in memory.bytes_mut()?.chunks_exact_mut(8).zip(ids) {
                bytes.copy_from_slice(&id.to_ne_bytes());
            }
        }
        Ok(made)
    }

    fn __str__(&self) -> String {
        self.description.to_string().trim_end().to_owned()
    }

    fn __repr__(&self) -> String {
        let (terms, integers) = (self.description.terms().len(), self.description.integers());
        format!("<MapDescription: {terms} terms, {integers} integers>")
    }
}

/// Returns a dict of least, most, and missing elements by name.
fn held_of<'py, 'a>(
    py: Python<'py>,
    names: impl Iterator<Item = &'a str>,
    held: &[learn::Held],
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (name, held) in names.zip(held) {
        all.set_item(name, (held.least, held.most, held.missing))?;
    }
    Ok(all)
}

/// Returns one source of a map, a tuple or a list of name, shape and first id.
fn source_of(given: &Bound<'_, PyAny>) -> PyResult<MapSource> {
    if given.len()? != 3 {
        return Err(refused("arguments", "sources= takes a list of (name, shape, first_id)"));
    }
    let name = given.get_item(0)?.extract::<TextArgument>()?.of("sources")?;
    let extents = Integers::given("sources", Some(given.get_item(1)?.extract()?))?;
    let first = given.get_item(2)?.extract()?;
    Ok(MapSource { name, extents: extents.unwrap_or_default(), first })
}

/// Returns the numbers of an int64 array, in row-major order.
fn ids_of(argument: &str, ids: &Bound<'_, PyAny>) -> PyResult<(Vec<i64>, Vec<u64>)> {
    let memory = Memory::given(argument, ids)?;
    if memory.dtype() != Some(Dtype::S64) {
        let found = memory.dtype().map_or("other elements".into(), |dtype| dtype.to_string());
        return Err(refused(
            "dtype",
            format!("{argument}= takes an array of int64, not of {found}"),
        ));
    }
    let shape = memory.shape().to_vec();
    if shape.contains(&0) {
        return Ok((Vec::new(), shape));
    }
    let bytes = memory.row_major_bytes(Argument::Source("ids"))?;
    Ok((bytes.as_chunks().0.iter().map(|word| i64::from_ne_bytes(*word)).collect(), shape))
}

/// Describes a map that was obtained elsewhere. ``ids`` is an int64 array in the storage order of a result. The id of a source
/// element is the source's ``first_id`` plus the element's row-major number; -1 is zero, -2 a constant, -3 computed. ``sources`` is a
/// list of ``(name, shape, first_id)``.
///
/// The description expands to ``ids`` exactly; this is verified before it is returned. Numbers in names are axes, so experts in one
/// array are one term.
///
/// ``through`` is the ids of an intermediate array that holds the same elements, such as a parameter before it is packed. The result
/// is described as a layout of that array, whose name is ``parameter``.
///
/// Raises ``OutOfRangeError`` for an id that no source has, ``IllegalError`` for sources that share ids.
///
/// >>> import numpy as np
/// >>> from tilewright import describe_map
/// >>> rows = np.arange(1, 129 * 96 - 95).reshape(128, 96)
/// >>> packed = rows.reshape(2, 64, 48, 2).transpose(0, 2, 1, 3)
/// >>> described = describe_map(np.ascontiguousarray(packed), [("w", (128, 96), 1)])
/// >>> print(described)
/// w : (n n0:64) (k k0:2) -> n k n0 k0 @ 0
/// >>> described.integers, bool((described.expand() == packed).all())
/// (15, True)
#[pyfunction]
#[pyo3(signature = (ids, sources, *, through = None))]
fn describe_map(
    py: Python<'_>,
    ids: &Bound<'_, PyAny>,
    sources: Vec<Bound<'_, PyAny>>,
    through: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyMapDescription> {
    let (ids, shape) = ids_of("ids", ids)?;
    let list = sources.iter().map(source_of).collect::<PyResult<_>>()?;
    let sources = Sources::new(list).raised()?;
    let Some(through) = through else {
        let description = py.detach(|| learn::describe(&ids, &sources)).raised()?;
        return Ok(PyMapDescription { description, shape, dtype: None, through: None });
    };
    let (before, extents) = ids_of("through", through)?;
    let description = py.detach(|| staged(&ids, &before, extents)).raised()?;
    Ok(PyMapDescription { description, shape, dtype: None, through: Some(before) })
}

/// Describes a result as a layout of an intermediate array.
fn staged(
    ids: &[i64],
    before: &[i64],
    extents: Vec<u64>,
) -> Result<Description, tilewright::Error> {
    let mut places = HashMap::new();
    for (place, id) in before.iter().enumerate().filter(|(_, id)| **id >= 0) {
        places.entry(*id).or_insert(place as i64);
    }
    let mut staged = Vec::with_capacity(ids.len());
    for (at, id) in ids.iter().enumerate() {
        staged.push(match places.get(id) {
            Some(place) => *place,
            None if *id < 0 => *id,
            None => {
                let said = format!("element {at} of the result has the id {id}, which the intermediate array does not hold");
                return Err(tilewright::Error::out_of_range(said));
            }
        });
    }
    let parameter = MapSource { name: "parameter".into(), extents, first: 0 };
    learn::describe(&staged, &Sources::new(vec![parameter])?)
}

/// Returns the predicted plan for a checkpoint as JSON, and its formulas. Sizes that are not given are those of the plans, and of
/// ``config.json`` in the checkpoint's folder. Sizes that are given without ``tp`` have the ranks of the plan, and ``ranks``.
#[pyfunction]
#[pyo3(name = "_predicted_plan", signature = (plans, model, sizes, ranks, /))]
fn predicted_plan(
    py: Python<'_>,
    plans: Vec<(String, Option<NamedSizes>)>,
    model: PathBuf,
    sizes: Option<NamedSizes>,
    ranks: u64,
) -> PyResult<(String, Vec<String>)> {
    let predicted = py.detach(|| {
        let mut known = Vec::new();
        for (text, own) in plans {
            let (sizes, plan) = learn::sized_plan(text.as_bytes())?;
            let own = own.map(|own| ranked(own, learn::ranks(&plan) as u64));
            known.push((own.unwrap_or(sizes), plan));
        }
        let sizes = match sizes {
            Some(sizes) => ranked(sizes, ranks),
            None => learn::config_sizes(&model, ranks)?.unwrap_or_default(),
        };
        let input = tilewright::files::open(&model, &tilewright::files::Reading::default())?;
        learn::predict_for(&input, &sizes, &known)
    });
    let predicted = predicted.raised()?;
    Ok((predicted.to_json().to_string(), predicted.formulas))
}

/// Returns sizes with the number of ranks, if they lack it.
fn ranked(mut sizes: NamedSizes, ranks: u64) -> NamedSizes {
    let _ = sizes.entry("tp".to_owned()).or_insert(ranks);
    sizes
}

/// Compares a predicted plan with one load. Returns the plan as JSON, or a sentence about the first difference.
#[pyfunction]
#[pyo3(name = "_confirmed_plan", signature = (text, model, dump, /))]
fn confirmed_plan(
    py: Python<'_>,
    text: &str,
    model: PathBuf,
    dump: PathBuf,
) -> PyResult<(Option<String>, Option<String>)> {
    let found = py.detach(|| {
        let predicted = Predicted::from_bytes(text.as_bytes())?;
        let input = tilewright::files::open(&model, &tilewright::files::Reading::default())?;
        Ok::<_, tilewright::Error>(match learn::confirm(predicted.clone(), &input, &dump)? {
            Ok(_) => (Some(predicted.learned_json().to_string()), None),
            Err(found) => (None, Some(learn::differs(&predicted.plan, &found))),
        })
    });
    found.raised()
}

/// The coded values of sources, for ``tilewright.learn``.
#[pyclass(name = "_LearnSpace", module = "tilewright", frozen)]
pub(crate) struct PyLearnSpace {
    space: Space,
    tensors: Vec<NamedArray>,
}

/// One source of a loader: name, shape, element type.
type TensorOf<'py> = (TextArgument, Integers, Bound<'py, PyAny>);

fn tensor_of(argument: &str, (name, extents, dtype): TensorOf<'_>) -> PyResult<NamedArray> {
    let name = name.of(argument)?;
    let extents = Integers::given(argument, Some(extents))?.unwrap_or_default();
    let dtype = dtype_of(&dtype).map_err(|error| about(&name, error))?;
    Ok(NamedArray { name, dtype, extents })
}

#[pymethods]
impl PyLearnSpace {
    #[new]
    #[pyo3(signature = (sources, /))]
    fn new(sources: Vec<TensorOf<'_>>) -> PyResult<PyLearnSpace> {
        let tensors: Vec<NamedArray> =
            sources.into_iter().map(|one| tensor_of("inputs", one)).collect::<PyResult<_>>()?;
        let named = tensors.iter().map(|tensor| (tensor.name.clone(), tensor.extents.clone()));
        let dtypes: Vec<Dtype> = tensors.iter().map(|tensor| tensor.dtype).collect();
        let space = Sources::numbered(named).and_then(|sources| Space::of(sources, &dtypes));
        Ok(PyLearnSpace { space: space.raised()?, tensors })
    }

    /// The number of loads.
    #[getter]
    fn loads(&self) -> u32 {
        self.space.loads()
    }

    /// Returns the bytes of a source in a load.
    fn coded<'py>(
        &self,
        py: Python<'py>,
        source: usize,
        load: u32,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let Some(tensor) = self.tensors.get(source) else {
            return Err(refused("out-of-range", format!("source {source}")));
        };
        let bytes = py.detach(|| self.space.coded(source, load, tensor.dtype)).raised()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Learns results: name, shape, element type, and the bytes of each load.
    fn learn(
        &self,
        py: Python<'_>,
        results: Vec<(TensorOf<'_>, Vec<Vec<u8>>)>,
    ) -> PyResult<PyLearnedMaps> {
        let dtypes: Vec<Dtype> = self.tensors.iter().map(|tensor| tensor.dtype).collect();
        let mut learnt = Vec::new();
        for (tensor, loads) in results {
            let tensor = tensor_of("result", tensor)?;
            let read = &mut |load: u32| {
                let bytes = loads.get(load as usize).cloned();
                bytes.ok_or_else(|| tilewright::Error::mismatch(format!("load {load} is missing")))
            };
            learnt.push(
                py.detach(|| learn::learn_result(&self.space, &dtypes, tensor, read)).raised()?,
            );
        }
        Ok(PyLearnedMaps(Learned { sources: self.tensors.clone(), results: learnt }))
    }
}

/// The maps of a loader, for ``tilewright.Learned``. Arrays are bytes.
#[pyclass(name = "_LearnedMaps", module = "tilewright", frozen)]
pub(crate) struct PyLearnedMaps(Learned);

#[pymethods]
impl PyLearnedMaps {
    /// Reads a plan from its text in TOML or JSON.
    #[new]
    #[pyo3(signature = (text, /))]
    fn new(py: Python<'_>, text: &str) -> PyResult<PyLearnedMaps> {
        py.detach(|| learn::from_bytes(text.as_bytes())).raised().map(PyLearnedMaps)
    }

    /// The sources: name, shape, bits of an element, first number.
    #[getter]
    fn sources(&self) -> Vec<(String, Vec<u64>, Option<u32>, i64)> {
        let first = |place: usize| {
            let result = self.0.results.first();
            result.map_or(0, |result| result.description.sources().list()[place].first)
        };
        let all = self.0.sources.iter().enumerate();
        all.map(|(place, one)| {
            (one.name.clone(), one.extents.clone(), one.dtype.bits(), first(place))
        })
        .collect()
    }

    /// The number of ranks.
    #[getter]
    fn ranks(&self) -> usize {
        learn::ranks(&self.0)
    }

    /// Returns the first tensor of a file that arrays of some ranks do not hold: its name, the array's, the rank, the coordinate of
    /// the first element, and how many differ in this part.
    #[allow(clippy::type_complexity)]
    fn check(
        &self,
        py: Python<'_>,
        path: PathBuf,
        memory: Vec<(usize, HashMap<String, Bound<'_, PyAny>>)>,
    ) -> PyResult<Option<(String, String, usize, Vec<u64>, u64)>> {
        let mut kept = Vec::new();
        for (rank, arrays) in &memory {
            for (name, array) in arrays {
                let array = Memory::of_any(array).map_err(|error| about(name, error))?;
                kept.push((*rank, name.clone(), array));
            }
        }
        let mut all: Vec<(usize, RankMemory<'_>)> =
            memory.iter().map(|(rank, _)| (*rank, RankMemory::new())).collect();
        for (rank, name, array) in &kept {
            let bytes = array.row_major_bytes(Argument::Source("memory"))?;
            if let Some((_, arrays)) = all.iter_mut().find(|(own, _)| own == rank) {
                arrays.insert(name.clone(), bytes);
            }
        }
        let found = py.detach(|| {
            let input = tilewright::files::open(&path, &tilewright::files::Reading::default())?;
            learn::check(&self.0, &input, &all)
        });
        Ok(found.raised()?.map(|found| {
            (found.tensor, found.result, found.rank, found.coordinate, found.differing)
        }))
    }

    /// The description of each result, by its name.
    #[getter]
    fn maps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for learnt in &self.0.results {
            let (description, dtype) = (learnt.description.clone(), Some(learnt.unit));
            let shape = vec![description.size()];
            let made = PyMapDescription { description, shape, dtype, through: None };
            all.set_item(&learnt.tensor.name, made)?;
        }
        Ok(all)
    }

    /// Returns random bytes for each source.
    fn fresh<'py>(&self, py: Python<'py>, seed: u64) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let all = py.detach(|| self.0.fresh(seed)).raised()?;
        Ok(all.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
    }

    /// Returns the bytes of each result.
    fn apply<'py>(
        &self,
        py: Python<'py>,
        sources: Vec<Vec<u8>>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let all = py.detach(|| self.0.apply(&sources)).raised()?;
        Ok(all.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
    }

    /// Returns the bytes of each source, or None, and the numbers of lost elements.
    #[allow(clippy::type_complexity)]
    fn invert<'py>(
        &self,
        py: Python<'py>,
        results: Vec<Vec<u8>>,
    ) -> PyResult<(Vec<Option<Bound<'py, PyBytes>>>, Vec<u64>)> {
        let inverted = py.detach(|| self.0.invert(&results)).raised()?;
        let bytes = |bytes: &Option<Vec<u8>>| bytes.as_ref().map(|bytes| PyBytes::new(py, bytes));
        Ok((inverted.sources.iter().map(bytes).collect(), inverted.lost))
    }

    /// Returns the first difference: the result's name, unit, wanted and found bits, and how many units differ.
    #[allow(clippy::type_complexity)]
    fn compare(
        &self,
        py: Python<'_>,
        sources: Vec<Vec<u8>>,
        results: Vec<Vec<u8>>,
    ) -> PyResult<Option<(String, u64, u64, u64, u64)>> {
        let found = py.detach(|| self.0.compare(&sources, &results)).raised()?;
        Ok(found.map(|found| {
            let name = self.0.results[found.result].tensor.name.clone();
            (name, found.place, found.want, found.found, found.differing)
        }))
    }

    /// The number of times that all results hold the elements of each source: the least, the most, and the number of elements that none holds.
    #[getter]
    fn held<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let held = py.detach(|| self.0.held()).raised()?;
        held_of(py, self.0.sources.iter().map(|tensor| tensor.name.as_str()), &held)
    }

    /// Returns what is at fault, but for lost sources whose names match.
    fn faults(&self, py: Python<'_>, drop: Vec<String>) -> PyResult<Vec<String>> {
        let drop = Dropped::new(&drop).raised()?;
        let faults = |report: Report<'_>| report.faults();
        py.detach(|| Report::of(&self.0, &|name| drop.has(name)).map(faults)).raised()
    }

    /// Raises an error for a pattern of ``drop`` that matches no source.
    fn check_dropped(&self, drop: Vec<String>) -> PyResult<()> {
        let names = self.0.sources.iter().map(|source| source.name.as_str());
        let checked = Dropped::new(&drop).raised()?.check(names);
        checked.map_err(|error| error.about("drop=")).raised()
    }

    /// Returns the names of the sources that match a pattern of ``drop``.
    fn dropped(&self, drop: Vec<String>) -> PyResult<Vec<String>> {
        let drop = Dropped::new(&drop).raised()?;
        let names = self.0.sources.iter().map(|source| source.name.clone());
        Ok(names.filter(|name| drop.has(name)).collect())
    }

    /// Returns the maps without the units that results of fresh sources contradict.
    fn without(
        &self,
        py: Python<'_>,
        sources: Vec<Vec<u8>>,
        results: Vec<Vec<u8>>,
    ) -> PyResult<PyLearnedMaps> {
        py.detach(|| self.0.without(&sources, &results)).raised().map(PyLearnedMaps)
    }

    /// Returns the report.
    fn report(&self, py: Python<'_>, drop: Vec<String>) -> PyResult<String> {
        let drop = Dropped::new(&drop).raised()?;
        let text = |report: Report<'_>| report.to_string();
        py.detach(|| Report::of(&self.0, &|name| drop.has(name)).map(text)).raised()
    }

    /// Returns the plan as JSON or as TOML.
    fn plan(&self, toml: bool) -> String {
        match toml {
            true => learn::to_toml(&learn::to_json(&self.0)),
            false => learn::to_json(&self.0).to_string(),
        }
    }

    /// Returns the recipe, or its inverse, as TOML.
    fn recipe(&self, py: Python<'_>, inverse: bool) -> PyResult<String> {
        let recipe = py.detach(|| learn::recipe(&self.0)).raised()?;
        Ok(if inverse { recipe.inverse().to_toml() } else { recipe.to_toml() })
    }

    /// Writes new values of elements of a source to arrays of some ranks, and returns how many places were written.
    fn scatter(
        &self,
        source: &str,
        indices: &Bound<'_, PyAny>,
        values: &[u8],
        memory: Vec<(usize, HashMap<String, Bound<'_, PyAny>>)>,
    ) -> PyResult<u64> {
        let (elements, _) = ids_of("indices", indices)?;
        let natural = |element: &i64| u64::try_from(*element).ok();
        let elements: Option<Vec<u64>> = elements.iter().map(natural).collect();
        let Some(elements) = elements else {
            return Err(refused("out-of-range", "indices= has a negative number"));
        };
        let mut ranks = Vec::new();
        for (rank, arrays) in &memory {
            let mut live = Live(HashMap::new());
            for (name, array) in arrays {
                let mut array = Memory::of_any(array).map_err(|error| about(name, error))?;
                let _ = array.row_major_bytes_mut().map_err(|error| about(name, error))?;
                live.0.insert(name.clone(), array);
            }
            ranks.push((*rank, live));
        }
        let mut arrays: Vec<(usize, &mut dyn LiveArrays)> =
            ranks.iter_mut().map(|(rank, live)| (*rank, live as &mut dyn LiveArrays)).collect();
        learn::scatter(&self.0, source, &elements, values, &mut arrays).raised()
    }
}

/// The arrays of one rank, which are written in place. One array is lent at a time, so two names may have the same memory.
struct Live(HashMap<String, Memory>);

impl LiveArrays for Live {
    fn array(&mut self, name: &str) -> Option<&mut [u8]> {
        self.0.get_mut(name)?.row_major_bytes_mut().ok()
    }
}
