//! One step of the algebra: its operands, its result, and the links between their cells.

use serde_json::{Value, json};
use tilewright::{
    Error, Layout,
    eval::{self, evaluate, functions, operand_text},
};

use crate::{
    facts,
    links::{Links, Operation, TileOperand},
};

/// Operand as typed, as text that the evaluator reads, and as value.
struct Operand {
    text: String,
    value: eval::Value,
}

/// Returns whether an expression has a picture of its own.
fn is_drawn(text: &str, value: &eval::Value) -> bool {
    let is_map = value.as_linear().is_some() || value.as_basis().is_some();
    is_map || eval::operation(text).is_ok_and(|found| found.is_some())
}

/// Evaluates `op(a, b)`, or `op(a)` if `b` is empty. Without an operation, `a` is any expression.
pub(crate) fn step(op: &str, a: &str, b: &str) -> Result<Value, Error> {
    if op.is_empty() {
        let whole = operand("a", a)?;
        let result = described(&whole.value, None);
        let drawn = is_drawn(&whole.text, &whole.value);
        return Ok(json!({
            "expression": whole.text, "a": null, "b": null, "result": result, "links": null, "drawn": drawn,
        }));
    }
    if !functions().any(|function| function.name() == op) {
        return Err(Error::usage(format!("`{op}` is not a function")).in_field("op"));
    }
    let a = operand("a", a)?;
    let b = if b.trim().is_empty() { None } else { Some(operand("b", b)?) };
    let arguments = b.as_ref().map_or(a.text.clone(), |b| format!("{}, {}", a.text, b.text));
    let expression = format!("{op}({arguments})");
    let result = evaluate(&expression).map_err(|error| error.in_field("result"))?;
    let tile = b.as_ref().and_then(|b| tile(&b.value));
    Ok(json!({
        "drawn": is_drawn(&expression, &result),
        "expression": expression,
        "a": described(&a.value, None),
        "b": b.as_ref().map(|b| described(&b.value, tile.as_ref())),
        "result": described(&result, None),
        "links": links(op, &a.value, b.as_ref(), &result, tile.as_ref()),
    }))
}

/// Reads an operand, which is an expression or a SPEC.
fn operand(field: &'static str, text: &str) -> Result<Operand, Error> {
    let text = text.trim();
    let value = evaluate(text).map_err(|error| error.in_field(field))?;
    Ok(Operand { text: operand_text(text).into_owned(), value })
}

/// Describes a value, with the fields for a picture if it is a layout. `tile` replaces a tiler of extents.
fn described(value: &eval::Value, tile: Option<&Layout>) -> Value {
    let tile = tile.filter(|_| value.as_layout().is_none()).map(Layout::to_string);
    let named = match tile.and_then(|tile| evaluate(&tile).ok()) {
        Some(tile) => tile.to_named(),
        None => value.to_named().filter(|_| value.kind() != "integer"),
    };
    let view = named.as_ref().map(facts::view);
    json!({ "kind": value.kind(), "text": value.to_string(), "view": view })
}

/// Returns the compact layout of the extents of a tiler or shape: the cells of one tile.
fn tile(value: &eval::Value) -> Option<Layout> {
    let shape = match value.kind() {
        "tiler" => value.to_string().replace('<', "(").replace('>', ")"),
        "tuple" | "integer" => value.to_string(),
        _ => return None,
    };
    let shape = evaluate(&shape).ok()?;
    Layout::compact_col_major(shape.as_tuple()?).ok()
}

fn links(
    op: &str,
    a: &eval::Value,
    b: Option<&Operand>,
    result: &eval::Value,
    tile: Option<&Layout>,
) -> Option<Value> {
    let operation = Operation::called(op)?;
    let b = match (b.and_then(|b| b.value.as_layout()), tile) {
        (Some(layout), _) => Some(TileOperand::Layout(layout)),
        (None, Some(tile)) => Some(TileOperand::Extents(tile)),
        (None, None) => None,
    };
    let links = Links::new(operation, a.as_layout()?, b, result.as_layout()?)?;
    Some(json!({ "a": links.a, "b": links.b, "tiles": links.tiles }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright::ask::Answer;

    #[test]
    fn a_step_shows_operands_and_result() {
        let step = step("zipped_divide", "(6,8):(8,1)", "<3,4>").unwrap();
        assert_eq!(step["expression"], "zipped_divide((6,8):(8,1), <3,4>)");
        assert_eq!(step["result"]["text"], "((3,4),(2,2)):((8,1),(24,4))");
        assert_eq!(step["b"]["view"]["dims"], json!([3, 4]));
        assert_eq!(step["links"]["a"].as_array().unwrap().len(), 48);
    }

    #[test]
    fn any_spec_is_an_operand() {
        let step = step("coalesce", "f32[4,8]{1,0}", "").unwrap();
        assert_eq!(step["result"]["text"], "(4,8):(8,1)");
    }

    #[test]
    fn without_an_operation_any_expression_is_a_step() {
        let result = |text| step("", text, "").unwrap()["result"].clone();
        assert_eq!(result("size((4,8):(8,1)) ")["text"], "32");
        let drawn = |text| step("", text, "").unwrap()["drawn"].clone();
        assert_eq!((drawn("size(4:1)"), drawn("4:1 o 2:2")), (json!(false), json!(true)));
        assert_eq!(drawn("make_identity_layout((2,3))"), json!(true));
        assert_eq!(result("(4,8):(8,1) o <2,4>")["view"]["dims"], json!([2, 4]));
        assert!(result("\"f32[3,5]{1,0}\"")["view"].is_object());
        let error = step("", "size((4,8)", "").unwrap_err().to_json();
        assert_eq!(
            (&error["error"]["field"], &error["error"]["span"]),
            (&json!("a"), &json!([10, 10]))
        );
    }

    #[test]
    fn the_operand_at_fault_is_named() {
        let field = |op, a, b| step(op, a, b).unwrap_err().to_json()["error"]["field"].clone();
        assert_eq!(field("composition", "(4,8:1", "2:1"), "a");
        assert_eq!(field("composition", "4:1", "2:x"), "b");
        assert_eq!(field("logical_divide", "10:1", "12:1"), "result");
        assert_eq!(field("nothing", "10:1", "12:1"), "op");
    }
}
