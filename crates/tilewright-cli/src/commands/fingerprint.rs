//! `fingerprint` and `same-data`: the data of files, whatever the layouts.

use tilewright::{
    Error,
    ask::{Printed, SameData},
    files::{Collection, Key, same_data},
};

use crate::{args, exit::ExitCode, failure::Failure, output::Output, progress::Bar};

pub(super) fn run(
    args: &args::Fingerprint,
    quiet: bool,
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    let key = key(args.key.as_deref())?;
    let tensors = Collection::open(&args.file)?.only(&args.tensor)?;
    let bar = Bar::new(quiet || out.is_json());
    let found = bar.outcome(tensors.fingerprints(&key, &bar))?;
    Ok(out.say(&Printed { key, found })?)
}

pub(super) fn same(
    args: &args::SameData,
    quiet: bool,
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    let key = key(args.key.as_deref())?;
    let (a, b) = (Collection::open(&args.a)?, Collection::open(&args.b)?);
    let bar = Bar::new(quiet || out.is_json());
    let found = bar.outcome(same_data(&a, &b, &key, &bar))?;
    Ok(out.say(&SameData(found))?)
}

fn key(text: Option<&str>) -> Result<Key, Failure> {
    let Some(text) = text else { return Ok(Key::default()) };
    text.parse().map_err(|error| Failure::of(Error::from(error)).about("--key"))
}
