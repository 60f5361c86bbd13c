//! `info` of HLO modules and the padding in `explain`, with the real program.

use std::process::Command;

use tempfile::tempdir;

/// The exit code, stdout and stderr.
fn ask(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tilewright")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn answer(args: &[&str]) -> String {
    let (code, out, err) = ask(args);
    assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
    out
}

fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&answer(&[args, &["--json"]].concat())).unwrap()
}

fn corpus(name: &str) -> String {
    format!("{}/../../corpus/data/hlo/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_module_is_listed_with_its_parameters_and_results() {
    for name in ["cnn.txt", "cnn.pb"] {
        let text = answer(&["info", &corpus(name)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..6],
            [
                "module jit_cnnf, entry main.2",
                "parameter 0: x.1 f32[2,3,16,16]{3,2,1,0}, 6.00 KiB",
                "parameter 1: w.1 f32[8,3,3,3]{3,2,1,0}, 864 B",
                "parameter 2: v.1 f32[2048,10]{1,0}, 80.00 KiB",
                "result: f32[2,10]{1,0}, 80 B",
                "80.00 KiB, no padding: v.1 = parameter f32[2048,10]{1,0}",
            ]
        );
        assert_eq!(lines.last(), Some(&"8 arrays, 125.77 KiB, 0 B of padding"));
        assert_eq!(lines.len(), 5 + 8 + 1);
    }
}

#[test]
fn another_tiling_is_asked_about() {
    let text = answer(&["info", &corpus("scan_fft.txt"), "--layout", "T(8,128)"]);
    assert!(
        text.starts_with("module jit_scan, entry main.7, as if laid out by T(8,128)\n"),
        "{text}"
    );
    for line in [
        "result {0}: f32[8]{0:T(1024)}, 4.00 KiB",
        "4.00 KiB, 3.97 KiB of padding, ×128: slice_bitcast_fusion = fusion f32[8]{0:T(1024)}",
        "    the minor dim (dim 1), 8, is padded to 128 by T(8,128), ×16",
        "    no order of the dims pads less",
        "4 B, no padding: copy.10 = copy s32[]",
    ] {
        assert!(text.lines().any(|one| one == line), "{line}\n{text}");
    }
}

#[test]
fn a_module_in_json() {
    let value = json(&["info", &corpus("cnn.pb"), "--layout", "T(8,128)"]);
    assert_eq!(value["version"], 1);
    assert_eq!((&value["format"], &value["module"]), (&"hlo".into(), &"jit_cnnf".into()));
    assert_eq!(value["as_layout"], "T(8,128)");
    assert_eq!(value["parameters"][2]["parameter"], 2);
    assert_eq!(value["results"][0]["shape"], "f32[2,10]{1,0:T(8,128)}");
    let worst = &value["arrays"][0];
    assert_eq!((&worst["instruction"], &worst["opcode"]), (&"v.1".into(), &"parameter".into()));
    assert_eq!((&worst["bytes"], &worst["padding_bytes"]), (&1_048_576.into(), &966_656.into()));
    assert_eq!((&worst["factor"], &worst["index"]), (&12.8.into(), &serde_json::json!([])));
    assert_eq!(worst["causes"][0]["dims"], serde_json::json!([1]));
    assert_eq!(worst["causes"][0]["tile"], "(8,128)");
    // 16 rows of 2048 instead of 10.
    assert_eq!(worst["better"], serde_json::json!({ "layout": "{0,1:T(8,128)}", "factor": 1.6 }));
    let arrays = value["arrays"].as_array().unwrap();
    let sum = |field: &str| arrays.iter().map(|one| one[field].as_u64().unwrap()).sum::<u64>();
    assert_eq!(value["bytes"], sum("bytes"));
    assert_eq!(value["padding_bytes"], sum("padding_bytes"));
}

#[test]
fn a_layout_says_to_which_arrays_it_is_not_applied() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.txt");
    let text = "HloModule m\nENTRY e {\n  a = f32[9,100]{1,0} parameter(0)\n\
        \x20 b = f32[2,3,5,7]{3,2,1,0} parameter(1)\n  u = f32[?] custom-call()\n\
        \x20 ROOT c = (f32[], f32[?]) custom-call(a)\n}\n";
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let text = answer(&["info", path, "--layout", "{0,1:T(8,128)}"]);
    let lines: Vec<&str> = text.lines().collect();
    let no_bound = "dim 0 has no bound";
    assert_eq!(
        lines[0],
        "module m, entry e, as if laid out by {0,1:T(8,128)} (not applied: 2 arrays)"
    );
    assert_eq!(lines[1], "parameter 0: a f32[9,100]{0,1:T(8,128)}, 52.00 KiB");
    assert_eq!(lines[2], "parameter 1: b f32[2,3,5,7]{3,2,1,0}, 840 B, not applied: rank 4");
    assert_eq!(lines[3], "result {0}: f32[], 4 B, not applied: rank 0");
    assert!(lines[4].starts_with(&format!("result {{1}}: {no_bound}")), "{text}");
    let end = &lines[lines.len() - 5..];
    assert_eq!(end[0], "not applied: rank 4: b = parameter f32[2,3,5,7]{3,2,1,0}");
    assert_eq!(end[1], "not applied: rank 0: c {0} = custom-call f32[]");
    // Only members of tuples have a path.
    assert!(end[2].starts_with(&format!("no size: u: {no_bound}")), "{text}");
    assert!(end[3].starts_with(&format!("no size: c {{1}}: {no_bound}")), "{text}");
    assert_eq!(end[4], "1 array, 52.00 KiB, 48.48 KiB of padding");

    let value = json(&["info", path, "--layout", "{0,1:T(8,128)}"]);
    assert_eq!(value["arrays"].as_array().unwrap().len(), 1);
    assert_eq!(value["bytes"], 52 << 10);
    let left: Vec<_> = (value["not_applied"].as_array().unwrap().iter())
        .map(|one| (one["instruction"].as_str().unwrap(), one["not_applied"].as_str().unwrap()))
        .collect();
    assert_eq!(left, [("b", "rank 4"), ("c", "rank 0")]);
    assert_eq!(value["parameters"][1]["not_applied"], "rank 4");
    assert_eq!(value["parameters"][0]["not_applied"], serde_json::Value::Null);
    // A tiling applies to all arrays.
    let value = json(&["info", path, "--layout", "T(8,128)"]);
    assert_eq!(value["not_applied"], serde_json::json!([]));
    assert_eq!(value["arrays"].as_array().unwrap().len(), 3);
    assert!(!answer(&["info", path, "--layout", "T(8,128)"]).contains("not applied"));
}

