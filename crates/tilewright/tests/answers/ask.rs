//! One question, answered by the library.

use serde_json::{Value, json};
use tilewright::{
    Explanation, Fill, Named, Place, Spec, compare,
    eval::{self, evaluate},
    infer::{Inference, infer},
    notation, recognise,
    relayout::{Elements, Plan},
};

/// The kinds of questions, in the order of the file.
pub(crate) const KINDS: &[&str] = &[
    "eval",
    "parse",
    "translate",
    "explain",
    "recognise",
    "offset",
    "coord",
    "same",
    "distribution",
    "infer",
    "relayout",
];

/// An answer, or the error as `--json` has it without its message, which may say more tomorrow.
type Answer = Result<Value, Value>;

pub(crate) fn ask(question: &Value) -> Value {
    let answer = match question["ask"].as_str().unwrap() {
        "eval" => evaluated(question),
        "parse" => resolved(question).map(|named| parsed(&named)),
        "translate" => translated(question),
        "explain" => resolved(question).map(|named| json!(Explanation::of(&named).to_string())),
        "recognise" => resolved(question).map(|named| {
            json!(recognise(&named).iter().map(|one| one.name.clone()).collect::<Vec<_>>())
        }),
        "offset" => offset(question),
        "coord" => coord(question),
        "same" => same(question),
        "distribution" => distribution(question),
        "infer" => inferred(question),
        "relayout" => moved(question),
        other => panic!("no question is called {other}"),
    };
    answer.unwrap_or_else(|error| json!({ "error": error }))
}

fn text<'a>(question: &'a Value, name: &str) -> &'a str {
    question[name].as_str().unwrap_or_else(|| panic!("{question}: no {name}"))
}

fn integers(value: &Value) -> Option<Vec<u64>> {
    value.as_array().map(|list| list.iter().map(|one| one.as_u64().unwrap()).collect())
}

fn refused(error: &notation::Error) -> Value {
    json!({ "kind": error.kind(), "span": error.span() })
}

fn core(error: &tilewright::core::Error) -> Value {
    json!({ "kind": error.kind(), "span": null })
}

/// The SPEC under `spec`, with `dims` and `dtype` where they are given.
fn resolved(question: &Value) -> Result<Named, Value> {
    resolve(question, "spec")
}

fn resolve(question: &Value, name: &str) -> Result<Named, Value> {
    let (dims, dtype) = array(question)?;
    let spec = Spec::parse(text(question, name)).map_err(|error| refused(&error))?;
    spec.resolve(dims.as_deref(), dtype).map_err(|error| refused(&error))
}

type Array = (Option<Vec<u64>>, Option<tilewright::Dtype>);

fn array(question: &Value) -> Result<Array, Value> {
    let dtype = question["dtype"].as_str().map(notation::dtype).transpose();
    Ok((integers(&question["dims"]), dtype.map_err(|error| refused(&error))?))
}

fn evaluated(question: &Value) -> Answer {
    let error = |error: eval::Error| json!({ "kind": error.kind(), "span": error.span() });
    evaluate(text(question, "text")).map(|value| json!(value.to_string())).map_err(error)
}

fn parsed(named: &Named) -> Value {
    let layout = named.layout();
    json!({
        "spec": named.to_spec(),
        "dims": layout.extents(),
        "capacity": layout.capacity(),
        "dtype": named.dtype().map(|dtype| dtype.name()),
        "bits": named.element_bits(),
    })
}

fn translated(question: &Value) -> Answer {
    let to = notation::notation(text(question, "to")).map_err(|error| refused(&error))?;
    let named = resolved(question)?;
    to.print(&named).map(|text| json!(text)).map_err(|error| refused(&error))
}

fn offset(question: &Value) -> Answer {
    let named = resolved(question)?;
    let coord = integers(&question["coord"]).unwrap();
    named.layout().offset(&coord).map(|offset| json!(offset)).map_err(|error| core(&error))
}

fn coord(question: &Value) -> Answer {
    let named = resolved(question)?;
    let place = named.layout().locate(question["offset"].as_i64().unwrap());
    Ok(match place.map_err(|error| core(&error))? {
        Place::Element(coord) => json!(coord.as_slice()),
        Place::Padding => json!("padding"),
        Place::OutOfRange => json!("out of range"),
    })
}

fn same(question: &Value) -> Answer {
    let (a, b) = (resolve(question, "a")?, resolve(question, "b")?);
    compare(&a, &b).map(|answer| json!(answer.to_string())).map_err(|error| core(&error))
}

fn distribution(question: &Value) -> Answer {
    let (dims, dtype) = array(question)?;
    let spec = Spec::parse(text(question, "spec")).map_err(|error| refused(&error))?;
    let map = spec.distribution(dims.as_deref(), dtype).map_err(|error| refused(&error))?;
    Ok(json!(map.map(|map| map.to_string())))
}

/// Buffers of single bytes; the answer is a pattern, or the word for none.
fn inferred(question: &Value) -> Answer {
    let bytes = |name: &str| -> Vec<u8> {
        integers(&question[name]).unwrap().into_iter().map(|byte| byte as u8).collect()
    };
    let dims = integers(&question["dims"]).unwrap();
    match infer(&bytes("original"), &dims, &bytes("packed"), 1) {
        Inference::Found(found) => {
            let named = Named::new("", found.layout, None, None, Fill::Unspecified);
            let pattern = notation::notation("pattern").unwrap();
            pattern.print(&named).map(|text| json!(text)).map_err(|error| refused(&error))
        }
        Inference::Ambiguous { .. } => Err(unfound("ambiguous")),
        Inference::None { .. } => Err(unfound("none")),
        Inference::Undecided { .. } => Err(unfound("undecided")),
        _ => unreachable!("no other answer"),
    }
}

fn unfound(kind: &str) -> Value {
    json!({ "kind": kind, "span": null })
}

/// The bytes of `to`, for the dims of `from`, in hexadecimal, where byte i of `from` is 7·i + 1 modulo 256;
/// padding is zero.
fn moved(question: &Value) -> Answer {
    let from = resolve(question, "from")?;
    let to = Spec::parse(text(question, "to")).map_err(|error| refused(&error))?;
    let to = to.resolve(Some(from.layout().extents()), from.dtype());
    let to = to.map_err(|error| refused(&error))?;
    let bits = question["bits"].as_u64().unwrap() as u32;
    let moves = |error: tilewright::relayout::Error| json!({ "kind": error.kind(), "span": null });
    let plan = Plan::new(from.layout(), to.layout(), Elements::same(bits), 0).map_err(moves)?;
    let source: Vec<u8> = (0..plan.src_bytes()).map(|i| (7 * i + 1) as u8).collect();
    let mut out = vec![0; plan.dst_bytes() as usize];
    plan.run(&source, &mut out, 1).map_err(moves)?;
    Ok(json!(out.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
}
