//! HLO modules in files: recognised by name or content, and read whole within a bound.
//!
//! The sizes of their arrays come from [`HloComputation::buffers`](tilewright_xla::HloComputation::buffers).

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    path::Path,
};

use tilewright_xla::{HloModule, HloSourceError};

/// The longest file that is read, in bytes: 512 MiB. A module in memory takes a few times the bytes of its file, and a text at
/// worst about forty times. A proto of more than 2²² messages is refused.
pub const MAX_BYTES: u64 = 512 << 20;

/// The number of bytes that are read to recognise a file.
const BEGINNING: u64 = 4096;

/// Reason why a file does not give a module.
///
/// ```
/// use tilewright::module::{Error, read};
/// let Err(Error::Read { path, error }) = read("no/such/module.txt") else { panic!("no file") };
/// assert_eq!((path.as_str(), error.kind()), ("no/such/module.txt", std::io::ErrorKind::NotFound));
/// ```
pub enum Error {
    /// The file cannot be read.
    Read {
        /// The file.
        path: String,
        /// The error of the system.
        error: io::Error,
    },
    /// The file is longer than [`MAX_BYTES`].
    TooLarge {
        /// The file.
        path: String,
        /// The known length, which the file may exceed.
        bytes: u64,
    },
    /// The file is not a module; the error has the place at fault.
    NoModule {
        /// The file.
        path: String,
        /// The kind of source that the file was read as, and the fault.
        error: HloSourceError,
    },
    /// The module has no entry computation.
    NoEntry {
        /// The file.
        path: String,
        /// The name of the module.
        module: String,
    },
}

impl Error {
    /// A stable word: `input`, `limit`, `module`.
    ///
    /// ```
    /// use tilewright::module::read;
    /// assert_eq!(read("no/such/module.txt").unwrap_err().kind(), "input");
    /// ```
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Read { .. } => "input",
            Error::TooLarge { .. } => "limit",
            Error::NoModule { .. } | Error::NoEntry { .. } => "module",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read { path, error } => write!(f, "{path}: {error}"),
            Error::TooLarge { path, bytes } => write!(
                f,
                "{path}: {bytes} bytes; a module is read up to {MAX_BYTES} bytes (dump it without large constants)"
            ),
            Error::NoModule { path, error } => write!(f, "{path}: {error}"),
            Error::NoEntry { path, module } => {
                write!(f, "{path}: module {module} lacks an entry computation")
            }
        }
    }
}

tilewright_core::debug_as_display!(Error);

impl std::error::Error for Error {}

/// Returns whether a file is to be read as a module: its name ends with `.txt`, `.pb` or `.hlo`, or it begins with `HloModule`. A
/// file that cannot be opened is judged by its name alone.
///
/// ```
/// use tilewright::module;
/// assert!(module::is_module("dump/module_0001.jit_f.before_optimizations.txt"));
/// assert!(!module::is_module("model.safetensors"));
/// ```
pub fn is_module(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    let extension = path.extension().map(|text| text.to_string_lossy().to_ascii_lowercase());
    let named = extension.is_some_and(|text| ["txt", "pb", "hlo"].contains(&text.as_str()));
    named || beginning(path).is_ok_and(|bytes| HloModule::begins_as_text(&bytes))
}

fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Only a regular file is read: bytes read from a pipe would be lost.
    if path.metadata()?.is_file() {
        File::open(path)?.take(BEGINNING).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Reads a module from its text, from the bytes of its `HloModuleProto`, or from a dumped `HloProto`.
///
/// # Errors
/// The file cannot be read, is longer than [`MAX_BYTES`], or is not a module.
///
/// ```
/// let path = std::env::temp_dir().join(format!("module-{}.txt", std::process::id()));
/// std::fs::write(&path, "HloModule m\nENTRY e {\n  ROOT x = f32[2] parameter(0)\n}\n")?;
/// let module = tilewright::module::read(&path)?;
/// assert_eq!(module.entry().unwrap().name, "e");
/// std::fs::write(&path, "HloModule m\nENTRY e {\n  ROOT x = f32[2\n}\n")?;
/// let error = tilewright::module::read(&path).unwrap_err();
/// assert!(error.to_string().contains("line 4, column 1: expected `,` or `]`"));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), tilewright::Error>(())
/// ```
pub fn read(path: impl AsRef<Path>) -> Result<HloModule, Error> {
    let shown = path.as_ref().display().to_string();
    let bytes = match bytes(path.as_ref()) {
        Ok((bytes, len)) if len > MAX_BYTES || bytes.len() as u64 > MAX_BYTES => {
            return Err(Error::TooLarge { path: shown, bytes: len.max(bytes.len() as u64) });
        }
        Ok((bytes, _)) => bytes,
        Err(error) => return Err(Error::Read { path: shown, error }),
    };
    HloModule::from_bytes(&bytes).map_err(|error| Error::NoModule { path: shown, error })
}

/// Returns the length of a file and its bytes, at most one more than the bound; no bytes if the length exceeds the bound.
fn bytes(path: &Path) -> io::Result<(Vec<u8>, u64)> {
    let file = File::open(path)?;
    let len = file.metadata()?.len();
    let mut bytes = Vec::new();
    if len <= MAX_BYTES {
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    }
    Ok((bytes, len))
}
