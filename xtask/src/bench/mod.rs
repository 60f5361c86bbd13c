//! `cargo xtask bench`: runs the program's own benchmark, built for speed, optionally together with other libraries or
//! an earlier build, and records the results if requested.
//!
//! Results are a table: relayout, memcpy, and the rivals' ratios to the memcpy of their own run. The record has them by
//! machine and date, as JSON and as a readable table.

mod against;
mod rivals;

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};

use crate::shell::{self, Build, Outcome, command, target};

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
    /// Returns the options that choose cases, which all programs understand.
    fn sizes(&self) -> Vec<&str> {
        let mut words: Vec<&str> = self.quick.then_some("--quick").into_iter().collect();
        words.extend(self.size.iter().flat_map(|size| ["--size", size]));
        words
    }

    /// Returns the words that choose cases: the options and the names.
    fn choice(&self) -> Vec<&str> {
        self.sizes().into_iter().chain(self.names.iter().map(String::as_str)).collect()
    }

    /// Returns the option for the number of threads.
    fn threads(&self) -> impl Iterator<Item = &str> {
        self.threads.iter().flat_map(|threads| ["--threads", threads])
    }

    /// Returns the other words of the program, which other programs do not understand.
    fn more(&self) -> Vec<&str> {
        let mut words: Vec<&str> = self.threads().collect();
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
        let options = self.sizes().into_iter().chain(self.threads()).collect();
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
    let mut result = read(&shell::output(bench.arg("--json"))?)?;
    if args.rivals {
        result["rivals"] = Value::from(rivals::rows(root, &folder, &program, &args.choice()));
    }
    result["date"] = json!(today());
    match args.json {
        true => println!("{result}"),
        false => println!("{}", markdown(&result)),
    }
    if args.record {
        write(root, &result)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the given program, or builds one.
fn program(root: &Path, args: &Args) -> Outcome<PathBuf> {
    if let Some(program) = &args.program {
        return absolute(program);
    }
    shell::build(root, Build::Release)
}

fn absolute(path: &Path) -> Outcome<PathBuf> {
    path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))
}

fn read(text: &str) -> Outcome<Value> {
    serde_json::from_str(text).map_err(|error| format!("no JSON came back: {error}"))
}

/// Tilewright counts as slower than a rival if its ratio is below this share of the rival's.
const TIE: f64 = 0.97;

/// Returns the results as Markdown.
fn markdown(result: &Value) -> String {
    let rivals = list(&result["rivals"]);
    let names = names(rivals);
    let mut text = head(result);
    let titles: String = names.iter().map(|name| format!(" {name} |")).collect();
    let _ = writeln!(text, "| case | threads | MB | GB/s | memcpy | copy | ratio | cpu |{titles}");
    let _ = writeln!(text, "|---|--:|--:|--:|--:|--:|--:|--:|{}", "--:|".repeat(names.len()));
    let (mut compared, mut behind) = (0, Vec::new());
    for case in list(&result["cases"]) {
        let _ = write!(
            text,
            "| {} | {} | {:.1} ",
            word(case, "name"),
            case["threads"],
            number(case, "bytes") / 1e6
        );
        for (column, digits) in [
            ("gb_per_s", 1),
            ("memcpy_gb_per_s", 1),
            ("copy_gb_per_s", 1),
            ("ratio", 2),
            ("cpu_per_wall", 2),
        ] {
            let _ = write!(text, "| {:.digits$} ", number(case, column));
        }
        for name in &names {
            let one = rivals.iter().find(|rival| is_of(rival, name, case));
            let Some(one) = one else {
                text += "| – ";
                continue;
            };
            let right = one["right"] == true;
            let _ =
                write!(text, "| {:.2}{} ", number(one, "ratio"), if right { "" } else { " wrong" });
            compared += usize::from(right);
            if right && number(case, "ratio") < TIE * number(one, "ratio") {
                behind.push(format!("{} with {} ({name})", word(case, "name"), case["threads"]));
            }
        }
        text += "|\n";
    }
    if !names.is_empty() {
        let _ = write!(text, "\nOf {compared} comparisons with rivals, behind in {}", behind.len());
        let _ =
            writeln!(text, "{}{}", if behind.is_empty() { "." } else { ": " }, behind.join("; "));
    }
    text
}

