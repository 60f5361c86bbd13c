//! The error of this crate: a small opaque value with predicates.

use core::fmt;

/// The kind of an error, by which callers decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Buffer,
    Mismatch,
    OutOfRange,
    Overflow,
    SecondBuffer,
    Undecided,
    Unsupported,
}

/// The reason why a plan could not be made or run.
///
/// The message states what was requested, with its numbers, and what would be legal. Programs decide by the predicates,
/// never by the message.
///
/// ```
/// use tilewright_core::TensorLayout;
/// use tilewright_relayout::{Elements, Plan};
/// let layout = TensorLayout::row_major(&[4]).unwrap();
/// let plan = Plan::new(&layout, &layout, Elements::same(16), 0).unwrap();
/// let error = plan.run(&[0; 7], &mut [0; 8], 1).unwrap_err();
/// assert!(error.is_buffer());
/// assert_eq!(error.to_string(), "a source of 7 bytes is too short; the plan reads 8");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    message: String,
}

impl Error {
    pub(crate) fn buffer(message: String) -> Error {
        Error { kind: Kind::Buffer, message }
    }

    pub(crate) fn mismatch(message: String) -> Error {
        Error { kind: Kind::Mismatch, message }
    }

    pub(crate) fn overflow(message: String) -> Error {
        Error { kind: Kind::Overflow, message }
    }

    pub(crate) fn second_buffer(message: String) -> Error {
        Error { kind: Kind::SecondBuffer, message }
    }

    pub(crate) fn unsupported(message: String) -> Error {
        Error { kind: Kind::Unsupported, message }
    }

    /// Wraps an error of the core; `what` names the object that the core was asked about.
    pub(crate) fn of(what: &str, error: &tilewright_core::Error) -> Error {
        let kind = if error.is_undecided() {
            Kind::Undecided
        } else if error.is_overflow() {
            Kind::Overflow
        } else if error.is_mismatch() {
            Kind::Mismatch
        } else if error.is_out_of_range() {
            Kind::OutOfRange
        } else {
            Kind::Unsupported
        };
        Error { kind, message: format!("{what}: {error}") }
    }

    /// Returns a stable word for programs: `buffer`, `mismatch`, `out-of-range`, `overflow`, `second-buffer`,
    /// `undecided` or `unsupported`.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let rows = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let other = TensorLayout::row_major(&[3, 2]).unwrap();
    /// assert_eq!(Plan::new(&rows, &other, Elements::same(8), 0).unwrap_err().kind(), "mismatch");
    /// ```
    pub fn kind(&self) -> &'static str {
        match self.kind {
            Kind::Buffer => "buffer",
            Kind::Mismatch => "mismatch",
            Kind::OutOfRange => "out-of-range",
            Kind::Overflow => "overflow",
            Kind::SecondBuffer => "second-buffer",
            Kind::Undecided => "undecided",
            Kind::Unsupported => "unsupported",
        }
    }

    /// Returns whether a buffer or a byte range does not fit the plan.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert!(plan.run(&[0; 5], &mut [0; 6], 1).unwrap_err().is_buffer());
    /// ```
    pub fn is_buffer(&self) -> bool {
        self.kind == Kind::Buffer
    }

    /// Returns whether the logical extents of source and destination differ.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// let other = TensorLayout::row_major(&[3, 2]).unwrap();
    /// assert!(Plan::new(&src, &other, Elements::same(8), 0).unwrap_err().is_mismatch());
    /// ```
    pub fn is_mismatch(&self) -> bool {
        self.kind == Kind::Mismatch
    }

    /// Returns whether a part reaches beyond an array.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Program};
    /// let rows = TensorLayout::row_major(&[4, 6]).unwrap();
    /// let part = |row| {
    ///     Program::of_part((&rows, &[0, 0]), (&rows, &[row, 0]), &[2, 6], Elements::same(8))
    /// };
    /// assert!(part(2).is_ok());
    /// assert!(part(3).unwrap_err().is_out_of_range());
    /// ```
    pub fn is_out_of_range(&self) -> bool {
        self.kind == Kind::OutOfRange
    }

    /// Returns whether a size exceeds what this machine can address.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// let vast = TensorLayout::row_major(&[1 << 62]).unwrap();
    /// assert!(Plan::new(&vast, &vast, Elements::same(64), 0).unwrap_err().is_overflow());
    /// ```
    pub fn is_overflow(&self) -> bool {
        self.kind == Kind::Overflow
    }

    /// Returns whether a plan cannot run in place and needs a second buffer.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[3000, 5000]).unwrap();
    /// let dst = TensorLayout::col_major(&[3000, 5000]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert!(plan.in_place().unwrap_err().is_second_buffer());
    /// ```
    pub fn is_second_buffer(&self) -> bool {
        self.kind == Kind::SecondBuffer
    }

    /// Returns whether the stated budget did not suffice to decide that the destination is injective.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// let hard = tilewright_core::Layout::parse("(50,50,50):(10007,10009,10037)").unwrap();
    /// let (hard, src) = (TensorLayout::of(&hard), TensorLayout::row_major(&[50; 3]).unwrap());
    /// assert!(Plan::new(&src, &hard, Elements::same(8), 0).unwrap_err().is_undecided());
    /// ```
    pub fn is_undecided(&self) -> bool {
        self.kind == Kind::Undecided
    }

    /// Returns whether the layouts or widths cannot be moved: a destination in which elements share storage, negative
    /// offsets, or an element width outside the list.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_relayout::{Elements, Plan};
    /// let src = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let dst = TensorLayout::col_major(&[2, 3]).unwrap();
    /// let plan = Plan::new(&src, &dst, Elements::same(8), 0).unwrap();
    /// assert!(Plan::new(&src, &dst, Elements::same(12), 0).unwrap_err().is_unsupported());
    /// ```
    pub fn is_unsupported(&self) -> bool {
        self.kind == Kind::Unsupported
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

tilewright_core::debug_as_display!(Error);

impl core::error::Error for Error {}

impl From<tilewright_core::Error> for Error {
    fn from(error: tilewright_core::Error) -> Error {
        Error::of("a layout", &error)
    }
}
