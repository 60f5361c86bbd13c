//! `translate`: the same layout in another notation, on one line.

use serde_json::json;
use tilewright::notation::notation;

use crate::{args::Translate, exit::ExitCode, failure::Failure, output::Output, spec};

pub(super) fn run(args: &Translate, out: &mut Output) -> Result<ExitCode, Failure> {
    let notation = notation(&args.to).map_err(|error| Failure::of(error).about("--to"))?;
    let named = spec::resolve("SPEC", &args.spec, &args.array)?;
    let text = notation.print(&named).map_err(|error| Failure::refusal(notation.name(), &error))?;
    let value = json!({
        "notation": notation.name(),
        "text": text,
        "layout": named.to_spec(),
        "dims": named.layout().extents(),
        "dtype": named.dtype().map(|dtype| dtype.to_string()),
    });
    out.answer(&format!("{text}\n"), value)?;
    Ok(ExitCode::SUCCESS)
}
