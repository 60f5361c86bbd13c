//! Dependencies between crates and between the files of a crate.
//!
//! A1 and A2: `ARCHITECTURE.md` shows the crate graph, and core depends on nothing. Cycles between files are
//! findings: of two files of a crate, at most one depends on the other, directly or indirectly.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use super::source::{Finding, Source, is_word_byte};

/// The document whose table is the graph.
pub(crate) const MAP: &str = "ARCHITECTURE.md";

/// The crates of ours that each crate may depend on.
struct Graph(BTreeMap<String, Vec<String>>);

impl Graph {
    /// Reads the rows of the table: a crate in backticks, its description, and the crates it depends on, without the
    /// `tilewright-` before their names.
    fn of(map: &str) -> Graph {
        let rows = map.lines().filter_map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [name, _, on] = cells[..] else { return None };
            let name = name.strip_prefix('`')?.strip_suffix('`')?;
            let is_crate = name == "xtask" || name.split('-').next() == Some("tilewright");
            is_crate.then(|| (name.to_owned(), on))
        });
        let rows: Vec<(String, &str)> = rows.collect();
        let full = |short: &str| {
            let long = format!("tilewright-{short}");
            if rows.iter().any(|(name, _)| *name == long) { long } else { short.to_owned() }
        };
        let list =
            |on: &str| on.split(',').map(str::trim).filter(|on| *on != "–").map(full).collect();
        Graph(rows.iter().map(|(name, on)| (name.clone(), list(on))).collect())
    }
}

/// Returns the text of a `Cargo.toml`, in which findings name a line.
type Manifest<'a> = dyn Fn(&str) -> Option<&'a str> + 'a;

/// Compares the output of `cargo metadata --no-deps` with the table in the document `map`.
pub(crate) fn findings<'a>(metadata: &Value, map: &str, manifest: &Manifest<'a>) -> Vec<Finding> {
    let graph = Graph::of(map);
    let root = metadata["workspace_root"].as_str().unwrap_or_default();
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    packages.iter().flat_map(|package| graph.of_package(package, root, manifest)).collect()
}

impl Graph {
    fn of_package<'a>(&self, package: &Value, root: &str, manifest: &Manifest<'a>) -> Vec<Finding> {
        let name = package["name"].as_str().unwrap_or_default();
        let path = package["manifest_path"].as_str().unwrap_or_default();
        let path = path.strip_prefix(root).unwrap_or(path).trim_start_matches('/');
        let text = manifest(path).unwrap_or_default();
        let Some(may) = self.0.get(name) else {
            return vec![Finding::new(path, line_of(text, name), "A2", unknown(name))];
        };
        let dependencies = package["dependencies"].as_array().map_or(&[][..], Vec::as_slice);
        let shipped = dependencies.iter().filter(|dependency| dependency["kind"] != "dev");
        let names = shipped.filter_map(|dependency| dependency["name"].as_str());
        let refused = names.filter_map(|on| Some((on, self.refusal(name, may, on)?)));
        refused
            .map(|(on, (rule, says))| Finding::new(path, line_of(text, on), rule, says))
            .collect()
    }

    /// Returns the reason why the crate `name` may not depend on the crate `on`.
    fn refusal(&self, name: &str, may: &[String], on: &str) -> Option<(&'static str, String)> {
        if name == "tilewright-core" {
            return Some(("A1", format!("core has no dependencies; `{on}` has to go")));
        }
        let allowed = if may.is_empty() { "none of our crates".into() } else { may.join(", ") };
        (self.0.contains_key(on) && !may.iter().any(|may| may == on))
            .then(|| ("A2", format!("{name} may depend on {allowed}; not on {on}")))
    }
}

fn unknown(name: &str) -> String {
    format!("the crate {name} is not in the crate graph; add a row to the table in {MAP}")
}

/// Returns the line that names a crate, from 1; 0 if there is none.
fn line_of(manifest: &str, name: &str) -> usize {
    let names = |line: &str| {
        let key = line.split(['=', '.']).next().unwrap_or_default().trim();
        key == name || line.contains(&format!("\"{name}\""))
    };
    manifest.lines().position(names).map_or(0, |at| at + 1)
}

