//! The tokens of an expression, each with the span of its bytes; errors of expressions, with the bytes at fault; and
//! the bounds of an expression: its text, its nesting, and the lists in its value.

use std::borrow::Cow;

use tilewright_core as core;

use crate::Error;

/// One token, without its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word<'a> {
    /// `4`, `_4`, `4_c`: digits without a sign.
    Integer(u64),
    /// `_` alone.
    Keep,
    /// A name: of a function, or `o`, `Sw`, `valid`, `capacity`.
    Name(&'a str),
    /// The text between two quotes.
    Quoted(&'a str),
    /// A linear layout: `{…}`, with the `-> (…)` after it if there is one.
    Linear(&'a str),
    /// The text between brackets: the names of dims.
    Dims(&'a str),
    /// One of `( ) < > , : + - * / % @ ; .`, or `m` for the minus of `_m4`.
    Sign(char),
    /// The end of the text.
    End,
}

/// Word with its span.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) word: Word<'a>,
    pub(super) span: (usize, usize),
}

/// Splits a text into words; the last one is [`Word::End`].
pub(super) fn words(text: &str) -> Result<Vec<Token<'_>>, Error> {
    if text.len() > MAX_TEXT {
        let message =
            format!("an expression of {} bytes of text; at most {MAX_TEXT} are read", text.len());
        return Err(Error::new("limit", message).at((MAX_TEXT, text.len())));
    }
    let (mut tokens, mut at) = (Vec::new(), 0);
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let token = next(text, at)?;
        at = token.span.1;
        tokens.push(token);
        if token.word == Word::End {
            return Ok(tokens);
        }
    }
}

/// Returns the word at a byte that is not a space.
fn next(text: &str, from: usize) -> Result<Token<'_>, Error> {
    let rest = &text[from..];
    let word = |word, len: usize| Ok(Token { word, span: (from, from + len) });
    let Some(first) = rest.chars().next() else { return word(Word::End, 0) };
    match first {
        '(' | ')' | '<' | '>' | ',' | ':' | '+' | '-' | '@' | ';' | '.' | '*' | '/' | '%' => {
            word(Word::Sign(first), 1)
        }
        '"' | '\'' => match rest[1..].find(first) {
            Some(len) => word(Word::Quoted(&rest[1..=len]), len + 2),
            None => Err(unclosed(from, text, first)),
        },
        '{' => match linear(rest) {
            Some(len) => word(Word::Linear(&rest[..len]), len),
            None => Err(unclosed(from, text, '}')),
        },
        '[' if rest.starts_with("[](") || rest.starts_with("[&](") => Err(Error::parse(
            (from, text.len()),
            "a function of C++ is not evaluated; write the tuple that it returns",
        )),
        '[' => match rest.find(']') {
            Some(len) => word(Word::Dims(&rest[1..len]), len + 1),
            None => Err(unclosed(from, text, ']')),
        },
        // CuTe's `_m4` is -4.
        '_' if rest[1..].starts_with('m')
            && rest[2..].starts_with(|c: char| c.is_ascii_digit()) =>
        {
            word(Word::Sign('m'), 2)
        }
        '_' | '0'..='9' => {
            let start = usize::from(first == '_');
            let len = start + span(&rest[start..], |c| c.is_ascii_digit());
            let (digits, behind) = (&rest[start..len], &rest[len..]);
            // CuTe's `4_c` is 4.
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let constant = behind.strip_prefix("_c").is_some_and(|end| !end.starts_with(is_name));
            match digits.parse() {
                Ok(value) => word(Word::Integer(value), len + if constant { 2 } else { 0 }),
                Err(_) if digits.is_empty() => word(Word::Keep, 1),
                Err(_) => Err(Error::parse((from, from + len), "the integer does not fit 64 bits")),
            }
        }
        _ if first.is_ascii_alphabetic() => {
            let len = span(rest, |c| c.is_ascii_alphanumeric() || c == '_');
            word(Word::Name(&rest[..len]), len)
        }
        other => Err(Error::parse(
            (from, from + other.len_utf8()),
            format!("`{}` cannot begin a word of an expression", other.escape_debug()),
        )),
    }
}

