//! `--dtype` against what a file states: element type, byte order, and the note beside it.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

/// Runs the program in a folder; returns the exit code, and both outputs as one text.
fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    let Output { status, stdout, stderr } =
        program.args(args).current_dir(folder).output().unwrap();
    (status.code(), String::from_utf8([stdout, stderr].concat()).unwrap())
}

/// Returns an .npy file of 3×4 elements.
fn npy(descr: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (3, 4), }}\n");
    let mut bytes = b"\x93NUMPY\x01\0".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    bytes
}

/// Makes a folder with arrays of both byte orders, of integers, of raw elements, and the bytes without a header.
fn arrays() -> tempfile::TempDir {
    let folder = tilewright_testing::folder();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let floats = (1..13u8).map(f32::from);
    let little: Vec<u8> = floats.clone().flat_map(f32::to_le_bytes).collect();
    let big: Vec<u8> = floats.flat_map(f32::to_be_bytes).collect();
    let words: Vec<u8> = (0..12u16).flat_map(|i| (0x3F80 + i).to_le_bytes()).collect();
    write("le.npy", &npy("<f4", &little));
    write("be.npy", &npy(">f4", &big));
    write("le.bin", &little);
    write("words.npy", &npy("<u2", &words));
    write("words.bin", &words);
    write("raw.npy", &npy("|V2", &words));
    folder
}

#[test]
fn a_type_or_an_order_that_contradicts_a_header_is_refused() {
    let folder = arrays();
    let run = |args: &[&str]| run(folder.path(), args);
    for (file, dtype, says) in [
        (
            "le.npy",
            ">f4",
            "the file states little-endian elements, but big-endian ones are requested",
        ),
        (
            "be.npy",
            "<f4",
            "the file states big-endian elements, but little-endian ones are requested",
        ),
        ("words.npy", ">u2", "little-endian elements"),
        (
            "le.npy",
            "s32",
            "the file states elements of f32, but s32 is requested; request f32, or leave the type out",
        ),
        ("le.npy", "bf16", "<f4 elements take 4 bytes, bf16 takes 2"),
    ] {
        for args in [
            &["convert", file, "o.npy", "--to", "row-major", "--dtype", dtype][..],
            &["convert", file, "o.npy", "--to", "zN", "--dtype", dtype],
            &["info", file, "--dtype", dtype],
            &["fingerprint", file, "--dtype", dtype],
        ] {
            let (code, text) = run(args);
            assert!(code == Some(2) && text.contains(says), "{args:?}: {code:?} {text}");
            assert!(text.contains(file), "{args:?}: {text}");
        }
    }
    let from = ["--from", ">f4[3,4] row-major", "--to", "zN"];
    let (code, text) = run(&[&["convert", "le.npy", "o.npy"], &from[..]].concat());
    assert!(code == Some(2) && text.contains("big-endian"), "{text}");
    assert!(!folder.path().join("o.npy").exists());
    // What agrees with the header changes nothing.
    let (_, own) = run(&["fingerprint", "le.npy"]);
    for (file, dtype) in
        [("le.npy", "f32"), ("le.npy", "<f4"), ("be.npy", ">f4"), ("be.npy", "f32")]
    {
        assert_eq!(
            run(&["fingerprint", file, "--dtype", dtype]),
            (Some(0), own.clone()),
            "{file} {dtype}"
        );
    }
}

#[test]
fn integers_are_read_as_the_type_that_they_hold_and_it_is_said() {
    let folder = arrays();
    let run = |args: &[&str]| run(folder.path(), args);
    let args = ["convert", "words.npy", "o.npy", "--to", "zN", "--dtype", "bf16"];
    let (code, text) = run(&args);
    let says = "note: tensor \"array\": its elements are u16 in the file, and are read as bf16";
    assert!(code == Some(0) && text.contains(says), "{text}");
    let (_, text) = run(&["info", "o.npy"]);
    assert!(text.contains("bf16[3,4] zN") || text.contains("bf16  [3, 4]"), "{text}");
    // With a layout of the input, any type is read as another.
    let more = ["--dtype", "s32", "--from", "row-major", "--to", "col-major"];
    let (code, text) = run(&[&["convert", "le.npy", "s.npy"], &more[..]].concat());
    let says = "its elements are f32 in the file, and are read as s32";
    assert!(code == Some(0) && text.contains(says), "{text}");
    let (code, text) = run(&["convert", "raw.npy", "r.npy", "--to", "zN", "--dtype", "bf16"]);
    assert!(code == Some(0) && !text.contains("are read as"), "{text}");
    assert!(text.contains("note: the layout is written to r.npy.tilewright.json"), "{text}");
    let long = format!("{}.npy", "n".repeat(300));
    let (code, text) = run(&["convert", "le.npy", &long, "--to", "zN", "--dry-run"]);
    assert!(code == Some(3) && text.contains("cannot write"), "{text}");
}

