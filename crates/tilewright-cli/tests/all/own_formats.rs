//! A user's own formats: on the command line, from the configuration, and broken ones.

use std::{fs, path::Path, process::Command};

const FORMATS: &str = "[[format]]
name = 'panels'
aliases = ['PANELS']
pattern = '(m1 m0:8) (n1 n0:C0) -> n1 m1 m0 n0'
constants = { C0 = { 8 = 4, 16 = 2 } }
source = 'our kernel'
";

fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tilewright"))
        .args(args)
        .current_dir(folder)
        .env("XDG_CONFIG_HOME", folder)
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[test]
fn formats_of_a_file_and_of_the_configuration() {
    let folder = tilewright_testing::folder();
    let run = |args: &[&str]| run(folder.path(), args);
    fs::write(folder.path().join("my.toml"), FORMATS).unwrap();
    let spec = ["index", "f16[16,6] panels", "--coord", "9,3"];
    assert_eq!(run(&spec).0, Some(2));
    let (code, text) = run(&[&spec[..], &["--formats", "my.toml"]].concat());
    assert!(code == Some(0) && text.starts_with("51"), "{text}");
    let (_, text) = run(&["--formats", "my.toml", "formats", "PANELS"]);
    assert!(text.starts_with("panels\n") && text.contains("our kernel"), "{text}");
    let (_, text) = run(&["recognise", "f16[16,6] PANELS", "--formats", "my.toml"]);
    assert!(text.lines().any(|line| line.starts_with("panels")), "{text}");
    // The other notations print the layout, not the name.
    let (_, text) =
        run(&["translate", "f16[16,6] panels", "--to", "cute", "--json", "--formats", "my.toml"]);
    assert!(text.contains("\"layout\":\"f16[16,6] ((8,2),(2,3))"), "{text}");

    fs::create_dir(folder.path().join("tilewright")).unwrap();
    fs::copy(folder.path().join("my.toml"), folder.path().join("tilewright/formats.toml")).unwrap();
    assert_eq!(run(&spec).0, Some(0));
}

#[test]
fn a_broken_file_is_named_with_its_line() {
    let folder = tilewright_testing::folder();
    for (text, words) in [
        ("[[format]]\nname = 'a b'\npattern = 'm -> m'", "line 2: `a b` is not a name"),
        ("[[format]]\nname = 'zN'\npattern = 'm -> m'", "line 2: `zN` is a layout already"),
        ("[[format]]\nname = 'NHWC'\npattern = 'm -> m'", "line 2: `NHWC` is a layout already"),
        ("[[format]]\nname = 'x1'\npattern = 'm -> k'", "line 3: pattern: no digit is called `k`"),
        ("[[format]]\nname = 'x1'\npatern = 'm -> m'", "line 3: unknown field `patern`"),
        ("[[format]]\nname = 'x1'", "missing field `pattern`"),
        ("[[format]\n", "line 1"),
        (
            "[[format]]\nname = 'x1'\npattern = 'm:B -> m'\nconstants = { C = { 8 = 2 } }",
            "line 4: the pattern lacks the constant C",
        ),
        (
            "[[format]]\nname = 'x1'\npattern = 'm:B -> m'\nconstants = { B = { 8 = 0 } }",
            "line 4: `8 = 0`",
        ),
        ("[[format]]\nname = 'x1'\npattern = 'm:0 -> m'", "size of 1 or more"),
        (
            "[[format]]\nname = 'x1'\npattern = 'm:B -> m'\nconstants = { B = { 7 = 2 } }",
            "line 4: `7 = 2`: no element type has 7 bits\n  constants = { B = { 7 = 2 } }\n                ^",
        ),
        (
            "[[format]]\nname = 'x1'\npattern = 'm -> m'\nexample = 'f16[3,3] x1'",
            "line 4: the example `f16[3,3] x1`: `x1` is a layout of the 1 dims m, the array has 2",
        ),
        (
            "[[format]]\nname = 'x1'\npattern = 'm -> m'\nexample = 'f16[3] C'",
            "is not a layout in x1",
        ),
        ("[[format]]\nname = 'x1'\naliases = ['x1']\npattern = 'm -> m'", "a layout already"),
    ] {
        fs::write(folder.path().join("bad.toml"), text).unwrap();
        let (code, said) = run(folder.path(), &["--formats", "bad.toml", "formats"]);
        assert!(code == Some(2) && said.contains("bad.toml") && said.contains(words), "{said}");
    }
    // A pattern without a rest and a type that only one constant knows have examples too.
    let text = "[[format]]\nname = 'x1'\npattern = '(m1:2 m0:B) (n1 n0:C) -> n1 m1 m0 n0'
constants = { B = { 8 = 2, 32 = 4 }, C = { 16 = 2, 32 = 4 } }";
    fs::write(folder.path().join("good.toml"), text).unwrap();
    let (code, said) = run(folder.path(), &["--formats", "good.toml", "formats", "x1"]);
    assert!(code == Some(0) && said.contains("f32[2,10] ((4,2),(4,3))"), "{said}");
    let (code, said) = run(folder.path(), &["--formats", "none.toml", "formats"]);
    assert!(code == Some(3) && said.contains("none.toml"), "{said}");
}
