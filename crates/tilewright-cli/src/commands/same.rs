//! `same`: whether two layouts are the same map.

use serde_json::json;
use tilewright::{Comparison, compare};

use super::NO;
use crate::{
    args::Same,
    exit::ExitCode,
    failure::Failure,
    output::{Output, complain},
    spec,
};

pub(super) fn run(args: &Same, quiet: bool, out: &mut Output) -> Result<ExitCode, Failure> {
    let (a, b) = spec::both(&args.a, &args.b, &args.array)?;
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
        notes.iter().for_each(|note| complain(&format!("note: {note}\n")));
    }
    out.answer(&format!("{answer}\n"), value)?;
    let same = matches!(answer, Comparison::Same { .. });
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::from(NO) })
}
