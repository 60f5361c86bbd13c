//! Runs the program on hostile texts and files of at most a kilobyte, and measures the worst time and memory of each
//! command.
//!
//! A text may request a layout that pads to any size, and a conversion writes the result. So conversions to such a text
//! are planned and not run; those of files and of patterns are run.
//!
//! The peak memory is what the system reports at the end of a program. A Python script waits for the programs, because
//! Rust's standard library does not report the resources of a child.

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use crate::shell::Outcome;

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
pub(crate) fn run(root: &Path, program: &Path, folder: &Path) -> Outcome {
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
type Run<'a> = dyn FnMut(&[u8]) -> Outcome<(f64, u64)> + 'a;

fn worst_of(inputs: &[Vec<u8>], run: &mut Run<'_>) -> Outcome<Worst> {
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
