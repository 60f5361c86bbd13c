//! Interrupted conversions and hostile input.
//!
//! The program is killed, or a system call fails, at the k-th call of every kind that a conversion of a checkpoint
//! makes, with strace. The result must be the complete new one or the complete old one, and the next run must leave no
//! other files.
//!
//! The fuzz targets of `fuzz/` run guided by coverage: libFuzzer in a program that a nightly compiler has built.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::shell::{Outcome, command, run as sh, target};

/// The calls that make, write, rename and query files, and start threads.
const CALLS: &[&str] = &[
    "openat",
    "write",
    "copy_file_range",
    "fsync",
    "rename",
    "renameat2",
    "unlink",
    "getdents64",
    "statx",
    "pread64",
    "flock",
    "fchmod",
    "fchown",
    "clone3",
];

/// The faults at a call.
const FAULTS: [&str; 2] = ["signal=KILL", "error=EIO"];

/// The most calls of one kind that such a small conversion makes.
const MOST: u32 = 400;

const INDEX: &str = "m.safetensors.index.json";

/// Runs all faults with this program, in this folder; returns their number.
pub(crate) fn run(program: &Path, folder: &Path) -> Outcome<usize> {
    let mut count = 0;
    for (fault, force) in FAULTS.into_iter().flat_map(|fault| [(fault, false), (fault, true)]) {
        for call in CALLS {
            let mut here = 0;
            while here < MOST && one(program, folder, (call, fault, here + 1), force)? {
                here += 1;
            }
            count += here as usize;
        }
        let with = if force { "over an old checkpoint" } else { "where nothing is" };
        println!("    {fault} {with}: whole each time, {count} faults so far");
    }
    Ok(count)
}

/// Runs once with a fault; returns false if the run completed without one.
fn one(
    program: &Path,
    folder: &Path,
    (call, fault, nth): (&str, &str, u32),
    force: bool,
) -> Outcome<bool> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let _ = fs::remove_dir_all(folder);
    let [input, old, out] = ["in", "old", "out"].map(|name| folder.join(name));
    checkpoint(&input, 1).map_err(failed)?;
    checkpoint(&old, 100).map_err(failed)?;
    fs::create_dir(&out).map_err(failed)?;
    if force {
        checkpoint(&out, 100).map_err(failed)?;
    }
    let log = folder.join("trace");
    let inject = format!("inject={call}:{fault}:when={nth}");
    let trace = format!("trace={call}");
    let log_path = log.to_string_lossy().into_owned();
    let mut strace = Command::new("strace");
    strace.args(["-f", "-o", &log_path, "-e", &trace, "-e", &inject]).arg(program);
    quiet(convert(&mut strace, &input, &out, force)).status().map_err(failed)?;
    let text = fs::read_to_string(&log).map_err(failed)?;
    if !text.contains("INJECTED") && !text.contains("killed by SIGKILL") {
        return Ok(false);
    }
    let what = format!("{call} number {nth}, {fault}, force {force}");
    check(program, &input, &old, &out, force).map_err(|why| format!("{what}: {why}"))?;
    Ok(true)
}

/// Checks that the result is complete, new or old, and complete and without other files after another run.
fn check(program: &Path, input: &Path, old: &Path, out: &Path, force: bool) -> Outcome {
    let same = |to: &Path| {
        let mut verify = Command::new(program);
        verify.arg("verify").arg(out.join(INDEX)).arg("--against").arg(to.join(INDEX));
        quiet(&mut verify).status().is_ok_and(|status| status.success())
    };
    let absent = !force && !out.join(INDEX).exists();
    if !(same(input) || absent || force && same(old)) {
        return Err("neither the new result nor the old one".into());
    }
    // If the new result exists, a second run without --force is refused, but still cleans up.
    let _ = quiet(convert(&mut Command::new(program), input, out, force)).status();
    let beside = fs::read_dir(out).map_or(0, Iterator::count);
    match (same(input), beside) {
        (true, 3) => Ok(()),
        (same, beside) => Err(format!("after another run: same is {same}, {beside} files")),
    }
}

fn convert<'c>(command: &'c mut Command, input: &Path, out: &Path, force: bool) -> &'c mut Command {
    command.arg("convert").arg(input.join(INDEX)).arg(out.join(INDEX)).args(["--to", "col-major"]);
    command.args(force.then_some("--force"))
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdout(Stdio::null()).stderr(Stdio::null())
}

/// Makes two shards of one tensor each, and their index; every byte depends on `seed`.
fn checkpoint(folder: &Path, seed: u8) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let shard = |name: &str| -> std::io::Result<PathBuf> {
        let header =
            format!(r#"{{"{name}":{{"dtype":"U8","shape":[2,6],"data_offsets":[0,12]}}}}"#);
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.bytes());
        bytes.extend((0..12).map(|i| seed + i));
        let path = folder.join(format!("{name}.safetensors"));
        fs::write(&path, bytes).map(|()| path)
    };
    shard("a")?;
    shard("b")?;
    fs::write(folder.join(INDEX), r#"{"weight_map":{"a":"a.safetensors","b":"b.safetensors"}}"#)
}

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
pub(crate) fn fuzz(root: &Path, only: &str, seconds: u64) -> Outcome {
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
