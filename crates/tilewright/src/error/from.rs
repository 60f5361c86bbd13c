//! Conversions from the errors of the other crates into [`Error`].

use std::io;

#[cfg(any(feature = "draw", feature = "files"))]
use tilewright_core::Remedy;
use tilewright_core::{self as core, ParseError};
use tilewright_xla::ShapeError;
#[cfg(feature = "xla")]
use tilewright_xla::{HloError, HloSourceError, proto::ProtoError};

use super::{Error, Kind};
#[cfg(feature = "draw")]
use crate::draw::NoAccess;
use crate::picture;

/// Returns an error with the kind of this word. The other crates use the same words.
fn of(word: &str, message: impl Into<String>) -> Error {
    Error::new(Kind::of(word).unwrap_or(Kind::Unsupported), message)
}

impl From<core::Error> for Error {
    fn from(error: core::Error) -> Error {
        let mut own = of(error.kind(), error.to_string());
        own.0.numbers = error.numbers().collect();
        own.with_source(error)
    }
}

impl From<ParseError> for Error {
    fn from(error: ParseError) -> Error {
        let mut own = of(error.cause().map_or("parse", core::Error::kind), error.to_string());
        own.0.span = Some(error.span());
        own.0.numbers = error.cause().map_or(Vec::new(), |cause| cause.numbers().collect());
        own.with_source(error)
    }
}

#[cfg(feature = "files")]
impl From<tilewright_recipe::Errors> for Error {
    fn from(errors: tilewright_recipe::Errors) -> Error {
        use tilewright_recipe::Kind;
        let mut own = of("mismatch", errors.to_string());
        let sizes = errors.iter().any(|error| error.kind() == Kind::Unsolved);
        let allow = errors.iter().any(|error| error.allow().is_some());
        // A remedy that the caller must vouch for is offered only if there are no other faults.
        let config = errors.iter().all(|error| error.kind() == Kind::Config);
        own.0.remedies.extend(config.then_some(Remedy::AnyConfig));
        own.0.remedies.extend(sizes.then_some(Remedy::Sizes));
        own.0.remedies.extend(allow.then_some(Remedy::Allow));
        own.with_source(errors)
    }
}

/// Errors of moves on a device that have no kind here are faults of the device.
impl From<tilewright_error::Error> for Error {
    fn from(error: tilewright_error::Error) -> Error {
        let other = if error.is_device() { Kind::Device } else { Kind::Unsupported };
        let kind = Kind::of(error.kind()).unwrap_or(other);
        let mut own = Error::new(kind, error.message());
        own.0.span = error.span();
        own.0.rendered = error.span().map(|_| error.rendered(|_| String::new()));
        own.0.remedies = error.remedies().to_vec();
        own.0.file = error.is_file();
        own.0.io = error.io_kind();
        own.with_source(error)
    }
}

/// Errors of XLA's shapes. The kind is that of the cause, or `illegal` if a layout is missing.
impl From<ShapeError> for Error {
    fn from(error: ShapeError) -> Error {
        let mut own = of(error.cause().map_or("illegal", core::Error::kind), error.to_string());
        own.0.numbers = error.cause().map_or(Vec::new(), |cause| cause.numbers().collect());
        own.with_source(error)
    }
}

#[cfg(feature = "xla")]
/// Errors of the bytes of a proto. The kind is that of the refused field, or `parse` if the bytes are not a proto.
impl From<ProtoError> for Error {
    fn from(error: ProtoError) -> Error {
        let mut own = of(error.cause().map_or("parse", core::Error::kind), error.to_string());
        own.0.numbers = error.cause().map_or(Vec::new(), |cause| cause.numbers().collect());
        own.with_source(error)
    }
}

#[cfg(feature = "xla")]
/// Errors of the text of a module. The message shows the line.
impl From<HloError> for Error {
    fn from(error: HloError) -> Error {
        Error::new(Kind::Parse, error.to_string()).with_source(error)
    }
}

#[cfg(feature = "xla")]
impl From<HloSourceError> for Error {
    fn from(error: HloSourceError) -> Error {
        let kind = match &error {
            HloSourceError::Text(_) => Kind::Parse,
            HloSourceError::Proto(proto) => Error::from(proto.clone()).0.kind,
        };
        Error::new(kind, error.to_string()).with_source(error)
    }
}

impl From<picture::Unequal> for Error {
    fn from(error: picture::Unequal) -> Error {
        Error::new(Kind::Mismatch, error.to_string()).with_source(error)
    }
}

#[cfg(feature = "draw")]
impl From<NoAccess> for Error {
    fn from(error: NoAccess) -> Error {
        let (kind, remedies) = match error {
            NoAccess::Unknown => (Kind::NeedsDtype, vec![Remedy::Dtype]),
            NoAccess::Packed(_) => (Kind::Unsupported, Vec::new()),
        };
        let mut own = Error::new(kind, error.to_string());
        own.0.remedies = remedies;
        own
    }
}

/// Errors of reading or writing that do not come from another crate.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        let mut own = Error::new(Kind::Io, error.to_string());
        own.0.file = true;
        own.0.io = Some(error.kind());
        own.with_source(error)
    }
}
