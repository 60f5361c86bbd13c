//! `convert`: rewrites a file in another layout.

use tilewright::{
    ask::Converted,
    files::{Conversion, Request},
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
    let streamed = streams::streams_to(&args.output, &input)?;
    let conversion = match streamed {
        true => Conversion::prepare_stream(&input, &args.output, request)?,
        false => Conversion::prepare(&input, &args.output, request)?,
    };
    if args.dry_run {
        let plan = Converted { conversion: &conversion, report: None };
        return streams::say_plan(&plan, (&args.output, args.force), out);
    }
    let bar = Bar::new(quiet || out.is_json());
    let report = bar.outcome(match streamed {
        true => conversion.run_to(&mut std::io::stdout().lock(), &bar),
        false => conversion.run(&bar),
    })?;
    let done = Converted { conversion: &conversion, report: Some(report) };
    streams::say_done(&done, (streamed, quiet), out)
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
