//! Libraries that are looked for, and what is said where they are not there.

use std::path::PathBuf;

use crate::raw::Library;

/// The most reasons that a message has.
const REASONS: usize = 6;

/// The first of these libraries that opens, else why each did not.
pub(crate) fn open(names: &[PathBuf]) -> Result<Library, Vec<String>> {
    Library::open(names)
}

/// What was looked for, and where.
pub(crate) fn says(what: &str, variable: &str, tried: &[String]) -> String {
    let first = tried.iter().take(REASONS).map(|reason| format!("\n  {reason}"));
    let more = tried.len().saturating_sub(REASONS);
    let more = (more > 0).then(|| format!("\n  and {more} other places"));
    let reasons: String = first.chain(more).collect();
    format!("{what} is not found; {variable} can name its library. Tried:{reasons}")
}