/// There are more arrays than are explained, and more than are collected before they are printed.
#[test]
fn a_large_module_in_json_is_whole() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.txt");
    let adds: String =
        (1..=3000).map(|at| format!("  a{at} = f32[{at},3]{{1,0}} add()\n")).collect();
    std::fs::write(&path, format!("HloModule m\nENTRY e {{\n{adds}}}\n")).unwrap();
    let path = path.to_str().unwrap();
    let value = json(&["info", path, "--layout", "T(8,128)"]);
    let arrays = value["arrays"].as_array().unwrap();
    let mut names: Vec<&str> =
        arrays.iter().map(|one| one["instruction"].as_str().unwrap()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!((arrays.len(), names.len()), (3000, 3000));
    let sum: u64 = arrays.iter().map(|one| one["bytes"].as_u64().unwrap()).sum();
    assert_eq!(value["bytes"], sum);
    assert_eq!((&value["version"], &value["module"]), (&1.into(), &"m".into()));
    assert!(arrays[199]["causes"].is_array() && arrays[200]["causes"].is_null());
    assert!(answer(&["info", path]).contains("\n… 2980 more arrays; the JSON lists all\n"));
}

#[test]
fn modules_are_recognised_by_their_content() {
    let folder = tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let text = std::fs::read(corpus("rng.txt")).unwrap();
    let bytes = std::fs::read(corpus("rng.pb")).unwrap();
    let known = answer(&["info", &corpus("rng.txt")]);
    // A text under an unknown name, and each form under the name of the other.
    for path in
        [write("dump", &text), write("a.pb", &text), write("a.txt", &bytes), write("a.HLO", &bytes)]
    {
        assert_eq!(answer(&["info", &path]), known, "{path}");
    }
}

