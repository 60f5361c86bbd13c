//! Measures the time of a program, and its peak memory as the system reports it at the end. A Python script waits for
//! the programs, because Rust's standard library does not report the resources of a child.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use crate::shell::Outcome;

const SCRIPT: &str = include_str!("measure.py");

/// The script, which waits for commands.
pub(crate) struct Meter {
    script: Child,
    asked: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// The cost of a run, and its exit code, negative if a signal ended it.
pub(crate) struct Run {
    pub(crate) seconds: f64,
    pub(crate) mebibytes: u64,
    pub(crate) code: i64,
}

impl Meter {
    pub(crate) fn start() -> Outcome<Meter> {
        let mut python = Command::new("python3");
        let python = python.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut script = python.spawn().map_err(|error| format!("python3: {error}"))?;
        let pipes = script.stdin.take().zip(script.stdout.take());
        let (asked, answers) = pipes.ok_or("python3 has no pipes")?;
        Ok(Meter { script, asked, answers: BufReader::new(answers) })
    }

    /// Runs a program without input or output, and kills it if it takes longer than `patience`.
    pub(crate) fn run(
        &mut self,
        words: &[String],
        folder: &Path,
        patience: Duration,
    ) -> Outcome<Run> {
        let failed = |error: std::io::Error| format!("{}: {error}", words.join(" "));
        let ask = serde_json::json!([words, folder.to_string_lossy(), patience.as_secs_f64()]);
        writeln!(self.asked, "{ask}").map_err(failed)?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(failed)?;
        let (seconds, kibibytes, code): (f64, u64, i64) = serde_json::from_str(&line)
            .map_err(|error| format!("{} gave {line:?}: {error}", words.join(" ")))?;
        Ok(Run { seconds, mebibytes: kibibytes >> 10, code })
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}
