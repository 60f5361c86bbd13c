//! [`Fault`]: what is wrong with a text, and where.

use std::fmt;

/// Bytes of a text, the first one and the one behind the last, and what is wrong with them.
///
/// ```
/// use tilewright_scan::{Fault, Scanner};
/// let fault = Scanner::<Fault>::new("(1 2)").list(("(", ")"), 8, Scanner::integer).unwrap_err();
/// assert_eq!(fault, Fault { span: (3, 4), message: "expected `,`, found `2`".into() });
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Fault {
    /// The bytes at fault.
    pub span: (usize, usize),
    /// What is wrong, and what was expected.
    pub message: String,
}

impl Fault {
    pub(crate) fn new(span: (usize, usize), message: impl Into<String>) -> Fault {
        Fault { span, message: message.into() }
    }
}

/// `expected …, found …`.
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
