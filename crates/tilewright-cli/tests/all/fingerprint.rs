//! `fingerprint` and `same-data` as a user calls them.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

const LLM: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
const CNN: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
const GGUF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_quantised.gguf");

fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    let Output { status, stdout, stderr } =
        program.args(args).current_dir(folder).output().unwrap();
    (status.code(), String::from_utf8([stdout, stderr].concat()).unwrap())
}

fn safetensors(tensors: &[(&str, &str, &[u64], &[u8])]) -> Vec<u8> {
    let (mut header, mut data) = (vec![], vec![]);
    for (name, dtype, dims, bytes) in tensors {
        let end = data.len() + bytes.len();
        header.push(format!(
            r#""{name}":{{"dtype":"{dtype}","shape":{dims:?},"data_offsets":[{},{end}]}}"#,
            data.len()
        ));
        data.extend_from_slice(bytes);
    }
    let header = format!("{{{}}}", header.join(","));
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()
}

fn npy(dims: &str, descr: &str, fortran: bool, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({dims}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\0".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn a_conversion_changes_no_fingerprint() {
    let folder = tilewright_testing::folder();
    let run = |args: &[&str]| run(folder.path(), args);
    for (from, ending, to) in [
        (LLM, "safetensors", ["zN", "{1,0:T(8,128)(2,1)}", "col-major"]),
        (CNN, "safetensors", ["col-major", "{0,1,2,3}", "NHWC"]),
        (GGUF, "gguf", ["(m) (n n0:32) -> n m n0", "row-major", "(m m0:5) n -> m n m0"]),
    ] {
        let (code, own) = run(&["fingerprint", from]);
        assert!(code == Some(0) && own.lines().last().unwrap().starts_with("all "), "{own}");
        for (i, spec) in to.iter().enumerate() {
            let out = format!("{i}.{ending}");
            let args = ["convert", from, &out, "--to", spec, "--skip-unfit", "--force", "-q"];
            let (code, text) = run(&args);
            assert_eq!(code, Some(0), "{spec}: {text}");
            assert_eq!(run(&["fingerprint", &out]), (Some(0), own.clone()), "{from} {spec}");
            assert_eq!(run(&["same-data", from, &out]), (Some(0), "same\n".into()), "{spec}");
        }
    }
}

#[test]
fn the_lines_of_a_fingerprint() {
    let folder = tilewright_testing::folder();
    let run = |args: &[&str]| run(folder.path(), args);
    let file = safetensors(&[
        ("b", "U8", &[2, 3], &[0, 0, 0, 0, 0, 0]),
        ("a", "F32", &[], &[0, 0, 128, 63]),
    ]);
    fs::write(folder.path().join("x.safetensors"), file).unwrap();
    let (code, text) = run(&["fingerprint", "x.safetensors"]);
    let lines: Vec<&str> = text.lines().collect();
    // The pattern of 1.0, at the coordinate with weight 1.
    assert_eq!(
        (code, lines[0], lines[1]),
        (Some(0), "a f32 [] 000000003f800000", "b u8 [2,3] 0000000000000000")
    );
    assert!(lines[2].len() == 20 && lines[2].starts_with("all ") && lines.len() == 3, "{text}");
    let (_, other) = run(&["fingerprint", "x.safetensors", "--key", "1"]);
    assert_eq!(
        other.lines().next(),
        Some(lines[0]),
        "the weight of coordinate 0 is 1 under every key"
    );
    assert_ne!(other.lines().last(), Some(lines[2]));
    let (_, one) = run(&["fingerprint", "x.safetensors", "--tensor", "b"]);
    assert!(one.starts_with(lines[1]) && one.lines().count() == 2, "{one}");
    let (_, json) = run(&["fingerprint", "x.safetensors", "--json"]);
    for part in [
        r#""version":1"#,
        r#""name":"a""#,
        r#""dims":[2,3]"#,
        r#""fingerprint":"000000003f800000""#,
        r#""all":""#,
    ] {
        assert!(json.contains(part), "{part} in {json}");
    }
    for (args, code, part) in [
        (&["fingerprint", "x.safetensors", "--tensor", "c*"][..], 2, "no tensor matches"),
        (&["fingerprint", "x.safetensors", "--key", "0x1"], 2, "1 to 32 hexadecimal digits"),
        (&["fingerprint", "no.safetensors"], 3, "no.safetensors"),
        (&["same-data", "x.safetensors", "no.npy"], 3, "no.npy"),
    ] {
        let (found, text) = run(args);
        assert!(found == Some(code) && text.contains(part), "{args:?}: {text}");
    }
}

#[test]
fn a_folder_of_files_is_the_file_of_its_arrays() {
    let folder = tilewright_testing::folder();
    let run = |args: &[&str]| run(folder.path(), args);
    let (a, b): (Vec<u8>, Vec<u8>) = ((0..12).collect(), (100..124).collect());
    let file = safetensors(&[("a", "U8", &[3, 4], &a), ("b", "I16", &[2, 6], &b)]);
    fs::write(folder.path().join("x.safetensors"), file).unwrap();
    fs::create_dir(folder.path().join("many")).unwrap();
    // The first is in Fortran order, the second is big-endian.
    let turned: Vec<u8> = (0..4).flat_map(|j| (0..3).map(move |i| 4 * i + j)).collect();
    fs::write(folder.path().join("many/a.npy"), npy("3, 4", "|u1", true, &turned)).unwrap();
    let swapped: Vec<u8> = b.chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect();
    fs::write(folder.path().join("many/b.npy"), npy("2, 6", ">i2", false, &swapped)).unwrap();
    fs::write(folder.path().join("many/notes.txt"), "of no format").unwrap();
    assert_eq!(run(&["fingerprint", "x.safetensors"]), run(&["fingerprint", "many"]));
    assert_eq!(run(&["same-data", "x.safetensors", "many"]), (Some(0), "same\n".into()));
    fs::write(
        folder.path().join("many/again.safetensors"),
        safetensors(&[("a", "U8", &[1], &[1])]),
    )
    .unwrap();
    let (code, text) = run(&["fingerprint", "many"]);
    assert!(code == Some(3) && text.contains("tensor \"a\" is also in"), "{text}");
}

/// A folder with an unreadable part gets no answer.
#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_not_passed_over() {
    let folder = tilewright_testing::folder();
    let run = |args: &[&str]| run(folder.path(), args);
    for name in ["one", "other"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        let file = safetensors(&[("a", "U8", &[1], &[1])]);
        fs::write(folder.path().join(name).join("a.safetensors"), file).unwrap();
    }
    assert_eq!(run(&["same-data", "one", "other"]), (Some(0), "same\n".into()));
    let link = folder.path().join("other/b.npy");
    std::os::unix::fs::symlink(folder.path().join("nowhere.npy"), link).unwrap();
    for args in [&["same-data", "one", "other"][..], &["fingerprint", "other"]] {
        let (code, text) = run(args);
        assert!(code == Some(3) && text.contains("b.npy"), "{args:?}: {text}");
    }
}

