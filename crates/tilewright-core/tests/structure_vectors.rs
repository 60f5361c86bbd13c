//! The recorded cases of the operations of structure, complement, inverses, divisions and products.
//!
//! A row whose `status` is `ok` and whose `form` is `exact` is answered with exactly its text or not at
//! all, for a stated reason; all other answers obey the law of their operation. In compositions, and so
//! in divisions and products, the canonical stride of a mode of extent 1 is 0. The rows answered are
//! counted, so that a refusal too many is seen.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tilewright_core::{Error, IntTuple, Layout, LeftInverse, Slicer, Swizzle, Tiler};

struct Row {
    op: String,
    args: Vec<String>,
    status: String,
    expect: Option<String>,
}

fn rows() -> Vec<Row> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/vectors/algebra.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let row = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let args = value["args"].as_array().unwrap();
        Row {
            op: text("op").unwrap(),
            args: args.iter().map(|arg| arg.as_str().unwrap().to_owned()).collect(),
            status: text("status").unwrap(),
            expect: text("expect"),
        }
    };
    text.lines().map(row).collect()
}

fn layout(text: &str) -> Layout {
    Layout::parse(text).unwrap()
}

fn tuple(text: &str) -> IntTuple {
    IntTuple::parse(text).unwrap()
}

/// The parts of `<a,b,c>`, at the commas outside of brackets.
fn tilers(text: &str) -> Vec<(Option<Layout>, bool)> {
    let inner = text.trim_start_matches('<').trim_end_matches('>');
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for c in inner.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if c == ',' && depth == 0 {
            parts.push(String::new());
        } else {
            parts.last_mut().unwrap().push(c);
        }
    }
    let part = |part: &String| match part.as_str() {
        "_" => (None, true),
        text => (Some(layout(text)), false),
    };
    parts.iter().map(part).collect()
}

fn with_tilers(text: &str, f: impl Fn(&[Tiler<'_>]) -> Result<Layout, Error>) -> Answer {
    let owned = tilers(text);
    let by: Vec<Tiler<'_>> = owned
        .iter()
        .map(|(layout, _)| layout.as_ref().map_or(Tiler::Keep, Tiler::Layout))
        .collect();
    f(&by).map(|layout| layout.to_string())
}

type Answer = Result<String, Error>;

/// What this crate answers; `None` for operations that others check.
fn answer(op: &str, args: &[String]) -> Option<Answer> {
    let a = |i: usize| layout(&args[i]);
    let text = |layout: Result<Layout, Error>| layout.map(|layout| layout.to_string());
    let n = |i: usize| args[i].parse::<u64>().unwrap();
    Some(match op {
        "filter" => text(a(0).filter()),
        "complement" => text(a(0).complement(n(1))),
        "right_inverse" => text(a(0).right_inverse()),
        "left_inverse" => text(a(0).left_inverse()),
        "offsets" => Ok(a(0).to_string()),
        "size" => Ok(a(0).size().to_string()),
        "cosize" => Ok(a(0).cosize().to_string()),
        "idx2crd" => tuple(&args[1]).idx2crd(n(0) as i64).map(|coord| coord.to_string()),
        "crd2idx" => a(1).crd2idx(&tuple(&args[0])).map(|offset| offset.to_string()),
        "compact_col_major" => {
            tuple(&args[0]).compact_col_major().map(|strides| strides.to_string())
        }
        "slice_and_offset" => a(1).slice_and_offset(&Slicer::parse(&args[0]).unwrap()).map(|cut| {
            let plain = cut.with_offset(0).unwrap();
            format!("{plain}+{}", cut.offset())
        }),
        "swizzle" => {
            let swizzle: Swizzle = layout(&format!("{} o {}:1", args[0], args[1])).swizzle();
            let all: Vec<String> = (0..n(1)).map(|x| swizzle.apply(x).to_string()).collect();
            Ok(format!("[{}]", all.join(",")))
        }
        "logical_divide" => text(a(0).logical_divide(&a(1))),
        "logical_divide_tiler" => with_tilers(&args[1], |by| a(0).logical_divide_tiler(by)),
        "zipped_divide" => with_tilers(&args[1], |by| a(0).zipped_divide_tiler(by)),
        "tiled_divide" => with_tilers(&args[1], |by| a(0).tiled_divide_tiler(by)),
        "logical_product" => text(a(0).logical_product(&a(1))),
        "zipped_product" => text(a(0).zipped_product(&a(1))),
        _ => return None,
    })
}

fn image(layout: &Layout) -> Vec<i64> {
    (0..layout.size()).map(|i| layout.offset_of(i).unwrap()).collect()
}

fn set(layout: &Layout) -> BTreeSet<i64> {
    image(layout).into_iter().collect()
}

/// The law of the operation, where the text alone does not decide.
fn obeys(op: &str, args: &[String], answer: &str) -> bool {
    let (a, result) = (layout(&args[0]), layout(answer));
    match op {
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
        "logical_product" | "zipped_product" => {
            let b = layout(&args[1]);
            let injective = [&a, &b].iter().all(|layout| layout.injective() == Ok(true));
            result.size() == a.size() * b.size()
                && (!injective || set(&result).len() as u64 == result.size())
                && result.get(&[0]) == Ok(a)
        }
        _ => false,
    }
}

/// The text with the strides of modes of extent 1 at 0, for the operations that compose.
fn canonical(op: &str, text: &str) -> String {
    if !op.contains("divide") && !op.contains("product") {
        return text.to_owned();
    }
    let layout = layout(text);
    let strides =
        layout.modes().iter().map(|mode| if mode.extent() == 1 { 0 } else { mode.stride() });
    let stride = IntTuple::new(&strides.collect::<Vec<_>>(), layout.profile()).unwrap();
    Layout::from_shape_stride(&layout.shape(), &stride).unwrap().to_string()
}

#[test]
fn every_recorded_row_is_right_or_refused() {
    let (mut wrong, mut refused) = (Vec::new(), 0);
    let mut counts: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for row in rows() {
        let Some(answer) = answer(&row.op, &row.args) else { continue };
        let name = format!("{} {}", row.op, row.status);
        let count = counts.entry(name).or_default();
        count.1 += 1;
        match answer {
            Ok(text) => {
                count.0 += 1;
                let exact = row.status == "ok" && !row.op.ends_with("inverse");
                let right = if exact {
                    canonical(&row.op, row.expect.as_deref().unwrap()) == canonical(&row.op, &text)
                } else {
                    obeys(&row.op, &row.args, &text)
                };
                if !right {
                    wrong.push(format!("{} {:?}: {text}, not {:?}", row.op, row.args, row.expect));
                }
            }
            Err(error) if row.status == "ok" => {
                // Quasi-inverses of what is not injective.
                let text = error.to_string();
                assert!(text.starts_with("not injective"), "{} {:?}: {text}", row.op, row.args);
                refused += 1;
            }
            Err(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    let answered = |name: &str| counts[name];
    for name in
        ["filter", "complement", "offsets", "size", "cosize", "idx2crd", "crd2idx", "swizzle"]
    {
        let (right, all) = answered(&format!("{name} ok"));
        assert_eq!(right, all, "{name}");
    }
    for name in ["right_inverse", "logical_divide", "logical_product", "zipped_product"] {
        let (right, all) = answered(&format!("{name} ok"));
        assert_eq!(right, all, "{name}");
    }
    assert!(refused == 4, "{refused}");
    let total: u32 = counts.values().map(|(right, _)| right).sum();
    assert!(total >= 1976, "{total} {counts:?}");
}
