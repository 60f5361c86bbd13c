//! `show` into files and in colour.

use std::{fs, path::Path, process::Command};

/// The exit code, stdout and stderr of `tilewright show` in a folder.
fn show(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    let output = program.arg("show").args(args).current_dir(folder).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// Both warps hold the whole array.
const SHARED: &str =
    "#ttg.blocked<{sizePerThread=[2], threadsPerWarp=[4], warpsPerCTA=[2], order=[0]}>";

const TLA: &str = "((4,2),(4,3)):((4,16),(1,32))";

#[test]
fn pictures_go_to_files_and_to_stdout() {
    let folder = tilewright_testing::folder();
    let files = ["--svg", "a.svg", "--html", "a.html", "--tikz", "a.tex"];
    assert_eq!(
        show(folder.path(), &[&[TLA], &files[..]].concat()),
        (0, String::new(), String::new())
    );
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("a.svg").starts_with("<svg ") && read("a.svg").contains(">37</text>"));
    assert!(
        read("a.html").starts_with("<!DOCTYPE html>")
            && read("a.html").contains("(1,5): offset 37")
    );
    assert!(read("a.tex").contains("\\begin{tikzpicture}"));
    assert_eq!(show(folder.path(), &[TLA, "--svg", "-"]), (0, read("a.svg"), String::new()));
    // Files are replaced only on request, and no other file remains.
    let (code, _, error) = show(folder.path(), &["4:1", "--svg", "a.svg"]);
    assert_eq!((code, error.contains("a.svg exists") && error.contains("--force")), (2, true));
    assert_eq!(show(folder.path(), &["4:1", "--svg", "a.svg", "--force"]).0, 0);
    assert!(!read("a.svg").contains(">37</text>"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    let (code, _, error) = show(folder.path(), &["4:1", "--svg", "no/a.svg"]);
    assert!(code == 3 && error.contains("no/a.svg"), "{error}");
}

#[test]
fn every_kind_is_drawn() {
    let folder = tilewright_testing::folder();
    for (args, shown) in [
        (&["f32[2,3] row-major", "col-major"][..], "→"),
        (&["f32[3,5]{1,0:T(2,2)}", "--memory"], "memory, offset by offset"),
        (&["(6,2):(8,2) o (4,3):(3,1)"], "∘"),
        (&["eval: logical_product((2,2):(4,1), 6:1)"], "⊗"),
        (&["zipped_divide((6,8):(8,1), <3,4>)"], "one colour per tile"),
        (&["make_layout_tv((4,8):(8,1), (1,2):(2,1))"], "32 threads of 2 values"),
        (&["((8,4),2):((8,1),4)", "--tile", "4,16"], "32 threads of 2 values"),
        (&["f32[16,16] MMA_M16N8_C", "--threads", "32", "--values", "4"], "tile after tile"),
        (&["Sw<3,3,3> o (8,64):(64,1)", "--banks", "8", "--dtype", "f16"], "conflicts 8 → 1"),
        (&["coalesce((2,2):(1,2))"], "4:1"),
        (&["make_identity_layout((2,3))"], ">1,2</text>"),
        (&["(2,3):(1@1,1@0)"], ">2,1</text>"),
        (&["{lane=[[0,1],[1,0]],warp=[[2,0]]} -> (row:4,column:2)"], ">W1 T3</text>"),
        (&[SHARED, "--dims", "8"], "each is held 2 times"),
        (&["f32[8,6] @ mesh(2,2) [Shard(0), Shard(1)]", "--devices"], "one colour per device"),
        (&["f32[8,6] @ mesh(2,2) P(\"0\")"], ">2,3</text>"),
        (&["row-major", "--dims", "2,2", "--names"], ">d</text>"),
        (&["row-major", "--dims", "1000000,1000000"], "left out"),
    ] {
        let (code, svg, error) = show(folder.path(), &[args, &["--svg", "-"]].concat());
        assert!(code == 0 && svg.contains(shown), "{args:?}: {svg}{error}");
    }
}

#[test]
fn colours_are_where_they_are_asked_for() {
    let folder = tilewright_testing::folder();
    let plain = show(folder.path(), &[TLA]).1;
    assert!(!plain.contains('\u{1b}'));
    assert_eq!(show(folder.path(), &[TLA, "--color", "never"]).1, plain);
    let coloured = show(folder.path(), &[TLA, "--color", "always"]).1;
    assert!(coloured.contains("\u{1b}[30;48;5;"));
    // Without its colours it is the plain picture, plus a line that explains the numbers, and the legend.
    let (first, rest) = coloured.split_once('\u{1b}').unwrap();
    let rest = rest.split('\u{1b}').map(|part| part.split_once('m').unwrap().1);
    let bare: String = std::iter::once(first).chain(rest).collect();
    let mut lines: Vec<&str> = bare.lines().collect();
    assert_eq!(lines.remove(1), "numbers are offsets in elements");
    assert!(plain.lines().eq(lines[..plain.lines().count()].iter().copied()), "{bare}");
    let banks = ["Sw<3,3,3> o (8,64):(64,1)", "--banks", "8", "--dtype", "f16"];
    let text = show(folder.path(), &banks).1;
    assert!(!text.contains('\u{1b}') && text.contains("conflicts 8 → 1"));
}

#[test]
fn devices_are_drawn_in_text() {
    let folder = tilewright_testing::folder();
    let text = show(folder.path(), &["f32[4,4] @ mesh(dp=2,tp=2) [Replicate(), Shard(1)]"]).1;
    let drawn = "\
f32[4,4] @ mesh(dp=2,tp=2) [Replicate(), Shard(1)]
cells name the devices that hold them
        0   1     2   3
    +---------+---------+
 0  | 0,2 0,2 | 1,3 1,3 |
 1  | 0,2 0,2 | 1,3 1,3 |
 2  | 0,2 0,2 | 1,3 1,3 |
 3  | 0,2 0,2 | 1,3 1,3 |
    +---------+---------+
hold the same: 0,2; 1,3
";
    assert_eq!(text, drawn);
    // An array that is too large is drawn in blocks. If that is still too much, the rest is omitted and counted.
    for spec in ["bf16[4096,4096] @ mesh(tp=8) row", "f32[4096,9999] @ mesh(64,64) [S(0), S(1)]"] {
        let text = show(folder.path(), &[spec, "--devices"]).1;
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert_eq!(text.contains("left out"), spec.contains("64"), "{text}");
    }
}

#[test]
fn json_says_what_was_written() {
    let folder = tilewright_testing::folder();
    let (_, json, _) = show(folder.path(), &["4:1", "--json", "--svg", "a.svg"]);
    let said =
        "{\"version\":1,\"title\":\"4:1\",\"notes\":[],\"files\":[\"a.svg\"],\"picture\":null}\n";
    assert_eq!(json, said);
    let (_, json, _) = show(folder.path(), &["4:1", "--json", "--svg", "-"]);
    assert!(json.contains("\"picture\":\"<svg "));
}

#[test]
fn what_cannot_be_drawn_says_why() {
    let folder = tilewright_testing::folder();
    for (args, said) in [
        (&["4:1", "--svg", "-", "--html", "-"][..], "stdout takes one picture"),
        (&["4:1", "--svg", "twice.x", "--html", "twice.x"], "twice.x would be written twice"),
        (
            &["f32[2,3] row-major", "f32[3,2] row-major", "--svg", "-"],
            "dim 0 has 2 in A and 3 in B",
        ),
        (&["f16[4,4] row-major", "--threads", "3"], "3 threads of 5 values for a storage of 16"),
        (&["f16[4,4] row-major", "--threads", "0"], "0 threads"),
        (&["(4,4):(4,1)", "--banks", "4"], "give --dtype"),
        (&["s4[8,8]{1,0:E(4)}", "--banks", "4"], "whole bytes"),
        (&["f16[8,64] row-major", "--banks", "3"], "6 bytes"),
        (&["(4,4,2):(4,1,16)", "--tile", "4,4"], "thread and value"),
        (&["(4,4):(4,1)", "--tile", "4,x"], "is not an integer"),
        (&["(4,4):(4,1)", "--devices"], "--devices draws an array in shards: ARRAY @ SHARDING"),
        (&["f32[8] @ mesh(2) [Shord(0)]", "--devices"], "did you mean `Shard`?"),
        (&["f32[8] @ mesh(2) [S(0)]", "--devices", "--memory"], "cannot be used with"),
        (&["(6,2):(1,7) o (3,2):(2,3)", "--svg", "-"], "at (2,1)"),
        (&["4:1", "--svg", ""], "empty"),
        (&["4:1", "--values", "4"], "--threads"),
        (&["4:1", "4:1", "--banks", "4"], "cannot be used with"),
    ] {
        let (code, out, error) = show(folder.path(), args);
        assert!(code == 2 && out.is_empty() && error.contains(said), "{args:?}: {code} {error}");
    }
}
