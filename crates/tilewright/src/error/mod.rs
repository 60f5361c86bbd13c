//! [`Error`], the one error type of this crate.
//!
//! Every other crate has its own error type, which covers only the failures of that crate. [`Error`] is made from each of them,
//! so a function that parses, plans and writes needs one type for its `?`. It keeps the kind, the span or the numbers, and what
//! to do about the error as a [`Remedy`].

mod from;
mod kind;

use std::{fmt, io};

use tilewright_core::{ParseError, Remedy};

use self::kind::Kind;

/// Error of parsing, building, moving, reading or writing.
///
/// Decide by the predicates, never by the message. Show [`Error::render`].
///
/// ```
/// use tilewright::{Error, Remedy, Spec, TensorLayout};
/// fn offset(spec: &str) -> Result<i64, Error> {
///     let rows = TensorLayout::row_major(&[100, 100])?;
///     Ok(Spec::parse(spec)?.resolve(Some(rows.extents()), None)?.layout().offset(&[99, 99])?)
/// }
/// assert_eq!(offset("zN[C0=16]").unwrap(), 12339);
///
/// let error = offset("zM").unwrap_err();
/// assert!(error.is_parse());
/// assert_eq!(error.span(), Some((0, 2)));
///
/// let error = offset("zN").unwrap_err();
/// assert!(error.needs_dtype());
/// assert_eq!(error.remedies(), [Remedy::Dtype]);
/// ```
pub struct Error(Box<ErrorInner>);

struct ErrorInner {
    kind: Kind,
    /// The request and the reason of the refusal, without remedies.
    message: String,
    /// The message above the text, with a caret, if a text is at fault.
    rendered: Option<String>,
    span: Option<(usize, usize)>,
    /// The part of the question at fault.
    field: Option<&'static str>,
    numbers: Vec<i128>,
    remedies: Vec<Remedy>,
    /// True if the error is about a file that is read or written.
    file: bool,
    /// The kind of failure that the system reported.
    io: Option<io::ErrorKind>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    fn new(kind: Kind, message: impl Into<String>) -> Error {
        Error(Box::new(ErrorInner {
            kind,
            message: message.into(),
            rendered: None,
            span: None,
            field: None,
            numbers: Vec::new(),
            remedies: Vec::new(),
            file: false,
            io: None,
            source: None,
        }))
    }

    /// Returns an error of the kind with this word, about the bytes at `span`.
    #[cfg(feature = "questions")]
    pub(crate) fn at(word: &str, span: (usize, usize), message: impl Into<String>) -> Error {
        let mut error = Error::new(Kind::of(word).unwrap_or(Kind::Unsupported), message);
        error.0.span = Some(span);
        error
    }

    /// Returns the error of a question whose part `field` is not understood.
    ///
    /// ```
    /// use tilewright::Error;
    /// let error = Error::usage("vector", "expected an integer");
    /// assert!(error.is_usage() && error.field() == Some("vector"));
    /// ```
    pub fn usage(field: &'static str, message: impl Into<String>) -> Error {
        Error::new(Kind::Usage, message).in_field(field)
    }

    /// Returns the error of a file, of the kind with this word.
    #[cfg(feature = "xla")]
    pub(crate) fn of_file_alone(word: &str, message: String) -> Error {
        let mut error = Error::new(Kind::of(word).unwrap_or(Kind::Unsupported), message);
        error.0.file = true;
        error
    }

    /// Returns the error of a file with its cause, of the kind with this word.
    #[cfg(feature = "xla")]
    pub(crate) fn of_file<S>(word: &str, message: String, source: S) -> Error
    where
        S: std::error::Error + Send + Sync + 'static,
    {
        let mut error = Error::of_file_alone(word, message);
        let cause: &dyn std::error::Error = &source;
        error.0.io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        error.with_source(source)
    }

    /// Sets the error that this one was made from.
    fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Error {
        self.0.source = Some(Box::new(source));
        self
    }

