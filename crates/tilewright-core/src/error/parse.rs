//! The error of every parser of a notation: the span, what was expected, and what would be legal.

use core::fmt::{self, Write as _};

use crate::{Error, error::message::ConstText};

/// The error of a text that is not a layout: the byte span at fault, a sentence, and the nearest legal spelling.
///
/// It borrows nothing and needs no heap, so the parsers of this crate run in constants. [`ParseError::render`] shows it
/// below the text, with a caret:
///
/// ```
/// use tilewright_core::Layout;
/// let text = "(8,32";
/// let error = Layout::parse(text).unwrap_err();
/// assert_eq!(error.span(), (5, 5));
/// assert_eq!(
///     error.render(text).to_string(),
///     "expected `,` or `)`, found the end of the text\n  (8,32\n       ^"
/// );
/// ```
///
/// `Debug` prints the message, like that of [`Error`].
#[derive(Clone, PartialEq, Eq)]
pub struct ParseError {
    from: usize,
    to: usize,
    /// The refusal of the core, or a sentence of the parser.
    error: Error,
}

impl ParseError {
    /// Creates an error at the bytes `from..to` of the text. Each `{}` of `message` is replaced by the next of `numbers`,
    /// at most four. An empty span points between two bytes, or past the end.
    ///
    /// ```
    /// use tilewright_core::ParseError;
    /// // A parser of your own: `8x` is not a number, at byte 1.
    /// let error = ParseError::new((1, 2), "dim {} ends with a letter", [0]);
    /// assert_eq!(error.render("8x").to_string(), "dim 0 ends with a letter\n  8x\n   ^");
    /// ```
    pub const fn new<const N: usize>(
        (from, to): (usize, usize),
        message: &'static str,
        numbers: [i128; N],
    ) -> ParseError {
        ParseError { from, to, error: Error::of_text(message, &numbers) }
    }

    /// Creates the error of a well-formed text whose value the core refuses; `cause` is the refusal.
    ///
    /// ```
    /// use tilewright_core::{Digit, ParseError, Pattern};
    /// // Well formed, but a digit may take the rest of an axis only once.
    /// let cause = Pattern::new(1, &[Digit::rest(0, 0), Digit::rest(0, 1)]).unwrap_err();
    /// let error = ParseError::refused((0, 13), cause.clone());
    /// assert_eq!(error.cause(), Some(&cause));
    /// assert_eq!(error.to_string(), cause.to_string());
    /// ```
    pub const fn refused((from, to): (usize, usize), cause: Error) -> ParseError {
        ParseError { from, to, error: cause }
    }

    /// Adds a suggestion: the nearest legal spelling. It is dropped if it is longer than 48 bytes, if there are more than
    /// two numbers and it does not fit beside them, or if the error is a refusal of the core.
    ///
    /// ```
    /// use tilewright_core::ParseError;
    /// let error = ParseError::new((0, 4), "no such format", []).with_nearest("NHWC");
    /// assert_eq!(error.to_string(), "no such format; did you mean `NHWC`?");
    /// assert_eq!(error.with_nearest(&"N".repeat(49)).nearest(), Some("NHWC"));
    /// ```
    #[must_use]
    pub const fn with_nearest(mut self, nearest: &str) -> ParseError {
        self.error = self.error.with_nearest(nearest);
        self
    }

    /// Returns the error within a longer text, moved by `by` bytes to the right.
    ///
    /// ```
    /// use tilewright_core::ParseError;
    /// // The tile `(2,0)` was read on its own; in the whole text it begins at byte 11.
    /// let error = ParseError::new((3, 4), "a tile of size 0", []).shifted(11);
    /// assert_eq!(error.span(), (14, 15));
    /// ```
    #[must_use]
    pub const fn shifted(mut self, by: usize) -> ParseError {
        self.from = self.from.saturating_add(by);
        self.to = self.to.saturating_add(by);
        self
    }

    /// Returns the bytes at fault, `from..to`.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let text = "(8,32):(32,y)";
    /// let (from, to) = Layout::parse(text).unwrap_err().span();
    /// assert_eq!(&text[from..to], "y");
    /// ```
    pub const fn span(&self) -> (usize, usize) {
        (self.from, self.to)
    }

    /// Returns the nearest legal spelling, if the parser knows one.
    ///
    /// ```
    /// use tilewright_core::ParseError;
    /// let error = ParseError::new((0, 9), "no such order", []);
    /// assert_eq!(error.nearest(), None);
    /// assert_eq!(error.with_nearest("row-major").nearest(), Some("row-major"));
    /// ```
    pub const fn nearest(&self) -> Option<&str> {
        self.error.nearest()
    }

    /// Returns the refusal of the core, if the text itself was well formed.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let cause = |text| Layout::parse(text).unwrap_err().cause().cloned();
    /// // The text is well formed, but the layout would exceed 64 bits.
    /// assert!(cause("(2,2):(9223372036854775807,1)").unwrap().is_overflow());
    /// assert_eq!(cause("(2,2"), None);
    /// ```
    pub const fn cause(&self) -> Option<&Error> {
        if self.error.is_of_text() { None } else { Some(&self.error) }
    }

