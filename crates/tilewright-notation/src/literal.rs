//! Fields with values, as Python, JSON and C write them: `shape=(3,5), dtype='f4'`, `{"shape": [3, 5]}`,
//! `empty((3, 5), dtype=f4)`.
//!
//! ```text
//! fields := [ name ] '(' entries ')' | '{' entries '}' | entries
//! entries := [ entry { ',' entry } [ ',' ] ]
//! entry  := [ key ( '=' | ':' ) ] value        without a key: the next of the positional keys
//! value  := int | word | text | list | '{' key ( '=' | ':' ) … '}' | name '(' value { ',' value } ')'      a call of one value is that value
//! list   := ( '(' | '[' | '{' ) [ value { ',' value } [ ',' ] ] ( ')' | ']' | '}' )
//! ```

use std::fmt::Display;

use tilewright_core as core;
use tilewright_core::{MAX_MODES, ParseError, Remedy};

use crate::Error;
pub(crate) use tilewright_scan::{alternatives, comma, did_you_mean, distance, nearest, tuple};

type TextSpan = (usize, usize);

/// The most values of one list and the deepest nesting.
const MOST: usize = 4 * MAX_MODES;
const DEEPEST: usize = 4;

/// A value with the bytes it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Literal<'a> {
    kind: TokenKind<'a>,
    pub(crate) span: TextSpan,
}

#[derive(Clone, Debug)]
enum TokenKind<'a> {
    Integer(i128),
    /// A word, or a text without its quotes.
    Word(&'a str),
    List(Vec<Literal<'a>>),
    /// `{key = value`, up to the bracket that closes it.
    Fields(&'a str),
}

/// Fields, each to be taken once by the dialect that knows it.
#[derive(Debug)]
pub(crate) struct LiteralFields<'a> {
    fields: Vec<(&'a str, TextSpan, Literal<'a>)>,
    end: usize,
}

impl<'a> LiteralFields<'a> {
    /// Reads a whole text; `who` has the fields `legal`, of which values without a key take the
    /// `positional` first ones in turn.
    pub(crate) fn read(
        text: &'a str,
        who: &str,
        legal: &[&'a str],
        positional: usize,
    ) -> Result<LiteralFields<'a>, Error> {
        let positional = legal.get(..positional).unwrap_or(legal);
        let mut scan = Scanner::new(text);
        let close = opening(&mut scan);
        let mut fields: Vec<(&str, TextSpan, Literal<'_>)> = Vec::new();
        let mut end;
        loop {
            end = if close.is_none() { text.len() } else { scan.at() };
            if close.is_some_and(|close| scan.eat(close)) {
                break;
            }
            let (key, span, value) = entry(&mut scan, positional.get(fields.len()).copied())?;
            if fields.iter().any(|(other, ..)| *other == key) {
                return Err(Error::parse(span, format!("`{key}` is given twice")));
            }
            if fields.len() == MOST {
                return Err(scan.expected("the end of the fields"));
            }
            fields.push((key, span, value));
            if scan.eat(",") {
                continue;
            }
            match close {
                Some(close) => {
                    scan.expect(close)?;
                    break;
                }
                None => break,
            }
        }
        scan.end("the fields")?;
        match fields.iter().find(|(key, ..)| !legal.contains(key)) {
            None => Ok(LiteralFields { fields, end }),
            Some((key, span, _)) => {
                let nearest = did_you_mean(key, legal.iter().copied());
                let legal = legal.join(", ");
                Err(Error::parse(*span, format!("{who} has no `{key}`, only {legal}{nearest}")))
            }
        }
    }

    /// Takes the value that has one of these keys.
    pub(crate) fn take(&mut self, keys: &[&str]) -> Result<Option<Literal<'a>>, Error> {
        let Some(at) = self.fields.iter().position(|(key, ..)| keys.contains(key)) else {
            return Ok(None);
        };
        let (first, _, value) = self.fields.remove(at);
        match self.fields.iter().find(|(key, ..)| keys.contains(key)) {
            Some((second, span, _)) => {
                Err(Error::parse(*span, format!("`{second}` is `{first}`, which is given already")))
            }
            None => Ok(Some(value)),
        }
    }

    /// As [`LiteralFields::take`]; without the field, an error behind the last.
    pub(crate) fn need(&mut self, keys: &[&str]) -> Result<Literal<'a>, Error> {
        let end = (self.end, self.end);
        self.take(keys)?.ok_or_else(|| {
            Error::parse(end, format!("expected `{}=` too", keys.first().unwrap_or(&"")))
        })
    }

    /// As [`LiteralFields::take`], where Python's `None` and C's `NULL` are not a value.
    pub(crate) fn take_some(&mut self, keys: &[&str]) -> Result<Option<Literal<'a>>, Error> {
        Ok(self.take(keys)?.filter(|value| !value.is_null()))
    }
}

