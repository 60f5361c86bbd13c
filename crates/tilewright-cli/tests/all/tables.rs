//! Index tables as a user asks about them.

use std::{
    fs,
    process::{Command, Output},
};

fn run(args: &[&str]) -> (Option<i32>, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    let Output { status, stdout, stderr } = program.args(args).output().unwrap();
    (status.code(), String::from_utf8([stdout, stderr].concat()).unwrap())
}

const ROWS: &str = "f16[4,8] table(0; 2,-,0,1,3) row-major";

#[test]
fn offsets_and_back() {
    let list = [Some(2), None, Some(0), Some(1), Some(3)];
    for (place, index) in list.into_iter().enumerate() {
        for column in 0..8 {
            let offset = (place * 8 + column).to_string();
            let (code, text) = run(&["index", ROWS, "--offset", &offset]);
            assert_eq!(code, Some(0), "{text}");
            let Some(index) = index else {
                assert_eq!(text, "padding\n");
                continue;
            };
            assert_eq!(text, format!("({index},{column})\n"));
            let (_, text) = run(&["index", ROWS, "--coord", &format!("{index},{column}")]);
            assert_eq!(text, format!("{offset} (byte {})\n", (place * 8 + column) * 2));
        }
    }
}

#[test]
fn layouts_are_compared_and_explained() {
    assert_eq!(run(&["same", ROWS, ROWS]), (Some(0), "same\n".to_owned()));
    let (code, text) = run(&["same", ROWS, "row-major"]);
    assert_eq!((code, text.as_str()), (Some(1), "differ at (0,0): 16 vs 0\n"));
    let (code, text) = run(&["explain", ROWS]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("dim 0: 4 indices stored at 5 places, 1 of them a hole"), "{text}");
    let (_, json) = run(&["explain", ROWS, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["spec"], &json["padding"]), (&ROWS.into(), &8.into()));
    assert_eq!(json["stored"]["dims"], serde_json::json!([5, 8]));
    // Layouts of digits are drawn; others are refused with the reason.
    let (code, text) = run(&["show", "f16[4,8] table(0; 2,3,0,1) row-major"]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = run(&["show", ROWS]);
    assert_eq!(code, Some(2));
    assert!(text.contains("an index table that is not digits"), "{text}");
    let (code, text) = run(&["explain", "f16[4] table(0; 0,2,2,1) row-major"]);
    assert_eq!(code, Some(2));
    assert!(
        text.ends_with("  f16[4] table(0; 0,2,2,1) row-major\n         ^^^^^^^^^^^^^^^^^\n"),
        "{text}"
    );
}

/// A raw file is converted there and back, by a list in a file.
#[test]
fn files_are_converted() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let data: Vec<u8> = (0..64).map(|i| i * 3 + 1).collect();
    fs::write(path("a.bin"), &data).unwrap();
    fs::write(path("order.txt"), "3 1 - 0 2").unwrap();
    let spec = format!("u8[4,16] table(0; @{}) row-major", path("order.txt"));
    let (source, there, back) = (
        format!("raw:{}", path("a.bin")),
        format!("raw:{}", path("b.bin")),
        format!("raw:{}", path("c.bin")),
    );
    let rows = "u8[4,16] row-major";
    let (code, text) =
        run(&["convert", &source, &there, "--from", rows, "--to", &spec, "--verify"]);
    assert_eq!(code, Some(0), "{text}");
    let moved = fs::read(path("b.bin")).unwrap();
    let zeros = [0; 16];
    let row = |i: usize| &data[16 * i..16 * i + 16];
    assert_eq!(moved, [row(3), row(1), &zeros, row(0), row(2)].concat());
    let (_, text) = run(&["info", &there]);
    assert!(text.contains("table(0; 3,1,-,0,2) row-major"), "{text}");
    let (code, text) =
        run(&["convert", &there, &back, "--from", &spec, "--to", "row-major", "--verify"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(fs::read(path("c.bin")).unwrap(), data);
}
