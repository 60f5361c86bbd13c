//! Every module opens with its header, nothing is left unfinished, and no path of one machine is written
//! down.

use super::{
    finding::Finding,
    source::{Source, word_places},
};

/// In two pieces, so that this file does not contain them.
const UNFINISHED: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
const PATHS: [&str; 4] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/tmp/", "bash"), concat!("/ho", "me/")];

/// A Rust file that does not say first what it is.
pub(crate) fn header(source: &Source) -> Vec<Finding> {
    let opens = source.lines.first().is_some_and(|line| line.raw.starts_with("//! "));
    let says = "a module opens with `//! ` and a sentence that says what it is";
    if opens { Vec::new() } else { vec![Finding::new(&source.path, 1, "header", says)] }
}

/// Marks of unfinished work, in any text but the corpus.
pub(crate) fn unfinished(path: &str, text: &str) -> Vec<Finding> {
    let marks =
        |line: &str| UNFINISHED.into_iter().find(|mark| word_places(line, mark).next().is_some());
    let says = |mark: &str| format!("`{mark}`: finish it, or write an issue");
    by_line(path, text, "unfinished", |line| marks(line).map(says))
}

/// Absolute paths of the machine something was written on, in any text but the corpus.
pub(crate) fn machine_paths(path: &str, text: &str) -> Vec<Finding> {
    let says = |mark: &str| format!("`{mark}…` is a path of one machine");
    by_line(path, text, "paths", |line| {
        PATHS.into_iter().find(|mark| begins_path(line, mark)).map(says)
    })
}

/// Whether the mark stands at the beginning of a path, not inside a longer one or an address.
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
