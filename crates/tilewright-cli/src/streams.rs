//! Standard input and output as files: `-`, also after the prefix of a format; and files that an option names, read as
//! a whole up to a bound.

use std::{
    fs::File,
    io::{self, IsTerminal as _, Read as _},
    path::Path,
};

use tilewright::{
    ask::Answer,
    files::{self, Error, Input, Reading, is_stream, open_file, open_stream},
};

use crate::{
    failure::Failure,
    output::{ExitCode, Output},
};

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

/// The longest text of a list or a configuration, in bytes.
pub(crate) const LONGEST: u64 = 16 << 20;

/// Returns all bytes of a file, also of one that can only be read in order; an error for more than `most` bytes.
pub(crate) fn bytes(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let in_order = path.metadata().is_ok_and(|facts| !facts.is_file() && !facts.is_dir());
    if !in_order {
        return Ok(files::bytes(path, most)?);
    }
    let (shown, mut bytes) = (path.display(), Vec::new());
    let read = File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes));
    read.map_err(|error: io::Error| Failure::from(error).about(&shown.to_string()))?;
    match bytes.len() as u64 <= most {
        true => Ok(bytes),
        false => Err(Failure::usage(format!("{shown}: at most {most} bytes are read"))),
    }
}

/// Returns the text of a file; an error for more than `most` bytes, and for other text than UTF-8.
pub(crate) fn contents_text(path: &Path, most: u64) -> Result<String, Failure> {
    String::from_utf8(bytes(path, most)?).map_err(|error| {
        let (shown, why) = (path.display(), error.utf8_error());
        Failure::usage(format!("{shown}: the text is not UTF-8: {why}"))
    })
}
