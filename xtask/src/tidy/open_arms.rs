//! A5: a `match` over an enum of core has no catch-all arm, so a new variant is a compile error at every place that
//! must handle it.
//!
//! This is a heuristic, without types: it finds a `_ =>` in core and relayout, outside tests, next to an arm that names
//! a variant. Numbers, bytes, `Option`, `Result` and tuples of them are exempt. If the set of values is open although
//! variants occur, the line has the comment `// open set`.

use super::source::{Finding, Source, item_end, line_of};

const SAYS: &str =
    "a catch-all arm beside variants of an enum; name the rest, or end the line with `// open set`";

/// Variants of closed enums of the standard library.
const CLOSED: [&str; 4] = ["Some", "None", "Ok", "Err"];

/// Finds catch-all arms next to variants, in core and relayout.
pub(crate) fn findings(source: &Source) -> Vec<Finding> {
    if !(source.is_in("tilewright-core") || source.is_in("tilewright-relayout")) {
        return Vec::new();
    }
    let bare = &source.bare;
    let arms = bare
        .match_indices('_')
        .map(|(at, _)| at)
        .filter(|&at| catches_all(bare, at) && beside_variants(bare, at));
    let lines = arms.map(|at| line_of(bare, at));
    let lines = lines.filter(|&i| {
        source.lines.get(i).is_some_and(|line| !line.test && !line.raw.contains("// open set"))
    });
    lines.map(|i| Finding::new(&source.path, i + 1, "A5", SAYS)).collect()
}

/// Returns whether the `_` at `at` is the whole pattern of an arm, with or without a guard.
fn catches_all(bare: &str, at: usize) -> bool {
    let (before, after) = (bare[..at].trim_end(), bare[at + 1..].trim_start());
    let line = after.lines().next().unwrap_or_default();
    let begins = before.ends_with(['{', ',', '}', '|']);
    begins && (line.starts_with("=>") || (line.starts_with("if ") && line.contains("=>")))
}

/// Returns whether another arm of the same `match` names a variant.
fn beside_variants(bare: &str, at: usize) -> bool {
    patterns(block_around(bare, at)).iter().any(|pattern| names_variant(pattern))
}

/// Returns the text inside the innermost braces around `at`.
fn block_around(bare: &str, at: usize) -> &str {
    let mut depth = 0_usize;
    for (i, byte) in bare.as_bytes()[..at].iter().enumerate().rev() {
        match byte {
            b'}' => depth += 1,
            b'{' if depth == 0 => return bare[i + 1..item_end(bare, i)].trim_end_matches('}'),
            b'{' => depth -= 1,
            _ => {}
        }
    }
    ""
}

/// Returns the patterns of the arms of a `match`, without guards and without text in braces.
fn patterns(block: &str) -> Vec<String> {
    let mut patterns = Vec::new();
    let mut pattern = String::new();
    let mut rest = block;
    while let Some(next) = rest.chars().next() {
        if let Some(body) = rest.strip_prefix("=>") {
            let whole = std::mem::take(&mut pattern);
            patterns.push(whole.split(" if ").next().unwrap_or_default().to_string());
            rest = &body[body_length(body)..];
        } else if next == '{' {
            rest = &rest[item_end(rest, 0)..];
        } else {
            pattern.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    patterns
}

/// Returns the length of an arm's body: a block, or up to the comma after an expression.
fn body_length(body: &str) -> usize {
    let begin = body.len() - body.trim_start().len();
    if body[begin..].starts_with('{') {
        return item_end(body, begin);
    }
    let mut depth = 0_i64;
    for (i, byte) in body.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => return i + 1,
            _ => {}
        }
    }
    body.len()
}

/// Returns whether a pattern names something like `Kind::Tile`, `K::T` or `Tile`, other than the closed variants.
fn names_variant(pattern: &str) -> bool {
    let capital = |word: &str| word.starts_with(char::is_uppercase);
    let words = |text: &str| {
        text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .map(String::from)
            .collect::<Vec<_>>()
    };
    let alone = |word: &String| {
        capital(word) && word.contains(char::is_lowercase) && !CLOSED.contains(&&**word)
    };
    let mut owners = pattern.split("::").map(words).collect::<Vec<_>>();
    owners.pop();
    words(pattern).iter().any(alone)
        || owners.iter().any(|owner| owner.last().is_some_and(|word| capital(word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::{NONE, lines};

    fn found(path: &str, text: &str) -> Vec<usize> {
        lines(&findings(&Source::new(path, text)))
    }

    fn in_core(text: &str) -> Vec<usize> {
        found("crates/tilewright-core/src/a.rs", text)
    }

    #[test]
    fn catch_all_arms_beside_variants_are_found() {
        let text = "match a {\n    A::B => 1,\n    _ => 2,\n}\nmatch a { Bee => 1, _ => 2 }\nmatch a {\n    A::B { c } => { 3 }\n    _ if d => 1,\n}";
        assert_eq!(in_core(text), [3, 5, 8]);
        assert_eq!(found("crates/tilewright-relayout/src/cpu/kernel/a.rs", text), [3, 5, 8]);
        assert_eq!(found("crates/tilewright-files/src/a.rs", text), NONE);
        assert_eq!(in_core("match (a, b) {\n    (Some(A::B), 1) => 1,\n    _ => 2,\n}"), [3]);
        assert_eq!(
            in_core("match a {\n    0 => match b { A::B => 1, A::C => 2 },\n    _ => 3,\n}"),
            NONE
        );
        assert_eq!(
            in_core("match a {\n    A::B => match b { 0 => 1, _ => 2 },\n    A::C => 3,\n}"),
            NONE
        );
    }

    #[test]
    fn numbers_options_and_tuples_are_free() {
        assert_eq!(
            in_core(
                "match a {\n    0 | u64::MAX => A::B,\n    b'x' if b == C::D => 1,\n    _ => 2,\n}"
            ),
            NONE
        );
        assert_eq!(
            in_core("match (a, b) {\n    (Some(a), Ok(b)) => { A::B }\n    _ => C::D,\n}"),
            NONE
        );
    }

    #[test]
    fn open_sets_inner_wildcards_and_tests_are_free() {
        assert_eq!(in_core("match a {\n    A::B => 1,\n    _ => 2, // open set\n}"), NONE);
        assert_eq!(
            in_core(
                "match a {\n    A::B(_) => 1,\n    A::C { .. } => 3,\n    n_ => 4,\n}\n// _ => 5"
            ),
            NONE
        );
        assert_eq!(
            in_core("#[cfg(test)]\nmod tests {\n    fn a() { match a { A::B => 1, _ => 2 } }\n}"),
            NONE
        );
    }

    #[test]
    fn broken_text_ends() {
        for text in ["_ => 1", "match a { _ =>", "} _ => {", "{ A::B =>, _ => ("] {
            assert!(in_core(text).len() < 2);
        }
    }
}
