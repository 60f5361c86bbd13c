//! What a person typed, read: a SPEC or an expression, with dims and an element type.

use serde_json::Value;
use tilewright::{Dtype, Named, Spec, input, notation};

use crate::refusal::Refusal;

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

    pub(crate) fn dtype(self) -> Result<Option<Dtype>, Refusal> {
        let dtype = self.dtype.trim();
        if dtype.is_empty() {
            return Ok(None);
        }
        notation::dtype(dtype).map(Some).map_err(|error| Refusal::layout("dtype", &error))
    }
}

/// Reads a SPEC, or the layout that an expression evaluates to, which `eval:` or its form tells.
pub(crate) fn read(field: &'static str, text: &str) -> Result<Spec, Refusal> {
    input::read(text).map_err(|refusal| match refusal {
        input::Refusal::Layout(error) => Refusal::layout(field, &error),
        input::Refusal::Expression { at, error } => Refusal::expression(field, at, &error),
    })
}

/// Reads a SPEC and resolves it for the array.
pub(crate) fn resolve(field: &'static str, text: &str, array: Array<'_>) -> Result<Named, Refusal> {
    let spec = read(field, text)?;
    let named = spec.resolve(array.dims()?.as_deref(), array.dtype()?);
    named.map_err(|error| Refusal::layout(field, &error))
}

/// Two layouts of one array; what one lacks it takes from the other.
pub(crate) fn both(a: &str, b: &str, array: Array<'_>) -> Result<(Named, Named), Refusal> {
    let (first, second) = (read("a", a)?, read("b", b)?);
    let [a, b] = input::both([&first, &second], array.dims()?.as_deref(), array.dtype()?);
    let refused = |field| move |error| Refusal::layout(field, &error);
    Ok((a.map_err(refused("a"))?, b.map_err(refused("b"))?))
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
    input::integers(text).map_err(|part| {
        let says = "is no integer from 0 to 2^64 - 1; expected a list such as 100,100";
        Refusal::usage(field, format!("`{part}` {says}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Array<'_> = Array { dims: &Value::Null, dtype: "" };

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
