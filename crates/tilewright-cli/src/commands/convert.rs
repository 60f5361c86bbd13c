//! Conversions of files.
//!
//! | command | what it does |
//! |---|---|
//! | `convert` | rewrites a file in another layout |
//! | `convert --recipe` | makes the tensors of one checkpoint from the tensors of another |
//! | `convert --plan` | makes the files of the ranks of an engine; see `plan.rs` |
//! | `verify` | checks a converted file against its original, or against the fingerprints that it records |

use std::path::Path;

use tilewright::{
    ask::{Assembled, Converted, Recorded, Verified},
    files::{
        self, Assembling, Collection, Conversion, Input, Packaging, Reading, Request, verify,
        verify_data, verify_recipe, verify_recorded,
    },
    recipe::{self, Recipe, Sizes},
};

use super::reshard::shards;
use crate::{
    args::{Convert, JobArgs, Recast, Verify},
    failure::Failure,
    output::{ExitCode, Output},
    progress::Bar,
    spec, streams,
};

pub(super) fn run(args: &Convert, quiet: bool, out: &mut Output) -> Result<ExitCode, Failure> {
    if let Some(plan) = &args.recast.plan {
        return super::plan::run(args, plan, quiet, out);
    }
    if args.recast.recipe.is_some() || args.recast.inverse {
        return run_recipe(args, quiet, out);
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

pub(super) fn run_recipe(
    args: &Convert,
    quiet: bool,
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    let asked = &args.recast;
    // A dry run does not replace anything.
    let request = super::request(&args.job)?.verify(args.verify).force(args.force || args.dry_run);
    let sizes = sizes(&asked.size)?;
    let input = streams::open(&args.input, request.reading())?;
    let recipe = recipe::allowing(recipe(asked, &input)?, &asked.allow)?;
    let assembly = recipe::solved(&recipe, &input, &sizes)?;
    let metadata = asked.metadata.as_ref().map(|from| files::open(from, &Reading::default()));
    let metadata = metadata.transpose()?;
    let largest =
        asked.max_shard_size.as_ref().map(|text| spec::read_size("--max-shard-size", text));
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
        let recipe = recipe::recorded(input).map_err(|error| match error.kind() == "usage" {
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
    recipe::find(name).map_err(|error| match error.kind() == "usage" && !Path::new(name).exists() {
        true => Failure::of(error).with_hint("; `recipe list` lists all names"),
        false => Failure::of(error),
    })
}

/// Reads sizes.
pub(super) fn sizes(given: &[String]) -> Result<Sizes, Failure> {
    let mut sizes = Sizes::new();
    for text in given {
        let (axis, size) =
            recipe::size(text).map_err(|error| Failure::of(error).about("--size"))?;
        if let Some(other) = sizes.insert(axis.clone(), size).filter(|other| *other != size) {
            let said = format!("--size: `{axis}` is given as {other} and as {size}");
            return Err(Failure::usage(said));
        }
    }
    Ok(sizes)
}

pub(super) fn run_verify(
    args: &Verify,
    quiet: bool,
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    let request = super::request(&args.job)?;
    let bar = Bar::new(quiet || out.is_json());
    let against = args.against.as_deref();
    let found = shards(
        [Some(&*args.output), against].map(|path| path.unwrap_or(Path::new(""))),
        &args.shards,
    )?;
    if let [_, Some(_)] | [Some(_), _] = &found {
        return of_shards(found, args, &bar, out);
    }
    let Some(against) = against else {
        check_alone(
            &args.job,
            "needs the original file from --against; a file's own records are checked without it",
        )?;
        let checked = bar.outcome(verify_recorded(&args.output, &request, &bar))?;
        return Ok(out.say(&Recorded(checked))?);
    };
    if let Some(name) = &args.by.recipe {
        return by_recipe(args, (name, against), (&request, &bar), out);
    }
    let verdict = bar.outcome(verify(&args.output, against, &request, &bar))?;
    Ok(out.say(&Verified(verdict))?)
}

/// Compares a result with its original by a recipe that is given.
fn by_recipe(
    args: &Verify,
    (name, against): (&str, &Path),
    (request, bar): (&Request, &Bar),
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    let (asked, sizes) = (&args.by, sizes(&args.by.size)?);
    let recipe = named(name).map_err(|failure| failure.about("--recipe"))?;
    let recipe = if asked.inverse { recipe.inverse() } else { recipe };
    let recipe = if asked.any_config { recipe.for_any_config() } else { recipe };
    let recipe = recipe::allowing(recipe, &asked.allow)?;
    let input = streams::open(against, request.reading())?;
    let assembly = recipe::solved(&recipe, &input, &sizes)?;
    let metadata = asked.metadata.as_ref().map(|from| files::open(from, &Reading::default()));
    let metadata = metadata.transpose()?;
    let packaging = Packaging { metadata: metadata.as_ref(), ..Packaging::default() };
    let by = (request, &packaging);
    let verdict = bar.outcome(verify_recipe(&args.output, &input, &assembly, by, bar))?;
    Ok(out.say(&Verified(verdict))?)
}

/// Compares the arrays of a result with those of its original, at least one of them in shards.
fn of_shards(
    [output, original]: [Option<Collection>; 2],
    args: &Verify,
    bar: &Bar,
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    check_alone(&args.job, "does not apply to shards, whose arrays are compared in any layout")?;
    if args.by.recipe.is_some() {
        let said = "--recipe does not apply to shards: join them with `tilewright reshard` first";
        return Err(Failure::usage(said));
    }
    let Some(against) = &args.against else {
        let said = "fingerprints of shards are not compared with recorded ones; name the checkpoint with --against";
        return Err(Failure::usage(said));
    };
    let output = output.map_or_else(|| Collection::open(&args.output), Ok)?;
    let original = original.map_or_else(|| Collection::open(against), Ok)?;
    let (output, original) = output.only_of(original, &args.job.tensor)?;
    output.warnings().chain(original.warnings()).for_each(|warning| out.remark(&warning));
    let verdict = bar.outcome(verify_data(&output, &original, bar))?;
    Ok(out.say(&Verified(verdict))?)
}

/// Refuses options that describe a conversion, with the reason.
fn check_alone(job: &JobArgs, why: &str) -> Result<(), Failure> {
    let given = [
        ("--to", job.to.is_some()),
        ("--from", job.from.is_some()),
        ("--rule", !job.rule.is_empty()),
        ("--store", job.store.is_some()),
        ("--fill", job.fill.is_some()),
        ("--skip-unfit", job.skip_unfit),
        ("--dims", job.array.dims.is_some()),
        ("--dtype", job.array.dtype.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((name, _)) => Err(Failure::usage(format!("{name} {why}"))),
    }
}
