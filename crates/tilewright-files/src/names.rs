//! Names that nearly match, for messages.

/// At most three of `names` that are closest to `word`, as the end of a sentence: empty, or
/// `; near are …`.
pub(crate) fn near<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> String {
    let word: String = word.chars().filter(|c| !"*?[]{}".contains(*c)).take(200).collect();
    let mut ranked: Vec<(usize, &str)> = names.map(|name| (distance(&word, name), name)).collect();
    ranked.sort();
    let near: Vec<String> = ranked.iter().take(3).map(|(_, name)| format!("{name:?}")).collect();
    if near.is_empty() { String::new() } else { format!("; near are {}", near.join(", ")) }
}

/// Levenshtein's distance; a name that contains the word counts as one edit away.
fn distance(word: &str, name: &str) -> usize {
    if !word.is_empty() && name.contains(word) {
        return 1;
    }
    let letters: Vec<char> = name.chars().take(200).collect();
    let mut row: Vec<usize> = (0..=letters.len()).collect();
    for (i, a) in word.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in letters.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[letters.len()]
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
        assert_eq!(
            (distance("kitten", "sitting"), distance("", "abc"), distance("a", "")),
            (3, 3, 1)
        );
    }
}
