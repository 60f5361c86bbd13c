//! Other libraries on the same cases. A library that cannot be installed or built is skipped, with the reason.

use std::{fs, path::Path, process::ExitCode};

use serde_json::Value;

use super::{Args, read};
use crate::shell::{self, Outcome, command, output, run as sh};

/// The Python libraries to install; each is skipped independently.
const PACKAGES: [&str; 2] = ["jax", "torch"];

/// Returns the rows of all libraries that run.
pub(super) fn rows(root: &Path, folder: &Path, program: &Path, choice: &[&str]) -> Vec<Value> {
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
pub(super) fn random(root: &Path, program: &Path, args: &Args, count: &str) -> Outcome<ExitCode> {
    let folder = shell::target(root)?.join("bench");
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
fn environment(root: &Path, folder: &Path) -> Outcome<std::path::PathBuf> {
    let pins = folder.join("requirements.txt");
    fs::write(&pins, "numpy\n").map_err(|error| format!("{}: {error}", pins.display()))?;
    shell::venv(root, &folder.join("venv"), &pins)
}

/// Returns cmake from the package index, if it is not on the path.
fn cmake(root: &Path, python: &Path) -> Option<std::path::PathBuf> {
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
