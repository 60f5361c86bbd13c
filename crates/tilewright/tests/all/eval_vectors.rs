//! The recorded operations of the algebra, each evaluated as the text of an expression.
//!
//! The answer to a row that is `ok` and `exact` is its text, up to our canonical form (the stride of a mode of extent 1 is 0 in
//! results of composition). A row of a composition is decided by the layout that exists, or by the absence of one. All other rows
//! are decided by the law of their operation, or by an error.

use std::collections::BTreeSet;

use serde_json::Value;
use tilewright::{
    Layout,
    eval::evaluate,
    layouts::{IntTuple, LeftInverse},
};

fn rows() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/vectors/algebra.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn args(row: &Value) -> Vec<&str> {
    row["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect()
}

fn op(row: &Value) -> &str {
    row["op"].as_str().unwrap()
}

/// Returns the row as an expression.
fn expression(row: &Value) -> String {
    let function = match op(row) {
        "offsets" => return args(row)[0].to_owned(),
        "coalesce_profile" => "coalesce",
        op => op.strip_suffix("_tiler").unwrap_or(op),
    };
    format!("{function}({})", args(row).join(", "))
}

fn layout(text: &str) -> Layout {
    Layout::parse(text).unwrap()
}

fn image(layout: &Layout) -> Vec<i64> {
    (0..layout.size()).map(|i| layout.offset_of(i).unwrap()).collect()
}

/// Returns the text with stride 0 for every mode of extent 1.
fn canonical(text: &str) -> String {
    let layout = layout(text);
    let strides = layout.modes().iter().map(|m| if m.extent() == 1 { 0 } else { m.stride() });
    let stride = IntTuple::new(&strides.collect::<Vec<_>>(), layout.profile()).unwrap();
    Layout::from_shape_stride(&layout.shape(), &stride).unwrap().to_string()
}

fn composes(op: &str) -> bool {
    ["composition", "divide", "product"].iter().any(|word| op.contains(word))
}

/// Checks the law of the operation, for rows whose text does not decide.
fn obeys(row: &Value, answer: &str) -> bool {
    let args = args(row);
    let (a, result) = (layout(args[0]), layout(answer));
    let set = |layout: &Layout| image(layout).into_iter().collect::<BTreeSet<i64>>();
    match op(row) {
        "right_inverse" => (0..result.size())
            .all(|i| a.offset_of(result.offset_of(i).unwrap() as u64) == Ok(i as i64)),
        "left_inverse" => {
            let inverse = LeftInverse::of(&a).unwrap();
            (0..a.size()).all(|i| {
                let offset = a.offset_of(i).unwrap();
                let back = result.offset_of(offset as u64).unwrap() as u64;
                a.offset_of(back) == Ok(offset) && inverse.index(offset) == Some(back)
            })
        }
        "logical_divide" | "logical_divide_tiler" | "zipped_divide" | "tiled_divide" => {
            set(&a) == set(&result)
        }
        "composition_tiler" if a.rank() == 1 => {
            let tile = image(&layout(args[1].trim_matches(['<', '>'])));
            image(&result).iter().eq(tile
                .iter()
                .map(|&i| a.offset_of(i as u64).unwrap())
                .collect::<Vec<_>>()
                .iter())
        }
        _ => false,
    }
}

/// Returns whether the answer agrees with the row. An error is `Err` with its kind.
fn right(row: &Value, answer: &Result<String, &'static str>) -> bool {
    let existing = &row["props"]["exact"];
    match (row["status"].as_str().unwrap(), answer) {
        (_, answer) if op(row) == "composition" => match (existing.as_str(), answer) {
            (Some(exact), Ok(text)) => canonical(text) == canonical(exact),
            (None, Err(kind)) => *kind == "no-layout",
            (Some(_), Err(_)) | (None, Ok(_)) => false,
        },
        ("ok", Ok(text)) => {
            let expected = row["expect"].as_str().unwrap();
            let exact =
                text == expected || composes(op(row)) && canonical(text) == canonical(expected);
            exact || row["form"] == "function" && obeys(row, text)
        }
        // A quasi-inverse of a layout that is not injective does not invert it.
        ("ok", Err(kind)) => {
            op(row) == "left_inverse" && *kind == "illegal" && row["props"]["injective"] == false
        }
        (_, Ok(text)) => obeys(row, text),
        (_, Err(_)) => true,
    }
}

#[test]
fn every_recorded_operation() {
    let (mut wrong, mut refused, rows) = (Vec::new(), 0, rows());
    for row in &rows {
        let text = expression(row);
        let answer = evaluate(&text).map(|value| value.to_string()).map_err(|error| error.kind());
        refused += usize::from(row["status"] == "ok" && answer.is_err());
        if !right(row, &answer) {
            wrong.push(format!("{text}: {answer:?}, not {}", row["expect"]));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!((rows.len(), refused), (3000, 4));
}

/// Texts of CuTe's C++ and the output of compiled CuTe for them. If ours differs, `own` is ours and `why` the reason.
#[test]
fn texts_of_cute_mean_what_compiled_cute_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/vectors/cute_texts.jsonl");
    let rows = std::fs::read_to_string(path).unwrap();
    let (mut as_cute, mut other) = (0, 0);
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let text = row["text"].as_str().unwrap();
        let differs = row.get("own").is_some();
        assert_eq!(differs, row["why"].is_string(), "{text}");
        let expected = if differs { &row["own"] } else { &row["cute"] };
        let answer = evaluate(text).map(|value| value.to_string());
        assert_eq!(answer.as_deref().ok(), expected.as_str(), "{text}: {answer:?}");
        *if differs { &mut other } else { &mut as_cute } += 1;
    }
    assert!(as_cute > 490 && other < 40, "{as_cute} {other}");
}
