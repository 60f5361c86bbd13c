//! `convert --recipe`: the tensors of a checkpoint as the tensors of another.

use std::{fs, path::Path};

use tilewright::{
    Error,
    ask::Assembled,
    files::{self, Assembling, Input, Packaging, Reading},
    recipe::{RECIPE_KEY, Recipe, Sizes},
};

use crate::{
    args::{Convert, Recast},
    exit::ExitCode,
    failure::Failure,
    output::Output,
    progress::Bar,
    size, streams,
};

/// The longest recipe that is read, in bytes.
const LONGEST: u64 = 4 << 20;

pub(super) fn run(args: &Convert, quiet: bool, out: &mut Output) -> Result<ExitCode, Failure> {
    let recast = &args.recast;
    // A plan replaces nothing.
    let request = super::request(&args.job)?.verify(args.verify).force(args.force || args.dry_run);
    let input = streams::open(&args.input, &Reading::default())?;
    let recipe = recipe(recast, &input)?;
    let sizes = sizes(&recast.size)?;
    let solved = recipe.solve(&input.recipe_tensors(), input.config()?.as_ref(), &sizes);
    let assembly = solved.map_err(|errors| Failure::of(errors).about(&named(recast)))?;
    let metadata = recast.metadata.as_ref().map(|from| files::open(from, &Reading::default()));
    let metadata = metadata.transpose()?;
    let largest = recast.max_shard_size.as_ref().map(|text| size::read("--max-shard-size", text));
    let packaging = Packaging { metadata: metadata.as_ref(), largest: largest.transpose()? };
    let job = Assembling::prepare(&input, &assembly, &args.output, request, &packaging)?;
    if args.dry_run {
        if !args.force && args.output.exists() {
            out.remark(&format!("{} exists; a run needs --force", args.output.display()));
        }
        return Ok(out.say(&Assembled { job: &job, report: None })?);
    }
    let bar = Bar::new(quiet || out.is_json());
    let report = bar.outcome(job.run(&bar))?;
    Ok(out.say(&Assembled { job: &job, report: Some(report) })?)
}

/// The recipe that was asked for, or the one that the input records.
fn recipe(recast: &Recast, input: &Input) -> Result<Recipe, Failure> {
    let Some(name) = &recast.recipe else {
        let recorded = input.metadata().find(|(key, _)| *key == RECIPE_KEY);
        let (_, text) = recorded.ok_or_else(|| {
            let path = input.path().display();
            Failure::usage(format!("{path} records no recipe; name the one to undo with --recipe"))
        })?;
        return Recipe::parse(text).map_err(|errors| Failure::of(errors).about(RECIPE_KEY));
    };
    let recipe = Recipe::parse(&text(name)?);
    let recipe = recipe.map_err(|errors| Failure::of(errors).about(&named(recast)))?;
    Ok(if recast.inverse { recipe.inverse() } else { recipe })
}

/// The text of a recipe in a file.
fn text(name: &str) -> Result<String, Failure> {
    let path = Path::new(name);
    let failed = |cause: std::io::Error| {
        Failure::of(Error::from(cause)).about(&format!("--recipe {name}"))
    };
    let facts = fs::metadata(path).map_err(failed)?;
    if facts.len() > LONGEST {
        let len = facts.len();
        return Err(Failure::usage(format!("--recipe {name}: {len} bytes; at most {LONGEST} are read")));
    }
    fs::read_to_string(path).map_err(failed)
}

/// What messages call the recipe.
fn named(recast: &Recast) -> String {
    match &recast.recipe {
        Some(name) => format!("--recipe {name}"),
        None => RECIPE_KEY.to_owned(),
    }
}

/// Sizes as they are given: an axis and a number each.
fn sizes(given: &[String]) -> Result<Sizes, Failure> {
    let size = |text: &String| {
        let pair = text.split_once('=').and_then(|(axis, number)| Some((axis, number.parse().ok()?)));
        let (axis, number): (&str, u64) = pair.ok_or_else(|| {
            Failure::usage(format!("--size {text}: expected AXIS=N, such as n=32"))
        })?;
        Ok((axis.to_owned(), number))
    };
    given.iter().map(size).collect()
}
