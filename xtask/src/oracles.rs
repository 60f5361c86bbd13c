//! `cargo xtask oracles`: expensive checks against real libraries and the interpreter of undefined behaviour. A check
//! whose tools cannot be installed is skipped, with the reason; a check that runs must pass.

pub(crate) mod bounds;
pub(crate) mod faults;
mod learn;
pub(crate) mod memory;
mod packings;
mod proofs;
mod read_back;
pub(crate) mod release;
mod table;

use std::path::{Path, PathBuf};

use crate::{
    shell::{self, Build, Outcome, command, has, output, run as sh, target, works},
    steps::Tool,
    wheel,
};
use memory::Sanitizer;

/// The result of one oracle.
enum Verdict {
    Passed,
    Skipped(String),
    Failed(String),
}

/// A check of the workspace at this root; only the fuzz targets use the second argument.
type Run = fn(&Path, &Searched) -> Verdict;

/// The fuzz targets to run: those whose names contain `target`, each for `seconds` seconds.
pub(crate) struct Searched {
    pub(crate) target: String,
    pub(crate) seconds: u64,
}

/// Lists every oracle with what it checks.
pub(crate) fn list() {
    for (name, checks, _) in table::TABLE {
        println!("{name:30} {checks}");
    }
}

/// Runs every oracle whose name contains `only`, and continues after failures.
pub(crate) fn run(root: &Path, only: &str, searched: &Searched) -> Outcome {
    let mut failed = Vec::new();
    for (name, _, oracle) in table::TABLE.iter().filter(|(name, ..)| name.contains(only)) {
        println!("\n==> {name}");
        match oracle(root, searched) {
            Verdict::Passed => println!("    {name}: ok"),
            Verdict::Skipped(why) => println!("    {name}: skipped, {why}"),
            Verdict::Failed(why) => {
                println!("    {name}: FAILED, {why}");
                failed.push(*name);
            }
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("these oracles disagree: {}", failed.join(", "))),
    }
}

fn verdict(outcome: Outcome) -> Verdict {
    outcome.map_or_else(Verdict::Failed, |()| Verdict::Passed)
}

/// Runs all tests, with every case; those of the page where their tools are.
fn laws(root: &Path) -> Verdict {
    let mut test = command(root, &["cargo", "test", "--workspace"]);
    let mut page = command(root, &["cargo", "xtask", "web", "--test"]);
    let tested = sh(test.env("TILEWRIGHT_LAWS", "all"));
    match Tool::missing(&[Tool::Node, Tool::Wasm, Tool::Browser], root) {
        Some(why) => match tested {
            Ok(()) => Verdict::Skipped(format!("the page's laws were not asked: {why}")),
            failed => verdict(failed),
        },
        None => verdict(tested.and_then(|()| sh(page.env("TILEWRIGHT_LAWS", "all")))),
    }
}

/// Runs the Python check; torch also reads the results if it can be installed.
fn torch(root: &Path) -> Verdict {
    match environment(root) {
        Err(why) => Verdict::Skipped(why),
        Ok((mut check, has_torch)) => {
            if has_torch {
                check.arg("--torch");
            } else {
                println!("    torch does not install here; numpy's reader alone");
            }
            verdict(sh(&mut check))
        }
    }
}

/// Returns the check with the program built and the libraries installed, and whether torch is one of them.
fn environment(root: &Path) -> Outcome<(std::process::Command, bool)> {
    let program = shell::build(root, Build::Release)?;
    let (python, has_torch) = libraries(root)?;
    Ok((shell::check(root, &python, &program), has_torch))
}

/// Returns a Python with the libraries installed, and whether torch is one of them.
fn libraries(root: &Path) -> Outcome<(PathBuf, bool)> {
    let python = pinned(root)?;
    let has_torch = has(root, &python, "torch");
    Ok((python, has_torch))
}

/// Returns a Python with the libraries that can be installed everywhere.
fn pinned(root: &Path) -> Outcome<PathBuf> {
    let pins = root.join("tests/python/requirements.txt");
    shell::venv(root, &target(root)?.join("oracles/venv"), &pins)
}

/// Compares the positions of elements in arrays of numpy, torch and jax; the latter two if they can be installed.
fn arrays(root: &Path) -> Verdict {
    let (python, has_torch) = match libraries(root) {
        Ok(libraries) => libraries,
        Err(why) => return Verdict::Skipped(why),
    };
    let python = python.to_string_lossy().into_owned();
    let has_jax = has(root, Path::new(&python), "jax");
    let mut words = vec![&*python, "tests/oracle/arrays.py", "numpy"];
    for (name, has) in [("torch", has_torch), ("jax", has_jax)] {
        match has {
            true => words.push(name),
            false => println!("    {name} does not install here; its arrays are not asked about"),
        }
    }
    verdict(output(&mut command(root, &words)).and_then(|questions| asked(root, &questions)))
}

