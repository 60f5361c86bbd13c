//! Messages about wrong arguments and files: the fault and the remedy.

use std::{fs, process::Command};

/// Returns the exit code and the output.
fn run(args: &[&str]) -> (Option<i32>, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    let output = program.args(args).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// A misspelt word of a closed list gets the nearest word of the list.
#[test]
fn a_misspelled_value_gets_a_suggestion() {
    let tile = "f16[32,32] row-major";
    for (args, near) in [
        (&["emit", tile, "--to", "pyton"][..], "python"),
        (&["emit", tile, "--to", "C"], "c"),
        (&["emit", tile, "zN", "--to", "cdua"], "cuda"),
        (&["banks", tile, "--access", "ldmatrx"], "ldmatrix"),
        (&["banks", tile, "--access", "write colum"], "column"),
        (&["banks", tile, "--access", "row", "--banks", "nvida"], "nvidia"),
        (&["translate", tile, "--to", "numppy"], "numpy"),
        (&["translate", "f32[8] @ mesh(2) [Shard(0)]", "--to", "troch"], "torch"),
        (&["recipe", "show", "mixtral"], "mixtral"),
        (&["eval", "colaesce(4:1)"], "coalesce"),
        (&["formats", "zM"], "zN"),
    ] {
        let (code, text) = run(args);
        let suggested = text.contains(&format!("did you mean `{near}"));
        assert!(code == Some(2) && suggested, "{args:?}: {code:?} {text}");
    }
    // If no word is near, the message has the list.
    let (_, text) = run(&["emit", tile, tile, "--to", "ada"]);
    assert!(text.contains("expected one of cuda, hip"), "{text}");
}

/// A question ends its sentence; what follows begins another one.
#[test]
fn messages_are_sentences() {
    let path = |name: &str| format!("{}/../../corpus/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let cnn = path("tiny_cnn_f32.safetensors");
    for (args, says) in [
        (
            &["convert", &cnn, "o.safetensors", "--recipe", "llama-orignal-to-hf"][..],
            "did you mean `llama-original-to-hf`? `recipe list` lists all names\n",
        ),
        (
            &["convert", &cnn, "o.safetensors", "--to", "zN", "--tensor", "conv9*"],
            "no tensor matches \"conv9*\"; similar names: \"",
        ),
        (
            &["convert", &cnn, "o.npy", "--to", "table(0; @o.txt)"],
            "the layout after the index table is missing",
        ),
        (&["explain", "f32[32,64] GPTQ"], "needs elements of 2, 4 or 8 bits"),
        (&["eval", "logical_divide(8:1,<2,4>)"], "more tilers than axes: 2 for 1"),
        (&["eval", "5/0"], "`5 / 0` divides by 0\n"),
        (&["eval", "5 % (3 - 3)"], "`5 % 0` divides by 0\n"),
        (&["eval", "9223372036854775807 + 1"], "`9223372036854775807 + 1` does not fit 64 bits"),
        (&["eval", "Sw<-1,0,3>"], "bits and base are 0 or more"),
        (&["show", "Sw<-1,0,3> o 8:1"], "swizzle <-1,0,3> is not within bits 0 to 62"),
        (&["eval", "zipped_product((),())"], "() cannot be part of another layout"),
        (&["eval", "idx2crd(3,())"], "coordinate 3 at leaf 0 of a shape; the size there is 1"),
    ] {
        let (code, text) = run(args);
        assert!(code == Some(2) && text.contains(says), "{args:?}: {code:?} {text}");
        assert!(!text.contains("?;") && !text.contains("near are"), "{args:?}: {text}");
    }
}

#[test]
fn the_fault_is_pointed_at() {
    for (args, says, caret) in [
        (&["explain", "{1;0}", "--dims", "2,3"][..], "expected `,`, `:` or `}`", 4),
        (&["explain", "f32[2,3]{1;0}"], "expected `,`, `:` or `}`", 12),
        (&["explain", "f32[2,3]{0 1}"], "expected `,`, `:` or `}`", 13),
        (
            &["explain", "numpy:shape=(99999999999999999999,),strides=(1,),dtype=f32"],
            "too large",
            15,
        ),
    ] {
        let (code, text) = run(args);
        let column = text.lines().last().and_then(|line| line.find('^'));
        assert_eq!((code, column), (Some(2), Some(caret)), "{args:?}: {text}");
        assert!(text.contains(says), "{args:?}: {text}");
    }
    let (code, text) = run(&["explain", "row-major", "--dims", "99999999999999999999,2"]);
    assert!(code == Some(2) && text.contains("exceeds 2^64 - 1"), "{text}");
}

#[test]
fn a_file_that_is_cut_off_is_called_so() {
    let folder = tilewright_testing::folder();
    let array = [b"\x93NUMPY\x01\x00\x76\x00".as_slice(), &[b' '; 0x76]].concat();
    for (name, bytes) in [
        ("a.safetensors", &b""[..]),
        ("b.safetensors", b"\x40\0\0\0\0\0\0\0{\"a\""),
        ("a.npy", b""),
        ("b.npy", &array[..4]),
        ("c.npy", &array[..40]),
        ("a.gguf", b""),
        ("b.gguf", b"GGUF\x03\0"),
        ("a.npz", b"PK"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let (code, text) = run(&["info", path.to_str().unwrap()]);
        assert!(code == Some(3) || code == Some(2), "{name}: {code:?} {text}");
        assert!(text.contains("cut off"), "{name}: {text}");
    }
}

#[test]
fn elements_that_share_an_offset_are_all_named() {
    let index =
        |spec: &str, more: &[&str]| run(&[&["index", spec, "--offset", "3"], more].concat());
    assert_eq!(index("(4,4):(1,1)", &[]), (Some(0), "(0,3), (1,2), (2,1), (3,0)\n".to_owned()));
    let (_, json) = index("(4,4):(1,1)", &["--json"]);
    assert!(
        json.contains(r#""coord":[0,3],"coords":[[0,3],[1,2],[2,1],[3,0]],"count":4"#),
        "{json}"
    );
    let (_, text) = index("(64,64):(1,1)", &[]);
    assert_eq!(text, "(0,3), (1,2), (2,1), (3,0)\n");
    let (_, text) = index("(40,4):(0,1)", &[]);
    assert!(text.starts_with("(0,3), (1,3), ") && text.ends_with(" and 24 more\n"), "{text}");
    let (_, text) = index("(4096,4096):(0,1)", &[]);
    assert!(text.ends_with("perhaps among others: elements share offsets\n"), "{text}");
    // The answer for a layout whose elements have different offsets is unchanged.
    assert_eq!(index("(4,4):(4,1)", &[]), (Some(0), "(0,3)\n".to_owned()));
    let (_, json) = index("(4,4):(4,1)", &["--json"]);
    assert!(!json.contains("coords") && !json.contains("count"), "{json}");
}
