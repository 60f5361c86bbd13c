//! Answers as text: explanations, comparisons, the layout between two buffers, and the lists of named formats and notations.

use pyo3::{prelude::*, types::PyTuple};
use tilewright::{
    ArrayLayout, Comparison, Explanation, ResolvedLayout, Spec,
    ask::{Answer as _, Example, Formats, Inferred, Known, TextLimits, compare},
    files::FileLists,
    input::both,
    notation::{self, Format},
};

use crate::{
    answers::drawing::PyDrawing,
    arguments::{
        Integers, TextArgument,
        ask::{dtype_of, spec_of},
        html,
    },
    errors::{Raised, refused},
    foreign::{Argument, Memory},
    values::PyTensorLayout,
};

/// The meaning of a layout, in words and numbers; ``str()`` returns the page.
///
/// The program's ``tilewright explain`` prints the same page, with a line about its option ``--all`` if some notations cannot
/// express the layout.
///
/// Extents count coordinates, strides and capacities elements.
#[pyclass(name = "Explanation", module = "tilewright", frozen, get_all)]
pub(crate) struct PyExplanation {
    /// The layout as one SPEC.
    spec: String,
    /// The element type by XLA's name.
    dtype: Option<String>,
    /// The width of a stored element, in bits.
    bits: Option<u32>,
    /// The logical extents.
    dims: Vec<u64>,
    /// The number of logical elements.
    size: u64,
    /// 1 + the largest offset of the padded array, in elements.
    cosize: i64,
    /// The length of the storage, in elements.
    capacity: u64,
    /// The length of the storage, in bytes.
    nbytes: Option<u128>,
    /// The number of storage elements that hold no logical element.
    padding: u64,
    /// The share of the storage that is padding, from 0 to 1.
    padding_share: f64,
    /// The number of consecutive offsets that hold elements, from the first element on.
    contiguous_run: u64,
    /// True if no two elements share an offset; None if that was not decided.
    injective: Option<bool>,
    /// True if every offset of the span is reached.
    exhaustive: bool,
    /// The number of dims of more than one coordinate.
    true_rank: usize,
    /// Row-major, column-major or neither, in words.
    order: String,
    /// The sentences of the page with their titles, except the notations.
    lines: Vec<(String, String)>,
    /// The text of the layout in each notation; None if the notation cannot express it.
    notations: Vec<(String, Option<String>)>,
    /// The page of text.
    text: String,
}

#[pymethods]
impl PyExplanation {
    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> &str {
        &self.text
    }

    fn _repr_html_(&self) -> String {
        let row = |(title, says): &(String, String)| {
            format!("<tr><th>{}</th><td>{}</td></tr>", html(title), html(says))
        };
        let said =
            self.notations.iter().filter_map(|(name, text)| Some((name.clone(), text.clone()?)));
        let said: String = said.map(|one| row(&one)).collect();
        let lines: String = self.lines.iter().map(row).collect();
        format!("<table><caption>{}</caption>{lines}{said}</table>", html(&self.spec))
    }
}

impl PyExplanation {
    pub(crate) fn of(named: &ResolvedLayout) -> PyExplanation {
        let all = Explanation::of(named);
        PyExplanation {
            text: all.within(TextLimits::default().width),
            lines: all.lines(),
            padding_share: all.padding_share(),
            spec: all.name,
            dtype: all.dtype,
            bits: all.element_bits,
            dims: all.dims,
            size: all.size,
            cosize: all.cosize,
            capacity: all.capacity,
            nbytes: all.bytes,
            padding: all.padding,
            contiguous_run: all.contiguous_run,
            injective: all.injective.ok(),
            exhaustive: all.exhaustive,
            true_rank: all.true_rank,
            order: all.order.to_string(),
            notations: all
                .notations
                .into_iter()
                .map(|(name, text)| (name.into(), text.ok()))
                .collect(),
        }
    }
}

