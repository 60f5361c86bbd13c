//! `cargo xtask bench`: runs the program's own benchmark, built for speed, optionally together with other libraries or
//! an earlier build, and records the results if requested.

mod against;
mod record;
mod rivals;
mod table;

pub(crate) use record::today;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use serde_json::{Value, json};

use crate::program::{self, Build};
use crate::shell::{Outcome, command, target};

/// The arguments of the benchmark.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only the cases that have one of these in their name
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Fewer cases, unless some are named, and fewer repetitions
    #[arg(long)]
    quick: bool,
    /// Only this size: memory, l2, tiny or small
    #[arg(long)]
    size: Option<String>,
    /// Threads, 0 for all cores; one and all unless given
    #[arg(long)]
    threads: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The bytes past a cache line at which the buffers begin: for both, or SRC,DST
    #[arg(long, conflicts_with_all = ["rivals", "against"])]
    offset: Option<String>,
    /// Measure each case on cache lines, too, in turns
    #[arg(long, conflicts_with_all = ["rivals", "against"])]
    paired: bool,
    /// This many random cases, with --rivals held against NumPy and torch one by one
    #[arg(long, conflicts_with_all = ["names", "size", "against"])]
    random: Option<String>,
    /// The seed of random cases, and which is the first: 7, or 7:12
    #[arg(long, requires = "random", default_value = "1")]
    seed: String,
    /// The most bytes a random case reads and writes
    #[arg(long, requires = "random", default_value = "512M")]
    max_bytes: String,
    /// Measure other libraries, too: strided-perm, ndarray, hptt, NumPy, torch, jax
    #[arg(long)]
    rivals: bool,
    /// Write the results to bench/record
    #[arg(long)]
    record: bool,
    /// An earlier build of the program, measured in turns with this one: prints new time over old of each
    /// case, in memory and in L2, with one thread and all; TILEWRIGHT_ISA is handed on to both
    #[arg(long, value_name = "OLD", conflicts_with_all = ["rivals", "record"])]
    against: Option<PathBuf>,
    /// The number of times that both are started for each case
    #[arg(long, requires = "against", default_value_t = 5)]
    times: usize,
    /// Measure this program instead of one that is built now
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

impl Args {
    /// Returns the words that choose cases, which all programs understand.
    fn choice(&self) -> Vec<&str> {
        let mut words: Vec<&str> = Vec::new();
        words.extend(self.quick.then_some("--quick"));
        words.extend(self.size.iter().flat_map(|size| ["--size", size]));
        words.extend(self.names.iter().map(String::as_str));
        words
    }

    /// Returns the other words of the program, which other programs do not understand.
    fn more(&self) -> Vec<&str> {
        let mut words: Vec<&str> = Vec::new();
        words.extend(self.threads.iter().flat_map(|threads| ["--threads", threads]));
        words.extend(self.offset.iter().flat_map(|offset| ["--offset", offset]));
        words.extend(self.paired.then_some("--paired"));
        if let Some(count) = &self.random {
            words.extend(["--random", count, "--seed", &self.seed]);
            words.extend(["--max-bytes", &self.max_bytes]);
        }
        words
    }

    /// Returns the builds to compare, with the words that both understand.
    fn builds<'a>(&'a self, root: &'a Path, old: &'a Path, new: &'a Path) -> against::Builds<'a> {
        let mut options: Vec<&str> = Vec::new();
        options.extend(self.quick.then_some("--quick"));
        options.extend(self.size.iter().flat_map(|size| ["--size", size]));
        options.extend(self.threads.iter().flat_map(|threads| ["--threads", threads]));
        let names = self.names.iter().map(String::as_str).collect();
        against::Builds { root, old, new, times: self.times.max(1), options, names }
    }
}

/// Measures, and returns the program's exit code.
pub(crate) fn run(root: &Path, args: &Args) -> ExitCode {
    measured(root, args).unwrap_or_else(|message| {
        eprintln!("xtask: {message}");
        ExitCode::FAILURE
    })
}

fn measured(root: &Path, args: &Args) -> Outcome<ExitCode> {
    let program = program(root, args)?;
    if let Some(old) = &args.against {
        let old = absolute(old)?;
        return args.builds(root, &old, &program).compare(args.json);
    }
    match (args.rivals, &args.random, &args.threads) {
        (true, Some(count), _) => return rivals::random(root, &program, args, count),
        (true, None, Some(_)) => {
            return Err("--rivals measures one thread and all: --threads goes with --random".into());
        }
        _ => {}
    }
    let mut bench = command(root, &[&*program.to_string_lossy(), "bench"]);
    bench.args(args.choice()).args(args.more());
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
    result["date"] = json!(today());
    match args.json {
        true => println!("{result}"),
        false => println!("{}", table::markdown(&result)),
    }
    if args.record {
        record::write(root, &result)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the given program, or builds one.
fn program(root: &Path, args: &Args) -> Outcome<PathBuf> {
    if let Some(program) = &args.program {
        return absolute(program);
    }
    program::build(root, Build::Release)
}

fn absolute(path: &Path) -> Outcome<PathBuf> {
    path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))
}

fn read(text: &str) -> Outcome<Value> {
    serde_json::from_str(text).map_err(|error| format!("no JSON came back: {error}"))
}
