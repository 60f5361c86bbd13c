//! [`HloError`]: the error of a text that is not an HLO module, with line and column.

use std::fmt;

use tilewright_core::ParseError;

/// The largest number of bytes of a line that an error shows on either side of the fault.
const AROUND: usize = 60;

/// The error of a text that is not an HLO module, with the line at fault.
///
/// ```
/// use tilewright_xla::HloModule;
/// let text = "HloModule m\nENTRY main {\n  ROOT x = f32[2]{0,1} parameter(0)\n}\n";
/// let error = HloModule::parse(text).unwrap_err();
/// assert_eq!((error.line(), error.column()), (3, 18));
/// let shown: Vec<String> = error.to_string().lines().map(String::from).collect();
/// assert_eq!(shown[0], "line 3, column 18: the shape has 1 dims, but the layout's minor_to_major has 2");
/// assert_eq!(shown[1], "    ROOT x = f32[2]{0,1} parameter(0)");
/// assert_eq!(shown[2], "                   ^^^^^");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct HloError {
    line: usize,
    column: usize,
    /// Boxed, so that a `Result` stays small.
    error: Box<ParseError>,
    /// The part of the line at fault that is shown, and the characters in it between which the fault is.
    shown: String,
    carets: (usize, usize),
}

impl HloError {
    pub(super) fn new(text: &str, error: ParseError) -> HloError {
        let (from, to) = error.span();
        let before = text.get(..from).unwrap_or(text);
        // Lines end with `\n`, `\r\n` or `\r` alone.
        let start = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
        let pairs = before.matches("\r\n").count();
        let line = 1 + before.bytes().filter(|b| matches!(b, b'\n' | b'\r')).count() - pairs;
        let end = text
            .get(from..)
            .and_then(|rest| rest.find(['\n', '\r']))
            .map_or(text.len(), |at| from + at);
        let left = boundary(text, from.saturating_sub(AROUND).max(start));
        let right = boundary(text, from.saturating_add(AROUND).min(end));
        let count =
            |from: usize, to: usize| text.get(from..to).map_or(0, |part| part.chars().count());
        let carets = (count(left, from), count(left, to.clamp(from, right.max(from))));
        let shown = text.get(left..right).unwrap_or("").replace(char::is_control, " ");
        HloError { line, column: 1 + count(start, from), error: Box::new(error), shown, carets }
    }

    /// Returns the number of the line at fault, counted from 1.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let error = HloModule::parse("HloModule m\nENTRY e {\n  ROOT x = f33[2] parameter(0)\n}\n");
    /// assert_eq!(error.unwrap_err().line(), 3);
    /// ```
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the column at which the fault begins, in characters counted from 1.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// // The second `0`; `é` is one character of two bytes.
    /// let text = "HloModule m\nENTRY e {\n  /* é */ ROOT x = f32[2]{0,0} parameter(0)\n}\n";
    /// let error = HloModule::parse(text).unwrap_err();
    /// assert_eq!(error.column(), 29);
    /// ```
    pub fn column(&self) -> usize {
        self.column
    }

    /// Returns the error with its span in the whole text.
    ///
    /// ```
    /// use tilewright_xla::HloModule;
    /// let text = "HloModule m\nENTRY e {\n  ROOT x = f32[2]{0,1} parameter(0)\n}\n";
    /// let error = HloModule::parse(text).unwrap_err();
    /// let (from, to) = error.parse_error().span();
    /// assert_eq!(&text[from..to], "{0,1}");
    /// ```
    pub fn parse_error(&self) -> &ParseError {
        &self.error
    }
}

/// Returns the first position from `at` on that is between two characters.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

impl fmt::Display for HloError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = self.carets;
        writeln!(f, "line {}, column {}: {}", self.line, self.column, self.error)?;
        write!(
            f,
            "  {}\n  {}{}",
            self.shown,
            " ".repeat(from),
            "^".repeat((to - from.min(to)).max(1))
        )
    }
}

tilewright_core::debug_as_display!(HloError);

impl std::error::Error for HloError {}

impl From<HloError> for tilewright_error::Error {
    fn from(error: HloError) -> tilewright_error::Error {
        tilewright_error::Error::new("parse", error.to_string()).with_source(error)
    }
}