/// The comparison of two layouts: true in a condition if they are the same map; its text has the first difference.
#[pyclass(name = "Comparison", module = "tilewright", frozen)]
pub(crate) struct PyComparison {
    /// True if every coordinate has the same offset in both.
    #[pyo3(get)]
    same: bool,
    /// A coordinate that has different offsets.
    #[pyo3(get)]
    coord: Option<Vec<u64>>,
    /// Its offset in the first layout, in elements.
    #[pyo3(get)]
    left: Option<i64>,
    /// Its offset in the second.
    #[pyo3(get)]
    right: Option<i64>,
    /// Other differences of layouts with the same map: capacity, padding, element type.
    #[pyo3(get)]
    notes: Vec<String>,
    /// The answer as `tilewright same` prints it.
    #[pyo3(get)]
    text: String,
    /// The layouts that were compared, if they can be drawn.
    both: Option<[ResolvedLayout; 2]>,
}

#[pymethods]
impl PyComparison {
    fn __bool__(&self) -> bool {
        self.same
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<Comparison: {}>", self.text)
    }

    /// Returns the answer, and both layouts as a picture.
    fn _repr_html_(&self) -> String {
        match &self.both {
            Some([a, b]) => PyDrawing::below(&self.text, a, b),
            None => format!("<p>{}</p>", html(&self.text)),
        }
    }
}

impl PyComparison {
    fn of(answer: Comparison, both: Option<[ResolvedLayout; 2]>) -> PyComparison {
        let text = answer.to_string();
        let (coord, left, right, notes) = (None, None, None, Vec::new());
        let none = PyComparison { same: false, coord, left, right, notes, text, both };
        match answer {
            Comparison::Same { notes } => PyComparison { same: true, notes, ..none },
            Comparison::Differ(found) => PyComparison {
                coord: Some(found.coord.as_slice().to_vec()),
                left: Some(found.left),
                right: Some(found.right),
                ..none
            },
            Comparison::Extents { .. } => none,
        }
    }

    /// Compares two layouts. Both are drawn in HTML unless they have index tables.
    pub(crate) fn between(a: &ArrayLayout, b: &ArrayLayout) -> PyResult<PyComparison> {
        let strided = !a.has_tables() && !b.has_tables();
        let both = strided.then(|| [a.stored().clone(), b.stored().clone()]);
        Ok(PyComparison::of(compare(a, b).raised()?, both))
    }
}