    /// The stable word of the kind, one for each predicate: `parse`, `needs-dims`, `exists` ….
    ///
    /// ```
    /// use tilewright::{Error, Spec};
    /// let error: Error = Spec::parse("zM").unwrap_err().into();
    /// assert_eq!(error.kind(), "parse");
    /// ```
    pub fn kind(&self) -> &'static str {
        self.0.kind.word()
    }

    /// The request and the reason of the refusal, without remedies.
    ///
    /// ```
    /// use tilewright::{Error, Spec};
    /// let error: Error = Spec::parse("NHWC").unwrap().resolve(None, None).unwrap_err().into();
    /// assert!(error.message().starts_with("`NHWC` needs the array's dims"));
    /// assert_eq!(error.to_string(), format!("{}; give the dims of the array", error.message()));
    /// ```
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The bytes at fault in the text that was read, `from..to`.
    ///
    /// ```
    /// use tilewright::{Error, Layout};
    /// let text = "(8,32):(32,y)";
    /// let (from, to) = Error::from(Layout::parse(text).unwrap_err()).span().unwrap();
    /// assert_eq!(&text[from..to], "y");
    /// ```
    pub fn span(&self) -> Option<(usize, usize)> {
        self.0.span
    }

    /// The part of a question at fault, such as `spec`, `dims` or `coord`; `None` if the error is not about a question.
    ///
    #[cfg_attr(not(feature = "questions"), doc = "```ignore")]
    #[cfg_attr(feature = "questions", doc = "```")]
    /// use tilewright::input::Array;
    /// let error = Array::read(Some("100,x"), None).unwrap_err();
    /// assert_eq!(error.field(), Some("dims"));
    /// let error = Array::default().layout("spec", "zN").unwrap_err();
    /// assert!(error.field() == Some("spec") && error.needs_dims());
    /// ```
    pub fn field(&self) -> Option<&'static str> {
        self.0.field
    }

    /// Sets the part of a question that is at fault.
    ///
    /// ```
    /// use tilewright::{Error, Spec};
    /// let error = Error::from(Spec::parse("zM").unwrap_err());
    /// assert_eq!((error.field(), error.in_field("to").field()), (None, Some("to")));
    /// ```
    #[must_use]
    pub fn in_field(mut self, field: &'static str) -> Error {
        self.0.field = Some(field);
        self
    }

    /// Sets the bytes of a text that are at fault.
    #[cfg(feature = "questions")]
    pub(crate) fn spanning(mut self, span: (usize, usize)) -> Error {
        self.0.span = Some(span);
        self
    }

    /// Removes the span, for an error that is not about a text.
    #[cfg(feature = "questions")]
    pub(crate) fn without_span(mut self) -> Error {
        (self.0.span, self.0.rendered) = (None, None);
        self
    }

    /// Puts these words before the message.
    #[cfg(feature = "questions")]
    pub(crate) fn prefixed(mut self, words: &str) -> Error {
        self.0.message.insert_str(0, words);
        self.0.rendered = self.0.rendered.map(|text| format!("{words}{text}"));
        self
    }

    /// Returns the error as the answer of a question: `{"error": {"kind", "message", "field", "span"}}`.
    ///
    /// ```
    /// use tilewright::{Error, Spec};
    /// let error = Error::from(Spec::parse("zM").unwrap_err()).to_json();
    /// assert_eq!((&error["error"]["kind"], &error["error"]["span"]), (&"parse".into(), &[0, 2].into()));
    /// ```
    #[cfg(feature = "questions")]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({ "error": {
            "kind": self.kind(),
            "message": self.to_string(),
            "field": self.field(),
            "span": self.span(),
        }})
    }

    /// Returns the column of `text` at which the span begins, in characters, from 1.
    ///
    /// ```
    /// let text = "(2,x):(1,2)";
    /// let error = tilewright::parse(text).unwrap_err();
    /// assert_eq!((error.span(), error.column(text)), (Some((3, 4)), Some(4)));
    /// ```
    pub fn column(&self, text: &str) -> Option<usize> {
        let (from, _) = self.0.span?;
        Some(1 + text.char_indices().take_while(|&(at, _)| at < from).count())
    }

    /// The numbers in the message of an error of core, in their order; empty for other errors.
    ///
    /// ```
    /// use tilewright::{Error, TensorLayout};
    /// let rows = TensorLayout::row_major(&[2, 3]).unwrap();
    /// let error = Error::from(rows.offset(&[1]).unwrap_err());
    /// assert!(error.is_mismatch());
    /// assert_eq!(error.numbers(), [1, 2]);
    /// ```
    pub fn numbers(&self) -> &[i128] {
        &self.0.numbers
    }

    /// The remedies. Each of them alone lets the same request succeed.
    ///
    /// ```
    /// use tilewright::{Error, Remedy, Spec};
    /// let error = Error::from(Spec::parse("NHWC").unwrap().resolve(None, None).unwrap_err());
    /// assert_eq!(error.remedies(), [Remedy::Dims]);
    /// ```
    pub fn remedies(&self) -> &[Remedy] {
        &self.0.remedies
    }

    /// Returns the message with every remedy in the words of the caller: options of a program, arguments of a function.
    ///
    /// ```
    /// use tilewright::{Error, Remedy, Spec};
    /// let error = Error::from(Spec::parse("NHWC").unwrap().resolve(None, None).unwrap_err());
    /// let spelled = error.spelled(|remedy| match remedy {
    ///     Remedy::Dims => "set DIMS".to_string(),
    ///     other => other.to_string(),
    /// });
    /// assert!(spelled.ends_with("; set DIMS"));
    /// ```
    pub fn spelled(&self, spell: impl Fn(Remedy) -> String) -> String {
        let (message, advice) = (&self.0.message, self.advice(spell));
        match message.ends_with('?') {
            true => format!("{message}{}", advice.trim_start_matches(';')),
            false => format!("{message}{advice}"),
        }
    }

    /// Returns the message with its remedies as [`Error::spelled`], and the text with a caret under the span, if there is one.
    ///
    /// ```
    /// use tilewright::{Error, Remedy, Spec};
    /// let error = Error::from(Spec::parse("row-mayor").unwrap_err());
    /// let shown = error.rendered(|remedy: Remedy| remedy.to_string());
    /// assert!(shown.ends_with("\n  row-mayor\n  ^^^^^^^^^"));
    /// ```
    pub fn rendered(&self, spell: impl Fn(Remedy) -> String) -> String {
        let shown = self.0.rendered.as_ref().unwrap_or(&self.0.message);
        format!("{shown}{}", self.advice(spell))
    }

    /// Returns the error as a person reads it: the message, and below it the text and a caret if a text is at fault.
    ///
    /// ```
    /// use tilewright::{Error, Layout};
    /// let text = "(8,32";
    /// let error = Error::from(Layout::parse(text).unwrap_err()).in_text(text);
    /// assert_eq!(error.render().lines().nth(2), Some("       ^"));
    /// ```
    pub fn render(&self) -> String {
        self.rendered(|remedy| remedy.to_string())
    }

    /// Attaches the text in which the span counts, so that [`Error::render`] shows it. The errors of core's parsers do not keep
    /// their text; all others do.
    ///
    /// ```
    /// use tilewright::{Error, Layout};
    /// let error = Error::from(Layout::parse("(4;2)").unwrap_err());
    /// assert_eq!(error.render().lines().count(), 1);
    /// assert_eq!(error.in_text("(4;2)").render().lines().count(), 3);
    /// ```
    #[must_use]
    pub fn in_text(mut self, text: &str) -> Error {
        if let Some(span) = self.0.span {
            let caret = ParseError::new(span, "", []);
            self.0.rendered = Some(format!("{}{}", self.0.message, caret.render(text)));
        }
        self
    }

    /// Moves the span `by` bytes to the right, for an error in a part of a longer text.
    ///
    /// ```
    /// use tilewright::{Error, Layout};
    /// // The layout was read on its own; in the whole text it begins at byte 5.
    /// let error = Error::from(Layout::parse("(4;2)").unwrap_err()).shifted(5);
    /// assert_eq!(error.span(), Some((7, 8)));
    /// ```
    #[must_use]
    pub fn shifted(mut self, by: usize) -> Error {
        let shifted = |(from, to): (usize, usize)| (from.saturating_add(by), to.saturating_add(by));
        self.0.span = self.0.span.map(shifted);
        self
    }

    /// Returns the error with another remedy, before the others.
    #[cfg(feature = "files")]
    pub(crate) fn with_remedy(mut self, remedy: Remedy) -> Error {
        self.0.remedies.insert(0, remedy);
        self
    }

    /// Returns `; A, B, or C`, or nothing.
    fn advice(&self, spell: impl Fn(Remedy) -> String) -> String {
        let spelled: Vec<String> = self.0.remedies.iter().map(|remedy| spell(*remedy)).collect();
        match &spelled[..] {
            [] => String::new(),
            [one] => format!("; {one}"),
            [one, other] => format!("; {one}, or {other}"),
            [first @ .., last] => format!("; {}, or {last}", first.join(", ")),
        }
    }

    /// Returns whether the error is about a file that is read or written, and not about layouts and arrays alone.
    ///
    #[cfg_attr(not(feature = "files"), doc = "```ignore")]
    #[cfg_attr(feature = "files", doc = "```")]
    /// use tilewright::{Error, Spec, files::{Reading, open}};
    /// let error = Error::from(open("no/such/file.npy", &Reading::default()).unwrap_err());
    /// assert!(error.is_file());
    /// assert!(!Error::from(Spec::parse("zM").unwrap_err()).is_file());
    /// ```
    pub fn is_file(&self) -> bool {
        self.0.file
    }

    /// The kind of failure that the system reported, if any.
    ///
    #[cfg_attr(not(feature = "files"), doc = "```ignore")]
    #[cfg_attr(feature = "files", doc = "```")]
    /// use tilewright::{Error, files::{Reading, open}};
    /// let error = Error::from(open("no/such/file.npy", &Reading::default()).unwrap_err());
    /// assert!(error.is_io());
    /// assert_eq!(error.io_kind(), Some(std::io::ErrorKind::NotFound));
    /// ```
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        self.0.io
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelled(|remedy| remedy.to_string()))
    }
}

/// Prints the kind and the message, as for a `main` that returns the error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind(), self.render())
    }
}

/// The source is the error of the crate that refused. The message of this error includes that of the source.
impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advised(remedies: &[Remedy]) -> String {
        let mut error = Error::new(Kind::Usage, "no");
        error.0.remedies = remedies.to_vec();
        error.to_string()
    }

    #[test]
    fn remedies_are_alternatives() {
        assert_eq!(advised(&[]), "no");
        assert_eq!(advised(&[Remedy::Dims]), "no; give the dims of the array");
        let two = advised(&[Remedy::Overwrite, Remedy::LeaveOut]);
        assert_eq!(two, "no; allow it to be overwritten, or leave it out");
        let three = advised(&[Remedy::LeaveOut, Remedy::OtherLayout, Remedy::Dtype]);
        assert_eq!(three, "no; leave it out, give it another layout, or give the element type");
    }

    #[test]
    fn the_error_is_one_word_wide_and_crosses_threads() {
        fn crosses<T: Send + Sync + 'static>() {}
        crosses::<Error>();
        assert_eq!(size_of::<Result<(), Error>>(), size_of::<usize>());
    }
}