/// Tests the Python package with tensors of torch, arrays of jax and files of others; packages that cannot be installed
/// are skipped.
fn package(root: &Path) -> Verdict {
    let (python, has_torch) = match libraries(root) {
        Ok(libraries) => libraries,
        Err(why) => return Verdict::Skipped(why),
    };
    match (has_torch, has(root, &python, "jax")) {
        (false, false) => Verdict::Skipped("neither torch nor jax installs here".into()),
        _ => {
            has(root, &python, "gguf");
            let files = ["torch", "accelerate", "jax", "readers", "sharded"];
            let files = files.map(|name| format!("tests/test_{name}.py"));
            verdict(wheel::test_with(root, &python, &files.each_ref().map(String::as_str)))
        }
    }
}

/// Returns whether jax is installed, or can be.
/// Compares the positions of an array's elements with oneDNN, for every tag it has.
fn onednn(root: &Path) -> Verdict {
    let compiler = ["c++", "g++", "clang++"]
        .into_iter()
        .find(|name| works(&mut command(root, &[*name, "--version"])));
    let (Some(compiler), Ok(folder)) = (compiler, target(root)) else {
        return Verdict::Skipped("there is no C++ compiler on the path".into());
    };
    let program = folder.join("oracles/onednn").to_string_lossy().into_owned();
    let source = "tests/oracle/onednn.cpp";
    let made = std::fs::create_dir_all(folder.join("oracles"));
    let words = [compiler, "-O1", "-o", &program, source, "-ldnnl"];
    if made.is_err() || !works(&mut command(root, &words)) {
        let how = "Debian: apt-get install libdnnl-dev";
        return Verdict::Skipped(format!(
            "{source} does not build, most likely for want of oneDNN's headers ({how})"
        ));
    }
    let questions = output(&mut command(root, &[&program]));
    verdict(questions.and_then(|questions| asked(root, &questions)))
}

/// Evaluates the questions with `tilewright eval -`, and compares the answers; each follows its question after a tab.
fn asked(root: &Path, questions: &str) -> Outcome {
    let program = shell::build(root, Build::Debug)?;
    let pairs: Vec<(&str, &str)> =
        questions.lines().filter_map(|line| line.split_once('\t')).collect();
    let expressions: String = pairs.iter().map(|(question, _)| format!("{question}\n")).collect();
    let file = target(root)?.join("oracles/questions.txt");
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    std::fs::write(&file, expressions).map_err(failed)?;
    let input = std::fs::File::open(&file).map_err(failed)?;
    let mut eval = std::process::Command::new(&program);
    // An answer may be an error, which sets the exit code: only the lines are compared.
    let said = eval.args(["eval", "-"]).stdin(input).output();
    let said = said.map_err(|error| format!("{}: {error}", program.display()))?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let answers: Vec<&str> = said.lines().collect();
    if pairs.is_empty() || answers.len() != pairs.len() {
        return Err(format!("{} answers to {} questions", answers.len(), pairs.len()));
    }
    let wrong = pairs.iter().zip(&answers).find(|((_, expected), answer)| expected != *answer);
    match wrong {
        None => {
            println!("    {} questions", pairs.len());
            Ok(())
        }
        Some(((question, expected), answer)) => {
            Err(format!("{question} is {expected}, the program says {answer}"))
        }
    }
}

/// Runs the kernels' property suite with ARM's vector instructions, under an emulator.
fn neon(root: &Path) -> Verdict {
    const TRIPLE: &str = "aarch64-unknown-linux-gnu";
    const LINKER: &str = "aarch64-linux-gnu-gcc";
    const EMULATOR: &str = "qemu-aarch64";
    let library =
        output(&mut command(root, &["rustc", "--print", "target-libdir", "--target", TRIPLE]));
    if !library.is_ok_and(|library| Path::new(library.trim()).exists()) {
        return Verdict::Skipped(format!("`rustup target add {TRIPLE}` brings its library"));
    }
    for program in [LINKER, EMULATOR] {
        if !works(&mut command(root, &[program, "--version"])) {
            let packages = "gcc-aarch64-linux-gnu and qemu-user";
            return Verdict::Skipped(format!("{program} is not installed; Debian has {packages}"));
        }
    }
    let folder = match target(root) {
        Ok(target) => target.join("oracles/neon"),
        Err(why) => return Verdict::Failed(why),
    };
    let words = ["cargo", "test", "--package", "tilewright-relayout", "--lib", "--target", TRIPLE];
    let mut tests = command(root, &words);
    tests
        .env("CARGO_TARGET_DIR", folder)
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER)
        .env(
            "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
            format!("{EMULATOR} -L /usr/aarch64-linux-gnu"),
        );
    verdict(sh(&mut tests))
}

