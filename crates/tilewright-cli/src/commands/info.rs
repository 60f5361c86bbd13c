//! `info`: lists the tensors of a file, or the arrays of an HLO module.

use tilewright::{
    Remedy,
    ask::{Info, ModuleInfo},
    files::{Error, has_prefix},
    module,
};

use crate::{args, exit::ExitCode, failure::Failure, output::Output, remedy::option, streams};

pub(super) fn run(args: &args::Info, out: &mut Output) -> Result<ExitCode, Failure> {
    if !has_prefix(&args.file) && module::is_module(&args.file) {
        return of_module(args, out);
    }
    let file = args.file.to_string_lossy();
    if args.layout.is_some() {
        return Err(Failure::usage(format!("{file}: --layout is for HLO modules")));
    }
    let input = streams::open(&args.file, &args.array.reading()?).map_err(refused)?;
    let info = Info { file: file.into_owned(), input: &input };
    if !out.is_json() {
        return Ok(out.say(&info)?);
    }
    // There may be hundreds of thousands of tensors, so they are never all in memory as JSON.
    out.listing(info.head(), "tensors", info.tensors())?;
    Ok(ExitCode::SUCCESS)
}

/// Adds a hint about modules to the error of an unrecognised file, since only `info` reads modules too.
fn refused(error: Error) -> Failure {
    let hint = "; an HLO module's text begins with `HloModule` or `ENTRY`, or the file's name ends with .txt, .hlo or .pb";
    let hint = if error.is_unrecognised() { hint } else { "" };
    Failure::spelled(error, spelled).with_hint(hint)
}

/// Returns a remedy as an option of `info`, which takes no layout.
fn spelled(remedy: Remedy) -> String {
    match remedy {
        Remedy::Source => "convert it with --from first".into(),
        other => option(other),
    }
}

fn of_module(args: &args::Info, out: &mut Output) -> Result<ExitCode, Failure> {
    let file = args.file.to_string_lossy();
    if args.array.dims.is_some() || args.array.dtype.is_some() {
        return Err(Failure::usage(format!(
            "{file}: a module states the dims and types of its arrays; --dims and --dtype are for raw files"
        )));
    }
    let module = module::read(&args.file)?;
    let info = ModuleInfo::of(&file, &module, args.layout.as_deref())?;
    if !out.is_json() {
        return Ok(out.say(&info)?);
    }
    // There may be millions of arrays, so they are never all in memory as JSON.
    out.listing(info.head(), "arrays", info.arrays())?;
    Ok(ExitCode::SUCCESS)
}
