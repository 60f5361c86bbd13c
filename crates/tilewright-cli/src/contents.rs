//! Files that an option names, read as a whole up to a bound.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use tilewright::files;

use crate::failure::Failure;

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
pub(crate) fn text(path: &Path, most: u64) -> Result<String, Failure> {
    String::from_utf8(bytes(path, most)?).map_err(|error| {
        let (shown, why) = (path.display(), error.utf8_error());
        Failure::usage(format!("{shown}: the text is not UTF-8: {why}"))
    })
}