// A file depends on another one if a path in its code leads there: those of its `use` items, and those in its code. A
// path leads to the file that defines what it names: re-exports are followed. Paths from a module to its parent do not
// count: a child is a part of its parent, which depends on it.

/// The files of a crate and, for each, the files it depends on with the first line that names them.
type Needs = BTreeMap<Module, BTreeMap<Module, usize>>;

/// Returns the cycles among all Rust files: a finding for each set of files that depend on each other.
pub(crate) fn cycles(sources: &[Source]) -> Vec<Finding> {
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

/// The most re-exports that one path may pass.
const MAX_STEPS: usize = 64;

/// The names of a module from the root of its crate; empty for the root.
pub(crate) type Module = Vec<String>;

/// The modules of one crate that are files.
#[derive(Debug, Default)]
pub(crate) struct Modules<'a> {
    files: BTreeMap<Module, SourceFile<'a>>,
}

#[derive(Debug)]
struct SourceFile<'a> {
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
                let file = SourceFile { path: &source.path, named, items };
                crates.entry(folder).or_default().files.insert(module, file);
            }
        }
        crates.values_mut().for_each(Modules::add_folders);
        crates.into_values().collect()
    }

    /// Adds the modules that are folders without a file: their parents declare what is in them.
    fn add_folders(&mut self) {
        let modules: Vec<Module> = self.files.keys().cloned().collect();
        for module in &modules {
            for length in 1..module.len() {
                let path = self.file(&module[..length - 1]);
                let folder = SourceFile { path, named: Vec::new(), items: BTreeSet::new() };
                self.files.entry(module[..length].to_vec()).or_insert(folder);
            }
        }
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

/// A path as it is written, such as `super::source::Tree`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The line, from 1.
    pub(crate) line: usize,
    pub(crate) words: Vec<String>,
    pub(crate) brings: Brings,
}

/// The names that a path makes known in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Brings {
    /// A path in code: none.
    Nothing,
    /// A `use` item: this name.
    Name(String),
    /// A `use` item that ends in `*`.
    All,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Colons,
    Mark(u8),
}

/// The tokens outside tests with their lines.
type Tokens<'a> = [(usize, Token<'a>)];

/// Words that precede an item's name.
const ITEMS: [&str; 9] =
    ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro_rules"];

/// Returns every path outside tests, in the order of the text.
pub(crate) fn paths(source: &Source) -> Vec<Named> {
    let tokens = tokens(source);
    let mut named = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        at = match begins(&tokens, at) {
            Begin::Use => use_tree(&tokens, at + 1, &[], &mut named),
            Begin::Path => path(&tokens, at, &mut named),
            Begin::Neither => at + 1,
        };
    }
    named
}

/// Returns the names of the items that a file defines, including methods.
pub(crate) fn items(source: &Source) -> Vec<String> {
    let tokens = tokens(source);
    let words = tokens.iter().filter_map(|&(_, token)| match token {
        Token::Mark(b'!') => None,
        token => Some(token),
    });
    let words: Vec<Token> = words.collect();
    let name = |pair: &[Token]| match (pair[0], pair[1]) {
        (Token::Word(kind), Token::Word(name)) if ITEMS.contains(&kind) => Some(name.to_owned()),
        _ => None,
    };
    words.windows(2).filter_map(name).collect()
}

enum Begin {
    Use,
    Path,
    Neither,
}

/// Returns the kind of text that begins at token `at`.
fn begins(tokens: &Tokens, at: usize) -> Begin {
    let behind = tokens.get(at + 1).map(|&(_, token)| token);
    let before = |by: usize| at.checked_sub(by).map(|at| tokens[at].1);
    // `pub(in crate)` limits the visibility of an item, and is not a dependency.
    let sees = before(1) == Some(Token::Word("in")) && before(2) == Some(Token::Mark(b'('));
    match (tokens[at].1, behind) {
        // `use<'a>` is a bound of a type.
        (Token::Word("use"), Some(Token::Word(_) | Token::Mark(b'{'))) => Begin::Use,
        (Token::Word(_), Some(Token::Colons)) if before(1) != Some(Token::Colons) && !sees => {
            Begin::Path
        }
        _ => Begin::Neither,
    }
}

