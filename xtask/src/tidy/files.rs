//! Headers, words and sizes of files.
//!
//! Every module begins with its header, no file has unfinished marks, and none contains a path of one machine. Files
//! have at most 800 lines without their tests (examples in the documentation are tests), functions at most 60.

use super::{
    examples,
    source::{Finding, Source, item_end, line_of, word_places},
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
    let lines = source.shipped().count() - examples::line_count(source);
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
}
