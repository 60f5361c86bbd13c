//! A file or a remote object read at positions, never mapped: a file that shrinks while it is read causes an error, not a signal,
//! and only requested bytes are in memory. Every input is one of these; nothing else knows whether it is a file.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use same_file::Handle;
use tilewright_transfer::read_at;

use crate::{
    Error,
    commit::stamp::{self, Stamp},
    convert::budget::zeros,
    error,
    open::remote::{self, Object},
};

/// An open file or object, and its path for messages.
#[derive(Debug)]
pub(crate) struct Source {
    held: Held,
    path: PathBuf,
}

/// The bytes of a source.
#[derive(Debug)]
enum Held {
    /// A file, its metadata when it was opened, and whether it is one of the user: a copy of a stream is not.
    File(File, fs::Metadata, bool),
    Object(Arc<Object>),
    /// Some bytes of a result, with their positions, and its length.
    #[cfg_attr(
        not(feature = "remote"),
        expect(dead_code, reason = "only results in stores are read so")
    )]
    Written(Vec<(u64, Arc<Vec<u8>>)>, u64),
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
        if remote::is_url(path) {
            return Source::remote(path);
        }
        remote::check_scheme(path)?;
        // Checked before it is opened: opening a FIFO waits for a writer.
        let facts = fs::metadata(path).map_err(|cause| error::io(path, "open", cause))?;
        check_regular(path, &facts)?;
        Source::of(File::open(path).map_err(|cause| error::io(path, "open", cause))?, path)
    }

    /// Opens a remote object.
    fn remote(path: &Path) -> Result<Source, Error> {
        let object = remote::open(path)?;
        let path = remote::path(&object);
        Ok(Source { held: Held::Object(Arc::new(object)), path })
    }

    /// Returns the source of a result that is being written: of its bytes only these are read.
    #[cfg(feature = "remote")]
    pub(crate) fn written(parts: Vec<(u64, Arc<Vec<u8>>)>, len: u64, path: &Path) -> Source {
        Source { held: Held::Written(parts, len), path: path.into() }
    }

    /// Opens the file or object again: the file by its path, or, if that is gone, the open one.
    pub(crate) fn again(&self) -> Result<Source, Error> {
        let failed = |cause| error::io(&self.path, "open", cause);
        match &self.held {
            Held::File(file, ..) => Source::open(&self.path)
                .or_else(|_| Source::given(file.try_clone().map_err(failed)?)),
            Held::Object(object) => {
                Ok(Source { held: Held::Object(object.clone()), path: self.path.clone() })
            }
            Held::Written(parts, len) => {
                Ok(Source { held: Held::Written(parts.clone(), *len), path: self.path.clone() })
            }
        }
    }

    /// Returns a copy of the content of a stream, in a file without a name.
    pub(crate) fn copied(mut from: impl Read) -> Result<Source, Error> {
        let path = Path::new(STREAM);
        let failed = |cause| error::io(path, "copy it to a temporary file", cause);
        let mut file = tempfile::tempfile().map_err(failed)?;
        io::copy(&mut from, &mut file).map_err(failed)?;
        Source::held(file, path, false)
    }

    /// Returns a file without a name that holds content unpacked from the file at `path`.
    pub(crate) fn unpacked(file: File, path: &Path) -> Result<Source, Error> {
        Source::held(file, path, false)
    }

    /// Returns the source for an open regular file.
    pub(crate) fn given(file: File) -> Result<Source, Error> {
        Source::of(file, Path::new(STREAM))
    }

    pub(crate) fn of(file: File, path: &Path) -> Result<Source, Error> {
        Source::held(file, path, true)
    }

    fn held(file: File, path: &Path, own: bool) -> Result<Source, Error> {
        let facts = file.metadata().map_err(|cause| error::io(path, "read", cause))?;
        check_regular(path, &facts)?;
        Ok(Source { held: Held::File(file, facts, own), path: path.into() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file, if it is one: the system copies from it to other files.
    pub(crate) fn file(&self) -> Option<&File> {
        match &self.held {
            Held::File(file, ..) => Some(file),
            Held::Object(_) | Held::Written(..) => None,
        }
    }

    /// Returns whether each read is a request to another machine.
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self.held, Held::Object(_))
    }

    /// Returns the length when it was opened, in bytes.
    pub(crate) fn len(&self) -> u64 {
        match &self.held {
            Held::File(_, facts, _) => facts.len(),
            Held::Object(object) => object.len(),
            Held::Written(_, len) => *len,
        }
    }

    /// Returns the tag of an object's version; `None` for a file, and if the server names none.
    pub(crate) fn version(&self) -> Option<&str> {
        match &self.held {
            Held::File(..) | Held::Written(..) => None,
            Held::Object(object) => object.version(),
        }
    }

    /// Returns a message on an object whose server does not name its version, as a sentence without a full stop.
    pub(crate) fn warning(&self) -> Option<String> {
        let Held::Object(object) = &self.held else { return None };
        let said =
            "the server names no version of it, so a change of the same length is not noticed";
        (!object.is_pinned()).then(|| format!("{}: {said}", self.path.display()))
    }

    /// Returns the identity of the file by its metadata in the file system.
    pub(crate) fn stamp(&self) -> Stamp {
        match &self.held {
            Held::File(_, facts, _) => Stamp::of(facts),
            Held::Object(_) | Held::Written(..) => Stamp::of_length(self.len()),
        }
    }

    /// Returns the file system's metadata of the file when it was opened; `None` for an object and for a copy of a stream.
    pub(crate) fn facts(&self) -> Option<&fs::Metadata> {
        match &self.held {
            Held::File(_, facts, true) => Some(facts),
            Held::File(_, _, false) | Held::Object(_) | Held::Written(..) => None,
        }
    }

    /// Returns an error if the file was changed since it was opened: its bytes may be those of two states. An object was compared
    /// at each read.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        let Held::File(file, facts, _) = &self.held else { return Ok(()) };
        let now = file.metadata().map_err(|cause| error::io(&self.path, "look at", cause))?;
        if stamp::is_same(facts, &now) {
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
    pub(crate) fn is(&self, other: &File) -> bool {
        let handle = |file: &File| file.try_clone().and_then(Handle::from_file);
        let held = self.file().map(handle);
        matches!((held, handle(other)), (Some(Ok(held)), Ok(other)) if held == other)
    }

    /// Returns whether a path names this file, through links of either kind, or this object. Only regular files are opened:
    /// opening a FIFO would wait for its other end.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        let Some(file) = self.file() else { return self.path == path };
        if !fs::metadata(path).is_ok_and(|facts| facts.is_file()) {
            return false;
        }
        let held = file.try_clone().and_then(Handle::from_file);
        matches!((held, Handle::from_path(path)), (Ok(held), Ok(named)) if held == named)
    }

    /// Fills `bytes` from byte `at` of the file.
    pub(crate) fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        let file = match &self.held {
            Held::File(file, ..) => file,
            Held::Object(object) => return object.read_at(bytes, at),
            Held::Written(parts, _) => {
                let said = || error::unsupported(&self.path, "bytes of a tensor that was sent");
                return copied(parts, bytes, at).ok_or_else(said);
            }
        };
        read_at(file, bytes, at).map_err(|cause| {
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

/// Fills `bytes` from parts that follow one another from byte `at` on; `None` if one is missing.
fn copied(parts: &[(u64, Arc<Vec<u8>>)], bytes: &mut [u8], at: u64) -> Option<()> {
    let mut done = 0;
    while done < bytes.len() {
        let next = at + done as u64;
        let (from, own) =
            parts.iter().find(|(from, own)| *from <= next && next - from < own.len() as u64)?;
        let own = own.get((next - from) as usize..)?;
        let room = bytes.get_mut(done..)?;
        let len = own.len().min(room.len());
        room.get_mut(..len)?.copy_from_slice(own.get(..len)?);
        done += len;
    }
    Some(())
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
