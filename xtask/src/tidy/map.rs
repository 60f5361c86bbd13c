//! `ARCHITECTURE.md` names files that exist: a map of what has moved is worse than none.

use super::{finding::Finding, tree::Tree};

const MAP: &str = "ARCHITECTURE.md";

/// Rust files that the map names and nobody has.
pub(crate) fn findings(tree: &Tree) -> Vec<Finding> {
    let lines = tree.text(MAP).unwrap_or_default().lines().enumerate();
    let names = lines.flat_map(|(i, line)| named(line).map(move |name| (i + 1, name)));
    let lost = names.filter(|(_, name)| !tree.paths().any(|path| is_called(path, name)));
    lost.map(|(line, name)| Finding::new(MAP, line, "map", format!("there is no file `{name}`")))
        .collect()
}

/// The code spans of a line that are names of Rust files.
fn named(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2).filter(|span| span.ends_with(".rs"))
}

/// Whether a path ends in this name, whole folders only.
fn is_called(path: &str, name: &str) -> bool {
    path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::{super::finding::lines, *};

    #[test]
    fn names_of_no_file_are_found() {
        let map = "`a.rs`, `src/b.rs`\n`b.rs`\n`ab.rs` c.rs\n`cargo test`";
        let tree = Tree::of(&[
            (MAP, map),
            ("crates/x/src/a.rs", ""),
            ("crates/x/src/b.rs", ""),
            ("crates/x/src/cab.rs", ""),
        ]);
        assert_eq!(lines(&findings(&tree)), [3]);
    }
}
