//! Standard input and output as files: `-`, also after the prefix of a format.

use std::{
    fs::File,
    io::{self, IsTerminal as _},
    path::Path,
};

use tilewright::files::{
    self, Conversion, Error, Input, Reading, Request, is_stream, open_file, open_stream,
};

use crate::failure::Failure;

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

/// Prepares a conversion to a file, or to standard output.
pub(crate) fn prepare<'a>(
    input: &'a Input,
    out: &Path,
    request: Request,
) -> Result<Conversion<'a>, Failure> {
    if !is_stream(out) {
        return Ok(Conversion::prepare(input, out, request)?);
    }
    if io::stdout().is_terminal() {
        let said = "standard output is a terminal, and the result is not text; name a file";
        return Err(Failure::usage(said));
    }
    if opened(&io::stdout()).is_some_and(|file| input.reads(&file)) {
        let input = input.path().display();
        return Err(Failure::usage(format!("standard output is the input {input} itself")));
    }
    Ok(Conversion::prepare_stream(input, out, request)?)
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
