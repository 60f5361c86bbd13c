//! The console examples of the documents, run.

use std::process::Command;

/// The words of a command line, single quotes removed.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in line.split('\'').enumerate() {
        if i % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// The console blocks: each command with the lines it is said to print.
fn examples(text: &str) -> Vec<(String, Vec<String>)> {
    let mut examples: Vec<(String, Vec<String>)> = Vec::new();
    let blocks = text.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next());
    for line in blocks.flat_map(str::lines) {
        match (line.strip_prefix("$ tilewright "), examples.last_mut()) {
            (Some(command), _) => examples.push((command.to_owned(), Vec::new())),
            (None, Some((_, lines))) => lines.push(line.to_owned()),
            (None, None) => panic!("a console block begins with a command: {line}"),
        }
    }
    examples
}

/// Every example shows what the program prints: its answers, then its errors.
fn check(text: &str, least: usize) {
    let examples = examples(text);
    assert!(examples.len() >= least, "{}", examples.len());
    for (command, expected) in examples {
        let output =
            Command::new(env!("CARGO_BIN_EXE_tilewright")).args(words(&command)).output().unwrap();
        let stdout = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let printed: Vec<&str> = stdout.lines().collect();
        // A line `…` stands for all that follows.
        let cut = expected.iter().position(|line| line == "…");
        let shown = cut.unwrap_or(expected.len());
        assert!(printed.len() >= shown, "{command}:\n{stdout}");
        assert_eq!(printed[..shown], expected[..shown], "{command}");
        assert!(cut.is_some() || printed.len() == shown, "{command}:\n{stdout}");
    }
}

#[test]
fn the_readme_prints_what_the_program_prints() {
    check(include_str!("../../../README.md"), 8);
}

#[test]
fn the_chapter_on_the_algebra_prints_what_the_program_prints() {
    check(include_str!("../../../docs/algebra.md"), 60);
}
