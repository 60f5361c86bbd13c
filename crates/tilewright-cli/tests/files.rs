//! The program on files: the main job, and everything that can be wrong with input and output.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;

const LLM: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
const CNN: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tilewright"))
}

fn run(args: &[&str]) -> Output {
    program().args(args).output().unwrap()
}

/// Stdout of a run that must succeed.
fn answer(args: &[&str]) -> String {
    let output = run(args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// Stderr of a run that must fail with this exit code, saying all of `parts`.
fn refusal(args: &[&str], code: i32, parts: &[&str]) -> String {
    let output = run(args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    for part in parts {
        assert!(stderr.contains(part), "{args:?}: no {part:?} in {stderr}");
    }
    stderr
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> String {
        fs::write(self.path(name), bytes).unwrap();
        self.text(name)
    }

    /// The names in the folder, sorted.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// A safetensors file with this header and this much data.
fn safetensors(header: &str, data: usize) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend((0..data).map(|i| i as u8));
    bytes
}

/// The header and the data of a safetensors file.
fn parts(path: &Path) -> (serde_json::Value, Vec<u8>) {
    let bytes = fs::read(path).unwrap();
    let (len, rest) = bytes.split_first_chunk::<8>().unwrap();
    let (header, data) = rest.split_at(u64::from_le_bytes(*len) as usize);
    (serde_json::from_slice(header).unwrap(), data.to_vec())
}

fn tensor<'a>(header: &serde_json::Value, data: &'a [u8], name: &str) -> &'a [u8] {
    let at = |i: usize| header[name]["data_offsets"][i].as_u64().unwrap() as usize;
    &data[at(0)..at(1)]
}

#[test]
fn the_main_job_there_and_back() {
    let folder = Folder::new();
    let (there, back) = (folder.text("there.safetensors"), folder.text("back.safetensors"));
    answer(&["convert", LLM, &there, "--to", "zN", "--tensor", "*proj.weight", "--verify"]);
    answer(&["convert", &there, &back, "--to", "row-major", "--verify"]);
    assert_eq!(fs::read(LLM).unwrap(), fs::read(&back).unwrap());
    assert!(answer(&["verify", &there, "--against", LLM]).starts_with("same"));

    let (old, old_data) = parts(Path::new(LLM));
    let (new, new_data) = parts(Path::new(&there));
    let mut converted = 0;
    for name in old.as_object().unwrap().keys().filter(|name| *name != "__metadata__") {
        let (from, to) = (tensor(&old, &old_data, name), tensor(&new, &new_data, name));
        if !name.ends_with("proj.weight") {
            assert_eq!((from, &old[name]["shape"]), (to, &new[name]["shape"]), "{name}");
            continue;
        }
        let dim = |i: usize| old[name]["shape"][i].as_u64().unwrap() as usize;
        let (rows, columns) = (dim(0), dim(1));
        let (m1, n1) = (rows.div_ceil(16), columns.div_ceil(16));
        assert_eq!(new[name]["shape"], serde_json::json!([n1, m1, 16, 16]));
        let layout = format!("bf16[{rows},{columns}] zN");
        assert_eq!(new["__metadata__"][format!("tilewright.layout.{name}")], layout);
        // The formula of the format, element by element: blocks of 16×16, column by column.
        let mut expected = vec![0u8; n1 * m1 * 256 * 2];
        for m in 0..rows {
            for n in 0..columns {
                let at = (n / 16) * m1 * 256 + (m / 16) * 256 + (m % 16) * 16 + n % 16;
                expected[2 * at..2 * at + 2].copy_from_slice(&from[2 * (m * columns + n)..][..2]);
            }
        }
        assert_eq!(to, expected, "{name}");
        converted += 1;
    }
    assert_eq!(converted, 14);
}

#[test]
fn rules_fills_and_plans() {
    let folder = Folder::new();
    let out = folder.text("out.safetensors");
    let args =
        ["convert", CNN, &out, "--rule", "*.weight={0,1,2,3}", "--to", "row-major", "--skip-unfit"];
    let plan = answer(&[&args[..], &["--dry-run"]].concat());
    assert!(
        plan.contains("0.weight: ")
            && plan.contains("3.weight: skipped")
            && plan.contains("0.bias"),
        "{plan}"
    );
    assert!(folder.names().is_empty());
    answer(&args);
    let padded = folder.text("padded.safetensors");
    let args = ["convert", CNN, &padded, "--to", "{0:T(100)}", "--tensor", "*.bias"];
    answer(&[&args[..], &["--fill", "lowest", "--verify"]].concat());
    let (header, data) = parts(Path::new(&padded));
    let bias = tensor(&header, &data, "3.bias");
    assert_eq!((bias.len(), &bias[40..44]), (400, &f32::NEG_INFINITY.to_le_bytes()[..]));
    let json: serde_json::Value =
        serde_json::from_str(&answer(&["info", &padded, "--json"])).unwrap();
    assert_eq!(json["tensors"].as_array().unwrap().len(), 8);
    refusal(
        &["convert", CNN, &out, "--to", "zN", "--force"],
        2,
        &["bias", "rank 1", "--skip-unfit"],
    );
    refusal(
        &["convert", CNN, &out, "--to", "row-major", "--tensor", "nothing*", "--force"],
        2,
        &["nothing*"],
    );
    refusal(
        &["convert", CNN, &out, "--to", "row-major", "--rule", "oops", "--force"],
        2,
        &["GLOB=SPEC"],
    );
    refusal(
        &["convert", CNN, &out, "--to", "row-major", "--memory", "lots", "--force"],
        2,
        &["512M"],
    );
    refusal(
        &["convert", CNN, &out, "--to", "row-major", "--fill", "seven", "--force"],
        2,
        &["--fill"],
    );
}

#[test]
fn corrupt_files_are_named_and_nothing_is_written() {
    let one = r#"{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#;
    let cases: &[(&str, Vec<u8>)] = &[
        ("empty", vec![]),
        ("short", vec![1, 2, 3]),
        ("long-header", u64::MAX.to_le_bytes().to_vec()),
        ("header-beyond", safetensors(one, 16)[..20].to_vec()),
        ("truncated", safetensors(one, 15)),
        ("trailing", safetensors(one, 17)),
        ("no-json", safetensors("{\"a\":", 0)),
        (
            "overlap",
            safetensors(
                r#"{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"b":{"dtype":"F32","shape":[2,2],"data_offsets":[8,24]}}"#,
                24,
            ),
        ),
        (
            "out-of-range",
            safetensors(r#"{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[16,32]}}"#, 16),
        ),
        (
            "wrong-size",
            safetensors(r#"{"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,16]}}"#, 16),
        ),
        (
            "duplicate",
            safetensors(
                r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}"#,
                16,
            ),
        ),
        (
            "overflow",
            safetensors(
                r#"{"a":{"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,16]}}"#,
                16,
            ),
        ),
    ];
    for (name, bytes) in cases {
        let folder = Folder::new();
        let input = folder.write(&format!("{name}.safetensors"), bytes);
        let out = folder.text("out.safetensors");
        refusal(&["convert", &input, &out, "--to", "row-major"], 3, &[name]);
        refusal(&["info", &input], 3, &[name]);
        assert_eq!(folder.names(), [format!("{name}.safetensors")]);
    }
}

#[test]
fn paths_that_cannot_work() {
    let folder = Folder::new();
    let input = folder.write("in.safetensors", &fs::read(CNN).unwrap());
    let out = folder.text("out.safetensors");
    refusal(
        &["convert", &folder.text("missing.safetensors"), &out, "--to", "row-major"],
        3,
        &["missing"],
    );
    fs::create_dir(folder.path("folder.safetensors")).unwrap();
    refusal(
        &["convert", &folder.text("folder.safetensors"), &out, "--to", "row-major"],
        3,
        &["directory"],
    );
    refusal(
        &["convert", &input, &folder.text("no/such/out.safetensors"), "--to", "row-major"],
        3,
        &["no/such"],
    );
    // The same file, also by another name.
    refusal(&["convert", &input, &input, "--to", "row-major", "--force"], 2, &["is the input"]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&input, folder.path("link.safetensors")).unwrap();
        refusal(
            &["convert", &input, &folder.text("link.safetensors"), "--to", "row-major", "--force"],
            2,
            &["is the input"],
        );
        refusal(
            &["convert", &folder.text("link.safetensors"), &input, "--to", "row-major", "--force"],
            2,
            &["is the input"],
        );
    }
    // An existing OUT needs --force, and stays as it is without.
    let existing = folder.write("existing.safetensors", b"precious");
    refusal(&["convert", &input, &existing, "--to", "row-major"], 2, &["--force"]);
    assert_eq!(fs::read(&existing).unwrap(), b"precious");
    answer(&["convert", &input, &existing, "--to", "row-major", "--force"]);
    assert_eq!(fs::read(&input).unwrap(), fs::read(CNN).unwrap());
    let error =
        refusal(&["convert", &input, &existing, "--to", "(8,", "--force", "--json"], 2, &[]);
    assert!(serde_json::from_str::<serde_json::Value>(&error).is_ok(), "{error}");
}

/// A safetensors file of one f32 matrix of n×n.
fn matrix(folder: &Folder, name: &str, n: usize) -> String {
    let header = format!(
        r#"{{"big":{{"dtype":"F32","shape":[{n},{n}],"data_offsets":[0,{}]}}}}"#,
        4 * n * n
    );
    let padding = (8 - header.len() % 8) % 8;
    folder.write(name, &safetensors(&(header + &" ".repeat(padding)), 4 * n * n))
}

#[test]
#[cfg(unix)]
fn a_full_disk_leaves_nothing_behind() {
    let folder = Folder::new();
    let input = matrix(&folder, "in.safetensors", 512);
    // A limit on the size of files stands in for a full disk: writing fails in the middle.
    let script = r#"trap "" XFSZ; ulimit -f 400; exec "$0" convert "$1" "$2" --to col-major"#;
    let output = Command::new("sh")
        .args([
            "-c",
            script,
            env!("CARGO_BIN_EXE_tilewright"),
            &input,
            &folder.text("out.safetensors"),
        ])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("out.safetensors"), "{stderr}");
    assert_eq!(folder.names(), ["in.safetensors"]);
    let full = Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let output = program().args(["info", CNN]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_killed_run_leaves_no_result_and_the_next_one_cleans_up() {
    let folder = Folder::new();
    let input = matrix(&folder, "in.safetensors", 4096);
    let out = folder.text("out.safetensors");
    let args = ["convert", &input, &out, "--to", "col-major", "--memory", "64K", "--threads", "1"];
    let mut child =
        program().args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Kill it as soon as its temporary file is there.
    while folder.names().len() == 1 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let names = folder.names();
    assert!(!names.contains(&"out.safetensors".to_owned()), "{names:?}");
    assert_eq!(names.len(), 2, "{names:?}");
    answer(&["convert", CNN, &out, "--to", "row-major"]);
    assert_eq!(folder.names(), ["in.safetensors", "out.safetensors"]);
}

#[test]
#[cfg(unix)]
fn a_signalled_run_cleans_up_itself() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        // What was ignored when the tests began (`nohup`, a shell's background) stays ignored.
        if is_ignored(code - 128) {
            continue;
        }
        let folder = Folder::new();
        let (status, stderr) = signalled(&folder, &[], signal);
        assert_eq!(status.code(), Some(code), "{signal}: {stderr}");
        assert!(stderr.contains(&format!("signal {}", code - 128)), "{stderr}");
        assert_eq!(folder.names(), ["in.safetensors"]);
        let (status, stderr) = signalled(&folder, &["--json"], signal);
        let error: serde_json::Value = serde_json::from_str(&stderr).unwrap();
        assert_eq!((status.code(), &error["error"]["kind"]), (Some(code), &"cancelled".into()));
        assert_eq!(folder.names(), ["in.safetensors"]);
    }
}

