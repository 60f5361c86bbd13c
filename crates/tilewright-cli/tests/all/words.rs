//! Words that hold smaller elements, as drawn for a user.

use std::process::{Command, Output};

fn run(args: &[&str]) -> (Option<i32>, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    let Output { status, stdout, stderr } = program.args(args).output().unwrap();
    (status.code(), String::from_utf8([stdout, stderr].concat()).unwrap())
}

/// Returns the numbers of a row of a grid, up to the columns that are left out.
fn row(text: &str, number: usize) -> Vec<u64> {
    let mut rows = text.lines().filter_map(|line| line.split_once('|'));
    let (_, cells) = rows.find(|(head, _)| head.trim() == number.to_string()).unwrap();
    let cells = cells.split('⋯').next().unwrap_or_default();
    let cells = cells.split('|').map(str::trim).filter(|cell| !cell.is_empty());
    cells.map(|cell| cell.parse().unwrap()).collect()
}

#[test]
fn a_grid_has_the_elements_and_says_the_words() {
    let (code, text) = run(&["show", "u4[16,64] GPTQ as s32[2,64]"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("((8,2),64):((1,512),8) as s32[2,64]\n"), "{text}");
    // Element (k, n) is nibble k % 8 of word n of row k / 8.
    for k in 0..16 {
        let shown = row(&text, k);
        assert!(shown.len() >= 8, "{text}");
        for (n, offset) in shown.iter().enumerate() {
            let (k, n) = (k as u64, n as u64);
            assert_eq!(*offset, (k / 8 * 64 + n) * 8 + k % 8, "({k},{n})");
        }
    }
    let (_, text) = run(&["show", "u4[4,16] AWQ as s32[4,2]"]);
    assert!(text.contains(" as s32[4,2]\n"), "{text}");
    // Nibble i of a word belongs to column [0, 2, 4, 6, 1, 3, 5, 7][i].
    for n in 0..4 {
        let place = |column: u64| [0, 4, 1, 5, 2, 6, 3, 7][column as usize];
        let expected: Vec<u64> =
            (0..16).map(|column| (n * 2 + column / 8) * 8 + place(column % 8)).collect();
        assert_eq!(row(&text, n as usize), expected);
    }
}

#[test]
fn other_pictures_of_words() {
    let words = "u4[4,8] AWQ as s32";
    let (code, text) = run(&["show", words, "--memory"]);
    assert_eq!(code, Some(0), "{text}");
    // Within a word the even columns come first.
    assert!(text.starts_with("a c e g b d f h i k m o j l n p "), "{text}");
    let (code, text) = run(&["show", words, "u4[4,8] row-major as u8"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("as s32[4,1]") && text.contains("as u8[4,4]"), "{text}");
    for form in ["--svg", "--html", "--tikz"] {
        let (code, text) = run(&["show", words, form, "-"]);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("AWQ as s32[4,"), "{form}");
    }
    let (code, text) = run(&["show", "u4[4,8] AWQ as s32[3,1]"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("s32[4,1]"), "{text}");
}
