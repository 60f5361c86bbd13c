//! Documents and links.
//!
//! - Every document can be found: `README.md` leads to it in two links, and the site's navigation has it. Documents are the
//!   Markdown files at the root and in `docs`. The navigation is `xtask/site/mkdocs.yml`.
//! - Links lead to files that exist, and links to a heading name an existing one.
//! - A9: every file of the corpus is described in `corpus/README.md`, with its origin and its purpose.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Finding, Tree};

const START: &str = "README.md";
const NAVIGATION: &str = "xtask/site/mkdocs.yml";

/// Finds documents that are too far from the start or not in the navigation, and links to headings that do not exist.
pub(crate) fn findings(tree: &Tree) -> Vec<Finding> {
    let texts: BTreeMap<&str, &str> =
        tree.texts().filter(|(path, _)| path.ends_with(".md")).collect();
    let near = reached(&texts);
    let navigation = tree.text(NAVIGATION).unwrap_or_default();
    let mut findings = Vec::new();
    for path in texts.keys().filter(|path| is_document(path)) {
        if !near.contains(*path) {
            let says = format!("no two links lead here from {START}; link it in docs/README.md");
            findings.push(Finding::new(path, 1, "documents", says));
        }
        if !navigation.lines().any(|line| line.ends_with(&format!(" {path}"))) {
            let says = format!("the navigation lacks it; add it to {NAVIGATION}");
            findings.push(Finding::new(path, 1, "documents", says));
        }
    }
    findings.extend(texts.iter().flat_map(|(path, text)| lost_headings(path, text, &texts)));
    findings
}

fn is_document(path: &str) -> bool {
    !path.contains('/') || path.starts_with("docs/")
}

/// Returns the start, the documents it links to, and those that they link to.
fn reached(texts: &BTreeMap<&str, &str>) -> BTreeSet<String> {
    let mut reached = BTreeSet::from([START.to_owned()]);
    for _ in 0..2 {
        let further: Vec<String> = reached
            .iter()
            .filter_map(|path| Some((path, texts.get(path.as_str())?)))
            .flat_map(|(path, text)| of(text).into_iter().map(|(_, to)| target(path, &to)))
            .collect();
        reached.extend(further);
    }
    reached
}

/// Returns a link of the document at `path` as a path from the root, without its anchor.
fn target(path: &str, link: &str) -> String {
    if link.starts_with('#') {
        return path.to_owned();
    }
    resolved(path.rsplit_once('/').map_or("", |(folder, _)| folder), link)
}

/// Finds links of a document to headings that are missing in the document they name.
fn lost_headings(path: &str, text: &str, texts: &BTreeMap<&str, &str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, link) in of(text) {
        let Some((_, anchor)) = link.split_once('#') else { continue };
        let to = target(path, &link);
        let Some(there) = texts.get(to.as_str()) else { continue };
        if is_local(&link) && !headings(there).contains(anchor) {
            findings.push(Finding::new(
                path,
                line,
                "documents",
                format!("{to} has no heading #{anchor}"),
            ));
        }
    }
    findings
}

/// Returns the headings of a document, as links name them.
fn headings(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let lines = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && line.starts_with('#')
    });
    lines.map(|line| name_of(line.trim_start_matches('#').trim())).collect()
}

/// Returns a heading's name as GitHub makes it: lower case, hyphens for spaces, no other signs.
fn name_of(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Finds relative links of a Markdown text whose target does not exist according to `exists`. Code is ignored.
pub(crate) fn links(path: &str, text: &str, exists: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let lost = |target: &str| is_relative(target) && !exists(&resolved(folder, target));
    of(text)
        .into_iter()
        .filter(|(_, target)| lost(target))
        .map(|(line, target)| {
            Finding::new(path, line, "links", format!("`{target}` leads nowhere"))
        })
        .collect()
}

/// Returns the links of a Markdown text, each with the number of its line. Code is ignored.
pub(super) fn of(text: &str) -> Vec<(usize, String)> {
    let mut fenced = false;
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        if !fenced && !fence {
            found.extend(targets(&prose(line)).into_iter().map(|target| (i + 1, target)));
        }
    }
    found
}