/// Whether this process, and so its children, ignore a signal, as far as the system tells.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// A long run that gets this signal when its temporary file is there.
#[cfg(unix)]
fn signalled(folder: &Folder, more: &[&str], signal: &str) -> (std::process::ExitStatus, String) {
    let input = matrix(folder, "in.safetensors", 4096);
    let out = folder.text("out.safetensors");
    let args = ["convert", &input, &out, "--to", "col-major", "--memory", "64K", "--threads", "1"];
    let mut command = program();
    command.args(args).args(more).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    while folder.names().len() == 1 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    (output.status, String::from_utf8(output.stderr).unwrap())
}

/// Whoever starts the program with a signal ignored gets a program that ignores it.
#[test]
#[cfg(target_os = "linux")]
fn an_ignored_signal_stays_ignored() {
    let folder = Folder::new();
    let input = matrix(&folder, "in.safetensors", 1024);
    let script = r#"trap "" HUP INT; "$0" convert "$1" "$2" --to col-major --memory 64K & pid=$!
while [ ! -e "$2" ] && kill -HUP $pid 2>/dev/null && kill -INT $pid; do :; done; wait $pid"#;
    let out = folder.text("out.safetensors");
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_tilewright"), &input, &out])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(folder.names(), ["in.safetensors", "out.safetensors"]);
}

