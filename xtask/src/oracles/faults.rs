//! Interrupted conversions and hostile input, and the worst time and memory of each.
//!
//! The program is killed, or a system call fails, at the k-th call of every kind that a conversion of a checkpoint
//! makes, with strace. The result must be the complete new one or the complete old one, and the next run must leave no
//! other files.
//!
//! The fuzz targets of `fuzz/` run guided by coverage: libFuzzer in a program that a nightly compiler has built.

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
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

// Runs the program on hostile texts and files of at most a kilobyte, and measures the worst time and memory of each
// command.
//
// A text may request a layout that pads to any size, and a conversion writes the result. So conversions to such a text
// are planned and not run; those of files and of patterns are run.
//
// The peak memory is what the system reports at the end of a program. A Python script waits for the programs, because
// Rust's standard library does not report the resources of a child.

/// The most seconds that a command may take.
const SECONDS: f64 = 2.0;
const MEBIBYTES: u64 = 300;

/// The time after which a program is killed.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest input, in bytes.
const LONGEST: usize = 1000;

/// The number of mutated inputs of each command.
const MUTATED: usize = 60;

/// The commands with a text as input; `@` is replaced by it.
const TEXTS: [&[&str]; 20] = [
    &["explain", "@"],
    &["explain", "@", "--dims", "1000000,1000000,1000", "--dtype", "s4"],
    &["show", "@"],
    &["show", "@", "--dims", "4096,4096", "--dtype", "bf16"],
    &["translate", "@", "--to", "cute"],
    &["translate", "@", "--to", "hlo", "--dims", "1000,1000", "--dtype", "f16"],
    &["translate", "@", "--to", "triton", "--dims", "1024,1024", "--dtype", "f16"],
    &["index", "@", "--offset", "1234567"],
    &["index", "zN", "--dims", "@", "--dtype", "f16", "--offset", "7"],
    &["same", "@", "((2,3,5,7),(11,13,17)):((1,30030,2,30),(210,2310,510510))"],
    &["same", "@", "col-major", "--dims", "1000,1000", "--dtype", "f32"],
    &["recognise", "@"],
    &["eval", "@"],
    &["emit", "@", "--to", "c", "--dims", "M,N", "--dtype", "f16"],
    &["banks", "@", "--access", "row", "--access", "column", "--dtype", "f16", "--fix"],
    &["banks", "f16[1024,1024] row-major", "--access", "@"],
    &["banks", "f16[64,64] row-major", "--access", "row", "--access", "@", "--fix", "--all"],
    &["convert", "IN.safetensors", "OUT.safetensors", "--force", "--dry-run", "--to", "@"],
    &[
        "convert",
        "IN.safetensors",
        "OUT.safetensors",
        "--force",
        "--to",
        "col-major",
        "--tensor",
        "@",
    ],
    &["convert", "IN.safetensors", "OUT.safetensors", "--force", "--dry-run", "--rule", "@"],
];

/// The commands with a file as input, with its extension.
const FILES: [(&[&str], &str); 9] = [
    (&["info", "@"], "safetensors"),
    (&["info", "@"], "npy"),
    (&["info", "@"], "npz"),
    (&["info", "@"], "gguf"),
    (&["info", "@"], "txt"),
    (&["info", "@"], "pb"),
    (
        &["convert", "@", "OUT.safetensors", "--force", "--to", "row-major", "--verify"],
        "safetensors",
    ),
    (&["verify", "@", "--against", "@"], "safetensors"),
    (&["--formats", "@", "explain", "zN", "--dims", "4,4"], "toml"),
];

/// The worst result of an input.
#[derive(Clone, Default)]
struct Worst {
    seconds: f64,
    mebibytes: u64,
    input: Vec<u8>,
}

