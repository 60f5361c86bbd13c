//! Runs the fuzz targets of `fuzz/`, guided by coverage: libFuzzer in a program that a nightly compiler has built.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::shell::{Outcome, command, run as sh, target};

/// The targets, and the folder of the corpus with further inputs for them.
const TARGETS: [(&str, Option<&str>); 8] = [
    ("spec", None),
    ("eval", None),
    ("hlo_text", Some("corpus/data/hlo")),
    ("hlo_proto", Some("corpus/data/hlo")),
    ("safetensors", None),
    ("numpy", Some("corpus/data")),
    ("gguf", Some("corpus/data")),
    ("formats", None),
];

/// Compiler options that count branches and record comparisons.
const COVERAGE: [&str; 7] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=16",
    "--cfg=fuzzing",
];

/// Cargo compiles build scripts without these options only if a target is named.
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// Returns whether a nightly compiler is installed.
pub(crate) fn is_possible(root: &Path) -> bool {
    crate::shell::works(&mut command(root, &["rustup", "run", "nightly", "rustc", "--version"]))
        && cfg!(all(target_arch = "x86_64", target_os = "linux"))
}

/// Runs the targets whose names contain `only`, each for that number of seconds.
pub(crate) fn run(root: &Path, only: &str, seconds: u64) -> Outcome {
    let folder = target(root)?.join("oracles/fuzz");
    let program = build(root, &folder)?;
    let mut found = vec![];
    for (name, corpus) in TARGETS.into_iter().filter(|(name, _)| name.contains(only)) {
        println!("    {name}, {seconds} s");
        if let Err(why) = search(root, &program, &folder, (name, corpus), seconds) {
            found.push(why);
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found.join("; ")) }
}

fn build(root: &Path, folder: &Path) -> Outcome<PathBuf> {
    let words = ["rustup", "run", "nightly", "cargo", "build", "--release", "--target", TRIPLE];
    let mut build = command(&root.join("fuzz"), &words);
    build.env("CARGO_TARGET_DIR", folder).env("RUSTFLAGS", COVERAGE.join(" "));
    sh(&mut build)?;
    Ok(folder.join(TRIPLE).join("release/tilewright-fuzz"))
}

/// Runs one target. Its corpus stays in the build folder, for the next run; a failing input is stored next to it.
fn search(
    root: &Path,
    program: &Path,
    folder: &Path,
    (name, corpus): (&str, Option<&str>),
    seconds: u64,
) -> Outcome {
    let kept = folder.join("corpus").join(name);
    fs::create_dir_all(&kept).map_err(|error| format!("{}: {error}", kept.display()))?;
    let program = program.to_string_lossy();
    let (kept, failing) = (kept.to_string_lossy(), format!("{}/{name}-", folder.display()));
    let time = format!("-max_total_time={seconds}");
    let prefix = format!("-artifact_prefix={failing}");
    let seeds = format!("fuzz/seeds/{name}");
    let mut words = vec![
        &*program,
        "-max_len=8192",
        "-timeout=10",
        "-rss_limit_mb=2048",
        "-print_final_stats=1",
        "-verbosity=0",
        &time,
        &prefix,
        &*kept,
    ];
    words.extend(root.join(&seeds).exists().then_some(seeds.as_str()));
    words.extend(corpus);
    let mut search = command(root, &words);
    // Files are written to memory if possible.
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        search.env("TMPDIR", memory);
    }
    sh(search.env("TILEWRIGHT_FUZZ", name))
        .map_err(|why| format!("{name}: {why}; the input lies beside {failing}"))
}
