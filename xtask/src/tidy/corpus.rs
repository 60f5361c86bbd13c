//! A9: every file of the corpus is described in `corpus/README.md`, with its origin and its purpose.

use super::{finding::Finding, tree::Tree};

const README: &str = "corpus/README.md";

/// Finds files of the corpus that its README does not name.
pub(crate) fn findings(tree: &Tree) -> Vec<Finding> {
    let files = tree
        .paths()
        .filter_map(|path| path.strip_prefix("corpus/"))
        .filter(|path| *path != "README.md");
    match tree.text(README) {
        Some(readme) => unnamed(files, readme),
        None => vec![Finding::new(
            README,
            0,
            "A9",
            "the corpus has no README.md that describes its files",
        )],
    }
}

fn unnamed<'a>(files: impl Iterator<Item = &'a str>, readme: &str) -> Vec<Finding> {
    let missing = files.filter(|file| !readme.contains(&format!("`{file}`")));
    missing
        .map(|file| Finding::new(README, 0, "A9", format!("`{file}` is not described")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_a_description_are_found() {
        let tree = Tree::of(&[
            ("corpus/README.md", "| `data/a.pb` |"),
            ("corpus/data/a.pb", ""),
            ("corpus/data/b.pb", ""),
        ]);
        let found: Vec<String> = findings(&tree).iter().map(Finding::to_string).collect();
        assert_eq!(found, ["corpus/README.md: [A9] `data/b.pb` is not described"]);
    }

    #[test]
    fn a_corpus_needs_a_readme() {
        assert_eq!(findings(&Tree::of(&[("corpus/data/a.pb", "")])).len(), 1);
    }
}
