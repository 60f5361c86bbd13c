//! A cursor over a text, and the tokens that it reads.

use tilewright_core::ParseError;

/// A range `from..to` of bytes of the text.
pub(crate) type Span = (usize, usize);

/// A position in a text. `at` is after the last token, always between two characters.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    /// Starts at byte `at`, which must be between two characters.
    #[cfg(feature = "proto")]
    pub(crate) fn starting(text: &'a str, at: usize) -> Cursor<'a> {
        Cursor { text, at }
    }

    /// Returns the position after the last token read.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or(&[])
    }

    /// Skips white space and comments. An unclosed comment is not skipped, so that whoever expects a token reports it.
    #[inline]
    fn skip(&mut self) {
        // Most tokens are adjacent: nothing to skip.
        if let Some(b'\t'..=b' ' | b'/') = self.bytes().first() {
            while self.skip_comment() {}
        }
    }

    /// Skips white space and one comment after it, if there is one.
    fn skip_comment(&mut self) -> bool {
        let rest = self.rest();
        let trimmed = rest.trim_ascii_start();
        self.at += rest.len() - trimmed.len();
        let len = if trimmed.starts_with("//") {
            Some(trimmed.find('\n').unwrap_or(trimmed.len()))
        } else if trimmed.starts_with("/*") {
            trimmed.get(2..).and_then(|inner| inner.find("*/")).map(|end| end + 4)
        } else {
            None
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
        let word = rest.bytes().take_while(|&b| is_word(b)).count();
        let len = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
        (ahead.at, ahead.at + len)
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
