//! `same`: whether two layouts are the same map.

use std::process::ExitCode;

use serde_json::json;
use tilewright::{Comparison, Named, compare};

use super::NO;
use crate::{args::Same, failure::Failure, output::Output, spec};

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

/// Both layouts. Where `--dims` or `--dtype` are not given, a general SPEC takes those of the other.
fn both(args: &Same) -> Result<(Named, Named), Failure> {
    let (a, b) = (spec::read("A", &args.a)?, spec::read("B", &args.b)?);
    let (dims, dtype) = (args.array.dims()?, args.array.dtype()?);
    if a.is_concrete() || dims.is_some() {
        let a = spec::with("A", &a, dims.as_deref(), dtype)?;
        let dims = if b.is_concrete() { dims } else { Some(a.layout().extents().to_vec()) };
        let b = spec::with("B", &b, dims.as_deref(), dtype.or(a.dtype()))?;
        return Ok((a, b));
    }
    let b = spec::with("B", &b, None, dtype)?;
    let a = spec::with("A", &a, Some(b.layout().extents()), dtype.or(b.dtype()))?;
    Ok((a, b))
}
