//! No library names an option of the program: the advice of an error is a `Remedy`, which the program prints as an
//! option and Python as an argument.

use super::{finding::Finding, source::Source};

/// The libraries below the program. The pictures are not included, because style sheets have names with dashes.
const LIBRARIES: [&str; 7] = [
    "tilewright-core",
    "tilewright-fixed",
    "tilewright-xla",
    "tilewright-notation",
    "tilewright-relayout",
    "tilewright-files",
    "tilewright",
];

const SAYS: &str = "an option of the program in a library; say what was asked, and what to do about it as a `Remedy`";

/// Finds literals with a word such as `--force`, in libraries.
pub(crate) fn findings(source: &Source) -> Vec<Finding> {
    if !LIBRARIES.iter().any(|name| source.is_in(name)) {
        return Vec::new();
    }
    let lines =
        source.shipped().filter(|(_, line)| has_option(&line.worded) && !has_option(&line.bare));
    lines.map(|(number, _)| Finding::new(&source.path, number, "options", SAYS)).collect()
}

/// Returns whether a text has two dashes followed by a lower-case letter.
fn has_option(text: &str) -> bool {
    text.match_indices("--").any(|(at, dashes)| {
        text[at + dashes.len()..].starts_with(|next: char| next.is_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::finding::{NONE, lines},
        *,
    };

    #[test]
    fn options_in_the_messages_of_libraries_are_found() {
        let text = "// --force\nlet a = \"x; lower --memory\";\nlet b = \"a -- b, -x, ---\";\n#[cfg(test)]\nmod tests { fn a() { \"--to\"; } }";
        let found = |path: &str| lines(&findings(&Source::new(path, text)));
        assert_eq!(found("crates/tilewright-files/src/a.rs"), [2]);
        assert_eq!(found("crates/tilewright/src/a.rs"), [2]);
        assert_eq!(found("crates/tilewright-cli/src/a.rs"), NONE);
    }
}