/// Reads a path in code, and returns the token after it.
fn path(tokens: &Tokens, from: usize, named: &mut Vec<Named>) -> usize {
    let mut words = Vec::new();
    let mut at = from;
    while let Some(&(_, Token::Word(word))) = tokens.get(at) {
        words.push(word.to_owned());
        at += 1;
        if tokens.get(at).map(|token| token.1) != Some(Token::Colons) {
            break;
        }
        at += 1;
    }
    named.push(Named { line: tokens[from].0, words, brings: Brings::Nothing });
    at
}

/// Reads one tree of a `use` item, and returns the token after it.
fn use_tree(tokens: &Tokens, from: usize, prefix: &[String], named: &mut Vec<Named>) -> usize {
    let (mut words, mut alias, mut all, mut at) = (prefix.to_vec(), None, false, from);
    while let Some(&(_, token)) = tokens.get(at) {
        match token {
            Token::Word("as") => {
                alias = tokens.get(at + 1).and_then(|token| match token.1 {
                    Token::Word(word) => Some(word.to_owned()),
                    _ => None,
                });
                at += 1;
            }
            Token::Word(word) => words.push(word.to_owned()),
            Token::Mark(b'*') => all = true,
            Token::Mark(b'{') => return use_list(tokens, at + 1, &words, named),
            Token::Mark(_) => break,
            Token::Colons => {}
        }
        at += 1;
    }
    if words.len() > 1 && words.last().is_some_and(|last| last == "self") {
        words.pop();
    }
    let name = alias.or_else(|| words.last().cloned());
    let line = tokens[from.min(tokens.len() - 1)].0;
    if let (true, Some(name)) = (at > from, name) {
        let brings = if all { Brings::All } else { Brings::Name(name) };
        named.push(Named { line, words, brings });
    }
    at
}

/// Reads the trees between braces, and returns the token after them.
fn use_list(tokens: &Tokens, from: usize, prefix: &[String], named: &mut Vec<Named>) -> usize {
    let mut at = from;
    while at < tokens.len() {
        at = use_tree(tokens, at, prefix, named);
        let end = tokens.get(at).map(|token| token.1);
        at += 1;
        if end != Some(Token::Mark(b',')) {
            break;
        }
    }
    at
}

fn tokens(source: &Source) -> Vec<(usize, Token<'_>)> {
    source
        .shipped()
        .flat_map(|(number, line)| of_line(&line.bare).map(move |token| (number, token)))
        .collect()
}

