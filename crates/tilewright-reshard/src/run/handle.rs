//! An open file, or an object of a store. Moves read and write it at positions.

use std::{fs::File, io};

use tilewright_files::inner::Readable;
use tilewright_transfer::{read_at, write_at};

/// An open file or object.
#[derive(Debug)]
pub(crate) enum Handle {
    File(File),
    Object(Readable),
}

impl Handle {
    /// Fills `bytes` from byte `at` on.
    pub(crate) fn read(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        match self {
            Handle::File(file) => read_at(file, bytes, at),
            Handle::Object(object) => object.read(bytes, at).map_err(io::Error::other),
        }
    }

    /// Writes all of `bytes` from byte `at` of a file on.
    pub(crate) fn write(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        match self {
            Handle::File(file) => {
                #[cfg(debug_assertions)]
                tilewright_files::disk::trace::placed(file, bytes, at);
                write_at(file, bytes, at)
            }
            Handle::Object(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}
