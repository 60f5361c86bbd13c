//! `convert --recipe`: makes the tensors of one checkpoint from the tensors of another.

use std::path::Path;

use tilewright::{
    ask::Assembled,
    files::{self, Assembling, Input, Packaging, Reading},
    recast,
    recipe::{Recipe, Sizes},
};

use crate::{
    args::{Convert, Recast},
    exit::ExitCode,
    failure::Failure,
    output::Output,
    progress::Bar,
    size, streams,
};

pub(super) fn run(args: &Convert, quiet: bool, out: &mut Output) -> Result<ExitCode, Failure> {
    let asked = &args.recast;
    // A dry run does not replace anything.
    let request = super::request(&args.job)?.verify(args.verify).force(args.force || args.dry_run);
    let sizes = sizes(&asked.size)?;
    let input = streams::open(&args.input, request.reading())?;
    let recipe = recast::allowing(recipe(asked, &input)?, &asked.allow)?;
    let assembly = recast::solved(&recipe, &input, &sizes)?;
    let metadata = asked.metadata.as_ref().map(|from| files::open(from, &Reading::default()));
    let metadata = metadata.transpose()?;
    let largest = asked.max_shard_size.as_ref().map(|text| size::read("--max-shard-size", text));
    let largest = largest.transpose()?;
    if largest == Some(0) {
        return Err(Failure::usage("--max-shard-size 0: a file holds 1 byte or more".to_owned()));
    }
    let trusted = asked.trust_metadata;
    let packaging = Packaging { metadata: metadata.as_ref(), largest, trusted };
    let streamed = streams::streams_to(&args.output, &input)?;
    let job = match streamed {
        true => Assembling::prepare_stream(&input, &assembly, &args.output, request, &packaging)?,
        false => Assembling::prepare(&input, &assembly, &args.output, request, &packaging)?,
    };
    if args.dry_run {
        let plan = Assembled { job: &job, report: None };
        return streams::say_plan(&plan, (&args.output, args.force), out);
    }
    let bar = Bar::new(quiet || out.is_json());
    let report = bar.outcome(match streamed {
        true => job.run_to(&mut std::io::stdout().lock(), &bar),
        false => job.run(&bar),
    })?;
    let done = Assembled { job: &job, report: Some(report) };
    streams::say_done(&done, (streamed, quiet), out)
}

/// Returns the requested recipe, or the one that the input records.
fn recipe(asked: &Recast, input: &Input) -> Result<Recipe, Failure> {
    let Some(name) = &asked.recipe else {
        let recipe = recast::recorded(input).map_err(|error| match error.kind() == "usage" {
            true => Failure::of(error).with_hint("; `recipe guess` lists those that fit"),
            false => Failure::of(error),
        })?;
        return Ok(if asked.any_config { recipe.for_any_config() } else { recipe });
    };
    let recipe = named(name).map_err(|failure| failure.about("--recipe"))?;
    let recipe = if asked.inverse { recipe.inverse() } else { recipe };
    Ok(if asked.any_config { recipe.for_any_config() } else { recipe })
}

/// Returns the recipe of this name. If there is none, the failure names the command that lists the names.
pub(super) fn named(name: &str) -> Result<Recipe, Failure> {
    recast::recipe(name).map_err(|error| {
        match error.kind() == "usage" && !Path::new(name).exists() {
            true => Failure::of(error).with_hint("; `recipe list` lists all names"),
            false => Failure::of(error),
        }
    })
}

/// Reads sizes.
pub(super) fn sizes(given: &[String]) -> Result<Sizes, Failure> {
    let mut sizes = Sizes::new();
    for text in given {
        let (axis, size) =
            recast::size(text).map_err(|error| Failure::of(error).about("--size"))?;
        if let Some(other) = sizes.insert(axis.clone(), size).filter(|other| *other != size) {
            let said = format!("--size: `{axis}` is given as {other} and as {size}");
            return Err(Failure::usage(said));
        }
    }
    Ok(sizes)
}
