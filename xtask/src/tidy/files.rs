//! Headers, words, sizes and examples of files.
//!
//! Every module begins with its header, a table of modules in it lists the modules of the file, no file has unfinished
//! marks, and none contains a path of one machine. Files have at most 800 lines without their tests (examples in the
//! documentation are tests), functions at most 60.
//!
//! Every public function, type, trait and macro of a library has an example that runs.
//!
//! The compiler's lints `unreachable_pub` and `missing_docs` do the rest: a `pub` item can be reached and is
//! documented. Constants, statics and type aliases are exempt (their value is their documentation), as are fields,
//! variants and required items of traits, which their type documents. An item that a macro makes with the documentation
//! of its caller (`$(#[$doc])*`) is checked where it is written. `#[doc(hidden)]` items are exempt.

use std::collections::BTreeSet;

use crate::tidy::source::{
    Finding, Line, Source, is_word, is_word_byte, item_end, line_of, word_places,
};

/// In two parts, so that this file does not contain them.
const UNFINISHED: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
const PATHS: [&str; 4] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/tmp/", "bash"), concat!("/ho", "me/")];

/// Finds a Rust file without a header.
pub(crate) fn header(source: &Source) -> Vec<Finding> {
    let opens = source.lines.first().is_some_and(|line| line.raw.starts_with("//! "));
    let says = "a module opens with `//! ` and a sentence that says what it is";
    if opens { Vec::new() } else { vec![Finding::new(&source.path, 1, "header", says)] }
}

/// Finds modules in the header's table of modules or files that the file does not declare, and the reverse.
pub(crate) fn module_map(source: &Source) -> Vec<Finding> {
    let heads = ["//! | module | contents |", "//! | file | "];
    let is_head = |line: &Line| heads.iter().any(|head| line.raw.starts_with(head));
    let Some(head) = source.lines.iter().position(is_head) else { return Vec::new() };
    let rows = source.lines[head + 2..].iter().take_while(|line| line.raw.starts_with("//! |"));
    let cells = rows.filter_map(|line| line.raw.split('|').nth(1));
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let listed = names.map(|name| name.trim_end_matches(".rs").trim_end_matches('/')).collect();
    let ends = source.shipped().filter_map(|(_, line)| line.bare.strip_suffix(';'));
    let modules = ends.filter_map(|line| line.rsplit_once("mod ")).map(|(_, name)| name);
    let declared: BTreeSet<&str> = modules.filter(|name| is_word(name)).collect();
    let says = |name| match declared.contains(name) {
        true => format!("the table of modules omits `{name}`"),
        false => format!("`{name}` is in the table of modules, but not a module of this file"),
    };
    let differing = declared.symmetric_difference(&listed);
    differing.map(|name| Finding::new(&source.path, head + 1, "map", says(*name))).collect()
}

/// Finds marks of unfinished work, in any text except the corpus.
pub(crate) fn unfinished(path: &str, text: &str) -> Vec<Finding> {
    let marks =
        |line: &str| UNFINISHED.into_iter().find(|mark| word_places(line, mark).next().is_some());
    let says = |mark: &str| format!("`{mark}`: finish it, or write an issue");
    by_line(path, text, "unfinished", |line| marks(line).map(says))
}

/// Finds absolute paths of one machine, in any text except the corpus.
pub(crate) fn machine_paths(path: &str, text: &str) -> Vec<Finding> {
    let says = |mark: &str| format!("`{mark}…` is a path of one machine");
    by_line(path, text, "paths", |line| {
        PATHS.into_iter().find(|mark| begins_path(line, mark)).map(says)
    })
}

/// Returns whether the mark is at the beginning of a path, not inside a longer one or an address.
fn begins_path(line: &str, mark: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '}' | '*');
    line.match_indices(mark).any(|(at, _)| !line[..at].ends_with(inside))
}

fn by_line(
    path: &str,
    text: &str,
    rule: &'static str,
    says: impl Fn(&str) -> Option<String>,
) -> Vec<Finding> {
    let data = path.starts_with("corpus/") && !path.ends_with(".md");
    let lines = text.lines().enumerate().filter(|_| !data);
    lines.filter_map(|(i, line)| Some(Finding::new(path, i + 1, rule, says(line)?))).collect()
}

const FILE: usize = 800;
const FUNCTION: usize = 60;