#[test]
fn a_note_states_the_type_and_the_order() {
    let folder = arrays();
    let run = |args: &[&str]| run(folder.path(), args);
    assert_eq!(run(&["convert", "raw.npy", "zn.npy", "--to", "zN", "--dtype", "bf16"]).0, Some(0));
    assert_eq!(run(&["info", "zn.npy", "--dtype", "bf16"]).0, Some(0));
    for dtype in ["f16", "u16"] {
        let (code, text) = run(&["info", "zn.npy", "--dtype", dtype]);
        assert!(code == Some(2) && text.contains("by the note zn.npy.tilewright.json"), "{text}");
    }
    // The note's layout needs the file that it describes.
    fs::write(folder.path().join("zn.npy"), fs::read(folder.path().join("words.npy")).unwrap())
        .unwrap();
    for args in [
        &["info", "zn.npy"][..],
        &["fingerprint", "zn.npy"],
        &["convert", "zn.npy", "o.npy", "--to", "col-major"],
        &["infer", "--original", "zn.npy", "--packed", "words.bin"],
    ] {
        let (_, text) = run(args);
        assert!(
            text.contains("note: zn.npy.tilewright.json is a note of other bytes"),
            "{args:?}: {text}"
        );
    }
    for args in [
        &["info", "zn.npy", "--json"][..],
        &["convert", "zn.npy", "p.npy", "--to", "col-major", "--json"],
    ] {
        let (_, text) = run(args);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let note = value["notes"][0].as_str().unwrap();
        assert!(note.contains("is a note of other bytes"), "{args:?}: {text}");
    }
}

#[test]
fn the_type_of_two_files_is_that_of_the_one_that_lacks_it() {
    let folder = arrays();
    let run = |args: &[&str]| run(folder.path(), args);
    let raw = ["--dtype", "f32", "--dims", "3,4"];
    for file in ["le.npy", "be.npy"] {
        let (code, text) = run(&[&["same-data", file, "raw:le.bin"], &raw[..]].concat());
        assert_eq!((code, text.as_str()), (Some(0), "same\n"), "{file}");
    }
    // The array with a header keeps its type and its order.
    let (code, text) =
        run(&["same-data", "le.npy", "raw:le.bin", "--dtype", ">f4", "--dims", "3,4"]);
    assert!(code == Some(1) && text.contains("the same if byte-swapped"), "{text}");
    let (code, text) =
        run(&["same-data", "words.npy", "raw:words.bin", "--dtype", "bf16", "--dims", "3,4"]);
    assert!(code == Some(1) && text.contains("u16") && text.contains("bf16"), "{text}");
    // If both state it, both are checked.
    let (code, text) = run(&["same-data", "le.npy", "be.npy", "--dtype", ">f4"]);
    assert!(code == Some(2) && text.contains("le.npy"), "{text}");
    assert_eq!(run(&["same-data", "le.npy", "be.npy"]), (Some(0), "same\n".into()));
    // A note beside a file states its array too.
    assert_eq!(run(&["convert", "words.npy", "zn.npy", "--to", "zN", "--dtype", "f16"]).0, Some(0));
    let (code, text) =
        run(&["same-data", "zn.npy", "raw:words.bin", "--dtype", "bf16", "--dims", "3,4"]);
    assert!(code == Some(1) && text.contains("f16") && text.contains("bf16"), "{text}");
}
