//! `fingerprint` and `same-data`: compare the data of files in any layouts.

use tilewright::{
    Error,
    ask::{Printed, SameData},
    files::{Collection, Key, Reading, same_data},
};

use super::how::shards;
use crate::{args, exit::ExitCode, failure::Failure, output::Output, progress::Bar, spec};

pub(super) fn run(
    args: &args::Fingerprint,
    quiet: bool,
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    let (key, reading) = (key(&args.data)?, reading(&args.data)?);
    let [found] = shards([&*args.file], &args.data.shards)?;
    let all = found.map_or_else(|| Collection::open_as(&args.file, &reading), Ok)?;
    all.warnings().for_each(|warning| out.remark(&warning));
    let silent = all.arrays() > 0;
    let tensors = read_as(all.only(&args.tensor)?, &reading, silent)?;
    let bar = Bar::new(quiet || out.is_json());
    let found = bar.outcome(tensors.fingerprints(&key, &bar))?;
    Ok(out.say(&Printed { key, found })?)
}

pub(super) fn same(
    args: &args::SameData,
    quiet: bool,
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    let (key, reading) = (key(&args.data)?, reading(&args.data)?);
    let (a, b) = match shards([&*args.a, &*args.b], &args.data.shards)? {
        [None, None] => Collection::open_both(&args.a, &args.b, &reading)?,
        [a, b] => (
            a.map_or_else(|| Collection::open_as(&args.a, &reading), Ok)?,
            b.map_or_else(|| Collection::open_as(&args.b, &reading), Ok)?,
        ),
    };
    a.warnings().chain(b.warnings()).for_each(|warning| out.remark(&warning));
    let silent = a.arrays() + b.arrays() > 0;
    let (a, b) = a.only_of(b, &args.tensor)?;
    let (a, b) = (read_as(a, &reading, silent)?, read_as(b, &reading, silent)?);
    let bar = Bar::new(quiet || out.is_json());
    let found = bar.outcome(same_data(&a, &b, &key, &bar))?;
    Ok(out.say(&SameData(found))?)
}

/// Returns how to read tensors whose files do not describe them.
fn reading(data: &args::Data) -> Result<Reading, Failure> {
    let reading = data.array.reading()?;
    let from = data.from.as_deref().map(|from| spec::read("--from", from)).transpose()?;
    Ok(from.map_or(reading.clone(), |from| reading.from(from)))
}

/// Applies the options to tensors with names, unless there is an array without a name, which the options describe then.
fn read_as(tensors: Collection, reading: &Reading, silent: bool) -> Result<Collection, Error> {
    if silent { Ok(tensors) } else { Ok(tensors.read_as(reading)?) }
}

fn key(data: &args::Data) -> Result<Key, Failure> {
    let Some(text) = &data.key else { return Ok(Key::default()) };
    text.parse().map_err(|error| Failure::of(error).about("--key"))
}
