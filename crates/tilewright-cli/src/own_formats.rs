//! A user's own named formats, from `--formats` or from the user's configuration.

use std::{
    env,
    path::{Path, PathBuf},
};

use tilewright::notation::add_formats;

use crate::{
    args::{Cli, Command},
    contents,
    failure::Failure,
};

/// The largest number of bytes of the file.
const MOST: u64 = 1 << 20;

/// Adds the formats of the file that `--formats` names, else of the configuration, if it exists.
pub(crate) fn load(cli: &Cli) -> Result<(), Failure> {
    if matches!(cli.command, Command::Completions { .. }) {
        return Ok(());
    }
    match (&cli.own, configured()) {
        (Some(path), _) => add(path),
        (None, Some(path)) if path.is_file() => add(&path),
        (None, _) => Ok(()),
    }
}

/// Returns the path `tilewright/formats.toml` in the folder of configurations.
fn configured() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(folder.join("tilewright").join("formats.toml"))
}

fn add(path: &Path) -> Result<(), Failure> {
    let (text, shown) = (contents::text(path, MOST)?, path.display());
    match add_formats(&text) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::of(error).about(&shown.to_string())),
    }
}
