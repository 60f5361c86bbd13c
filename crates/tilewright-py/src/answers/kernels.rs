//! Answers for authors of kernels: layouts as code, bank conflicts of shared memory, and the smallest change that
//! removes them.

use pyo3::{prelude::*, types::PyString};
use tilewright::{
    Error,
    ask::{Answer as _, BankConflicts},
    banks::machine,
    emit::{Style, Width, digits_of},
};

use super::drawing::PyDrawing;
use crate::{
    arguments::{
        Integer, Integers, TextArgument,
        ask::{dtype_of, resolve, spec_of},
        given, html, text,
    },
    errors::Raised,
    values::PyTensorLayout,
};

/// The bank conflicts of an array in shared memory; ``str()`` gives the page that ``tilewright banks`` prints.
#[pyclass(name = "BankConflicts", module = "tilewright", frozen)]
pub(crate) struct PyBankConflicts(BankConflicts);

#[pymethods]
impl PyBankConflicts {
    /// The cycles in addition to one per turn, over all accesses.
    #[getter]
    fn conflicts(&self) -> u64 {
        self.0.conflicts()
    }

    /// The largest number of cycles of a turn of each access, in the given order; 1 means no conflicts.
    #[getter]
    fn degrees(&self) -> Vec<u64> {
        self.0.accesses.iter().map(|(_, count)| count.degree).collect()
    }

    /// The layout after the smallest change that removes all conflicts; None if it was not requested, or does not exist.
    #[getter]
    fn fixed(&self) -> Option<PyTensorLayout> {
        self.0.fixed().map(PyTensorLayout)
    }

    /// Returns everything as the dict that ``tilewright banks --json`` prints.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = PyString::new(py, &self.0.to_json().to_string());
        py.import("json")?.call_method1("loads", (text,))
    }

    /// Draws the bank of each element, with the threads that wait for each other marked, before and after the fix.
    fn draw(&self) -> PyDrawing {
        PyDrawing::of_conflicts(&self.0)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<BankConflicts: {}>", self.0.conflicts())
    }

    /// Returns the page, and the banks as a picture.
    fn _repr_html_(&self) -> String {
        format!("<pre>{}</pre>{}", html(&self.0.to_string()), self.draw().part())
    }
}

/// Counts the bank conflicts of an array in shared memory. ``access`` gives the elements of each thread, as one text or several:
/// ``row``, ``column``, ``ldmatrix.x4``, ``stmatrix``, a format of fragments such as ``MMA_M16N8K16_16BIT_A``, a layout that
/// distributes an array over threads such as ``#ttg.blocked<{…}>``, or a layout of threads and values; ``write`` before it marks
/// a write. ``vector`` is the number of bytes that a thread accesses at once. ``banks`` is ``nvidia``, ``cdna3``, ``cdna4`` or a
/// text such as ``32x4``. With ``fix``, the smallest swizzle and the smallest padding are found that remove the conflicts of all
/// accesses.
///
/// Raises ``ArgumentError`` if an access is invalid, or does not fit this layout.
///
/// >>> from tilewright import bank_conflicts
/// >>> found = bank_conflicts("f32[32,32] row-major", ["write row", "column"], fix=True)
/// >>> found.degrees
/// [1, 32]
/// >>> found.fixed
/// TensorLayout('f32[32,32] Sw<5,0,5> o (32,32):(32,1)')
#[pyfunction]
#[pyo3(signature = (layout, access, /, *, vector = None, banks = None, fix = false, dims = None, dtype = None), text_signature = "(layout, access, /, *, vector=None, banks='nvidia', fix=False, dims=None, dtype=None)")]
#[allow(clippy::too_many_arguments, reason = "keywords of Python, each with a default")]
pub(crate) fn bank_conflicts(
    layout: &Bound<'_, PyAny>,
    access: &Bound<'_, PyAny>,
    vector: Option<Integer<u64>>,
    banks: Option<TextArgument>,
    fix: bool,
    dims: Option<Integers>,
    dtype: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyBankConflicts> {
    let dims = Integers::given("dims", dims)?;
    let dtype = dtype.map(dtype_of).transpose()?;
    let layout = resolve("layout", layout, dims.as_deref(), dtype)?;
    let texts = match access.is_instance_of::<PyString>() {
        true => vec![text("access", access)?],
        false => access
            .try_iter()?
            .map(|one| text("access", &one?))
            .collect::<PyResult<Vec<String>>>()?,
    };
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let banks = TextArgument::given("banks", banks)?;
    let banks = machine(banks.as_deref().unwrap_or("nvidia")).raised()?;
    let vector = given("vector", vector)?;
    BankConflicts::of(&layout, &texts, vector, &banks, fix).raised().map(PyBankConflicts)
}

/// Returns the offset function of a layout as code, or with ``inverse`` the coordinate at an offset: in ``c``, ``cuda``,
/// ``rust``, ``python``, ``triton`` or ``mlir``. ``dims`` are numbers and names, such as ``("M", 64)``; names become arguments of
/// the function, and ``assume`` states their divisors.
///
/// >>> import tilewright as tw
/// >>> print(tw.emit("zN", to="python", dims=("M", "N"), dtype="f16", assume=["M % 16 == 0"]))
/// def offset(i0, i1, M, N):
///     return i0 * 16 + (i1 & 15) + (i1 >> 4) * (M * 16)
/// <BLANKLINE>
/// >>> names = {}
/// >>> exec(tw.emit("(3,5):(8,1)", to="python", inverse=True), names)
/// >>> names["coord"](17), names["coord"](7)
/// ((2, 1), None)
#[pyfunction]
#[pyo3(signature = (spec, /, to = "c", *, dims = None, dtype = None, inverse = false, assume = None, name = None, bits = 64))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn emit(
    spec: &Bound<'_, PyAny>,
    to: &str,
    dims: Option<&Bound<'_, PyAny>>,
    dtype: Option<&Bound<'_, PyAny>>,
    inverse: bool,
    assume: Option<&Bound<'_, PyAny>>,
    name: Option<String>,
    bits: u32,
) -> PyResult<String> {
    let bits = match bits {
        32 => Width::Bits32,
        64 => Width::Bits64,
        _ => {
            let said = format!("{bits}: expected 32 or 64");
            return Err(Error::usage(said).in_field("bits")).raised();
        }
    };
    let dims = dims.map(texts).transpose()?;
    let dtype = dtype.map(dtype_of).transpose()?;
    let assume = assume.map_or(Ok(Vec::new()), facts)?;
    let known: Vec<&str> = assume.iter().map(String::as_str).collect();
    let digits = digits_of(&spec_of("spec", spec)?, dims.as_deref(), dtype, &known).raised()?;
    let code = || -> Result<String, Error> {
        let function = if inverse { digits.coord()? } else { digits.offset()? };
        function.print(to.parse()?, &Style { name, bits })
    };
    code().raised()
}

/// Returns one fact or several as a list.
fn facts(assume: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if assume.is_instance_of::<PyString>() {
        return Ok(vec![assume.extract()?]);
    }
    assume.extract()
}

/// Returns extents as text, from a text or a list of numbers and names.
fn texts(dims: &Bound<'_, PyAny>) -> PyResult<String> {
    if dims.is_instance_of::<PyString>() {
        return dims.extract();
    }
    let words: PyResult<Vec<String>> =
        dims.try_iter()?.map(|extent| Ok(extent?.str()?.to_string())).collect();
    Ok(words?.join(","))
}
