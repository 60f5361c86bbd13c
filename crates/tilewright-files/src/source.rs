//! A file read at positions, never mapped: a file that shrinks while it is read is an error, not a
//! signal, and what is in memory is what was asked for.

use std::{
    fs::{self, File},
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

/// What standard input is called in messages.
const STANDARD: &str = "standard input";

impl Source {
    /// Opens a regular file.
    pub(crate) fn open(path: &Path) -> Result<Source, Error> {
        if path.as_os_str().is_empty() {
            return Err(Error::usage("the path of the input is empty; name a file"));
        }
        // Looked at before it is opened: opening a FIFO waits for somebody to write.
        let facts = fs::metadata(path).map_err(|cause| Error::io(path, "open", cause))?;
        check_regular(path, &facts)?;
        Source::of(File::open(path).map_err(|cause| Error::io(path, "open", cause))?, path)
    }

    /// Standard input: the file that it is, if it is one at its start, else a copy of all that comes,
    /// in a file without a name.
    pub(crate) fn standard() -> Result<Source, Error> {
        let path = Path::new(STANDARD);
        if let Some(file) = standard_file() {
            return Source::of(file, path);
        }
        let failed = |cause| Error::io(path, "copy it to a temporary file", cause);
        let mut file = tempfile::tempfile().map_err(failed)?;
        io::copy(&mut io::stdin().lock(), &mut file).map_err(failed)?;
        Source::of(file, path)
    }

    fn of(file: File, path: &Path) -> Result<Source, Error> {
        let facts = file.metadata().map_err(|cause| Error::io(path, "read", cause))?;
        check_regular(path, &facts)?;
        Ok(Source { file, path: path.into(), len: facts.len() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
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

/// Standard input, if it is a regular file of which nothing has been read.
#[cfg(unix)]
fn standard_file() -> Option<File> {
    use std::{io::Seek, os::fd::AsFd};
    let mut file = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    let regular = file.metadata().ok()?.is_file();
    (regular && file.stream_position().ok()? == 0).then_some(file)
}

#[cfg(not(unix))]
fn standard_file() -> Option<File> {
    None
}

fn check_regular(path: &Path, facts: &fs::Metadata) -> Result<(), Error> {
    match unusual_kind(facts) {
        None => Ok(()),
        Some("a directory") => {
            let cause = io::Error::new(io::ErrorKind::IsADirectory, "it is a directory");
            Err(Error::io(path, "read", cause))
        }
        Some(kind) => {
            let said = format!("it is {kind}; it is read at positions, which takes a regular file");
            Err(Error::unsupported(path, said))
        }
    }
}

/// What a path names that is no regular file, in words.
pub(crate) fn unusual_kind(facts: &fs::Metadata) -> Option<&'static str> {
    let kind = facts.file_type();
    if kind.is_file() {
        return None;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kinds = [
            (kind.is_fifo(), "a FIFO"),
            (kind.is_socket(), "a socket"),
            (kind.is_char_device() || kind.is_block_device(), "a device"),
        ];
        if let Some((_, name)) = kinds.iter().find(|(is, _)| *is) {
            return Some(name);
        }
    }
    Some(if kind.is_dir() { "a directory" } else { "no regular file" })
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
