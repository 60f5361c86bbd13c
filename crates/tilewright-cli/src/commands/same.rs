//! `same`: whether two layouts are the same map.

use std::process::ExitCode;

use serde_json::json;
use tilewright::{Comparison, Named, Spec, compare, notation};

use super::NO;
use crate::{args::Same, failure::Failure, output::Output, spec};

/// A SPEC resolved, or why not.
type Outcome = Result<Named, notation::Error>;

pub(super) fn run(args: &Same, quiet: bool, out: &mut Output) -> Result<ExitCode, Failure> {
    let (a, b) = both(args)?;
    let answer = compare(&a, &b)?;
    let value = match &answer {
        Comparison::Same { notes } => json!({ "same": true, "notes": notes }),
        Comparison::Differ(found) => json!({
            "same": false,
            "coord": found.coord.as_slice(),
            "left": found.left,
            "right": found.right,
        }),
        Comparison::Extents { left, right } => json!({
            "same": false,
            "extents": [left.as_slice(), right.as_slice()],
        }),
    };
    if let (Comparison::Same { notes }, false, false) = (&answer, quiet, out.is_json()) {
        notes.iter().for_each(|note| eprintln!("note: {note}"));
    }
    out.answer(&format!("{answer}\n"), value)?;
    let same = matches!(answer, Comparison::Same { .. });
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::from(NO) })
}

/// Both layouts. What a SPEC cannot do without, and neither itself nor the command line says, it takes
/// from the other; nothing else, for what a concrete SPEC says of its elements is no part of the map.
fn both(args: &Same) -> Result<(Named, Named), Failure> {
    let (a, b) = (spec::read("A", &args.a)?, spec::read("B", &args.b)?);
    let (dims, dtype) = (args.array.dims()?, args.array.dtype()?);
    let alone = |spec: &Spec| spec.resolve(dims.as_deref(), dtype);
    let (left, right) = (alone(&a), alone(&b));
    let whole = |what: &str, spec: &Spec, own: &Outcome, other: &Outcome| match (own, other) {
        (Err(error), Ok(other)) if error.needs_dims() || error.needs_dtype() => {
            let dims = dims.as_deref().or(Some(other.layout().extents()));
            spec::with(what, spec, dims, dtype.or(other.dtype()))
        }
        (own, _) => own.clone().map_err(|error| Failure::layout(what, &error)),
    };
    Ok((whole("A", &a, &left, &right)?, whole("B", &b, &right, &left)?))
}
