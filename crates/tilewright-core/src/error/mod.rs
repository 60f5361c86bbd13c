//! The error of this crate: one small opaque value with predicates and numbers.
//!
//! An [`Error`] is built in `const fn`, so it does not own text: it has a message with placeholders, the numbers that
//! fill them, and a second sentence that names the legal values. Numbers and witness are packed: an error takes 104
//! bytes, less than Clippy's `result_large_err` reports.
//!
//! [`Packed`] is the numbers of an error and one more part, a coordinate or a text, in 71 bytes. A number takes one
//! byte for sign and length, followed by its bytes without leading zeros: four numbers of any size fit. A coordinate is
//! written in Elias gamma code: an integer `x` takes 2⌊log₂(x + 1)⌋ + 1 bits.
//!
//! Law: each part is read as it was written. Four numbers of 64 bits leave space for every coordinate of a layout: its
//! integers plus 1 multiply to at most 2⁶³, so it takes at most 32 + 2 · 63 bits, which is 20 bytes.

pub(crate) mod message;
pub(crate) mod parse;

use core::fmt;

use self::message::ConstText;
use crate::{Coord, MAX_MODES};

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
    const fn of_text(message: &'static str, numbers: &[i128]) -> Error {
        Error { kind: Kind::Text, message, legal: "", packed: Packed::new(numbers) }
    }

    const fn is_of_text(&self) -> bool {
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

crate::const_fn::debug_as_display!(Error);

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

/// Four numbers of 16 bytes, each after a byte of its own, and a byte that aligns an error to 8.
const PACKED_BYTES: usize = 69;

/// The packed parts of an error; the header of the module describes the format.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packed {
    bytes: [u8; PACKED_BYTES],
    /// The number of numbers.
    count: u8,
    /// The rank of the coordinate plus 1, or the bytes of the text; 0 without either.
    part: u8,
}

impl Packed {
    /// Packs the first four of `numbers`.
    pub(crate) const fn new(numbers: &[i128]) -> Packed {
        let (mut packed, mut at) = (Packed { bytes: [0; PACKED_BYTES], count: 0, part: 0 }, 0);
        while (packed.count as usize) < numbers.len() && packed.count < 4 {
            at = packed.put(at, numbers[packed.count as usize]);
            packed.count += 1;
        }
        packed
    }

    /// Writes a number and returns the byte after it.
    const fn put(&mut self, at: usize, number: i128) -> usize {
        let (mut rest, mut end) = (number.unsigned_abs(), at + 1);
        while rest > 0 {
            self.bytes[end] = rest as u8;
            rest >>= 8;
            end += 1;
        }
        self.bytes[at] = (end - at - 1) as u8 | if number < 0 { 0x80 } else { 0 };
        end
    }

    /// Returns the numbers, followed by zeros, and their count.
    pub(crate) const fn numbers(&self) -> ([i128; 4], usize) {
        let (mut numbers, mut at, mut i) = ([0; 4], 0, 0);
        while i < self.count as usize {
            let (number, end) = self.number(at);
            numbers[i] = number;
            at = end;
            i += 1;
        }
        (numbers, self.count as usize)
    }

    /// Returns the number at a byte, and the byte after it.
    const fn number(&self, at: usize) -> (i128, usize) {
        let end = at + 1 + (self.bytes[at] & 0x7F) as usize;
        let (mut size, mut byte) = (0u128, end);
        while byte > at + 1 {
            byte -= 1;
            size = size << 8 | self.bytes[byte] as u128;
        }
        let number = size as i128;
        (if self.bytes[at] & 0x80 == 0 { number } else { number.wrapping_neg() }, end)
    }

    /// Returns the byte after the numbers.
    const fn end(&self) -> usize {
        let (mut at, mut i) = (0, 0);
        while i < self.count {
            at = self.number(at).1;
            i += 1;
        }
        at
    }

    /// Keeps only the numbers.
    const fn bare(&self) -> Packed {
        Packed::new(self.numbers().0.split_at(self.count as usize).0)
    }

    /// Adds a coordinate if it fits.
    const fn with_witness(self, coord: &Coord) -> Packed {
        let (mut packed, mut i) = (self.bare(), 0);
        let mut bit = 8 * packed.end();
        while i < coord.as_slice().len() {
            let value = coord.as_slice()[i] as u128 + 1;
            let zeros = value.ilog2() as usize;
            let end = bit + 2 * zeros + 1;
            if end > 8 * PACKED_BYTES {
                return self;
            }
            bit += zeros;
            while bit < end {
                let set = (value >> (end - bit - 1)) as u8 & 1;
                packed.bytes[bit / 8] |= set << (bit % 8);
                bit += 1;
            }
            i += 1;
        }
        packed.part = coord.as_slice().len() as u8 + 1;
        packed
    }

