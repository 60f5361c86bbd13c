//! A module from a file's bytes, whichever of the two forms they are.

use std::fmt;

use super::{HloError, HloModule, scan::Scan};
use crate::proto::ProtoError;

/// Why bytes are no module: what they were taken for, and what is wrong with that.
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
    /// They are text.
    Text(HloError),
    /// They are no text, so a proto.
    Proto(ProtoError),
}

impl HloModule {
    /// Whether bytes begin as a module's text does: with `HloModule`, white space and comments before
    /// it passed over. The beginning of a file is enough.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// assert!(HloModule::begins_as_text(b"\n// a dump\nHloModule m, is_scheduled=true"));
    /// assert!(!HloModule::begins_as_text(b"\x0a\x01m") && !HloModule::begins_as_text(b"HloModules"));
    /// ```
    pub fn begins_as_text(bytes: &[u8]) -> bool {
        Scan::new(&String::from_utf8_lossy(bytes)).name("").is_ok_and(|name| name == "HloModule")
    }

    /// Reads a module from its text or its proto, by what the bytes are: text has no control
    /// characters but tabs and line ends, and a proto has. Bytes of a text that are no UTF-8, as
    /// metadata may have, are read as U+FFFD.
    ///
    /// # Errors
    /// As [`HloModule::parse`] or [`HloModule::from_proto_bytes`].
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
