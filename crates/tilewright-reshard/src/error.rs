//! The error of this crate: a kind and a sentence.

use std::{fmt, io, path::Path};

use tilewright_core::Remedy;

/// The reason why a checkpoint cannot be resharded.
///
/// ```
/// use tilewright_reshard::Rules;
/// let error = Rules::new("tp=0").unwrap_err();
/// assert_eq!((error.kind(), error.is_usage()), ("illegal", true));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: &'static str,
    message: String,
    remedies: Vec<Remedy>,
    io: Option<io::ErrorKind>,
}

impl Error {
    pub(crate) fn new(kind: &'static str, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), remedies: Vec::new(), io: None }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Error {
        Error::new("usage", message)
    }

    pub(crate) fn mismatch(message: impl Into<String>) -> Error {
        Error::new("mismatch", message)
    }

    pub(crate) fn io(path: &Path, doing: &str, cause: &io::Error) -> Error {
        let error = Error::new("io", format!("cannot {doing} {}: {cause}", path.display()));
        Error { io: Some(cause.kind()), ..error }
    }

    pub(crate) fn changed(path: &Path, said: &str) -> Error {
        Error::new("changed", format!("{}: {said}", path.display()))
    }

    /// Returns the error with its subject before the message.
    pub(crate) fn about(mut self, what: &str) -> Error {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// Returns the error with more information after the message.
    pub(crate) fn and(mut self, more: &str) -> Error {
        self.message = format!("{}; {more}", self.message);
        self
    }

    /// Returns the error with another kind.
    pub(crate) fn of_kind(mut self, kind: &'static str) -> Error {
        self.kind = kind;
        self
    }

    /// Returns the error with one more remedy.
    pub(crate) fn with(mut self, remedy: Remedy) -> Error {
        self.remedies.push(remedy);
        self
    }

    /// Returns the remedies, any one of which helps.
    ///
    /// ```
    /// use tilewright_reshard::{Job, Request};
    /// let error = Job::prepare(Request::new("no-such-folder", "out")).unwrap_err();
    /// assert!(error.remedies().is_empty());
    /// ```
    pub fn remedies(&self) -> &[Remedy] {
        &self.remedies
    }

    /// Returns the message with its remedies, each in the caller's words.
    ///
    /// ```
    /// use tilewright_reshard::{Job, Request};
    /// let error = Job::prepare(Request::new("no-such-folder", "out")).unwrap_err();
    /// assert_eq!(error.spelled(|_| "try again".into()), error.to_string());
    /// ```
    pub fn spelled(&self, spell: impl Fn(Remedy) -> String) -> String {
        let advice: Vec<String> = self.remedies.iter().map(|remedy| spell(*remedy)).collect();
        match advice.is_empty() {
            true => self.message.clone(),
            false => format!("{}; {}", self.message, advice.join(", or ")),
        }
    }

    /// Returns the stable word for the kind: `usage`; `mismatch` for shards that do not fit each other or their rule;
    /// `unsupported`; `io`; `corrupt`; `changed` for a source that was changed after planning; `exists`; `replicas` if
    /// copies of a box differ; `padding` if values other than 0 would be dropped; `extents` if shards do not cover the extents that a file states; `busy` if another run
    /// holds the name; `incomplete` if tasks are missing; `same-file` if a source would be replaced or is inside of the
    /// result, or the result inside of it; `cancelled`; and the kinds of the crates below.
    ///
    /// ```
    /// use tilewright_reshard::{Job, Request};
    /// let error = Job::prepare(Request::new("no-such-folder", "out")).unwrap_err();
    /// assert_eq!(error.kind(), "io");
    /// ```
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the system's kind of an error of the kind `io`.
    ///
    /// ```
    /// use tilewright_reshard::Job;
    /// let error = Job::of_plan("no-such-plan".as_ref()).unwrap_err();
    /// assert_eq!(error.io_kind(), Some(std::io::ErrorKind::NotFound));
    /// ```
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        self.io
    }

    /// Returns whether the request is wrong, and not a file or the system.
    ///
    /// ```
    /// use tilewright_reshard::{Job, Request};
    /// assert!(!Job::prepare(Request::new("no-such-folder", "out")).unwrap_err().is_usage());
    /// ```
    pub fn is_usage(&self) -> bool {
        !matches!(
            self.kind,
            "io" | "corrupt" | "changed" | "busy" | "incomplete" | "cancelled" | "memory"
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelled(|remedy| remedy.to_string()))
    }
}

tilewright_core::debug_as_display!(Error);

impl std::error::Error for Error {}

impl From<tilewright_error::Error> for Error {
    fn from(error: tilewright_error::Error) -> Error {
        let (io, remedies) = (error.io_kind(), error.remedies().to_vec());
        Error { io, remedies, ..Error::new(error.kind(), error.message()) }
    }
}

impl From<tilewright_core::Error> for Error {
    fn from(error: tilewright_core::Error) -> Error {
        Error::new(error.kind(), error.to_string())
    }
}
