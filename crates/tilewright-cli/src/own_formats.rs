//! A user's own named formats: of `--formats`, or of the user's configuration.

use std::{
    env,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use tilewright::{files, notation::add_formats};

use crate::{
    args::{Cli, Command},
    failure::Failure,
};

/// The longest file that is read.
const MOST: u64 = 1 << 20;

/// Adds the formats of the file that is named, or else of the configuration, where there is one.
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

/// `tilewright/formats.toml` in the folder of configurations.
fn configured() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(folder.join("tilewright").join("formats.toml"))
}

fn add(path: &Path) -> Result<(), Failure> {
    let (bytes, shown) = (contents(path)?, path.display());
    let text = String::from_utf8(bytes)
        .map_err(|error| Failure::usage(format!("{shown}: no UTF-8: {}", error.utf8_error())))?;
    match add_formats(&text) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::of(error).about(&shown.to_string())),
    }
}

/// All bytes of a file, or of what can only be read from its beginning on.
fn contents(path: &Path) -> Result<Vec<u8>, Failure> {
    let in_order = path.metadata().is_ok_and(|facts| !facts.is_file() && !facts.is_dir());
    if !in_order {
        return Ok(files::bytes(path, MOST)?);
    }
    let (shown, mut bytes) = (path.display(), Vec::new());
    let read = File::open(path).and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes));
    read.map_err(|error: io::Error| Failure::from(error).about(&shown.to_string()))?;
    match bytes.len() as u64 <= MOST {
        true => Ok(bytes),
        false => Err(Failure::usage(format!("{shown}: at most {MOST} bytes are read"))),
    }
}
