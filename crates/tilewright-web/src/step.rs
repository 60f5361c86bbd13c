//! One step of the algebra: its operands, its result, and the links from the cells of the result to those of the operands.
//!
//! Cells are numbered colexicographically, the first axis fastest, as CuTe numbers them.

use serde_json::{Value, json};
use tilewright::{
    Error, Layout,
    eval::{self, evaluate, functions, operand_text},
};

use crate::view;

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
    let view = named.as_ref().map(view::view);
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

/// The largest number of cells of a result that is linked.
const MAX_CELLS: u64 = 1 << 14;

/// Operations whose cells are linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A(B(i)).
    Composition,
    /// Tiles of A, each axis separate.
    DivideAxes,
    /// Tiles of A, with all axes of a tile first.
    Divide,
    /// A, repeated according to B.
    Product,
    /// A, repeated axis by axis according to B, with each copy contiguous.
    Blocked,
    /// A, repeated axis by axis according to B, with the copies interleaved.
    Raked,
    /// A in another form, with the same map.
    Form,
    /// An inverse of A.
    Inverse,
}

/// Right operand: a layout, or a shape of tiles as its compact layout.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TileOperand<'a> {
    Layout(&'a Layout),
    Extents(&'a Layout),
}

impl Operation {
    pub(crate) fn called(name: &str) -> Option<Operation> {
        Some(match name {
            "composition" => Operation::Composition,
            "logical_divide" => Operation::DivideAxes,
            "zipped_divide" | "tiled_divide" | "flat_divide" => Operation::Divide,
            "logical_product" | "zipped_product" | "tiled_product" | "flat_product" => {
                Operation::Product
            }
            "blocked_product" => Operation::Blocked,
            "raked_product" => Operation::Raked,
            "coalesce" | "flatten" => Operation::Form,
            "right_inverse" | "left_inverse" => Operation::Inverse,
            _ => return None,
        })
    }
}

/// For each cell of the result, its cell of A, its cell of B, and the number of its tile or copy of A; -1 if there is none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Links {
    pub(crate) a: Vec<i64>,
    pub(crate) b: Vec<i64>,
    pub(crate) tiles: Vec<i64>,
}

impl Links {
    /// Returns the links of `result`, unless it is too large.
    pub(crate) fn new(
        operation: Operation,
        a: &Layout,
        b: Option<TileOperand<'_>>,
        result: &Layout,
    ) -> Option<Links> {
        if result.size() > MAX_CELLS {
            return None;
        }
        let mut links = Links { a: Vec::new(), b: Vec::new(), tiles: Vec::new() };
        for i in 0..result.size() {
            let (left, right) = cell(operation, a, b, result, i);
            let copies =
                matches!(operation, Operation::Product | Operation::Blocked | Operation::Raked);
            links.a.push(number(left));
            links.b.push(number(right));
            links.tiles.push(number(if copies { right } else { rest(operation, b, result, i) }));
        }
        Some(links)
    }
}

fn number(cell: Option<u64>) -> i64 {
    cell.and_then(|cell| i64::try_from(cell).ok()).unwrap_or(-1)
}

type CellPair = (Option<u64>, Option<u64>);

fn cell(
    operation: Operation,
    a: &Layout,
    b: Option<TileOperand<'_>>,
    result: &Layout,
    i: u64,
) -> CellPair {
    let tile = b.map(|(TileOperand::Layout(tile) | TileOperand::Extents(tile))| tile);
    let size = |layout: Option<&Layout>| layout.map_or(1, Layout::size).max(1);
    match operation {
        Operation::Composition if matches!(b, Some(TileOperand::Extents(_))) => {
            (source(a, result, i), tile.map(|_| i))
        }
        Operation::Composition => {
            let from = tile.and_then(|b| b.offset_of(i).ok()).and_then(|at| u64::try_from(at).ok());
            (from.filter(|&from| from < a.size()), tile.map(|_| i))
        }
        Operation::DivideAxes if matches!(b, Some(TileOperand::Extents(_))) => {
            (source(a, result, i), tile.map(|tile| within(tile, result, i)))
        }
        Operation::DivideAxes | Operation::Divide => {
            (source(a, result, i), tile.map(|tile| i % tile.size().max(1)))
        }
        Operation::Product => (Some(i % size(Some(a))), tile.map(|_| i / size(Some(a)))),
        Operation::Blocked => by_axis(a, tile, result, i, false),
        Operation::Raked => by_axis(a, tile, result, i, true),
        Operation::Form => (Some(i), None),
        Operation::Inverse => {
            let from = result.offset_of(i).ok().and_then(|at| u64::try_from(at).ok());
            let back = |from: &u64| a.offset_of(*from).ok() == i64::try_from(i).ok();
            (from.filter(back), None)
        }
    }
}

