//! `verify`: a converted file against the file it was made from.

use tilewright::{ask::Verified, files::verify};

use crate::{args::Verify, exit::ExitCode, failure::Failure, output::Output, progress::Bar};

pub(super) fn run(args: &Verify, quiet: bool, out: &mut Output) -> Result<ExitCode, Failure> {
    let request = super::request(&args.job)?;
    let bar = Bar::new(quiet || out.is_json());
    let verdict = bar.outcome(verify(&args.output, &args.against, &request, &bar))?;
    Ok(out.say(&Verified(verdict))?)
}
