//! A SPEC on the command line, with `--dims` and `--dtype`.

use tilewright::{
    Dtype, Named, Spec,
    core::ByteOrder,
    input::{self, Refusal},
    notation,
};

use crate::{args::Array, failure::Failure};

/// Reads a SPEC, or the layout an expression evaluates to, which `eval:` or its form tells; `what` names
/// the argument in errors.
pub(crate) fn read(what: &str, text: &str) -> Result<Spec, Failure> {
    input::read(text).map_err(|refusal| match refusal {
        Refusal::Layout(error) => Failure::of(error).about(what),
        refusal @ Refusal::Expression { .. } => Failure::of(refusal),
    })
}

/// Reads a SPEC and gives it the dims and dtype of the command line.
pub(crate) fn resolve(what: &str, text: &str, array: &Array) -> Result<Named, Failure> {
    let spec = read(what, text)?;
    with(what, &spec, array.dims()?.as_deref(), array.dtype()?)
}

pub(crate) fn with(
    what: &str,
    spec: &Spec,
    dims: Option<&[u64]>,
    dtype: Option<Dtype>,
) -> Result<Named, Failure> {
    spec.resolve(dims, dtype).map_err(|error| Failure::of(error).about(what))
}

/// Two layouts, A and B; what one lacks it takes from the other.
pub(crate) fn both(a: &str, b: &str, array: &Array) -> Result<(Named, Named), Failure> {
    let (first, second) = (read("A", a)?, read("B", b)?);
    let [a, b] = input::both([&first, &second], array.dims()?.as_deref(), array.dtype()?);
    let refused = |what| move |error| Failure::of(error).about(what);
    Ok((a.map_err(refused("A"))?, b.map_err(refused("B"))?))
}

impl Array {
    /// The dims of `--dims`; `--dims ''` is a scalar.
    pub(crate) fn dims(&self) -> Result<Option<Vec<u64>>, Failure> {
        self.dims.as_deref().map(|text| integers("--dims", text)).transpose()
    }

    /// The element type of `--dtype`, of bytes: also `>f4`, whose highest byte comes first.
    pub(crate) fn dtype_in_order(&self) -> Result<Option<(Dtype, Option<ByteOrder>)>, Failure> {
        let dtype = self.dtype.as_deref().map(notation::dtype_in_order).transpose();
        dtype.map_err(|error| Failure::of(error).about("--dtype"))
    }

    /// The element type of `--dtype`.
    pub(crate) fn dtype(&self) -> Result<Option<Dtype>, Failure> {
        let dtype = self.dtype.as_deref().map(notation::dtype).transpose();
        dtype.map_err(|error| Failure::of(error).about("--dtype"))
    }
}

/// Reads `100,100`, also as `(100,100)` or `[100, 100]`.
pub(crate) fn integers(what: &str, text: &str) -> Result<Vec<u64>, Failure> {
    input::integers(text).map_err(|part| {
        Failure::usage(format!(
            "{what} {text}: `{part}` is no integer from 0 to 2^64 - 1; expected a list such as 100,100"
        ))
    })
}
