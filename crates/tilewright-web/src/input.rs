//! What a person typed, read: a SPEC or an expression, with dims and an element type.

use serde_json::Value;
use tilewright::{
    Named, PrimitiveType, Spec,
    eval::{is_expression, layout_of},
    notation,
};

use crate::refusal::Refusal;

/// What an expression in place of a SPEC begins with.
const EVAL: &str = "eval:";

/// The array that general SPECs are resolved for: dims as a list or as typed, and what is empty is unknown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Array<'a> {
    pub(crate) dims: &'a Value,
    pub(crate) dtype: &'a str,
}

impl Array<'_> {
    pub(crate) fn dims(self) -> Result<Option<Vec<u64>>, Refusal> {
        let empty = self.dims.as_str().is_none_or(|text| text.trim().is_empty());
        if empty && !self.dims.is_array() {
            return Ok(None);
        }
        integers("dims", self.dims).map(Some)
    }

    pub(crate) fn dtype(self) -> Result<Option<PrimitiveType>, Refusal> {
        let dtype = self.dtype.trim();
        if dtype.is_empty() {
            return Ok(None);
        }
        notation::dtype(dtype).map(Some).map_err(|error| Refusal::layout("dtype", &error))
    }
}

/// Reads a SPEC, or the layout that an expression evaluates to, which `eval:` or its form tells.
pub(crate) fn read(field: &'static str, text: &str) -> Result<Spec, Refusal> {
    let expression = match (text.trim_start().strip_prefix(EVAL), Spec::parse(text)) {
        (Some(expression), _) => expression,
        (None, Err(_)) if is_expression(text) => text,
        (None, spec) => return spec.map_err(|error| Refusal::layout(field, &error)),
    };
    let named = layout_of(expression)
        .map_err(|error| Refusal::expression(field, text.len() - expression.len(), &error))?;
    Spec::parse(&named.to_spec()).map_err(|error| Refusal::layout(field, &error))
}

/// Reads a SPEC and resolves it for the array.
pub(crate) fn resolve(field: &'static str, text: &str, array: Array<'_>) -> Result<Named, Refusal> {
    let spec = read(field, text)?;
    let named = spec.resolve(array.dims()?.as_deref(), array.dtype()?);
    named.map_err(|error| Refusal::layout(field, &error))
}

/// Two layouts of one array: what a SPEC cannot do without, and is not given, it takes from the other.
pub(crate) fn both(a: &str, b: &str, array: Array<'_>) -> Result<(Named, Named), Refusal> {
    let (a, b) = (read("a", a)?, read("b", b)?);
    let (dims, dtype) = (array.dims()?, array.dtype()?);
    let alone = |spec: &Spec| spec.resolve(dims.as_deref(), dtype);
    let (left, right) = (alone(&a), alone(&b));
    let whole = |field, spec: &Spec, own: &Result<Named, _>, other: &Result<Named, _>| {
        let named = match (own, other) {
            (Err(error), Ok(other)) if lacks(error) => {
                let dims = dims.as_deref().unwrap_or_else(|| other.layout().extents());
                spec.resolve(Some(dims), dtype.or(other.dtype()))
            }
            (own, _) => own.clone(),
        };
        named.map_err(|error| Refusal::layout(field, &error))
    };
    Ok((whole("a", &a, &left, &right)?, whole("b", &b, &right, &left)?))
}

fn lacks(error: &notation::Error) -> bool {
    error.needs_dims() || error.needs_dtype()
}

/// Reads a list of integers, or one as a person types it.
pub(crate) fn integers(field: &'static str, value: &Value) -> Result<Vec<u64>, Refusal> {
    let Some(list) = value.as_array() else {
        return typed(field, value.as_str().unwrap_or_default());
    };
    let one = |one: &Value| {
        one.as_u64().ok_or_else(|| Refusal::usage(field, format!("{one} is no integer from 0 on")))
    };
    list.iter().map(one).collect()
}

/// Reads `100,100`, also as `(100,100)` or `[100, 100]`; `()` is the dims of a scalar.
fn typed(field: &'static str, text: &str) -> Result<Vec<u64>, Refusal> {
    let text = text.trim();
    let bracketed = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    let inner = bracketed('(', ')').or_else(|| bracketed('[', ']')).unwrap_or(text).trim();
    let inner = inner.strip_suffix(',').unwrap_or(inner);
    if inner.is_empty() {
        return Ok(Vec::new());
    }
    let one = |part: &str| {
        part.trim().parse().map_err(|_| {
            let part = part.trim();
            let says = format!(
                "`{part}` is no integer from 0 to 2^64 - 1; expected a list such as 100,100"
            );
            Refusal::usage(field, says)
        })
    };
    inner.split(',').map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Array<'_> = Array { dims: &Value::Null, dtype: "" };

    #[test]
    fn lists_of_integers_in_any_brackets() {
        for text in ["1,5", "(1,5)", "[1, 5]", " 1 , 5 ", "(1,5,)"] {
            assert_eq!(typed("dims", text).unwrap(), [1, 5], "{text}");
        }
        assert!(typed("dims", "()").unwrap().is_empty());
        for text in ["1,,5", "x", "-1", "1 5", "99999999999999999999", "(1,5"] {
            assert!(typed("dims", text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_expression_stands_where_a_layout_does() {
        for text in ["eval:(4,8):(8,1) o <2,4>", "composition((4,8):(8,1), <2,4>)"] {
            assert_eq!(resolve("a", text, NONE).unwrap().to_spec(), "(2,4):(8,1)");
        }
        let error = resolve("a", "eval: size(4:1)", NONE).unwrap_err().to_json();
        assert_eq!(error["error"]["span"], serde_json::json!([5, 15]));
    }

    #[test]
    fn each_takes_from_the_other_what_it_lacks() {
        let (a, b) = both("f16[32,48] row-major", "zN", NONE).unwrap();
        assert_eq!((a.layout().extents(), b.layout().capacity()), (&[32, 48][..], 1536));
        let (a, _) = both("col-major", "(2,3):(3,1)", NONE).unwrap();
        assert_eq!(a.layout().extents(), [2, 3]);
        assert_eq!(both("zN", "nZ", NONE).unwrap_err().to_json()["error"]["kind"], "needs-dims");
    }
}