/// Takes the bracket around the fields, perhaps behind the name of a call; the bracket that closes it.
fn opening(scan: &mut Scanner<'_>) -> Option<&'static str> {
    if scan.eat("{") {
        return Some("}");
    }
    scan.skip();
    let name_end = scan.rest().find(|c| !is_word(c)).unwrap_or(0);
    let call = scan.rest().get(name_end..).is_some_and(|rest| rest.trim_start().starts_with('('));
    if name_end == 0 || !call {
        return None;
    }
    scan.take(is_word);
    scan.eat("(");
    Some(")")
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.<>|?-+".contains(c)
}

/// A field with its key.
fn entry<'a>(
    scan: &mut Scanner<'a>,
    positional: Option<&'a str>,
) -> Result<(&'a str, TextSpan, Literal<'a>), Error> {
    if let Some((key, span)) = key(scan) {
        return Ok((key, span, value(scan, 0)?));
    }
    match positional {
        Some(key) => {
            let value = value(scan, 0)?;
            Ok((key, value.span, value))
        }
        None => Err(scan.expected("a field, such as `shape=(3,5)`")),
    }
}

/// A key with its `=` or `:`, if that is what comes next.
fn key<'a>(scan: &mut Scanner<'a>) -> Option<(&'a str, TextSpan)> {
    scan.skip();
    let (rest, at) = (scan.rest(), scan.at());
    let quote = rest.chars().next().filter(|c| "'\"".contains(*c));
    let from = quote.map_or(0, char::len_utf8);
    let name = rest.get(from..)?;
    let name = name.get(..name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?)?;
    let mut behind = rest.get(from + name.len()..)?;
    if let Some(quote) = quote {
        behind = behind.strip_prefix(quote)?;
    }
    let behind = behind.trim_start();
    let sign = behind.starts_with('=') || (behind.starts_with(':') && !behind.starts_with("::"));
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !sign {
        return None;
    }
    let span = (at + from, at + from + name.len());
    let skipped = rest.len() - behind.len() + 1;
    scan.advance(skipped);
    Some((name, span))
}

fn value<'a>(scan: &mut Scanner<'a>, depth: usize) -> Result<Literal<'a>, Error> {
    let first = scan.peek();
    let from = scan.at();
    let kind = match first {
        Some(c) if c.is_ascii_digit() || (c == '-' && is_negative(scan)) => integer(scan)?,
        Some(quote @ ('\'' | '"')) => text(scan, quote)?,
        Some('{') if has_fields(scan) => {
            let fields = scan.take(|c| c != '}');
            scan.expect("}")?;
            TokenKind::Fields(fields)
        }
        Some(open @ ('(' | '[' | '{')) => {
            let close = match open {
                '(' => ")",
                '[' => "]",
                _ => "}",
            };
            if depth == DEEPEST {
                return Err(scan.expected("no further bracket"));
            }
            scan.advance(1);
            list(scan, close, depth)?
        }
        // `dtype=<f4`, `typestr=|u1`, `==f4`
        Some(c) if is_word(c) || c == '=' => {
            let word = scan.take(|c| is_word(c) || c == '=');
            if scan.eat("(") { call(scan, depth)? } else { TokenKind::Word(word) }
        }
        Some(_) | None => return Err(scan.expected("a value")),
    };
    Ok(Literal { kind, span: (from, scan.at()) })
}

/// Reads a call with one argument, `torch.Size([3, 5])` or `dtype('float32')`, as that argument.
fn call<'a>(scan: &mut Scanner<'a>, depth: usize) -> Result<TokenKind<'a>, Error> {
    if depth == DEEPEST {
        return Err(scan.expected("no further bracket"));
    }
    match list(scan, ")", depth)? {
        TokenKind::List(mut values) if values.len() == 1 => {
            values.pop().map(|value| value.kind).ok_or_else(|| scan.expected("a value"))
        }
        other => Ok(other),
    }
}

/// Returns whether the next bracket holds fields.
fn has_fields(scan: &Scanner<'_>) -> bool {
    let mut ahead = Scanner::new(scan.rest());
    ahead.eat("{") && key(&mut ahead).is_some()
}

fn is_negative(scan: &Scanner<'_>) -> bool {
    scan.rest().get(1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn integer<'a>(scan: &mut Scanner<'a>) -> Result<TokenKind<'a>, Error> {
    let from = scan.at();
    let digits = scan.take(|c| c.is_ascii_digit() || c == '-');
    let fits = digits.len() <= 30;
    let value = if fits { digits.parse().ok() } else { None };
    value.map(TokenKind::Integer).ok_or_else(|| {
        Error::parse((from, scan.at()), format!("the integer {digits} does not fit 64 bits"))
    })
}

