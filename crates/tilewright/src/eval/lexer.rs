//! The tokens of an expression, each with the span of its bytes; errors of expressions, with the bytes at fault; and
//! the bounds of an expression: its text, its nesting, and the lists in its value.

use std::{
    borrow::Cow,
    cell::{Cell, OnceCell},
    fmt,
};

use tilewright_core as core;
use tilewright_core::{IntTuple, Layout, Profile, Slicer, Tiler};

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

// Lists in brackets: nested lists of integers and `_`, which become tuples or slicers, and names of dims with or without their
// sizes, such as `[row,column]` and `[row:8]`.
//
// A tiler has a part for each axis.

/// Leaves of a tuple in the order of its text. Each has the number of brackets that open before it, its value, and the number of
/// brackets that close after it. The value `None` is `_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Items(Vec<(usize, Option<i64>, usize)>);

impl Items {
    /// Returns a bare integer or `_`.
    pub(super) fn leaf(value: Option<i64>) -> Items {
        Items(vec![(0, value, 0)])
    }

    pub(super) fn of(tuple: &IntTuple) -> Items {
        let leaf = |(i, &value): (usize, &i64)| {
            let (opened, closed) = tuple.profile().brackets(i).unwrap_or((0, 0));
            (opened, Some(value), closed)
        };
        Items(tuple.values().iter().enumerate().map(leaf).collect())
    }

    /// Returns the tuple of these parts.
    pub(super) fn tuple(parts: Vec<Items>) -> Result<Items, core::Error> {
        if parts.iter().any(|part| part.0.is_empty()) {
            return Err(core::Error::illegal(
                "an empty tuple among {} parts of a tuple",
                [parts.len() as i128],
                "write () only alone; a part of one coordinate is 1",
            ));
        }
        let mut all: Vec<_> = parts.into_iter().flat_map(|part| part.0).collect();
        if let Some(first) = all.first_mut() {
            first.0 += 1;
        }
        if let Some(last) = all.last_mut() {
            last.2 += 1;
        }
        Ok(Items(all))
    }

    /// Returns whether this is a bare integer or `_`.
    pub(super) fn is_leaf(&self) -> bool {
        matches!(self.0[..], [(0, _, 0)])
    }

    fn keeps(&self) -> bool {
        self.0.iter().any(|(_, leaf, _)| leaf.is_none())
    }

    /// Returns the tuple, if no leaf is `_`.
    pub(super) fn integers(&self) -> Result<Option<IntTuple>, core::Error> {
        if self.keeps() { Ok(None) } else { self.zeroed().map(Some) }
    }

    /// Returns the tuple with 0 for each `_`.
    pub(super) fn zeroed(&self) -> Result<IntTuple, core::Error> {
        let mut profile = Profile::flat(0)?;
        for &(opened, _, closed) in &self.0 {
            profile.push(opened, closed)?;
        }
        let values: Vec<i64> = self.0.iter().map(|(_, leaf, _)| leaf.unwrap_or(0)).collect();
        IntTuple::new(&values, &profile)
    }

    pub(super) fn slicer(&self) -> Result<Slicer, core::Error> {
        let kept = self.0.iter().enumerate().filter(|(_, (_, leaf, _))| leaf.is_none());
        let kept: Vec<usize> = kept.map(|(i, _)| i).collect();
        Slicer::new(&self.zeroed()?, &kept)
    }
}

impl Items {
    /// Returns the parts of the tuple; a bare integer or `_` is one part.
    pub(super) fn split(&self) -> Vec<Items> {
        let mut leaves = self.0.clone();
        if !self.is_leaf() {
            // The first and the last bracket enclose the whole tuple.
            leaves.first_mut().into_iter().for_each(|(opened, _, _)| *opened -= 1);
            leaves.last_mut().into_iter().for_each(|(_, _, closed)| *closed -= 1);
        }
        let (mut parts, mut depth): (Vec<Items>, usize) = (Vec::new(), 0);
        for leaf in leaves {
            match parts.last_mut() {
                Some(part) if depth > 0 => part.0.push(leaf),
                Some(_) | None => parts.push(Items(vec![leaf])),
            }
            depth = depth + leaf.0 - leaf.2;
        }
        parts
    }

    /// Returns the parts of a tuple as a tiler, one for each axis; `None` for an extent below 0.
    pub(super) fn parts(&self) -> Option<Vec<TilerPart>> {
        let mut open: Vec<Vec<TilerPart>> = vec![Vec::new()];
        for &(opened, leaf, closed) in &self.0 {
            open.extend((0..opened).map(|_| Vec::new()));
            let part = match leaf {
                None => TilerPart::Keep,
                Some(extent) => TilerPart::Extent(u64::try_from(extent).ok()?),
            };
            open.last_mut()?.push(part);
            for _ in 0..closed {
                let inner = open.pop()?;
                open.last_mut()?.push(TilerPart::Modes(inner));
            }
        }
        // The brackets around the whole tuple are those of the tiler.
        match open.pop()?.pop() {
            Some(TilerPart::Modes(parts)) => Some(parts),
            Some(part) => Some(vec![part]),
            None => Some(Vec::new()),
        }
    }
}

