//! Names that nearly match, for messages.

use std::{borrow::Cow, collections::HashSet};

/// The letters of a name and the number of names that are compared: they bound the time.
const LETTERS: usize = 200;
const NAMES: usize = 10_000;

/// At most three of `names` that are closest to `word`, as the end of a sentence: empty, or
/// `; near are …`.
pub(crate) fn near<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> String {
    let word: String = word.chars().filter(|c| !"*?[]{}".contains(*c)).take(LETTERS).collect();
    let names = names.take(NAMES);
    let mut ranked: Vec<(usize, &str)> = names.map(|name| (distance(&word, name), name)).collect();
    ranked.sort();
    let near: Vec<String> = ranked.iter().take(3).map(|(_, name)| format!("{name:?}")).collect();
    if near.is_empty() { String::new() } else { format!("; near are {}", near.join(", ")) }
}

/// The first name that stands among `names` for the second time.
pub(crate) fn twice<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = HashSet::new();
    names.find(|name| !seen.insert(*name))
}

/// Edits from the one to the other; a name that contains the word counts as one edit away.
fn distance(word: &str, name: &str) -> usize {
    if !word.is_empty() && name.contains(word) {
        return 1;
    }
    let end = name.char_indices().nth(LETTERS).map_or(name.len(), |(at, _)| at);
    strsim::osa_distance(word, &name[..end])
}

/// A text of a file as far as a message quotes it.
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
            "; near are \"conv1.weight\", \"conv2.weight\", \"lm_head.weight\""
        );
        assert!(near("*norm*", names.into_iter()).starts_with("; near are \"model.norm.weight\""));
        assert_eq!(near("a", std::iter::empty()), "");
        let long = "é".repeat(1 << 20);
        assert_eq!((clipped(&long).chars().count(), &*clipped("é")), (LETTERS + 1, "é"));
        assert_eq!(distance("e", &long), LETTERS);
        assert_eq!((distance("", "abc"), distance("a", ""), distance("ab", "ba")), (3, 1, 1));
    }
}
