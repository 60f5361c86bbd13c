//! Objects in stores for results that several processes write: small objects, and uploads whose parts any process sends.
//! Resharding uses it. Without the feature `remote`, each function returns the error that names the feature.

use std::path::{Path, PathBuf};

use crate::{
    Error,
    open::{remote, source::Source},
};

#[cfg(feature = "remote")]
#[doc(hidden)]
pub use tilewright_remote::{LEAST_PART, MOST_PARTS};

/// The bound of a build without the feature, which begins no uploads.
#[cfg(not(feature = "remote"))]
#[doc(hidden)]
pub const LEAST_PART: u64 = 1;

/// As [`LEAST_PART`].
#[cfg(not(feature = "remote"))]
#[doc(hidden)]
pub const MOST_PARTS: u64 = u64::MAX;

/// The largest small object.
const SMALL: u64 = 64 << 20;

/// Returns the error of a path that is only read.
#[doc(hidden)]
pub fn check_writable(path: &Path) -> Result<(), Error> {
    here::check_writable(path)
}

/// Returns whether an object has this path.
#[doc(hidden)]
pub fn exists(path: &Path) -> Result<bool, Error> {
    here::exists(path)
}

/// Returns the bytes of a small object, if it exists.
#[doc(hidden)]
pub fn small(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    let source = match Source::open(path) {
        Err(error) if error.io_kind() == Some(std::io::ErrorKind::NotFound) => return Ok(None),
        opened => opened?,
    };
    if source.len() > SMALL {
        let said = format!("an object of {} bytes; at most {SMALL} are read", source.len());
        return Err(crate::error::corrupt(path, said));
    }
    source.head(source.len()).map(Some)
}

/// Writes a small object by one request; an existing one is replaced only if `replaces`.
#[doc(hidden)]
pub fn put(path: &Path, bytes: &[u8], replaces: bool) -> Result<(), Error> {
    here::put(path, bytes, replaces)
}

/// Removes an object, if it exists.
#[doc(hidden)]
pub fn remove(path: &Path) -> Result<(), Error> {
    here::remove(path)
}

/// Returns the paths in a folder; none for a folder that does not exist.
#[doc(hidden)]
pub fn list(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    remote::list(folder)
}

/// A part that a store has: the name that the store gave to it, the CRC-32 of its bytes, and their number.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StoredPart {
    pub name: String,
    pub sum: u32,
    pub len: u64,
}

/// Begins an upload, and returns its name.
#[doc(hidden)]
pub fn begin(path: &Path) -> Result<String, Error> {
    here::begin(path)
}

/// Sends a part of an upload of this name.
#[doc(hidden)]
pub fn send(path: &Path, upload: &str, number: usize, bytes: Vec<u8>) -> Result<StoredPart, Error> {
    here::send((path, upload), number, bytes)
}

/// Makes the object of an upload visible: its parts in order. An object of other bytes is replaced only if `replaces`.
#[doc(hidden)]
pub fn complete(
    path: &Path,
    upload: &str,
    parts: &[StoredPart],
    replaces: bool,
) -> Result<(), Error> {
    here::complete((path, upload), parts, replaces)
}

/// Removes what was sent.
#[doc(hidden)]
pub fn abort(path: &Path, upload: &str) -> Result<(), Error> {
    here::abort((path, upload))
}

#[cfg(feature = "remote")]
mod here {
    use tilewright_remote::{PartUpload, SentPart};

    use super::*;
    use crate::open::remote::location;

    pub(super) fn check_writable(path: &Path) -> Result<(), Error> {
        let location = location(path)?;
        match location.is_writable() {
            true => Ok(()),
            false => {
                let said = "it is only read; write to a folder or to s3://, gs:// or az://";
                Err(Error::unsupported(format!("{location}: {said}")).of_file())
            }
        }
    }

    pub(super) fn exists(path: &Path) -> Result<bool, Error> {
        tilewright_remote::exists(&location(path)?)
    }

    pub(super) fn put(path: &Path, bytes: &[u8], replaces: bool) -> Result<(), Error> {
        tilewright_remote::put(&location(path)?, bytes, replaces)
    }

    pub(super) fn remove(path: &Path) -> Result<(), Error> {
        tilewright_remote::remove(&location(path)?)
    }

    pub(super) fn begin(path: &Path) -> Result<String, Error> {
        Ok(PartUpload::begin(&location(path)?)?.name().to_owned())
    }

    fn named((path, upload): (&Path, &str)) -> Result<PartUpload, Error> {
        PartUpload::named(&location(path)?, upload)
    }

    pub(super) fn send(
        of: (&Path, &str),
        number: usize,
        bytes: Vec<u8>,
    ) -> Result<StoredPart, Error> {
        let SentPart { name, sum, len } = named(of)?.send(number, bytes)?;
        Ok(StoredPart { name, sum, len })
    }

    pub(super) fn complete(
        of: (&Path, &str),
        parts: &[StoredPart],
        replaces: bool,
    ) -> Result<(), Error> {
        let part = |part: &StoredPart| {
            let StoredPart { name, sum, len } = part.clone();
            SentPart { name, sum, len }
        };
        named(of)?.complete(&parts.iter().map(part).collect::<Vec<_>>(), replaces)
    }

    pub(super) fn abort(of: (&Path, &str)) -> Result<(), Error> {
        named(of)?.abort()
    }
}

#[cfg(not(feature = "remote"))]
mod here {
    use super::*;
    use crate::open::remote::left_out;

    pub(super) fn check_writable(path: &Path) -> Result<(), Error> {
        Err(left_out(path))
    }

    pub(super) fn exists(path: &Path) -> Result<bool, Error> {
        Err(left_out(path))
    }

    pub(super) fn put(path: &Path, _: &[u8], _: bool) -> Result<(), Error> {
        Err(left_out(path))
    }

    pub(super) fn remove(path: &Path) -> Result<(), Error> {
        Err(left_out(path))
    }

    pub(super) fn begin(path: &Path) -> Result<String, Error> {
        Err(left_out(path))
    }

    pub(super) fn send(
        (path, _): (&Path, &str),
        _: usize,
        _: Vec<u8>,
    ) -> Result<StoredPart, Error> {
        Err(left_out(path))
    }

    pub(super) fn complete(
        (path, _): (&Path, &str),
        _: &[StoredPart],
        _: bool,
    ) -> Result<(), Error> {
        Err(left_out(path))
    }

    pub(super) fn abort((path, _): (&Path, &str)) -> Result<(), Error> {
        Err(left_out(path))
    }
}
