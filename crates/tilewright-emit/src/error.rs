//! The error of this crate: a kind and a sentence.

use std::fmt;

/// The reason why a layout has no such function, or why a text is not valid.
///
/// ```
/// use tilewright_core::{Layout, TensorLayout};
/// use tilewright_emit::Digits;
/// let copies = TensorLayout::of(&Layout::parse("(4,3):(1,0)").unwrap());
/// let error = Digits::of(&copies)?.coord().unwrap_err();
/// assert_eq!(error.kind(), "unsupported");
/// assert!(error.to_string().contains("several coordinates"), "{error}");
/// # Ok::<(), tilewright_emit::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: &'static str,
    message: String,
}

impl Error {
    pub(crate) fn unsupported(message: impl Into<String>) -> Error {
        Error { kind: "unsupported", message: message.into() }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Error {
        Error { kind: "usage", message: message.into() }
    }

    /// Returns the kind: `unsupported` or `usage`.
    ///
    /// ```
    /// assert_eq!("cobol".parse::<tilewright_emit::Language>().unwrap_err().kind(), "usage");
    /// ```
    pub fn kind(&self) -> &'static str {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

tilewright_core::debug_as_display!(Error);

impl std::error::Error for Error {}
