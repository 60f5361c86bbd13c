//! The error of this crate: one opaque value with predicates, a span and a sentence.

use std::fmt;

use tilewright_core::{ParseError, Remedy};
use tilewright_scan::Fault;

/// The kind of an error, as far as a caller decides by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Parse,
    Ambiguous,
    NeedsDims,
    NeedsDtype,
    Mismatch,
    Unsupported,
    Limit,
    Overflow,
    OutOfRange,
    Illegal,
    Undecided,
    NotBuilt,
}

/// The names of the kinds for machines.
const NAMES: &[(Kind, &str)] = &[
    (Kind::Parse, "parse"),
    (Kind::Ambiguous, "ambiguous"),
    (Kind::NeedsDims, "needs-dims"),
    (Kind::NeedsDtype, "needs-dtype"),
    (Kind::Mismatch, "mismatch"),
    (Kind::Unsupported, "unsupported"),
    (Kind::Limit, "limit"),
    (Kind::Overflow, "overflow"),
    (Kind::OutOfRange, "out-of-range"),
    (Kind::Illegal, "illegal"),
    (Kind::Undecided, "undecided"),
    (Kind::NotBuilt, "not-built"),
];

/// The error of a text that is not a layout, a SPEC that does not fit an array, or a layout that a notation cannot express.
///
/// Decide by the predicates, show [`Error::render`].
///
/// ```
/// use tilewright_notation::Spec;
/// let error = Spec::parse("(8,32):(32)").unwrap_err();
/// assert!(error.is_parse());
/// assert_eq!(error.span(), Some((7, 11)));
/// assert!(error.render().ends_with("\n  (8,32):(32)\n         ^^^^"));
///
/// let error = Spec::parse("row-major").unwrap().resolve(None, None).unwrap_err();
/// assert!(error.needs_dims() && error.span().is_none());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<ErrorInner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ErrorInner {
    kind: Kind,
    message: String,
    span: Option<(usize, usize)>,
    /// The part of the text that is shown, and the offset at which it begins.
    text: Option<(String, usize)>,
}

impl Error {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Error {
        Error(Box::new(ErrorInner { kind, message: message.into(), span: None, text: None }))
    }

    /// Makes the error of a text that is not a layout; `span` is the bytes at fault, the first one and the one behind the last.
    ///
    /// ```
    /// use tilewright_notation::Error;
    /// let error = Error::parse((2, 3), "expected `)`");
    /// assert!(error.is_parse() && error.span() == Some((2, 3)));
    /// ```
    pub fn parse(span: (usize, usize), message: impl Into<String>) -> Error {
        let mut error = Error::new(Kind::Parse, message);
        error.0.span = Some(span);
        error
    }

    /// Makes the error of a layout that a notation cannot express, or of a value that is not a layout;
    /// `message` is the property in the way.
    ///
    /// ```
    /// use tilewright_notation::Error;
    /// assert!(Error::unsupported("Fortran cannot express a swizzle").is_unsupported());
    /// ```
    pub fn unsupported(message: impl Into<String>) -> Error {
        Error::new(Kind::Unsupported, message)
    }

    /// Makes the error of a layout that is for other arrays than the given one.
    ///
    /// ```
    /// use tilewright_notation::Error;
    /// assert!(Error::mismatch("4 dims are named, and the array has 3").is_mismatch());
    /// ```
    pub fn mismatch(message: impl Into<String>) -> Error {
        Error::new(Kind::Mismatch, message)
    }

    /// Makes the error of a text that needs a feature without which this library was built.
    ///
    /// ```
    /// use tilewright_notation::Error;
    /// let error = Error::not_built("index tables", "tables");
    /// assert_eq!(error.to_string(), "index tables are left out of this build; build it with the feature `tables`");
    /// ```
    pub fn not_built(what: &str, feature: &str) -> Error {
        let said =
            format!("{what} are left out of this build; build it with the feature `{feature}`");
        Error::new(Kind::NotBuilt, said)
    }

    /// Sets the bytes of the text that the error is about.
    pub(crate) fn at(mut self, span: (usize, usize)) -> Error {
        self.0.span = Some(span);
        self
    }

    /// Moves the span `by` bytes to the right, for a longer text.
    pub(crate) fn shifted(mut self, by: usize) -> Error {
        self.0.span =
            self.0.span.map(|(from, to)| (from.saturating_add(by), to.saturating_add(by)));
        self
    }

    /// Adds the whole text that the span refers to.
    pub(crate) fn in_text(mut self, text: &str) -> Error {
        if self.0.span.is_some() {
            self.0.text = Some((text.to_owned(), 0));
        }
        self
    }

