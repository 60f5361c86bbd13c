//! The cursor over the text of a SPEC, whose errors are those of this crate.

pub(crate) use tilewright_scan::{alternatives, comma, did_you_mean, distance, nearest, tuple};

use crate::Error;

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

#[cfg(test)]
mod tests {
    use super::outside;

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
