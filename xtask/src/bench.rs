//! `cargo xtask bench`: the program's own benchmark, built for speed.

use std::{path::Path, process::ExitCode};

use crate::shell::{Outcome, command, run as sh, target};

/// Builds the program, says what it is asked, and hands on its exit code.
pub(crate) fn run(root: &Path, words: &[String]) -> ExitCode {
    match measured(root, words) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn measured(root: &Path, words: &[String]) -> Outcome<ExitCode> {
    sh(&mut command(root, &["cargo", "build", "--release", "--package", "tilewright-cli"]))?;
    let program = target(root)?.join("release/tilewright");
    let mut bench = command(root, &[&*program.to_string_lossy(), "bench"]);
    bench.args(words);
    println!("The relayout benchmark is `tilewright bench {}`.", words.join(" "));
    let status = bench.status().map_err(|error| format!("tilewright did not start: {error}"))?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}
