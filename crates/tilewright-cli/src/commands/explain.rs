//! `explain`: what a layout means, in words and numbers.

use serde_json::{Value, json};
use tilewright::{
    Explanation,
    xla::shape_util::{PaddingAdvice, PaddingCause},
};

use crate::{args::Explain, exit::ExitCode, failure::Failure, output::Output, spec};

pub(super) fn run(args: &Explain, out: &mut Output) -> Result<ExitCode, Failure> {
    let named = spec::resolve("SPEC", &args.spec, &args.array)?;
    let explanation = Explanation::of(&named);
    out.answer(&explanation.to_string(), value(&explanation))?;
    Ok(ExitCode::SUCCESS)
}

/// One reason for padding.
pub(super) fn cause(cause: &PaddingCause) -> Value {
    json!({
        "dims": cause.dims,
        "extent": cause.extent,
        "padded": cause.padded,
        "tile": cause.tile.as_ref().map(|(_, _, tile)| tile.to_string()),
        "text": cause.to_string(),
    })
}

/// The layout that pads least; null if it is this one or was not decided.
pub(super) fn better(advice: &PaddingAdvice) -> Value {
    let better = advice.better.as_ref().ok().and_then(Option::as_ref);
    json!(
        better.map(
            |(layout, factor)| json!({ "layout": layout.to_string(), "factor": factor.ratio() })
        )
    )
}

fn value(explanation: &Explanation) -> Value {
    let notations: serde_json::Map<String, Value> = explanation
        .notations
        .iter()
        .map(|(name, text)| match text {
            Ok(text) => ((*name).to_owned(), json!({ "text": text })),
            Err(reason) => ((*name).to_owned(), json!({ "refused": reason })),
        })
        .collect();
    let axes: Vec<Value> = explanation
        .axes
        .iter()
        .map(|axis| {
            let digits: Vec<_> = axis.digits.iter().map(|mode| [mode.extent() as i64, mode.stride()]).collect();
            json!({ "letter": axis.letter, "extent": axis.extent, "padded": axis.padded, "digits": digits })
        })
        .collect();
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
        "axes": axes,
        "order": explanation.order.to_string(),
        "why_padded": explanation.advice.as_ref().map(|advice| json!({
            "factor": advice.factor.ratio(),
            "causes": advice.causes.iter().map(cause).collect::<Vec<_>>(),
            "better": better(advice),
        })),
        "notations": notations,
    })
}
