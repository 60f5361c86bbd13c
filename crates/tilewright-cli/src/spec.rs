//! A SPEC on the command line, with `--dims` and `--dtype`.

use tilewright::{
    Named, PrimitiveType, Spec,
    eval::{is_expression, layout_of},
    notation,
};

use crate::{args::Array, failure::Failure};

/// What an expression in place of a SPEC begins with.
const EVAL: &str = "eval:";

/// A SPEC resolved, or why not.
type Outcome = Result<Named, notation::Error>;

/// Reads a SPEC, or the layout an expression evaluates to, which `eval:` or its form tells; `what` names
/// the argument in errors.
pub(crate) fn read(what: &str, text: &str) -> Result<Spec, Failure> {
    let Some(expression) = expression(text) else {
        return Spec::parse(text).map_err(|error| Failure::layout(what, &error));
    };
    let named = layout_of(expression)
        .map_err(|error| Failure::expression(text.len() - expression.len(), &error))?;
    Spec::parse(&named.to_spec()).map_err(|error| Failure::layout(what, &error))
}

/// The expression that a text is instead of a SPEC, a part of it.
pub(crate) fn expression(text: &str) -> Option<&str> {
    match text.trim_start().strip_prefix(EVAL) {
        None => (Spec::parse(text).is_err() && is_expression(text)).then_some(text),
        expression => expression,
    }
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
    dtype: Option<PrimitiveType>,
) -> Result<Named, Failure> {
    spec.resolve(dims, dtype).map_err(|error| Failure::layout(what, &error))
}

/// Two layouts, A and B. What a SPEC cannot do without, and neither itself nor the command line says, it
/// takes from the other; nothing else, for what a concrete SPEC says of its elements is no part of the map.
pub(crate) fn both(a: &str, b: &str, array: &Array) -> Result<(Named, Named), Failure> {
    let (a, b) = (read("A", a)?, read("B", b)?);
    let (dims, dtype) = (array.dims()?, array.dtype()?);
    let alone = |spec: &Spec| spec.resolve(dims.as_deref(), dtype);
    let (left, right) = (alone(&a), alone(&b));
    let whole = |what: &str, spec: &Spec, own: &Outcome, other: &Outcome| match (own, other) {
        (Err(error), Ok(other)) if error.needs_dims() || error.needs_dtype() => {
            let dims = dims.as_deref().or(Some(other.layout().extents()));
            with(what, spec, dims, dtype.or(other.dtype()))
        }
        (own, _) => own.clone().map_err(|error| Failure::layout(what, &error)),
    };
    Ok((whole("A", &a, &left, &right)?, whole("B", &b, &right, &left)?))
}

impl Array {
    /// The dims of `--dims`; `--dims ''` is a scalar.
    pub(crate) fn dims(&self) -> Result<Option<Vec<u64>>, Failure> {
        self.dims.as_deref().map(|text| integers("--dims", text)).transpose()
    }

    /// The element type of `--dtype`.
    pub(crate) fn dtype(&self) -> Result<Option<PrimitiveType>, Failure> {
        let dtype = self.dtype.as_deref().map(notation::dtype).transpose();
        dtype.map_err(|error| Failure::layout("--dtype", &error))
    }
}

/// Reads `100,100`, also as `(100,100)` or `[100, 100]`.
pub(crate) fn integers(what: &str, text: &str) -> Result<Vec<u64>, Failure> {
    let inner = text.trim();
    let inner = inner
        .strip_prefix('(')
        .and_then(|inner| inner.strip_suffix(')'))
        .or_else(|| inner.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')))
        .unwrap_or(inner)
        .trim();
    let inner = inner.strip_suffix(',').unwrap_or(inner);
    if inner.is_empty() {
        return Ok(Vec::new());
    }
    let one = |part: &str| {
        part.trim().parse().map_err(|_| {
            let part = part.trim();
            Failure::usage(format!("{what} {text}: `{part}` is no integer from 0 to 2^64 - 1; expected a list such as 100,100"))
        })
    };
    inner.split(',').map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_integers() {
        for text in ["1,5", "(1,5)", "[1, 5]", " 1 , 5 ", "(1,5,)"] {
            assert_eq!(integers("--coord", text).unwrap(), [1, 5], "{text}");
        }
        assert!(integers("--dims", "").unwrap().is_empty());
        assert!(integers("--dims", "()").unwrap().is_empty());
        for text in ["1,,5", "x", "-1", "1 5", "99999999999999999999", "(1,5"] {
            assert!(integers("--dims", text).is_err(), "{text}");
        }
    }
}