/// Returns the machine, and a summary.
fn head(result: &Value) -> String {
    let machine = &result["machine"];
    let vectors: Vec<&str> = list(&machine["vectors"]).iter().filter_map(Value::as_str).collect();
    let mut text = format!(
        "# {}, {} cores, {}\n\nCaches of {} KiB; {}. Single numbers are GB/s read and written; ratios are to memcpy of the same number of bytes in the same run, and cpu is processor time over time.\n\n",
        word(machine, "cpu"),
        machine["cores"],
        word(result, "date"),
        machine["caches_kib"],
        vectors.join(", "),
    );
    for one in list(&result["summary"]) {
        let (mean, least) = (number(one, "geometric_mean"), number(one, "least"));
        let (size, name) = (word(one, "size"), word(one, "least_name"));
        let _ = writeln!(
            text,
            "- {size}, threads {}: {mean:.2} in the geometric mean of {}, at least {least:.2} ({name})",
            one["threads"], one["cases"],
        );
    }
    text.push('\n');
    text
}

/// Returns the rivals, in the order in which they first appear.
fn names(rivals: &[Value]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for rival in rivals {
        let name = word(rival, "rival");
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn is_of(rival: &Value, name: &str, case: &Value) -> bool {
    rival["rival"] == *name && ["name", "threads"].iter().all(|key| rival[*key] == case[*key])
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or(f64::NAN)
}

/// Writes `bench/record/MACHINE-DATE.json` and `.md`, or `MACHINE-DATE-rivals` for other libraries.
fn write(root: &Path, result: &Value) -> Outcome {
    let folder = root.join("bench/record");
    let machine = &result["machine"];
    let cpu = slug(machine["cpu"].as_str().unwrap_or_default());
    let date = result["date"].as_str().unwrap_or_default();
    let ending = if result["rivals"].is_null() { "" } else { "-rivals" };
    let name = format!("{cpu}-{}-cores-{date}{ending}", machine["cores"]);
    let text = serde_json::to_string_pretty(result).map_err(|error| error.to_string())?;
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (ending, text) in [("json", text + "\n"), ("md", markdown(result))] {
        let path = folder.join(format!("{name}.{ending}"));
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        eprintln!("    {}", path.display());
    }
    Ok(())
}

/// Converts a text to lower-case letters and digits; runs of other characters become one hyphen.
fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// Returns the date in UTC, as `2026-11-21`.
pub(crate) fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date(since.as_secs() / 86_400)
}

/// Returns the date of a day counted from 1970-01-01: years begin in March, so leap days are at their end.
fn date(day: u64) -> String {
    let day = day + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + next)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rival_that_is_ahead_is_named() {
        let case = |ratio: f64| {
            json!({"name": "a/l2", "threads": 2, "bytes": 2_000_000, "gb_per_s": 10.0,
                "memcpy_gb_per_s": 20.0, "copy_gb_per_s": 25.0, "ratio": ratio, "cpu_per_wall": 1.9})
        };
        let rival = |name: &str, ratio: f64, right: bool| json!({"rival": name, "name": "a/l2", "threads": 2, "ratio": ratio, "right": right});
        let rivals =
            [rival("slow", 0.1, true), rival("even", 0.51, true), rival("wrong", 2.0, false)];
        let text = |ratio: f64| {
            markdown(
                &json!({"machine": {"cpu": "A", "cores": 2}, "cases": [case(ratio)], "rivals": rivals}),
            )
        };
        assert!(text(0.5).contains(
            "| case | threads | MB | GB/s | memcpy | copy | ratio | cpu | slow | even | wrong |\n"
        ));
        assert!(text(0.5).contains(
            "| a/l2 | 2 | 2.0 | 10.0 | 20.0 | 25.0 | 0.50 | 1.90 | 0.10 | 0.51 | 2.00 wrong |\n"
        ));
        assert!(
            text(0.5).ends_with("Of 2 comparisons with rivals, behind in 0.\n"),
            "{}",
            text(0.5)
        );
        assert!(text(0.4).contains("behind in 1: a/l2 with 2 (even)"));
    }

    #[test]
    fn days_have_dates() {
        for (day, text) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (20_778, "2026-11-21"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(day), text);
        }
    }

    #[test]
    fn names_of_machines_are_words() {
        assert_eq!(slug("AMD EPYC (TM) 9555 @ 3.2"), "amd-epyc-tm-9555-3-2");
    }
}
