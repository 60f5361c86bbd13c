//! The error of fingerprints.

use std::fmt;

/// A kind of error, and a sentence that says what would be legal.
///
/// ```
/// let error = "xyz".parse::<tilewright_fingerprint::Key>().unwrap_err();
/// assert!(error.is_text() && error.to_string().contains("1 to 32 hexadecimal digits"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Mismatch,
    Buffer,
    Unsupported,
}

impl Error {
    pub(crate) fn text(text: String) -> Error {
        Error { kind: Kind::Text, text }
    }

    pub(crate) fn mismatch(text: String) -> Error {
        Error { kind: Kind::Mismatch, text }
    }

    pub(crate) fn buffer(text: String) -> Error {
        Error { kind: Kind::Buffer, text }
    }

    pub(crate) fn unsupported(text: String) -> Error {
        Error { kind: Kind::Unsupported, text }
    }

    /// Returns a stable word for programs: `parse`, `mismatch`, `buffer` or `unsupported`.
    ///
    /// ```
    /// assert_eq!("12".parse::<tilewright_fingerprint::Fingerprint>().unwrap_err().kind(), "parse");
    /// ```
    pub fn kind(&self) -> &'static str {
        match self.kind {
            Kind::Text => "parse",
            Kind::Mismatch => "mismatch",
            Kind::Buffer => "buffer",
            Kind::Unsupported => "unsupported",
        }
    }

    /// Returns whether a text is not a key or not a fingerprint.
    ///
    /// ```
    /// assert!("12".parse::<tilewright_fingerprint::Fingerprint>().unwrap_err().is_text());
    /// ```
    pub fn is_text(&self) -> bool {
        self.kind == Kind::Text
    }

    /// Returns whether an origin, a part or a list of dims does not fit an array.
    ///
    /// ```
    /// use tilewright_core::{Dtype, TensorLayout};
    /// use tilewright_fingerprint::Array;
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// assert!(Array::new(&layout, Dtype::U8).unwrap().at(&[0]).unwrap_err().is_mismatch());
    /// ```
    pub fn is_mismatch(&self) -> bool {
        self.kind == Kind::Mismatch
    }

    /// Returns whether there are too few bytes.
    ///
    /// ```
    /// use tilewright_core::{Dtype, TensorLayout};
    /// use tilewright_fingerprint::{Array, Key};
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let array = Array::new(&layout, Dtype::U8).unwrap();
    /// assert!(array.fingerprint(&[0; 5], &Key::default()).unwrap_err().is_buffer());
    /// ```
    pub fn is_buffer(&self) -> bool {
        self.kind == Kind::Buffer
    }

    /// Returns whether elements have an unsupported width or offsets below 0.
    ///
    /// ```
    /// use tilewright_core::{Dtype, TensorLayout};
    /// use tilewright_fingerprint::Array;
    /// let layout = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let array = Array::new(&layout, Dtype::F16).unwrap();
    /// assert!(array.bits(12).unwrap_err().is_unsupported());
    /// ```
    pub fn is_unsupported(&self) -> bool {
        self.kind == Kind::Unsupported
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

tilewright_core::debug_as_display!(Error);

impl std::error::Error for Error {}
