//! `banks` as a user calls it.

use std::process::{Command, Output};

fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    let Output { status, stdout, stderr } = program.args(args).output().unwrap();
    let [out, err] = [stdout, stderr].map(|text| String::from_utf8(text).unwrap());
    (status.code(), out, err)
}

#[test]
fn the_exit_code_says_whether_there_are_conflicts() {
    let (code, text, _) = run(&["banks", "f32[32,32] row-major", "--access", "column"]);
    assert!(code == Some(1) && text.contains("992 conflicts, 32-way at worst"), "{text}");
    let (code, text, _) = run(&["banks", "f32[32,32] (32,32):(33,1)", "--access", "column"]);
    assert!(code == Some(0) && text.contains("no conflicts"), "{text}");
    for (args, says) in [
        (
            &["f32[4,4] row-major", "--access", "diagonal"][..],
            "--access: `diagonal` is not an access",
        ),
        (&["(4,4):(4,1)", "--access", "row"], "--dtype: banks depend on the width"),
        (
            &["f32[4,4] row-major", "--access", "row", "--banks", "x"],
            "--banks: `x` does not name banks",
        ),
        (
            &["f32[4,4] row-major", "--access", "row", "--vector", "3"],
            "--vector: 3 bytes at once; elements of 32 bits are taken 4, 8 or 16 bytes at once",
        ),
        (&["f32[4,4] row-major", "--access", "row", "--vector", "32"], "taken 4, 8 or 16 bytes"),
        (
            &["c128[4,4] row-major", "--access", "row", "--vector", "8"],
            "128 bits are taken 16 bytes",
        ),
        (&["f32[4,4] row-major"], "--access"),
        (&["f16[64,64] row-major", "--access", "ldmatrix.x3"], "`.x3` is not part of"),
        (&["f16[64,64] row-major", "--access", "ldmatrix.trans"], "have to be contiguous"),
        (
            &["f16[64,64] row-major", "--access", "ldmatrix.trans"],
            "`ldmatrix`, with .x2 or .x4, fits here",
        ),
        (
            &["f16[64,64] col-major", "--access", "stmatrix.x2"],
            "`stmatrix.trans`, with .x2 or .x4, fits here",
        ),
        (&["f16[64,64] row-major", "--access", "ldmatrix.trans.trans"], "`.trans` is one too many"),
        (&["f16[64,64] row-major", "--access", "ldmatrix.x2.x4"], "`.x4` is one too many"),
        (
            &["f16[64,64] row-major", "--access", "write ldmatrix"],
            "contradicts itself: ldmatrix reads; say `ldmatrix`, or stmatrix",
        ),
        (
            &["f16[64,64] row-major", "--access", "read stmatrix.x4"],
            "contradicts itself: stmatrix writes; say `stmatrix.x4`, or ldmatrix",
        ),
        (
            &["f16[64,64] row-major", "--access", "row", "--access", "all"],
            "access 2 of 2, `all`: `all` is not an access",
        ),
        (
            &["f16[4,4] row-major", "--access", "ldmatrix.trans", "--access", "row"],
            "access 1 of 2, `ldmatrix.trans`: ",
        ),
        (
            &["f16[1000000,1000000] row-major", "--access", "row"],
            "1000000000000 elements; conflicts are counted for at most 1048576",
        ),
        (
            &["f16[4,6] row-major", "--access", "(1,4):(0,2) over (2,4)", "--vector", "8"],
            "is outside the array",
        ),
        (&["f16[64,64] row-major", "--access", "zN"], "names no threads"),
    ] {
        let (code, out, err) = run(&[&["banks"], args].concat());
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(says) && out.is_empty(), "{err}");
    }
}

#[test]
fn a_fix_is_found_for_all_accesses_together() {
    let tile = ["banks", "f32[32,32] row-major", "--access", "write row", "--access", "column"];
    let (code, text, _) = run(&[&tile[..], &["--fix"]].concat());
    assert_eq!(code, Some(1));
    assert!(text.contains("fix: Sw<5,0,5>, the least swizzle\n"), "{text}");
    assert!(text.contains("or padding of 1 behind each 32"), "{text}");
    assert!(text.contains("189 candidates before it") && text.contains("… 183 more"), "{text}");
    let (_, all, _) = run(&[&tile[..], &["--fix", "--all"]].concat());
    assert!(!all.contains('…') && all.lines().count() > 189 + 30, "{all}");
    // The printed layout is right: it has no conflicts, and a smaller fix does not exist.
    let (code, text, _) = run(&[
        &["banks", "f32[32,32] Sw<5,0,5> o (32,32):(32,1)"],
        &tile[2..],
        &["--fix"],
    ]
    .concat());
    assert_eq!(code, Some(0));
    assert!(text.contains("fix: Sw<5,0,5>"), "{text}");
    let (_, text, _) = run(&["banks", "f32[32,32] row-major", "--access", "row", "--fix"]);
    assert!(text.ends_with("nothing to fix\n"), "{text}");
}

#[test]
fn json_has_every_number() {
    let (code, text, _) =
        run(&["banks", "f16[64,64] row-major", "--access", "ldmatrix.x4", "--fix", "--json"]);
    assert_eq!(code, Some(1));
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["version"], 1);
    assert_eq!(answer["accesses"][0]["degree"], 8);
    let swizzle = &answer["fix"]["swizzle"];
    assert_eq!(swizzle["found"]["change"]["swizzle"], serde_json::json!([3, 3, 3]));
    assert_eq!(swizzle["failed"].as_array().unwrap().len(), 115);
    assert_eq!(swizzle["failed"][0]["threads"], serde_json::json!([0, 1]));
    assert_eq!(answer["fix"]["padding"]["found"]["change"]["padding"], 8);
}

#[test]
fn pictures_on_the_terminal_and_in_a_file() {
    let folder = tilewright_testing::folder();
    let file = folder.path().join("banks.svg");
    let place = file.to_str().unwrap();
    let tile = ["banks", "f32[8,8] row-major", "--access", "column", "--banks", "8x4", "--fix"];
    let (_, text, err) = run(&[&tile[..], &["--draw", "--svg", place]].concat());
    assert!(text.contains("| 0 T3     1     2"), "{text}{err}");
    let svg = std::fs::read_to_string(&file).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains(">0 T3<"), "{svg}");
    let (code, _, err) = run(&[&tile[..], &["--svg", place]].concat());
    assert!(code == Some(3) || code == Some(2), "{err}");
    assert!(err.contains("--force"), "{err}");
}

#[test]
fn tiles_that_stick_out_are_noted() {
    let tile = "((4,8),(2,2)):((32,1),(16,8)) over (16,8)";
    let (_, text, _) = run(&["banks", "f16[60,60] row-major", "--access", tile]);
    // 4 by 8 tiles of 128 values; 60 of 64 rows and of 64 columns exist.
    let note =
        "  note: 32 tiles of (16,8) extend beyond the array: 3600 values counted, 496 outside\n";
    assert!(text.contains(note), "{text}");
    let (_, json, _) = run(&["banks", "f16[60,60] row-major", "--access", tile, "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&json).unwrap();
    let access = &answer["accesses"][0];
    assert_eq!([&access["tiles"], &access["values"], &access["outside"]], [32, 3600, 496]);
    // A tile that divides the array, and an array whose rows a warp does not divide: nothing is outside.
    for (array, access) in [("f16[64,64] row-major", tile), ("f16[5,7] row-major", "row")] {
        let (_, text, _) = run(&["banks", array, "--access", access]);
        assert!(!text.contains("note:"), "{text}");
    }
}