/// A part of a tiler, for one axis.
#[derive(Clone, Debug)]
pub(super) enum TilerPart {
    Layout(Box<Layout>),
    Extent(u64),
    Keep,
    /// A tiler for each mode within the axis.
    Modes(Vec<TilerPart>),
}

impl TilerPart {
    /// Returns the tilers of the modes within the axis, if that is what this is.
    pub(super) fn modes(&self) -> Option<Vec<TilerPart>> {
        match self {
            TilerPart::Modes(parts) => Some(parts.clone()),
            _ => None,
        }
    }

    /// Returns the text of a tiler of these parts.
    pub(super) fn text(parts: &[TilerPart]) -> String {
        let part = |part: &TilerPart| match part {
            TilerPart::Layout(layout) => layout.to_string(),
            TilerPart::Extent(extent) => extent.to_string(),
            TilerPart::Keep => "_".to_owned(),
            TilerPart::Modes(inner) => TilerPart::text(inner),
        };
        format!("<{}>", parts.iter().map(part).collect::<Vec<_>>().join(","))
    }

    /// Returns a tuple with the brackets of these parts, and 1 for each part.
    pub(super) fn brackets(parts: &[TilerPart]) -> Result<IntTuple, core::Error> {
        let one = |part: &TilerPart| match part {
            TilerPart::Modes(inner) => TilerPart::brackets(inner),
            TilerPart::Layout(_) | TilerPart::Extent(_) | TilerPart::Keep => {
                Ok(IntTuple::integer(1))
            }
        };
        let tuples: Vec<IntTuple> = parts.iter().map(one).collect::<Result<_, _>>()?;
        IntTuple::of(&tuples.iter().collect::<Vec<_>>())
    }

    /// Returns the number of lists of parts, with the nested ones.
    fn lists(parts: &[TilerPart]) -> usize {
        let within = |part: &TilerPart| match part {
            TilerPart::Modes(inner) => TilerPart::lists(inner),
            TilerPart::Layout(_) | TilerPart::Extent(_) | TilerPart::Keep => 0,
        };
        1 + parts.iter().map(within).sum::<usize>()
    }
}

/// Calls `ask` with the tilers of these parts and returns its result.
pub(super) fn with_tilers<T>(parts: &[TilerPart], ask: impl FnOnce(&[Tiler<'_>]) -> T) -> T {
    let lists: Vec<OnceCell<Vec<Tiler<'_>>>> = vec![OnceCell::new(); TilerPart::lists(parts)];
    ask(tilers(parts, &lists, &Cell::new(0)))
}

/// Returns the tilers of these parts. Each list of tilers is stored in a cell of `lists`.
fn tilers<'a>(
    parts: &'a [TilerPart],
    lists: &'a [OnceCell<Vec<Tiler<'a>>>],
    next: &Cell<usize>,
) -> &'a [Tiler<'a>] {
    let own = next.replace(next.get() + 1);
    let tiler = |part: &'a TilerPart| match part {
        TilerPart::Layout(layout) => Tiler::Layout(layout),
        TilerPart::Extent(extent) => Tiler::Extent(*extent),
        TilerPart::Keep => Tiler::Keep,
        TilerPart::Modes(inner) => Tiler::Modes(tilers(inner, lists, next)),
    };
    let list = parts.iter().map(tiler).collect();
    lists[own].get_or_init(|| list)
}

/// Names of the dims of a linear layout, with the sizes that are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dims(Vec<(String, Option<u64>)>);

impl Dims {
    /// Reads the text between the brackets, which begins at byte `at` of the expression.
    pub(super) fn parse(text: &str, at: usize) -> Result<Dims, Error> {
        let (mut dims, mut from) = (Vec::new(), at);
        for part in text.split(',') {
            let span = (from, from + part.len());
            from += part.len() + 1;
            if part.trim().is_empty() && from > at + text.len() {
                break;
            }
            dims.push(dim(part, span)?);
        }
        Ok(Dims(dims))
    }

    /// Returns the names.
    pub(super) fn names(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Iterates over the names, with the sizes that are given.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, Option<u64>)> {
        self.0.iter().map(|(name, size)| (name.as_str(), *size))
    }

    /// Returns the names and sizes, if all sizes are given.
    pub(super) fn sizes(&self) -> Option<Vec<(&str, u64)>> {
        self.0.iter().map(|(name, size)| Some((name.as_str(), (*size)?))).collect()
    }
}

fn dim(text: &str, span: (usize, usize)) -> Result<(String, Option<u64>), Error> {
    let (name, size) = match text.split_once(':') {
        Some((name, size)) => (name.trim(), Some(size.trim())),
        None => (text.trim(), None),
    };
    let digit = name.starts_with(|c: char| c.is_ascii_digit());
    let letters = !digit && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let size = size.map(|size| size.parse().map_err(|_| size)).transpose();
    match size {
        Ok(size) if letters && !name.is_empty() => Ok((name.to_owned(), size)),
        Ok(_) | Err(_) => {
            Err(Error::parse(span, "expected the name of a dim, or name and size, such as `row:8`"))
        }
    }
}

impl fmt::Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |(name, size): &(String, Option<u64>)| match size {
            Some(size) => format!("{name}:{size}"),
            None => name.clone(),
        };
        write!(f, "[{}]", self.0.iter().map(one).collect::<Vec<_>>().join(","))
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
