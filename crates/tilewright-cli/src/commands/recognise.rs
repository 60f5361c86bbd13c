//! `recognise`: which named formats a layout is.

use serde_json::{Value, json};
use tilewright::{Named, notation::Recognised, recognise};

use super::NO;
use crate::{args::Recognise, exit::ExitCode, failure::Failure, output::Output, spec};

pub(super) fn run(args: &Recognise, out: &mut Output) -> Result<ExitCode, Failure> {
    let named = spec::resolve("SPEC", &args.spec, &args.array)?;
    let found = recognise(&named);
    let text = match &found[..] {
        [] => "no named format\n".to_owned(),
        found => found.iter().map(|one| line(one) + "\n").collect(),
    };
    out.answer(&text, json!({ "layout": named.to_spec(), "formats": values(&named) }))?;
    Ok(if found.is_empty() { ExitCode::from(NO) } else { ExitCode::SUCCESS })
}

/// A name with its other names, and the width of elements where it is not known.
pub(super) fn line(found: &Recognised) -> String {
    let names: Vec<&str> = found.format.aliases.to_vec();
    let others = if names.is_empty() { String::new() } else { format!("  = {}", names.join(", ")) };
    let bits = found.bits.map(|bits| format!("  of {bits}-bit elements")).unwrap_or_default();
    format!("{}{bits}{others}", found.name)
}

/// The names of a layout as JSON.
pub(super) fn values(named: &Named) -> Vec<Value> {
    let one = |found: &Recognised| {
        json!({
            "name": found.name,
            "aliases": found.format.aliases,
            "bits": found.bits,
            "source": found.format.source,
        })
    };
    recognise(named).iter().map(one).collect()
}