/// A text in quotes, without escapes: no name here needs one.
fn text<'a>(scan: &mut Scanner<'a>, quote: char) -> Result<TokenKind<'a>, Error> {
    let from = scan.at();
    scan.advance(1);
    let text = scan.take(|c| c != quote && c != '\\');
    if scan.rest().starts_with(quote) {
        scan.advance(1);
        return Ok(TokenKind::Word(text));
    }
    Err(Error::parse((from, scan.at()), "a text without its closing quote, or with an escape"))
}

fn list<'a>(scan: &mut Scanner<'a>, close: &str, depth: usize) -> Result<TokenKind<'a>, Error> {
    let mut values = Vec::new();
    while !scan.eat(close) {
        if !values.is_empty() {
            scan.expect(",")?;
            if scan.eat(close) {
                break;
            }
        }
        if values.len() == MOST {
            return Err(scan.expected(&format!("`{close}` after {MOST} values")));
        }
        values.push(value(scan, depth + 1)?);
    }
    Ok(TokenKind::List(values))
}

impl<'a> Literal<'a> {
    /// Python's `None`, JSON's `null`, C's `NULL`.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self.kind, TokenKind::Word("None" | "null" | "NULL" | "nullptr"))
    }

    fn expected(&self, what: impl Display) -> Error {
        Error::parse(self.span, format!("expected {what}"))
    }

    fn number<T: TryFrom<i128>>(&self, what: &str) -> Result<T, Error> {
        match self.kind {
            TokenKind::Integer(value) => {
                T::try_from(value).map_err(|_| match value > i64::MAX.into() {
                    true => Error::parse(
                        self.span,
                        format!("the integer is too large; expected {what}"),
                    ),
                    false => self.expected(what),
                })
            }
            TokenKind::Word(_) | TokenKind::List(_) | TokenKind::Fields(_) => {
                Err(self.expected(what))
            }
        }
    }

    pub(crate) fn signed(&self) -> Result<i64, Error> {
        self.number("an integer from -2^63 to 2^63 - 1")
    }

    pub(crate) fn unsigned(&self) -> Result<u64, Error> {
        self.number("an integer from 0 to 2^64 - 1")
    }

    /// A word or a text.
    pub(crate) fn word(&self) -> Result<&'a str, Error> {
        match self.kind {
            TokenKind::Word(word) => Ok(word),
            TokenKind::Integer(_) | TokenKind::List(_) | TokenKind::Fields(_) => {
                Err(self.expected("a name"))
            }
        }
    }

    /// The fields within braces, of the `legal` names.
    pub(crate) fn fields(&self, who: &str, legal: &[&'a str]) -> Result<LiteralFields<'a>, Error> {
        match self.kind {
            TokenKind::Fields(text) => {
                let inside = text.get(1..).unwrap_or("");
                LiteralFields::read(inside, who, legal, 0)
                    .map_err(|error| error.shifted(self.span.0 + 1))
            }
            TokenKind::List(ref values) if values.is_empty() => {
                LiteralFields::read("{}", who, legal, 0)
            }
            TokenKind::Integer(_) | TokenKind::Word(_) | TokenKind::List(_) => {
                Err(self.expected("fields in braces"))
            }
        }
    }

    /// The values of a list of at most 32 values.
    pub(crate) fn list(&self) -> Result<&[Literal<'a>], Error> {
        match &self.kind {
            TokenKind::List(values) if values.len() <= MAX_MODES => Ok(values),
            TokenKind::List(_) => Err(self.expected(format!("at most {MAX_MODES} values"))),
            TokenKind::Integer(_) | TokenKind::Word(_) | TokenKind::Fields(_) => {
                Err(self.expected("a list, such as `(3,5)`"))
            }
        }
    }

    /// The extents of an array; one integer is the extent of one dim, as NumPy has it.
    pub(crate) fn dims(&self) -> Result<Vec<u64>, Error> {
        match self.kind {
            TokenKind::Integer(_) => Ok(vec![self.unsigned()?]),
            TokenKind::Word(_) | TokenKind::List(_) | TokenKind::Fields(_) => {
                self.list()?.iter().map(Literal::unsigned).collect()
            }
        }
    }

    /// One stride for each of `rank` dims; `whole` is the length of the whole text.
    pub(crate) fn strides(&self, rank: usize) -> Result<Vec<i64>, Error> {
        let strides: Vec<i64> = match self.kind {
            TokenKind::Integer(_) => vec![self.signed()?],
            TokenKind::Word(_) | TokenKind::List(_) | TokenKind::Fields(_) => {
                self.list()?.iter().map(Literal::signed).collect::<Result<_, _>>()?
            }
        };
        if strides.len() != rank {
            return Err(Error::parse(
                self.span,
                format!("{} strides for a shape of {rank} dims", strides.len()),
            ));
        }
        Ok(strides)
    }
}

/// `(3,)`, `(3,5)`: a tuple as Python reads it.
pub(crate) fn python_tuple<T: Display>(values: &[T]) -> String {
    format!("({}{})", comma(values), if values.len() == 1 { "," } else { "" })
}

// Cursor over the text of a SPEC, and the errors that every reader of a text raises: a text that needs dims or an
// element type, and a refusal by core.
//
// All dialects use it. An error of the cursor is one of this crate.

/// The characters of a text outside brackets and quotes: where each is, with the one before it in the text.
pub(crate) fn outside(text: &str) -> impl Iterator<Item = (usize, Option<char>, char)> {
    let (mut depth, mut quote, mut before) = (0usize, None, None);
    text.char_indices().filter_map(move |(at, c)| {
        let last = before.replace(c);
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 => return Some((at, last, c)),
            (None, _) => {}
        }
        None
    })
}

