//! `cargo xtask bench`: the relayout benchmark, an example of the crate it measures.

use std::{path::Path, process::ExitCode};

use crate::shell::command;

const WORDS: [&str; 7] =
    ["cargo", "run", "--release", "-p", "tilewright-relayout", "--example", "transpose"];

/// Says what the benchmark is, runs it, and hands on its exit code.
pub(crate) fn run(root: &Path, quick: bool) -> ExitCode {
    let mut bench = command(root, &WORDS);
    if quick {
        bench.args(["--", "--quick"]);
    }
    println!("The relayout benchmark is `{}`.", WORDS.join(" "));
    match bench.status() {
        Ok(status) => {
            ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
        }
        Err(error) => {
            eprintln!("xtask: cargo did not start: {error}");
            ExitCode::FAILURE
        }
    }
}