/// Returns whether two layouts are the same map over the same dims, decided without enumerating the elements. If one does not
/// give its dims and dtype, those of the other are used. The answer is true in a condition if the maps are the same, and has the
/// first difference otherwise.
///
/// Raises the errors of ``parse``, and ``UndecidedError`` if the question takes too long to decide.
///
/// >>> from tilewright import same
/// >>> bool(same("f32[2,3]{0,1}", "(2,3):(1,2)"))
/// True
/// >>> print(same("row-major", "(2,3):(1,2)"))
/// differ at (0,1): 1 vs 2
#[pyfunction]
#[pyo3(signature = (a, b, /, dims = None, dtype = None))]
pub(crate) fn same(
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    dims: Option<Integers>,
    dtype: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyComparison> {
    let dims = Integers::given("dims", dims)?;
    let dtype = dtype.map(dtype_of).transpose()?;
    let specs = [&spec_of("a", a)?, &spec_of("b", b)?];
    let [left, right] = both(specs, dims.as_deref(), dtype, &FileLists::default());
    PyComparison::between(&left.raised()?, &right.raised()?)
}

/// Returns the map from registers, lanes, warps and blocks to coordinates, as text, for a layout that distributes an array over
/// threads; None for an array in memory.
///
/// >>> from tilewright import distribution
/// >>> text = "#ttg.blocked<{sizePerThread=[2], threadsPerWarp=[4], warpsPerCTA=[2], order=[0]}>"
/// >>> distribution(text, dims=(8,))
/// '{register=[1],lane=[2,4],warp=[0],block=[]} -> (dim0:8)'
#[pyfunction]
#[pyo3(signature = (spec, /, dims = None, dtype = None))]
pub(crate) fn distribution(
    spec: &Bound<'_, PyAny>,
    dims: Option<Integers>,
    dtype: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<String>> {
    let dtype = dtype.map(dtype_of).transpose()?;
    let dims = Integers::given("dims", dims)?;
    let map = spec_of("spec", spec)?.distribution(dims.as_deref(), dtype).raised()?;
    Ok(map.map(|map| map.to_string()))
}

/// The layout between two buffers; ``str()`` returns the page that ``tilewright infer`` prints.
#[pyclass(name = "Inference", module = "tilewright", frozen)]
pub(crate) struct PyInference(Inferred);

#[pymethods]
impl PyInference {
    /// ``found``, ``ambiguous``, ``none`` or ``undecided``.
    #[getter]
    fn answer(&self) -> &'static str {
        self.0.answer
    }

    /// The reason why there is not one answer.
    #[getter]
    fn why(&self) -> Option<&str> {
        self.0.why.as_deref()
    }

    /// The bytes of every element of padding, if all of it is equal.
    #[getter]
    fn padding(&self) -> Option<&[u8]> {
        self.0.padding.as_deref()
    }

    /// True if all other layouts were excluded.
    #[getter]
    fn only(&self) -> bool {
        self.0.only
    }

    /// True if the bytes of each number are reversed.
    #[getter]
    fn reversed(&self) -> bool {
        self.0.reversed
    }

    /// The layout, if there is one.
    #[getter]
    fn layout(&self) -> Option<PyTensorLayout> {
        let found = self.0.layouts.first().filter(|_| !self.0.is_no());
        found.cloned().map(PyTensorLayout)
    }

    /// All layouts that were found to fit.
    #[getter]
    fn layouts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.layouts.iter().cloned().map(PyTensorLayout))
    }

    fn __bool__(&self) -> bool {
        !self.0.is_no()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        match (self.layout(), &self.0.why) {
            (Some(layout), _) => format!("<Inference: {}>", layout.0.to_spec()),
            (None, Some(why)) => format!("<Inference: {}, {why}>", self.0.answer),
            (None, None) => format!("<Inference: {}>", self.0.answer),
        }
    }

    /// Returns the answer, and the layout as a picture if there is one.
    fn _repr_html_(&self) -> String {
        let picture = self.layout().map_or_else(String::new, |layout| layout.html());
        format!("<pre>{}</pre>{picture}", html(&self.0.to_string()))
    }
}

/// Finds the layout that maps the elements of ``original``, row-major, to their places in ``packed``. Nothing is assumed about
/// the values; distinct elements determine the layout completely. ``dims`` are those of ``original`` by default.
///
/// Raises ``CopyError`` for arrays that are not contiguous, ``DtypeError`` for elements of different widths.
///
/// >>> import numpy
/// >>> from tilewright import infer
/// >>> rows = numpy.arange(6, dtype=numpy.uint8).reshape(2, 3)
/// >>> infer(rows, numpy.array([0, 3, 1, 4, 2, 5], numpy.uint8)).layout.layout
/// Layout('(2,3):(1,2)')
#[pyfunction]
#[pyo3(signature = (original, packed, /, dims = None))]
pub(crate) fn infer(
    py: Python<'_>,
    original: &Bound<'_, PyAny>,
    packed: &Bound<'_, PyAny>,
    dims: Option<Integers>,
) -> PyResult<PyInference> {
    let original = Memory::given("original", original)?;
    let packed = Memory::given("packed", packed)?;
    let from = original.row_major_bytes(Argument::Source("original"))?;
    let to = packed.row_major_bytes(Argument::Source("packed"))?;
    let width = original.itemsize();
    if width != packed.itemsize() && packed.itemsize() != 1 {
        let says = format!("elements of {width} bytes against elements of {}", packed.itemsize());
        return Err(refused("dtype", says));
    }
    let dims = Integers::given("dims", dims)?.unwrap_or_else(|| original.shape().to_vec());
    let (dtype, bits) = (original.dtype(), original.facts.odd_bits());
    let known = Known { bytes: from, dims: &dims, width, dtype, bits };
    Ok(PyInference(py.detach(|| Inferred::of(&known, to))))
}

