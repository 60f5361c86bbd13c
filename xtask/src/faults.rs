//! Kills the program, or makes a system call fail, at the k-th call of every kind that a conversion of a checkpoint
//! makes, with strace. The result must be the complete new one or the complete old one, and the next run must leave no
//! other files.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::shell::Outcome;

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