    /// Adds the line of a longer text on which its span begins.
    #[cfg(feature = "formats")]
    pub(crate) fn in_line(mut self, text: &str) -> Error {
        let Some((from, _)) = self.0.span else { return self };
        let before = text.get(..from).unwrap_or(text);
        let begins = before.rfind('\n').map_or(0, |at| at + 1);
        let line = text.get(begins..).unwrap_or("").lines().next().unwrap_or("");
        self.0.text = Some((line.to_owned(), begins));
        self
    }

    /// Puts a sentence first that names the subject of the error.
    pub(crate) fn about(mut self, subject: &str) -> Error {
        self.0.message = format!("{subject}: {}", self.0.message);
        self
    }

    fn is(&self, kind: Kind) -> bool {
        self.0.kind == kind
    }

    /// Returns whether the text is not a layout: [`Error::span`] says where.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let error = Spec::parse("f32[3,5]{1,0").unwrap_err();
    /// assert!(error.is_parse() && error.span().is_some());
    /// ```
    pub fn is_parse(&self) -> bool {
        self.is(Kind::Parse)
    }

    /// Returns whether the text has several readings; the message lists them, each with its prefix.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// // FRACTAL_NZ is a zN, and NZ is the name of both.
    /// let error = Spec::parse("Nz").unwrap_err();
    /// assert!(error.is_ambiguous());
    /// assert!(error.to_string().contains("`nZ`") && error.to_string().contains("`NZ`"));
    /// // A prefix decides between an order and a pattern.
    /// assert!(Spec::parse("ab->ab").unwrap_err().is_ambiguous());
    /// assert!(Spec::parse("order:ab->ab").is_ok());
    /// ```
    pub fn is_ambiguous(&self) -> bool {
        self.is(Kind::Ambiguous)
    }

    /// Returns whether the SPEC is general and was resolved without dims.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let nhwc = Spec::parse("NHWC").unwrap();
    /// assert!(nhwc.resolve(None, None).unwrap_err().needs_dims());
    /// assert!(nhwc.resolve(Some(&[1, 3, 8, 8]), None).is_ok());
    /// ```
    pub fn needs_dims(&self) -> bool {
        self.is(Kind::NeedsDims)
    }

    /// Returns whether the SPEC depends on the element type and was resolved without one.
    ///
    /// ```
    /// use tilewright_notation::{Spec, dtype};
    /// // The blocks of a zN are 32 bytes wide, whatever that is in elements.
    /// let zn = Spec::parse("zN").unwrap();
    /// assert!(zn.resolve(Some(&[32, 32]), None).unwrap_err().needs_dtype());
    /// assert!(zn.resolve(Some(&[32, 32]), dtype("f16").ok()).is_ok());
    /// ```
    pub fn needs_dtype(&self) -> bool {
        self.is(Kind::NeedsDtype)
    }

    /// The argument that the caller can give so that the SPEC is resolved.
    ///
    /// ```
    /// use tilewright_core::Remedy;
    /// use tilewright_notation::Spec;
    /// let zn = Spec::parse("zN").unwrap();
    /// let remedy = |dims| zn.resolve(dims, None).unwrap_err().remedy();
    /// assert_eq!(remedy(None), Some(Remedy::Dims));
    /// assert_eq!(remedy(Some(&[32, 32])), Some(Remedy::Dtype));
    /// assert_eq!(remedy(Some(&[32])), None);
    /// ```
    pub fn remedy(&self) -> Option<Remedy> {
        match self.0.kind {
            Kind::NeedsDims => Some(Remedy::Dims),
            Kind::NeedsDtype => Some(Remedy::Dtype),
            _ => None,
        }
    }

    /// Returns whether ranks, dims or dtypes differ that must agree.
    ///
    /// ```
    /// use tilewright_notation::{Spec, dtype};
    /// let nhwc = Spec::parse("NHWC").unwrap();
    /// assert!(nhwc.resolve(Some(&[3, 5]), None).unwrap_err().is_mismatch());
    /// let f32s = Spec::parse("f32[3,5]").unwrap();
    /// assert!(f32s.resolve(None, dtype("bf16").ok()).unwrap_err().is_mismatch());
    /// ```
    pub fn is_mismatch(&self) -> bool {
        self.is(Kind::Mismatch)
    }

    /// Returns whether the notation cannot express this.
    ///
    /// ```
    /// use tilewright_notation::{Spec, notations};
    /// // Strides of NumPy are one number per dim; a tiled layout has two.
    /// let tiled = Spec::parse("f32[3,5]{1,0:T(2,2)}").unwrap().resolve(None, None).unwrap();
    /// let numpy = notations().iter().find(|notation| notation.name() == "numpy").unwrap();
    /// assert!(numpy.print(&tiled).unwrap_err().is_unsupported());
    /// ```
    pub fn is_unsupported(&self) -> bool {
        self.is(Kind::Unsupported)
    }

    /// Returns whether a fixed limit was exceeded: the length of a text, the number of dims or digits.
    ///
    /// ```
    /// use tilewright_notation::{MAX_TEXT, Spec};
    /// assert!(Spec::parse(&" ".repeat(MAX_TEXT + 1)).unwrap_err().is_limit());
    /// ```
    pub fn is_limit(&self) -> bool {
        self.is(Kind::Limit)
    }