/// Runs every command on every input, prints the worst results, and returns an error for those beyond the bounds.
pub(crate) fn bounds(root: &Path, program: &Path, folder: &Path) -> Outcome {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    fs::write(folder.join("IN.safetensors"), small()).map_err(failed)?;
    let (mut meter, mut beyond) = (Meter::start()?, vec![]);
    println!("    conversions to a text are planned, not run");
    println!("    seconds    MiB  command, and the input that took longest");
    for words in TEXTS {
        let inputs = texts(root, words[0]);
        let worst = worst_of(&inputs, &mut |input| {
            let text = String::from_utf8_lossy(input).replace('\0', " ");
            let words =
                words.iter().map(|word| if *word == "@" { text.clone() } else { (*word).into() });
            measured(&mut meter, program, words, folder)
        })?;
        told(words, &worst, &mut beyond);
    }
    for (words, ending) in FILES {
        let path = folder.join(format!("hostile.{ending}"));
        let worst = worst_of(&files(root, ending), &mut |input| {
            fs::write(&path, input).map_err(failed)?;
            let named = path.to_string_lossy();
            let words = words.iter().map(|word| if *word == "@" { named.as_ref() } else { word });
            measured(&mut meter, program, words.map(String::from), folder)
        })?;
        told(words, &worst, &mut beyond);
    }
    match beyond.is_empty() {
        true => Ok(()),
        false => Err(format!("beyond {SECONDS} s or {MEBIBYTES} MiB: {}", beyond.join("; "))),
    }
}

/// Runs an input, and returns its seconds and mebibytes.
type Trial<'a> = dyn FnMut(&[u8]) -> Outcome<(f64, u64)> + 'a;

fn worst_of(inputs: &[Vec<u8>], run: &mut Trial<'_>) -> Outcome<Worst> {
    let mut worst = Worst::default();
    for input in inputs {
        let (seconds, mebibytes) = run(input)?;
        if seconds > worst.seconds {
            (worst.seconds, worst.input) = (seconds, input.clone());
        }
        worst.mebibytes = worst.mebibytes.max(mebibytes);
    }
    Ok(worst)
}

fn told(words: &[&str], worst: &Worst, beyond: &mut Vec<String>) {
    let mut shown: String = String::from_utf8_lossy(&worst.input).escape_debug().collect();
    if let Some((at, _)) = shown.char_indices().nth(70) {
        shown.truncate(at);
        let _ = write!(shown, "… {} bytes", worst.input.len());
    }
    let command = words.join(" ");
    println!("    {:7.2} {:6}  {command}: {shown}", worst.seconds, worst.mebibytes);
    if worst.seconds > SECONDS || worst.mebibytes > MEBIBYTES {
        beyond.push(format!("{command} with {shown}"));
    }
}

/// Returns the seconds and the peak memory of a program, in MiB; it may succeed or fail, but must not be killed by a
/// signal.
fn measured(
    meter: &mut Meter,
    program: &Path,
    words: impl Iterator<Item = String>,
    folder: &Path,
) -> Outcome<(f64, u64)> {
    let words: Vec<String> =
        std::iter::once(program.to_string_lossy().into_owned()).chain(words).collect();
    let run = meter.run(&words, folder, PATIENCE)?;
    let is_over = run.seconds >= PATIENCE.as_secs_f64();
    if !(0..=3).contains(&run.code) && !is_over {
        return Err(format!("{words:?} ended with {}", run.code));
    }
    Ok((run.seconds, run.mebibytes))
}

/// Returns a file of one small tensor.
fn small() -> Vec<u8> {
    let header = r#"{"w":{"dtype":"F32","shape":[4,6],"data_offsets":[0,96]}}"#;
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[7; 96]].concat()
}

