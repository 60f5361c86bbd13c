//! `cargo xtask bench`: runs the program's own benchmark, built for speed, optionally together with other libraries or
//! an earlier build, and records the results if requested.
//!
//! Results are a table: relayout, memcpy, and the rivals' ratios to the memcpy of their own run. The record has them by
//! machine and date, as JSON and as a readable table.

use std::{
    collections::BTreeMap,
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};

use crate::shell::{self, Build, Outcome, command, output, run as sh, target};

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
    fn builds<'a>(&'a self, root: &'a Path, old: &'a Path, new: &'a Path) -> Builds<'a> {
        let options = self.sizes().into_iter().chain(self.threads()).collect();
        let names = self.names.iter().map(String::as_str).collect();
        Builds { root, old, new, times: self.times.max(1), options, names }
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
        (true, Some(count), _) => return random(root, &program, args, count),
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
    let mut result = read(&output(bench.arg("--json"))?)?;
    if args.rivals {
        result["rivals"] = Value::from(rows(root, &folder, &program, &args.choice()));
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

// `cargo xtask bench --against OLD`: compares two builds of the program, case by case, in alternation.
//
// Each turn starts one program and then the other, so that the two measure a case within seconds; which one is first
// alternates from turn to turn. A turn's ratio is new time over old time, each the median of its process; a case's
// ratio is the median over the turns. The times themselves are compared, not their ratios to memcpy, which would add
// memcpy's noise: both programs are measured on the same machine at the same time. Cases that seem slower are measured
// again, twice as often, and only the second result counts, because some of many cases seem slower by chance. The
// output also has the ratio of the least times, which is more reliable if other work disturbs the machine.
//
// One process for both would be better still, because they would share buffers, and with them the pages that the
// system happened to assign; but an earlier build is a program, not a library. The effect of pages is noise here, and
// it averages out over the turns, which all start new processes.

/// Cases that are slower by more than this are reported.
const SLOWER: f64 = 1.03;

/// The builds to compare.
struct Builds<'a> {
    root: &'a Path,
    old: &'a Path,
    new: &'a Path,
    /// The number of times that both are started for a case.
    times: usize,
    /// `--quick`, `--size` and `--threads`, as they were given.
    options: Vec<&'a str>,
    names: Vec<&'a str>,
}

/// A case with its size, and the threads.
type Key = (String, u64);

/// Seconds of the old build and the new in each turn.
type Turns = BTreeMap<Key, Vec<(f64, f64)>>;

impl Builds<'_> {
    /// Measures, prints, and reports the slower cases.
    fn compare(&self, is_json: bool) -> Outcome<ExitCode> {
        let mut all = Turns::new();
        for case in self.cases()? {
            let mut turns = self.turns(&case, self.times)?;
            if turns.values().any(|pairs| ratio(pairs) > SLOWER) {
                eprintln!("    {case} again");
                turns = self.turns(&case, 2 * self.times)?;
            }
            if !is_json {
                turns.iter().for_each(|(key, pairs)| print!("{}", line(key, pairs)));
            }
            all.extend(turns);
        }
        match is_json {
            true => println!("{}", told(&all)),
            false => print!("{}", short(&all)),
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Returns the names of the cases that both builds have.
    fn cases(&self) -> Outcome<Vec<String>> {
        let listed = |program: &Path| -> Outcome<Vec<String>> {
            let mut list = command(self.root, &[&*program.to_string_lossy(), "bench", "--list"]);
            let quick = self.options.contains(&"--quick").then_some("--quick");
            list.arg("--json").args(quick).args(&self.names);
            Ok(definitions(&read(&output(&mut list)?)?))
        };
        let (old, new) = (listed(self.old)?, listed(self.new)?);
        Ok(new.into_iter().filter(|name| old.contains(name)).collect())
    }

    /// Measures both builds on one case, `times` times.
    fn turns(&self, case: &str, times: usize) -> Outcome<Turns> {
        let mut all = Turns::new();
        for turn in 0..times {
            let (old, new) = match turn % 2 == 0 {
                true => {
                    let old = self.once(self.old, case)?;
                    (old, self.once(self.new, case)?)
                }
                false => {
                    let new = self.once(self.new, case)?;
                    (self.once(self.old, case)?, new)
                }
            };
            for (key, seconds) in new {
                if let Some(old) = old.get(&key) {
                    all.entry(key).or_default().push((*old, seconds));
                }
            }
        }
        Ok(all)
    }

    /// Starts one program once.
    fn once(&self, program: &Path, case: &str) -> Outcome<BTreeMap<Key, f64>> {
        let mut bench = command(self.root, &[&*program.to_string_lossy(), "bench", case, "--json"]);
        let answer = read(&output(bench.args(&self.options))?)?;
        Ok(seconds(&answer, case))
    }
}

/// Returns the names in a list, without their sizes, each once.
fn definitions(listed: &Value) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for case in listed["cases"].as_array().into_iter().flatten() {
        let name = case["name"].as_str().and_then(|name| name.split('/').next());
        if let Some(name) = name.filter(|name| !names.iter().any(|known| known == name)) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Returns the seconds of one case by size and threads; the program also measured cases whose names contain this one.
fn seconds(answer: &Value, case: &str) -> BTreeMap<Key, f64> {
    let rows = answer["cases"].as_array().into_iter().flatten();
    let of = |row: &Value| {
        let name = row["name"].as_str().filter(|name| name.split('/').next() == Some(case))?;
        Some(((name.to_owned(), row["threads"].as_u64()?), row["seconds"].as_f64()?))
    };
    rows.filter_map(of).collect()
}

/// Returns new time over old: the median of the turns.
fn ratio(pairs: &[(f64, f64)]) -> f64 {
    let mut ratios: Vec<f64> = pairs.iter().map(|(old, new)| new / old).collect();
    ratios.sort_by(f64::total_cmp);
    let middle = ratios.len() / 2;
    match ratios.len() % 2 {
        0 if middle > 0 => (ratios[middle - 1] * ratios[middle]).sqrt(),
        _ => ratios.get(middle).copied().unwrap_or(f64::NAN),
    }
}

fn line((name, threads): &Key, pairs: &[(f64, f64)]) -> String {
    let ratio = ratio(pairs);
    let slower = if ratio > SLOWER { "  SLOWER" } else { "" };
    format!(
        "{name:40} {threads:>3}  {ratio:.3} of {} turns  {:.3} of the least{slower}\n",
        pairs.len(),
        of_least(pairs)
    )
}

/// Returns the least new time over the least old one.
fn of_least(pairs: &[(f64, f64)]) -> f64 {
    let least = |time: fn(&(f64, f64)) -> f64| pairs.iter().map(time).fold(f64::NAN, f64::min);
    least(|pair| pair.1) / least(|pair| pair.0)
}

/// Returns the mean by size and threads, and the slower cases.
fn short(all: &Turns) -> String {
    let mut text = String::new();
    for ((size, threads), mean, count) in means(all) {
        let _ = writeln!(
            text,
            "{size}, threads {threads}: new time over old {mean:.3} in the geometric mean of {count}"
        );
    }
    let slower: Vec<String> = slower(all).iter().map(|(key, pairs)| line(key, pairs)).collect();
    let isa = env::var("TILEWRIGHT_ISA").map_or(String::new(), |isa| format!(", {isa}"));
    let percent = (SLOWER - 1.0) * 100.0;
    let _ = writeln!(
        text,
        "slower by more than {percent:.0} %{isa}: {} of {}",
        slower.len(),
        all.len()
    );
    text + &slower.concat()
}

fn slower(all: &Turns) -> Vec<(&Key, &Vec<(f64, f64)>)> {
    all.iter().filter(|(_, pairs)| ratio(pairs) > SLOWER).collect()
}

/// Returns the geometric mean of the ratios and their number, by size and threads.
fn means(all: &Turns) -> Vec<(Key, f64, usize)> {
    let mut groups: BTreeMap<Key, Vec<f64>> = BTreeMap::new();
    for ((name, threads), pairs) in all {
        let size = name.split('/').nth(1).unwrap_or_default().split('-').next().unwrap_or_default();
        groups.entry((size.to_owned(), *threads)).or_default().push(ratio(pairs).ln());
    }
    let mean = |ratios: &[f64]| (ratios.iter().sum::<f64>() / ratios.len() as f64).exp();
    groups.into_iter().map(|(key, ratios)| (key, mean(&ratios), ratios.len())).collect()
}

fn told(all: &Turns) -> Value {
    let cases = all.iter().map(|((name, threads), pairs)| {
        let (old, new): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        json!({
            "name": name,
            "threads": threads,
            "ratio": ratio(pairs),
            "of_least": of_least(pairs),
            "old": old,
            "new": new,
        })
    });
    let means = means(all).into_iter().map(|((size, threads), mean, cases)| {
        json!({ "size": size, "threads": threads, "geometric_mean": mean, "cases": cases })
    });
    let slower = slower(all);
    let slower =
        slower.iter().map(|((name, threads), _)| json!({ "name": name, "threads": threads }));
    json!({
        "cases": cases.collect::<Vec<_>>(),
        "summary": means.collect::<Vec<_>>(),
        "slower": slower.collect::<Vec<_>>(),
    })
}

// Other libraries on the same cases. A library that cannot be installed or built is skipped, with the reason.

/// The Python libraries to install; each is skipped independently.
const PACKAGES: [&str; 2] = ["jax", "torch"];

/// Returns the rows of all libraries that run.
fn rows(root: &Path, folder: &Path, program: &Path, choice: &[&str]) -> Vec<Value> {
    let mut rows = Vec::new();
    let environment = environment(root, folder);
    let cmake = environment.as_ref().ok().and_then(|python| cmake(root, python));
    let crates = crates(root, folder, choice, cmake.as_deref());
    let libraries = environment.and_then(|python| {
        let cases = folder.join("cases.json");
        let listed = output(
            command(root, &[&*program.to_string_lossy(), "bench", "--list", "--json"]).args(choice),
        )?;
        fs::write(&cases, listed).map_err(|error| format!("{}: {error}", cases.display()))?;
        libraries(root, folder, &python, &cases, choice.contains(&"--quick"))
    });
    for (name, found) in [("the crates", crates), ("the Python libraries", libraries)] {
        match found {
            Ok(found) => rows.extend(found),
            Err(why) => eprintln!("    {name}: skipped, {why}"),
        }
    }
    rows
}

/// Measures NumPy and torch on random cases, each case alternating with the program.
fn random(root: &Path, program: &Path, args: &Args, count: &str) -> Outcome<ExitCode> {
    let folder = target(root)?.join("bench");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let python = environment(root, &folder)?;
    let python_name = python.to_string_lossy();
    if !shell::has(root, &python, "torch") {
        eprintln!("    torch: skipped, it does not install here");
    }
    for threads in args.threads.as_ref().map_or_else(threads, |threads| vec![threads.clone()]) {
        let mut script = command(root, &[&*python_name, "bench/rivals.py", "--threads", &threads]);
        script.arg("--program").arg(program);
        script.args(["--random", count, "--seed", &args.seed]);
        script.args(["--max-bytes", &args.max_bytes]).args(args.quick.then_some("--quick"));
        sh(script.env("PYTHONDONTWRITEBYTECODE", "1"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the program of `bench/rivals`, with hptt if that can be built.
fn crates(
    root: &Path,
    folder: &Path,
    choice: &[&str],
    cmake: Option<&Path>,
) -> Outcome<Vec<Value>> {
    eprintln!("==> strided-perm, ndarray, hptt");
    let (place, out) = (root.join("bench/rivals"), folder.join("crates.json"));
    let build = |more: &[&str]| {
        let mut cargo = command(&place, &["cargo", "build", "--release", "--quiet"]);
        cargo.args(more).env("CARGO_TARGET_DIR", folder.join("rivals"));
        // Rivals use all instructions of this machine, as relayout does.
        cargo.env("RUSTFLAGS", "-C target-cpu=native");
        cargo.envs(cmake.map(|cmake| ("CMAKE", cmake)));
        sh(&mut cargo)
    };
    if let Err(why) = build(&[]) {
        eprintln!("    hptt: skipped, {why}; it needs cmake and a C++ compiler");
        build(&["--no-default-features"])?;
    }
    let program = folder.join("rivals/release/tilewright-rivals");
    sh(command(root, &[&*program.to_string_lossy(), &*out.to_string_lossy()]).args(choice))?;
    cases(&out)
}

/// Returns an environment with NumPy.
fn environment(root: &Path, folder: &Path) -> Outcome<PathBuf> {
    let pins = folder.join("requirements.txt");
    fs::write(&pins, "numpy\n").map_err(|error| format!("{}: {error}", pins.display()))?;
    shell::venv(root, &folder.join("venv"), &pins)
}

/// Returns cmake from the package index, if it is not on the path.
fn cmake(root: &Path, python: &Path) -> Option<PathBuf> {
    if shell::works(&mut command(root, &["cmake", "--version"])) {
        return None;
    }
    sh(shell::pip(root, python).arg("cmake")).ok()?;
    Some(python.with_file_name("cmake"))
}

/// Runs `bench/rivals.py` with one thread, then with all.
fn libraries(
    root: &Path,
    folder: &Path,
    python: &Path,
    list: &Path,
    quick: bool,
) -> Outcome<Vec<Value>> {
    for package in PACKAGES {
        if !shell::has(root, python, package) {
            eprintln!("    {package}: skipped, it does not install here");
        }
    }
    eprintln!("==> NumPy, torch, jax");
    let mut rows = Vec::new();
    for threads in threads() {
        let out = folder.join("python.json");
        let words = [&*python.to_string_lossy(), "bench/rivals.py", &*list.to_string_lossy()];
        let mut script = command(root, &words);
        script.arg(&out).args(["--threads", &threads]).args(quick.then_some("--quick"));
        sh(script.env("PYTHONDONTWRITEBYTECODE", "1"))?;
        rows.extend(cases(&out)?);
    }
    Ok(rows)
}

/// Returns the numbers of threads to measure: one and all.
fn threads() -> Vec<String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores > 1 { vec!["1".to_owned(), cores.to_string()] } else { vec!["1".to_owned()] }
}

fn cases(path: &Path) -> Outcome<Vec<Value>> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut found = read(&text)?;
    Ok(found["cases"].as_array_mut().map(std::mem::take).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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

    #[test]
    fn the_slower_case_is_named() {
        let key = |name: &str| (name.to_owned(), 1);
        let all = Turns::from([
            (key("a/l2"), vec![(1.0, 1.1), (1.0, 1.05), (2.0, 1.0)]),
            (key("b/l2"), vec![(1.0, 0.5), (1.0, 0.5)]),
            (key("c/memory"), vec![(1.0, 1.02)]),
        ]);
        assert!((ratio(&all[&key("a/l2")]) - 1.05).abs() < 1e-9);
        let text = short(&all);
        assert!(
            text.contains("slower by more than 3 %") && text.contains(": 1 of 3\na/l2"),
            "{text}"
        );
        assert!(text.starts_with("l2, threads 1: new time over old 0.725 in"), "{text}");
        assert!(
            text.contains("memory, threads 1: new time over old 1.020 in the geometric mean of 1")
        );
        assert_eq!(told(&all)["slower"], json!([{ "name": "a/l2", "threads": 1 }]));
        assert!(ratio(&[]).is_nan() && of_least(&[]).is_nan());
        assert_eq!(of_least(&all[&key("a/l2")]), 1.0);
    }

    #[test]
    fn only_the_case_itself_counts() {
        let row = |name: &str| json!({ "name": name, "threads": 2, "seconds": 0.5 });
        let answer = json!({ "cases": [row("zN/l2"), row("zN-ragged/l2"), row("zN/memory")] });
        let found = seconds(&answer, "zN");
        assert_eq!(found.len(), 2);
        assert_eq!(found[&("zN/l2".to_owned(), 2)], 0.5);
        assert_eq!(definitions(&answer), ["zN", "zN-ragged"]);
    }
}
