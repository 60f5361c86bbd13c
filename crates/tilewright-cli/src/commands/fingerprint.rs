//! `fingerprint` and `same-data`: the data of files, whatever the layouts.

use tilewright::{
    Error,
    ask::{Printed, SameData},
    files::{Collection, Key, Reading, same_data},
};

use crate::{args, exit::ExitCode, failure::Failure, output::Output, progress::Bar, spec};

pub(super) fn run(
    args: &args::Fingerprint,
    quiet: bool,
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    let (key, reading) = (key(&args.data)?, reading(&args.data)?);
    let all = Collection::open_as(&args.file, &reading)?;
    check_arrays(&args.data, all.arrays())?;
    all.warnings().for_each(|warning| out.remark(&warning));
    let tensors = all.only(&args.tensor)?;
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
    let (a, b) = (Collection::open_as(&args.a, &reading)?, Collection::open_as(&args.b, &reading)?);
    check_arrays(&args.data, a.arrays() + b.arrays())?;
    a.warnings().chain(b.warnings()).for_each(|warning| out.remark(&warning));
    let (a, b) = a.only_of(b, &args.tensor)?;
    let bar = Bar::new(quiet || out.is_json());
    let found = bar.outcome(same_data(&a, &b, &key, &bar))?;
    Ok(out.say(&SameData(found))?)
}

/// How a file of one array is read.
fn reading(data: &args::Data) -> Result<Reading, Failure> {
    let reading = data.array.reading()?;
    let from = data.from.as_deref().map(|from| spec::read("--from", from)).transpose()?;
    Ok(from.map_or(reading.clone(), |from| reading.from(from)))
}

/// An error if something is said of arrays where there is none.
fn check_arrays(data: &args::Data, arrays: usize) -> Result<(), Failure> {
    let said = data.from.is_some() || data.array.dims.is_some() || data.array.dtype.is_some();
    if arrays > 0 || !said {
        return Ok(());
    }
    let said = "--from, --dims and --dtype are for .npy and raw:PATH; other files say how their tensors lie";
    Err(Failure::usage(said))
}

fn key(data: &args::Data) -> Result<Key, Failure> {
    let Some(text) = &data.key else { return Ok(Key::default()) };
    text.parse().map_err(|error| Failure::of(Error::from(error)).about("--key"))
}