    /// Returns whether a size, offset or capacity does not fit 64 bits.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let rows = Spec::parse("row-major").unwrap();
    /// assert!(rows.resolve(Some(&[1 << 40, 1 << 40]), None).unwrap_err().is_overflow());
    /// ```
    pub fn is_overflow(&self) -> bool {
        self.is(Kind::Overflow)
    }

    /// Returns whether the text needs a feature without which this library was built.
    ///
    /// ```
    /// use tilewright_notation::{Spec, TABLES};
    /// let read = Spec::parse("table(0; 1,0) row-major");
    /// assert!(if TABLES { read.is_ok() } else { read.unwrap_err().is_not_built() });
    /// ```
    pub fn is_not_built(&self) -> bool {
        self.is(Kind::NotBuilt)
    }

    /// The bytes of the text at fault, `from..to`; `None` where the error is not about a text.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let text = "{0,1:T(8,128)(2,x)}";
    /// let (from, to) = Spec::parse(text).unwrap_err().span().unwrap();
    /// assert_eq!(&text[from..to], "x");
    /// // Two numbers of dims disagree: no text is at fault.
    /// let error = Spec::parse("NHWC").unwrap().resolve(Some(&[3, 5]), None).unwrap_err();
    /// assert_eq!(error.span(), None);
    /// ```
    pub fn span(&self) -> Option<(usize, usize)> {
        self.0.span
    }

    /// A stable word for machines: `parse`, `ambiguous`, `needs-dims`, `needs-dtype`, `mismatch`,
    /// `unsupported`, `limit`, `overflow`, `out-of-range`, `illegal`, `undecided` or `not-built`.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// assert_eq!(Spec::parse("nz").unwrap_err().kind(), "ambiguous");
    /// assert_eq!(Spec::parse("zN").unwrap().resolve(None, None).unwrap_err().kind(), "needs-dims");
    /// ```
    pub fn kind(&self) -> &'static str {
        NAMES.iter().find(|(kind, _)| *kind == self.0.kind).map_or("parse", |(_, name)| name)
    }

    /// The message; below it, where the error has a span, the text and a caret under the span.
    ///
    /// ```
    /// use tilewright_notation::Spec;
    /// let error = Spec::parse("row-mayor").unwrap_err();
    /// let lines: Vec<String> = error.render().lines().map(String::from).collect();
    /// assert_eq!(lines[1..], ["  row-mayor", "  ^^^^^^^^^"]);
    /// ```
    pub fn render(&self) -> String {
        match (self.0.span, &self.0.text) {
            (Some((from, to)), Some((text, begins))) => {
                let at = |place: usize| place.saturating_sub(*begins).min(text.len());
                let caret = ParseError::new((at(from), at(to)), "", []);
                format!("{}{}", self.0.message, caret.render(text))
            }
            _ => self.0.message.clone(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

tilewright_core::debug_as_display!(Error);

impl std::error::Error for Error {}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        Error::parse(fault.span, fault.message)
    }
}

impl From<ParseError> for Error {
    fn from(error: ParseError) -> Error {
        Error::parse(error.span(), error.to_string())
    }
}

impl From<tilewright_core::Error> for Error {
    fn from(error: tilewright_core::Error) -> Error {
        let kinds = [
            (error.is_limit(), Kind::Limit),
            (error.is_overflow(), Kind::Overflow),
            (error.is_mismatch(), Kind::Mismatch),
            (error.is_out_of_range(), Kind::OutOfRange),
            (error.is_undecided(), Kind::Undecided),
            (error.is_unsupported(), Kind::Unsupported),
        ];
        let kind = kinds.iter().find(|(is, _)| *is).map_or(Kind::Illegal, |(_, kind)| *kind);
        Error::new(kind, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_word_of_its_own() {
        for (i, (kind, name)) in NAMES.iter().enumerate() {
            assert_eq!(Error::new(*kind, "x").kind(), *name);
            assert!(NAMES[..i].iter().all(|(_, other)| other != name));
        }
    }

    #[test]
    fn a_line_of_a_long_text_is_shown_alone() {
        let error = |span| Error::parse(span, "no").in_line("a = 1\nb = 2\nc = 3").render();
        assert_eq!(error((10, 11)), "no\n  b = 2\n      ^");
        assert_eq!(error((6, 17)), "no\n  b = 2\n  ^^^^^");
        assert!(error((17, 17)).starts_with("no\n  c = 3\n"));
    }

    #[test]
    fn an_error_without_a_span_renders_as_its_message() {
        let error = Error::new(Kind::Mismatch, "2 against 3").in_text("text").about("zN");
        assert_eq!(error.render(), "zN: 2 against 3");
    }
}
