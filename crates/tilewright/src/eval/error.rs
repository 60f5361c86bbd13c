//! Why an expression has no value: a kind, a sentence, and the bytes at fault.

use std::{borrow::Cow, fmt};

use tilewright_core as core;
use tilewright_notation as notation;

/// An expression that does not parse, or asks for what does not exist.
///
/// ```
/// let error = tilewright::eval::evaluate("size((2,3)").unwrap_err();
/// assert_eq!((error.kind(), error.span()), ("parse", (10, 10)));
/// assert_eq!(
///     error.render(),
///     "expected `,` or `)`, found the end of the text\n  size((2,3)\n            ^"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: &'static str,
    message: String,
    span: (usize, usize),
    text: String,
}

impl Error {
    pub(super) fn new(
        kind: &'static str,
        span: (usize, usize),
        message: impl Into<String>,
    ) -> Error {
        Error(Box::new(Inner { kind, message: message.into(), span, text: String::new() }))
    }

    /// The text is no expression.
    pub(super) fn parse(span: (usize, usize), message: impl Into<String>) -> Error {
        Error::new("parse", span, message)
    }

    /// A parser of core's refused the text that begins at byte `at`.
    pub(super) fn core_parse(at: usize, error: &core::ParseError) -> Error {
        let (from, to) = error.span();
        let kind = error.cause().map_or("parse", core::Error::kind);
        Error::new(kind, (at + from, at + to), error.to_string())
    }

    /// Core refused what stands at `span`; `subject` says what that is.
    pub(super) fn core(span: (usize, usize), subject: &str, error: &core::Error) -> Error {
        let between = if subject.is_empty() { "" } else { ": " };
        Error::new(error.kind(), span, format!("{subject}{between}{error}"))
    }

    /// Core refused the whole of an expression.
    #[cfg(feature = "draw")]
    pub(crate) fn whole(text: &str, error: &core::Error) -> Error {
        Error::core((0, text.len()), "", error).in_text(text)
    }

    /// A SPEC at `span`, whose own text begins at `at`, was refused.
    pub(super) fn spec(span: (usize, usize), at: usize, error: &notation::Error) -> Error {
        let inner = error.span().map(|(from, to)| (at + from, at + to));
        let hint = if error.needs_dims() || error.needs_dtype() {
            "; write the array before it, such as \"f16[100,100] zN\""
        } else {
            ""
        };
        Error::new(error.kind(), inner.unwrap_or(span), format!("{error}{hint}"))
    }

    /// The same error with the text its span counts in.
    pub(super) fn in_text(mut self, text: &str) -> Error {
        self.0.text = text.to_owned();
        self
    }

    /// A stable word for machines: `parse`, `arguments` (a function is given what it does not take), the
    /// kinds of the core's errors (`mismatch`, `out-of-range`, `overflow`, `limit`, `undecided`,
    /// `unsupported`, `no-layout`, `illegal`), and those of a SPEC's (`needs-dims`, `ambiguous` …).
    ///
    /// ```
    /// use tilewright::eval::evaluate;
    /// let kind = |text| evaluate(text).unwrap_err().kind();
    /// assert_eq!(kind("size((2,3)"), "parse");
    /// assert_eq!(kind("size()"), "arguments");
    /// assert_eq!(kind("logical_divide(10:1, 12:1)"), "mismatch");
    /// ```
    pub fn kind(&self) -> &'static str {
        self.0.kind
    }

    /// The bytes of the expression at fault, `from..to`.
    ///
    /// ```
    /// let text = "coalesce(comlpement(4:2, 24))";
    /// let (from, to) = tilewright::eval::evaluate(text).unwrap_err().span();
    /// assert_eq!(&text[from..to], "comlpement");
    /// ```
    pub fn span(&self) -> (usize, usize) {
        self.0.span
    }

    /// The column of the fault, in characters, from 1.
    ///
    /// ```
    /// // Bytes count from 0, columns from 1 and in characters.
    /// let error = tilewright::eval::evaluate("size( (2,x))").unwrap_err();
    /// assert_eq!((error.span().0, error.column()), (9, 10));
    /// ```
    pub fn column(&self) -> usize {
        self.before(self.0.span.0) + 1
    }

    fn before(&self, byte: usize) -> usize {
        self.0.text.char_indices().take_while(|&(at, _)| at < byte).count()
    }

    /// The message, the expression, of a long one what is round the fault, and a caret under it.
    ///
    /// ```
    /// let error = tilewright::eval::evaluate("siez(4:1)").unwrap_err();
    /// assert_eq!(
    ///     error.render(),
    ///     "no function is called `siez`; did you mean `size`?\n  siez(4:1)\n  ^^^^"
    /// );
    /// ```
    pub fn render(&self) -> String {
        let caret = core::ParseError::new(self.0.span, "", []);
        format!("{}{}", self.0.message, caret.render(&self.0.text))
    }
}

/// A name as a message repeats it: it may be as long as the text.
pub(super) fn shortened(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &name[..end]).into(),
        None => name.into(),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}
