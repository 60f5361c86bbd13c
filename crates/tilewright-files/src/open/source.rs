//! A file read at positions, never mapped: a file that shrinks while it is read causes an error, not a signal, and only requested
//! bytes are in memory.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use same_file::Handle;
use tilewright_transfer::read_at;

use crate::{
    Error,
    commit::stamp::{self, Stamp},
    error,
    transfer::budget::zeros,
};

/// An open file, its path for messages, and its length when it was opened.
#[derive(Debug)]
pub(crate) struct Source {
    file: File,
    path: PathBuf,
    facts: fs::Metadata,
    /// True for a file of the user, false for a copy of a stream.
    own: bool,
}

/// The name, in messages, of input without a path.
const STREAM: &str = "standard input";

/// The name of standard input or output.
const STANDARD: &str = "-";

/// Returns whether a path without its prefix is standard input or output; a file of that name is `./-`.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == STANDARD
}

impl Source {
    /// Opens a regular file.
    pub(crate) fn open(path: &Path) -> Result<Source, Error> {
        if path.as_os_str().is_empty() {
            return Err(error::usage("the path of the input is empty; name a file"));
        }
        if is_standard(path) {
            let said = "- is standard input, which is not read here; a file of that name is ./-";
            return Err(error::usage(said));
        }
        // Checked before it is opened: opening a FIFO waits for a writer.
        let facts = fs::metadata(path).map_err(|cause| error::io(path, "open", cause))?;
        check_regular(path, &facts)?;
        Source::of(File::open(path).map_err(|cause| error::io(path, "open", cause))?, path)
    }

    /// Returns a copy of the content of a stream, in a file without a name.
    pub(crate) fn copied(mut from: impl Read) -> Result<Source, Error> {
        let path = Path::new(STREAM);
        let failed = |cause| error::io(path, "copy it to a temporary file", cause);
        let mut file = tempfile::tempfile().map_err(failed)?;
        io::copy(&mut from, &mut file).map_err(failed)?;
        Ok(Source { own: false, ..Source::of(file, path)? })
    }

    /// Returns a file without a name that holds content unpacked from the file at `path`.
    pub(crate) fn unpacked(file: File, path: &Path) -> Result<Source, Error> {
        Ok(Source { own: false, ..Source::of(file, path)? })
    }

    /// Returns the source for an open regular file.
    pub(crate) fn given(file: File) -> Result<Source, Error> {
        Source::of(file, Path::new(STREAM))
    }

    pub(crate) fn of(file: File, path: &Path) -> Result<Source, Error> {
        let facts = file.metadata().map_err(|cause| error::io(path, "read", cause))?;
        check_regular(path, &facts)?;
        Ok(Source { file, path: path.into(), facts, own: true })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Returns the length when the file was opened, in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.facts.len()
    }

    /// Returns the identity of the file by its metadata in the file system.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp::of(&self.facts)
    }

    /// Returns the file system's metadata of the file when it was opened; `None` for a copy of a stream.
    pub(crate) fn facts(&self) -> Option<&fs::Metadata> {
        self.own.then_some(&self.facts)
    }

    /// Returns an error if the file was changed since it was opened: its bytes may be those of two states.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        let now = self.file.metadata().map_err(|cause| error::io(&self.path, "look at", cause))?;
        if stamp::is_same(&self.facts, &now) {
            return Ok(());
        }
        let (was, is) = (self.len(), now.len());
        let said = if was == is {
            "its timestamps differ".into()
        } else {
            format!("it had {was} bytes, it has {is}")
        };
        Err(error::changed(&self.path, format!("it was changed while it was read: {said}")))
    }

    /// Returns whether it is the same file as this open one.
    pub(crate) fn is(&self, file: &File) -> bool {
        let handle = |file: &File| file.try_clone().and_then(Handle::from_file);
        matches!((handle(&self.file), handle(file)), (Ok(held), Ok(other)) if held == other)
    }

    /// Returns whether a path names this file, through links of either kind. Only regular files are opened: opening a FIFO would
    /// wait for its other end.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        if !fs::metadata(path).is_ok_and(|facts| facts.is_file()) {
            return false;
        }
        let held = self.file.try_clone().and_then(Handle::from_file);
        matches!((held, Handle::from_path(path)), (Ok(held), Ok(named)) if held == named)
    }

    /// Fills `bytes` from byte `at` of the file.
    pub(crate) fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        read_at(&self.file, bytes, at).map_err(|cause| {
            if cause.kind() == io::ErrorKind::UnexpectedEof {
                let (len, opened) = (bytes.len(), self.len());
                let said = format!(
                    "it ends before byte {at} + {len}, although it had {opened} bytes when opened"
                );
                return error::corrupt(&self.path, said);
            }
            error::io(&self.path, "read", cause)
        })
    }

    /// Returns the first `len` bytes, or all of them if there are fewer.
    pub(crate) fn head(&self, len: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = zeros(len.min(self.len()))?;
        self.read(&mut bytes, 0)?;
        Ok(bytes)
    }
}

fn check_regular(path: &Path, facts: &fs::Metadata) -> Result<(), Error> {
    match unusual_kind(facts) {
        None => Ok(()),
        Some("a directory") => {
            let cause = io::Error::new(io::ErrorKind::IsADirectory, "it is a directory");
            Err(error::io(path, "read", cause))
        }
        Some(kind) => {
            let said = format!("it is {kind}; random access needs a regular file");
            Err(error::unsupported(path, said))
        }
    }
}

/// Returns a name for the kind of a path that is not a regular file.
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
