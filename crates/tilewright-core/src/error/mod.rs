//! The error of this crate: one small opaque value with predicates and numbers.
//!
//! An [`Error`] is built in `const fn`, so it does not own text: it has a message with placeholders, the numbers that fill
//! them, and a second sentence that names the legal values. Numbers and witness are packed: an error takes 104 bytes, less
//! than Clippy's `result_large_err` reports.

pub(crate) mod counted;
mod packed;
pub(crate) mod parse;
pub(crate) mod remedy;
mod sentence;

use core::fmt;

use crate::{Coord, error::packed::Packed, error::sentence::ConstText};

/// The longest suggestion of an error, in bytes.
const MAX_NEAREST: usize = 48;

/// The kind of an error, by which a caller may decide.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Limit,
    Overflow,
    Mismatch,
    OutOfRange,
    Illegal,
    Undecided,
    Unsupported,
    NoLayout,
    /// A sentence of a parser, held by a [`ParseError`](crate::ParseError) and never seen by callers.
    Text,
}

/// The error of an operation on layouts that failed.
///
/// The message states the request, the mode, axis or dim at fault with its numbers, and what would be legal. Decide
/// by the predicates, never by the message.
///
/// ```
/// use tilewright_core::{Layout, Mode};
/// let error = Layout::flat(&[Mode::new(u64::MAX, 1)]).unwrap_err();
/// assert!(error.is_overflow());
/// assert!(error.to_string().contains("mode 0"));
/// ```
///
/// `Debug` prints the message too: it is what `unwrap` and `fn main() -> Result<_, Error>` show.
///
/// ```
/// use tilewright_core::TensorLayout;
/// let error = TensorLayout::row_major(&[2, 3]).unwrap().offset(&[2, 0]).unwrap_err();
/// assert_eq!(
///     format!("{error:?}"),
///     "coordinate 2 of dim 0, which has 2; coordinates run from 0 to the extent less one"
/// );
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    message: &'static str,
    legal: &'static str,
    /// The numbers of the message, followed by the integers of the witness.
    packed: Packed,
}

macro_rules! makers {
    ($($(#[$doc:meta])* $name:ident => $kind:ident, $is:ident, $example:literal;)*) => { impl Error { $(
        $(#[$doc])*
        ///
        /// Each `{}` of `message` is replaced by the next of `numbers`; `legal` states what would be legal, or is empty.
        ///
        /// ```
        /// use tilewright_core::Error;
        #[doc = concat!(
            "let error = Error::", stringify!($name),
            "(\"{} things of {}\", [3, 4], \"count again\");\n",
            "assert!(error.", stringify!($is), "());",
        )]
        /// assert_eq!(error.to_string(), "3 things of 4; count again");
        /// ```
        pub const fn $name<const N: usize>(
            message: &'static str,
            numbers: [i128; N],
            legal: &'static str,
        ) -> Error {
            Error { kind: Kind::$kind, message, legal, packed: Packed::new(&numbers) }
        }

        #[doc = concat!("Returns whether this error was created by [`Error::", stringify!($name), "`].")]
        ///
        /// ```
        /// use tilewright_core::{Coord, Layout, Mode, TensorLayout};
        #[doc = concat!("let error = ", $example, ".unwrap_err();")]
        #[doc = concat!("assert!(error.", stringify!($is), "());")]
        /// ```
        pub const fn $is(&self) -> bool {
            matches!(self.kind, Kind::$kind)
        }
    )* } };
}