/// Finds files and functions that are too long.
pub(crate) fn sizes(source: &Source) -> Vec<Finding> {
    let lines = source.shipped().count() - line_count(source);
    let says =
        format!("{lines} lines without tests, at most {FILE}; which part is a notion of its own?");
    let file = (lines > FILE).then(|| Finding::new(&source.path, 0, "length", says));
    let long = functions(source).into_iter().filter(|function| function.lines > FUNCTION);
    let says = |function: &Function| {
        format!("`{}` has {} lines, at most {FUNCTION}", function.name, function.lines)
    };
    file.into_iter()
        .chain(long.map(|long| Finding::new(&source.path, long.first, "length", says(&long))))
        .collect()
}

struct Function {
    name: String,
    /// The line of `fn`, from 1.
    first: usize,
    lines: usize,
}

/// Returns every function outside tests.
fn functions(source: &Source) -> Vec<Function> {
    let bare = &source.bare;
    let shipped = |first: usize| source.lines.get(first).is_some_and(|line| !line.test);
    let at = word_places(bare, "fn")
        .map(|place| (place, line_of(bare, place)))
        .filter(|&(_, first)| shipped(first));
    at.filter_map(|(place, first)| {
        let name: String = bare[place + 2..]
            .trim_start()
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        let last = line_of(bare, item_end(bare, place).saturating_sub(1));
        (!name.is_empty()).then_some(Function { name, first: first + 1, lines: last - first + 1 })
    })
    .collect()
}

/// The crates to which this rule applies.
const CRATES: [&str; 19] = [
    "tilewright-error",
    "tilewright-scan",
    "tilewright-core",
    "tilewright-fixed",
    "tilewright-xla",
    "tilewright-notation",
    "tilewright-relayout",
    "tilewright-files",
    "tilewright-draw",
    "tilewright-banks",
    "tilewright-emit",
    "tilewright-device",
    "tilewright-sharded",
    "tilewright-table",
    "tilewright-recipe",
    "tilewright-reshard",
    "tilewright",
    "tilewright-bench",
    "tilewright-web",
];

const KINDS: [&str; 5] = ["fn", "struct", "enum", "trait", "union"];

/// Finds public items without an example.
pub(crate) fn findings(source: &Source) -> Vec<Finding> {
    if !CRATES.iter().any(|name| source.is_in(name)) {
        return Vec::new();
    }
    let (mut head, mut found) = (Head::default(), Vec::new());
    for (number, line) in source.shipped() {
        if head.takes(&line.raw, &line.bare) {
            continue;
        }
        if let Some(name) = item(&line.bare, head.exported)
            && !head.shows
        {
            let says = format!(
                "`{name}` is public and has no example; show what it answers, and a call that fails if one can"
            );
            found.push(Finding::new(&source.path, number, "example", says));
        }
        head = Head::default();
    }
    found
}

/// Returns the number of shipped lines that are examples, which are tests.
fn line_count(source: &Source) -> usize {
    let (mut block, mut count) = (Block::Outside, 0);
    for (_, line) in source.shipped() {
        let before = block;
        block = doc(&line.raw).map_or(Block::Outside, |text| block.after(text));
        let example =
            block == Block::Example || (before == Block::Example && doc(&line.raw).is_some());
        count += usize::from(example);
    }
    count
}

/// The position of a line within documentation.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Block {
    #[default]
    Outside,
    /// In a block that is compiled.
    Example,
    /// In a block of other text.
    Text,
}

impl Block {
    /// Returns the position after this line.
    fn after(self, doc: &str) -> Block {
        match (doc.strip_prefix("```"), self) {
            (None, _) => self,
            (Some(language), Block::Outside) if runs(language) => Block::Example,
            (Some(_), Block::Outside) => Block::Text,
            (Some(_), Block::Example | Block::Text) => Block::Outside,
        }
    }
}

/// The documentation and attributes before an item.
#[derive(Default)]
struct Head {
    /// True if some of the documentation is an example, or comes from a macro's caller.
    shows: bool,
    /// The position within the documentation.
    block: Block,
    /// True if `#[macro_export]` is among the attributes.
    exported: bool,
    /// The number of open brackets of an attribute.
    open: usize,
}