#[test]
fn what_is_no_module_is_an_error_with_its_place() {
    let folder = tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let text = std::fs::read(corpus("rng.txt")).unwrap();
    let bytes = std::fs::read(corpus("rng.pb")).unwrap();
    let mut nested = vec![0x10, 13];
    for _ in 0..200 {
        let len = nested.len();
        let head = if len < 128 {
            vec![0x22, len as u8]
        } else {
            vec![0x22, len as u8 | 128, (len >> 7) as u8]
        };
        nested = [head, nested].concat();
    }
    let wrapped = |tag: u8, inner: &[u8]| {
        [&[tag, inner.len() as u8 | 128, (inner.len() >> 7) as u8], inner].concat()
    };
    let deep = wrapped(0x1a, &wrapped(0x12, &wrapped(0x1a, &nested)));
    for (path, why) in [
        (write("empty.txt", b""), "line 1, column 1: expected `HloModule`"),
        (write("notes.txt", b"just words\n"), "expected `HloModule`"),
        (write("cut.txt", &text[..text.len() / 2]), "line "),
        (write("cut.pb", &bytes[..bytes.len() / 2]), "the bytes are not a valid proto"),
        (write("deep.pb", &deep), "recursion limit"),
        (write("none.txt", b"HloModule m\n"), "module m lacks an entry computation"),
        (folder.path().join("absent.pb").to_str().unwrap().to_owned(), "absent.pb: "),
        (folder.path().to_str().unwrap().to_owned() + "/", ""),
    ] {
        let (code, out, err) = ask(&["info", &path]);
        assert_eq!((code, out.as_str()), (3, ""), "{path}: {err}");
        assert!(
            err.starts_with("error: ") && err.contains(why) && err.len() < 1000,
            "{path}: {err}"
        );
    }
    // An unrecognised file might be meant as a module.
    let (code, _, err) = ask(&["info", &write("passwd", b"root:x:0:0\n")]);
    assert_eq!(code, 3);
    assert!(err.contains("neither a safetensors file") && err.contains("`HloModule`"), "{err}");
    let (_, _, err) = ask(&["info", &write("cut.npy", b"\x93NUMPY")]);
    assert!(!err.contains("HloModule"), "{err}");
    // A sparse file that is one byte too long is refused without being read.
    let path = folder.path().join("huge.txt");
    std::fs::File::create(&path).unwrap().set_len((512 << 20) + 1).unwrap();
    let (code, _, err) = ask(&["info", path.to_str().unwrap(), "--json"]);
    assert_eq!(code, 3);
    assert!(err.contains("\"kind\":\"limit\"") && err.contains("up to 536870912 bytes"), "{err}");
}

#[test]
fn wrong_arguments_are_usage() {
    let module = corpus("cnn.txt");
    let weights = weights();
    for (args, why) in [
        (vec!["info", &module, "--layout", "T(8,12x)"], "--layout: expected `,` or `)`"),
        (vec!["info", &module, "--layout", ""], "expected tiles such as `T(8,128)`"),
        (vec!["info", &module, "--dims", "2,3"], "--dims and --dtype are for raw files"),
        (vec!["info", &weights, "--layout", "T(8,128)"], "--layout is for HLO modules"),
    ] {
        let (code, out, err) = ask(&args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(why), "{args:?}: {err}");
    }
}

/// Returns the path of a file that is not a module.
fn weights() -> String {
    format!("{}/../../corpus/data/tiny_cnn_f32.safetensors", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn names_do_not_command_the_terminal() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.pb");
    // Module, computation 0 of id 0, the entry; instruction "\x1b[2J", a parameter of f32[].
    let instruction = b"\x0a\x04\x1b[2J\x12\x09parameter\x1a\x02\x10\x0b";
    let computation = [b"\x12", [instruction.len() as u8].as_slice(), instruction].concat();
    let module = [b"\x1a", [computation.len() as u8].as_slice(), &computation].concat();
    std::fs::write(&path, module).unwrap();
    let text = answer(&["info", path.to_str().unwrap()]);
    assert!(text.contains("\u{fffd}[2J") && !text.contains('\x1b'), "{text}");
}

#[test]
fn explain_says_why_an_array_blows_up() {
    let text = answer(&["explain", "f32[8,100,3]{2,1,0:T(8,128)}"]);
    for line in [
        "  why padded       dim 2, 3, is padded to 128, ×42.7",
        "  why padded       dim 1, 100, is padded to 104 by tiles of 8, ×1.040",
        "  least padding    (b1 b0:8) (m1 m0:128) n -> m1 n b1 b0 m0 would be ×1.3 instead of ×44.4",
    ] {
        assert!(text.lines().any(|one| one == line), "{line}\n{text}");
    }
    let value = json(&["explain", "{2,1,0:T(8,128)}", "--dims", "8,100,3"]);
    let better = &value["why_padded"]["better"];
    assert_eq!(better["factor"], 1.28);
    // The better layout is one of the same array, and the array takes no more than its size in it.
    let spec = better["layout"].as_str().unwrap();
    assert_eq!(json(&["explain", spec, "--dims", "8,100,3"])["capacity"], 3072);
    assert_eq!(value["why_padded"]["causes"][0]["extent"], 3);
    // Padding depends on the layout, not on its notation.
    let causes = &json(&["explain", "f16[100,100] zN"])["why_padded"]["causes"];
    assert_eq!(causes[0]["text"], "dim 0, 100, is padded to 112 by tiles of 16, ×1.1");
    // There is no advice about an array without padding.
    for spec in ["f32[16,128]{1,0:T(8,128)}", "f32[3,5]", "(4,8):(8,1)"] {
        assert!(!answer(&["explain", spec]).contains("why padded"), "{spec}");
        assert_eq!(json(&["explain", spec])["why_padded"], serde_json::Value::Null, "{spec}");
    }
}