makers! {
    /// Creates the error that a fixed limit of this crate is exceeded: [`MAX_MODES`](crate::MAX_MODES),
    /// [`MAX_DEPTH`](crate::MAX_DEPTH), [`MAX_STEPS`](crate::MAX_STEPS).
    limit => Limit, is_limit, "Coord::new(&[0; 33])";
    /// Creates the error that a size, offset or capacity overflows 64 bits (invariants I1 to I3 of
    /// [`Layout`](crate::Layout)).
    overflow => Overflow, is_overflow, "TensorLayout::row_major(&[1 << 32, 1 << 32])";
    /// Creates the error that two values that must agree do not: ranks, profiles, extents.
    mismatch => Mismatch, is_mismatch, "TensorLayout::row_major(&[2, 3]).unwrap().offset(&[1])";
    /// Creates the error that a coordinate, index, axis or offset is outside its range.
    out_of_range => OutOfRange, is_out_of_range,
        "TensorLayout::row_major(&[2, 3]).unwrap().offset(&[2, 0])";
    /// Creates the error of a value that no layout can have: a tile of size 0, an axis named twice.
    illegal => Illegal, is_illegal, "TensorLayout::ordered(&[2, 3], &[0, 0])";
    /// Creates the error that the exact answer was not found within the stated budget.
    undecided => Undecided, is_undecided,
        "Layout::parse(\"(999,1000,3):(1000,999,7)\").unwrap().padding_count()";
    /// Creates the error that the operation is defined, but not for this kind of layout; the message names the kind.
    unsupported => Unsupported, is_unsupported,
        "Layout::parse(\"4:1+3\").unwrap().right_inverse()";
    /// Creates the error that the requested map exists, but no shape and strides describe it.
    no_layout => NoLayout, is_no_layout,
        "Layout::parse(\"(6,2):(1,7)\").unwrap().composition(&Layout::parse(\"(3,2):(2,3)\").unwrap())";
}

impl Error {
    /// Returns this error with the coordinate at which it occurs. The message begins with it.
    ///
    /// An error has space for every coordinate of a layout. A coordinate that no layout has may be too long; then the
    /// error is unchanged.
    ///
    /// ```
    /// use tilewright_core::{Coord, Error};
    /// let error = Error::illegal("two elements at offset {}", [7], "separate them");
    /// let error = error.at(Coord::new(&[1, 3]).unwrap());
    /// assert_eq!(error.to_string(), "at (1,3): two elements at offset 7; separate them");
    /// assert!(error.is_illegal());
    /// ```
    #[must_use]
    pub const fn at(self, witness: Coord) -> Error {
        Error { packed: self.packed.with_witness(&witness), ..self }
    }

