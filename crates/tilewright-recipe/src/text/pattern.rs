//! Patterns of the names that tensors may have: whether two of them match a common name.
//!
//! Law: two patterns meet if and only if some name is matched by both.

use crate::rule::name::{Name, NamePiece};

/// A letter of a pattern of names, or any number of letters.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    Letter(char),
    Any,
    /// Any letters but dots.
    Word,
    Figures,
}

/// A pattern of whole names.
#[derive(Debug)]
pub(crate) struct NamePattern(Vec<Token>);

impl NamePattern {
    /// The pattern of a glob, in which `*` is any text.
    pub(crate) fn of_glob(glob: &str) -> NamePattern {
        NamePattern(
            glob.chars().map(|c| if c == '*' { Token::Any } else { Token::Letter(c) }).collect(),
        )
    }

    /// The pattern of the names that a rule takes or makes, and the glob that shows it in messages.
    pub(crate) fn of_name(name: &Name) -> (String, NamePattern) {
        let (mut shown, mut tokens) = (String::new(), Vec::new());
        for piece in &name.pieces {
            match piece {
                NamePiece::Literal(text) => {
                    shown.push_str(text);
                    tokens.extend(text.chars().map(Token::Letter));
                }
                NamePiece::Text { dots, .. } => {
                    shown.push('*');
                    tokens.push(if *dots { Token::Any } else { Token::Word });
                }
                NamePiece::Number(_) => {
                    shown.push('*');
                    tokens.push(Token::Figures);
                }
            }
        }
        (shown, NamePattern(tokens))
    }

    /// The number of its tokens: letters, and texts of any length.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if some name is matched by both. The time grows with the product of their lengths.
    pub(crate) fn meets(&self, other: &NamePattern) -> bool {
        let (one, other) = (&self.0, &other.0);
        // row[to] is true if the first `at` tokens of the one and the first `to` of the other may be the same text.
        let mut row = vec![false; other.len() + 1];
        row[0] = true;
        for at in 0..=one.len() {
            let mut next = vec![false; other.len() + 1];
            for to in 0..=other.len() {
                if !row[to] {
                    continue;
                }
                let (a, b) = (one.get(at), other.get(to));
                if a.is_some_and(|a| a.is_any()) {
                    next[to] = true;
                }
                if b.is_some_and(|b| b.is_any()) {
                    row[to + 1] = true;
                }
                match (a, b) {
                    (Some(Token::Letter(a)), Some(Token::Letter(b))) => next[to + 1] |= a == b,
                    (Some(a), Some(Token::Letter(b))) if a.takes(*b) => row[to + 1] = true,
                    (Some(Token::Letter(a)), Some(b)) if b.takes(*a) => next[to] = true,
                    _ => {}
                }
            }
            if at == one.len() {
                return row[other.len()];
            }
            // Most pairs differ early: no place in the other is reached any more.
            if !next.contains(&true) {
                return false;
            }
            row = next;
        }
        false
    }
}

impl Token {
    /// Returns true if the token matches texts of any length with this letter.
    fn takes(self, letter: char) -> bool {
        match self {
            Token::Letter(_) => false,
            Token::Any => true,
            Token::Word => letter != '.',
            Token::Figures => letter.is_ascii_digit(),
        }
    }

    fn is_any(self) -> bool {
        !matches!(self, Token::Letter(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::globs::matches;

    /// All texts of some letters, up to a length.
    fn texts(letters: &[char], most: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..most {
            let longer =
                |text: &String| letters.iter().map(|c| format!("{text}{c}")).collect::<Vec<_>>();
            last = last.iter().flat_map(longer).collect();
            all.extend(last.clone());
        }
        all
    }

    #[test]
    fn patterns_meet_where_a_text_is_of_both() {
        let patterns = texts(&['a', 'b', '*'], 4);
        // A text that two such patterns share may be as short as both together.
        let names = texts(&['a', 'b'], 7);
        for (one, other) in
            patterns.iter().flat_map(|one| patterns.iter().map(move |other| (one, other)))
        {
            let both = names.iter().any(|name| matches(one, name) && matches(other, name));
            assert_eq!(
                NamePattern::of_glob(one).meets(&NamePattern::of_glob(other)),
                both,
                "{one} {other}"
            );
        }
    }

    #[test]
    fn fields_take_what_they_read() {
        let name =
            |text: &str| NamePattern::of_name(&Name::within(text, (0, text.len())).unwrap()).1;
        for (text, glob, expected) in [
            ("blk.{L}.w", "blk.*.w", true),
            ("blk.{L}.w", "blk.12.w", true),
            ("blk.{L}.w", "blk.q.w", false),
            ("blk.{x:name}.w", "blk.q.w", true),
            ("blk.{x:name}.w", "blk.q.r.w", false),
            ("blk.{x:*}.w", "blk.q.r.w", true),
            ("{p:*}.self_attn.q_proj.{w:name}", "*.self_attn.q_proj.weight", true),
            ("{p:*}.self_attn.q_proj.{w:name}", "*.self_attn.qproj.weight", false),
        ] {
            assert_eq!(name(text).meets(&NamePattern::of_glob(glob)), expected, "{text} {glob}");
        }
    }
}
