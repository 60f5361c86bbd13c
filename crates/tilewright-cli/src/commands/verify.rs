//! `verify`: checks a converted file against its original, or against the fingerprints that it records.

use tilewright::{
    ask::{Recorded, Verified},
    files::{verify, verify_recorded},
};

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
    let Some(against) = &args.against else {
        check_alone(&args.job)?;
        let checked = bar.outcome(verify_recorded(&args.output, &request, &bar))?;
        return Ok(out.say(&Recorded(checked))?);
    };
    let verdict = bar.outcome(verify(&args.output, against, &request, &bar))?;
    Ok(out.say(&Verified(verdict))?)
}

/// Refuses options that describe a conversion, since recorded fingerprints do not refer to an original.
fn check_alone(job: &JobArgs) -> Result<(), Failure> {
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
        Some((name, _)) => Err(Failure::usage(format!(
            "{name} needs the original file from --against; a file's own records are checked without it"
        ))),
    }
}