impl Head {
    /// Adds the line if it belongs to the head, and returns whether it does.
    fn takes(&mut self, raw: &str, bare: &str) -> bool {
        let code = bare.trim_start();
        if let Some(text) = doc(raw) {
            self.block = self.block.after(text);
            self.shows |= self.block == Block::Example;
            return true;
        }
        if self.open == 0 && !code.starts_with("#[") && !code.starts_with("$(#[") {
            return false;
        }
        // Items for doctests alone count as examples; hidden items are not documented.
        let exempt = ["$(#[", "#[cfg(doctest)]", "#[cfg(all(doctest,", "#[doc(hidden)]"];
        self.shows |= exempt.iter().any(|attribute| code.starts_with(attribute));
        self.exported |= code.starts_with("#[macro_export]");
        self.open += code.matches(['[', '(']).count();
        self.open = self.open.saturating_sub(code.matches([']', ')']).count());
        true
    }
}

/// Returns the text of a line of documentation.
fn doc(raw: &str) -> Option<&str> {
    let line = raw.trim_start();
    let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
    text.map(str::trim_start).or_else(|| fence(line))
}

/// Returns the beginning of an example that is compiled if a feature is on.
fn fence(line: &str) -> Option<&str> {
    let given = ["#[cfg_attr(", "#![cfg_attr("].iter().any(|start| line.starts_with(start));
    (given && !line.contains("(not(") && line.ends_with("doc = \"```\")]")).then_some("```")
}

/// Returns whether a block with this language is compiled.
fn runs(language: &str) -> bool {
    let words = ["", "rust", "compile_fail", "should_panic", "no_run"];
    language.trim().split(',').all(|word| words.contains(&word.trim()))
}

/// Returns the name of the item that begins on this line, if it needs an example.
fn item(bare: &str, exported: bool) -> Option<&str> {
    let line = bare.trim_start();
    if let Some(name) = line.strip_prefix("macro_rules!") {
        return exported.then(|| word(name.trim_start()));
    }
    let mut rest = line.strip_prefix("pub ")?;
    while let Some(behind) =
        ["const ", "unsafe ", "async "].iter().find_map(|word| rest.strip_prefix(word))
    {
        rest = behind;
    }
    let (kind, name) = rest.split_once(' ')?;
    KINDS.contains(&kind).then(|| word(name))
}