#[test]
fn a_tensor_larger_than_the_memory_bound() {
    let folder = Folder::new();
    let input = matrix(&folder, "in.safetensors", 1024);
    let (there, back) = (folder.text("there.safetensors"), folder.text("back.safetensors"));
    answer(&["convert", &input, &there, "--to", "{0,1:T(8,128)}", "--memory", "256K", "--verify"]);
    answer(&["convert", &there, &back, "--to", "row-major", "--memory", "256K", "--verify"]);
    assert_eq!(parts(Path::new(&input)).1, parts(Path::new(&back)).1);
}

#[test]
fn a_changed_byte_is_found() {
    let folder = Folder::new();
    let there = folder.text("there.safetensors");
    answer(&["convert", CNN, &there, "--to", "{3,2,1,0:T(8,128)}", "--tensor", "0.weight"]);
    let good = fs::read(&there).unwrap();
    let start = 8 + u64::from_le_bytes(good[..8].try_into().unwrap()) as usize;
    for at in [start, start + 500, good.len() - 1] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&there, &bad).unwrap();
        let output = run(&["verify", &there, "--against", CNN]);
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "byte {at}: {stdout}");
        assert!(stdout.starts_with("differ: "), "byte {at}: {stdout}");
    }
}

#[test]
fn arrays_and_raw_bytes() {
    let folder = Folder::new();
    let raw = folder.write("in.raw", &(0..24u8).collect::<Vec<_>>());
    let (npy, tiled, back) =
        (folder.text("a.npy"), folder.text("tiled.npy"), folder.text("back.raw"));
    let input = format!("raw:{raw}");
    answer(&[
        "convert",
        &input,
        &npy,
        "--to",
        "row-major",
        "--dims",
        "4,6",
        "--dtype",
        "u8",
        "--verify",
    ]);
    assert!(answer(&["info", &npy]).contains("[4, 6]"));
    let pattern = "(m1 m0:2) (n1 n0:3) -> n1 m1 m0 n0";
    answer(&["convert", &npy, &tiled, "--to", pattern, "--verify"]);
    assert!(answer(&["verify", &tiled, "--against", &npy, "--to", pattern]).starts_with("same"));
    let from = format!("u8[4,6] {pattern}");
    answer(&["convert", &tiled, &format!("raw:{back}"), "--from", &from, "--to", "row-major"]);
    assert_eq!(fs::read(back).unwrap(), (0..24u8).collect::<Vec<_>>());
    refusal(
        &[
            "convert",
            &input,
            &npy,
            "--to",
            "row-major",
            "--dims",
            "4,7",
            "--dtype",
            "u8",
            "--force",
        ],
        2,
        &["24", "28"],
    );
    refusal(&["convert", &input, &npy, "--to", "row-major", "--force"], 2, &["dims"]);
}

