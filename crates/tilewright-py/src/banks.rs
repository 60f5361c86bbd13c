//! Bank conflicts of shared memory, and the smallest change that removes them.

use pyo3::{prelude::*, types::PyString};
use tilewright::{
    ask::{Answer as _, BankConflicts},
    banks::machine,
};

use crate::{
    drawing::PyDrawing,
    errors::Raised,
    integer::{Integer, Integers, given},
    spec::{dtype_of, resolve},
    spelling::html,
    text::{TextArgument, text},
    values::PyTensorLayout,
};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyBankConflicts>()?;
    module.add_function(wrap_pyfunction!(bank_conflicts, module)?)
}

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
fn bank_conflicts(
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
