//! HLO text: a recursive-descent parser over bytes; every error has its span.
//!
//! ```text
//! program  := '(' [ name ':' shape { ',' name ':' shape } ] ')' '->' shape
//! name     := '(unknown)' | letters, digits and '_', '.', '-', '%'
//! shape    := array | tuple | 'b' '(' array ')' | 'token' '[' ']' | 'opaque' '[' ']'
//! tuple    := '(' [ shape { ',' shape } ] ')'
//! array    := type '[' [ dim { ',' dim } ] ']' [ layout ]
//! dim      := INT | '<=' INT | '?'
//! layout   := '{' [ INT { ',' INT } ] [ ':' { property } ] '}'
//! property := D(…) | T tile {tile} | L(INT) | #(type) | *(type) | E(INT) | S(INT) | SC split {split}
//!           | P(array) | M(INT)
//! tile     := '(' (INT|'*') { ',' (INT|'*') } ')'
//! split    := '(' INT ':' INT { ',' INT } ')'
//! ```
//!
//! White space, `/* … */` and `// …` may occur between tokens. Properties come in this order, each at most once. `P` is
//! read only in a layout on its own. Shapes are printed with or without their layouts. A [`Cursor`] reads the tokens.

mod layout;

use std::fmt;

use tilewright_core::ParseError;

use crate::{ArrayShape, Shape, ShapeKind};

#[cfg(feature = "proto")]
pub(crate) use layout::{layout, layout_properties, shape_prefix};

/// One production of the grammar.
type Production<T> = fn(&mut Cursor<'_>) -> Result<T, ParseError>;

/// Reads a whole text.
pub(crate) fn whole<T>(text: &str, read: Production<T>) -> Result<T, ParseError> {
    let mut cursor = Cursor::new(text);
    let value = read(&mut cursor)?;
    cursor.end()?;
    Ok(value)
}

/// Reads the start of a text; returns the value and the number of bytes read.
pub(crate) fn prefix<T>(text: &str, read: Production<T>) -> Result<(T, usize), ParseError> {
    let mut cursor = Cursor::new(text);
    let value = read(&mut cursor)?;
    Ok((value, cursor.at()))
}

/// Every member of a tuple whose number is a multiple of this, except 0, has its number in a comment before it.
const NUMBERED: usize = 5;

impl Shape {
    /// Displays the shape without layouts, as XLA's `ToString` does; [`fmt::Display`] includes the layouts, as
    /// `HumanStringWithLayout` does.
    ///
    /// ```
    /// use tilewright_xla::Shape;
    /// let shape = Shape::parse("(f32[2,3]{0,1:T(2)}, b(s32[4]{0}))").unwrap();
    /// assert_eq!(shape.without_layouts().to_string(), "(f32[2,3], b(s32[4]))");
    /// ```
    #[doc(alias = "HumanString")]
    pub fn without_layouts(&self) -> impl fmt::Display + '_ {
        PrintedShape { shape: self, layouts: false }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        PrintedShape { shape: self, layouts: true }.fmt(f)
    }
}

/// A shape to print.
#[derive(Clone, Copy)]
struct PrintedShape<'a> {
    shape: &'a Shape,
    layouts: bool,
}

impl<'a> PrintedShape<'a> {
    fn array(&self, f: &mut fmt::Formatter<'_>, array: &ArrayShape) -> fmt::Result {
        if self.layouts { write!(f, "{array}") } else { array.write_dims(f) }
    }

    fn members(&self, f: &mut fmt::Formatter<'_>, shapes: &'a [Shape]) -> fmt::Result {
        for (i, shape) in shapes.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            if i > 0 && i % NUMBERED == 0 {
                write!(f, "/*index={i}*/")?;
            }
            write!(f, "{}", PrintedShape { shape, ..*self })?;
        }
        Ok(())
    }
}

