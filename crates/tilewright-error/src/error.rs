//! [`Error`] and what it says. The words for kinds and the predicates are in `kind.rs`.
//!
//! Errors of core and of the system are converted here. Other crates convert their own types.

use std::{fmt, io, sync::Arc};

use tilewright_core::{Error as Refusal, ParseError, Remedy};

/// The reason why a text was not read, a value not made, data not moved or a file not written.
///
/// The message states the request with its numbers, and what would be legal. Decide by the predicates, never by the
/// message. Show [`Error::render`].
///
/// ```
/// use tilewright_error::Error;
/// let error = Error::parse((3, 4), "expected an integer, found `x`").in_text("(2,x)");
/// assert_eq!((error.kind(), error.is_parse(), error.span()), ("parse", true, Some((3, 4))));
/// assert_eq!(error.to_string(), "expected an integer, found `x`");
/// assert_eq!(error.render(), "expected an integer, found `x`\n  (2,x)\n     ^");
/// ```
///
/// `Debug` prints the kind and [`Error::render`]: it is what `unwrap` and `fn main() -> Result<(), Error>` show.
///
/// ```
/// let error = tilewright_error::Error::mismatch("2 dims for 3 axes");
/// assert_eq!(format!("{error:?}"), "mismatch: 2 dims for 3 axes");
/// ```
#[derive(Clone)]
pub struct Error(pub(crate) Box<Body>);

/// The contents of an error, boxed so that a `Result` is small.
#[derive(Clone, Default)]
pub(crate) struct Body {
    pub(crate) kind: &'static str,
    /// A narrower word than the kind, or empty.
    pub(crate) case: &'static str,
    /// The request and the reason of the refusal, without remedies.
    pub(crate) message: String,
    /// The bytes at fault in the text that was read.
    pub(crate) span: Option<(usize, usize)>,
    /// The text that is shown below the message, and the bytes of it that are at fault.
    shown: Option<(String, (usize, usize))>,
    /// The line in a file, from 1.
    line: Option<usize>,
    /// The part of a question at fault.
    field: Option<&'static str>,
    /// The name of what is at fault.
    name: Option<String>,
    pub(crate) numbers: Vec<i128>,
    remedies: Vec<Remedy>,
    pub(crate) file: bool,
    io: Option<io::ErrorKind>,
    code: Option<i32>,
    pub(crate) source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// Constructors.
impl Error {
    /// Returns an error of the kind with this stable word. A crate may have kinds of its own.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::new("busy", "another run holds the name");
    /// assert_eq!((error.kind(), error.message()), ("busy", "another run holds the name"));
    /// ```
    pub fn new(kind: &'static str, message: impl Into<String>) -> Error {
        Error(Box::new(Body { kind, message: message.into(), ..Body::default() }))
    }

    /// Returns the error of a text that cannot be read; `span` is the bytes at fault, with an exclusive end.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::parse((2, 3), "expected `)`");
    /// assert!(error.is_parse() && error.span() == Some((2, 3)));
    /// ```
    pub fn parse(span: (usize, usize), message: impl Into<String>) -> Error {
        Error::new("parse", message).at(span)
    }

    /// Returns the error of a text or a question that needs a feature without which the library was built.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::not_built("index tables", "tables");
    /// assert_eq!(error.to_string(), "index tables are left out of this build; build it with the feature `tables`");
    /// assert!(error.is_not_built());
    /// ```
    pub fn not_built(what: &str, feature: &str) -> Error {
        let said =
            format!("{what} are left out of this build; build it with the feature `{feature}`");
        Error::new("not-built", said)
    }

    /// Sets another kind.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// assert!(Error::illegal("a stride of 0").of_kind("unsupported").is_unsupported());
    /// ```
    #[must_use]
    pub fn of_kind(mut self, kind: &'static str) -> Error {
        self.0.kind = kind;
        self
    }

    /// Sets the case: a second word by which callers tell apart errors of one kind.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::unsupported("the format is unknown").of_case("unrecognised");
    /// assert_eq!((error.kind(), error.case()), ("unsupported", "unrecognised"));
    /// ```
    #[must_use]
    pub fn of_case(mut self, case: &'static str) -> Error {
        self.0.case = case;
        self
    }

    /// Sets the bytes of the text that are at fault.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// assert_eq!(Error::mismatch("3 names for 2 dims").at((1, 4)).span(), Some((1, 4)));
    /// ```
    #[must_use]
    pub fn at(mut self, span: (usize, usize)) -> Error {
        self.0.span = Some(span);
        self
    }

