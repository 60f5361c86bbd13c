//! The identity of a source file (its length, time and a hash of its header), and the hash function. Readers of sources
//! record it, and runs compare it before they finish.

use std::{
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use serde::{Deserialize, Serialize};
use tilewright_files::{
    Input, Reading, Tensor,
    inner::{Readable, is_url},
};

use crate::{Error, error, run::handle::Handle};

/// The most bytes of a header that are hashed.
const MOST: u64 = 64 << 20;

/// Opens a file of tensors. Its unsupported contents are a fault of the caller's request, which names it.
pub(crate) fn opened(path: &Path) -> Result<Input, Error> {
    tilewright_files::open(path, &Reading::default()).map_err(Error::of_request)
}

/// A file as it was when it was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    #[serde(with = "crate::request::address")]
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    /// Nanoseconds since 1970; of an object, a number that changes with its version.
    pub(crate) changed: u64,
    /// The hash of the bytes before the first tensor.
    pub(crate) header: String,
}

impl Identity {
    /// Returns the identity of a file whose tensors begin at byte `begin`.
    pub(crate) fn of(path: &Path, begin: u64) -> Result<Identity, Error> {
        let failed = |cause| error::io(path, "read", &cause);
        if is_url(path) {
            return Identity::of_object(path, begin);
        }
        let (bytes, changed) = facts(path)?;
        let mut head = Vec::new();
        let file = File::open(path).map_err(failed)?;
        file.take(begin.min(MOST)).read_to_end(&mut head).map_err(failed)?;
        Ok(Identity { path: path.to_owned(), bytes, changed, header: hash(&head) })
    }

    fn of_object(path: &Path, begin: u64) -> Result<Identity, Error> {
        let object = Readable::open(path)?;
        let mut head = vec![0; begin.min(MOST).min(object.size()) as usize];
        object.read(&mut head, 0)?;
        let (bytes, changed) = (object.size(), version(&object));
        Ok(Identity { path: path.to_owned(), bytes, changed, header: hash(&head) })
    }

    /// Returns the identity of a file whose bytes before the tensors equal those of `known`.
    pub(crate) fn like(path: &Path, known: &Identity) -> Result<Identity, Error> {
        let (bytes, changed) = facts(path)?;
        Ok(Identity { path: path.to_owned(), bytes, changed, header: known.header.clone() })
    }

    /// Returns an error if the length or time of the file changed since `then`.
    pub(crate) fn check(&self, then: &str) -> Result<(), Error> {
        self.compare(facts(&self.path)?, then)
    }

    /// Returns an error if the file that was opened now is another one.
    pub(crate) fn check_open(&self, file: &Handle) -> Result<(), Error> {
        let now = match file {
            Handle::Object(object) => (object.size(), version(object)),
            Handle::File(file) => {
                times(&file.metadata().map_err(|cause| error::io(&self.path, "look at", &cause))?)
            }
        };
        self.compare(now, "it was opened")
    }

    fn compare(&self, now: (u64, u64), then: &str) -> Result<(), Error> {
        match now == (self.bytes, self.changed) {
            true => Ok(()),
            false => Err(error::changed(&self.path, &format!("it was changed since {then}"))),
        }
    }
}

/// Returns the identity of each file of an input.
pub(crate) fn identities(input: &Input) -> Result<Vec<Identity>, Error> {
    let begin = |file: usize| {
        let pieces = input.tensors().iter().flat_map(Tensor::pieces);
        pieces.filter(|piece| piece.file() == file).map(|piece| piece.at()).min()
    };
    let files = input.files().enumerate();
    let mut known: Vec<Identity> = files
        .map(|(file, path)| Identity::of(path, begin(file).unwrap_or(u64::MAX)))
        .collect::<Result<_, Error>>()?;
    if input.files().all(|path| path != input.path()) {
        known.push(Identity::of(input.path(), u64::MAX)?);
    }
    Ok(known)
}

/// Returns a number that changes with the version of an object.
pub(crate) fn version(object: &Readable) -> u64 {
    let tag = hash(object.version().unwrap_or_default().as_bytes());
    u64::from_str_radix(tag.get(..16).unwrap_or_default(), 16).unwrap_or(0)
}

fn facts(path: &Path) -> Result<(u64, u64), Error> {
    if is_url(path) {
        let object = Readable::open(path)?;
        return Ok((object.size(), version(&object)));
    }
    let facts = fs::metadata(path).map_err(|cause| error::io(path, "look at", &cause))?;
    Ok(times(&facts))
}

/// Returns the length and the time of a file.
fn times(facts: &fs::Metadata) -> (u64, u64) {
    let time = facts.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    (facts.len(), time.map_or(0, |since| since.as_nanos() as u64))
}

/// FNV-1a in 128 bits, in hexadecimal. It detects accidental changes, not forgeries.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let (basis, prime) = (0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, (1 << 88) + 0x13b);
    let step = |hash: u128, byte: &u8| (hash ^ u128::from(*byte)).wrapping_mul(prime);
    format!("{:032x}", bytes.iter().fold(basis, step))
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(hash(b""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(hash(b"a"), "d228cb696f1a8caf78912b704e4a8964");
    }
}
