//! Answers as JSON, for the program and the page alike; `docs/json.md` lists the fields.

use serde_json::{Map, Value, json};
use tilewright_notation::Format;
use tilewright_xla::shape_util::{PaddingAdvice, PaddingCause};

use crate::{
    eval::Function,
    explain::{Axis, Explanation},
};

/// The fields of `explain`. Extents count coordinates, strides and capacities elements.
///
/// ```
/// use tilewright::{Explanation, Spec, json::explanation};
/// let named = Spec::parse("f32[3,5]{1,0:T(2,2)}")?.resolve(None, None)?;
/// let json = explanation(&Explanation::of(&named));
/// assert_eq!((&json["capacity"], &json["axes"][0]["padded"]), (&24.into(), &4.into()));
/// assert_eq!(json["notations"]["cute"]["text"], "((2,2),(2,3)):((2,12),(1,4)) valid (3,5)");
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn explanation(explanation: &Explanation) -> Value {
    let notations = explanation.notations.iter().map(|(name, text)| match text {
        Ok(text) => ((*name).to_owned(), json!({ "text": text })),
        Err(reason) => ((*name).to_owned(), json!({ "refused": reason })),
    });
    json!({
        "layout": explanation.name,
        "dtype": explanation.dtype,
        "element_bits": explanation.element_bits,
        "dims": explanation.dims,
        "size": explanation.size,
        "cosize": explanation.cosize,
        "capacity": explanation.capacity,
        "bytes": explanation.bytes.and_then(|bytes| u64::try_from(bytes).ok()),
        "padding": explanation.padding,
        "contiguous_run": explanation.contiguous_run,
        "injective": explanation.injective.as_ref().ok(),
        "exhaustive": explanation.exhaustive,
        "true_rank": explanation.true_rank,
        "axes": explanation.axes.iter().map(axis).collect::<Vec<_>>(),
        "order": explanation.order.to_string(),
        "why_padded": explanation.advice.as_ref().map(|advice| json!({
            "factor": advice.factor.ratio(),
            "causes": advice.causes.iter().map(padding_cause).collect::<Vec<_>>(),
            "better": least_padding(advice),
        })),
        "notations": notations.collect::<Map<_, _>>(),
    })
}

fn axis(axis: &Axis) -> Value {
    let digits = axis.digits.iter().map(|mode| (mode.extent(), mode.stride()));
    json!({
        "letter": axis.letter,
        "extent": axis.extent,
        "padded": axis.padded,
        "digits": digits.collect::<Vec<_>>(),
    })
}

/// One reason for padding.
///
/// ```
/// use tilewright::{json::padding_cause, xla::ArrayShape};
/// let array = ArrayShape::parse("f32[3,5]{1,0:T(2,2)}")?;
/// let advice = array.layout_or_default().padding_advice(&[3, 5])?;
/// let json = padding_cause(&advice.causes[0]);
/// assert!(json["padded"].as_u64() > json["extent"].as_u64());
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn padding_cause(cause: &PaddingCause) -> Value {
    json!({
        "dims": cause.dims,
        "extent": cause.extent,
        "padded": cause.padded,
        "tile": cause.tile.as_ref().map(|(_, _, tile)| tile.to_string()),
        "text": cause.to_string(),
    })
}

/// The layout that pads least; null if it is this one or was not decided.
///
/// ```
/// use tilewright::{json::least_padding, xla::ArrayShape};
/// let array = ArrayShape::parse("f32[8,100,3]{2,1,0:T(8,128)}")?;
/// let advice = array.layout_or_default().padding_advice(&[8, 100, 3])?;
/// assert_eq!(least_padding(&advice)["layout"], "{1,0,2:T(8,128)}");
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn least_padding(advice: &PaddingAdvice) -> Value {
    let better = advice.better.as_ref().ok().and_then(Option::as_ref);
    let one = |(layout, factor): &(_, tilewright_xla::shape_util::Factor)| json!({ "layout": ToString::to_string(layout), "factor": factor.ratio() });
    better.map_or(Value::Null, one)
}

/// A named format of the catalogue.
///
/// ```
/// use tilewright::{json::format, notation::catalogue};
/// let zn = catalogue().find(|format| format.name == "zN").unwrap();
/// assert_eq!(format(zn)["pattern"], "… (m1 m0:16) (n1 n0:C0) -> … n1 m1 m0 n0");
/// ```
pub fn format(format: &Format) -> Value {
    let constants = format.constants.iter().map(|constant| {
        let by_bits = constant.units.iter().map(|one| (one.bits.to_string(), json!(one.units)));
        let presets: Vec<&str> = constant.presets.iter().map(|preset| preset.name).collect();
        let by_bits: Map<_, _> = by_bits.collect();
        json!({ "name": constant.name, "by_bits": by_bits, "presets": presets })
    });
    let widths = format.widths.iter();
    let widths = widths.map(|one| json!({ "bits": one.bits, "pattern": one.pattern }));
    json!({
        "name": format.name,
        "aliases": format.aliases,
        "pattern": format.pattern,
        "widths": widths.collect::<Vec<_>>(),
        "constants": constants.collect::<Vec<_>>(),
        "source": format.source,
        "example": format.example,
        "leading": format.leading,
    })
}

/// A function of expressions.
///
/// ```
/// use tilewright::{eval::functions, json::function};
/// let complement = functions().find(|one| one.name() == "complement").unwrap();
/// assert_eq!(function(&complement)["arguments"], "L[, n]");
/// ```
pub fn function(function: &Function) -> Value {
    json!({ "name": function.name(), "arguments": function.arguments(), "doc": function.doc() })
}