    /// Sets the bytes of the text that are at fault, unless the error has some.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::illegal("an axis named twice").or_at((0, 9));
    /// assert_eq!(error.or_at((4, 5)).span(), Some((0, 9)));
    /// ```
    #[must_use]
    pub fn or_at(mut self, span: (usize, usize)) -> Error {
        self.0.span.get_or_insert(span);
        self
    }

    /// Moves the span `by` bytes to the right, for an error in a part of a longer text.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// // The layout was read on its own; in the whole text it begins at byte 5.
    /// assert_eq!(Error::parse((2, 3), "expected `)`").shifted(5).span(), Some((7, 8)));
    /// ```
    #[must_use]
    pub fn shifted(mut self, by: usize) -> Error {
        let shifted = |(from, to): (usize, usize)| (from.saturating_add(by), to.saturating_add(by));
        self.0.span = self.0.span.map(shifted);
        self
    }

    /// Removes span and text, for an error that is not about a text of the caller.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::parse((0, 1), "no name").in_text("x").without_span();
    /// assert_eq!((error.span(), error.render()), (None, "no name".into()));
    /// ```
    #[must_use]
    pub fn without_span(mut self) -> Error {
        (self.0.span, self.0.shown) = (None, None);
        self
    }

    /// Attaches the text in which the span counts, so that [`Error::render`] shows it. The errors of core's parsers do not
    /// keep their text; all others do.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::parse((2, 3), "expected `,`");
    /// assert_eq!(error.render().lines().count(), 1);
    /// assert_eq!(error.in_text("(4;2)").render().lines().count(), 3);
    /// ```
    #[must_use]
    pub fn in_text(mut self, text: &str) -> Error {
        if let Some(span) = self.0.span {
            self.0.shown = Some((text.to_owned(), span));
        }
        self
    }

    /// Attaches the line of a longer text on which the span begins.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::parse((10, 11), "no").in_line("a = 1\nb = 2\nc = 3");
    /// assert_eq!(error.render(), "no\n  b = 2\n      ^");
    /// ```
    #[must_use]
    pub fn in_line(mut self, text: &str) -> Error {
        let Some((from, to)) = self.0.span else { return self };
        let before = text.get(..from).unwrap_or(text);
        let begins = before.rfind('\n').map_or(0, |at| at + 1);
        let line = text.get(begins..).unwrap_or("").lines().next().unwrap_or("");
        let at = |place: usize| place.saturating_sub(begins).min(line.len());
        self.0.shown = Some((line.to_owned(), (at(from), at(to))));
        self
    }

    /// Sets the line of a file, from 1.
    ///
    /// ```
    /// assert_eq!(tilewright_error::Error::illegal("twice").on_line(3).line(), Some(3));
    /// ```
    #[must_use]
    pub fn on_line(mut self, line: usize) -> Error {
        self.0.line = Some(line);
        self
    }

    /// Sets the part of a question that is at fault.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::usage("expected an integer");
    /// assert_eq!((error.field(), error.in_field("to").field()), (None, Some("to")));
    /// ```
    #[must_use]
    pub fn in_field(mut self, field: &'static str) -> Error {
        self.0.field = Some(field);
        self
    }

    /// Sets the name of what is at fault, such as a condition or a member of a message.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::illegal("no tensor `head`").named("tied");
    /// assert_eq!(error.name(), Some("tied"));
    /// ```
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Error {
        self.0.name = Some(name.into());
        self
    }

    /// Puts the subject before the message, with a colon.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::mismatch("2 dims for 3 axes").about("tensor \"a\"");
    /// assert_eq!(error.to_string(), "tensor \"a\": 2 dims for 3 axes");
    /// ```
    #[must_use]
    pub fn about(self, subject: &str) -> Error {
        self.prefixed(&format!("{subject}: "))
    }

    /// Puts words before the message.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// assert_eq!(Error::illegal("no dims").prefixed("in b, ").to_string(), "in b, no dims");
    /// ```
    #[must_use]
    pub fn prefixed(mut self, words: &str) -> Error {
        self.0.message.insert_str(0, words);
        self
    }

    /// Adds a clause to the message, after a semicolon.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::illegal("a tile of size 0").and("a tile has 1 element or more");
    /// assert_eq!(error.to_string(), "a tile of size 0; a tile has 1 element or more");
    /// ```
    #[must_use]
    pub fn and(mut self, clause: &str) -> Error {
        self.0.message.push_str("; ");
        self.0.message.push_str(clause);
        self
    }