/// Kills the program and makes its system calls fail, one by one.
fn faults(root: &Path) -> Verdict {
    if !works(&mut command(root, &["strace", "-o", "/dev/null", "true"])) {
        return Verdict::Skipped("strace is not installed, or may not trace here".into());
    }
    let done = shell::build(root, Build::Debug)
        .and_then(|program| faults::run(&program, &target(root)?.join("oracles/faults")));
    match done {
        Ok(count) => {
            println!("    {count} faults, nothing lost");
            Verdict::Passed
        }
        Err(why) => Verdict::Failed(why),
    }
}

/// Runs a check, or skips it if something is missing here.
fn unless(lacks: Option<String>, check: impl FnOnce() -> Outcome) -> Verdict {
    lacks.map_or_else(|| verdict(check()), Verdict::Skipped)
}

/// Interprets the folders that contain all `unsafe` code.
fn miri(root: &Path) -> Verdict {
    unless(memory::miri_lacks(root), || memory::miri(root))
}

/// Runs the tests of the crates that move data with a sanitizer of a nightly compiler.
fn sanitizer(root: &Path, sanitizer: Sanitizer) -> Verdict {
    unless(memory::sanitizers_lack(root), || sanitizer.tests(root))
}

/// Runs the tests of the Python package with the address sanitizer, those with torch and jax if they can be installed.
fn sanitized_package(root: &Path) -> Verdict {
    if let Some(why) = memory::sanitizers_lack(root) {
        return Verdict::Skipped(why);
    }
    let libraries = || {
        let (preloaded, (python, _)) = (memory::preloaded(root)?, libraries(root)?);
        has(root, &python, "jax");
        wheel::requirements(root, &python).map(|()| (python, preloaded))
    };
    libraries().map_or_else(Verdict::Skipped, |(python, preloaded)| {
        verdict(memory::python(root, &python, &preloaded))
    })
}

/// Runs a million random jobs against a naive loop.
fn relayout(root: &Path) -> Verdict {
    let words =
        ["cargo", "test", "--package", "tilewright-files", "--test", "all", "differential::"];
    let words: Vec<&str> = words.into_iter().chain(["--", "--nocapture"]).collect();
    let mut jobs = command(root, &words);
    // A seed or a number of jobs in the environment takes precedence.
    if std::env::var_os("TILEWRIGHT_JOBS").is_none() {
        jobs.env("TILEWRIGHT_JOBS", "1000000");
    }
    verdict(sh(&mut jobs))
}

/// Checks a million mutations and a million relayouts.
fn fingerprint(root: &Path) -> Verdict {
    let words =
        ["cargo", "test", "--package", "tilewright-fingerprint", "--test", "all", "mutations::"];
    let words: Vec<&str> = words.into_iter().chain(["--", "--nocapture"]).collect();
    let mut jobs = command(root, &words);
    if std::env::var_os("TILEWRIGHT_JOBS").is_none() {
        jobs.env("TILEWRIGHT_JOBS", "1000000");
    }
    verdict(sh(&mut jobs))
}

/// Reshards pairs of placements, and compares them with a gather.
fn placements(root: &Path) -> Verdict {
    let words = ["cargo", "test", "--package", "tilewright-reshard", "--test", "all", "pairs::"];
    let words: Vec<&str> = words.into_iter().chain(["--", "--nocapture"]).collect();
    let mut pairs = command(root, &words);
    if std::env::var_os("TILEWRIGHT_PAIRS").is_none() {
        pairs.env("TILEWRIGHT_PAIRS", "10000");
    }
    verdict(sh(&mut pairs))
}

/// Compares bank conflicts and their smallest fixes with brute force.
fn banks(root: &Path) -> Verdict {
    let words = ["cargo", "test", "--package", "tilewright-banks", "--test", "all"];
    verdict(sh(command(root, &words).env("TILEWRIGHT_BANKS", "all")))
}

/// Fuzzes the readers, guided by coverage.
fn fuzz(root: &Path, searched: &Searched) -> Verdict {
    let lacks = "no nightly toolchain for Linux on x86-64 here";
    let lacks = (!faults::is_possible(root)).then(|| lacks.to_owned());
    unless(lacks, || faults::fuzz(root, &searched.target, searched.seconds))
}

/// Runs the program on a kilobyte of hostile text, optimised and with debug checks.
fn bounds(root: &Path) -> Verdict {
    verdict(
        shell::build(root, Build::Checked)
            .and_then(|program| bounds::run(root, &program, &target(root)?.join("oracles/bounds"))),
    )
}

/// Compares the reference readers with ours on files with changed headers.
fn readers(root: &Path) -> Verdict {
    let python = match pinned(root) {
        Ok(python) => python,
        Err(why) => return Verdict::Skipped(why),
    };
    let words = ["cargo", "build", "--package", "tilewright-files", "--example", "tensors"];
    let read = sh(&mut command(root, &words)).and_then(|()| target(root)).and_then(|target| {
        let ours = target.join("debug/examples/tensors").to_string_lossy().into_owned();
        let python = python.to_string_lossy().into_owned();
        sh(&mut command(root, &[&python, "tests/oracle/readers.py", &ours]))
    });
    verdict(read)
}
