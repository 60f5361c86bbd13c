//! A SPEC on the command line, with `--dims` and `--dtype`; and a user's own named formats, from `--formats` or from
//! the user's configuration.

use std::{
    env,
    path::{Path, PathBuf},
};

use tilewright::{
    Dtype, Spec,
    files::Reading,
    input,
    layouts::ByteOrder,
    notation::{self, add_formats},
};

use crate::{
    args::{ArrayArgs, Cli, Command},
    failure::Failure,
    streams,
};

/// Reads a SPEC, or the layout that an expression evaluates to. `what` names the argument in errors.
pub(crate) fn read(what: &str, text: &str) -> Result<Spec, Failure> {
    input::read(text).map_err(|error| Failure::of(error).about(what))
}

/// Reads `100,100`, also as `(100,100)` or `[100, 100]`.
pub(crate) fn integers(field: &'static str, text: &str) -> Result<Vec<u64>, Failure> {
    Ok(input::integers(field, text)?)
}

impl ArrayArgs {
    /// Returns the array for which general SPECs are resolved; `--dims ''` is a scalar.
    pub(crate) fn read(&self) -> Result<input::Array, Failure> {
        Ok(input::Array::read(self.dims.as_deref(), self.dtype.as_deref())?)
    }

    /// Returns the dims of `--dims`.
    pub(crate) fn dims(&self) -> Result<Option<Vec<u64>>, Failure> {
        self.dims.as_deref().map(|text| integers("dims", text)).transpose()
    }

    /// Returns the element type of `--dtype` with its byte order: `>f4` is big-endian.
    pub(crate) fn dtype_in_order(&self) -> Result<Option<(Dtype, Option<ByteOrder>)>, Failure> {
        let dtype = self.dtype.as_deref().map(notation::dtype_in_order).transpose();
        dtype.map_err(|error| Failure::of(error).about("--dtype"))
    }

    /// Returns how to read a file without a header.
    pub(crate) fn reading(&self) -> Result<Reading, Failure> {
        let mut reading = Reading::default();
        if let Some(dims) = self.dims()? {
            reading = reading.dims(&dims);
        }
        Ok(match self.dtype_in_order()? {
            Some((dtype, Some(order))) => reading.dtype(dtype).order(order),
            Some((dtype, None)) => reading.dtype(dtype),
            None => reading,
        })
    }
}

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
    let (text, shown) = (streams::contents_text(path, MOST)?, path.display());
    match add_formats(&text) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::of(error).about(&shown.to_string())),
    }
}