/// Returns the number of the tile that contains cell `i` of a division.
fn rest(operation: Operation, b: Option<TileOperand<'_>>, result: &Layout, i: u64) -> Option<u64> {
    match (operation, b?) {
        (Operation::DivideAxes, TileOperand::Extents(tile)) => {
            let (sizes, own) = (sizes(result), sizes(tile));
            let extents = own.into_iter().chain(std::iter::repeat(1));
            let pairs: Vec<(u64, u64)> = sizes.iter().copied().zip(extents).collect();
            let counts: Vec<u64> =
                pairs.iter().map(|(size, extent)| size.div_ceil(*extent.max(&1))).collect();
            let coord = coord(i, &sizes);
            let tiles = coord.iter().zip(&pairs).map(|(x, (_, extent))| x / extent.max(&1));
            Some(index(tiles, &counts))
        }
        (
            Operation::DivideAxes | Operation::Divide,
            TileOperand::Layout(tile) | TileOperand::Extents(tile),
        ) => Some(i / tile.size().max(1)),
        _ => None,
    }
}

/// Returns the cell of A with the offset of cell `i` of the result.
fn source(a: &Layout, result: &Layout, i: u64) -> Option<u64> {
    let coord = a.locate(result.offset_of(i).ok()?).ok()??;
    Some(index(coord.as_slice().iter().copied(), &sizes(a)))
}

/// Returns the position of cell `i` of the result within its tile of extents.
fn within(tile: &Layout, result: &Layout, i: u64) -> u64 {
    let extents = sizes(tile);
    let coord = coord(i, &sizes(result));
    index(coord.iter().zip(&extents).map(|(x, extent)| x % extent.max(&1)), &extents)
}

/// Returns the cells of a product that is made axis by axis; `raked` axes count B first.
fn by_axis(a: &Layout, b: Option<&Layout>, result: &Layout, i: u64, raked: bool) -> CellPair {
    let Some(b) = b else { return (None, None) };
    let (a, b) = (sizes(a), sizes(b));
    let coord = coord(i, &sizes(result));
    let size = |sizes: &[u64], axis: usize| sizes.get(axis).copied().unwrap_or(1).max(1);
    let digits = |axis: usize, x: u64| {
        if raked {
            (x / size(&b, axis), x % size(&b, axis))
        } else {
            (x % size(&a, axis), x / size(&a, axis))
        }
    };
    let (left, right): (Vec<u64>, Vec<u64>) =
        coord.iter().enumerate().map(|(axis, &x)| digits(axis, x)).unzip();
    (Some(index(left.into_iter(), &a)), Some(index(right.into_iter(), &b)))
}

fn sizes(layout: &Layout) -> Vec<u64> {
    (0..layout.rank()).map_while(|axis| layout.axis_size(axis)).collect()
}

fn coord(i: u64, sizes: &[u64]) -> Vec<u64> {
    let digit = |rest: &mut u64, size: &u64| {
        let x = *rest % size.max(&1);
        *rest /= size.max(&1);
        Some(x)
    };
    sizes.iter().scan(i, digit).collect()
}

