//! [`Fault`]: an error in a text, with its message and its bytes.

use std::fmt;

/// An error in a text: the message and the byte span that it is about.
///
/// ```
/// use tilewright_scan::{Fault, Scanner};
/// let fault = Scanner::<Fault>::new("(1 2)").list(("(", ")"), 8, Scanner::integer).unwrap_err();
/// assert_eq!(fault, Fault { span: (3, 4), message: "expected `,`, found `2`".into() });
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Fault {
    /// The byte range at fault: the first byte, and the byte after the last.
    pub span: (usize, usize),
    /// The error, and what was expected instead.
    pub message: String,
}

impl Fault {
    pub(crate) fn new(span: (usize, usize), message: impl Into<String>) -> Fault {
        Fault { span, message: message.into() }
    }
}

/// Writes the message alone, such as `expected …, found …`.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for tilewright_error::Error {
    fn from(fault: Fault) -> tilewright_error::Error {
        tilewright_error::Error::parse(fault.span, fault.message)
    }
}
