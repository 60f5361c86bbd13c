//! Finds the paths that the code of a file names: those of its `use` items, and those in its code.

use super::source::{Source, is_word_byte};

/// A path as it is written, such as `super::tree::Tree`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The line, from 1.
    pub(crate) line: usize,
    pub(crate) words: Vec<String>,
    pub(crate) brings: Brings,
}

/// The names that a path makes known in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Brings {
    /// A path in code: none.
    Nothing,
    /// A `use` item: this name.
    Name(String),
    /// A `use` item that ends in `*`.
    All,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Colons,
    Mark(u8),
}

/// The tokens outside tests with their lines.
type Tokens<'a> = [(usize, Token<'a>)];

/// Words that precede an item's name.
const ITEMS: [&str; 9] =
    ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro_rules"];

/// Returns every path outside tests, in the order of the text.
pub(crate) fn paths(source: &Source) -> Vec<Named> {
    let tokens = tokens(source);
    let mut named = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        at = match begins(&tokens, at) {
            Begin::Use => use_tree(&tokens, at + 1, &[], &mut named),
            Begin::Path => path(&tokens, at, &mut named),
            Begin::Neither => at + 1,
        };
    }
    named
}

/// Returns the names of the items that a file defines, including methods.
pub(crate) fn items(source: &Source) -> Vec<String> {
    let tokens = tokens(source);
    let words = tokens.iter().filter_map(|&(_, token)| match token {
        Token::Mark(b'!') => None,
        token => Some(token),
    });
    let words: Vec<Token> = words.collect();
    let name = |pair: &[Token]| match (pair[0], pair[1]) {
        (Token::Word(kind), Token::Word(name)) if ITEMS.contains(&kind) => Some(name.to_owned()),
        _ => None,
    };
    words.windows(2).filter_map(name).collect()
}

enum Begin {
    Use,
    Path,
    Neither,
}

/// Returns the kind of text that begins at token `at`.
fn begins(tokens: &Tokens, at: usize) -> Begin {
    let behind = tokens.get(at + 1).map(|&(_, token)| token);
    let before = |by: usize| at.checked_sub(by).map(|at| tokens[at].1);
    // `pub(in super::super)` limits the visibility of an item, and is not a dependency.
    let sees = before(1) == Some(Token::Word("in")) && before(2) == Some(Token::Mark(b'('));
    match (tokens[at].1, behind) {
        // `use<'a>` is a bound of a type.
        (Token::Word("use"), Some(Token::Word(_) | Token::Mark(b'{'))) => Begin::Use,
        (Token::Word(_), Some(Token::Colons)) if before(1) != Some(Token::Colons) && !sees => {
            Begin::Path
        }
        _ => Begin::Neither,
    }
}

/// Reads a path in code, and returns the token after it.
fn path(tokens: &Tokens, from: usize, named: &mut Vec<Named>) -> usize {
    let mut words = Vec::new();
    let mut at = from;
    while let Some(&(_, Token::Word(word))) = tokens.get(at) {
        words.push(word.to_owned());
        at += 1;
        if tokens.get(at).map(|token| token.1) != Some(Token::Colons) {
            break;
        }
        at += 1;
    }
    named.push(Named { line: tokens[from].0, words, brings: Brings::Nothing });
    at
}

/// Reads one tree of a `use` item, and returns the token after it.
fn use_tree(tokens: &Tokens, from: usize, prefix: &[String], named: &mut Vec<Named>) -> usize {
    let (mut words, mut alias, mut all, mut at) = (prefix.to_vec(), None, false, from);
    while let Some(&(_, token)) = tokens.get(at) {
        match token {
            Token::Word("as") => {
                alias = tokens.get(at + 1).and_then(|token| match token.1 {
                    Token::Word(word) => Some(word.to_owned()),
                    _ => None,
                });
                at += 1;
            }
            Token::Word(word) => words.push(word.to_owned()),
            Token::Mark(b'*') => all = true,
            Token::Mark(b'{') => return use_list(tokens, at + 1, &words, named),
            Token::Mark(_) => break,
            Token::Colons => {}
        }
        at += 1;
    }
    if words.len() > 1 && words.last().is_some_and(|last| last == "self") {
        words.pop();
    }
    let name = alias.or_else(|| words.last().cloned());
    let line = tokens[from.min(tokens.len() - 1)].0;
    if let (true, Some(name)) = (at > from, name) {
        let brings = if all { Brings::All } else { Brings::Name(name) };
        named.push(Named { line, words, brings });
    }
    at
}

/// Reads the trees between braces, and returns the token after them.
fn use_list(tokens: &Tokens, from: usize, prefix: &[String], named: &mut Vec<Named>) -> usize {
    let mut at = from;
    while at < tokens.len() {
        at = use_tree(tokens, at, prefix, named);
        let end = tokens.get(at).map(|token| token.1);
        at += 1;
        if end != Some(Token::Mark(b',')) {
            break;
        }
    }
    at
}

fn tokens(source: &Source) -> Vec<(usize, Token<'_>)> {
    source
        .shipped()
        .flat_map(|(number, line)| of_line(&line.bare).map(move |token| (number, token)))
        .collect()
}

fn of_line(line: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let length = rest.bytes().take_while(|&byte| is_word_byte(byte)).count();
        let (token, length) = match length {
            0 if rest.starts_with("::") => (Token::Colons, 2),
            0 => (Token::Mark(rest.as_bytes()[0]), first.len_utf8()),
            _ => (Token::Word(&rest[..length]), length),
        };
        rest = &rest[length..];
        Some(token)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(String, Brings)> {
        let source = Source::new("crates/x/src/a.rs", text);
        paths(&source).into_iter().map(|named| (named.words.join("::"), named.brings)).collect()
    }

    fn name(path: &str, name: &str) -> (String, Brings) {
        (path.into(), Brings::Name(name.into()))
    }

    #[test]
    fn trees_of_use_items_are_taken_apart() {
        assert_eq!(
            of("pub(crate) use crate::{a::{self, B as C}, d::*, e,};"),
            [
                name("crate::a", "a"),
                name("crate::a::B", "C"),
                ("crate::d".into(), Brings::All),
                name("crate::e", "e"),
            ]
        );
        assert_eq!(of("use super::\n    x;"), [name("super::x", "x")]);
    }

    #[test]
    fn paths_stand_in_code_and_not_in_comments_or_tests() {
        let nothing = |path: &str| (path.to_owned(), Brings::Nothing);
        let text = "// crate::a\nfn f() -> super::T { crate::b::c::<u8>(\"crate::d\") }\n\
                    #[cfg(test)]\nmod tests { use crate::e; }\n";
        assert_eq!(of(text), [nothing("super::T"), nothing("crate::b::c")]);
        assert_eq!(of("impl Iterator<Item = u8> + use<'_> {}"), []);
        assert_eq!(of("pub(in crate::a) fn f() { for x in super::y() {} }"), [nothing("super::y")]);
    }

    #[test]
    fn items_have_names() {
        let source = Source::new("x.rs", "pub struct A; impl A { fn b() {} } macro_rules! c {}");
        assert_eq!(items(&source), ["A", "b", "c"]);
    }
}
