//! Printed output: its streams and its shapes.

use super::*;

/// Writes a checkpoint with one tensor of each kind that `info` and `convert` describe differently.
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

/// The JSON has the shapes of `docs/reference/json.md`, field by field.
#[test]
fn json_shapes_are_those_of_the_document() {
    let folder = Folder::new();
    let (input, out) = (kinds(&folder), folder.text("out.safetensors"));
    let info = json(&answer(&["info", &input, "--json"]));
    assert_eq!(keys(&info), ["version", "file", "format", "metadata", "notes", "tensors"]);
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
        "file_dims",
        "bytes",
        "padding_bytes",
        "data",
        "movable",
        "begin",
    ];
    assert_eq!(keys(tensor), fields);
    assert_eq!(tensor["layout"], "s16[5,6] row-major");
    let six = &info["tensors"][2];
    assert_eq!((&six["dtype"], &six["file_dtype"]), (&"f6e2m3fn".into(), &"F6_E2M3".into()));
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
            [
                "version",
                "tensors",
                "bytes_in",
                "bytes_out",
                "verified",
                "dry_run",
                "files",
                "notes"
            ]
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
    let expected = serde_json::json!({ "version": 1, "same": true, "bytes": 135, "dropped": [], "changed": [] });
    assert_eq!(same, expected);
    let output =
        run(&["verify", &out, "--against", &input, "--to", "row-major", "--skip-unfit", "--json"]);
    let differ = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(keys(&differ), ["version", "same", "difference", "tensor"]);
    assert!(differ["difference"].as_str().unwrap().contains("its layout is s16[5,6]{1,0:T(4,4)}"));
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
    assert!(
        done.contains("0 of 3 tensors converted: nothing to convert, 2 already in that layout"),
        "{done}"
    );
    let plan = answer(&[&args[..], &["--dry-run"]].concat());
    assert!(plan.contains("w: already in that layout, 60 bytes\n"), "{plan}");
    refusal(
        &["convert", &input, &out, "--to", "row-major", "--force"],
        3,
        &["six", "kinds.safetensors"],
    );
    let info = answer(&["info", &input]);
    assert!(info.contains("six   F6_E2M3  [4]      3  no layout: its type is F6_E2M3"), "{info}");
    assert!(info.contains("3 tensors, "), "{info}");
}

/// The contents of a file cannot move the cursor, and cannot imitate a line of the program.
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

/// Stdout has only the answer, stderr only errors, and colours appear only on a terminal.
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
