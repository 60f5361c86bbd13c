//! `verify`: checks a converted file against its original, or against the fingerprints that it records.

use std::path::Path;

use tilewright::{
    ask::{Recorded, Verified},
    files::{Collection, verify, verify_data, verify_recorded},
};

use super::how::shards;
use crate::{
    args::{JobArgs, Verify},
    exit::ExitCode,
    failure::Failure,
    output::Output,
    progress::Bar,
};

pub(super) fn run(args: &Verify, quiet: bool, out: &mut Output) -> Result<ExitCode, Failure> {
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
    let verdict = bar.outcome(verify(&args.output, against, &request, &bar))?;
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
