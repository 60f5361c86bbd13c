//! Standard input and output as IN and OUT, and outputs that are not regular files.

use std::io::Write as _;

use super::*;

/// Runs the program with `input` on stdin, and returns exit code, stdout, stderr.
fn piped(args: &[&str], input: &[u8]) -> (Option<i32>, Vec<u8>, String) {
    let mut command = program();
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), output.stdout, String::from_utf8(output.stderr).unwrap())
}

/// Returns a 2×3 array of bytes, as `.npy` and row-major.
fn small() -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\0\x76\0".to_vec();
    let text = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }";
    bytes.extend(format!("{text:<117}\n").bytes());
    bytes.extend([1, 2, 3, 4, 5, 6]);
    bytes
}

#[test]
fn results_are_written_to_standard_output_in_the_container_of_the_input() {
    let folder = Folder::new();
    let input = folder.write("in.npy", &small());
    let out = folder.text("out.npy");
    answer(&["convert", &input, &out, "--to", "col-major"]);
    let made = fs::read(&out).unwrap();
    // From a file, through a pipe, and with the prefixes of formats.
    for (args, given) in [
        (vec!["convert", &input, "-"], vec![]),
        (vec!["convert", "-", "-"], small()),
        (vec!["convert", "npy:-", "npy:-"], small()),
    ] {
        let (code, stdout, stderr) = piped(&[&args[..], &["--to", "col-major"]].concat(), &given);
        assert_eq!(code, Some(0), "{stderr}");
        assert_eq!(stdout, made);
        assert!(stderr.contains("1 of 1 tensor converted"), "{stderr}");
    }
    let (code, stdout, stderr) =
        piped(&["convert", "-", "raw:-", "--to", "col-major", "-q"], &small());
    assert_eq!((code, &stdout[..], stderr.as_str()), (Some(0), &[1, 4, 2, 5, 3, 6][..], ""));
    let raw = ["convert", "-", "-", "--from", "u8[2,3]{0,1}", "--to", "row-major", "--json"];
    let (code, stdout, stderr) = piped(&raw, &[1, 4, 2, 5, 3, 6]);
    assert_eq!((code, &stdout[..]), (Some(0), &[1, 2, 3, 4, 5, 6][..]), "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stderr).unwrap();
    assert_eq!(report["bytes_out"], 6);
    // A checkpoint in one file, and other commands.
    let (code, stdout, _) =
        piped(&["convert", "-", "-", "--to", "row-major"], &fs::read(CNN).unwrap());
    assert_eq!((code, stdout), (Some(0), fs::read(CNN).unwrap()));
    let (code, stdout, _) = piped(&["info", "-"], &small());
    assert!(code == Some(0) && String::from_utf8(stdout).unwrap().contains("[2, 3]"));
    assert_eq!(folder.names(), ["in.npy", "out.npy"]);
}

#[test]
fn no_file_is_named_like_standard_output() {
    let folder = Folder::new();
    let input = folder.write("in.npy", &small());
    let run = |args: &[&str]| {
        let output = program().current_dir(folder.0.path()).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    assert!(run(&["convert", &input, "-", "--to", "col-major"]).starts_with(b"\x93NUMPY"));
    assert_eq!(folder.names(), ["in.npy"]);
    run(&["convert", &input, "npy:./-", "--to", "col-major"]);
    assert_eq!(folder.names(), ["-", "in.npy"]);
}

#[test]
fn what_cannot_go_through_a_stream_is_refused() {
    let folder = Folder::new();
    let input = folder.write("in.npy", &small());
    refusal(
        &["convert", &input, "-", "--to", "zN", "--verify"],
        2,
        &["standard output", "read back"],
    );
    let shard = r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}"#;
    folder.write("s.safetensors", &safetensors(shard, 4));
    let index =
        folder.write("m.safetensors.index.json", br#"{"weight_map":{"a":"s.safetensors"}}"#);
    refusal(&["convert", &index, "-", "--to", "row-major"], 2, &["standard output", "index"]);
    let (code, _, stderr) = piped(&["info", "-"], &fs::read(&index).unwrap());
    assert!(code == Some(2) && stderr.contains("standard input is not in a folder"), "{stderr}");
    // Input and output are one file.
    let file = fs::OpenOptions::new().read(true).append(true).open(&input).unwrap();
    let mut command = program();
    let output =
        command.args(["convert", &input, "-", "--to", "zN"]).stdout(file).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && stderr.contains("is the input"), "{stderr}");
    assert_eq!(fs::read(&input).unwrap(), small());
}

#[test]
#[cfg(target_os = "linux")]
fn links_to_open_files_and_special_files_are_never_replaced() {
    let folder = Folder::new();
    let input = folder.write("in.npy", &small());
    let (fifo, null) = (folder.text("fifo"), folder.text("null"));
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let socket = folder.text("socket");
    let _socket = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let mut special = vec![(fifo.clone(), "a FIFO"), (socket, "a socket")];
    // This needs root; without it, the files above take the place of devices.
    let made = Command::new("mknod").args([&null, "c", "1", "3"]).output().unwrap();
    match made.status.success() {
        true => special.push((null, "a device")),
        false => println!("without a device: mknod is not permitted here"),
    }
    let linked: Vec<(String, &str)> = special
        .iter()
        .enumerate()
        .map(|(number, (path, kind))| {
            let link = folder.text(&format!("link{number}"));
            std::os::unix::fs::symlink(path, &link).unwrap();
            (link, *kind)
        })
        .collect();
    // `/dev/stdout` is such a file if standard output is a regular file.
    let stdout = folder.text("stdout");
    std::os::unix::fs::symlink("/proc/self/fd/1", &stdout).unwrap();
    let names = folder.names();
    for (path, kind) in special.iter().chain(&linked).chain([&(stdout, "open file of a process")]) {
        for out in [format!("raw:{path}"), format!("npy:{path}")] {
            let file = fs::File::create(folder.path("taken")).unwrap();
            let mut command = program();
            command.args(["convert", &input, &out, "--to", "col-major", "--force"]);
            let output = command.stdout(file).output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{out}: {stderr}");
            assert!(stderr.contains(kind) && stderr.contains("not replaced"), "{stderr}");
        }
    }
    fs::remove_file(folder.path("taken")).unwrap();
    assert_eq!(folder.names(), names);
    for (path, _) in &special {
        assert!(!fs::symlink_metadata(path).unwrap().is_file(), "{path}");
    }
    for (link, _) in &linked {
        assert!(fs::symlink_metadata(link).unwrap().is_symlink(), "{link}");
    }
}

/// Returns a pipe without a reader.
fn unread() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
#[cfg(unix)]
fn a_closed_standard_output_ends_every_command_quietly() {
    let folder = Folder::new();
    let input = folder.write("in.npy", &small());
    let other = folder.text("other.npy");
    answer(&["convert", &input, &other, "--to", "col-major"]);
    let out = folder.text("out.npy");
    for args in [
        &["convert", &input, &out, "--to", "col-major", "--dry-run", "--json"][..],
        &["convert", &input, &out, "--to", "col-major"],
        &["convert", &input, "-", "--to", "col-major"],
        &["verify", &other, "--against", &input, "--to", "col-major"],
        &["info", &input],
        &["show", "zN", "--dims", "20,20", "--dtype", "f16"],
        &["show", "(2,3):(3,1)", "--svg", "-"],
        &["explain", "6:1"],
        &["translate", "f32[2,3]{0,1}", "--to", "numpy"],
        &["index", "6:1", "--coord", "3"],
        &["same", "6:1", "(2,3):(1,2)"],
        &["eval", "6:1"],
        &["eval", "--functions"],
        &["formats"],
        &["recognise", "f32[2,3]{0,1}"],
        &["infer", "--original", &input, "--packed", &other],
        &["completions", "bash"],
    ] {
        let output = program().args(args).stdout(unread()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        // A conversion without a reader is lost and fails; an answer without a reader is not an error.
        let lost = args[0] == "convert" && args[2] == "-";
        assert_eq!(output.status.code(), Some(if lost { 141 } else { 0 }), "{args:?}");
        assert!(stderr.is_empty(), "{args:?}: {stderr}");
    }
    // If nobody reads stderr, the exit code still tells the error.
    let output = program().args(["eval", "(2,"]).stderr(unread()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
#[cfg(unix)]
fn a_batch_ends_when_nobody_reads_its_answers() {
    use std::io::{BufRead as _, BufReader};
    let mut command = program();
    command.args(["eval", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut questions = child.stdin.take().unwrap();
    // The input is bounded, so that a program that never stops fails here instead of running forever.
    let asked =
        std::thread::spawn(move || (0..1_000_000).all(|_| questions.write_all(b"4:1\n").is_ok()));
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((line.as_str(), output.status.code()), ("4:1\n", Some(0)));
    assert!(output.stderr.is_empty() && !asked.join().unwrap());
}

#[test]
#[cfg(target_os = "linux")]
fn names_that_are_not_utf_8_are_names() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let folder = Folder::new();
    let name = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    let run = |args: &[&OsStr]| {
        let output = program().current_dir(folder.0.path()).args(args).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let [convert, to, order] = ["convert", "--to", "col-major"].map(OsStr::new);
    let (input, out) = (name(b"in\xff.npy"), name(b"out\xfe.npy"));
    fs::write(folder.0.path().join(&input), small()).unwrap();
    run(&[convert, &input, &out, to, order]);
    let verify = run(&["verify".as_ref(), &out, "--against".as_ref(), &input, to, order]);
    assert!(verify.starts_with("same"), "{verify}");
    assert!(run(&["info".as_ref(), &out]).contains("[2, 3]"));
    run(&["infer".as_ref(), "--original".as_ref(), &input, "--packed".as_ref(), &out]);
    let raw = name(b"raw:b\xff");
    run(&[convert, &input, &raw, to, order]);
    assert_eq!(fs::read(folder.0.path().join(name(b"b\xff"))).unwrap(), [1, 4, 2, 5, 3, 6]);
    run(&["show".as_ref(), "6:1".as_ref(), "--svg".as_ref(), &name(b"picture\xff.svg")]);
    // A checkpoint whose index has such a name, which is replaced, and a folder.
    let shard = r#"{"a":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]}}"#;
    folder.write("s.safetensors", &safetensors(shard, 4));
    let index = name(b"m\xff.index.json");
    fs::write(folder.0.path().join(&index), r#"{"weight_map":{"a":"s.safetensors"}}"#).unwrap();
    fs::create_dir(folder.0.path().join(name(b"d\xff"))).unwrap();
    for _ in 0..2 {
        run(&[convert, &index, &name(b"d\xff/m\xff.index.json"), to, order, "--force".as_ref()]);
    }
    assert_eq!(fs::read_dir(folder.0.path().join(name(b"d\xff"))).unwrap().count(), 2);
}

#[test]
fn a_pattern_without_bounds_is_refused() {
    let folder = Folder::new();
    let out = folder.text("out.safetensors");
    let nested = "{a,".repeat(200) + &"}".repeat(200);
    let args = ["convert", CNN, &out, "--to", "row-major", "--tensor", &nested];
    refusal(&args, 2, &["nests 200 braces", "at most 16"]);
    refusal(&["convert", CNN, &out, "--rule", &format!("{nested}=zN")], 2, &["nests 200 braces"]);
    refusal(&[&args[..6], &[&"a".repeat(5000)]].concat(), 2, &["5000 bytes"]);
    let formats =
        folder.write("f.toml", format!("a = {}{}", "[".repeat(5000), "]".repeat(5000)).as_bytes());
    refusal(&["formats", "--formats", &formats], 2, &["f.toml"]);
}

/// A result whose format cannot record its layout has a note beside it; for a stream a message has the layout.
#[test]
fn a_layout_is_noted_beside_its_file_or_said() {
    let folder = Folder::new();
    let input = folder.write("in.npy", &small());
    let (out, raw) = (folder.text("out.npy"), format!("raw:{}", folder.text("out.bin")));
    for out in [&out, &raw] {
        answer(&["convert", &input, out, "--to", "{1,0:T(2,2)}"]);
        assert!(answer(&["info", out]).contains("[2, 3]  8"));
        answer(&["verify", out, "--against", &input]);
        let back =
            answer(&["convert", out, &folder.text("back.npy"), "--to", "row-major", "--force"]);
        assert!(back.starts_with("1 of 1 tensor converted"), "{back}");
        assert!(fs::read(folder.path("back.npy")).unwrap().ends_with(&[1, 2, 3, 4, 5, 6]));
    }
    assert_eq!(
        folder.names(),
        [
            "back.npy",
            "in.npy",
            "out.bin",
            "out.bin.tilewright.json",
            "out.npy",
            "out.npy.tilewright.json"
        ]
    );
    let args = ["convert", "-", "-", "--to", "{1,0:T(2,2)}"];
    let (code, _, stderr) = piped(&args, &small());
    assert_eq!(code, Some(0));
    assert!(stderr.contains("note: no note can be written"), "{stderr}");
    assert!(stderr.contains("`u8[2,3]{1,0:T(2,2)}`"), "{stderr}");
    // Other bytes under that name are read by their contents, and a message tells this.
    fs::write(folder.path("out.npy"), small()).unwrap();
    let output = run(&["info", &out]);
    assert!(String::from_utf8(output.stdout).unwrap().contains("row-major"));
    assert!(String::from_utf8(output.stderr).unwrap().contains("note of other bytes"));
}

/// A plan is also shown if the result would replace a file, with a remark.
#[test]
fn a_dry_run_replaces_nothing_and_needs_no_force() {
    let folder = Folder::new();
    let input = folder.write("in.npy", &small());
    let out = folder.write("out.npy", b"old");
    let output = run(&["convert", &input, &out, "--to", "col-major", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stderr).unwrap().contains("a run needs --force"));
    assert_eq!(fs::read(folder.path("out.npy")).unwrap(), b"old");
}

#[test]
#[cfg(target_os = "linux")]
fn help_that_cannot_be_written_is_an_error() {
    let full = || Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap());
    for args in [&["--help"][..], &["convert", "--help"], &["formats"]] {
        let status = program().args(args).stdout(full()).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(3), "{args:?}");
    }
}
