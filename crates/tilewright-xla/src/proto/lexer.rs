//! The tokens of proto text: names, integers, strings and punctuation; `#` begins a comment. Used by `text_read.rs`.

use tilewright_core::ParseError;

/// A range `from..to` of bytes of the text.
pub(super) type ProtoSpan = (usize, usize);

/// A position in the text, after the last token read.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Returns the first byte of the next token; skips white space and comments.
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_ascii_start();
            self.at += rest.len() - trimmed.len();
            match trimmed.bytes().next() {
                Some(b'#') => self.at += trimmed.find('\n').unwrap_or(trimmed.len()),
                next => return next,
            }
        }
    }

    /// Reads one byte if it is next; returns whether it did.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let is = self.peek() == Some(byte);
        self.at += usize::from(is);
        is
    }

    /// Reads one byte; the error with `message` if another one is next.
    pub(super) fn expect(&mut self, byte: u8, message: &'static str) -> Result<(), ParseError> {
        if self.eat(byte) { Ok(()) } else { Err(self.error(message)) }
    }

    /// Returns an error at the next token.
    pub(super) fn error(&mut self, message: &'static str) -> ParseError {
        self.peek();
        let word = self.rest().bytes().take_while(|&b| is_word(b)).count();
        let one = self.rest().chars().next().map_or(0, char::len_utf8);
        ParseError::new((self.at, self.at + word.max(one)), message, [])
    }

    /// Reads letters, digits and `_`; the result may be empty.
    pub(super) fn word(&mut self) -> (&'a str, ProtoSpan) {
        self.peek();
        let rest = self.rest();
        let len = rest.bytes().take_while(|&b| is_word(b)).count();
        let from = self.at;
        self.at += len;
        (rest.get(..len).unwrap_or(""), (from, self.at))
    }

    /// Reads an integer with an optional `-`: decimal, octal after `0` or hexadecimal after `0x`.
    pub(super) fn integer(&mut self) -> Result<i64, ParseError> {
        let negative = self.eat(b'-');
        if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
            return Err(self.error("expected an integer"));
        }
        let (digits, span) = self.word();
        let (digits, radix) = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
            Some(hex) => (hex, 16),
            None if digits.len() > 1 && digits.starts_with('0') => (digits, 8),
            None => (digits, 10),
        };
        let value = i128::from_str_radix(digits, radix).ok();
        let value =
            value.and_then(|value| i64::try_from(if negative { -value } else { value }).ok());
        value.ok_or_else(|| ParseError::new(span, "the integer does not fit 64 bits", []))
    }

    /// Reads a string without escapes.
    pub(super) fn string(&mut self) -> Result<&'a str, ParseError> {
        let Some(quote @ (b'"' | b'\'')) = self.peek() else {
            return Err(self.error("expected a string"));
        };
        let inner = self.text.get(self.at + 1..).unwrap_or("");
        match inner.split_once(char::from(quote)) {
            Some((value, _)) if !value.contains(['\\', '\n']) => {
                self.at += value.len() + 2;
                Ok(value)
            }
            _ => Err(self.error("expected a string without escapes, on one line")),
        }
    }
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}
