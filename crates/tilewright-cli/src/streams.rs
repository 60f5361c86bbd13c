//! Standard input and output as files: `-`, also after the prefix of a format.

use std::{
    fs::File,
    io::{self, IsTerminal as _},
    path::Path,
};

use tilewright::{
    ask::Answer,
    files::{self, Error, Input, Reading, is_stream, open_file, open_stream},
};

use crate::{exit::ExitCode, failure::Failure, output::Output};

/// Opens a file, or standard input.
pub(crate) fn open(path: &Path, reading: &Reading) -> Result<Input, Error> {
    match is_stream(path) {
        false => files::open(path, reading),
        true => match standard_file() {
            Some(file) => open_file(file, path, reading),
            None => open_stream(io::stdin().lock(), path, reading),
        },
    }
}

/// Returns whether a result of this name goes to standard output, which must not be a terminal or the input.
pub(crate) fn streams_to(out: &Path, input: &Input) -> Result<bool, Failure> {
    if !is_stream(out) {
        return Ok(false);
    }
    if io::stdout().is_terminal() {
        let said = "standard output is a terminal, and the result is not text; name a file";
        return Err(Failure::usage(said));
    }
    if opened(&io::stdout()).is_some_and(|file| input.reads(&file)) {
        let input = input.path().display();
        return Err(Failure::usage(format!("standard output is the input {input} itself")));
    }
    Ok(true)
}

/// Prints the plan of a result, which a run without `--force` may not write.
pub(crate) fn say_plan(
    answer: &dyn Answer,
    (path, force): (&Path, bool),
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    if !force && !is_stream(path) && path.exists() {
        out.remark(&format!("{} exists; a run needs --force", path.display()));
    }
    Ok(out.say(answer)?)
}

/// Prints the summary of a run: beside a result on standard output, unless it is `quiet`.
pub(crate) fn say_done(
    answer: &dyn Answer,
    (streamed, quiet): (bool, bool),
    out: &mut Output,
) -> Result<ExitCode, Failure> {
    match (streamed, quiet) {
        (true, true) => {}
        (true, false) => out.note(answer),
        (false, _) => return Ok(out.say(answer)?),
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns standard input, if it is a regular file from which nothing has been read.
fn standard_file() -> Option<File> {
    use io::Seek as _;
    let mut file = opened(&io::stdin())?;
    let regular = file.metadata().ok()?.is_file();
    (regular && file.stream_position().ok()? == 0).then_some(file)
}

/// Returns a stream as an open file.
#[cfg(unix)]
fn opened(stream: &impl std::os::fd::AsFd) -> Option<File> {
    stream.as_fd().try_clone_to_owned().ok().map(File::from)
}

#[cfg(not(unix))]
fn opened<T>(_stream: &T) -> Option<File> {
    None
}