fn unclosed(from: usize, text: &str, close: char) -> Error {
    let message = format!("expected a closing {close}, found the end of the text");
    Error::parse((from, text.len()), message)
}

/// Returns the length of the linear layout with which a text begins.
fn linear(text: &str) -> Option<usize> {
    let braces = text.find('}')? + 1;
    let behind = text[braces..].trim_start();
    match behind.strip_prefix("->").map(str::trim_start) {
        Some(outs) if outs.starts_with('(') => Some(text.len() - outs.len() + outs.find(')')? + 1),
        Some(_) | None => Some(braces),
    }
}

/// Returns the number of bytes at the start of a text whose characters are of a kind.
fn span(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is(c)).unwrap_or(text.len())
}

/// The largest length of an expression in bytes.
pub const MAX_TEXT: usize = 16 * 1024;

/// The largest nesting depth of calls, tuples and tilers.
pub const MAX_NESTING: usize = 48;

/// The largest number of calls, tuples and operands in one expression.
pub const MAX_NODES: usize = 4096;

/// The largest length of a list in a value: `offsets`, `swizzle`.
pub const MAX_LIST: u64 = 65_536;

/// Returns the error of a parser of core, which refused the text that begins at byte `at`.
pub(super) fn core_parse(at: usize, error: &core::ParseError) -> Error {
    let (from, to) = error.span();
    let kind = error.cause().map_or("parse", core::Error::kind);
    Error::new(kind, error.to_string()).at((at + from, at + to))
}

/// Returns the error of core about the value at `span`, which `subject` describes.
pub(super) fn core(span: (usize, usize), subject: &str, error: &core::Error) -> Error {
    let between = if subject.is_empty() { "" } else { ": " };
    Error::new(error.kind(), format!("{subject}{between}{error}")).at(span)
}

/// Returns the error of core about a whole expression.
#[cfg(feature = "draw")]
pub(crate) fn whole(text: &str, error: &core::Error) -> Error {
    core((0, text.len()), "", error).in_text(text)
}

/// Returns the error of a SPEC at `span`, whose own text begins at `at`.
pub(super) fn spec(span: (usize, usize), at: usize, error: &Error) -> Error {
    let inner = error.span().map(|(from, to)| (at + from, at + to));
    let hint = if error.needs_dims() || error.needs_dtype() {
        "; write the array before it, such as \"f16[100,100] zN\""
    } else {
        ""
    };
    Error::new(error.kind(), format!("{}{hint}", error.message())).at(inner.unwrap_or(span))
}

/// Shortens a name for a message, since it may be as long as the text.
pub(super) fn shortened(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &name[..end]).into(),
        None => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Word<'_>> {
        words(text).unwrap().iter().map(|token| token.word).collect()
    }

    #[test]
    fn words_of_every_kind() {
        assert_eq!(
            all(" size ( _4,_) o\"a b\" "),
            [
                Word::Name("size"),
                Word::Sign('('),
                Word::Integer(4),
                Word::Sign(','),
                Word::Keep,
                Word::Sign(')'),
                Word::Name("o"),
                Word::Quoted("a b"),
                Word::End
            ]
        );
        assert_eq!(words("4:1x").unwrap()[3].span, (3, 4));
        assert_eq!(all("''"), [Word::Quoted(""), Word::End]);
        assert_eq!(
            all("{a=[1]} -> (x:2) {} o [a, b]"),
            [
                Word::Linear("{a=[1]} -> (x:2)"),
                Word::Linear("{}"),
                Word::Name("o"),
                Word::Dims("a, b"),
                Word::End
            ]
        );
    }

    #[test]
    fn what_is_no_word_is_pointed_at() {
        for (text, span) in [
            ("{a=[1]", (0, 6)),
            ("{a=[1]} -> (x", (0, 13)),
            ("[a", (0, 2)),
            ("(2,é)", (3, 5)),
            ("\"ab", (0, 3)),
            ("99999999999999999999:1", (0, 20)),
            ("4#", (1, 2)),
        ] {
            assert_eq!(words(text).unwrap_err().span(), Some(span), "{text}");
        }
        assert_eq!(words(&"1".repeat(MAX_TEXT + 1)).unwrap_err().kind(), "limit");
    }
}
