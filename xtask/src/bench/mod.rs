//! `cargo xtask bench`: the program's own benchmark, built for speed; with other libraries beside it, and
//! recorded, if asked.

mod record;
mod rivals;
mod table;

use std::{fs, path::Path, process::ExitCode};

use serde_json::{Value, json};

use crate::shell::{Outcome, command, run as sh, target};

/// What is measured, and what becomes of it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only the cases that have one of these in their name
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Fewer cases, unless some are named, and fewer repetitions
    #[arg(long)]
    quick: bool,
    /// Only this size: memory, l2 or small
    #[arg(long)]
    size: Option<String>,
    /// Threads, 0 for all cores; one and all unless given
    #[arg(long)]
    threads: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Measure other libraries, too: strided-perm, ndarray, hptt, NumPy, torch, jax
    #[arg(long, conflicts_with = "threads")]
    rivals: bool,
    /// Write the results to bench/record
    #[arg(long)]
    record: bool,
}

impl Args {
    /// The words that choose cases, which all programs understand.
    fn choice(&self) -> Vec<&str> {
        let mut words: Vec<&str> = Vec::new();
        words.extend(self.quick.then_some("--quick"));
        words.extend(self.size.iter().flat_map(|size| ["--size", size]));
        words.extend(self.names.iter().map(String::as_str));
        words
    }
}

/// Measures, and hands on the program's exit code.
pub(crate) fn run(root: &Path, args: &Args) -> ExitCode {
    measured(root, args).unwrap_or_else(|message| {
        eprintln!("xtask: {message}");
        ExitCode::FAILURE
    })
}

fn measured(root: &Path, args: &Args) -> Outcome<ExitCode> {
    sh(&mut command(root, &["cargo", "build", "--release", "--package", "tilewright-cli"]))?;
    let program = target(root)?.join("release/tilewright");
    let mut bench = command(root, &[&*program.to_string_lossy(), "bench"]);
    bench.args(args.choice());
    if let Some(threads) = &args.threads {
        bench.args(["--threads", threads]);
    }
    if !args.rivals && !args.record {
        bench.args(args.json.then_some("--json"));
        let status = bench.status();
        let status = status.map_err(|error| format!("tilewright did not start: {error}"))?;
        return Ok(ExitCode::from(
            status.code().and_then(|code| code.try_into().ok()).unwrap_or(1),
        ));
    }
    let folder = target(root)?.join("bench");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    eprintln!("==> tilewright");
    let mut result = read(&crate::shell::output(bench.arg("--json"))?)?;
    if args.rivals {
        result["rivals"] = Value::from(rivals::rows(root, &folder, &program, &args.choice()));
    }
    result["date"] = json!(record::today());
    match args.json {
        true => println!("{result}"),
        false => println!("{}", table::markdown(&result)),
    }
    if args.record {
        record::write(root, &result)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read(text: &str) -> Outcome<Value> {
    serde_json::from_str(text).map_err(|error| format!("no JSON came back: {error}"))
}