/// Returns nested, long and large texts, which may be hard for readers and traversals.
fn handwritten() -> Vec<String> {
    let times = |part: &str| part.repeat(LONGEST / part.len());
    let both = |open: &str, middle: &str, close: &str| {
        let depth = (LONGEST - middle.len()) / (open.len() + close.len());
        format!("{}{middle}{}", open.repeat(depth), close.repeat(depth))
    };
    let list = |item: &str, count: usize| vec![item; count].join(",");
    let mut all: Vec<String> =
        ["(", "{", "[", "<", "\"", "a", " ", "-", "9", "é", "*", "{a,", "[!a]", "Sw<", "1:"]
            .iter()
            .map(|part| times(part))
            .collect();
    all.extend([
        both("(", "1", ")"),
        both("{a,", "", "}"),
        both("(", "2:1", ")"),
        both("coalesce(", "4:1", ")"),
        both("complement(", "4:2", ", 1000000)"),
        both("logical_divide(", "(64,64):(64,1)", ", <2,2>)"),
        both("blocked_product(", "2:1", ", 2:1)"),
        both("make_layout(", "4", ",LayoutRight)"),
        format!("{}4{}", "make_layout(".repeat(40), ",LayoutRight)".repeat(40)),
        both("right_inverse(", "(4,8):(8,1)", ")"),
        "offsets(9223372036854775807:1)".into(),
        "offsets((1000000,1000000):(1,1))".into(),
        "left_inverse((1000003,999983):(999983,1000003))".into(),
        "((1000003,999983,1000033),(7,11)):((999983,1000003,3),(5,9))".into(),
        "same((1000003,999983):(999983,1000003), (999983,1000003):(1000003,999983))".into(),
        format!("({}):({})", list("2", 62), list("1", 62)),
        format!("({}):({})", list("2", 200), list("3", 200)),
        format!("(3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3):({})", list("7", 16)),
        format!("f32[{}]", list("2", 300)),
        format!("f32[100,100]{{1,0:T(2,3){}}}", "(2,1)".repeat(190)),
        format!("f32[{}]{{{}:T({})}}", list("7", 8), "7,6,5,4,3,2,1,0", list("3", 8)),
        "f32[2147483647,2147483647]{1,0:T(8,128)(2,1)}".into(),
        "f32[1000000,1000000,3]{2,1,0:T(7,11)(3,2)}".into(),
        "f32[1000,1000,1000]{2,1,0:T(2,*,4)}".into(),
        format!("({}) -> a", "a ".repeat(400)),
        "(a a0:9223372036854775807 a1:9223372036854775807) -> a a0 a1".into(),
        format!("zN[{}]", list("M0=4", 190)),
        format!("rearrange('{}', a=2)", "(a b) ".repeat(150)),
        format!("numpy:shape=({}),strides=({}),dtype=f32", list("2", 150), list("4", 150)),
        "torch.empty_strided((1000003, 999983, 7), (999983, 1000003, 13))".into(),
        "affine_map<(d0, d1) -> (d0 floordiv 7 * 3 + d1 mod 5, d0 mod 7, d1 floordiv 5)>".into(),
        format!("affine_map<(d0) -> ({})>", list("d0 mod 7", 90)),
        list("1000000", 120),
        list("9223372036854775807", 40),
        format!("*{}", "*a*?".repeat(200)),
        format!("{{{}}}*", list("a*", 250)),
        format!("Sw<30,2,30> o ({}):({})", list("4", 30), list("5", 30)),
        "f32[1024,1024] row-major".into(),
        "f64[1024,1024] (1024,1024):(1,1024)".into(),
        "((32,32),(32,32)):((1,32768),(1024,32))".into(),
        "(1024,1024):(1,1024) over (1024,1024)".into(),
        "(4,2):(1,4) over (2,4) threads 18446744073709551615".into(),
        format!("ldmatrix{}", ".sync".repeat(190)),
    ]);
    all
}

/// Returns texts for a command: those written by hand, the seeds of the fuzz target, and mutations of both.
fn texts(root: &Path, command: &str) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = handwritten().into_iter().map(String::into_bytes).collect();
    let seeds = if command == "eval" { "eval" } else { "spec" };
    let seeds = contents(&root.join("fuzz/seeds").join(seeds), None);
    mutated(&mut all, &seeds)
}

/// Returns files with an extension: seeds, those of the corpus cut to a kilobyte, and mutations.
fn files(root: &Path, ending: &str) -> Vec<Vec<u8>> {
    let data = root.join("corpus/data");
    let seeds = match ending {
        "safetensors" => contents(&root.join("fuzz/seeds/safetensors"), None),
        "npy" => contents(&root.join("fuzz/seeds/numpy"), None),
        "gguf" => contents(&root.join("fuzz/seeds/gguf"), None),
        "toml" => contents(&root.join("fuzz/seeds/formats"), None),
        "txt" | "pb" => contents(&data.join("hlo"), Some(ending)),
        _ => contents(&data, Some(ending)),
    };
    let mut all = claims(ending);
    mutated(&mut all, &seeds)
}

