//! What a person typed, read: a SPEC or an expression in its place, two layouts of one array, a list of integers.

use tilewright_core::Dtype;
use tilewright_notation::{self as notation, Named, Spec};

use crate::eval::{self, is_expression, layout_of};

/// What an expression in place of a SPEC may begin with.
const EVAL: &str = "eval:";

/// Why a text is no layout.
///
/// ```
/// use tilewright::input::{Refusal, read};
/// assert!(matches!(read("row-mayor"), Err(Refusal::Layout(_))));
/// assert!(matches!(read("eval: size(4:1)"), Err(Refusal::Expression { at: 5, .. })));
/// ```
#[derive(Clone, Debug)]
pub enum Refusal {
    /// No SPEC.
    Layout(notation::Error),
    /// An expression without a layout for its value.
    Expression {
        /// The byte of the text that the expression begins at.
        at: usize,
        /// What is wrong with it; spans count from there.
        error: eval::Error,
    },
}

/// Reads a SPEC, or the layout that an expression evaluates to, which `eval:` or its form tells.
///
/// # Errors
/// As [`Spec::parse`] and [`layout_of`].
///
/// ```
/// use tilewright::input::read;
/// let spec = |text| read(text).unwrap().resolve(None, None).unwrap().to_spec();
/// assert_eq!(spec("f32[2,3]{1,0}"), "f32[2,3]{1,0}");
/// assert_eq!(spec("composition((4,8):(8,1), <2,4>)"), "(2,4):(8,1)");
/// assert_eq!(spec("eval:(4,8):(8,1) o <2,4>"), "(2,4):(8,1)");
/// ```
pub fn read(text: &str) -> Result<Spec, Refusal> {
    let Some(expression) = expression(text) else {
        return Spec::parse(text).map_err(Refusal::Layout);
    };
    let at = text.len() - expression.len();
    let named = layout_of(expression).map_err(|error| Refusal::Expression { at, error })?;
    Spec::parse(&named.to_spec()).map_err(Refusal::Layout)
}

/// The expression that a text is instead of a SPEC: the end of the text.
///
/// ```
/// use tilewright::input::expression;
/// assert_eq!(expression("eval: size(4:1)"), Some(" size(4:1)"));
/// assert_eq!(expression("coalesce(4:1)"), Some("coalesce(4:1)"));
/// assert_eq!(expression("row-major"), None);
/// ```
pub fn expression(text: &str) -> Option<&str> {
    match text.trim_start().strip_prefix(EVAL) {
        None => (Spec::parse(text).is_err() && is_expression(text)).then_some(text),
        expression => expression,
    }
}

/// Two layouts of one array. What a SPEC cannot do without, and is not given, it takes from the other; nothing
/// else, for what a concrete SPEC says of its elements is no part of the map.
///
/// # Errors
/// As [`Spec::resolve`], for each.
///
/// ```
/// use tilewright::{Spec, input::both};
/// let [rows, zn] = ["f16[32,48] row-major", "zN"].map(|text| Spec::parse(text).unwrap());
/// let [rows, zn] = both([&rows, &zn], None, None).map(Result::unwrap);
/// assert_eq!((rows.layout().extents(), zn.layout().capacity()), (&[32, 48][..], 1536));
/// ```
pub fn both(
    specs: [&Spec; 2],
    dims: Option<&[u64]>,
    dtype: Option<Dtype>,
) -> [Result<Named, notation::Error>; 2] {
    let alone = specs.map(|spec| spec.resolve(dims, dtype));
    [0, 1].map(|side| match (&alone[side], &alone[1 - side]) {
        (Err(error), Ok(other)) if error.needs_dims() || error.needs_dtype() => {
            let dims = dims.or(Some(other.layout().extents()));
            specs[side].resolve(dims, dtype.or(other.dtype()))
        }
        (own, _) => own.clone(),
    })
}

/// Reads `100,100`, also as `(100,100)` or `[100, 100]`; `()` are the dims of a scalar.
///
/// # Errors
/// The first part that is no integer from 0 to 2⁶⁴ − 1.
///
/// ```
/// use tilewright::input::integers;
/// for text in ["1,5", "(1,5)", "[1, 5]", " 1 , 5 ", "(1,5,)"] {
///     assert_eq!(integers(text), Ok(vec![1, 5]));
/// }
/// assert_eq!((integers(""), integers("()")), (Ok(vec![]), Ok(vec![])));
/// assert_eq!(integers("1,,5"), Err(""));
/// for text in ["x", "-1", "1 5", "99999999999999999999", "(1,5"] {
///     assert!(integers(text).is_err());
/// }
/// ```
pub fn integers(text: &str) -> Result<Vec<u64>, &str> {
    let text = text.trim();
    let bracketed = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    let inner = bracketed('(', ')').or_else(|| bracketed('[', ']')).unwrap_or(text).trim();
    let inner = inner.strip_suffix(',').unwrap_or(inner);
    if inner.is_empty() {
        return Ok(Vec::new());
    }
    inner.split(',').map(|part| part.trim().parse().map_err(|_| part.trim())).collect()
}