/// Returns the identifier at the beginning of a text; `$name` in a macro.
fn word(text: &str) -> &str {
    let end = text.bytes().position(|byte| !(is_word_byte(byte) || byte == b'$'));
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::{NONE, lines};

    #[test]
    fn headers_come_first() {
        let found = |text| lines(&header(&Source::new("a.rs", text)));
        assert_eq!(found("fn main() {}"), [1]);
        assert_eq!(found("\n//! a"), [1]);
        assert_eq!(found(""), [1]);
        assert_eq!(found("//! a"), NONE);
    }

    #[test]
    fn a_map_lists_the_modules_of_its_file() {
        let found = |table: &str, text: &str| {
            lines(&module_map(&Source::new("a/lib.rs", &format!("//! A.\n{table}\n{text}"))))
        };
        let map =
            "//! | module | contents |\n//! |---|---|\n//! | `a`, `b` | two |\n//! | `c` | `x` |";
        assert_eq!(found(map, "mod a;\npub(crate) mod b;\npub mod c;"), NONE);
        assert_eq!(found(map, "mod a;\nmod b;"), [2]);
        assert_eq!(found(map, "mod a;\nmod b;\nmod c;\nmod d;\n#[cfg(test)]\nmod tests;"), [2]);
        assert_eq!(found("//! | file | rule |\n//! |---|---|\n//! | `a.rs` | A |", "mod a;"), NONE);
        assert_eq!(found("//! No table.", "mod a;"), NONE);
    }

    #[test]
    fn unfinished_work_is_found() {
        let text = format!(
            "a\n// {}: b\n{}_LIST\n<!-- {} -->",
            UNFINISHED[0], UNFINISHED[1], UNFINISHED[2]
        );
        assert_eq!(lines(&unfinished("a.md", &text)), [2, 4]);
        assert!(unfinished("corpus/data/a.txt", &text).is_empty());
    }

    #[test]
    fn paths_of_a_machine_are_found() {
        let text = format!(
            "a\nopen(\"{}a\")\nhttps://a.example{}b\ncrates{}c",
            PATHS[0], PATHS[0], PATHS[1]
        );
        assert_eq!(lines(&machine_paths("a.py", &text)), [2]);
        assert!(machine_paths("corpus/vectors/a.jsonl", &text).is_empty());
    }

    fn function(body: usize) -> String {
        format!("fn a(b: [u8; 2]) {{\n{}}}\n", "    b();\n".repeat(body))
    }

    fn found(text: &str) -> Vec<usize> {
        lines(&sizes(&Source::new("crates/tilewright-core/src/a.rs", text)))
    }

    #[test]
    fn long_functions_are_found() {
        assert_eq!(found(&function(58)), NONE);
        assert_eq!(found(&format!("//! a\n{}", function(59))), [2]);
        assert_eq!(found(&format!("#[cfg(test)]\nmod tests {{\n{}}}", function(59))), NONE);
        assert_eq!(
            found(&format!("trait A {{ fn b();\n}}\ntype C = fn(u8);\n{}", function(58))),
            NONE
        );
    }

    #[test]
    fn long_files_are_found() {
        assert_eq!(found(&"//! a\n".repeat(799)), NONE);
        assert_eq!(found(&"//! a\n".repeat(801)), [0]);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}", "// a\n".repeat(800));
        assert_eq!(found(&format!("//! a\n{tests}")), NONE);
        let example = format!("/// ```\n{}/// ```\n", "/// a();\n".repeat(300));
        assert_eq!(found(&format!("{example}{}", "// a\n".repeat(799))), NONE);
        assert_eq!(found(&format!("{example}{}", "// a\n".repeat(801))), [0]);
    }

    const CORE: &str = "crates/tilewright-core/src/a.rs";

    fn without_example(text: &str) -> Vec<usize> {
        lines(&findings(&Source::new(CORE, text)))
    }

    #[test]
    fn public_items_without_an_example_are_found() {
        for kind in ["pub fn a() {", "pub const unsafe fn a() {", "pub struct A;", "pub enum A {"] {
            assert_eq!(without_example(&format!("/// Adds.\n#[inline]\n{kind}")), [3], "{kind}");
            assert_eq!(
                without_example(&format!("/// ```\n/// a();\n/// ```\n#[inline]\n{kind}")),
                NONE
            );
            let fence = |what: &str| format!("#[cfg_attr({what}, doc = \"```\")]");
            let one = format!("/// Adds.\n{}\n/// a();\n/// ```\n{kind}", fence("feature = \"a\""));
            assert_eq!(without_example(&one), NONE, "{one}");
            assert_eq!(
                without_example(&format!("{}\n{kind}", fence("not(feature = \"a\")"))),
                [2],
                "{kind}"
            );
            assert_eq!(
                without_example(&format!("/// ```text\n/// a\n/// ```\n{kind}")),
                [4],
                "{kind}"
            );
        }
        assert_eq!(without_example("    pub fn $is(&self) -> bool {"), [1]);
        assert_eq!(without_example("/// A.\n#[macro_export]\nmacro_rules! a {"), [3]);
    }

    #[test]
    fn an_example_belongs_to_one_item() {
        assert_eq!(without_example("/// ```\n/// ```\npub fn a() {}\npub fn b() {}"), [4]);
        assert_eq!(
            without_example("/// ```\n/// ```\n#[doc = concat!(\n    \"b\",\n)]\npub fn a() {}"),
            NONE
        );
        assert_eq!(without_example("/// ```compile_fail\n/// ```\n\npub fn a() {}"), [4]);
    }

    #[test]
    fn what_has_nothing_to_show_is_left_alone() {
        for text in [
            "fn a() {}",
            "pub(crate) fn a() {}",
            "pub const A: u8 = 1;",
            "pub type A = u8;",
            "pub use a::b;",
            "#[cfg(doctest)]\n#[doc = include_str!(\"README.md\")]\npub struct Readme;",
            "macro_rules! a {",
            "    pub dim: u8,",
            "$(#[$doc])*\n#[derive(Debug)]\npub struct $name {",
            "#[cfg(test)]\nmod tests {\n    pub fn a() {}\n}",
        ] {
            assert_eq!(without_example(text), NONE, "{text}");
        }
        let elsewhere = Source::new("crates/tilewright-cli/src/a.rs", "pub fn a() {}");
        assert_eq!(lines(&findings(&elsewhere)), NONE);
    }

    #[test]
    fn lines_of_examples_are_counted() {
        let count = |text| line_count(&Source::new(CORE, text));
        assert_eq!(count("/// Adds.\n/// ```\n/// a();\n/// ```\nfn a() {}"), 3);
        assert_eq!(count("//! ```text\n//! a := b\n//! ```\nfn a() {}"), 0);
        assert_eq!(count("/// ```\n/// unfinished\nfn a() {}\nfn b() {}"), 2);
    }
}
