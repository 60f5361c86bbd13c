//! A file read at positions, never mapped: a file that shrinks while it is read is an error, not a
//! signal, and what is in memory is what was asked for.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use crate::Error;

/// An open file, its path for messages, and its length when it was opened.
#[derive(Debug)]
pub(crate) struct Source {
    file: File,
    path: PathBuf,
    len: u64,
}

impl Source {
    /// Opens a regular file.
    pub(crate) fn open(path: &Path) -> Result<Source, Error> {
        let file = File::open(path).map_err(|cause| Error::io(path, "open", cause))?;
        let facts = file.metadata().map_err(|cause| Error::io(path, "read", cause))?;
        if facts.is_dir() {
            let cause = io::Error::new(io::ErrorKind::IsADirectory, "it is a directory");
            return Err(Error::io(path, "read", cause));
        }
        if !facts.is_file() {
            return Err(Error::unsupported(path, "not a regular file; it is read at positions"));
        }
        Ok(Source { file, path: path.into(), len: facts.len() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The length when the file was opened, in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Fills `bytes` from byte `at` of the file.
    pub(crate) fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        read_exact_at(&self.file, bytes, at).map_err(|cause| {
            if cause.kind() == io::ErrorKind::UnexpectedEof {
                let (len, opened) = (bytes.len(), self.len);
                let said = format!(
                    "it ends before byte {at} + {len}, although it had {opened} bytes when opened"
                );
                return Error::corrupt(&self.path, said);
            }
            Error::io(&self.path, "read", cause)
        })
    }

    /// The first `len` bytes, or all of them if there are fewer.
    pub(crate) fn head(&self, len: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; usize::try_from(len.min(self.len)).unwrap_or(usize::MAX)];
        self.read(&mut bytes, 0)?;
        Ok(bytes)
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(not(unix))]
fn read_exact_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    use std::io::{Read, Seek};
    file.seek(io::SeekFrom::Start(at))?;
    file.read_exact(bytes)
}
