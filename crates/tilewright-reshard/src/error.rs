//! Errors of the system and of sources, and the cases of a name that is taken.

use std::{io, path::Path};

pub use tilewright_error::Error;

/// Returns the error of a system that refused to read or write.
pub(crate) fn io(path: &Path, doing: &str, cause: &io::Error) -> Error {
    let message = format!("cannot {doing} {}: {cause}", path.display());
    Error::new("io", message).of_io(cause.kind())
}

/// Returns the error of a source that was changed after planning.
pub(crate) fn changed(path: &Path, said: &str) -> Error {
    Error::new("changed", format!("{}: {said}", path.display()))
}

/// The case of an error of the kind `exists`: another result has the name, and may be replaced.
pub(crate) const TAKEN: &str = "taken";
/// The case of an error of the kind `exists`: the result of this run is complete.
pub(crate) const FINISHED: &str = "finished";
