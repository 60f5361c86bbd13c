//! A file or object that other crates of this workspace read at positions.

use std::path::{Path, PathBuf};

use crate::{
    Error,
    open::{folder, place, remote, source::Source},
};

/// An open file or object.
#[derive(Debug)]
#[doc(hidden)]
pub struct Readable(Source);

impl Readable {
    /// Opens a regular file, or an object.
    #[doc(hidden)]
    pub fn open(path: &Path) -> Result<Readable, Error> {
        Source::open(path).map(Readable)
    }

    /// Returns the length when it was opened, in bytes.
    #[doc(hidden)]
    pub fn size(&self) -> u64 {
        self.0.len()
    }

    /// Returns the tag of an object's version; `None` for a file, and if the server names none.
    #[doc(hidden)]
    pub fn version(&self) -> Option<&str> {
        self.0.version()
    }

    /// Fills `bytes` from byte `at` on.
    #[doc(hidden)]
    pub fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        self.0.read(bytes, at)
    }
}

/// Returns the paths in a folder, sorted; those of folders in a store have a slash at their end.
#[doc(hidden)]
pub fn list_folder(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    folder::names(folder)
}

/// Returns whether a path names a folder: of this machine, or one with objects in it.
#[doc(hidden)]
pub fn is_folder(path: &Path) -> Result<bool, Error> {
    place::is_folder(path)
}

/// Returns whether a path names a regular file or an object.
#[doc(hidden)]
pub fn is_file(path: &Path) -> Result<bool, Error> {
    remote::is_file(path)
}
