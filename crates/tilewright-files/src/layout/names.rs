//! Finds similar names, for messages. Errors about unknown or repeated names use it.

use std::{borrow::Cow, collections::HashSet};

/// The limits on the letters of a name and on the number of names that are compared, which bound the time.
const LETTERS: usize = 200;
const NAMES: usize = 10_000;

/// Returns at most three of `names` that are closest to `word`, a name or a pattern with `*` and `?`. The result is the end of a
/// sentence: empty, or `; similar names: …`.
pub(crate) fn near<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> String {
    let word: Vec<char> = word.chars().filter(|c| !"[]{}".contains(*c)).take(LETTERS).collect();
    let names = names.take(NAMES);
    let mut ranked: Vec<(usize, &str)> = names.map(|name| (distance(&word, name), name)).collect();
    ranked.sort();
    ranked.dedup();
    let near: Vec<String> = ranked.iter().take(3).map(|(_, name)| format!("{name:?}")).collect();
    if near.is_empty() { String::new() } else { format!("; similar names: {}", near.join(", ")) }
}

/// Returns the first name that occurs among `names` for the second time.
pub(crate) fn twice<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = HashSet::new();
    names.find(|name| !seen.insert(*name))
}

/// Returns the least number of letters to add, remove or replace that makes `word` equal to `name`: `*` matches any letters, `?`
/// matches one. A name that contains the word counts as one edit away.
fn distance(word: &[char], name: &str) -> usize {
    let letters: String = word.iter().filter(|c| !"*?".contains(**c)).collect();
    if !letters.is_empty() && name.contains(&letters) {
        return 1;
    }
    let name: Vec<char> = name.chars().take(LETTERS).collect();
    // The edits from the processed part of the word to each prefix of the name.
    let mut row: Vec<usize> = (0..=name.len()).collect();
    for letter in word {
        let (mut diagonal, any) = (row[0], *letter == '*');
        row[0] += usize::from(!any);
        for (at, other) in name.iter().enumerate() {
            let above = row[at + 1];
            let replaced = diagonal + usize::from(*letter != '?' && letter != other);
            row[at + 1] = match any {
                true => above.min(row[at]),
                false => replaced.min(above + 1).min(row[at] + 1),
            };
            diagonal = above;
        }
    }
    row[name.len()]
}

/// Returns the part of a file's text that a message quotes.
pub(crate) fn clipped(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LETTERS) {
        Some((at, _)) => Cow::Owned(format!("{}…", &text[..at])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first() {
        let names = ["lm_head.weight", "model.norm.weight", "conv1.weight", "conv2.weight", "x"];
        assert_eq!(
            near("conv3.weight", names.into_iter()),
            "; similar names: \"conv1.weight\", \"conv2.weight\", \"lm_head.weight\""
        );
        assert!(
            near("*norm*", names.into_iter()).starts_with("; similar names: \"model.norm.weight\"")
        );
        assert_eq!(near("a", std::iter::empty()), "");
        let long = "é".repeat(1 << 20);
        assert_eq!((clipped(&long).chars().count(), &*clipped("é")), (LETTERS + 1, "é"));
        let distance = |word: &str, name| distance(&word.chars().collect::<Vec<_>>(), name);
        assert_eq!(distance("e", &long), LETTERS);
        assert_eq!((distance("", "abc"), distance("a", ""), distance("ab", "ba")), (3, 1, 2));
        assert_eq!(
            (distance("a*c", "abbbc"), distance("a?c", "abc"), distance("*", "abc")),
            (0, 0, 0)
        );
        let names =
            ["layers.0.attn.k_proj.weight", "layers.0.attn.q_proj.weight", "q.x", "lm_head"];
        let near = near("*q_prj*", names.into_iter());
        assert!(near.starts_with("; similar names: \"layers.0.attn.q_proj.weight\""), "{near}");
    }
}