/// A reading position in the text of a SPEC.
pub(crate) type Scanner<'a> = tilewright_scan::Scanner<'a, Error>;

/// Returns the error of a SPEC that is general and was resolved without dims.
pub(crate) fn needs_dims(message: impl Into<String>) -> Error {
    Error::new("needs-dims", message).with(&[Remedy::Dims])
}

/// Returns the error of a SPEC that depends on the element type and was resolved without one.
pub(crate) fn needs_dtype(message: impl Into<String>) -> Error {
    Error::new("needs-dtype", message).with(&[Remedy::Dtype])
}

/// Returns the error of a text that a parser of core refuses. Its kind is `parse` even if the text is well formed.
pub(crate) fn parsed(error: ParseError) -> Error {
    Error::from(error).of_kind("parse")
}

/// Returns the error of a linear map without an inverse or without strides. For a notation, the map is not legal.
pub(crate) fn of_map(refusal: core::Error) -> Error {
    let is_legal = !refusal.is_no_layout();
    let error = Error::from(refusal);
    if is_legal { error } else { error.of_kind("illegal") }
}

#[cfg(test)]
mod tests {
    use super::{outside, *};

    fn shape(text: &str) -> Result<Vec<u64>, Error> {
        let mut fields = LiteralFields::read(text, "an array", &["shape", "strides", "size"], 2)?;
        let dims = fields.need(&["shape", "size"])?.dims()?;
        Ok(dims)
    }

    #[test]
    fn python_json_and_calls() {
        for text in [
            "shape=(3,5)",
            "shape = [3, 5]",
            "{'shape': (3, 5,)}",
            "{\"shape\": [3,5]}",
            "(3, 5)",
            "torch.empty((3, 5))",
            "size=(3,5)",
            "Layout( shape = (3,5) , )",
            "shape=torch.Size([3, 5])",
            "empty(torch.Size((3, 5)))",
        ] {
            assert_eq!(shape(text).unwrap_or_else(|e| panic!("{text}: {e}")), [3, 5], "{text}");
        }
        assert_eq!(shape("shape=3").unwrap(), [3]);
        assert_eq!(shape("shape=()").unwrap(), [0u64; 0]);
    }

    #[test]
    fn errors_point_at_the_field() {
        for (text, span, words) in [
            ("shape=(3,5),shape=2", (12, 17), "given twice"),
            ("shape=(3,5),size=2", (12, 16), "given already"),
            ("shape=(3,-5)", (9, 11), "from 0 to 2^64"),
            ("shape=(3,x)", (9, 10), "from 0 to 2^64"),
            ("shape=(3", (8, 8), "`,`"),
            ("strides=(3,5)", (13, 13), "expected `shape=`"),
            ("sharpe=(3,5)", (0, 6), "did you mean `shape`?"),
            ("shape=3, stripes=3", (9, 16), "an array has no `stripes`"),
            ("{'shape': 3", (11, 11), "`}`"),
            ("shape='3", (6, 8), "closing quote"),
            (
                "shape=99999999999999999999",
                (6, 26),
                "too large; expected an integer from 0 to 2^64 - 1",
            ),
            ("shape=((((((3))))))", (10, 11), "no further bracket"),
        ] {
            let error = shape(text).unwrap_err();
            assert_eq!(error.span(), Some(span), "{text}: {error}");
            assert!(error.to_string().contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn brackets_and_quotes_are_left_out_with_what_they_hold() {
        let left = |text| outside(text).collect::<Vec<_>>();
        assert_eq!(left("a(b[c]d)e"), [(0, None, 'a'), (8, Some(')'), 'e')]);
        assert_eq!(
            left("x'(y'z\"'\"w"),
            [(0, None, 'x'), (5, Some('\''), 'z'), (9, Some('"'), 'w')]
        );
        // Brackets that close nothing open nothing.
        assert_eq!(left(")t"), [(1, Some(')'), 't')]);
        assert!(left("{(t").is_empty() && left("'t").is_empty() && left("").is_empty());
    }
}