    /// Panics with the message. [`expect_const!`](crate::expect_const) calls it: in a constant, the message is the
    /// compile error.
    ///
    /// # Panics
    /// Always. It is meant for constants; at run time, handle the error as a value.
    ///
    /// ```compile_fail
    /// use tilewright_core::{IntTuple, expect_const};
    /// // error[E0080]: … `_` keeps a position …
    /// const SHAPE: IntTuple = expect_const!(IntTuple::parse("(8,_)"));
    /// ```
    #[track_caller]
    pub const fn panic_const(&self) -> ! {
        self.error.panic_const()
    }

    /// Panics like [`ParseError::panic_const`], with the position in the text at fault.
    #[track_caller]
    pub(crate) const fn panic_const_in(&self, parsed: &str) -> ! {
        let mut text = ConstText::new();
        self.error.write(&mut text);
        text.fill("; byte {} of `", &[self.from as i128]);
        text.push(parsed);
        text.push("`");
        panic!("{}", text.as_str())
    }

    /// Displays the error in three lines: the message, the parsed `text`, and a caret below the span.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// let text = "(8,32):(32)";
    /// let error = Layout::parse(text).unwrap_err();
    /// let shown = error.render(text).to_string();
    /// assert_eq!(shown.lines().nth(2), Some("         ^^^^"));
    /// ```
    pub const fn render<'a>(&'a self, text: &'a str) -> Rendered<'a> {
        Rendered { error: self, text }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

crate::const_fn::debug_as_display!(ParseError);

impl core::error::Error for ParseError {}

/// Displays a [`ParseError`] below its text; see [`ParseError::render`].
///
/// ```
/// use tilewright_core::{Layout, Rendered};
/// let text = "(4;2)";
/// let error = Layout::parse(text).unwrap_err();
/// let rendered: Rendered = error.render(text);
/// assert_eq!(rendered.to_string().lines().count(), 3);
/// ```
#[must_use]
#[derive(Clone, Copy, Debug)]
pub struct Rendered<'a> {
    error: &'a ParseError,
    text: &'a str,
}

/// The largest number of characters shown: longer texts are cut on both sides of the span.
const SHOWN: usize = 120;

/// Returns the number of characters of `text` before byte `at`.
fn column(text: &str, at: usize) -> usize {
    text.char_indices().take_while(|&(byte, _)| byte < at).count()
}

impl fmt::Display for Rendered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (column(self.text, self.error.from), column(self.text, self.error.to));
        let len = self.text.chars().count();
        let first = from.saturating_sub(SHOWN / 2).min(len.saturating_sub(SHOWN));
        let end = len.min(first + SHOWN);
        write!(f, "{}\n  {}", self.error, if first > 0 { "…" } else { "" })?;
        for c in self.text.chars().take(end).skip(first) {
            f.write_char(if c.is_control() { ' ' } else { c })?;
        }
        f.write_str(if end < len { "…\n  " } else { "\n  " })?;
        (0..from - first + usize::from(first > 0)).try_for_each(|_| f.write_str(" "))?;
        (0..to.min(end).saturating_sub(from).max(1)).try_for_each(|_| f.write_str("^"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn results_are_small_and_debug_is_the_message() {
        assert_eq!(size_of::<Result<u64, ParseError>>(), 120);
        let read = ParseError::new((0, 1), "{} of {}", [1, 2]).with_nearest("yes");
        assert_eq!(std::format!("{read:?}"), "1 of 2; did you mean `yes`?");
        let refused = ParseError::refused((0, 1), Error::limit("{} things", [9], "at most 8"));
        assert_eq!(std::format!("{refused:?}"), "9 things; at most 8");
        assert_eq!(refused.with_nearest("yes").nearest(), None);
        assert_eq!(read.with_nearest("").nearest(), None);
    }

    #[test]
    fn the_caret_counts_characters_not_bytes() {
        let error = ParseError::new((3, 4), "no", []).with_nearest("yes");
        assert_eq!(error.render("é-x").to_string(), "no; did you mean `yes`?\n  é-x\n    ^");
    }

    #[test]
    fn a_long_text_is_cut_around_the_span() {
        let text = ["a".repeat(5000), "é!".to_string(), "b".repeat(5000)].concat();
        let shown = |span| ParseError::new(span, "no", []).render(&text).to_string();
        let lines = |span| shown(span).lines().map(str::to_string).collect::<std::vec::Vec<_>>();
        let a60 = "a".repeat(60);
        let middle = lines((5000, 5003));
        assert_eq!(middle[1], std::format!("  …{a60}é!{}…", "b".repeat(58)));
        assert_eq!(middle[2], std::format!("   {}^^", " ".repeat(60)));
        let first = lines((0, 9000));
        assert_eq!(first[1], std::format!("  {a60}{a60}…"));
        assert_eq!(first[2], std::format!("  {}", "^".repeat(120)));
        let last = lines((text.len(), text.len()));
        assert_eq!(last[1], std::format!("  …{}", "b".repeat(120)));
        assert_eq!(last[2], std::format!("   {}^", " ".repeat(120)));
        let short = "c".repeat(120);
        let whole = ParseError::new((119, 120), "no", []).render(&short).to_string();
        assert_eq!(whole, std::format!("no\n  {short}\n  {}^", " ".repeat(119)));
    }

    #[test]
    fn a_span_past_the_end_points_behind_the_text() {
        assert_eq!(ParseError::new((9, 9), "no", []).render("ab").to_string(), "no\n  ab\n    ^");
    }
}