    /// Replaces the message.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::limit("40 dims").with_message("40 dims of \"a\"; 32 at most");
    /// assert!(error.is_limit() && error.message() == "40 dims of \"a\"; 32 at most");
    /// ```
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Error {
        self.0.message = message.into();
        self
    }

    /// Adds remedies, each of which alone lets the same request succeed.
    ///
    /// ```
    /// use tilewright_error::{Error, Remedy};
    /// let error = Error::usage("a.svg exists").with(&[Remedy::Overwrite]);
    /// assert_eq!(error.to_string(), "a.svg exists; allow it to be overwritten");
    /// ```
    #[must_use]
    pub fn with(mut self, remedies: &[Remedy]) -> Error {
        self.0.remedies.extend(remedies);
        self
    }

    /// Adds a remedy before the others.
    ///
    /// ```
    /// use tilewright_error::{Error, Remedy};
    /// let error = Error::usage("no layout").with(&[Remedy::Dims]).with_remedy(Remedy::Source);
    /// assert_eq!(error.remedies(), [Remedy::Source, Remedy::Dims]);
    /// ```
    #[must_use]
    pub fn with_remedy(mut self, remedy: Remedy) -> Error {
        self.0.remedies.insert(0, remedy);
        self
    }

    /// Marks the error as one about a file that is read or written.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::new("corrupt", "a.npy: the header ends too early").of_file();
    /// assert!(error.is_file() && error.is_io() && !error.is_usage());
    /// ```
    #[must_use]
    pub fn of_file(mut self) -> Error {
        self.0.file = true;
        self
    }

    /// Marks the error as one of the request, although a file is concerned.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// let error = Error::unsupported("a.gguf: blocks of 3 bits").of_file();
    /// assert!(!error.is_usage() && error.of_request().is_usage());
    /// ```
    #[must_use]
    pub fn of_request(mut self) -> Error {
        self.0.file = false;
        self
    }

    /// Sets the number that a system or another library gave its error.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// assert_eq!(Error::new("driver", "cuInit failed").with_code(999).code(), Some(999));
    /// ```
    #[must_use]
    pub fn with_code(mut self, code: i32) -> Error {
        self.0.code = Some(code);
        self
    }

    /// Sets the kind of failure that the system reported, for an error whose cause is not kept.
    ///
    /// ```
    /// use std::io;
    /// use tilewright_error::Error;
    /// let error = Error::new("io", "cannot open a.npy").of_io(io::ErrorKind::NotFound);
    /// assert_eq!(error.io_kind(), Some(io::ErrorKind::NotFound));
    /// ```
    #[must_use]
    pub fn of_io(mut self, kind: io::ErrorKind) -> Error {
        self.0.io = Some(kind);
        self
    }

    /// Sets the error or witness that this one was made from: [`Error::cause`] returns it. The message should include it.
    ///
    /// ```
    /// use std::io;
    /// use tilewright_error::Error;
    /// let cause = io::Error::from(io::ErrorKind::NotFound);
    /// let error = Error::new("io", format!("cannot open a.npy: {cause}")).with_source(cause);
    /// assert_eq!(error.io_kind(), Some(io::ErrorKind::NotFound));
    /// ```
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Error {
        let cause: &(dyn std::error::Error + 'static) = &source;
        self.0.io = cause.downcast_ref::<io::Error>().map(io::Error::kind).or(self.0.io);
        self.0.source = Some(Arc::new(source));
        self
    }
}

/// Accessors.
impl Error {
    /// Returns the stable word of the kind: `parse`, `needs-dims`, `exists` ….
    ///
    /// ```
    /// assert_eq!(tilewright_error::Error::parse((0, 2), "no layout").kind(), "parse");
    /// ```
    pub fn kind(&self) -> &'static str {
        self.0.kind
    }

    /// Returns a narrower word than the kind, where a crate gave one; else an empty text.
    ///
    /// ```
    /// assert_eq!(tilewright_error::Error::parse((0, 2), "no layout").case(), "");
    /// ```
    pub fn case(&self) -> &'static str {
        self.0.case
    }

