//! Rules that every library keeps.
//!
//! - A7: only the program and xtask print; a library returns its answers to its caller.
//! - A1: core is the same program for all users. Features are not allowed.
//! - No library names an option of the program: the advice of an error is a `Remedy`, which the program prints as an option
//!   and Python as an argument.

use super::source::{Finding, Source, word_places};

const WORDS: [&str; 8] =
    ["println!", "eprintln!", "print!", "eprint!", "dbg!", "stdin(", "stdout(", "stderr("];

/// Finds console input and output outside `tilewright-cli`, `xtask`, the programs of other workspaces, tests and
/// examples.
pub(crate) fn prints(source: &Source) -> Vec<Finding> {
    let speaks = ["xtask/", "bench/rivals/", "web/bindgen/"]
        .iter()
        .any(|folder| source.path.starts_with(folder));
    if speaks || source.is_in("tilewright-cli") {
        return Vec::new();
    }
    let speaks =
        |bare: &str| WORDS.into_iter().find(|word| word_places(bare, word).next().is_some());
    let lines = source.shipped().filter_map(|(number, line)| Some((number, speaks(&line.bare)?)));
    let says = |word: &str| {
        format!(
            "`{}` in a library; only tilewright-cli and xtask use the console",
            word.trim_end_matches('(')
        )
    };
    lines.map(|(number, word)| Finding::new(&source.path, number, "A7", says(word))).collect()
}

const SAYS: &str = "core has no features; what is optional belongs to another crate";

/// Finds mentions of `feature` in a `cfg` of core.
pub(crate) fn features(source: &Source) -> Vec<Finding> {
    if !source.is_in("tilewright-core") {
        return Vec::new();
    }
    let marks = ["cfg(feature", "cfg_attr(feature", "(feature =", " feature ="];
    let lines = source
        .lines
        .iter()
        .enumerate()
        .filter(|(_, line)| marks.iter().any(|mark| line.bare.contains(mark)));
    lines.map(|(i, _)| Finding::new(&source.path, i + 1, "A1", SAYS)).collect()
}

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

const OPTIONS_SAYS: &str = "an option of the program in a library; say what was asked, and what to do about it as a `Remedy`";

/// Finds literals with a word such as `--force`, in libraries.
pub(crate) fn options(source: &Source) -> Vec<Finding> {
    if !LIBRARIES.iter().any(|name| source.is_in(name)) {
        return Vec::new();
    }
    let lines =
        source.shipped().filter(|(_, line)| has_option(&line.worded) && !has_option(&line.bare));
    lines.map(|(number, _)| Finding::new(&source.path, number, "options", OPTIONS_SAYS)).collect()
}

/// Returns whether a text has two dashes followed by a lower-case letter.
fn has_option(text: &str) -> bool {
    text.match_indices("--").any(|(at, dashes)| {
        text[at + dashes.len()..].starts_with(|next: char| next.is_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::{NONE, lines};

    fn found(path: &str) -> Vec<usize> {
        let text = "/// println!(\"doc\")\nfn a() { println!(\"b\") }\nfn c() { dbg!(1); }\nlet d = std::io::stdout();\nwriteln!(f, \"print!\");\npprint!();\n#[cfg(test)]\nmod tests { print!(); }";
        lines(&prints(&Source::new(path, text)))
    }

    #[test]
    fn libraries_are_silent() {
        assert_eq!(found("crates/tilewright-core/src/a.rs"), [2, 3, 4]);
        assert_eq!(found("crates/tilewright/src/a.rs"), [2, 3, 4]);
        assert_eq!(found("bench/src/a.rs"), [2, 3, 4]);
    }

    #[test]
    fn the_program_the_helper_tests_and_examples_speak() {
        for path in [
            "crates/tilewright-cli/src/a.rs",
            "xtask/src/a.rs",
            "bench/rivals/src/a.rs",
            "crates/tilewright/tests/a.rs",
            "crates/tilewright/examples/a.rs",
        ] {
            assert_eq!(found(path), NONE);
        }
    }

    #[test]
    fn a_feature_in_core_is_found() {
        let text = "#[cfg(feature = \"std\")]\nmod a;\n// cfg(feature = \"b\")\n#[cfg(all(test, feature = \"c\"))]\nmod d;";
        assert_eq!(
            lines(&features(&Source::new("crates/tilewright-core/src/lib.rs", text))),
            [1, 4]
        );
        assert!(features(&Source::new("crates/tilewright-files/src/lib.rs", text)).is_empty());
    }

    #[test]
    fn options_in_the_messages_of_libraries_are_found() {
        let text = "// --force\nlet a = \"x; lower --memory\";\nlet b = \"a -- b, -x, ---\";\n#[cfg(test)]\nmod tests { fn a() { \"--to\"; } }";
        let found = |path: &str| lines(&options(&Source::new(path, text)));
        assert_eq!(found("crates/tilewright-files/src/a.rs"), [2]);
        assert_eq!(found("crates/tilewright/src/a.rs"), [2]);
        assert_eq!(found("crates/tilewright-cli/src/a.rs"), NONE);
    }
}
