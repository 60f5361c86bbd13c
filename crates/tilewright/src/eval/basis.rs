//! Maps to coordinates: their strides as text, and functions of layouts applied to each of their parts.
//!
//! A map with basis strides is a layout for each part of a coordinate, all over one shape. A function that only chooses and
//! arranges coordinates of its first argument, such as `zipped_divide`, therefore acts on each part.
//! Law: `f(M, …)` at a coordinate is the tuple of the parts `f(M.part(i), …)` there.

use tilewright_core::{BasisLayout, IntTuple, Layout};

use super::{
    functions::{Argument, Call, Refusal},
    parser::{Expr, Node},
    value::Form,
};
use crate::Error;

/// The functions that only choose and arrange coordinates.
const BY_PARTS: [&str; 12] = [
    "A o B",
    "composition",
    "coalesce",
    "logical_divide",
    "zipped_divide",
    "tiled_divide",
    "flat_divide",
    "flatten",
    "get",
    "select",
    "take",
    "group",
];

/// Returns the map of the answers for each part of a map in the first argument; `None` for other arguments and functions.
pub(super) fn by_parts(
    name: &str,
    arguments: &[Argument],
    span: (usize, usize),
    run: fn(&Call<'_>) -> Result<Form, Refusal>,
) -> Option<Result<Form, Refusal>> {
    let Form::Basis(map) = &arguments.first()?.form else { return None };
    BY_PARTS.contains(&name).then(|| {
        let mut parts = Vec::new();
        for part in (0..map.components()).map_while(|i| map.part(i)) {
            let mut own = arguments.to_vec();
            own[0].form = Form::Layout(Box::new(part));
            match run(&Call::new(name, &own, span))? {
                Form::Layout(part) => parts.push(*part),
                _ => return Call::new(name, arguments, span).is_not(0, "a layout"),
            }
        }
        joined(map, &parts)
    })
}

/// The map whose parts are these layouts, at the places of the parts of `map`.
fn joined(map: &BasisLayout, parts: &[Layout]) -> Result<Form, Refusal> {
    let shape = parts.first().map_or_else(|| map.shape().clone(), Layout::shape);
    if parts.iter().any(|part| part.shape() != shape) {
        let message = "the parts of this map get different shapes".to_owned();
        return Err(Refusal::Said("unsupported", message));
    }
    let stride = |leaf: usize| {
        let terms = parts.iter().enumerate().filter_map(|(i, part)| {
            let stride = part.modes().get(leaf)?.stride();
            let path = map.path(i)?.iter().rev().map(|step| format!("@{step}"));
            (stride != 0).then(|| format!("{stride}{}", path.collect::<String>()))
        });
        let terms: Vec<String> = terms.collect();
        if terms.is_empty() { "0".to_owned() } else { terms.join("+") }
    };
    let strides: Vec<String> = (0..shape.values().len())
        .map(|leaf| {
            let (opened, closed) = shape.profile().brackets(leaf).unwrap_or((0, 0));
            "(".repeat(opened) + &stride(leaf) + &")".repeat(closed)
        })
        .collect();
    parsed(&shape, &strides.join(",")).map_err(|message| Refusal::Said("unsupported", message))
}

/// The strides of a layout whose strides name bases, as core reads them; `None` where none does.
pub(super) fn strides(expr: &Expr<'_>) -> Result<Option<String>, Error> {
    if expr.names_basis() { text(expr).map(Some) } else { Ok(None) }
}

fn text(expr: &Expr<'_>) -> Result<String, Error> {
    let parts = match &expr.node {
        Node::Unit { value, path } => return Ok(format!("{value}{path}")),
        Node::Integer(value) => return Ok(value.to_string()),
        Node::Tuple(parts) => parts.as_slice(),
        Node::Group(inner) => std::slice::from_ref(&**inner),
        _ => return Err(Error::parse(expr.span, "expected a stride such as `E<0>` or `1@0`")),
    };
    let parts: Result<Vec<String>, Error> = parts.iter().map(text).collect();
    Ok(format!("({})", parts?.join(",")))
}

/// The map of this shape with these strides, or what core says of them.
pub(super) fn parsed(shape: &IntTuple, strides: &str) -> Result<Form, String> {
    let map = BasisLayout::parse(&format!("{shape}:{strides}"));
    map.map(|map| Form::Basis(Box::new(map))).map_err(|error| error.to_string())
}
