//! The error of this crate: one small opaque value with predicates and numbers.

use std::fmt;

/// The driver's numbers for code of an architecture that it cannot run, and for PTX that is newer than the driver.
const NO_BINARY: i32 = 209;
const UNSUPPORTED_PTX: i32 = 222;

/// The kind of an error, as far as a caller decides by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    NoDriver,
    NoDevice,
    NoCompiler,
    TooOld,
    Architecture,
    Memory,
    Devices,
    Stream,
    Captured,
    Compile,
    Driver,
    Buffer,
    Limit,
    Unsupported,
}

/// The reason why data could not be moved on a device.
///
/// The message states the request, with its numbers, and what would be legal. Decide by the predicates, never by the
/// message. Unless the kind is `driver`, nothing has been written.
///
/// ```
/// use tilewright_cuda::{Cuda, Settings};
/// let nowhere = Settings::default().with_driver("no/such/libcuda.so");
/// let error = Cuda::open(&nowhere).unwrap_err();
/// assert_eq!(error.kind(), "no-driver");
/// assert!(error.to_string().contains("no/such/libcuda.so"), "{error}");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    message: String,
    code: Option<i32>,
}

impl Error {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), code: None }
    }

    /// Makes the error of a driver call that failed with this number.
    pub(crate) fn of_call(message: String, code: i32) -> Error {
        Error { kind: Kind::Driver, message, code: Some(code) }
    }

    /// Returns the error with its subject before the message.
    pub(crate) fn about(mut self, what: &str) -> Error {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// Returns the error about code for an architecture from a compiler. Its kind is `architecture` if the driver does
    /// not accept such code.
    pub(crate) fn of_code(mut self, architecture: &str, compiler: &str) -> Error {
        self.message = format!("code for {architecture} by {compiler}: {}", self.message);
        if matches!(self.code, Some(NO_BINARY | UNSUPPORTED_PTX)) {
            self.kind = Kind::Architecture;
            self.message
                .push_str("; take the compiler of the driver's version of CUDA, or a newer driver");
        }
        self
    }

    /// Returns the error with the driver's number.
    pub(crate) fn with_code(mut self, code: i32) -> Error {
        self.code = Some(code);
        self
    }

    /// Returns a stable word for machines:
    ///
    /// | word | meaning |
    /// |---|---|
    /// | `no-driver`, `no-compiler` | a library was not found; the message lists the names and places that were tried |
    /// | `too-old` | a library lacks a function that is needed |
    /// | `no-device` | the driver works, but finds no device |
    /// | `architecture` | the compiler makes no code for this device, or none that the driver accepts |
    /// | `memory` | an address is not in memory that a device can reach |
    /// | `devices` | the memory of source, destination or stream is on different devices |
    /// | `stream` | a stream of a context that is not the device's primary one |
    /// | `captured` | code would have to be loaded while the stream is captured |
    /// | `compile` | the compiler refused a kernel; the message has its log |
    /// | `driver` | a call of the driver's failed: [`Error::code`] |
    /// | `buffer` | memory too short for the plan, or memory that overlaps |
    /// | `limit` | a stated bound is reached |
    /// | `unsupported` | no kernel supports the move |
    ///
    /// ```
    /// use tilewright_cuda::{Cuda, Settings};
    /// let nowhere = Settings::default().with_driver("no/such/libcuda.so");
    /// assert_eq!(Cuda::open(&nowhere).unwrap_err().kind(), "no-driver");
    /// ```
    pub fn kind(&self) -> &'static str {
        match self.kind {
            Kind::NoDriver => "no-driver",
            Kind::NoDevice => "no-device",
            Kind::NoCompiler => "no-compiler",
            Kind::TooOld => "too-old",
            Kind::Architecture => "architecture",
            Kind::Memory => "memory",
            Kind::Devices => "devices",
            Kind::Stream => "stream",
            Kind::Captured => "captured",
            Kind::Compile => "compile",
            Kind::Driver => "driver",
            Kind::Buffer => "buffer",
            Kind::Limit => "limit",
            Kind::Unsupported => "unsupported",
        }
    }

    /// Returns whether this machine cannot run kernels at all: no driver, no device, no compiler, or libraries that are
    /// too old.
    ///
    /// ```
    /// use tilewright_cuda::{Cuda, Settings};
    /// let nowhere = Settings::default().with_driver("no/such/libcuda.so");
    /// assert!(Cuda::open(&nowhere).unwrap_err().is_unavailable());
    /// ```
    pub fn is_unavailable(&self) -> bool {
        matches!(self.kind, Kind::NoDriver | Kind::NoDevice | Kind::NoCompiler | Kind::TooOld)
    }

    /// Returns whether code would have to be loaded while the stream is captured. To avoid it, run the same move once
    /// before the capture.
    ///
    /// ```
    /// use tilewright_cuda::{Cuda, Settings};
    /// let nowhere = Settings::default().with_driver("no/such/libcuda.so");
    /// assert!(!Cuda::open(&nowhere).unwrap_err().is_captured());
    /// ```
    pub fn is_captured(&self) -> bool {
        self.kind == Kind::Captured
    }

    /// Returns the number of the driver's or of the compiler's error, if one of their calls failed.
    ///
    /// ```
    /// use tilewright_cuda::{Cuda, Settings};
    /// let nowhere = Settings::default().with_driver("no/such/libcuda.so");
    /// assert_eq!(Cuda::open(&nowhere).unwrap_err().code(), None);
    /// ```
    pub fn code(&self) -> Option<i32> {
        self.code
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
