//! Opens libraries, and describes the attempts if none is found. The driver and the compiler are opened with it.

use std::path::PathBuf;

use crate::raw::Library;

/// The most reasons in a message.
const REASONS: usize = 6;

/// Opens the first of these libraries that can be opened, or returns the reasons why each could not.
pub(crate) fn open(names: &[PathBuf]) -> Result<Library, Vec<String>> {
    Library::open(names)
}

/// Describes the names that were tried.
pub(crate) fn says(what: &str, variable: &str, tried: &[String]) -> String {
    let first = tried.iter().take(REASONS).map(|reason| format!("\n  {reason}"));
    let more = tried.len().saturating_sub(REASONS);
    let more = (more > 0).then(|| format!("\n  and {more} other places"));
    let reasons: String = first.chain(more).collect();
    format!("{what} is not found; {variable} can name its library. Tried:{reasons}")
}
