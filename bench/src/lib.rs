//! Benchmarks of relayout as data: the moves are written in `definitions/*.toml`, with the checksums of the bytes that
//! they must produce, and are measured next to memcpy in the same run.
//!
//! | want | call |
//! |---|---|
//! | the cases | [`definitions`], [`Definition::case`] |
//! | a case as its plan and bytes | [`Case::plan`], [`data`] |
//! | its boxes, for other libraries | [`Case::boxes`] |
//! | the expected bytes, one element at a time | [`Case::expected`] |
//! | cases for which nothing was tuned | [`random`], [`Case::given`] |
//! | buffers at the offsets of `malloc` | [`Case::at`] |
//! | buffers on small pages | [`Bench::on_pages`] |
//! | measurements | [`Bench`] |
//! | measurements on a device | [`DeviceBench`], [`Case::of_bytes`] |
//! | summaries of many measurements | [`summary`], [`tiny`], [`planning`] |
//!
//! ```
//! use tilewright_bench::{Bench, Effort, Size, definitions};
//! let all = definitions()?;
//! let turned = all.iter().find(|case| case.name() == "transpose-f32-odd").unwrap();
//! let case = turned.case(Size::Small)?;
//! let row = Bench::new(case.bytes())?.relayout(&case, 1, Effort::quick())?;
//! assert!(row.is_right() && row.gb_per_s() > 0.0);
//! # Ok::<(), tilewright_bench::Error>(())
//! ```
#![forbid(unsafe_code)]

mod case;
mod check;
pub mod data;
mod definition;
mod device;
mod machine;
mod measure;
mod random;
mod row;

use std::fmt;

pub use case::{Boxed, Case, Offsets, Size};
pub use definition::{Definition, definitions, parse};
pub use device::{Asked, DeviceBench, DeviceRow};
pub use machine::{Machine, Pages};
pub use measure::{Bench, Effort};
pub use random::{RANDOM_BYTES, random};
pub use row::{Planning, Row, Summary, Tiny, planning, summary, tiny};
pub use tilewright::relayout::Loop;

// The error of this crate.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Definition,
    Machine,
    /// The error of a device, with its own word.
    Device(&'static str),
}

/// The reason why a case cannot be read or run.
///
/// ```
/// let error = tilewright_bench::parse("images", "[[case]]\nname = 3").unwrap_err();
/// assert!(error.is_definition() && error.to_string().starts_with("images.toml: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    message: String,
}

impl Error {
    pub(crate) fn definition(message: impl Into<String>) -> Error {
        Error { kind: Kind::Definition, message: message.into() }
    }

    pub(crate) fn machine(message: impl Into<String>) -> Error {
        Error { kind: Kind::Machine, message: message.into() }
    }

    /// Returns whether a definition is at fault, so no machine could run it.
    ///
    /// ```
    /// use tilewright_bench::Bench;
    /// assert!(!Bench::new(u64::MAX).unwrap_err().is_definition());
    /// ```
    pub fn is_definition(&self) -> bool {
        self.kind == Kind::Definition
    }

    /// Returns a stable word for machines: `usage` for a definition, `machine`, or that of a [device's
    /// error](tilewright::cuda::Error::kind).
    ///
    /// ```
    /// use tilewright_bench::Bench;
    /// assert_eq!(Bench::new(u64::MAX).unwrap_err().word(), "machine");
    /// ```
    pub fn word(&self) -> &'static str {
        match self.kind {
            Kind::Definition => "usage",
            Kind::Machine => "machine",
            Kind::Device(word) => word,
        }
    }

    /// Returns the error with the name of its case.
    pub(crate) fn of(self, name: &str) -> Error {
        Error { message: format!("{name}: {}", self.message), ..self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<tilewright::cuda::Error> for Error {
    fn from(error: tilewright::cuda::Error) -> Error {
        Error { kind: Kind::Device(error.kind()), message: error.to_string() }
    }
}
