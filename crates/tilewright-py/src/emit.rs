//! Layouts as code.

use pyo3::{prelude::*, types::PyString};
use tilewright::{
    Error,
    emit::{Style, Width, digits_of},
};

use crate::{
    errors::Raised,
    spec::{dtype_of, spec_of},
};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(emit, module)?)
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
fn emit(
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
