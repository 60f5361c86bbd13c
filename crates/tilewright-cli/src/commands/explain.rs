//! `explain`: what a layout means, in words and numbers.

use std::process::ExitCode;

use serde_json::{Value, json};
use tilewright::Explanation;

use crate::{args::Explain, failure::Failure, output::Output, spec};

pub(super) fn run(args: &Explain, out: &mut Output) -> Result<ExitCode, Failure> {
    let named = spec::resolve("SPEC", &args.spec, &args.array)?;
    let explanation = Explanation::of(&named);
    out.answer(&explanation.to_string(), value(&explanation))?;
    Ok(ExitCode::SUCCESS)
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
        "notations": notations,
    })
}
