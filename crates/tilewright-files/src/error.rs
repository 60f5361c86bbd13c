//! The error of this crate: one small opaque value with predicates and a message that names the file.

use std::{fmt, io, path::Path};

use tilewright_core::Remedy;
use tilewright_transfer::Refused;

/// The kind of an error, as far as a caller acts on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The request does not fit the file.
    Usage,
    /// The output exists, and the request does not allow overwriting.
    Exists,
    /// Input and output are the same file.
    SameFile,
    /// The result would equal the input.
    Converted,
    /// The system refused to read or write.
    Io,
    /// The file contradicts its format.
    Corrupt,
    /// A file's note of a tensor contradicts the tensor.
    Contradiction,
    /// The file is well formed, and holds data for which no layout is defined.
    Unsupported,
    /// The format of the file is unknown.
    Unrecognised,
    /// The caller cancelled.
    Cancelled,
}

/// An error of reading, converting or verifying a file.
///
/// The message names the file and, if there is one, the tensor, with the numbers that disagree and the legal values. Callers
/// should act on the predicates, never on the message.
///
/// ```
/// use tilewright_files::{Reading, open};
/// let error = open("no/such/file.safetensors", &Reading::default()).unwrap_err();
/// assert!(error.is_io() && !error.is_usage());
/// assert_eq!(error.kind(), "io");
/// assert!(error.to_string().contains("no/such/file.safetensors"));
/// ```
pub struct Error {
    kind: Kind,
    message: String,
    remedies: Vec<Remedy>,
    cause: Option<io::Error>,
}

impl Error {
    pub(crate) fn usage(message: impl Into<String>) -> Error {
        Error { kind: Kind::Usage, message: message.into(), remedies: Vec::new(), cause: None }
    }

    pub(crate) fn exists(path: &Path) -> Error {
        let error = Error::usage(format!("{} exists", path.display()));
        Error { kind: Kind::Exists, ..error }.with(&[Remedy::Overwrite])
    }

    /// Returns the error for an existing folder that a result would have to replace.
    pub(crate) fn occupied(path: &Path) -> Error {
        let said = match path.is_dir() {
            true => "the folder is not empty",
            false => "it exists and is not a folder",
        };
        let error = Error::usage(format!("{}: {said}; choose another path", path.display()));
        Error { kind: Kind::Exists, ..error }
    }

    pub(crate) fn same_file(input: &Path, output: &Path) -> Error {
        let (input, output) = (input.display(), output.display());
        let message = format!("{output} is the input {input} itself; name another output");
        Error { kind: Kind::SameFile, ..Error::usage(message) }
    }

    /// Returns the error with one more sentence.
    pub(crate) fn and(mut self, said: &str) -> Error {
        self.message = format!("{}; {said}", self.message);
        self
    }

    pub(crate) fn converted(message: String) -> Error {
        Error { kind: Kind::Converted, ..Error::usage(message) }.with(&[Remedy::Again])
    }

    /// Returns whether the system refused because of missing permissions.
    pub(crate) fn is_forbidden(&self) -> bool {
        self.cause.as_ref().is_some_and(|cause| cause.kind() == io::ErrorKind::PermissionDenied)
    }

    pub(crate) fn io(path: &Path, doing: &str, cause: io::Error) -> Error {
        let message = format!("{}: cannot {doing}", path.display());
        Error { kind: Kind::Io, cause: Some(cause), ..Error::usage(message) }
    }

    pub(crate) fn corrupt(path: &Path, message: impl fmt::Display) -> Error {
        let message = format!("{}: {message}", path.display());
        Error { kind: Kind::Corrupt, ..Error::usage(message) }
    }

    /// Returns the error for a file that changed during the operation.
    pub(crate) fn changed(path: &Path, message: impl fmt::Display) -> Error {
        Error { kind: Kind::Io, ..Error::corrupt(path, message) }
    }

    pub(crate) fn contradiction(path: &Path, message: impl fmt::Display) -> Error {
        Error { kind: Kind::Contradiction, ..Error::corrupt(path, message) }
    }

    /// Returns whether a file's notes contradict its tensors.
    pub(crate) fn is_contradiction(&self) -> bool {
        self.kind == Kind::Contradiction
    }

    pub(crate) fn unsupported(path: &Path, message: impl fmt::Display) -> Error {
        let message = format!("{}: {message}", path.display());
        Error { kind: Kind::Unsupported, ..Error::usage(message) }
    }

    pub(crate) fn unrecognised(path: &Path, message: impl fmt::Display) -> Error {
        Error { kind: Kind::Unrecognised, ..Error::unsupported(path, message) }
    }

    pub(crate) fn cancelled() -> Error {
        Error { kind: Kind::Cancelled, ..Error::usage("cancelled") }
    }

    /// Returns the error with remedies, any one of which the caller can use.
    pub(crate) fn with(mut self, remedies: &[Remedy]) -> Error {
        self.remedies.extend(remedies);
        self
    }

