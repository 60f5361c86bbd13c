//! The reason why device code for a program cannot be made.

use std::fmt;

/// The reason of a failure, as a sentence that says what would be legal.
///
/// ```
/// use tilewright_device::Alignment;
/// let error = Alignment::new(16, 0).unwrap_err();
/// assert!(error.is_mismatch() && error.to_string().contains("0 to 15"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Mismatch,
    Unsupported,
    Overflow,
}

impl Error {
    pub(crate) fn mismatch(text: String) -> Error {
        Error { kind: Kind::Mismatch, text }
    }

    pub(crate) fn unsupported(text: String) -> Error {
        Error { kind: Kind::Unsupported, text }
    }

    pub(crate) fn overflow(text: String) -> Error {
        Error { kind: Kind::Overflow, text }
    }

    /// Returns a stable word for machines: `mismatch`, `unsupported` or `overflow`.
    ///
    /// ```
    /// assert_eq!(tilewright_device::Alignment::new(0, 99).unwrap_err().kind(), "mismatch");
    /// ```
    pub fn kind(&self) -> &'static str {
        match self.kind {
            Kind::Mismatch => "mismatch",
            Kind::Unsupported => "unsupported",
            Kind::Overflow => "overflow",
        }
    }

    /// Returns whether the numbers of a call do not fit the program.
    ///
    /// ```
    /// assert!(tilewright_device::Alignment::new(0, 99).unwrap_err().is_mismatch());
    /// ```
    pub fn is_mismatch(&self) -> bool {
        self.kind == Kind::Mismatch
    }

    /// Returns whether no kernel supports the program.
    ///
    /// ```
    /// assert!(!tilewright_device::Alignment::new(0, 99).unwrap_err().is_unsupported());
    /// ```
    pub fn is_unsupported(&self) -> bool {
        self.kind == Kind::Unsupported
    }

    /// Returns whether a program is too large for one grid of blocks.
    ///
    /// ```
    /// assert!(!tilewright_device::Alignment::new(0, 99).unwrap_err().is_overflow());
    /// ```
    pub fn is_overflow(&self) -> bool {
        self.kind == Kind::Overflow
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

tilewright_core::debug_as_display!(Error);

impl std::error::Error for Error {}
