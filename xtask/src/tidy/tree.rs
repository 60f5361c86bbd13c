//! The files of the project: those that git tracks or would track, or, without git, those in the folder.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use super::source::Source;
use crate::shell::Outcome;

/// Folders without files of the project.
const SKIPPED: [&str; 4] = [".git", "target", ".venv", "__pycache__"];

/// Every file by its path, with its content if it is text.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, Option<String>>,
}

impl Tree {
    pub(crate) fn read(root: &Path) -> Outcome<Tree> {
        let mut paths = Vec::new();
        match tracked(root) {
            Some(list) => paths.extend(list),
            None => walk(root, "", &mut paths)?,
        }
        let mut tree = Tree::default();
        for path in paths {
            // A link repeats the content of its target. A tracked file may have been deleted without a commit.
            if root.join(&path).is_symlink() {
                tree.files.insert(path, None);
            } else if let Ok(bytes) = fs::read(root.join(&path)) {
                tree.files.insert(path, String::from_utf8(bytes).ok());
            }
        }
        Ok(tree)
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        let file = |&(path, text): &(&str, &str)| (path.to_string(), Some(text.to_string()));
        Tree { files: files.iter().map(file).collect() }
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Iterates over every file that is text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Returns whether there is a file with this path, or a folder with files in it.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self.paths().any(|file| file.starts_with(&inside))
    }

    /// Returns every Rust file, with the declared test modules marked.
    pub(crate) fn sources(&self) -> Vec<Source> {
        let rust = self.texts().filter(|(path, _)| path.ends_with(".rs"));
        let sources: Vec<Source> = rust.map(|(path, text)| Source::new(path, text)).collect();
        let modules: Vec<String> = sources.iter().flat_map(test_module_paths).collect();
        let is_test = |path: &str| {
            let stem = path.trim_end_matches(".rs");
            modules.iter().any(|module| stem == module || stem.starts_with(&format!("{module}/")))
        };
        let mark =
            |source: Source| if is_test(&source.path) { source.only_for_tests() } else { source };
        sources.into_iter().map(mark).collect()
    }
}

/// Returns the paths of the test modules that a file declares, without `.rs`.
fn test_module_paths(source: &Source) -> Vec<String> {
    let stem = source.path.trim_end_matches(".rs");
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let home = if matches!(name, "lib" | "main" | "mod") { folder } else { stem };
    source.test_modules().iter().map(|module| format!("{home}/{module}")).collect()
}

/// Returns the files that git tracks, or would add; `None` if git fails.
fn tracked(root: &Path) -> Option<Vec<String>> {
    let words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output =
        Command::new("git").args(words).current_dir(root).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.split_terminator('\0').map(String::from).collect())
}

fn walk(root: &Path, folder: &str, paths: &mut Vec<String>) -> Outcome {
    let said = |error: std::io::Error| format!("{}: {error}", root.join(folder).display());
    for entry in fs::read_dir(root.join(folder)).map_err(said)? {
        let entry = entry.map_err(said)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type().map_err(said)?;
        if kind.is_dir() && !SKIPPED.contains(&name.as_str()) {
            walk(root, &path, paths)?;
        } else if kind.is_file() {
            paths.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_declared_for_tests_are_tests() {
        let tree = Tree::of(&[
            ("crates/x/src/lib.rs", "#[cfg(test)]\nmod small;\nmod big;"),
            ("crates/x/src/small.rs", "fn a() {}"),
            ("crates/x/src/small/deep.rs", "fn a() {}"),
            ("crates/x/src/big.rs", "#[cfg(test)]\nmod more;"),
            ("crates/x/src/big/more.rs", "fn a() {}"),
        ]);
        let shipped: Vec<_> = tree
            .sources()
            .into_iter()
            .filter(|s| s.shipped().count() > 0)
            .map(|s| s.path)
            .collect();
        assert_eq!(shipped, ["crates/x/src/lib.rs"]);
    }

    #[test]
    fn holds_files_and_folders() {
        let tree = Tree::of(&[("a/b.md", "")]);
        assert!(tree.holds("a") && tree.holds("a/b.md") && tree.holds(""));
        assert!(!tree.holds("a/b") && !tree.holds("b.md"));
    }

    #[test]
    fn without_git_the_folder_is_walked() {
        let mut paths = Vec::new();
        walk(Path::new(env!("CARGO_MANIFEST_DIR")), "", &mut paths).unwrap();
        assert!(paths.contains(&"src/tidy/tree.rs".to_string()));
    }
}
