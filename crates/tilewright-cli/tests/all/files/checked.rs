//! `verify` finds changes.

use super::*;

#[test]
fn a_changed_byte_is_found() {
    let folder = Folder::new();
    let there = folder.text("there.safetensors");
    answer(&["convert", CNN, &there, "--to", "{3,2,1,0:T(8,128)}", "--tensor", "0.weight"]);
    let good = fs::read(&there).unwrap();
    let start = 8 + u64::from_le_bytes(good[..8].try_into().unwrap()) as usize;
    for at in [start, start + 500, good.len() - 1] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&there, &bad).unwrap();
        let output = run(&["verify", &there, "--against", CNN]);
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "byte {at}: {stdout}");
        assert!(stdout.starts_with("differ: "), "byte {at}: {stdout}");
    }
}

/// `verify` takes the options of the conversion.
#[test]
fn the_options_of_convert_verify_it() {
    let folder = Folder::new();
    let out = folder.text("out.safetensors");
    for options in [
        &["--from", "col-major", "--to", "row-major", "--tensor", "*proj.weight"][..],
        &[
            "--from",
            "zN",
            "--to",
            "row-major",
            "--dims",
            "512,200",
            "--tensor",
            "scale.e4m3",
            "--dtype",
            "u8",
        ],
        &["--to", "zN", "--skip-unfit", "--fill", "one"],
        &["--rule", "*proj*={0,1:T(8,128)(2,1)}", "--rule", "*embed*=zN", "--tensor", "model.*"],
    ] {
        let convert = [&["convert", LLM, &out, "--force"], options].concat();
        let output = run(&convert);
        if options.contains(&"512,200") {
            assert_eq!(output.status.code(), Some(2));
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{options:?}");
        assert!(
            answer(&[&["verify", &out, "--against", LLM], options].concat()).starts_with("same")
        );
    }
    let output = run(&["verify", &out, "--against", LLM, "--to", "zN", "--tensor", "model.*proj*"]);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout.starts_with("differ: tensor ") && stdout.contains("expected "), "{stdout}");
}