    /// Returns the request and the reason of the refusal, without remedies.
    ///
    /// ```
    /// use tilewright_error::{Error, Remedy};
    /// let error = Error::new("needs-dims", "`NHWC` needs dims").with(&[Remedy::Dims]);
    /// assert_eq!(error.message(), "`NHWC` needs dims");
    /// assert_eq!(error.to_string(), "`NHWC` needs dims; give the dims of the array");
    /// ```
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the bytes at fault in the text that was read, with an exclusive end.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// use tilewright_error::Error;
    /// let text = "(8,32):(32,y)";
    /// let (from, to) = Error::from(Layout::parse(text).unwrap_err()).span().unwrap();
    /// assert_eq!(&text[from..to], "y");
    /// ```
    pub fn span(&self) -> Option<(usize, usize)> {
        self.0.span
    }

    /// Returns the column at which the span begins, in characters of its line of `text`, from 1.
    ///
    /// ```
    /// let error = tilewright_error::Error::parse((4, 5), "expected an integer");
    /// assert_eq!(error.column("(é,x):(1,2)"), Some(4));
    /// assert_eq!(error.column("(4\n(x,2)"), Some(2));
    /// ```
    pub fn column(&self, text: &str) -> Option<usize> {
        let (from, _) = self.0.span?;
        let before = text.get(..from).unwrap_or(text);
        Some(1 + before.chars().rev().take_while(|&c| c != '\n' && c != '\r').count())
    }

    /// Returns the line of the file at fault, from 1.
    ///
    /// ```
    /// assert_eq!(tilewright_error::Error::illegal("an axis named twice").line(), None);
    /// ```
    pub fn line(&self) -> Option<usize> {
        self.0.line
    }

    /// Returns the part of a question at fault, such as `spec`, `dims` or `coord`; `None` if the error is not about a
    /// question.
    ///
    /// ```
    /// use tilewright_error::Error;
    /// assert_eq!(Error::usage("expected an integer").in_field("vector").field(), Some("vector"));
    /// ```
    pub fn field(&self) -> Option<&'static str> {
        self.0.field
    }

    /// Returns the name of what is at fault, where it has one.
    ///
    /// ```
    /// assert_eq!(tilewright_error::Error::illegal("a tile of size 0").name(), None);
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    /// Returns the numbers in the message of an error of core, in their order; empty for other errors.
    ///
    /// ```
    /// use tilewright_core::TensorLayout;
    /// use tilewright_error::Error;
    /// let rows = TensorLayout::row_major(&[2, 3])?;
    /// let error = Error::from(rows.offset(&[1]).unwrap_err());
    /// assert!(error.is_mismatch());
    /// assert_eq!(error.numbers(), [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn numbers(&self) -> &[i128] {
        &self.0.numbers
    }

    /// Returns the remedies. Each of them alone lets the same request succeed.
    ///
    /// ```
    /// assert!(tilewright_error::Error::illegal("a tile of size 0").remedies().is_empty());
    /// ```
    pub fn remedies(&self) -> &[Remedy] {
        &self.0.remedies
    }

    /// Returns the number that a system or another library gave its error.
    ///
    /// ```
    /// assert_eq!(tilewright_error::Error::new("no-driver", "no libcuda.so").code(), None);
    /// ```
    pub fn code(&self) -> Option<i32> {
        self.0.code
    }

    /// Returns the kind of failure that the system reported, if any.
    ///
    /// ```
    /// use std::io;
    /// use tilewright_error::Error;
    /// let error = Error::from(io::Error::from(io::ErrorKind::NotFound));
    /// assert!(error.is_io() && error.io_kind() == Some(io::ErrorKind::NotFound));
    /// ```
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        self.0.io
    }

    /// Returns the error or witness of type `T` that this error was made from.
    ///
    /// ```
    /// use tilewright_core::{Error as Refusal, TensorLayout};
    /// use tilewright_error::Error;
    /// let refusal = TensorLayout::row_major(&[1 << 32, 1 << 32]).unwrap_err();
    /// let error = Error::from(refusal.clone());
    /// assert_eq!(error.cause::<Refusal>(), Some(&refusal));
    /// assert!(error.cause::<std::io::Error>().is_none());
    /// ```
    pub fn cause<T: std::error::Error + 'static>(&self) -> Option<&T> {
        std::error::Error::source(self)?.downcast_ref()
    }

    /// Returns the message with every remedy in the words of the caller: options of a program, arguments of a function.
    ///
    /// ```
    /// use tilewright_error::{Error, Remedy};
    /// let error = Error::new("needs-dims", "`NHWC` needs dims").with(&[Remedy::Dims]);
    /// let spelled = error.spelled(|remedy| match remedy {
    ///     Remedy::Dims => "set DIMS".to_string(),
    ///     other => other.to_string(),
    /// });
    /// assert_eq!(spelled, "`NHWC` needs dims; set DIMS");
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
    /// use tilewright_error::Error;
    /// let error = Error::parse((0, 9), "no such order").in_text("row-mayor");
    /// let shown = error.rendered(|remedy| remedy.to_string());
    /// assert_eq!(shown, "no such order\n  row-mayor\n  ^^^^^^^^^");
    /// ```
    pub fn rendered(&self, spell: impl Fn(Remedy) -> String) -> String {
        let (message, advice) = (&self.0.message, self.advice(spell));
        match &self.0.shown {
            Some((text, span)) => {
                format!("{message}{}{advice}", ParseError::new(*span, "", []).render(text))
            }
            None => format!("{message}{advice}"),
        }
    }

    /// Returns the error as a person reads it: the message, and below it the text and a caret if a text is at fault.
    ///
    /// ```
    /// use tilewright_core::Layout;
    /// use tilewright_error::Error;
    /// let text = "(8,32";
    /// let error = Error::from(Layout::parse(text).unwrap_err()).in_text(text);
    /// assert_eq!(error.render().lines().nth(2), Some("       ^"));
    /// ```
    pub fn render(&self) -> String {
        self.rendered(|remedy| remedy.to_string())
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

/// Two errors are equal if they say the same; their sources are not compared.
impl PartialEq for Error {
    fn eq(&self, other: &Error) -> bool {
        let said = |error: &Error| {
            let Body { kind, case, span, line, io, code, .. } = *error.0;
            (kind, case, span, line, io, code)
        };
        let (one, two) = (&self.0, &other.0);
        said(self) == said(other)
            && (&one.message, &one.shown, &one.remedies)
                == (&two.message, &two.shown, &two.remedies)
    }
}

impl Eq for Error {}

/// The source is the error that another library, the system or core gave. The message of this error includes that of the
/// source.
impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

/// Keeps kind, message and numbers; the witness is that of the [cause](Error::cause).
impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        let mut error = Error::new(refusal.kind(), refusal.to_string());
        error.0.numbers = refusal.numbers().collect();
        error.with_source(refusal)
    }
}

