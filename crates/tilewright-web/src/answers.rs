//! The questions of `corpus/answers.jsonl`, which Rust, Python and the page answer alike, and the lists of
//! what there is.

use serde_json::{Value, json};
use tilewright::{
    Explanation, Fill, Named, Place, Spec, compare,
    eval::{self, evaluate},
    infer::{Inference, infer},
    json,
    notation::{catalogue, notation, notations as all_notations},
    recognise,
    relayout::{self, Elements, Plan},
};

use crate::{input::Array, refusal::Refusal};

pub(crate) type Answer = Result<Value, Refusal>;

/// The value of an expression, as text.
pub(crate) fn eval(text: &str) -> Answer {
    let value = evaluate(text).map_err(|error| Refusal::expression("text", 0, &error))?;
    Ok(json!(value.to_string()))
}

/// A SPEC read: its whole text and what is known of the array.
pub(crate) fn parse(named: &Named) -> Value {
    let layout = named.layout();
    json!({
        "spec": named.to_spec(),
        "dims": layout.extents(),
        "capacity": layout.capacity(),
        "dtype": named.dtype().map(|dtype| dtype.name()),
        "bits": named.element_bits(),
    })
}

/// A layout in one other notation.
pub(crate) fn translate(named: &Named, to: &str) -> Answer {
    let notation = notation(to).map_err(|error| Refusal::layout("to", &error))?;
    notation.print(named).map(Value::from).map_err(|error| Refusal::layout("spec", &error))
}

/// The page of text.
pub(crate) fn explain(named: &Named) -> Value {
    json!(Explanation::of(named).to_string())
}

/// The names of a layout.
pub(crate) fn recognised(named: &Named) -> Value {
    recognise(named).iter().map(|one| one.name.clone()).collect()
}

/// The offset of a coordinate, in elements.
pub(crate) fn offset(named: &Named, coord: &[u64]) -> Answer {
    let offset = named.layout().offset(coord);
    offset.map(Value::from).map_err(|error| Refusal::core("coord", &error))
}

/// What lies at an offset.
pub(crate) fn coord(named: &Named, offset: i64) -> Answer {
    let place = named.layout().locate(offset).map_err(|error| Refusal::core("offset", &error))?;
    Ok(match place {
        Place::Element(coord) => json!(coord.as_slice()),
        Place::Padding => json!("padding"),
        Place::OutOfRange => json!("out of range"),
    })
}

/// Whether two layouts are one map, in words.
pub(crate) fn same(a: &Named, b: &Named) -> Answer {
    let compared = compare(a, b).map_err(|error| Refusal::core("b", &error))?;
    Ok(json!(compared.to_string()))
}

/// Which element each place of each thread holds.
pub(crate) fn distribution(spec: &str, array: &Array<'_>) -> Answer {
    let (dims, dtype) = (array.dims()?, array.dtype()?);
    let refused = |error| Refusal::layout("spec", &error);
    let map = Spec::parse(spec).map_err(refused)?.distribution(dims.as_deref(), dtype);
    Ok(json!(map.map_err(refused)?.map(|map| map.to_string())))
}

/// The pattern that maps one buffer of bytes to another.
pub(crate) fn inferred(original: &[u8], dims: &[u64], packed: &[u8]) -> Answer {
    let (kind, why) = match infer(original, dims, packed, 1) {
        Inference::Found(found) => {
            let named = Named::new("", found.layout, None, None, Fill::Unspecified);
            return translate(&named, "pattern");
        }
        Inference::Ambiguous { why, .. } => ("ambiguous", why),
        Inference::None { why } => ("none", why),
        Inference::Undecided { why } => ("undecided", why),
        _ => ("undecided", "an answer this page does not know".into()),
    };
    Err(Refusal::of(kind, "packed", why))
}

/// The most bytes that are moved for an answer.
const MAX_BYTES: u128 = 1 << 20;

/// The bytes of `to`, in hexadecimal, where byte i of `from` is 7·i + 1 modulo 256 and padding is 0.
///
/// The plan says whether it can be done and how much it is. Then every element is moved by itself: a page
/// moves nobody's data, and the kernels would be a third of its size.
pub(crate) fn moved(from: &Named, to: &Named, bits: u32) -> Answer {
    let refused = |error: relayout::Error| Refusal::of(error.kind(), "to", error.to_string());
    let plan = Plan::new(from.layout(), to.layout(), Elements::same(bits), 0).map_err(refused)?;
    if u128::from(plan.src_bytes()) + u128::from(plan.dst_bytes()) > MAX_BYTES {
        return Err(Refusal::usage("to", format!("more than {MAX_BYTES} bytes to move")));
    }
    let source: Vec<u8> = (0..plan.src_bytes()).map(|i| (7 * i + 1) as u8).collect();
    let mut out = vec![0u8; plan.dst_bytes() as usize];
    for (coord, at) in from.layout().in_order() {
        let offset = to.layout().offset(coord.as_slice());
        let goes = offset.map_err(|error| Refusal::core("to", &error))?;
        copy_bits(&source, at, &mut out, goes, bits as usize);
    }
    Ok(json!(out.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
}

/// Copies the element at one offset to another; the first bits of a byte are its lowest.
fn copy_bits(source: &[u8], at: i64, out: &mut [u8], goes: i64, bits: usize) {
    let first = |offset: i64| usize::try_from(offset).unwrap_or(usize::MAX).saturating_mul(bits);
    let (at, goes) = (first(at), first(goes));
    for bit in 0..bits {
        let (read, write) = (at.saturating_add(bit), goes.saturating_add(bit));
        if let (Some(from), Some(to)) = (source.get(read / 8), out.get_mut(write / 8)) {
            *to |= (from >> (read % 8) & 1) << (write % 8);
        }
    }
}

/// The catalogue.
pub(crate) fn formats() -> Value {
    catalogue().map(json::format).collect()
}

/// Every notation a layout is read from or printed in.
pub(crate) fn notations() -> Value {
    all_notations().iter().map(|one| json!({ "name": one.name(), "about": one.about() })).collect()
}

/// Every function of expressions.
pub(crate) fn functions() -> Value {
    eval::functions().map(json::function).collect()
}
