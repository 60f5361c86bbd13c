//! Standard input and output as IN and OUT, and outputs that are no files.

use std::io::Write as _;

use super::*;

/// A run that reads `input`: exit code, stdout, stderr.
fn piped(args: &[&str], input: &[u8]) -> (Option<i32>, Vec<u8>, String) {
    let mut command = program();
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), output.stdout, String::from_utf8(output.stderr).unwrap())
}

/// A 2×3 array of bytes, as `.npy` and row-major.
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
    // From a file, through a pipe, and with the kinds said.
    for (args, given) in [
        (vec!["convert", &input, "-"], vec![]),
        (vec!["convert", "-", "-"], small()),
        (vec!["convert", "npy:-", "npy:-"], small()),
    ] {
        let (code, stdout, stderr) = piped(&[&args[..], &["--to", "col-major"]].concat(), &given);
        assert_eq!(code, Some(0), "{stderr}");
        assert_eq!(stdout, made);
        assert!(stderr.contains("1 of 1 tensors converted"), "{stderr}");
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
        &["standard output", "--verify"],
    );
    let shard = r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}"#;
    folder.write("s.safetensors", &safetensors(shard, 4));
    let index =
        folder.write("m.safetensors.index.json", br#"{"weight_map":{"a":"s.safetensors"}}"#);
    refusal(&["convert", &index, "-", "--to", "row-major"], 2, &["standard output", "index"]);
    let (code, _, stderr) = piped(&["info", "-"], &fs::read(&index).unwrap());
    assert!(code == Some(2) && stderr.contains("standard input lies in no folder"), "{stderr}");
    // Input and output as one file.
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
    // Needs the rights of the administrator; without them, the kinds above stand for devices.
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
    // As `/dev/stdout` is one, while standard output is a regular file.
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
