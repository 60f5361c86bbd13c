//! Values on the command line: a SPEC with `--dims` and `--dtype`; and sizes in bytes, such as `512M`.
//!
//! A user's own named formats are read from `--formats` or from the user's configuration.

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
    failure::{Failure, UNITS},
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

/// The largest number of threads.
const MOST_THREADS: usize = 4096;

/// Reads a number with an optional unit: K, M, G, T, powers of 1024, also written `KiB` or `KB`. A number with a unit may have
/// decimals.
pub(crate) fn read_size(what: &str, text: &str) -> Result<u64, Failure> {
    let wrong = || {
        Failure::usage(format!(
            "{what} {text}: expected a size such as 65536, 512M or 2G, below 2^63 bytes"
        ))
    };
    let trimmed = text.trim();
    let number = |c: char| c.is_ascii_digit() || c == '.';
    let digits = trimmed.len() - trimmed.trim_start_matches(number).len();
    let (number, unit) = trimmed.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let unit = unit.strip_suffix("ib").or(unit.strip_suffix('b')).unwrap_or(&unit);
    let power = UNITS.iter().position(|name| *name == unit).ok_or_else(wrong)?;
    let unit = 1u64 << (10 * power);
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    if part.is_empty() || part.len() > 9 || (number.contains('.') && power == 0) {
        return Err(wrong());
    }
    let whole =
        whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(unit)).ok_or_else(wrong)?;
    let tenths = 10u128.pow(part.len() as u32);
    // Nine digits times 2^40 stay far below 2^128, and a fraction of a unit below 2^64.
    let part = u128::from(part.parse::<u64>().map_err(|_| wrong())?) * u128::from(unit);
    let part = part.div_ceil(tenths);
    whole.checked_add(part as u64).filter(|bytes| *bytes <= i64::MAX as u64).ok_or_else(wrong)
}

/// Reads a number of threads; 0 means all cores.
pub(crate) fn count(what: &str, text: &str) -> Result<usize, Failure> {
    let number = text.trim().parse::<usize>().ok().filter(|count| *count <= MOST_THREADS);
    number.ok_or_else(|| {
        Failure::usage(format!(
            "{what} {text}: expected a number from 1 to {MOST_THREADS}, or 0 for all cores"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::at_least;

    #[test]
    fn counts_are_bounded() {
        assert_eq!((count("--threads", "0").unwrap(), count("--threads", " 17").unwrap()), (0, 17));
        for text in ["", "-1", "many", "1.5", "4097", "99999999999999999999"] {
            assert!(count("--threads", text).is_err(), "{text}");
        }
    }

    #[test]
    fn units_are_powers_of_1024() {
        for (text, bytes) in [
            ("0", 0),
            ("65536", 65_536),
            ("1k", 1024),
            ("512M", 512 << 20),
            ("1GiB", 1 << 30),
            ("2 TB", 2 << 40),
            ("7B", 7),
            ("1.5G", 3 << 29),
            ("1.1K", 1127),
        ] {
            assert_eq!(read_size("--memory", text).unwrap(), bytes, "{text}");
        }
        for text in [
            "",
            "M",
            "-1",
            "1.5",
            "1.G",
            ".5G",
            "1.5.5G",
            "1.0123456789G",
            "1X",
            "99999999999999999999",
            "9999999999G",
            "é",
        ] {
            assert!(read_size("--memory", text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_advised_is_read_as_enough() {
        for (bytes, text) in [(1023, "1023"), (4096, "4K"), (4097, "4.1K"), ((1 << 30) + 1, "1.1G")]
        {
            assert_eq!(at_least(bytes), text);
        }
        for power in 10..45u32 {
            for bytes in [(1u64 << power) - 1, (1 << power) + 1, (1 << power) / 10 * 13 + 7] {
                let size = read_size("", &at_least(bytes)).unwrap();
                assert!((bytes..=bytes + bytes / 10 + 1).contains(&size), "{bytes} {size}");
            }
        }
    }
}
