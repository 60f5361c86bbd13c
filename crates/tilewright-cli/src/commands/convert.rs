//! `convert`: rewrites a file in another layout.

use tilewright::{
    ask::Converted,
    files::{self, Request},
};

use super::recast;
use crate::{
    args::Convert, exit::ExitCode, failure::Failure, output::Output, progress::Bar, streams,
};

pub(super) fn run(args: &Convert, quiet: bool, out: &mut Output) -> Result<ExitCode, Failure> {
    if args.recast.recipe.is_some() || args.recast.inverse {
        return recast::run(args, quiet, out);
    }
    let request = request(args)?;
    let input = streams::open(&args.input, request.reading())?;
    let conversion = streams::prepare(&input, &args.output, request)?;
    if args.dry_run {
        if !args.force && !files::is_stream(&args.output) && args.output.exists() {
            out.remark(&format!("{} exists; a run needs --force", args.output.display()));
        }
        return Ok(out.say(&Converted { conversion: &conversion, report: None })?);
    }
    let bar = Bar::new(quiet || out.is_json());
    let report = bar.outcome(match conversion.is_streamed() {
        true => conversion.run_to(&mut std::io::stdout().lock(), &bar),
        false => conversion.run(&bar),
    })?;
    let done = Converted { conversion: &conversion, report: Some(report) };
    match conversion.is_streamed() {
        // The result itself was written to standard output.
        true if quiet => {}
        true => out.note(&done),
        false => return Ok(out.say(&done)?),
    }
    Ok(ExitCode::SUCCESS)
}

fn request(args: &Convert) -> Result<Request, Failure> {
    if args.job.to.is_none() && args.job.rule.is_empty() {
        return Err(Failure::usage(
            "no layout to convert to; give --to SPEC or --rule GLOB=SPEC, or --recipe R",
        ));
    }
    // A dry run does not replace anything.
    let force = args.force || args.dry_run;
    Ok(super::request(&args.job)?
        .verify(args.verify)
        .any_config(args.recast.any_config)
        .force(force))
}
