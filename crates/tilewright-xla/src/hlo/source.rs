//! Reads a module from the bytes of a file, as text or as a proto.

use std::fmt;

use super::{HloError, HloModule, scan::Scan};
use crate::proto::ProtoError;

/// The error of bytes that are not a module, as text or as a proto.
///
/// ```
/// use tilewright_xla::{HloModule, HloSourceError};
/// let error = HloModule::from_bytes(b"hello\n").unwrap_err();
/// assert!(matches!(error, HloSourceError::Text(_)));
/// assert!(error.to_string().starts_with("as HLO text: line 1, column 1: expected `HloModule`"));
/// let error = HloModule::from_bytes(b"\x0a\x05m").unwrap_err();
/// assert!(error.to_string().starts_with("as the bytes of an HloModuleProto: "));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub enum HloSourceError {
    /// The bytes are text.
    Text(HloError),
    /// The bytes are not text, so they were read as a proto.
    Proto(ProtoError),
}

impl HloModule {
    /// Returns whether bytes begin like the text of a module: with `HloModule` or `ENTRY`, after white space and comments. The
    /// beginning of a file suffices.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// assert!(HloModule::begins_as_text(b"\n// a dump\nHloModule m, is_scheduled=true"));
    /// assert!(!HloModule::begins_as_text(b"\x0a\x01m") && !HloModule::begins_as_text(b"HloModules"));
    /// ```
    pub fn begins_as_text(bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        Scan::new(&text).name("").is_ok_and(|name| matches!(name, "HloModule" | "ENTRY"))
    }

    /// Reads a module from its text or its proto. Bytes that begin with `HloModule`, or whose only control characters are
    /// white space, are text; others are a proto. Bytes of a text that are not UTF-8, as in metadata, are read as U+FFFD.
    ///
    /// # Errors
    /// Those of [`HloModule::parse`] or [`HloModule::from_proto_bytes`].
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// assert_eq!(HloModule::from_bytes(b"HloModule m").unwrap().name, "m");
    /// assert_eq!(HloModule::from_bytes(b"\x0a\x01m\x1a\x00").unwrap().name, "m");
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<HloModule, HloSourceError> {
        let control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
        if HloModule::begins_as_text(bytes) || !bytes.iter().any(control) {
            HloModule::parse(&String::from_utf8_lossy(bytes)).map_err(HloSourceError::Text)
        } else {
            HloModule::from_proto_bytes(bytes).map_err(HloSourceError::Proto)
        }
    }
}

impl fmt::Display for HloSourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HloSourceError::Text(error) => write!(f, "as HLO text: {error}"),
            HloSourceError::Proto(error) => write!(f, "as the bytes of an HloModuleProto: {error}"),
        }
    }
}

tilewright_core::debug_as_display!(HloSourceError);

impl std::error::Error for HloSourceError {}

impl From<HloSourceError> for tilewright_error::Error {
    fn from(error: HloSourceError) -> tilewright_error::Error {
        let made = match &error {
            HloSourceError::Text(text) => tilewright_error::Error::from(text.clone()),
            HloSourceError::Proto(proto) => proto.clone().into(),
        };
        made.with_message(error.to_string())
    }
}