    /// Returns the coordinate, if one was added.
    pub(crate) const fn witness(&self) -> Option<Coord> {
        if self.part == 0 || self.part as usize > MAX_MODES + 1 {
            return None;
        }
        let (mut coord, mut bit) = (Coord::EMPTY, 8 * self.end());
        while coord.as_slice().len() + 1 < self.part as usize {
            let start = bit;
            while bit + 1 < 8 * PACKED_BYTES && self.bit(bit) == 0 {
                bit += 1;
            }
            let (mut value, end) = (0u128, 2 * bit - start + 1);
            while bit < end {
                value = value << 1 | self.bit(bit) as u128;
                bit += 1;
            }
            coord.push((value - 1) as u64);
        }
        Some(coord)
    }

    const fn bit(&self, bit: usize) -> u8 {
        self.bytes[bit / 8] >> (bit % 8) & 1
    }

    /// Adds a text if it fits.
    const fn with_text(self, text: &str) -> Packed {
        let (mut packed, mut i) = (self.bare(), 0);
        let end = packed.end();
        if text.len() > PACKED_BYTES - end {
            return self;
        }
        while i < text.len() {
            packed.bytes[end + i] = text.as_bytes()[i];
            i += 1;
        }
        packed.part = text.len() as u8;
        packed
    }

    /// Returns the text, empty unless one was added.
    pub(crate) const fn text(&self) -> &str {
        let bytes = self.bytes.split_at(self.end()).1.split_at(self.part as usize).0;
        match core::str::from_utf8(bytes) {
            Ok(text) => text,
            // Only whole texts are written.
            Err(_) => "",
        }
    }
}

// Parts of messages.

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

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

    const NUMBERS: [i128; 9] = [
        0,
        -1,
        255,
        256,
        i64::MIN as i128,
        u64::MAX as i128,
        -(u64::MAX as i128),
        i128::MAX,
        i128::MIN,
    ];

    #[test]
    fn four_numbers_of_any_size_come_back() {
        for a in NUMBERS {
            for b in NUMBERS {
                for c in NUMBERS {
                    let packed = Packed::new(&[a, b, c, a]);
                    assert_eq!(packed.numbers(), ([a, b, c, a], 4));
                    assert_eq!(Packed::new(&[b, c]).numbers(), ([b, c, 0, 0], 2));
                }
            }
        }
        assert_eq!(Packed::new(&[7; 9]).numbers(), ([7; 4], 4));
        assert_eq!(Packed::new(&[]).witness(), None);
    }

    #[test]
    fn every_coordinate_of_a_layout_fits_beside_four_numbers() {
        let numbers = Packed::new(&[u64::MAX as i128; 4]);
        // The longest: each integer is one below a power of two, and the extents multiply to 2^63.
        for rank in 0..=MAX_MODES {
            for spread in 1..=rank.max(1) {
                let mut axes = std::vec![0u64; rank];
                (0..63 * usize::from(rank > 0)).for_each(|i| {
                    let axis = &mut axes[i % spread];
                    *axis = *axis << 1 | 1;
                });
                let coord = Coord::new(&axes).unwrap();
                assert_eq!(numbers.with_witness(&coord).witness(), Some(coord));
            }
        }
    }

    #[test]
    fn small_coordinates_come_back() {
        let plain = Packed::new(&[1, -2]);
        for x in 0..200u64 {
            for y in (0..64).map(|i| u64::MAX >> i) {
                let coord = Coord::new(&[x, y, 0, x]).unwrap();
                let packed = plain.with_witness(&coord);
                assert_eq!(packed.witness(), Some(coord));
                assert_eq!(packed.numbers(), ([1, -2, 0, 0], 2));
            }
        }
    }

    #[test]
    fn parts_replace_each_other_and_too_long_ones_change_nothing() {
        let here = Coord::new(&[5, 6]).unwrap();
        let packed = Packed::new(&[3]).with_witness(&Coord::new(&[900; 3]).unwrap());
        assert!(packed.with_witness(&here) == Packed::new(&[3]).with_witness(&here));
        let long = Coord::new(&[u64::MAX; MAX_MODES]).unwrap();
        assert!(packed.with_witness(&long) == packed);
        let texts: Vec<_> =
            ["", "é", "row-major"].map(|text| Packed::new(&[3]).with_text(text)).into();
        assert_eq!(texts.iter().map(Packed::text).collect::<Vec<_>>(), ["", "é", "row-major"]);
        assert!(texts[2].with_text(&"x".repeat(68)) == texts[2]);
        assert_eq!(texts[2].with_text(&"x".repeat(67)).text().len(), 67);
    }
}
