//! `verify`: a converted file against the file it was made from.

use std::process::ExitCode;

use serde_json::json;
use tilewright::files::{Request, Verdict, verify};

use super::NO;
use crate::{args::Verify, failure::Failure, output::Output, progress::Bar, size, spec};

pub(super) fn run(args: &Verify, quiet: bool, out: &mut Output) -> Result<ExitCode, Failure> {
    let request = request(args)?;
    let bar = Bar::new(quiet || out.is_json());
    let verdict = verify(&args.output, &args.against, &request, &bar);
    bar.finish();
    match verdict? {
        Verdict::Same { bytes } => {
            let text = format!("same: {} compared\n", size::words(bytes));
            out.answer(&text, json!({ "same": true, "bytes": bytes }))?;
            Ok(ExitCode::SUCCESS)
        }
        Verdict::Differs(difference) => {
            let value = json!({ "same": false, "difference": difference });
            out.answer(&format!("differ: {difference}\n"), value)?;
            Ok(ExitCode::from(NO))
        }
    }
}

fn request(args: &Verify) -> Result<Request, Failure> {
    let mut request = Request::new().memory(size::read("--memory", &args.memory)?);
    if let Some(to) = &args.to {
        request = request.to(spec::read("--to", to)?);
    }
    if let Some(from) = &args.from {
        request = request.from(spec::read("--from", from)?);
    }
    if let Some(fill) = &args.fill {
        request = request.fill(super::fill(fill)?);
    }
    super::of_array(request, &args.array)
}
