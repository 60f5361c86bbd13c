//! `emit` as a program.

use std::process::{Command, Output};

fn tilewright(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tilewright")).args(args).output().unwrap()
}

#[test]
fn code_goes_to_stdout() {
    let out = tilewright(&["emit", "bf16[64,64] zN", "--to", "python"]);
    let code = "def offset(i0, i1):\n    return i0 * 16 + (i1 & 15) + (i1 >> 4) * 1024\n";
    assert_eq!(
        (out.status.code(), String::from_utf8(out.stdout).unwrap().as_str()),
        (Some(0), code)
    );

    let asked = ["emit", "zN", "--dims", "M,N", "--dtype", "f16", "--assume", "M % 16 == 0"];
    let out = tilewright(
        &[&asked[..], &["--to", "cuda", "--bits", "32", "--name", "at", "--json"]].concat(),
    );
    let answer: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(answer["arguments"], serde_json::json!(["i0", "i1", "M", "N"]));
    assert_eq!((&answer["language"], &answer["inverse"]), (&"cuda".into(), &false.into()));
    let code = answer["code"].as_str().unwrap();
    assert!(
        code.starts_with("__host__ __device__ __forceinline__ unsigned int at(unsigned int i0"),
        "{code}"
    );
    assert!(
        code.ends_with("    return i0 * 16 + (i1 & 15) + (i1 >> 4) * (M * 16);\n}\n"),
        "{code}"
    );
}

#[test]
fn mistakes_say_what_is_legal() {
    for (args, says) in [
        (
            &["emit", "(2,3):(3,1)", "--to", "cobol"][..],
            "expected one of c, cuda, rust, python, triton, mlir",
        ),
        (&["emit", "zN", "--to", "c"], "--dims"),
        (
            &["emit", "zN", "--to", "c", "--dims", "M,N", "--dtype", "f16", "--assume", "K"],
            "expected 'N % 16 == 0'",
        ),
        (
            &["emit", "zN", "--to", "c", "--dims", "M,N"],
            "`zN` needs the array's dtype, for C0; named extents stand for all",
        ),
        (
            &["emit", "SWAP_W13_W31", "--to", "c", "--dims", "G,M,N", "--dtype", "bf16"],
            "the layout starts at offset 80, a pattern at 0; a pattern is a dense box of digits, at G = 2, M = 5, N = 16;",
        ),
        (
            &["emit", "SCALE_128x4", "--to", "c", "--dims", "M", "--dtype", "u8"],
            "K/block (in) is missing; named extents",
        ),
        (
            &["emit", "{1,0:T(3,5)(2,1)}", "--to", "c", "--dims", "M,N", "--dtype", "f16"],
            "at named extents: ",
        ),
        (&["emit", "row-major", "--to", "c", "--dims", "for,N"], "a word of C"),
        (&["emit", "row-major", "--to", "c", "--dims", "i1,N"], "it stands for two things"),
        (&["emit", "(2,3):(0,1)", "--to", "c", "--inverse"], "several coordinates share an offset"),
        (&["emit", "[0,3] row-major", "--to", "c"], "no elements"),
        (&["emit", "(2,3):(3,1)"], "--to"),
    ] {
        let out = tilewright(args);
        let said = String::from_utf8(out.stderr).unwrap();
        assert!(
            out.status.code() == Some(2)
                && out.stdout.is_empty()
                && said.contains(says)
                && !said.contains("100003"),
            "{args:?}: {said}"
        );
    }
}
