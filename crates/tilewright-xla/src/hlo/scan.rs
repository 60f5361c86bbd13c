//! A cursor over a module's text that skips what is not read, with brackets balanced. Used by `text.rs`.
//!
//! Law: `at` is between two characters, because the cursor stops only before or after an ASCII byte, or at the end.

use tilewright_core::ParseError;

use crate::{
    Shape,
    text::{Cursor, is_name, shape_prefix},
};

/// The effect of a byte inside a skipped part.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Plain,
    Open,
    Close,
    Quote,
    Slash,
    Newline,
}

const CLASSES: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut classes = [Class::Plain; 256];
    classes[b'(' as usize] = Class::Open;
    classes[b'{' as usize] = Class::Open;
    classes[b'[' as usize] = Class::Open;
    classes[b')' as usize] = Class::Close;
    classes[b'}' as usize] = Class::Close;
    classes[b']' as usize] = Class::Close;
    classes[b'"' as usize] = Class::Quote;
    classes[b'/' as usize] = Class::Slash;
    classes[b'\n' as usize] = Class::Newline;
    classes[b'\r' as usize] = Class::Newline;
    classes
}

pub(super) struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// Set if no comment ends after `at`; this is searched for once.
    unclosed: bool,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Scan<'a> {
        Scan { text, bytes: text.as_bytes(), at: 0, unclosed: false }
    }

    /// Returns the next byte; skips white space and comments.
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            if byte.is_ascii_whitespace() {
                self.at += 1;
            } else if byte != b'/' || !self.comment() {
                return Some(byte);
            }
        }
    }

    /// Skips a comment that begins here; returns false if it does not end.
    fn comment(&mut self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or("");
        let len = match rest.as_bytes().get(1) {
            Some(b'/') => Some(rest.find(['\n', '\r']).unwrap_or(rest.len())),
            Some(b'*') if !self.unclosed => {
                let end = rest.get(2..).and_then(|inner| inner.find("*/"));
                self.unclosed = end.is_none();
                end.map(|end| end + 4)
            }
            _ => None,
        };
        self.at += len.unwrap_or(0);
        len.is_some()
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

    /// Returns an error at the next word or character.
    pub(super) fn error(&mut self, message: &'static str) -> ParseError {
        self.peek();
        let rest = self.text.get(self.at..).unwrap_or("");
        let word = rest.bytes().take_while(|&b| is_name(b)).count();
        let one = rest.chars().next().map_or(0, char::len_utf8);
        ParseError::new((self.at, self.at + word.max(one)), message, [])
    }

    /// Reads a name or keyword, without the `%` before it; the error with `message` if there is none.
    pub(super) fn name(&mut self, message: &'static str) -> Result<&'a str, ParseError> {
        self.eat(b'%');
        self.peek();
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let len = rest.iter().take_while(|&&b| is_name(b)).count();
        if len == 0 {
            return Err(self.error(message));
        }
        let name = self.text.get(self.at..self.at + len).unwrap_or("");
        self.at += len;
        Ok(name)
    }

    /// Returns whether a name and `(` come next and do not begin a shape: `b(…)` is a buffer.
    pub(super) fn is_call(&mut self) -> bool {
        self.peek();
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let len = rest.iter().take_while(|&&b| is_name(b)).count();
        let behind = rest.get(len..).unwrap_or(&[]).trim_ascii_start();
        len > 0 && rest.get(..len) != Some(b"b") && behind.first() == Some(&b'(')
    }

    /// Returns whether a computation comes next: `ENTRY`, or a name and `{`.
    pub(super) fn is_computation(&mut self) -> bool {
        self.peek();
        let mut ahead = Scan { at: self.at, ..Scan::new(self.text) };
        let Ok(name) = ahead.name("") else { return false };
        name == "ENTRY" || (name != "HloModule" && ahead.peek() == Some(b'{'))
    }

    /// Returns whether an instruction comes next: a name and `=`, or a shape and a name and `(`.
    pub(super) fn is_instruction(&mut self) -> bool {
        let named = self.is_named();
        let mut ahead = Scan { at: self.at, ..Scan::new(self.text) };
        named || ahead.shape().is_ok() && ahead.is_call()
    }

    /// Returns whether the name of an instruction and `=` come next.
    pub(super) fn is_named(&mut self) -> bool {
        self.peek();
        let mut ahead = Scan { at: self.at, ..Scan::new(self.text) };
        let is_root = ahead.name("") == Ok("ROOT");
        (!is_root || ahead.name("").is_ok()) && ahead.at > self.at && ahead.eat(b'=')
    }

    /// Passes over the rest of the line, and returns a reader of what follows the name of an attribute and `=` there.
    pub(super) fn attribute(&mut self, name: &str) -> Option<Scan<'a>> {
        let from = self.at;
        self.pass_line();
        let line = self.text.get(from..self.at)?;
        let mut places = line.match_indices(name).map(|(at, _)| at);
        let at = places.find(|&at| line[..at].trim_end().ends_with(','))?;
        let mut found = Scan { at: from + at + name.len(), ..Scan::new(self.text) };
        found.eat(b'=').then_some(found)
    }

    /// Reads an integer, the number of a parameter.
    pub(super) fn integer(&mut self) -> Result<u64, ParseError> {
        let mut cursor = Cursor::starting(self.text, self.at);
        let (value, _) = cursor.integer("expected the number of the parameter")?;
        self.at = cursor.at();
        Ok(value)
    }

    /// Reads a shape.
    pub(super) fn shape(&mut self) -> Result<Shape, ParseError> {
        let mut cursor = Cursor::starting(self.text, self.at);
        let shape = shape_prefix(&mut cursor)?;
        self.at = cursor.at();
        Ok(shape)
    }

    /// Skips everything up to the `)` that closes the group opened before.
    pub(super) fn pass_group(&mut self, message: &'static str) -> Result<(), ParseError> {
        let from = self.at;
        self.pass(false);
        if self.bytes.get(self.at) != Some(&b')') {
            return Err(ParseError::new((from.saturating_sub(1), from), message, []));
        }
        self.at += 1;
        Ok(())
    }

    /// Skips the rest of the line, and the next lines while brackets are open or a comma continues; stops before a
    /// bracket that closes one opened before.
    pub(super) fn pass_line(&mut self) {
        self.pass(true);
    }

    /// Skips the value of an attribute, up to a comma, an unmatched closing bracket, the end of a line or the end.
    pub(super) fn pass_value(&mut self) -> Result<(), ParseError> {
        self.peek();
        let (from, mut depth) = (self.at, 0usize);
        while let Some(&byte) = self.bytes.get(self.at) {
            match CLASSES[usize::from(byte)] {
                Class::Plain if byte == b',' && depth == 0 => break,
                Class::Close | Class::Newline if depth == 0 => break,
                Class::Plain | Class::Newline => {}
                Class::Open => depth += 1,
                Class::Close => depth -= 1,
                Class::Quote => self.pass_string(),
                Class::Slash => {
                    if self.comment() {
                        continue;
                    }
                }
            }
            self.at += 1;
        }
        // A string that does not end is passed beyond the end.
        let is_open = depth > 0 || self.at > self.bytes.len();
        self.at = self.at.min(self.bytes.len());
        match is_open {
            true => {
                let said = "the value of the attribute does not end";
                Err(ParseError::new((from, from + 1), said, []))
            }
            false if self.at == from => Err(self.error("expected the value of the attribute")),
            false => Ok(()),
        }
    }

    /// Skips balanced brackets, strings and comments up to an unmatched closing bracket or the end. With `lines`, stops
    /// also at the end of a line outside brackets.
    fn pass(&mut self, lines: bool) {
        let mut depth = 0usize;
        while let Some(&byte) = self.bytes.get(self.at) {
            match CLASSES[usize::from(byte)] {
                Class::Plain => {}
                Class::Open => depth += 1,
                Class::Close if depth == 0 => return,
                Class::Close => depth -= 1,
                Class::Quote => self.pass_string(),
                Class::Slash => {
                    if self.comment() {
                        continue;
                    }
                }
                Class::Newline if lines && depth == 0 => {
                    if !self.comma_around() {
                        return;
                    }
                    continue;
                }
                Class::Newline => {}
            }
            self.at += 1;
        }
        self.at = self.at.min(self.bytes.len());
    }

    /// Moves to the quote that ends the string, or to the end.
    fn pass_string(&mut self) {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => return,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    /// Returns whether the line that ends here ends with a comma, or the next one begins with one; if so, skips the
    /// white space between them.
    fn comma_around(&mut self) -> bool {
        let before = self.bytes.get(..self.at).unwrap_or(&[]).trim_ascii_end();
        let after = self.bytes.get(self.at..).unwrap_or(&[]).trim_ascii_start();
        let comma = before.last() == Some(&b',') || after.first() == Some(&b',');
        if comma {
            self.at = self.bytes.len() - after.len();
        }
        comma
    }
}