impl fmt::Display for PrintedShape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shape.kind() {
            ShapeKind::Array(array) => self.array(f, array),
            ShapeKind::Token => f.write_str("token[]"),
            ShapeKind::Opaque => f.write_str("opaque[]"),
            ShapeKind::Buffer(array) => {
                f.write_str("b(")?;
                self.array(f, array)?;
                f.write_str(")")
            }
            ShapeKind::Tuple(shapes) => {
                f.write_str("(")?;
                self.members(f, shapes)?;
                f.write_str(")")
            }
        }
    }
}

/// A range `from..to` of bytes of the text.
pub(crate) type Span = (usize, usize);

/// The text that a cursor reads.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum TextKind {
    /// Shapes: comments are `// …` and `/* … */`.
    Shapes,
    /// Proto text: comments begin with `#`.
    #[cfg(feature = "proto")]
    Proto,
    /// A module: comments as in shapes. Errors point at whole names, such as `%add.1`.
    #[cfg(feature = "proto")]
    Module,
}

/// A position in a text. `at` is after the last token, always between two characters.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    pub(crate) at: usize,
    kind: TextKind,
    /// Set if no comment ends after `at`; this is searched for once.
    unclosed: bool,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0, kind: TextKind::Shapes, unclosed: false }
    }

    /// Reads the rest as another kind of text.
    #[cfg(feature = "proto")]
    pub(crate) fn of(self, kind: TextKind) -> Cursor<'a> {
        Cursor { kind, ..self }
    }

    /// Returns all bytes of the text.
    #[cfg(feature = "proto")]
    pub(crate) fn whole(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Returns the position after the last token read.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Returns a cursor at byte `at` of the same text, which must be between two characters.
    #[cfg(feature = "proto")]
    pub(crate) fn moved_to(&self, at: usize) -> Cursor<'a> {
        Cursor { at, unclosed: false, ..*self }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or(&[])
    }

    /// Skips white space and comments. An unclosed comment is not skipped, so that whoever expects a token reports it.
    #[inline]
    pub(crate) fn skip(&mut self) {
        // Most tokens are adjacent: nothing to skip.
        if let Some(b'\t'..=b' ' | b'/' | b'#') = self.bytes().first() {
            loop {
                let rest = self.rest();
                self.at += rest.len() - rest.trim_ascii_start().len();
                if !self.comment() {
                    return;
                }
            }
        }
    }

    /// Skips a comment that begins here; returns false if there is none, or if it does not end.
    pub(crate) fn comment(&mut self) -> bool {
        let rest = self.rest();
        let len = match (rest.as_bytes(), self.kind) {
            #[cfg(feature = "proto")]
            ([b'#', ..], TextKind::Proto) => Some(rest.find('\n').unwrap_or(rest.len())),
            #[cfg(feature = "proto")]
            (_, TextKind::Proto) => None,
            ([b'/', b'/', ..], _) => Some(rest.find(['\n', '\r']).unwrap_or(rest.len())),
            ([b'/', b'*', ..], _) if !self.unclosed => {
                let end = rest.get(2..).and_then(|inner| inner.find("*/"));
                self.unclosed = end.is_none();
                end.map(|end| end + 4)
            }
            _ => None,
        };
        self.at += len.unwrap_or(0);
        len.is_some()
    }

    /// Returns the first byte of the next token, without reading it.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        let mut ahead = *self;
        ahead.skip();
        ahead.bytes().first().copied()
    }

    /// Reads `token` if it is next; returns whether it did.
    #[inline]
    pub(crate) fn eat(&mut self, token: &str) -> bool {
        let mut ahead = *self;
        ahead.skip();
        if !ahead.bytes().starts_with(token.as_bytes()) {
            return false;
        }
        self.at = ahead.at + token.len();
        true
    }

    /// Reads `token`; the error with `message` if anything else is next.
    pub(crate) fn expect(&mut self, token: &str, message: &'static str) -> Result<(), ParseError> {
        if self.eat(token) { Ok(()) } else { Err(self.error(message)) }
    }

    /// Checks that nothing is left.
    pub(crate) fn end(&mut self) -> Result<(), ParseError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error("expected the end of the text")),
        }
    }

    /// Returns an error at the next token.
    pub(crate) fn error(&mut self, message: &'static str) -> ParseError {
        ParseError::new(self.next_span(), message, [])
    }

    /// Returns the bytes of the next token: a word, or one other character; empty at the end.
    pub(crate) fn next_span(&self) -> Span {
        let mut ahead = *self;
        ahead.skip();
        let rest = ahead.rest();
        let word = rest.bytes().take_while(|&b| ahead.is_part_of_word(b)).count();
        let len = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
        (ahead.at, ahead.at + len)
    }

    fn is_part_of_word(&self, b: u8) -> bool {
        match self.kind {
            TextKind::Shapes => is_word(b),
            #[cfg(feature = "proto")]
            TextKind::Proto => is_word(b),
            #[cfg(feature = "proto")]
            TextKind::Module => is_name(b),
        }
    }

    /// Returns the text of a span.
    pub(crate) fn spanned(&self, (from, to): Span) -> &'a str {
        self.text.get(from..to).unwrap_or("")
    }

    /// Reads a word of letters, digits and `_`; empty if there is none.
    pub(crate) fn word(&mut self) -> (&'a str, Span) {
        self.take(is_word)
    }

    /// Reads the name of a parameter, an instruction or a computation; empty if there is none.
    pub(crate) fn name(&mut self) -> (&'a str, Span) {
        self.take(is_name)
    }

    /// Reads a run of letters; empty if there is none.
    pub(crate) fn letters(&mut self) -> (&'a str, Span) {
        self.take(|b| b.is_ascii_alphabetic())
    }

    /// Reads up to the next `end`, and `end`; returns what is before it, or `None` if there is none.
    #[cfg(feature = "proto")]
    pub(crate) fn until(&mut self, end: &str) -> Option<&'a str> {
        let (value, _) = self.rest().split_once(end)?;
        self.at += value.len() + end.len();
        Some(value)
    }

    fn take(&mut self, is: fn(u8) -> bool) -> (&'a str, Span) {
        self.skip();
        let rest = self.rest();
        let len = rest.bytes().take_while(|&b| is(b)).count();
        let from = self.at;
        self.at += len;
        (rest.get(..len).unwrap_or(""), (from, self.at))
    }

    /// Reads an integer from 0 to 2⁶³ − 1.
    #[inline]
    pub(crate) fn integer(&mut self, message: &'static str) -> Result<(u64, Span), ParseError> {
        let mut ahead = *self;
        ahead.skip();
        let (from, mut value) = (ahead.at, Some(0i64));
        while let Some(digit @ b'0'..=b'9') = ahead.bytes().first() {
            let digit = i64::from(digit - b'0');
            value = value.and_then(|value| value.checked_mul(10)?.checked_add(digit));
            ahead.at += 1;
        }
        let span = (from, ahead.at);
        if from == ahead.at {
            return Err(if self.peek() == Some(b'-') {
                self.negative()
            } else {
                self.error(message)
            });
        }
        *self = ahead;
        match value {
            Some(value) => Ok((value.unsigned_abs(), span)),
            None => {
                Err(ParseError::new(span, "an integer above 2^63 - 1; sizes stay below 2^63", []))
            }
        }
    }

    fn negative(&mut self) -> ParseError {
        let (from, to) = self.next_span();
        self.at = to;
        let (_, (_, to)) = self.take(|b| b.is_ascii_digit());
        ParseError::new((from, to), "a negative integer; it must be 0 or more", [])
    }
}

/// Returns whether a byte may occur in the name of a parameter, an instruction or a computation.
pub(crate) fn is_name(b: u8) -> bool {
    is_word(b) || matches!(b, b'.' | b'-' | b'%')
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}
