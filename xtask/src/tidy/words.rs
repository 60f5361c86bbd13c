//! Every module begins with its header, no file has unfinished marks, and none contains a path of one machine.

use super::{
    finding::Finding,
    source::{Source, word_places},
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

#[cfg(test)]
mod tests {
    use super::{
        super::finding::{NONE, lines},
        *,
    };

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
}
