//! The text of tuples and slicers: `((1,0),(1,_))`, `(3,)`, `7`. Read by `IntTuple::parse` and `Slicer::parse`.
//!
//! ```text
//! tuple := item | '(' [ tuple { ',' tuple } [ ',' ] ] ')'
//! item  := '_' | [ '_' ] [ '-' ] digits
//! ```
//!
//! Law: `parse(print(T)) = T`. `()` occurs only alone: an empty tuple among others cannot be written.

use crate::{
    Error, MAX_DEPTH, ParseError, algebra::nested::walk::Builder, layout::text::Cursor, macros::tri,
};

/// The longest text that is read, in bytes.
pub(crate) const MAX_TEXT: usize = 4096;

pub(crate) struct TupleReader<'a> {
    cursor: Cursor<'a>,
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
        let cursor = Cursor::starting(text, 0);
        let mut reader = TupleReader { cursor, builder: Builder::new(), kept: 0 };
        tri!(reader.tuple());
        reader.cursor.skip();
        if reader.cursor.at < text.len() {
            return Err(ParseError::new(
                (reader.cursor.at, text.len()),
                "text after the tuple",
                [],
            ));
        }
        Ok(reader)
    }

    const fn tuple(&mut self) -> Result<(), ParseError> {
        let mut open = 0usize;
        loop {
            while self.cursor.eat(b'(') {
                open += 1;
                if open > MAX_DEPTH {
                    return Err(ParseError::new(
                        (self.cursor.at - 1, self.cursor.at),
                        "brackets nested deeper than {}",
                        [MAX_DEPTH as i128],
                    ));
                }
                self.builder.open();
            }
            if !(open == 1 && self.builder.len() == 0 && self.cursor.eat(b')')) {
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
            let comma = self.cursor.eat(b',');
            let from = self.cursor.at;
            if self.cursor.eat(b')') {
                if let Err(error) = self.builder.close() {
                    return Err(ParseError::refused((from, self.cursor.at), error));
                }
                open -= 1;
            } else if comma {
                return Ok(open);
            } else {
                return Err(self.cursor.expected_here(
                    "expected `,` or `)`",
                    "expected `,` or `)`, found the end of the text",
                ));
            }
        }
        Ok(0)
    }

    const fn item(&mut self) -> Result<(), ParseError> {
        self.cursor.skip();
        let from = self.cursor.at;
        let underscore = self.cursor.eat(b'_');
        let minus = self.cursor.next() == b'-';
        self.cursor.at += minus as usize;
        let (mut value, mut digits) = (0i128, 0);
        while let Some(digit) = self.cursor.digit() {
            value = value * 10 + digit as i128;
            value = if value > 1 << 64 { 1 << 64 } else { value };
            digits += 1;
        }
        if digits == 0 && (minus || !underscore) {
            return Err(self.cursor.expected_here(
                "expected an integer or `(`",
                "expected an integer or `(`, found the end of the text",
            ));
        }
        let value = if minus { -value } else { value };
        if value > i64::MAX as i128 || value < i64::MIN as i128 {
            return Err(ParseError::new(
                (from, self.cursor.at),
                "the integer does not fit 64 bits",
                [],
            ));
        }
        if digits == 0 && self.builder.len() < 32 {
            self.kept |= 1 << self.builder.len();
        }
        match self.builder.integer(value as i64) {
            Ok(()) => Ok(()),
            Err(error) => Err(ParseError::refused((from, self.cursor.at), error)),
        }
    }
}

/// The error of a builder, with the whole text as its span.
pub(crate) const fn whole(text: &str, error: Error) -> ParseError {
    ParseError::refused((0, text.len()), error)
}