/// A checkpoint of one tensor of each kind that `info` and `convert` say something else of.
fn kinds(folder: &Folder) -> String {
    let header = r#"{"__metadata__":{"format":"pt"},"w":{"dtype":"I16","shape":[5,6],"data_offsets":[0,60]},"bias":{"dtype":"F32","shape":[1],"data_offsets":[60,64]},"six":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[64,67]}}"#;
    folder.write("kinds.safetensors", &safetensors(header, 67))
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn keys(value: &serde_json::Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The shapes of `docs/json.md`, field by field.
#[test]
fn json_shapes_are_those_of_the_document() {
    let folder = Folder::new();
    let (input, out) = (kinds(&folder), folder.text("out.safetensors"));
    let info = json(&answer(&["info", &input, "--json"]));
    assert_eq!(keys(&info), ["version", "file", "format", "tensors", "metadata"]);
    assert_eq!((&info["version"], &info["format"]), (&1.into(), &"safetensors".into()));
    assert_eq!(info["metadata"]["format"], "pt");
    let tensor = &info["tensors"][0];
    let fields = [
        "name",
        "dtype",
        "file_dtype",
        "dims",
        "layout",
        "refusal",
        "shape",
        "bytes",
        "padding_bytes",
    ];
    assert_eq!(keys(tensor), fields);
    assert_eq!(tensor["layout"], "s16[5,6] row-major");
    let six = &info["tensors"][2];
    assert_eq!((&six["dtype"], &six["file_dtype"]), (&"opaque".into(), &"F6_E2M3".into()));
    assert!(six["layout"].is_null() && six["refusal"].as_str().unwrap().contains("6-bit"));

    let args = ["convert", &input, &out, "--to", "{1,0:T(4,4)}", "--skip-unfit", "--json"];
    for (more, dry, verified) in [
        (&["--dry-run"][..], true, false),
        (&[], false, false),
        (&["--verify", "--force"], false, true),
    ] {
        let done = json(&answer(&[&args[..], more].concat()));
        assert_eq!(
            keys(&done),
            ["version", "tensors", "bytes_in", "bytes_out", "verified", "dry_run"]
        );
        assert_eq!((&done["dry_run"], &done["verified"]), (&dry.into(), &verified.into()));
        assert_eq!((&done["bytes_in"], &done["bytes_out"]), (&67.into(), &(128 + 7).into()));
        let fields = [
            "name",
            "action",
            "from",
            "to",
            "bytes_in",
            "bytes_out",
            "padding_bytes",
            "kernel",
            "reason",
        ];
        assert_eq!(keys(&done["tensors"][0]), fields);
        let actions: Vec<_> =
            (0..3).map(|i| done["tensors"][i]["action"].as_str().unwrap()).collect();
        assert_eq!(actions, ["convert", "skip", "skip"]);
        assert!(done["tensors"][0]["reason"].is_null());
        assert!(done["tensors"][1]["reason"].as_str().unwrap().contains("rank 1"));
        assert!(done["tensors"][2]["reason"].as_str().unwrap().contains("6-bit"));
    }
    let same = json(&answer(&["verify", &out, "--against", &input, "--json"]));
    assert_eq!(same, serde_json::json!({ "version": 1, "same": true, "bytes": 135 }));
    let output =
        run(&["verify", &out, "--against", &input, "--to", "row-major", "--skip-unfit", "--json"]);
    let differ = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(keys(&differ), ["version", "same", "difference"]);
    assert!(differ["difference"].as_str().unwrap().contains("it lies as s16[5,6]{1,0:T(4,4)}"));
    for (args, kind) in [
        (&["info", "no-such-file.npy", "--json"][..], "io"),
        (&["info", &input, "--dims", "2", "--json"], "usage"),
        (&["convert", &input, &out, "--to", "row-major", "--json", "--skip-unfit"], "exists"),
        (&["convert", &input, &input, "--to", "row-major", "--json", "--skip-unfit"], "same-file"),
        (&["convert", &input, &out, "--to", "row-major", "--force", "--json"], "unsupported"),
        (&["convert", &input, &out, "--to", "rwo-major", "--json"], "parse"),
        (&["convert", &input, "--json"], "usage"),
    ] {
        let output = run(args);
        let error = json(&String::from_utf8(output.stderr).unwrap());
        assert!(output.stdout.is_empty() && error["error"]["kind"] == kind, "{args:?}: {error}");
        let message = error["error"]["message"].as_str().unwrap();
        assert!(!message.contains('\n') && !message.starts_with("error"), "{message}");
        assert!(!message.contains("Usage:") && !message.contains(":;"), "{message}");
    }
}

#[test]
fn skipped_and_unchanged_tensors_are_listed() {
    let folder = Folder::new();
    let (input, out) = (kinds(&folder), folder.text("out.safetensors"));
    let done =
        answer(&["convert", &input, &out, "--to", "{1,0:T(4,4)}", "--skip-unfit", "--verify"]);
    let lines: Vec<_> = done.lines().collect();
    assert!(
        lines[0].starts_with("bias: skipped, tensor \"bias\" of dims [1] has rank 1"),
        "{done}"
    );
    assert!(lines[1].starts_with("six: skipped, tensor \"six\": its type is F6_E2M3"), "{done}");
    assert!(
        lines[2].starts_with("1 of 3 tensors converted, ") && lines[2].ends_with(" verified"),
        "{done}"
    );
    let args = ["convert", &input, &out, "--to", "row-major", "--skip-unfit", "--force"];
    let done = answer(&args);
    assert!(done.contains("0 of 3 tensors converted: nothing to convert, 2 already so"), "{done}");
    let plan = answer(&[&args[..], &["--dry-run"]].concat());
    assert!(plan.contains("w: already so, 60 bytes\n"), "{plan}");
    refusal(
        &["convert", &input, &out, "--to", "row-major", "--force"],
        3,
        &["six", "kinds.safetensors"],
    );
    let info = answer(&["info", &input]);
    assert!(info.contains("six   F6_E2M3  [4]      3  no layout: its type is F6_E2M3"), "{info}");
    assert!(info.contains("3 tensors, "), "{info}");
}

/// What a file says cannot move the cursor, nor pass for a line of ours.
#[test]
fn names_are_shown_and_not_obeyed() {
    let folder = Folder::new();
    let long = "n".repeat(5000);
    let entry = |name: &str, from: usize| {
        format!(r#""{name}":{{"dtype":"I16","shape":[2,2],"data_offsets":[{from},{}]}}"#, from + 8)
    };
    let evil = "a\\n0 tensors\\u001b[2J\\u202e";
    let header = format!("{{{},{},{}}}", entry(evil, 0), entry(&long, 8), entry("w", 16));
    let input = folder.write("in.safetensors", &safetensors(&header, 24));
    let out = folder.text("out.safetensors");
    let info = answer(&["info", &input]);
    assert_eq!(info.lines().count(), 4);
    assert!(info.contains("a\\n0 tensors\\u{1b}[2J\\u{202e}  s16"), "{info}");
    let widest = info.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest < 300 && info.contains("nnn…"), "{info}");
    let w = info.lines().find(|line| line.starts_with('w')).unwrap();
    assert!(w.len() < 100, "{w}");
    let plan = answer(&["convert", &input, &out, "--to", "col-major", "--dry-run"]);
    assert!(plan.lines().count() == 4 && !plan.contains('\u{1b}'), "{plan}");
    let error = refusal(
        &["convert", &input, &out, "--to", "zN[C0=3]", "--tensor", "a\u{1b}[2J*"],
        2,
        &["\\u{1b}"],
    );
    assert!(!error.contains('\u{1b}'), "{error}");
    let error = refusal(&["convert", &input, &out, "--to", "NHWC"], 2, &["a\\n0 tensors\\u{1b}"]);
    assert_eq!(error.lines().count(), 1);
    let missing = folder.text("none\u{1b}[2J.npy");
    assert!(!refusal(&["info", &missing], 3, &["none\\u{1b}"]).contains('\u{1b}'));
}

#[test]
fn numbers_that_are_none_get_our_message() {
    let folder = Folder::new();
    let out = folder.text("out.safetensors");
    for (option, value, part) in [
        ("--memory", "-1", "--memory -1: expected a size such as"),
        ("--memory", "-5M", "expected a size"),
        ("--memory", "12", "at least 4096"),
        ("--threads", "-1", "--threads -1: expected a number from 1 to"),
        ("--threads", "many", "expected a number"),
        ("--threads", "99999999", "expected a number"),
        ("--dims", "-1,2", "`-1` is no integer"),
        ("--dtype", "-f32", "no element type is called `-f32`"),
        ("--fill", "-1", "--fill -1"),
    ] {
        for args in [[option, value].as_slice(), &[&format!("{option}={value}")]] {
            refusal(&[&["convert", LLM, &out, "--to", "zN"], args].concat(), 2, &[part]);
        }
    }
    refusal(&["convert", LLM, &out], 2, &["--to SPEC or --rule GLOB=SPEC"]);
    refusal(&["convert", LLM, &out, "--rule", "*norm*=zM"], 2, &["--rule *norm*: ", "`zN`", "^^"]);
    refusal(
        &["convert", LLM, &out, "--to", "zN", "--dims", "3,3"],
        2,
        &["--dims is given", "--from"],
    );
    refusal(&["info", LLM, "--dtype", "f32"], 2, &["--dtype is given", "--from"]);
    refusal(&["verify", LLM, "--against", LLM, "--dims", "3"], 2, &["--dims is given", "--from"]);
    refusal(&["convert", LLM, &format!("{out}/"), "--to", "zN"], 2, &["ends with a slash"]);
    refusal(&["convert", LLM, "", "--to", "zN"], 2, &["output is empty"]);
    refusal(&["info", ""], 2, &["input is empty"]);
    assert!(folder.names().is_empty());
}

/// `verify` with the options of the conversion.
#[test]
fn the_options_of_convert_verify_it() {
    let folder = Folder::new();
    let out = folder.text("out.safetensors");
    for options in [
        &["--from", "col-major", "--to", "row-major", "--tensor", "*proj.weight"][..],
        &[
            "--from",
            "zN",
            "--to",
            "row-major",
            "--dims",
            "512,200",
            "--tensor",
            "scale.e4m3",
            "--dtype",
            "u8",
        ],
        &["--to", "zN", "--skip-unfit", "--fill", "one"],
        &["--rule", "*proj*={0,1:T(8,128)(2,1)}", "--rule", "*embed*=zN", "--tensor", "model.*"],
    ] {
        let convert = [&["convert", LLM, &out, "--force"], options].concat();
        let output = run(&convert);
        if options.contains(&"512,200") {
            assert_eq!(output.status.code(), Some(2));
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{options:?}");
        assert!(
            answer(&[&["verify", &out, "--against", LLM], options].concat()).starts_with("same")
        );
    }
    let output = run(&["verify", &out, "--against", LLM, "--to", "zN", "--tensor", "model.*proj*"]);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout.starts_with("differ: tensor ") && stdout.contains("expected "), "{stdout}");
}

/// Nothing but the answer is on stdout, nothing but what went wrong on stderr, and no colour but on a
/// terminal.
#[test]
fn streams_are_kept_apart() {
    let folder = Folder::new();
    let out = folder.text("out.safetensors");
    for more in [&[][..], &["-q"], &["--quiet"]] {
        let output = run(&[&["convert", CNN, &out, "--to", "col-major", "--force"], more].concat());
        assert!(output.status.success() && output.stderr.is_empty());
        assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
    }
    for (name, value) in [("NO_COLOR", "1"), ("CLICOLOR", "1")] {
        for args in [&["convert", "--help"][..], &["convert", "--nonsense"], &["show", "(8,"]] {
            let output = program().args(args).env(name, value).output().unwrap();
            assert!(![output.stdout, output.stderr].concat().contains(&0x1b), "{args:?}");
        }
    }
}