/// Returns small files that claim to be large.
fn claims(ending: &str) -> Vec<Vec<u8>> {
    let tensor = |layout: &str, shape: &str, end: u64| {
        let header = format!(
            r#"{{"__metadata__":{{"tilewright.layout.t":"{layout}"}},"t":{{"dtype":"U8","shape":[{shape}],"data_offsets":[0,{end}]}}}}"#
        );
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0; end as usize]]
            .concat()
    };
    match ending {
        "safetensors" => vec![
            tensor("(1000000,1000000):(0,0)", "1", 1),
            tensor("(1000000,1000000):(1,1)", "1", 1),
            tensor("u8[1000000,1000000]{1,0}", "1", 1),
            tensor("u8[4,4]{1,0:T(2,2)}", "2,2,2,2", 16),
            [u64::MAX.to_le_bytes().to_vec(), b"{}".to_vec()].concat(),
            [&900u64.to_le_bytes()[..], &b"[".repeat(900)].concat(),
        ],
        "npy" => vec![
            b"\x93NUMPY\x02\0\xff\xff\xff\xff{".to_vec(),
            [&b"\x93NUMPY\x01\0\x84\x03"[..], &b"(".repeat(900)].concat(),
        ],
        "gguf" => vec![
            [&b"GGUF\x03\0\0\0"[..], &[0xFF; 16]].concat(),
            [&b"GGUF\x03\0\0\0\xff\xff\xff\0\0\0\0\0\xff\xff\xff\0\0\0\0\0"[..], &[0; 900]].concat(),
        ],
        "txt" => vec![
            [&b"HloModule m\nENTRY e {\n x = "[..], &b"(".repeat(900)].concat(),
            b"HloModule m\nENTRY e {\n ROOT x = f32[2147483647,2147483647,2147483647] parameter(0)\n}\n".to_vec(),
        ],
        "pb" => vec![vec![0x0A; 1000], vec![0x1B; 1000]],
        "toml" => vec![b"[".repeat(1000), b"a.".repeat(500), [&b"x = "[..], &b"{a=".repeat(300)].concat()],
        _ => vec![],
    }
}

fn contents(folder: &Path, ending: Option<&str>) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).map(|entries| entries.flatten().collect());
    let entries = entries.unwrap_or_else(|_| vec![]);
    let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    paths.retain(|path| ending.is_none_or(|it| path.extension().is_some_and(|own| own == it)));
    paths.sort();
    paths.iter().filter_map(|path| fs::read(path).ok()).collect()
}

/// Adds seeds and mutated inputs of at most a kilobyte: parts doubled, numbers increased, bytes changed.
fn mutated(all: &mut Vec<Vec<u8>>, seeds: &[Vec<u8>]) -> Vec<Vec<u8>> {
    all.extend(seeds.iter().cloned());
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut below = |end: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as usize % end.max(1)
    };
    let first = all.clone();
    for _ in 0..MUTATED {
        let mut bytes = first[below(first.len())].clone();
        for _ in 0..1 + below(5) {
            let at = below(bytes.len() + 1);
            let to = bytes.len().min(at + 1 + below(100));
            match below(4) {
                0 if at < bytes.len() => bytes[at] = below(256) as u8,
                1 => {
                    bytes =
                        [&bytes[..at], &bytes[at..to].repeat(1 + below(8)), &bytes[to..]].concat()
                }
                2 => drop(bytes.splice(at..at, *b"99999999")),
                _ => bytes.extend_from_slice(&first[below(first.len())]),
            }
        }
        all.push(bytes);
    }
    all.iter_mut().for_each(|bytes| bytes.truncate(LONGEST));
    std::mem::take(all)
}

const SCRIPT: &str = include_str!("measure.py");

/// The script, which waits for commands.
pub(crate) struct Meter {
    script: Child,
    asked: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// The cost of a run, and its exit code, negative if a signal ended it.
pub(crate) struct Measured {
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
    ) -> Outcome<Measured> {
        let failed = |error: std::io::Error| format!("{}: {error}", words.join(" "));
        let ask = serde_json::json!([words, folder.to_string_lossy(), patience.as_secs_f64()]);
        writeln!(self.asked, "{ask}").map_err(failed)?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(failed)?;
        let (seconds, kibibytes, code): (f64, u64, i64) = serde_json::from_str(&line)
            .map_err(|error| format!("{} gave {line:?}: {error}", words.join(" ")))?;
        Ok(Measured { seconds, mebibytes: kibibytes >> 10, code })
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}
