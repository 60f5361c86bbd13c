//! Links in the documents lead to files that exist.

use super::finding::Finding;

/// Finds relative links of a Markdown text whose target does not exist according to `exists`. Code is ignored.
pub(crate) fn findings(path: &str, text: &str, exists: &dyn Fn(&str) -> bool) -> Vec<Finding> {
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

#[cfg(test)]
mod tests {
    use super::{
        super::finding::{NONE, lines},
        *,
    };

    fn found(text: &str) -> Vec<usize> {
        lines(&findings("doc/a.md", text, &|path| {
            matches!(path, "README.md" | "doc/b.md" | "crates")
        }))
    }

    #[test]
    fn lost_links_are_found() {
        assert_eq!(found("[a](b.md) [c](lost.md)\n[d](../lost.md#e)\n[f]: lost.md"), [1, 2, 3]);
    }

    #[test]
    fn files_folders_anchors_addresses_and_code_are_fine() {
        assert_eq!(
            found(
                "[a](b.md#c) ![d](../README.md) [e](../crates/) [f](#g) [h](https://i.example/j)"
            ),
            NONE
        );
        assert_eq!(found("`[a](lost.md)`\n```text\n[b](lost.md)\n```\n[c]: ../README.md"), NONE);
    }
}