#[test]
fn what_differs_is_named_with_what_it_would_be_the_same_as() {
    let folder = tilewright_testing::folder();
    let run = |args: &[&str]| run(folder.path(), args);
    let numbers: Vec<u8> = (0..24u16).flat_map(|i| (7 * i + 1).to_le_bytes()).collect();
    let more: Vec<u8> = numbers.iter().map(|byte| byte ^ 0x55).collect();
    let square: Vec<u8> = (0..16).collect();
    let turned: Vec<u8> = (0..16).map(|i| square[4 * (i % 4) + i / 4]).collect();
    let swapped: Vec<u8> = numbers.chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect();
    let mut flipped = numbers.clone();
    flipped[2 * 17] ^= 1;
    let dims = &[4, 6][..];
    let ours = safetensors(&[
        ("changed", "BF16", dims, &numbers),
        ("kept", "BF16", dims, &numbers),
        ("lost", "U8", &[1], &[1]),
        ("square", "U8", &[4, 4], &square),
        ("swapped", "BF16", dims, &numbers),
        ("type", "U8", &[4, 4], &square),
        ("w1", "BF16", dims, &more),
        ("w3", "BF16", dims, &flipped),
    ]);
    let theirs = safetensors(&[
        ("changed", "BF16", dims, &flipped),
        ("found", "U8", &[1], &[1]),
        ("kept", "BF16", dims, &numbers),
        ("square", "U8", &[4, 4], &turned),
        ("swapped", "BF16", dims, &swapped),
        ("type", "I8", &[4, 4], &square),
        ("w1", "BF16", dims, &flipped),
        ("w3", "BF16", dims, &more),
    ]);
    fs::write(folder.path().join("a.safetensors"), ours).unwrap();
    fs::write(folder.path().join("b.safetensors"), theirs).unwrap();
    let (code, text) = run(&["same-data", "a.safetensors", "b.safetensors"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((code, lines.len()), (Some(1), 8), "{text}");
    assert_eq!(lines[0], "changed differs at (2,5): 0x78 vs 0x79");
    assert_eq!(lines[1], "found is only in the second; the same as lost of the first");
    assert_eq!(lines[2], "lost is only in the first; the same as found of the second");
    assert_eq!(lines[3], "square differs at (0,1): 0x1 vs 0x4; the same if transposed (1,0)");
    assert!(
        lines[4].starts_with("swapped differs at (0,0): 0x1 vs 0x100; the same if byte-swapped")
    );
    assert_eq!(lines[5], "type has another element type: u8 vs s8");
    assert!(
        lines[6].starts_with("w1 differs at (0,0)")
            && lines[6].contains("the same as w3 of the second")
    );
    assert!(
        lines[7].starts_with("w3 differs at (0,0)")
            && lines[7].contains("the same as w1 of the second")
    );
    let (code, json) = run(&["same-data", "a.safetensors", "b.safetensors", "--json"]);
    assert_eq!(code, Some(1));
    for part in [
        r#""same":false"#,
        r#""coord":[2,5]"#,
        r#""values":["0x78","0x79"]"#,
        r#""transposed":[1,0]"#,
        r#""byte_swapped":true"#,
        r#""same_as":["w3"]"#,
        r#""same_as":["lost"]"#,
        r#""missing":"first""#,
    ] {
        assert!(json.contains(part), "{part} in {json}");
    }
}

#[test]
fn what_a_folder_passes_over_is_said() {
    let folder = tilewright_testing::folder();
    let run = |args: &[&str]| run(folder.path(), args);
    for name in ["one", "other", "one/inner"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        let file = safetensors(&[("a", "U8", &[1], &[1])]);
        fs::write(folder.path().join(name).join("a.safetensors"), file).unwrap();
    }
    let said = "same\nnote: one: subfolders are not read (1: inner)\n";
    assert_eq!(run(&["same-data", "one", "other"]), (Some(0), said.into()));
    assert_eq!(run(&["same-data", "one", "other", "-q"]), (Some(0), "same\n".into()));
    let (_, text) = run(&["fingerprint", "one"]);
    assert!(text.contains("note: one: subfolders are not read"), "{text}");
}

/// An array of a type that headers cannot express, and bytes without a header.
#[test]
fn arrays_are_read_as_they_are_said_to_be() {
    let folder = tilewright_testing::folder();
    let run = |args: &[&str]| run(folder.path(), args);
    let numbers: Vec<u8> = (0..24u16).flat_map(|i| (7 * i + 1).to_le_bytes()).collect();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("a.npy"), npy("4, 6", "|V2", false, &numbers)).unwrap();
    fs::write(path("a.bin"), &numbers).unwrap();
    fs::write(path("a.safetensors"), safetensors(&[("w", "BF16", &[4, 6], &numbers)])).unwrap();
    let (code, text) = run(&["fingerprint", "a.npy"]);
    assert!(code == Some(2) && text.contains("--dtype"), "{text}");
    let (code, own) = run(&["fingerprint", "a.npy", "--dtype", "bf16"]);
    assert!(code == Some(0) && own.starts_with("array bf16 [4,6] "), "{own}");
    let raw = ["fingerprint", "raw:a.bin", "--dtype", "bf16", "--dims", "4,6"];
    assert_eq!(run(&raw), (Some(0), own));
    for a in ["a.npy", "a.safetensors"] {
        for (b, more) in
            [("a.npy", &[][..]), ("a.safetensors", &[]), ("raw:a.bin", &["--dims", "4,6"])]
        {
            if a == b {
                continue;
            }
            let args = [&["same-data", a, b, "--dtype", "bf16"], more].concat();
            assert_eq!(run(&args), (Some(0), "same\n".into()), "{args:?}");
        }
    }
    let (code, text) = run(&["fingerprint", "a.safetensors", "--dtype", "bf16"]);
    assert!(
        code == Some(2) && text.contains("have their own; give its layout with --from"),
        "{text}"
    );
    let (code, text) =
        run(&["same-data", "a.npy", "a.safetensors", "--dtype", "bf16", "--tensor", "x"]);
    assert!(code == Some(2) && text.contains("no tensor matches"), "{text}");
    // The element type is read back from a result.
    let args = ["convert", "a.npy", "b.npy", "--dtype", "bf16", "--to", "row-major", "-q"];
    assert_eq!(run(&args).0, Some(0));
    assert_eq!(run(&["same-data", "b.npy", "a.safetensors"]), (Some(0), "same\n".into()));
}

#[test]
fn a_result_is_compared_with_what_it_records() {
    let folder = tilewright_testing::folder();
    let run = |args: &[&str]| run(folder.path(), args);
    let zn = ["convert", LLM, "zn.safetensors", "--to", "zN", "--tensor", "*k_proj.weight"];
    assert_eq!(run(&zn).0, Some(0));
    let (code, text) = run(&["verify", "zn.safetensors"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("same: 2 of 22 tensors have the recorded data, "), "{text}");
    let (_, json) = run(&["verify", "zn.safetensors", "--json"]);
    assert!(json.contains(r#""same":true"#) && json.contains(r#""recorded":2"#), "{json}");
    let (_, info) = run(&["info", "zn.safetensors", "--json"]);
    let name = "model.layers.0.self_attn.k_proj.weight";
    let (_, print) = run(&["fingerprint", "zn.safetensors", "--tensor", name]);
    let data = print.lines().next().unwrap().rsplit(' ').next().unwrap().to_owned();
    let of_name = info.split(r#""name":"#).skip(1).find(|text| text.contains(name)).unwrap();
    assert!(of_name.contains(&format!(r#""data":"{data}""#)), "{of_name}");
    // A script that runs twice converts once.
    let again =
        ["convert", "zn.safetensors", "b.safetensors", "--to", "zN", "--tensor", "*k_proj.weight"];
    let (code, text) = run(&again);
    assert!(code == Some(2) && text.contains("is converted already"), "{text}");
    assert!(
        text.contains("to copy it, give --force") && !folder.path().join("b.safetensors").exists()
    );
    assert_eq!(run(&[&again[..], &["--force"]].concat()).0, Some(0));
    let (code, text) = run(&[&again[..], &["--from", "nZ", "--force"]].concat());
    assert!(code == Some(2) && text.contains("tilewright.layout.model"), "{text}");
    // One bit of the data is changed.
    let path = folder.path().join("zn.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(data.len()).position(|part| part == data.as_bytes()).unwrap();
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    let (code, text) = run(&["verify", "zn.safetensors"]);
    assert!(code == Some(1) && text.contains("is recorded"), "{text}");
    let (code, json) = run(&["verify", "zn.safetensors", "--against", LLM, "--json"]);
    assert!(code == Some(1) && json.contains(r#""recorded_fingerprint":""#), "{json}");
    fs::write(folder.path().join("b.npy"), npy("2, 1", "<i2", false, &[0; 4])).unwrap();
    for (args, part) in [
        (
            &["verify", LLM][..],
            "it records no fingerprint of its data; name the original file with --against",
        ),
        (&["verify", "zn.safetensors", "--to", "zN"], "--to needs the original file"),
        (&["verify", "b.npy", "--against", LLM], "choose one with --tensor NAME"),
    ] {
        let (code, text) = run(args);
        assert!(code == Some(2) && text.contains(part), "{args:?}: {text}");
    }
    // Only the container differs.
    let (code, text) = run(&["convert", LLM, "k.npy", "--to", "row-major", "--tensor", name]);
    assert!(
        code == Some(0) && text.starts_with("1 tensor copied from safetensors to npy, "),
        "{text}"
    );
}

#[test]
fn words_without_a_note_are_read_as_said() {
    let folder = tilewright_testing::folder();
    let run = |args: &[&str]| run(folder.path(), args);
    let gptq = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_gptq.safetensors");
    let words = ["--tensor", "*qweight", "--from", "GPTQ", "--dtype", "u4"];
    let to = ["--to", "MARLIN", "--store", "s32", "-q"];
    let (code, text) = run(&[&["convert", gptq, "m.safetensors"], &words[..], &to].concat());
    assert_eq!(code, Some(0), "{text}");
    for (a, b) in [(gptq, "m.safetensors"), ("m.safetensors", gptq)] {
        let args = [&["same-data", a, b], &words[..]].concat();
        assert_eq!(run(&args), (Some(0), "same\n".into()));
        let (code, text) = run(&["same-data", a, b, "--tensor", "*qweight"]);
        assert!(code == Some(1) && text.contains("has another element type"), "{text}");
    }
    let prints = [gptq, "m.safetensors"].map(|a| run(&[&["fingerprint", a], &words[..]].concat()));
    assert!(prints[0] == prints[1] && prints[0].1.contains(" u4 [128,64] "), "{prints:?}");
    let (code, text) = run(&["fingerprint", gptq, "--from", "GPTQ", "--dtype", "u4"]);
    assert!(code == Some(2) && text.contains("leave it out with --tensor"), "{text}");
    assert!(!text.contains("--rule"), "{text}");
}

#[test]
fn what_cannot_be_verified_is_said() {
    let folder = tilewright_testing::folder();
    let run = |args: &[&str]| run(folder.path(), args);
    let path = |name: &str| folder.path().join(name);
    let zn = ["convert", LLM, "zn.safetensors", "--to", "zN", "--tensor", "*k_proj.weight", "-q"];
    assert_eq!(run(&zn).0, Some(0));
    let whole = fs::read(path("zn.safetensors")).unwrap();
    // The metadata with other keys of the same length.
    let renamed = |from: &str, to: &str| {
        let text: String = whole.iter().map(|byte| *byte as char).collect();
        let bytes: Vec<u8> = text.replace(from, to).chars().map(|one| one as u8).collect();
        fs::write(path("changed.safetensors"), bytes).unwrap();
        run(&["verify", "changed.safetensors"])
    };
    let first = "model.layers.0.self_attn.k_proj.weight";
    let key = |what: &str, name: &str| format!("tilewright.{what}.{name}");
    let (code, text) = renamed(&key("data", first), &key("text", first));
    assert_eq!(code, Some(0), "{text}");
    let remark =
        format!("\na layout is recorded for {first:?}, and no fingerprint: not compared\n");
    assert!(text.starts_with("same: 1 of 22 tensors has") && text.ends_with(&remark), "{text}");
    let (_, json) = run(&["verify", "changed.safetensors", "--json"]);
    assert!(json.contains(&format!(r#""unrecorded":["{first}"]"#)), "{json}");
    let (code, text) = renamed("tilewright.data.", "tilewright.text.");
    assert!(code == Some(2) && text.contains("name the original file with --against"), "{text}");
    assert!(text.contains("a layout is recorded for"), "{text}");
    let lost = first.replace("layers.0", "layers.7");
    let (code, text) = renamed(&key("layout", first), &key("layout", &lost));
    assert!(code == Some(1) && text.starts_with("differ: tensor "), "{text}");
    // An array that does not match its note.
    fs::write(path("a.npy"), npy("4, 6", "<f2", false, &[3; 48])).unwrap();
    assert_eq!(run(&["convert", "a.npy", "z.npy", "--to", "zN", "-q"]).0, Some(0));
    let mut bytes = fs::read(path("z.npy")).unwrap();
    bytes[200] ^= 1;
    fs::write(path("z.npy"), bytes).unwrap();
    for args in [&["verify", "z.npy"][..], &["verify", "z.npy", "--against", "a.npy"]] {
        let (code, text) = run(args);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("z.npy was changed or replaced since it was written"), "{text}");
    }
    let (code, text) = run(&["verify", "zn.safetensors", "--store", "s32"]);
    assert!(code == Some(2) && text.contains("--store needs the original file"), "{text}");
}
