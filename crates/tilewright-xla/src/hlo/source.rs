//! Reads a module from the bytes of a file, as text or as a proto.

use super::{HloModule, scan::Scan};
use crate::Error;

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
    /// let error = HloModule::from_bytes(b"hello\n").unwrap_err();
    /// assert!(error.to_string().starts_with("as HLO text: line 1, column 1: expected `HloModule`"));
    /// let error = HloModule::from_bytes(b"\x0a\x05m").unwrap_err();
    /// assert!(error.to_string().starts_with("as the bytes of an HloModuleProto: "));
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<HloModule, Error> {
        let control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
        if HloModule::begins_as_text(bytes) || !bytes.iter().any(control) {
            let read = HloModule::parse(&String::from_utf8_lossy(bytes));
            read.map_err(|error| error.about("as HLO text"))
        } else {
            let read = HloModule::from_proto_bytes(bytes);
            read.map_err(|error| error.about("as the bytes of an HloModuleProto"))
        }
    }
}
