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
    let folder = tilewright_testing::folder();
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

/// Words of 3-bit values as GPTQ has them: value (k,n) of `values` is in column n, 32 values of three words.
fn gptq(values: &[u8], columns: usize) -> Vec<u8> {
    let words = values.len() / columns / 32 * 3;
    let mut bits = vec![0u32; words * columns];
    for (at, value) in values.iter().enumerate() {
        let (k, n) = (at / columns, at % columns);
        for bit in (0..3).filter(|bit| value >> bit & 1 == 1) {
            let place = k % 32 * 3 + bit;
            bits[(k / 32 * 3 + place / 32) * columns + n] |= 1 << (place % 32);
        }
    }
    bits.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Values of 3 bits that straddle words become bytes, and these the same words again.
#[test]
fn values_of_three_bits_are_converted_both_ways() {
    let folder = tilewright_testing::folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let values: Vec<u8> = (0..64 * 5).map(|at| (at * at / 3 + at) as u8 % 8).collect();
    let words = gptq(&values, 5);
    let header = r#"{"w":{"dtype":"I32","shape":[6,5],"data_offsets":[0,120]}}"#;
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &words].concat();
    fs::write(path("gptq.safetensors"), file).unwrap();
    let (gptq, bytes) = (path("gptq.safetensors"), path("bytes.safetensors"));
    let to = "k n (b1 b0:8) -> k n b1 b0";
    let (code, text) = run(&[
        "convert",
        &gptq,
        &bytes,
        "--from",
        "GPTQ_3BIT",
        "--dtype",
        "u1",
        "--to",
        to,
        "--store",
        "u8",
        "--verify",
    ]);
    assert_eq!(code, Some(0), "{text}");
    let moved = fs::read(&bytes).unwrap();
    assert!(moved.ends_with(&values), "{text}");
    let back = path("back.safetensors");
    let (code, text) =
        run(&["convert", &bytes, &back, "--to", "GPTQ_3BIT", "--store", "s32", "--verify"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(fs::read(&back).unwrap().ends_with(&words));
    let (code, text) = run(&["info", &back]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("GPTQ_3BIT as s32[6,5]"), "{text}");
    // Another type is refused with the width that the format has.
    let (code, text) =
        run(&["convert", &gptq, &back, "--from", "GPTQ_3BIT", "--to", to, "--force"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(
        text.contains("GPTQ_3BIT needs elements of 1 bit, such as u1, and they are s32"),
        "{text}"
    );
}

#[test]
fn names_of_tables_are_listed_and_explained() {
    let (code, text) = run(&["formats", "HopperMXValueLayout"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("With index tables") && text.contains("HOPPER_MX_VALUE_MMA2_OLD"),
        "{text}"
    );
    let (code, text) = run(&["explain", "u1[64,5,3] GPTQ_3BIT"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("blocks of 1 of dim 0, in groups of 32 and of 1 of dim 2: 96 blocks"),
        "{text}"
    );
    let (code, text) = run(&["index", "u1[256,128,4] HOPPER_MX_VALUE", "--coord", "0,0,3"]);
    assert_eq!((code, text.as_str()), (Some(0), "15 (byte 1, bit 7)\n"));
    let rows = "u1[3,40,3] CT_PACK_INT32_3BIT";
    let (code, text) = run(&["index", rows, "--coord", "1,2,1"]);
    assert_eq!(code, Some(0));
    assert!(text.starts_with("135 "), "{text}");
}

/// Each named format with a table is written from rows and read back to the same bytes, verified both times.
#[test]
fn every_name_of_a_table_is_converted_both_ways() {
    let folder = tilewright_testing::folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let raw = |name: &str| format!("raw:{}", path(name));
    for format in tilewright::notation::formats_with_tables() {
        let (array, name) = format.example.split_once(' ').unwrap();
        let packed =
            format.bits.filter(|bits| *bits < 8).map_or(String::new(), |bits| format!("E({bits})"));
        let rows = format!("{array}{packed} row-major");
        let spec = tilewright::Spec::parse(&rows).unwrap().resolve(None, None).unwrap();
        let bits = spec.layout().capacity() * u64::from(spec.element_bits().unwrap());
        let data: Vec<u8> = (0..bits / 8).map(|at| (at * at / 7 + at * 13) as u8).collect();
        fs::write(path("rows"), &data).unwrap();
        let there = ["convert", &raw("rows"), &raw("there"), "--from", &rows, "--to", name];
        let (code, text) = run(&[&there[..], &["--verify", "--force"]].concat());
        assert_eq!(code, Some(0), "{name}: {text}");
        let back =
            ["convert", &raw("there"), &raw("back"), "--from", format.example, "--to", "row-major"];
        let (code, text) = run(&[&back[..], &["--verify", "--force"]].concat());
        assert_eq!(code, Some(0), "{name}: {text}");
        assert_eq!(fs::read(path("back")).unwrap(), data, "{name}");
    }
}