/// Returns the line without its code spans.
fn prose(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// Returns the targets in `](…)` and after `[…]: `.
fn targets(line: &str) -> Vec<String> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let named = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "))
        .map(|(_, target)| target.trim());
    inline.chain(named).map(String::from).collect()
}

/// Returns whether a link leads to a file of the project or to a heading of its own document.
pub(super) fn is_local(target: &str) -> bool {
    !(target.contains("://") || target.starts_with("mailto:"))
}

fn is_relative(target: &str) -> bool {
    is_local(target) && !target.starts_with('#')
}

/// Returns the target of a link in a folder as a path from the root, without its anchor.
pub(super) fn resolved(folder: &str, target: &str) -> String {
    let target = target.split('#').next().unwrap_or_default();
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

const README: &str = "corpus/README.md";

/// Finds files of the corpus that its README does not name.
pub(crate) fn corpus(tree: &Tree) -> Vec<Finding> {
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
    use crate::tidy::source::{NONE, lines};

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        findings(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    const NAV: (&str, &str) =
        (NAVIGATION, "nav:\n  - README.md\n  - a: docs/a.md\n  - b: docs/b.md\n");

    #[test]
    fn documents_two_links_away_are_near_enough() {
        let files = [NAV, (START, "[a](docs/a.md)"), ("docs/a.md", "[b](b.md)"), ("docs/b.md", "")];
        assert_eq!(found(&files), [""; 0]);
        let far =
            [(NAVIGATION, "x"), (START, "[a](docs/a.md)"), ("docs/a.md", ""), ("docs/b.md", "")];
        let found = found(&far).join("\n");
        assert!(found.contains("docs/b.md:1: [documents] no two links lead here"), "{found}");
        assert!(found.contains("docs/a.md:1: [documents] the navigation lacks it"), "{found}");
    }

    #[test]
    fn headings_that_links_name_are_there() {
        let a =
            ("docs/a.md", "# A\n\n## The seam, and `files`\n[b](#the-seam-and-files) [c](b.md#d)");
        let files =
            [NAV, (START, "[a](docs/a.md) [b](docs/b.md)"), a, ("docs/b.md", "```\n# D\n```\n")];
        assert_eq!(found(&files), ["docs/a.md:4: [documents] docs/b.md has no heading #d"]);
    }

    fn found_of_links(text: &str) -> Vec<usize> {
        lines(&links("doc/a.md", text, &|path| matches!(path, "README.md" | "doc/b.md" | "crates")))
    }

    #[test]
    fn lost_links_are_found() {
        assert_eq!(
            found_of_links("[a](b.md) [c](lost.md)\n[d](../lost.md#e)\n[f]: lost.md"),
            [1, 2, 3]
        );
    }

    #[test]
    fn files_folders_anchors_addresses_and_code_are_fine() {
        assert_eq!(
            found_of_links(
                "[a](b.md#c) ![d](../README.md) [e](../crates/) [f](#g) [h](https://i.example/j)"
            ),
            NONE
        );
        assert_eq!(
            found_of_links("`[a](lost.md)`\n```text\n[b](lost.md)\n```\n[c]: ../README.md"),
            NONE
        );
    }

    #[test]
    fn files_without_a_description_are_found() {
        let tree = Tree::of(&[
            ("corpus/README.md", "| `data/a.pb` |"),
            ("corpus/data/a.pb", ""),
            ("corpus/data/b.pb", ""),
        ]);
        let found: Vec<String> = corpus(&tree).iter().map(Finding::to_string).collect();
        assert_eq!(found, ["corpus/README.md: [A9] `data/b.pb` is not described"]);
    }

    #[test]
    fn a_corpus_needs_a_readme() {
        assert_eq!(corpus(&Tree::of(&[("corpus/data/a.pb", "")])).len(), 1);
    }
}
