//! `explain`: what a layout means, in words and numbers.

use tilewright::{Explanation, json};

use crate::{args::Explain, exit::ExitCode, failure::Failure, output::Output, spec};

pub(super) fn run(args: &Explain, out: &mut Output) -> Result<ExitCode, Failure> {
    let named = spec::resolve("SPEC", &args.spec, &args.array)?;
    let explanation = Explanation::of(&named);
    out.answer(&explanation.to_string(), json::explanation(&explanation))?;
    Ok(ExitCode::SUCCESS)
}
