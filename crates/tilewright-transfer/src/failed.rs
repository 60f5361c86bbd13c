//! Errors of moves.

use std::fmt;

use tilewright_core::Remedy;
use tilewright_error::Error;

/// Reasons for which memory is refused.
///
/// ```
/// use tilewright_transfer::{Budget, Refused};
/// let refused = Budget::new(100).buffer(101).unwrap_err();
/// assert_eq!(refused, Refused::Bound { len: 101, used: 0, limit: 100 });
/// assert!(refused.to_string().contains("the bound of 100"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// `len` bytes in addition to the `used` bytes would exceed the limit.
    Bound {
        /// The requested bytes.
        len: u64,
        /// The bytes in use.
        used: u64,
        /// The limit.
        limit: u64,
    },
    /// The system refused a buffer of this number of bytes.
    System(u64),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Bound { len, used, limit } => write!(
                f,
                "{len} bytes of buffers beyond the {used} in use exceed the bound of {limit}"
            ),
            Refused::System(len) => {
                write!(f, "the system refused a buffer of {len} bytes of memory")
            }
        }
    }
}

impl std::error::Error for Refused {}

/// The bound of the caller is a fault of the request; the system's is one of the machine.
impl From<Refused> for Error {
    fn from(refused: Refused) -> Error {
        let (kind, remedy) = match refused {
            Refused::Bound { .. } => ("usage", Remedy::MoreMemory { least: None }),
            Refused::System(_) => ("io", Remedy::LessMemory),
        };
        Error::new(kind, refused.to_string()).of_file().with(&[remedy])
    }
}

/// An error of a move; `E` is the error of the file or of the other place that is read or written.
///
/// ```
/// use tilewright_transfer::{Failed, Refused};
/// let failed: Failed<String> = Refused::System(8).into();
/// assert_eq!(failed.to_string(), "the system refused a buffer of 8 bytes of memory");
/// assert_eq!(Failed::Place("disk full").to_string(), "disk full");
/// ```
#[derive(Debug)]
pub enum Failed<E> {
    /// The program is not supported, or a position is outside its buffer.
    Program(Error),
    /// Memory was refused.
    Memory(Refused),
    /// Bytes `at..at + len` are outside a buffer.
    Outside {
        /// The first byte.
        at: u64,
        /// The number of bytes.
        len: u64,
    },
    /// Reading or writing failed.
    Place(E),
}

impl<E> From<Error> for Failed<E> {
    fn from(error: Error) -> Failed<E> {
        Failed::Program(error)
    }
}

impl<E> From<tilewright_core::Error> for Failed<E> {
    fn from(error: tilewright_core::Error) -> Failed<E> {
        Failed::Program(Error::from(error).about("a layout"))
    }
}

impl<E> From<Refused> for Failed<E> {
    fn from(refused: Refused) -> Failed<E> {
        Failed::Memory(refused)
    }
}

impl<E: From<Refused>> Failed<E> {
    /// Converts the error to `E`: `program` converts errors of the engine, and `outside` makes the error for bytes
    /// beyond the end of a buffer from the position of their end.
    ///
    /// ```
    /// use tilewright_transfer::{Failed, Refused};
    /// # struct Text(String);
    /// # impl From<Refused> for Text {
    /// #     fn from(refused: Refused) -> Text { Text(refused.to_string()) }
    /// # }
    /// let failed: Failed<Text> = Failed::Outside { at: 5, len: 3 };
    /// let error = failed.into_error(|error| Text(error.to_string()), |end| Text(format!("byte {end}")));
    /// assert_eq!(error.0, "byte 8");
    /// ```
    pub fn into_error(
        self,
        program: impl FnOnce(&Error) -> E,
        outside: impl FnOnce(u64) -> E,
    ) -> E {
        match self {
            Failed::Program(error) => program(&error),
            Failed::Memory(refused) => refused.into(),
            Failed::Outside { at, len } => outside(at.saturating_add(len)),
            Failed::Place(error) => error,
        }
    }
}

impl<E: fmt::Display> fmt::Display for Failed<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failed::Program(error) => error.fmt(f),
            Failed::Memory(refused) => refused.fmt(f),
            Failed::Outside { at, len } => write!(f, "bytes {at} + {len} beyond a buffer"),
            Failed::Place(error) => error.fmt(f),
        }
    }
}
