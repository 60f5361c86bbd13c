//! Checks that a result is outside of its source folder, and the source outside of the result. Every job that will run
//! checks it before it opens its source.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::Error;

/// Returns an error for a result inside of its source, or a source inside of its result.
pub(crate) fn check_apart(source: &Path, result: &Path) -> Result<(), Error> {
    let (from, to) = (real(source), real(result));
    let said = |inner: &Path, outer: &Path| {
        let said = format!("{} is inside {}", inner.display(), outer.display());
        let legal = "the result must be a separate folder, outside the source";
        Err(Error::new("same-file", format!("{said}: {legal}")))
    };
    match from == to {
        true => Ok(()),
        false if from.is_dir() && to.starts_with(&from) => said(result, source),
        false if from.starts_with(&to) => said(source, result),
        false => Ok(()),
    }
}

/// Returns a path with links followed in the part of it that exists.
fn real(path: &Path) -> PathBuf {
    let known = path.ancestors().find_map(|known| Some((known, fs::canonicalize(known).ok()?)));
    let rest = known.as_ref().and_then(|(known, _)| path.strip_prefix(known).ok());
    match (&known, rest) {
        (Some((_, real)), Some(rest)) if rest != Path::new("") => real.join(rest),
        (Some((_, real)), _) => real.clone(),
        (None, _) => path.to_owned(),
    }
}