    /// Returns the stable word for the kind of error: `limit`, `overflow`, `mismatch`, `out-of-range`, `illegal`,
    /// `undecided`, `unsupported` or `no-layout`, one for each predicate.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// let error = TensorLayout::row_major(&[2, 3]).unwrap().offset(&[2, 0]).unwrap_err();
    /// assert_eq!(error.kind(), "out-of-range");
    /// ```
    pub const fn kind(&self) -> &'static str {
        match self.kind {
            Kind::Limit => "limit",
            Kind::Overflow => "overflow",
            Kind::Mismatch => "mismatch",
            Kind::OutOfRange => "out-of-range",
            Kind::Illegal => "illegal",
            Kind::Undecided => "undecided",
            Kind::Unsupported => "unsupported",
            Kind::NoLayout => "no-layout",
            Kind::Text => "",
        }
    }

    /// Returns the numbers of the message, in its order; at most four.
    ///
    /// ```
    /// use tilewright_core::Error;
    /// let error = Error::mismatch("{} coordinates for {} axes", [3, 2], "give one per axis");
    /// assert!(error.numbers().eq([3, 2]));
    /// ```
    pub fn numbers(&self) -> impl Iterator<Item = i128> + use<> {
        let (numbers, count) = self.packed.numbers();
        numbers.into_iter().take(count)
    }

    /// Returns a coordinate at which the error occurs, one integer per axis, if there is one.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let parse = |text| Layout::parse(text).unwrap();
    /// let (a, b) = (parse("(6,2):(1,7)"), parse("(3,2):(2,3)"));
    /// let error = a.composition(&b).unwrap_err();
    /// assert_eq!(error.witness().unwrap().as_slice(), [2, 1]);
    /// assert!(error.to_string().starts_with("at (2,1): "));
    /// ```
    pub const fn witness(&self) -> Option<Coord> {
        if self.is_of_text() { None } else { self.packed.witness() }
    }

    /// Panics with the message. [`expect_const!`](crate::expect_const) calls it: in a constant, the message is the
    /// compile error.
    ///
    /// # Panics
    /// Always. It is meant for constants; at run time, handle the error as a value.
    ///
    /// ```compile_fail
    /// use tilewright_core::{Layout, Mode};
    /// // error[E0080]: … the extents up to mode 0 multiply to 18446744073709551615 coordinates …
    /// const TOO_MANY: Layout = match Layout::flat(&[Mode::new(u64::MAX, 1)]) {
    ///     Ok(layout) => layout,
    ///     Err(error) => error.panic_const(),
    /// };
    /// ```
    #[track_caller]
    pub const fn panic_const(&self) -> ! {
        let mut text = ConstText::new();
        self.write(&mut text);
        panic!("{}", text.as_str())
    }

    /// Creates the error for a sentence of a parser.
    pub(crate) const fn of_text(message: &'static str, numbers: &[i128]) -> Error {
        Error { kind: Kind::Text, message, legal: "", packed: Packed::new(numbers) }
    }

    pub(crate) const fn is_of_text(&self) -> bool {
        matches!(self.kind, Kind::Text)
    }

    /// Returns the nearest legal spelling of what a parser refused.
    pub(crate) const fn nearest(&self) -> Option<&str> {
        if self.is_of_text() && !self.packed.text().is_empty() {
            Some(self.packed.text())
        } else {
            None
        }
    }

    /// Adds a suggestion to the sentence of a parser, if there is space for it.
    pub(crate) const fn with_nearest(self, nearest: &str) -> Error {
        if !self.is_of_text() || nearest.len() > MAX_NEAREST {
            return self;
        }
        Error { packed: self.packed.with_text(nearest), ..self }
    }

    /// Writes the message, for a constant.
    pub(crate) const fn write(&self, text: &mut ConstText) {
        if let Some(coord) = self.witness() {
            text.push("at ");
            text.tuple(coord.as_slice());
            text.push(": ");
        }
        text.fill(self.message, &self.packed.numbers().0);
        if !self.legal.is_empty() {
            text.push("; ");
            text.push(self.legal);
        }
        if let Some(nearest) = self.nearest() {
            text.push("; did you mean `");
            text.push(nearest);
            text.push("`?");
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(coord) = self.witness() {
            write!(f, "at {coord}: ")?;
        }
        fill_holes(f, self.message, &self.packed.numbers().0)?;
        if !self.legal.is_empty() {
            write!(f, "; {}", self.legal)?;
        }
        match self.nearest() {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

crate::macros::debug_as_display!(Error);

impl core::error::Error for Error {}

/// Writes `message` with each `{}` replaced by the next number.
fn fill_holes(f: &mut fmt::Formatter<'_>, message: &str, numbers: &[i128]) -> fmt::Result {
    let mut numbers = numbers.iter();
    let mut pieces = message.split("{}");
    f.write_str(pieces.next().unwrap_or(""))?;
    for piece in pieces {
        match numbers.next() {
            Some(number) => write!(f, "{number}{piece}")?,
            None => write!(f, "{{}}{piece}")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn numbers_fill_the_holes_in_order() {
        let error = Error::mismatch("{} coordinates for {} axes", [3, 2], "give one per axis");
        assert_eq!(error.to_string(), "3 coordinates for 2 axes; give one per axis");
        assert!(error.is_mismatch() && !error.is_limit());
    }

    #[test]
    fn constants_read_as_display_writes() {
        let plain = Error::overflow("{} leaves, {} of {}", [-1, i128::MAX, 0], "");
        let witness = Coord::new(&[u64::MAX, 0, 7]).unwrap();
        let errors = [
            Error::mismatch("{} coordinates for {} axes", [3, 2], "give one per axis").at(witness),
            Error::no_layout("{} {} {} {} {}", [1, 2, 3, 4], "é"),
            plain,
        ];
        for error in errors {
            let mut text = ConstText::new();
            error.write(&mut text);
            assert_eq!(text.as_str(), error.to_string());
            assert_eq!(std::format!("{error:?}"), error.to_string());
        }
    }

    #[test]
    fn results_are_small() {
        assert_eq!((size_of::<Error>(), size_of::<Result<i64, Error>>()), (104, 104));
    }
}
