//! The modules of each crate, and the file that a path leads to.
//!
//! A path leads to the file that defines what it names: re-exports are followed.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    paths::{Brings, Named, items, paths},
    source::Source,
};

/// The most re-exports that one path may pass.
const MAX_STEPS: usize = 64;

/// The names of a module from the root of its crate; empty for the root.
pub(crate) type Module = Vec<String>;

/// The modules of one crate that are files.
#[derive(Debug, Default)]
pub(crate) struct Modules<'a> {
    files: BTreeMap<Module, File<'a>>,
}

#[derive(Debug)]
struct File<'a> {
    path: &'a str,
    named: Vec<Named>,
    items: BTreeSet<String>,
}

impl<'a> Modules<'a> {
    /// Returns the modules of every crate, from all Rust files that are shipped.
    pub(crate) fn of_crates(sources: &'a [Source]) -> Vec<Modules<'a>> {
        let mut crates: BTreeMap<&str, Modules> = BTreeMap::new();
        for source in sources.iter().filter(|source| source.shipped().next().is_some()) {
            if let Some((folder, module)) = place(&source.path) {
                let named = paths(source);
                let items = items(source).into_iter().collect();
                let file = File { path: &source.path, named, items };
                crates.entry(folder).or_default().files.insert(module, file);
            }
        }
        crates.into_values().collect()
    }

    /// Returns the path of the file of a module.
    pub(crate) fn file(&self, module: &[String]) -> &'a str {
        self.files.get(module).map_or("", |file| file.path)
    }

    /// Returns each module that another one names, with the first line that does so.
    pub(crate) fn edges(&self) -> BTreeMap<(&Module, Module), usize> {
        let mut edges = BTreeMap::new();
        for (from, file) in &self.files {
            for named in &file.named {
                let to = self.lead(from, &named.words, MAX_STEPS);
                if let Some(to) = to.filter(|to| to != from) {
                    edges.entry((from, to)).or_insert(named.line);
                }
            }
        }
        edges
    }

    /// Returns the module whose file defines the item of a path in the module `from`; `None` for other crates.
    fn lead(&self, from: &[String], words: &[String], steps: usize) -> Option<Module> {
        let steps = steps.checked_sub(1)?;
        let first = words.first()?;
        let (at, rest) = match first.as_str() {
            "crate" => (Module::new(), &words[1..]),
            "self" => (from.to_vec(), &words[1..]),
            "super" => above(from, words)?,
            _ if self.child(from, first).is_some() => (from.to_vec(), words),
            name => {
                let used = self.used(from, name).filter(|used| used.words != words)?;
                return self.lead(from, &[&used.words, &words[1..]].concat(), steps);
            }
        };
        self.within(at, rest, steps)
    }

    /// Returns the module whose file defines the item that `words` name in the module `at`.
    fn within(&self, mut at: Module, words: &[String], steps: usize) -> Option<Module> {
        for (i, word) in words.iter().enumerate() {
            if let Some(child) = self.child(&at, word) {
                at = child;
            } else if let Some(used) = self.used(&at, word) {
                return self.lead(&at, &[&used.words, &words[i + 1..]].concat(), steps);
            } else {
                return Some(self.by_glob(&at, &words[i..], steps).unwrap_or(at));
            }
        }
        Some(at)
    }

    /// Returns the module that a glob of the module leads to, if it brings in the first of the words.
    fn by_glob(&self, at: &[String], words: &[String], steps: usize) -> Option<Module> {
        let globs = self.files.get(at)?.named.iter().filter(|named| named.brings == Brings::All);
        let mut targets = globs.filter_map(|glob| self.lead(at, &glob.words, steps));
        let target = targets.find(|target| self.knows(target, &words[0]))?;
        self.within(target, words, steps)
    }

    fn knows(&self, module: &[String], name: &str) -> bool {
        self.child(module, name).is_some()
            || self.used(module, name).is_some()
            || self.files.get(module).is_some_and(|file| file.items.contains(name))
    }

    fn child(&self, module: &[String], name: &str) -> Option<Module> {
        let child = [module, &[name.to_owned()]].concat();
        self.files.contains_key(&child).then_some(child)
    }

    /// Returns the `use` item that makes a name known in a module.
    fn used(&self, module: &[String], name: &str) -> Option<&Named> {
        let brings = |named: &&Named| matches!(&named.brings, Brings::Name(other) if other == name);
        self.files.get(module)?.named.iter().find(brings)
    }
}

/// Returns the module that the leading `super`s of a path name, and the words after them.
fn above<'w>(from: &[String], words: &'w [String]) -> Option<(Module, &'w [String])> {
    let up = words.iter().take_while(|word| *word == "super").count();
    Some((from[..from.len().checked_sub(up)?].to_vec(), &words[up..]))
}

/// Returns the crate and the module of a Rust file; `None` for a program next to a library, and outside `src`.
fn place(path: &str) -> Option<(&str, Module)> {
    let (folder, rest) = path.split_once("/src/")?;
    let stem = rest.strip_suffix(".rs")?;
    let module: Module = stem.split('/').map(String::from).collect();
    match stem {
        "lib" => Some((folder, Module::new())),
        "main" if folder == "xtask" => Some((folder, Module::new())),
        "main" => None,
        _ if stem.ends_with("/mod") => Some((folder, module[..module.len() - 1].to_vec())),
        _ => Some((folder, module)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the edges of a crate of these files, as `from -> to`.
    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let source =
            |&(name, text): &(&str, &str)| Source::new(&format!("crates/x/src/{name}"), text);
        let sources: Vec<Source> = files.iter().map(source).collect();
        let crates = Modules::of_crates(&sources);
        let name =
            |module: &[String]| if module.is_empty() { "crate".into() } else { module.join("::") };
        let edges = crates.iter().flat_map(Modules::edges);
        edges.map(|((from, to), _)| format!("{} -> {}", name(from), name(&to))).collect()
    }

    #[test]
    fn re_exports_are_followed() {
        let found = edges(&[
            ("lib.rs", "mod a; mod b; pub use b::deep::Thing; pub use b::*;"),
            ("a.rs", "use crate::{Thing, Other};"),
            ("b/mod.rs", "pub mod deep; pub struct Other;"),
            ("b/deep.rs", "pub struct Thing;"),
        ]);
        assert_eq!(found, ["crate -> b", "crate -> b::deep", "a -> b", "a -> b::deep"]);
    }

    #[test]
    fn a_name_that_is_a_module_leads_on() {
        let found = edges(&[
            ("lib.rs", "mod a; mod b; fn f() { a::go() }"),
            ("a.rs", "use crate::b as other; fn go() { other::deep::go(); std::mem::take(); }"),
            ("b.rs", "mod deep; pub use super::a::go;"),
            ("b/deep.rs", "pub fn go() { super::super::nothing() }"),
        ]);
        assert_eq!(found, ["crate -> a", "a -> b", "a -> b::deep", "b -> a", "b::deep -> crate"]);
    }

    #[test]
    fn a_path_that_leads_nowhere_ends() {
        let found = edges(&[
            ("lib.rs", "mod a; use a::X; pub use a::Y;"),
            ("a.rs", "use crate::X; pub use crate::Y; use super::super::super::Z;"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }
}
