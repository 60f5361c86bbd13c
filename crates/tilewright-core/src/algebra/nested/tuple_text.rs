//! The text of tuples and slicers: `((1,0),(1,_))`, `(3,)`, `7`. Read by `IntTuple::parse` and `Slicer::parse`.
//!
//! ```text
//! tuple := item | '(' [ tuple { ',' tuple } [ ',' ] ] ')'
//! item  := '_' | [ '_' ] [ '-' ] digits
//! ```
//!
//! Law: `parse(print(T)) = T`. `()` occurs only alone: an empty tuple among others cannot be written.

use crate::algebra::nested::walk::Builder;
use crate::{Error, MAX_DEPTH, ParseError, macros::tri};

/// The longest text that is read, in bytes.
pub(crate) const MAX_TEXT: usize = 4096;

pub(crate) struct TupleReader<'a> {
    text: &'a [u8],
    at: usize,
    pub(crate) builder: Builder,
    /// The leaves that were written `_`, one bit each.
    pub(crate) kept: u32,
}

impl<'a> TupleReader<'a> {
    pub(crate) const fn read(text: &'a str) -> Result<TupleReader<'a>, ParseError> {
        if text.len() > MAX_TEXT {
            return Err(ParseError::new(
                (MAX_TEXT, text.len()),
                "a tuple of {} bytes of text; at most {} are read",
                [text.len() as i128, MAX_TEXT as i128],
            ));
        }
        let mut reader =
            TupleReader { text: text.as_bytes(), at: 0, builder: Builder::new(), kept: 0 };
        tri!(reader.tuple());
        reader.skip();
        if reader.at < text.len() {
            return Err(ParseError::new((reader.at, text.len()), "text after the tuple", []));
        }
        Ok(reader)
    }

    const fn skip(&mut self) {
        while self.at < self.text.len() && self.text[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
    }

    const fn eat(&mut self, byte: u8) -> bool {
        self.skip();
        let found = self.at < self.text.len() && self.text[self.at] == byte;
        self.at += found as usize;
        found
    }

    /// The error that `what` was expected here.
    const fn expected(&self, what: &'static str, at_end: &'static str) -> ParseError {
        if self.at >= self.text.len() {
            return ParseError::new((self.text.len(), self.text.len()), at_end, []);
        }
        // A span ends between two characters, also if the text is not ASCII.
        let mut to = self.at + 1;
        while to < self.text.len() && self.text[to] & 0xC0 == 0x80 {
            to += 1;
        }
        ParseError::new((self.at, to), what, [])
    }

    const fn tuple(&mut self) -> Result<(), ParseError> {
        let mut open = 0usize;
        loop {
            while self.eat(b'(') {
                open += 1;
                if open > MAX_DEPTH {
                    return Err(ParseError::new(
                        (self.at - 1, self.at),
                        "brackets nested deeper than {}",
                        [MAX_DEPTH as i128],
                    ));
                }
                self.builder.open();
            }
            if !(open == 1 && self.builder.len() == 0 && self.eat(b')')) {
                tri!(self.item());
                open = tri!(self.closings(open));
            } else {
                open = 0;
            }
            if open == 0 {
                return Ok(());
            }
        }
    }

    /// Reads closing brackets, then a comma, after an item; returns how many brackets stay open.
    const fn closings(&mut self, mut open: usize) -> Result<usize, ParseError> {
        while open > 0 {
            let comma = self.eat(b',');
            let from = self.at;
            if self.eat(b')') {
                if let Err(error) = self.builder.close() {
                    return Err(ParseError::refused((from, self.at), error));
                }
                open -= 1;
            } else if comma {
                return Ok(open);
            } else {
                return Err(self.expected(
                    "expected `,` or `)`",
                    "expected `,` or `)`, found the end of the text",
                ));
            }
        }
        Ok(0)
    }

    const fn item(&mut self) -> Result<(), ParseError> {
        self.skip();
        let from = self.at;
        let underscore = self.eat(b'_');
        let minus = self.at < self.text.len() && self.text[self.at] == b'-';
        self.at += minus as usize;
        let (mut value, mut digits) = (0i128, 0);
        while self.at < self.text.len() && self.text[self.at].is_ascii_digit() {
            value = value * 10 + (self.text[self.at] - b'0') as i128;
            value = if value > 1 << 64 { 1 << 64 } else { value };
            digits += 1;
            self.at += 1;
        }
        if digits == 0 && (minus || !underscore) {
            return Err(self.expected(
                "expected an integer or `(`",
                "expected an integer or `(`, found the end of the text",
            ));
        }
        let value = if minus { -value } else { value };
        if value > i64::MAX as i128 || value < i64::MIN as i128 {
            return Err(ParseError::new((from, self.at), "the integer does not fit 64 bits", []));
        }
        if digits == 0 && self.builder.len() < 32 {
            self.kept |= 1 << self.builder.len();
        }
        match self.builder.integer(value as i64) {
            Ok(()) => Ok(()),
            Err(error) => Err(ParseError::refused((from, self.at), error)),
        }
    }
}

/// The error of a builder, with the whole text as its span.
pub(crate) const fn whole(text: &str, error: Error) -> ParseError {
    ParseError::refused((0, text.len()), error)
}
