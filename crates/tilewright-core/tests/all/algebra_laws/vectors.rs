//! The 3,000 recorded operations, with exact totals.
//!
//! A row with a recorded truth (`status` is `ok`, or a composition's exact layout) must have that text as its answer, up to
//! the stride of modes of extent 1, which is 0 in compositions; if only the map counts (`form` is `function`), the law
//! decides. A row without a recorded truth is answered by the law, or refused; if a judge by enumeration has the operation,
//! it agrees that no answer exists.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tilewright_core::{Error, IntTuple, Layout, LeftInverse, Slicer, Swizzle, Tiler};

use crate::algebra_brute::Brute;
use crate::algebra_judge::{Facts, Pairs, Report, one};

struct Row {
    op: String,
    args: Vec<String>,
    /// The right text; `None` if none is known, or no layout exists.
    truth: Option<String>,
    /// Set if the map counts and not the text.
    map: bool,
}

fn rows() -> Vec<Row> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/vectors/algebra.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let row = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        let text = |key: &Value| key.as_str().map(str::to_owned);
        let args = value["args"].as_array().unwrap();
        let op = text(&value["op"]).unwrap();
        let right = if op == "composition" { &value["props"]["exact"] } else { &value["expect"] };
        let known = op == "composition" || value["status"] == "ok";
        Row {
            args: args.iter().map(|arg| arg.as_str().unwrap().to_owned()).collect(),
            truth: text(right).filter(|_| known),
            map: value["form"] == "function",
            op,
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

/// Returns the parts of `<a,b,c>`, split at the commas outside of brackets; `None` for `_`.
fn tilers(text: &str) -> Vec<Option<Layout>> {
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
    parts.iter().map(|part| (part != "_").then(|| layout(part))).collect()
}

fn with_tilers(text: &str, f: impl Fn(&[Tiler<'_>]) -> Result<Layout, Error>) -> Answer {
    let owned = tilers(text);
    let by: Vec<Tiler<'_>> =
        owned.iter().map(|tile| tile.as_ref().map_or(Tiler::Keep, Tiler::Layout)).collect();
    f(&by).map(|layout| layout.to_string())
}

type Answer = Result<String, Error>;

/// Returns the answer of this crate.
fn answer(op: &str, args: &[String]) -> Answer {
    let a = |i: usize| layout(&args[i]);
    let text = |layout: Result<Layout, Error>| layout.map(|layout| layout.to_string());
    let n = |i: usize| args[i].parse::<u64>().unwrap();
    match op {
        "coalesce" => Ok(a(0).coalesce().to_string()),
        "coalesce_profile" => text(a(0).coalesce_by(layout(&args[1]).profile())),
        "composition" => text(a(0).composition(&a(1))),
        "composition_tiler" => with_tilers(&args[1], |by| a(0).composition_tiler(by)),
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
        op => panic!("{op}"),
    }
}

fn image(layout: &Layout) -> Vec<i64> {
    (0..layout.size()).map(|i| layout.offset_of(i).unwrap()).collect()
}

fn set(layout: &Layout) -> BTreeSet<i64> {
    image(layout).into_iter().collect()
}

/// Checks the law of the operation, if no text is known to be right.
fn obeys(op: &str, args: &[String], answer: &str) -> bool {
    let (a, result) = (layout(&args[0]), layout(answer));
    match op {
        "right_inverse" => {
            let back = |i: u64| a.offset_of(result.offset_of(i).unwrap() as u64);
            (0..result.size()).all(|i| back(i) == Ok(i as i64))
        }
        "left_inverse" => {
            let inverse = LeftInverse::of(&a).unwrap();
            (0..a.size()).all(|i| {
                let offset = a.offset_of(i).unwrap();
                let back = result.offset_of(offset as u64).unwrap() as u64;
                a.offset_of(back) == Ok(offset) && inverse.index(offset) == Some(back)
            })
        }
        "composition_tiler" => composes(&a, &args[1]),
        "logical_divide" | "logical_divide_tiler" => set(&a) == set(&result),
        // Rounded up to whole tiles, they may reach further.
        "zipped_divide" | "tiled_divide" => set(&a).is_subset(&set(&result)),
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

/// Returns whether the composition of each axis with its tiler is a layout.
fn composes(a: &Layout, by: &str) -> bool {
    tilers(by).iter().enumerate().all(|(axis, tile)| {
        let alone = a.get(&[axis]).unwrap();
        tile.as_ref().is_none_or(|tile| Brute::default().exists(&alone, tile))
    })
}

/// Returns whether enumeration finds no answer either.
fn nothing_to_answer(op: &str, args: &[String]) -> bool {
    let mut report = Report::default();
    let a = layout(&args[0]);
    let tally = |report: &Report, name: &str| report.0[name].needless == 0;
    match op {
        "complement" | "left_inverse" => {
            one(&mut report, &a);
            tally(&report, if op == "complement" { "complement(L, n)" } else { op })
        }
        "composition" => !Brute::default().exists(&a, &layout(&args[1])),
        "composition_tiler" => !composes(&a, &args[1]),
        "logical_divide" | "logical_product" | "zipped_product" => {
            let both = [&a, &layout(&args[1])].map(Facts::of);
            Pairs::default().judge(&mut report, &both[0], &both[1]);
            tally(&report, op)
        }
        "logical_divide_tiler" | "zipped_divide" | "tiled_divide" => {
            // A kept axis is one that a tile of one coordinate divides.
            let tiles = tilers(&args[1]).into_iter().map(|tile| tile.unwrap_or(layout("1:0")));
            let tiles: Vec<Layout> = tiles.collect();
            let tiles = Layout::from_layouts(&tiles.iter().collect::<Vec<_>>()).unwrap();
            Pairs::default().judge(&mut report, &Facts::of(&a), &Facts::of(&tiles));
            tally(
                &report,
                if op == "logical_divide_tiler" {
                    "logical_divide by mode"
                } else {
                    "zipped_divide by mode"
                },
            )
        }
        _ => false,
    }
}

/// Returns the text with strides of 0 for modes of extent 1, for the operations that compose.
fn canonical(op: &str, text: &str) -> String {
    if !["divide", "product", "composition"].iter().any(|name| op.contains(name)) {
        return text.to_owned();
    }
    let layout = layout(text);
    let strides =
        layout.modes().iter().map(|mode| if mode.extent() == 1 { 0 } else { mode.stride() });
    let stride = IntTuple::new(&strides.collect::<Vec<_>>(), layout.profile()).unwrap();
    Layout::from_shape_stride(&layout.shape(), &stride).unwrap().to_string()
}

/// The numbers of outcomes of rows: the recorded text, another text of the same map, an answer by the law without a
/// recorded text, a refusal without a recorded text, a refusal despite a recorded text.
type Outcomes = [u32; 5];

const OUTCOMES: [(&str, Outcomes); 22] = [
    ("coalesce", [113, 0, 0, 0, 0]),
    ("coalesce_profile", [99, 0, 0, 0, 0]),
    ("compact_col_major", [68, 0, 0, 0, 0]),
    ("complement", [239, 0, 0, 9, 0]),
    ("composition", [416, 0, 0, 59, 0]),
    ("composition_tiler", [126, 0, 1, 5, 0]),
    ("cosize", [79, 0, 0, 0, 0]),
    ("crd2idx", [96, 0, 0, 0, 0]),
    ("filter", [113, 0, 0, 0, 0]),
    ("idx2crd", [92, 0, 0, 0, 0]),
    ("left_inverse", [85, 33, 3, 2, 4]),
    ("logical_divide", [174, 0, 3, 74, 0]),
    ("logical_divide_tiler", [103, 0, 2, 25, 0]),
    ("logical_product", [225, 0, 0, 30, 0]),
    ("offsets", [89, 0, 0, 0, 0]),
    ("right_inverse", [107, 5, 0, 0, 0]),
    ("size", [79, 0, 0, 0, 0]),
    ("slice_and_offset", [55, 0, 0, 0, 0]),
    ("swizzle", [41, 0, 0, 0, 0]),
    ("tiled_divide", [117, 0, 2, 11, 0]),
    ("zipped_divide", [117, 0, 2, 11, 0]),
    ("zipped_product", [78, 0, 0, 8, 0]),
];

fn outcome(row: &Row) -> usize {
    let (op, args) = (&row.op[..], &row.args[..]);
    match (answer(op, args), &row.truth) {
        (Ok(text), Some(truth)) if canonical(op, &text) == canonical(op, truth) => 0,
        (Ok(text), Some(truth)) => {
            assert!(row.map && obeys(op, args, &text), "{op} {args:?}: {text}, not {truth}");
            // An inverse of a longer run, or with other indices at holes; never a shorter one.
            assert!(op == "left_inverse" || layout(&text).size() >= layout(truth).size());
            1
        }
        (Ok(text), None) => {
            assert!(obeys(op, args, &text), "{op} {args:?}: {text}");
            2
        }
        (Err(error), None) => {
            assert!(nothing_to_answer(op, args), "{op} {args:?}: {error}");
            3
        }
        (Err(error), Some(truth)) => {
            // Two coordinates at one offset: no R has R(L(i)) = i, whatever is recorded.
            assert!(error.to_string().starts_with("not injective"), "{op} {args:?}: {truth}");
            assert!(!Facts::of(&layout(&args[0])).apart && nothing_to_answer(op, args));
            4
        }
    }
}

#[test]
fn every_recorded_row_is_counted() {
    let mut counts: BTreeMap<String, Outcomes> = BTreeMap::new();
    for row in rows() {
        counts.entry(row.op.clone()).or_default()[outcome(&row)] += 1;
    }
    let found: Vec<(&str, Outcomes)> = counts.iter().map(|(op, all)| (&op[..], *all)).collect();
    assert_eq!(found, OUTCOMES);
    let all = OUTCOMES
        .iter()
        .fold([0; 5], |all: Outcomes, (_, more)| std::array::from_fn(|i| all[i] + more[i]));
    assert_eq!(all, [2711, 38, 13, 234, 4]);
    assert_eq!(all.iter().sum::<u32>(), 3000);
}
