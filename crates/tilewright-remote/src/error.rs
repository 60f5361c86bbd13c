//! Errors about objects.

use std::{fmt, io};

use object_store::client::{HttpError, HttpErrorKind};

use crate::{Error, Location, redacted::redacted};

/// Returns the error of an operation on an object that failed with this cause.
pub(crate) fn failed(location: &Location, doing: &str, cause: impl fmt::Display) -> Error {
    let cause = redacted(&cause.to_string());
    Error::new("io", format!("{location}: cannot {doing}: {cause}")).of_file()
}

/// Returns the error of an object that does not exist.
pub(crate) fn missing(location: &Location, doing: &str) -> Error {
    failed(location, doing, "no such object").of_io(io::ErrorKind::NotFound)
}

/// Returns the error of an object that was replaced while it was read.
pub(crate) fn changed(location: &Location, said: &str) -> Error {
    Error::new("io", format!("{location}: it was changed while it was read: {said}")).of_file()
}

/// Returns the error of a location that does not offer an operation.
pub(crate) fn unsupported(location: &Location, said: &str) -> Error {
    Error::unsupported(format!("{location}: {said}")).of_file()
}

/// Returns the message of a store's error: the client's own words, without the body of the answer beyond its code.
pub(crate) fn said(cause: &object_store::Error) -> String {
    chain(cause)
}

/// Returns whether a request was given up without an answer: the store may still carry it out.
pub(crate) fn is_timeout(cause: &object_store::Error) -> bool {
    let of = self::cause::<HttpError>(cause);
    of.is_some_and(|error| error.kind() == HttpErrorKind::Timeout)
}

/// Returns the first cause of this type.
pub(crate) fn cause<'a, T: std::error::Error + 'static>(
    error: &'a (dyn std::error::Error + 'static),
) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// Returns the message of an error with those of its sources, each once.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let text = source.to_string();
        if !said.contains(&text) {
            said.push_str(": ");
            said.push_str(&text);
        }
        next = source.source();
    }
    said
}