    /// Returns the message without remedies.
    ///
    /// ```
    /// # use tilewright_files::write;
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("a.svg");
    /// write(&path, b"<svg/>", false).unwrap();
    /// let error = write(&path, b"<svg/>", false).unwrap_err();
    /// assert!(error.message().ends_with("a.svg exists"));
    /// assert!(error.to_string().ends_with("a.svg exists; allow it to be overwritten"));
    /// ```
    pub fn message(&self) -> String {
        match &self.cause {
            Some(cause) => format!("{}: {cause}", self.message),
            None => self.message.clone(),
        }
    }

    /// Returns the remedies, any one of which the caller can use.
    ///
    /// ```
    /// use tilewright_core::Remedy;
    /// # use tilewright_files::{Reading, open};
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("bytes");
    /// std::fs::write(&path, [7; 24]).unwrap();
    /// let error = open(format!("raw:{}", path.display()), &Reading::default()).unwrap_err();
    /// assert_eq!(error.remedies(), [Remedy::Source, Remedy::DimsAndDtype]);
    /// ```
    pub fn remedies(&self) -> &[Remedy] {
        &self.remedies
    }

    /// Returns whether the request was wrong, not the file: a layout that does not fit a tensor, a pattern that matches nothing,
    /// an output that exists or is the input.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// let missing = open("no/such/file.npy", &Reading::default()).unwrap_err();
    /// let unnamed = open("", &Reading::default()).unwrap_err();
    /// assert!(unnamed.is_usage() && !missing.is_usage());
    /// ```
    pub fn is_usage(&self) -> bool {
        matches!(self.kind, Kind::Usage | Kind::Exists | Kind::SameFile | Kind::Converted)
    }

    /// Returns whether reading or writing failed, including truncated, corrupt and unsupported files.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// let missing = open("no/such/file.npy", &Reading::default()).unwrap_err();
    /// let unnamed = open("", &Reading::default()).unwrap_err();
    /// assert!(missing.is_io() && !unnamed.is_io());
    /// ```
    pub fn is_io(&self) -> bool {
        let Error { kind, .. } = self;
        let corrupt = matches!(kind, Kind::Corrupt | Kind::Contradiction);
        corrupt || matches!(kind, Kind::Io | Kind::Unsupported | Kind::Unrecognised)
    }

    /// Returns whether neither the name nor the content of a file is that of a format read here.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// let unknown = open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), &Reading::default());
    /// assert!(unknown.unwrap_err().is_unrecognised());
    /// let missing = open("no/such/file.npy", &Reading::default()).unwrap_err();
    /// assert!(!missing.is_unrecognised());
    /// ```
    pub fn is_unrecognised(&self) -> bool {
        self.kind == Kind::Unrecognised
    }

    /// Returns whether [`Watch::cancelled`](crate::Watch::cancelled) cancelled the operation.
    ///
    /// ```
    /// # use tilewright_files::{Request, Watch, verify};
    /// struct Never;
    /// impl Watch for Never {
    ///     fn cancelled(&self) -> bool {
    ///         true
    ///     }
    /// }
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    /// let error = verify(path, path, &Request::new(), &Never).unwrap_err();
    /// assert!(error.is_cancelled() && !error.is_io() && !error.is_usage());
    /// ```
    pub fn is_cancelled(&self) -> bool {
        self.kind == Kind::Cancelled
    }

    /// Returns one word for programs: `usage`, `exists`, `same-file`, `converted`, `io`, `corrupt`, `unsupported` or `cancelled`.
    ///
    /// ```
    /// # use tilewright_files::{Reading, open};
    /// let missing = open("no/such/file.npy", &Reading::default()).unwrap_err();
    /// let unnamed = open("", &Reading::default()).unwrap_err();
    /// assert_eq!((missing.kind(), unnamed.kind()), ("io", "usage"));
    /// ```
    pub fn kind(&self) -> &'static str {
        match self.kind {
            Kind::Usage => "usage",
            Kind::Exists => "exists",
            Kind::SameFile => "same-file",
            Kind::Converted => "converted",
            Kind::Io => "io",
            Kind::Corrupt | Kind::Contradiction => "corrupt",
            Kind::Unsupported | Kind::Unrecognised => "unsupported",
            Kind::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())?;
        let spelled: Vec<String> = self.remedies.iter().map(Remedy::to_string).collect();
        if spelled.is_empty() { Ok(()) } else { write!(f, "; {}", spelled.join(", or ")) }
    }
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Error {
        let error = Error::usage(refused.to_string());
        match refused {
            Refused::Bound { .. } => error.with(&[Remedy::MoreMemory { least: None }]),
            Refused::System(_) => Error { kind: Kind::Io, ..error }.with(&[Remedy::LessMemory]),
        }
    }
}

tilewright_core::debug_as_display!(Error);

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| cause as _)
    }
}