/// Keeps the span. The kind is that of core's refusal, or `parse` if the text is not well formed.
impl From<ParseError> for Error {
    fn from(parsed: ParseError) -> Error {
        let refusal = parsed.cause();
        let mut error = Error::new(refusal.map_or("parse", Refusal::kind), parsed.to_string());
        error.0.numbers = refusal.map_or(Vec::new(), |refusal| refusal.numbers().collect());
        error.at(parsed.span()).with_source(parsed)
    }
}

/// Errors of reading or writing that do not come from another crate.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::new("io", error.to_string()).of_file().with_source(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advised(remedies: &[Remedy]) -> String {
        Error::usage("no").with(remedies).to_string()
    }

    #[test]
    fn remedies_are_alternatives() {
        assert_eq!(advised(&[]), "no");
        assert_eq!(advised(&[Remedy::Dims]), "no; give the dims of the array");
        let two = advised(&[Remedy::Overwrite, Remedy::LeaveOut]);
        assert_eq!(two, "no; allow it to be overwritten, or leave it out");
        let three = advised(&[Remedy::LeaveOut, Remedy::OtherLayout, Remedy::Dtype]);
        assert_eq!(three, "no; leave it out, give it another layout, or give the element type");
        assert_eq!(Error::usage("no?").with(&[Remedy::LeaveOut]).to_string(), "no? leave it out");
    }

    #[test]
    fn the_error_is_one_word_wide_and_crosses_threads() {
        fn crosses<T: Send + Sync + 'static>() {}
        crosses::<Error>();
        assert_eq!(size_of::<Result<(), Error>>(), size_of::<usize>());
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
        let error = Error::mismatch("2 against 3").in_text("text").about("zN");
        assert_eq!(error.render(), "zN: 2 against 3");
    }

    #[test]
    fn a_text_is_shown_with_its_own_span() {
        let error = Error::parse((1, 2), "no").in_text("ab").shifted(5).about("zN");
        assert_eq!((error.span(), error.render()), (Some((6, 7)), "zN: no\n  ab\n   ^".into()));
        assert_eq!(error.clone(), error);
        assert_ne!(error.clone().at((0, 1)), error);
    }
}
