//! A7: only the program and xtask print; a library returns its answers to its caller.

use super::{
    finding::Finding,
    source::{Source, word_places},
};

const WORDS: [&str; 8] =
    ["println!", "eprintln!", "print!", "eprint!", "dbg!", "stdin(", "stdout(", "stderr("];

/// Finds console input and output outside `tilewright-cli`, `xtask`, the programs of other workspaces, tests and
/// examples.
pub(crate) fn findings(source: &Source) -> Vec<Finding> {
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

#[cfg(test)]
mod tests {
    use super::{
        super::finding::{NONE, lines},
        *,
    };

    fn found(path: &str) -> Vec<usize> {
        let text = "/// println!(\"doc\")\nfn a() { println!(\"b\") }\nfn c() { dbg!(1); }\nlet d = std::io::stdout();\nwriteln!(f, \"print!\");\npprint!();\n#[cfg(test)]\nmod tests { print!(); }";
        lines(&findings(&Source::new(path, text)))
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
}
