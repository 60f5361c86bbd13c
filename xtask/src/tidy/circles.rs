//! No cycles between files: of two files of a crate, at most one depends on the other, directly or indirectly.
//!
//! A file depends on another one if a path in its code leads there. Paths from a module to its parent do not count: a
//! child is a part of its parent, which depends on it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{
    finding::Finding,
    modules::{Module, Modules},
    source::Source,
};

/// The files of a crate and, for each, the files it depends on with the first line that names them.
type Needs = BTreeMap<Module, BTreeMap<Module, usize>>;

/// Returns the cycles among all Rust files: a finding for each set of files that depend on each other.
pub(crate) fn findings(sources: &[Source]) -> Vec<Finding> {
    Modules::of_crates(sources).iter().flat_map(of_crate).collect()
}

fn of_crate(modules: &Modules) -> Vec<Finding> {
    let mut needs = Needs::new();
    for ((from, to), line) in modules.edges() {
        if from.split_last().is_none_or(|(_, parent)| parent != to) {
            needs.entry(from.clone()).or_default().insert(to, line);
        }
    }
    let mut left: BTreeSet<Module> = needs.keys().cloned().collect();
    let mut found = Vec::new();
    while let Some(first) = left.pop_first() {
        let circle = mutual(&needs, &first);
        if let Some(way) = shortest(&needs, &circle) {
            found.push(finding(modules, &needs, &circle, &way));
        }
        left.retain(|module| !circle.contains(module));
    }
    found
}

/// Returns the files that `module` depends on and that depend on it, directly or indirectly, including itself.
fn mutual(needs: &Needs, module: &Module) -> BTreeSet<Module> {
    let back = |from: &Module| reached(needs, from).contains(module);
    let mut circle: BTreeSet<Module> = reached(needs, module).into_iter().filter(back).collect();
    circle.insert(module.clone());
    circle
}

/// Returns every file that `from` depends on, directly or indirectly.
fn reached(needs: &Needs, from: &Module) -> BTreeSet<Module> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        let next = needs.get(module).into_iter().flat_map(BTreeMap::keys);
        open.extend(next.filter(|module| seen.insert(Module::clone(module))));
    }
    seen
}

/// Returns the shortest path from a file of the cycle back to itself, if there is one.
fn shortest(needs: &Needs, circle: &BTreeSet<Module>) -> Option<Vec<Module>> {
    circle.iter().filter_map(|module| way_back(needs, module)).min_by_key(Vec::len)
}

/// Returns the files on the shortest path from `start` to itself, beginning with it.
fn way_back(needs: &Needs, start: &Module) -> Option<Vec<Module>> {
    let mut open = VecDeque::from([vec![start.clone()]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = open.pop_front() {
        for next in way.last().and_then(|last| needs.get(last)).into_iter().flat_map(BTreeMap::keys)
        {
            if next == start {
                return Some(way);
            }
            if seen.insert(next.clone()) {
                open.push_back([way.as_slice(), std::slice::from_ref(next)].concat());
            }
        }
    }
    None
}

fn finding(modules: &Modules, needs: &Needs, circle: &BTreeSet<Module>, way: &[Module]) -> Finding {
    let line = |at: usize| needs[&way[at]][&way[(at + 1) % way.len()]];
    let steps: Vec<String> =
        (0..way.len()).map(|at| format!("{}:{}", short(modules, &way[at]), line(at))).collect();
    let mut sentence = format!(
        "files need each other in a circle: {} -> {}; move what both need to a file that both may use",
        steps.join(" -> "),
        short(modules, &way[0])
    );
    if circle.len() > way.len() {
        let others: Vec<String> = circle.iter().map(|module| short(modules, module)).collect();
        sentence += &format!("; {} files need each other: {}", circle.len(), others.join(", "));
    }
    Finding::new(modules.file(&way[0]), line(0), "circle", sentence)
}

/// Returns the path of a module's file within `src`.
fn short(modules: &Modules, module: &[String]) -> String {
    let path = modules.file(module);
    path.split_once("/src/").map_or(path, |(_, rest)| rest).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let source =
            |&(name, text): &(&str, &str)| Source::new(&format!("crates/x/src/{name}"), text);
        let sources: Vec<Source> = files.iter().map(source).collect();
        findings(&sources).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_circle_is_found_with_its_lines() {
        let found = found(&[
            ("lib.rs", "mod a; mod b; mod c; pub use a::A; pub use c::C;"),
            ("a.rs", "//! a\nuse crate::b;\npub struct A;"),
            ("b.rs", "pub fn go() -> crate::C { C }"),
            ("c.rs", "//! c\n\nuse crate::A;\npub struct C;"),
        ]);
        assert_eq!(found.len(), 1);
        let circle = "files need each other in a circle: a.rs:2 -> b.rs:1 -> c.rs:3 -> a.rs;";
        assert!(
            found[0].starts_with(&format!("crates/x/src/a.rs:2: [circle] {circle}")),
            "{found:?}"
        );
    }

    #[test]
    fn larger_circles_name_all_their_files() {
        let found = found(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::{b, c};"),
            ("b.rs", "use crate::a;"),
            ("c.rs", "use crate::b;"),
        ]);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("a.rs:1 -> b.rs:1 -> a.rs;"), "{found:?}");
        assert!(found[0].ends_with("3 files need each other: a.rs, b.rs, c.rs"), "{found:?}");
    }

    #[test]
    fn what_the_parts_of_a_module_need_the_module_needs() {
        let found = found(&[
            ("lib.rs", "mod list; mod one;"),
            ("list/mod.rs", "mod entry; pub fn all() { entry::make() }"),
            ("list/entry.rs", "use crate::one::One; pub fn make() {}"),
            ("one.rs", "pub struct One; fn f() { crate::list::all() }"),
        ]);
        assert_eq!(found.len(), 1);
        let circle = "list/mod.rs:1 -> list/entry.rs:1 -> one.rs:1 -> list/mod.rs;";
        assert!(found[0].contains(circle), "{found:?}");
    }

    #[test]
    fn children_that_use_their_parent_tests_and_ways_without_return_are_fine() {
        let found = found(&[
            ("lib.rs", "mod a; mod b; fn f() { a::g() }"),
            ("a/mod.rs", "mod deep; use deep::D; use crate::b;"),
            (
                "a/deep.rs",
                "pub struct D; use super::super::b; use super::x; pub(in super::super) fn f() {}",
            ),
            ("b.rs", "use std::fmt;\n#[cfg(test)] mod tests { use crate::a; }"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }
}