/// A named format of the catalogue.
///
/// >>> from tilewright import formats
/// >>> zn = next(format for format in formats() if format.name == "zN")
/// >>> zn.pattern
/// '… (m1 m0:16) (n1 n0:C0) -> … n1 m1 m0 n0'
#[pyclass(name = "Format", module = "tilewright", frozen)]
pub(crate) struct PyFormat(&'static Format);

#[pymethods]
impl PyFormat {
    /// Its canonical name.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name
    }

    /// Other names, matched exactly.
    #[getter]
    fn aliases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.aliases)
    }

    /// Its storage: the digits of each dim, then their order in storage, outermost first.
    #[getter]
    fn pattern(&self) -> &'static str {
        self.0.pattern
    }

    /// The sizes that depend on the element type or are given: name, then pairs of a width in bits and a size in elements.
    #[getter]
    fn constants(&self) -> Vec<(&'static str, Vec<(u32, u64)>)> {
        let units = |constant: &&notation::Constant| {
            (constant.name, constant.units.iter().map(|unit| (unit.bits, unit.units)).collect())
        };
        self.0.constants.iter().map(units).collect()
    }

    /// The library that defines it, and the place of the definition.
    #[getter]
    fn source(&self) -> &'static str {
        self.0.source
    }

    /// An array in this format, as an example.
    #[getter]
    fn example(&self) -> PyResult<PyTensorLayout> {
        Spec::parse(self.0.example)
            .and_then(|spec| spec.resolve(None, None))
            .raised()
            .map(PyTensorLayout)
    }

    fn __str__(&self) -> &'static str {
        self.0.name
    }

    fn __repr__(&self) -> String {
        format!("<Format {}: {}>", self.0.name, self.0.pattern)
    }
}

/// Returns every named format, added ones last; with a word the format of that name or alias, else those that have
/// the word in their names, libraries or purposes.
///
/// Raises ``ArgumentError`` if there is none, with similar names.
///
/// >>> from tilewright import formats
/// >>> formats("zN")
/// [<Format zN: … (m1 m0:16) (n1 n0:C0) -> … n1 m1 m0 n0>]
/// >>> formats("FRACTAL_NZ")[0].name
/// 'zN'
/// >>> "COL4_4R2_8C" in [format.name for format in formats("cublas")]
/// True
#[pyfunction]
#[pyo3(signature = (word = None, /))]
pub(crate) fn formats(word: Option<TextArgument>) -> PyResult<Vec<PyFormat>> {
    let word = TextArgument::given("word", word)?;
    let Some(word) = word.as_deref() else {
        return Ok(notation::catalogue().map(PyFormat).collect());
    };
    let named = |format: &&Format| format.name == word || format.aliases.contains(&word);
    if let Some(format) = notation::catalogue().find(named) {
        return Ok(vec![PyFormat(format)]);
    }
    let groups = Formats { word: word.to_owned() }.found();
    let found: Vec<PyFormat> =
        groups.into_iter().flat_map(|group| group.formats).map(PyFormat).collect();
    match found.is_empty() || word.trim().is_empty() {
        // The error lists similar names.
        true => Example::of(word).raised().map(|example| vec![PyFormat(example.format)]),
        false => Ok(found),
    }
}

/// Returns every notation with a sentence that describes it.
///
/// >>> from tilewright import notations
/// >>> [name for name, about in notations() if name in ("cute", "hlo", "onednn")]
/// ['cute', 'hlo', 'onednn']
#[pyfunction]
pub(crate) fn notations() -> Vec<(&'static str, &'static str)> {
    notation::notations().iter().map(|notation| (notation.name(), notation.about())).collect()
}

/// Adds the formats of a TOML text to the catalogue of this process, and returns their names. If one is wrong, none is added.
///
/// Raises ``ParseError`` with the line, ``LimitError`` beyond 1 MiB or 1000 formats.
///
/// >>> from tilewright import add_formats, parse
/// >>> add_formats("[[format]]\nname = 'panels'\npattern = '(m1 m0:8) n -> m1 n m0'")
/// ['panels']
/// >>> parse("panels", dims=(16, 3)).layout
/// Layout('((8,2),3):((1,24),8)')
#[pyfunction]
#[pyo3(signature = (toml, /))]
pub(crate) fn add_formats(toml: TextArgument) -> PyResult<Vec<&'static str>> {
    notation::add_formats(&toml.of("toml")?).raised()
}
