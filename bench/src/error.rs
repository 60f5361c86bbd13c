//! The error of this crate.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Definition,
    Machine,
    /// The error of a device, with its own word.
    Device(&'static str),
}

/// The reason why a case cannot be read or run.
///
/// ```
/// let error = tilewright_bench::parse("images", "[[case]]\nname = 3").unwrap_err();
/// assert!(error.is_definition() && error.to_string().starts_with("images.toml: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    message: String,
}

impl Error {
    pub(crate) fn definition(message: impl Into<String>) -> Error {
        Error { kind: Kind::Definition, message: message.into() }
    }

    pub(crate) fn machine(message: impl Into<String>) -> Error {
        Error { kind: Kind::Machine, message: message.into() }
    }

    /// Returns whether a definition is at fault, so no machine could run it.
    ///
    /// ```
    /// use tilewright_bench::Bench;
    /// assert!(!Bench::new(u64::MAX).unwrap_err().is_definition());
    /// ```
    pub fn is_definition(&self) -> bool {
        self.kind == Kind::Definition
    }

    /// Returns a stable word for machines: `usage` for a definition, `machine`, or that of a [device's
    /// error](tilewright::cuda::Error::kind).
    ///
    /// ```
    /// use tilewright_bench::Bench;
    /// assert_eq!(Bench::new(u64::MAX).unwrap_err().word(), "machine");
    /// ```
    pub fn word(&self) -> &'static str {
        match self.kind {
            Kind::Definition => "usage",
            Kind::Machine => "machine",
            Kind::Device(word) => word,
        }
    }

    /// Returns the error with the name of its case.
    pub(crate) fn of(self, name: &str) -> Error {
        Error { message: format!("{name}: {}", self.message), ..self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<tilewright::cuda::Error> for Error {
    fn from(error: tilewright::cuda::Error) -> Error {
        Error { kind: Kind::Device(error.kind()), message: error.to_string() }
    }
}
