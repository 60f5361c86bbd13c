//! The catalogue of named formats, the notations, and the user's own formats.

use pyo3::{prelude::*, types::PyTuple};
use tilewright::{
    Spec,
    ask::{Example, Formats},
    notation::{self, Format},
};

use crate::{arguments::text::TextArgument, errors::Raised, values::PyTensorLayout};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(formats, module)?)?;
    module.add_function(wrap_pyfunction!(notations, module)?)?;
    module.add_function(wrap_pyfunction!(add_formats, module)?)
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
fn formats(word: Option<TextArgument>) -> PyResult<Vec<PyFormat>> {
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
fn notations() -> Vec<(&'static str, &'static str)> {
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
fn add_formats(toml: TextArgument) -> PyResult<Vec<&'static str>> {
    notation::add_formats(&toml.of("toml")?).raised()
}