fn of_line(line: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let length = rest.bytes().take_while(|&byte| is_word_byte(byte)).count();
        let (token, length) = match length {
            0 if rest.starts_with("::") => (Token::Colons, 2),
            0 => (Token::Mark(rest.as_bytes()[0]), first.len_utf8()),
            _ => (Token::Word(&rest[..length]), length),
        };
        rest = &rest[length..];
        Some(token)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TABLE: &str = "| crate | what it is | depends on |\n|---|---|---|\n\
        | `tilewright-core` | values | – |\n| `tilewright-xla` | shapes | core |\n\
        | `tilewright-table` | tables | core |\n| `tilewright-relayout` | moves | core, table |\n\
        | `tilewright-files` | files | relayout |\n| `tilewright` | all | core |\n| `xtask` | commands | – |\n\
        | `tilewright-bench` | cases | tilewright |\n";

    fn found(name: &str, dependencies: Value) -> Vec<String> {
        let manifest_path = format!("/x/crates/{name}/Cargo.toml");
        let package =
            json!({"name": name, "manifest_path": manifest_path, "dependencies": dependencies});
        let metadata = json!({"workspace_root": "/x", "packages": [package]});
        let text = "[dependencies]\nrayon.workspace = true\ntilewright-xla = { path = \"../tilewright-xla\" }\n";
        findings(&metadata, TABLE, &|_| Some(text)).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn core_depends_on_nothing() {
        let found = found(
            "tilewright-core",
            json!([{"name": "rayon", "kind": null}, {"name": "proptest", "kind": "dev"}]),
        );
        assert_eq!(
            found,
            [
                "crates/tilewright-core/Cargo.toml:2: [A1] core has no dependencies; `rayon` has to go"
            ]
        );
    }

    #[test]
    fn an_edge_that_is_not_in_the_graph_is_named() {
        let found = found("tilewright-relayout", json!([{"name": "tilewright-xla", "kind": null}]));
        let says = "tilewright-relayout may depend on tilewright-core, tilewright-table; not on tilewright-xla";
        assert_eq!(found, [format!("crates/tilewright-relayout/Cargo.toml:3: [A2] {says}")]);
        assert_eq!(
            self::found("xtask", json!([{"name": "tilewright-core", "kind": "build"}])).len(),
            1
        );
    }

    #[test]
    fn edges_of_the_graph_and_edges_of_tests_are_fine() {
        assert!(
            found("tilewright-relayout", json!([{"name": "tilewright-core", "kind": null}]))
                .is_empty()
        );
        assert!(
            found("tilewright-relayout", json!([{"name": "tilewright-notation", "kind": "dev"}]))
                .is_empty()
        );
        assert!(found("tilewright-files", json!([])).is_empty());
    }

    #[test]
    fn short_names_in_the_table_are_whole_crates() {
        let graph = Graph::of(TABLE);
        assert_eq!(graph.0["tilewright-relayout"], ["tilewright-core", "tilewright-table"]);
        assert_eq!(graph.0["tilewright-bench"], ["tilewright"]);
        assert!(graph.0["xtask"].is_empty());
    }

    #[test]
    fn a_new_crate_needs_its_row() {
        assert!(
            found("tilewright-new", json!([]))[0]
                .contains("tilewright-new is not in the crate graph")
        );
    }

    fn cycles_of(files: &[(&str, &str)]) -> Vec<String> {
        let source =
            |&(name, text): &(&str, &str)| Source::new(&format!("crates/x/src/{name}"), text);
        let sources: Vec<Source> = files.iter().map(source).collect();
        cycles(&sources).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_circle_is_found_with_its_lines() {
        let found = cycles_of(&[
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
    fn larger_cycles_name_all_their_files() {
        let found = cycles_of(&[
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
        let found = cycles_of(&[
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
    fn paths_lead_through_folders_without_a_file() {
        let found = cycles_of(&[
            ("lib.rs", "mod one; mod list { pub mod entry; }"),
            ("list/entry.rs", "use crate::one::One; pub struct Entry;"),
            ("one.rs", "pub struct One; use crate::list::entry::Entry;"),
        ]);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("list/entry.rs:1 -> one.rs:1 -> list/entry.rs;"), "{found:?}");
    }

    #[test]
    fn children_that_use_their_parent_tests_and_ways_without_return_are_fine() {
        let found = cycles_of(&[
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

    fn of(text: &str) -> Vec<(String, Brings)> {
        let source = Source::new("crates/x/src/a.rs", text);
        paths(&source).into_iter().map(|named| (named.words.join("::"), named.brings)).collect()
    }

    fn name(path: &str, name: &str) -> (String, Brings) {
        (path.into(), Brings::Name(name.into()))
    }

    #[test]
    fn trees_of_use_items_are_taken_apart() {
        assert_eq!(
            of("pub(crate) use crate::{a::{self, B as C}, d::*, e,};"),
            [
                name("crate::a", "a"),
                name("crate::a::B", "C"),
                ("crate::d".into(), Brings::All),
                name("crate::e", "e"),
            ]
        );
        assert_eq!(of("use super::\n    x;"), [name("super::x", "x")]);
    }

    #[test]
    fn paths_stand_in_code_and_not_in_comments_or_tests() {
        let nothing = |path: &str| (path.to_owned(), Brings::Nothing);
        let text = "// crate::a\nfn f() -> super::T { crate::b::c::<u8>(\"crate::d\") }\n\
                    #[cfg(test)]\nmod tests { use crate::e; }\n";
        assert_eq!(of(text), [nothing("super::T"), nothing("crate::b::c")]);
        assert_eq!(of("impl Iterator<Item = u8> + use<'_> {}"), []);
        assert_eq!(of("pub(in crate::a) fn f() { for x in super::y() {} }"), [nothing("super::y")]);
    }

    #[test]
    fn items_have_names() {
        let source = Source::new("x.rs", "pub struct A; impl A { fn b() {} } macro_rules! c {}");
        assert_eq!(items(&source), ["A", "b", "c"]);
    }
}