fn index(coord: impl Iterator<Item = u64>, sizes: &[u64]) -> u64 {
    let weights = sizes.iter().scan(1, |weight, size| {
        let own = *weight;
        *weight *= size;
        Some(own)
    });
    coord.zip(weights).map(|(x, weight)| x * weight).sum()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use tilewright::{ask::Answer, eval::evaluate};

    use super::*;

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

    fn layout(text: &str) -> Layout {
        evaluate(text).unwrap().as_layout().unwrap().clone()
    }

    /// Returns the links of `op(a, b)`, and its result.
    fn linked(op: &str, a: &Layout, b: &str) -> Option<(Links, Layout)> {
        let result = evaluate(&format!("{op}({a}, {b})")).ok()?.as_layout()?.clone();
        let extents = b.replace('<', "(").replace('>', ")");
        let extents = evaluate(&extents).unwrap();
        let tile = extents.as_tuple().map(|shape| Layout::compact_col_major(shape).unwrap());
        let right = tile.clone().unwrap_or_else(|| layout(b));
        let right =
            if tile.is_some() { TileOperand::Extents(&right) } else { TileOperand::Layout(&right) };
        let links = Links::new(Operation::called(op)?, a, Some(right), &result)?;
        Some((links, result))
    }

    const LEFT: [&str; 6] =
        ["(6,8):(8,1)", "(6,8):(1,6)", "((2,3),8):((1,16),2)", "24:1", "(4,6):(7,1)", "12:3"];

    #[test]
    fn cells_of_divisions_and_compositions_have_their_offset() {
        let mut linked_cells = 0;
        for a in LEFT.map(layout) {
            for op in
                ["composition", "logical_divide", "zipped_divide", "tiled_divide", "flat_divide"]
            {
                for b in ["<3,4>", "<2,2>", "4:1", "4:2", "(2,3):(1,4)", "6:1"] {
                    let Some((links, result)) = linked(op, &a, b) else { continue };
                    for (i, &from) in links.a.iter().enumerate().filter(|(_, from)| **from >= 0) {
                        let offset = result.offset_of(i as u64).unwrap();
                        assert_eq!(a.offset_of(from as u64).unwrap(), offset, "{op} {a} {b} {i}");
                        linked_cells += 1;
                    }
                }
            }
        }
        assert!(linked_cells > 2000, "{linked_cells}");
    }

    #[test]
    fn cells_of_one_tile_are_one_cell_of_the_tile_each() {
        for op in ["logical_divide", "zipped_divide", "tiled_divide", "flat_divide"] {
            let (links, _) = linked(op, &layout("(6,8):(8,1)"), "<3,4>").unwrap();
            let count = |cell| links.b.iter().filter(|&&b| b == cell).count();
            assert!((0..12).all(|cell| count(cell) == 4), "{op}");
        }
        // The tile's second cell is its second row: offset 8.
        let (links, result) = linked("logical_divide", &layout("(6,8):(8,1)"), "<3,4>").unwrap();
        let cell = (0..48).find(|&i| result.offset_of(i) == Ok(8)).unwrap();
        assert_eq!(links.b[cell as usize], 1);
    }

    #[test]
    fn tiles_of_a_division_are_equal_parts_with_each_cell_of_the_tile_once() {
        for op in ["logical_divide", "zipped_divide", "tiled_divide", "flat_divide"] {
            let (links, _) = linked(op, &layout("(6,8):(8,1)"), "<3,4>").unwrap();
            let mut tiles = HashMap::<i64, Vec<i64>>::new();
            for (&tile, &cell) in links.tiles.iter().zip(&links.b) {
                tiles.entry(tile).or_default().push(cell);
            }
            assert_eq!(tiles.len(), 4, "{op}");
            for cells in tiles.values_mut() {
                cells.sort_unstable();
                assert_eq!(*cells, (0..12).collect::<Vec<_>>(), "{op}");
            }
            // A's cells (0,0) and (2,3) are in one tile, (3,3) is in another.
            let of = |cell| links.tiles[links.a.iter().position(|&a| a == cell).unwrap()];
            assert!(of(0) == of(2 + 3 * 6) && of(0) != of(3 + 3 * 6), "{op}");
        }
        let (links, _) = linked("composition", &layout("(6,8):(8,1)"), "<3,4>").unwrap();
        assert!(links.tiles.iter().all(|&tile| tile == -1));
    }

    #[test]
    fn cells_of_products_are_a_cell_of_a_and_a_place_by_b() {
        for op in [
            "logical_product",
            "zipped_product",
            "tiled_product",
            "flat_product",
            "blocked_product",
            "raked_product",
        ] {
            for (a, b) in [("(2,3):(1,2)", "(2,2):(1,2)"), ("(2,2):(2,1)", "(3,4):(4,1)")] {
                let a = layout(a);
                let (links, result) = linked(op, &a, b).unwrap();
                let mut places = HashMap::new();
                for (i, (&from, &of)) in links.a.iter().zip(&links.b).enumerate() {
                    let rest =
                        result.offset_of(i as u64).unwrap() - a.offset_of(from as u64).unwrap();
                    assert_eq!(*places.entry(of).or_insert(rest), rest, "{op} {a} {b} {i}");
                }
                assert_eq!(places.len() as u64, layout(b).size());
            }
        }
    }

    #[test]
    fn inverses_point_back_and_forms_stay() {
        let a = layout("(3,4):(4,1)");
        let inverse = layout("right_inverse((3,4):(4,1))");
        let links = Links::new(Operation::Inverse, &a, None, &inverse).unwrap();
        assert!(
            links.a.iter().enumerate().all(|(i, &from)| a.offset_of(from as u64) == Ok(i as i64))
        );
        let links = Links::new(Operation::Form, &a, None, &a).unwrap();
        assert_eq!(links.a, (0..12).collect::<Vec<_>>());
    }
}
