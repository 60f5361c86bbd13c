//! `verify`: a converted file against the file it was made from.

use serde_json::json;
use tilewright::files::{Verdict, verify};

use super::NO;
use crate::{
    args::Verify,
    exit::ExitCode,
    failure::Failure,
    output::{Output, printable},
    progress::Bar,
    size,
};

pub(super) fn run(args: &Verify, quiet: bool, out: &mut Output) -> Result<ExitCode, Failure> {
    let request = super::request(&args.job)?;
    let bar = Bar::new(quiet || out.is_json());
    match bar.outcome(verify(&args.output, &args.against, &request, &bar))? {
        Verdict::Same { bytes } => {
            let text = format!("same: {} compared\n", size::words(bytes));
            out.answer(&text, json!({ "same": true, "bytes": bytes }))?;
            Ok(ExitCode::SUCCESS)
        }
        Verdict::Differs(difference) => {
            let value = json!({ "same": false, "difference": difference });
            out.answer(&format!("differ: {}\n", printable(&difference)), value)?;
            Ok(ExitCode::from(NO))
        }
    }
}
