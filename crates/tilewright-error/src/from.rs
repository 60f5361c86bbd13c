//! Conversions from the errors of core and of the system. Other crates convert their own types.

use std::io;

use tilewright_core::{Error as Refusal, ParseError};

use crate::Error;

/// Keeps kind, message and numbers; the witness is that of the [cause](Error::cause).
impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        let mut error = Error::new(refusal.kind(), refusal.to_string());
        error.0.numbers = refusal.numbers().collect();
        error.with_source(refusal)
    }
}

/// Keeps the span. The kind is that of core's refusal, or `parse` if the text is not well formed.
impl From<ParseError> for Error {
    fn from(parsed: ParseError) -> Error {
        let refusal = parsed.cause();
        let mut error = Error::new(refusal.map_or("parse", Refusal::kind), parsed.to_string());
        error.0.numbers = refusal.map_or(Vec::new(), |refusal| refusal.numbers().collect());
        error.at(parsed.span()).with_source(parsed)
    }
}

/// Errors of reading or writing that do not come from another crate.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::new("io", error.to_string()).of_file().with_source(error)
    }
}
