//! Every document can be found: `README.md` leads to it in two links, and the site's navigation has it. Links to a
//! heading name an existing one.
//!
//! Documents are the Markdown files at the root and in `docs`. The navigation is `xtask/site/mkdocs.yml`.

use std::collections::{BTreeMap, BTreeSet};

use super::{finding::Finding, links, tree::Tree};

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
            .flat_map(|(path, text)| links::of(text).into_iter().map(|(_, to)| target(path, &to)))
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
    links::resolved(path.rsplit_once('/').map_or("", |(folder, _)| folder), link)
}

/// Finds links of a document to headings that are missing in the document they name.
fn lost_headings(path: &str, text: &str, texts: &BTreeMap<&str, &str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, link) in links::of(text) {
        let Some((_, anchor)) = link.split_once('#') else { continue };
        let to = target(path, &link);
        let Some(there) = texts.get(to.as_str()) else { continue };
        if links::is_local(&link) && !headings(there).contains(anchor) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
