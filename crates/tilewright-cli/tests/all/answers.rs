//! The documents' examples and the contract of exit codes, with the real program.

use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tilewright")).args(args).output().unwrap()
}

/// The exit code, stdout and stderr.
fn ask(args: &[&str]) -> (i32, String, String) {
    let output = run(args);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Returns stdout of a run that must succeed with an empty stderr.
fn answer(args: &[&str]) -> String {
    let (code, out, err) = ask(args);
    assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
    out
}

/// Replaces every run of blanks by one, and trims lines.
fn collapsed(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn memory_order_as_in_the_documents() {
    for (spec, memory) in [
        ("{0,1}", "a d b e c f\n"),
        ("{1,0}", "a b c d e f\n"),
        ("{0,1}pad(3,5)fill(0)", "a d 0 b e 0 c f 0 0 0 0 0 0 0\n"),
        ("{1,0}pad(3,5)fill(0)", "a b c 0 0 d e f 0 0 0 0 0 0 0\n"),
        ("{1,0}pad(3,5)", "a b c . . d e f . . . . . . .\n"),
    ] {
        assert_eq!(answer(&["show", spec, "--dims", "2,3", "--memory"]), memory, "{spec}");
    }
    assert_eq!(
        answer(&["show", "{0,1}", "--dims", "2,3", "--memory", "--numbers"]),
        "0 3 1 4 2 5\n"
    );
    assert_eq!(
        answer(&["show", "f32[2,3]{0,1}pad(3,5)fill(0)", "--memory"]),
        "a d 0 b e 0 c f 0 0 0 0 0 0 0\n"
    );
    assert_eq!(
        answer(&["show", "{0,1}", "--dims", "3,2", "--memory", "--numbers"]),
        "0 2 4 1 3 5\n"
    );
}

#[test]
fn names_draw_the_padded_array() {
    let picture = "a b c 0 0\nd e f 0 0\n0 0 0 0 0\n";
    let args = ["show", "{0,1}pad(3,5)fill(0)", "--dims", "2,3", "--names"];
    assert_eq!(answer(&args), picture);
}

#[test]
fn grids_of_the_documents() {
    let grid = collapsed(&answer(&["show", "(2,3):(3,1)"]));
    let bar = "+---+---+---+";
    assert_eq!(grid, ["(2,3):(3,1)", "0 1 2", bar, "0 | 0 | 1 | 2 |", bar, "1 | 3 | 4 | 5 |", bar]);
    let grid = collapsed(&answer(&["show", "(2,3):(1,2)"]));
    assert_eq!(grid, ["(2,3):(1,2)", "0 1 2", bar, "0 | 0 | 2 | 4 |", bar, "1 | 1 | 3 | 5 |", bar]);
    let tiled = answer(&["show", "((4,2),(4,3)):((4,16),(1,32))"]);
    let grid = collapsed(&tiled);
    assert_eq!(grid[1], "0 1 2 3 4 5 6 7 8 9 10 11");
    assert_eq!(grid[3], "0 | 0 | 1 | 2 | 3 | 32 | 33 | 34 | 35 | 64 | 65 | 66 | 67 |");
    assert_eq!(grid[5], "1 | 4 | 5 | 6 | 7 | 36 | 37 | 38 | 39 | 68 | 69 | 70 | 71 |");
    assert_eq!(grid[17], "7 | 28 | 29 | 30 | 31 | 60 | 61 | 62 | 63 | 92 | 93 | 94 | 95 |");
    assert_eq!(answer(&["show", "zN[M0=4,C0=4]", "--dims", "8,12"]), tiled);
}

#[test]
fn borders_round_tiles() {
    let picture = "\
((2,2),(4,2)):((4,8),(1,16))
       0  1  2  3    4  5  6  7
    +-------------+-------------+
 0  |  0  1  2  3 | 16 17 18 19 |
 1  |  4  5  6  7 | 20 21 22 23 |
    +-------------+-------------+
 2  |  8  9 10 11 | 24 25 26 27 |
 3  | 12 13 14 15 | 28 29 30 31 |
    +-------------+-------------+
";
    assert_eq!(answer(&["show", "zN[M0=2,C0=4]", "--dims", "4,8", "--tiles"]), picture);
    // Tiles of tiles: pairs of rows in tiles of four.
    let nested = answer(&["show", "bf16[5,5]{1,0:T(4,4)(2,1)}", "--tiles"]);
    assert_eq!(
        nested.lines().collect::<Vec<_>>().join("\n"),
        "\
((2,2,2),(4,2)):((1,8,32),(2,16)) valid (5,5)
       0  1  2  3    4  5  6  7
    #=============#=============#
 0  #  0  2  4  6 # 16  .  .  . #
 1  #  1  3  5  7 # 17  .  .  . #
    +-------------+-------------+
 2  #  8 10 12 14 # 24  .  .  . #
 3  #  9 11 13 15 # 25  .  .  . #
    #=============#=============#
 4  # 32 34 36 38 # 48  .  .  . #
 5  #  .  .  .  . #  .  .  .  . #
    +-------------+-------------+
 6  #  .  .  .  . #  .  .  .  . #
 7  #  .  .  .  . #  .  .  .  . #
    #=============#=============#"
    );
    // Without tiles, the frame is the only border. Names and tiles can be combined.
    assert!(
        answer(&["show", "(2,3):(3,1)", "--tiles"]).ends_with(
            "\n      0 1 2\n    +-------+\n 0  | 0 1 2 |\n 1  | 3 4 5 |\n    +-------+\n"
        )
    );
    let names = answer(&["show", "{1,0}pad(3,5)", "--dims", "2,3", "--tiles", "--names"]);
    assert!(names.contains(" 1  | d e f . . |"), "{names}");
}

#[test]
fn two_layouts_side_by_side() {
    let picture = "\
A  (4,8):(8,1)
B  ((2,2),(4,2)):((4,8),(1,16))
A                                  B
       0  1  2  3  4  5  6  7             0  1  2  3    4  5  6  7
    +-------------------------+        +-------------+-------------+
 0  |  0  1  2  3  4  5  6  7 |     0  |  0  1  2  3 | 16 17 18 19 |
 1  |  8  9 10 11 12 13 14 15 |     1  |  4  5  6  7 | 20 21 22 23 |
    |                         |        +-------------+-------------+
 2  | 16 17 18 19 20 21 22 23 |     2  |  8  9 10 11 | 24 25 26 27 |
 3  | 24 25 26 27 28 29 30 31 |     3  | 12 13 14 15 | 28 29 30 31 |
    +-------------------------+        +-------------+-------------+
";
    assert_eq!(answer(&["show", "f16[4,8] row-major", "zN[M0=2,C0=4]", "--tiles"]), picture);
    // A place that is padding in one layout is blank in the other.
    let picture = "\
A  (3,5):(5,1)
B  ((2,2),(2,3)):((2,12),(1,4)) valid (3,5)
A                         B
       0  1  2  3  4             0  1    2  3    4  5
    +----------------+        +-------+-------+-------+
 0  |  0  1  2  3  4 |     0  |  0  1 |  4  5 |  8  . |
 1  |  5  6  7  8  9 |     1  |  2  3 |  6  7 | 10  . |
    |                |        +-------+-------+-------+
 2  | 10 11 12 13 14 |     2  | 12 13 | 16 17 | 20  . |
    +----------------+        |       |       |       |
                           3  |  .  . |  .  . |  .  . |
                              +-------+-------+-------+
";
    assert_eq!(answer(&["show", "row-major", "f32[3,5]{1,0:T(2,2)}", "--tiles"]), picture);
    let cells = "\
A  (2,2):(2,1)
B  (2,2):(1,2)
A                B
      0   1            0   1
    +---+---+        +---+---+
 0  | 0 | 1 |     0  | 0 | 2 |
    +---+---+        +---+---+
 1  | 2 | 3 |     1  | 1 | 3 |
    +---+---+        +---+---+
";
    assert_eq!(answer(&["show", "f32[2,2] row-major", "col-major"]), cells);
    let json = answer(&["show", "f32[2,2] row-major", "col-major", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["layouts"], serde_json::json!(["(2,2):(2,1)", "(2,2):(1,2)"]));
    assert_eq!(json["picture"], cells);
}

#[test]
fn two_memories_side_by_side() {
    let memory = "\
A  (2,3):(3,1)
B  (2,3):(1,3) valid (2,3)
memory of A                              memory of B
cells name the coordinate stored there   cells name the coordinate stored there
       0   1   2   3   4   5                    0   1   2   3   4   5   6   7   8
   +-------------------------+              +-------------------------------------+
   | 0,0 0,1 0,2 1,0 1,1 1,2 |              | 0,0 1,0   0 0,1 1,1   0 0,2 1,2   0 |
   +-------------------------+              +-------------------------------------+
";
    let shown = answer(&["show", "row-major", "f32[2,3]{0,1}pad(3,3)fill(0)", "--memory"]);
    let after_titles = |text: &str| text.splitn(3, '\n').nth(2).map(str::to_owned);
    assert_eq!(after_titles(&shown), after_titles(memory), "{shown}");
    let names = answer(&["show", "f32[2,2] row-major", "col-major", "--memory", "--names"]);
    assert!(names.contains("| a b c d |") && names.contains("| a c b d |"), "{names}");
}

#[test]
fn side_by_side_stand_layouts_of_one_array() {
    let (code, out, err) = ask(&["show", "(2,3):(3,1)", "(3,2):(2,1)"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("dim 0 has 2 in A and 3 in B"), "{err}");
    let (_, _, err) = ask(&["show", "(2,3):(3,1)", "(3,2):(2,1)", "--json"]);
    assert!(err.contains("\"kind\":\"mismatch\""), "{err}");
    for args in
        [&["show", "zN", "nZ"][..], &["show", "4:1", "(4"], &["show", "4:1", "--tiles", "--memory"]]
    {
        assert_eq!(ask(args).0, 2, "{args:?}");
    }
}

#[test]
fn units_of_named_formats_can_be_set() {
    for (spec, layout) in [
        ("zN[M0=4,C0=4]", "((4,2),(4,3)):((4,16),(1,32))"),
        ("nZ[M0=4,C0=4]", "((4,2),(4,3)):((1,48),(4,16))"),
        ("zZ[M0=4,C0=4]", "((4,2),(4,3)):((4,48),(1,16))"),
        ("nN[M0=4,C0=4]", "((4,2),(4,3)):((1,16),(4,32))"),
    ] {
        let shown = answer(&["show", spec, "--dims", "8,12"]);
        assert_eq!(shown.lines().next(), Some(layout), "{spec}");
    }
}

#[test]
fn offsets_and_coordinates() {
    let tiled = "((4,2),(4,3)):((4,16),(1,32))";
    assert_eq!(answer(&["index", tiled, "--coord", "1,5"]), "37\n");
    assert_eq!(answer(&["index", tiled, "--coord", "37"]), "52\n");
    assert_eq!(answer(&["index", tiled, "--offset", "37"]), "(1,5)\n");
    assert_eq!(answer(&["index", "f32[3,5]{1,0:T(2,2)}", "--coord", "2,3"]), "17 (byte 68)\n");
    assert_eq!(answer(&["index", "f32[3,5]{1,0:T(2,2)}", "--offset", "9"]), "padding\n");
    assert_eq!(answer(&["index", "s4[3,5]{1,0:E(4)}", "--coord", "2,4"]), "14 (byte 7, bit 0)\n");
    let (code, out, _) = ask(&["index", "f32[3,5]{1,0:T(2,2)}", "--offset", "24"]);
    assert_eq!((code, out.as_str()), (1, "out of range\n"));
    let (code, _, err) = ask(&["index", tiled, "--coord", "8,0"]);
    assert!(code == 2 && err.contains("coordinate 8 of"), "{err}");
}

#[test]
fn sameness() {
    assert_eq!(answer(&["same", "f32[2,3]{0,1}", "(2,3):(1,2)"]), "same\n");
    assert_eq!(answer(&["same", "6:1", "(2,3):(1,2)"]), "same\n");
    assert_eq!(
        answer(&["same", "nN", "{0,1:T(16,16)}", "--dims", "60,60", "--dtype", "bf16"]),
        "same
"
    );
    let (code, out, _) = ask(&["same", "(2,3):(1,2)", "(2,3):(3,1)"]);
    assert_eq!((code, out.as_str()), (1, "differ at (0,1): 2 vs 1\n"));
    let (code, out, _) = ask(&["same", "row-major", "f32[3,2]", "--quiet"]);
    assert_eq!((code, out.as_str()), (0, "same\n"));
    for (a, b, difference) in [
        (
            "f32[20000,20000]{1,0:T(7,100)(3,9)}",
            "f32[20000,20000]{1,0:T(7,100)(3,10)}",
            "(0,9): 27 vs 9",
        ),
        (
            "f32[1000003,999983]{1,0:T(3,4)(2,1)}",
            "f32[1000003,999983]{1,0:T(3,4)}",
            "(0,1): 2 vs 1",
        ),
        (
            "f32[1000003,999983]{1,0:T(3,4)(2,1)}",
            "f32[1000003,999983]{1,0:T(3,5)(2,1)}",
            "(0,4): 16 vs 8",
        ),
    ] {
        let (code, out, _) = ask(&["same", a, b]);
        assert_eq!((code, out), (1, format!("differ at {difference}\n")));
    }
    let huge = "(1000000,1000000):(1000000,1)";
    let split = "((8,125000),1000000):((1000000,8000000),1)";
    assert_eq!(answer(&["same", huge, split]), "same\n");
}

#[test]
fn what_is_no_part_of_the_map_is_a_note() {
    for (a, b, note) in [
        ("bf16[2,3]{1,0}", "f32[2,3]{1,0}", "the element types differ: bf16 and f32"),
        ("f32[2,3]{1,0}", "bf16[2,3]{1,0}", "the element types differ: f32 and bf16"),
        ("f32[2,3]{1,0}", "numpy:shape=(2,3),strides=(6,2),dtype=f16", "f32 and f16"),
        ("(2,3):(3,1)", "(2,3):(3,1) capacity 9", "the capacities differ: 6 and 9 elements"),
        (
            "f32[2,3]{1,0}pad(4,3)fill(0)",
            "f32[2,3]{1,0}pad(4,3)fill(lowest)",
            "the padding differs: 0 and lowest",
        ),
        ("f32[2,3]{1,0}pad(4,3)", "f32[2,3]{1,0}pad(4,3)fill(one)", "unspecified and one"),
        ("s4[2,3]{1,0}", "s4[2,3]{1,0:E(4)}", "the stored elements differ: 8 and 4 bits"),
    ] {
        let (code, out, err) = ask(&["same", a, b]);
        assert_eq!((code, out.as_str()), (0, "same\n"), "{a} {b}: {err}");
        assert!(err.starts_with("note: ") && err.contains(note), "{a} {b}: {err}");
        assert_eq!(answer(&["same", a, b, "-q"]), "same\n");
        let json: serde_json::Value =
            serde_json::from_str(&answer(&["same", a, b, "--json"])).unwrap();
        assert_eq!(json["same"], true);
        assert!(json["notes"][0].as_str().unwrap().contains(note), "{json}");
    }
}

/// A SPEC takes what it needs and does not state from the other, in either order.
#[test]
fn a_general_layout_takes_what_it_needs_from_the_other() {
    for (a, b) in [
        ("zN", "bf16[60,60] zN"),
        ("[60,60] zN", "bf16[60,60] zN"),
        ("{0,1:T(16,16)}", "bf16[60,60] nN"),
        ("row-major", "(60,7):(7,1)"),
    ] {
        assert_eq!(answer(&["same", a, b]), "same\n");
        assert_eq!(answer(&["same", b, a]), "same\n");
    }
    for (args, part) in [
        (&["row-major", "zN"][..], "A: `row-major` needs the array's dims; "),
        (&["zN", "nN", "--dims", "8,8"], "give --dtype"),
        (&["f32[2,3]", "f32[2,3]", "--dims", "3,2"], "A: an array of dims (3,2)"),
        (&["f32[2,3]", "bf16[2,3]", "--dtype", "f32"], "B: an array of f32"),
    ] {
        let (code, out, err) = ask(&[&["same"], args].concat());
        assert!(code == 2 && out.is_empty() && err.contains(part), "{args:?}: {err}");
    }
}

#[test]
fn explanations_say_what_is_asked() {
    let text = answer(&["explain", "((4,2),(4,3)):((4,16),(1,32))"]);
    assert!(text.contains("4 rows at stride 4, repeated 2× at stride 16"), "{text}");
    assert!(text.contains("dim 0 (y)") && text.contains("dim 1 (x)"), "{text}");
    let text = answer(&["explain", "row-major", "--dims", "2,3"]);
    assert!(text.contains("row-major (dim 0 is major)"), "{text}");
    let text = answer(&["explain", "{0,1}", "--dims", "2,3"]);
    assert!(text.contains("column-major (dim 0 is minor)"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&answer(&["explain", "f32[3,1,5]{2,1,0}", "--json"])).unwrap();
    assert_eq!((&json["version"], &json["true_rank"]), (&1.into(), &2.into()));
}

#[test]
fn bad_layouts_exit_with_2_and_a_caret() {
    for args in [
        &["show", "(8,32"][..],
        &["show", "(8,32):(32)"],
        &["show", "zN"],
        &["show", "no-such-format", "--dims", "2,3"],
        &["show", "f32[2,3]{0,1}fill(0)"],
        &["show", "{0,1}pad(1,5)", "--dims", "2,3"],
        &["show", "row-major", "--dims", "4294967296,4294967296,4294967296"],
        &["show", "row-major", "--dims", "2,x"],
        &["show", "row-major", "--dims", "2,3", "--dtype", "f33"],
        &["index", "4:1"],
        &["frobnicate"],
    ] {
        let (code, out, err) = ask(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.starts_with("error:"), "{args:?}: {err}");
    }
    let (_, _, err) = ask(&["show", "(8,32"]);
    assert!(err.ends_with("  (8,32\n       ^\n"), "{err}");
}

/// Messages stay readable for arguments of any length.
#[test]
fn long_texts_are_clipped_in_messages() {
    let long = "Q".repeat(60_000);
    let (spec, list) = (format!("zN[{long}=4]"), format!("{long},1"));
    for args in [
        &["show", &long][..],
        &["show", &format!("format:{long}")],
        &["show", &spec, "--dims", "3,3"],
        &["show", "row-major", "--dims", &list],
        &["show", "row-major", "--dims", "3", "--dtype", &long],
        &["formats", &long],
        &["info", &long, "--dims", &list],
    ] {
        for json in [&[][..], &["--json"]] {
            let (code, out, err) = ask(&[args, json].concat());
            assert!(code == 2 && out.is_empty(), "{}", &args[0]);
            assert!(err.len() < 2000 && err.len() > 50, "{}: {}", args[0], err.len());
        }
    }
}

#[test]
fn errors_are_json_where_asked() {
    for args in
        [&["show", "(8,32", "--json"][..], &["--json", "show", "4:1x"], &["--json", "nonsense"]]
    {
        let (code, out, err) = ask(args);
        assert_eq!((code, out.as_str()), (2, ""));
        let error: serde_json::Value = serde_json::from_str(&err).unwrap();
        assert!(
            error["error"]["kind"].is_string() && error["error"]["message"].is_string(),
            "{err}"
        );
    }
    let error: serde_json::Value =
        serde_json::from_str(&ask(&["show", "(8,32", "--json"]).2).unwrap();
    assert_eq!(error["error"]["span"], serde_json::json!([5, 5]));
}

#[test]
fn every_command_shows_three_examples_that_parse() {
    let help = answer(&["--help"]);
    let listed = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let commands: Vec<&str> =
        listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.contains(&"convert") && commands.len() >= 10, "{commands:?}");
    for command in commands.into_iter().filter(|command| *command != "help") {
        let help = answer(&[command, "--help"]);
        let examples = help.split("Examples:\n").nth(1).unwrap().split("\n\n").next().unwrap();
        let examples = examples.lines().filter(|line| line.contains("tilewright ")).count();
        assert_eq!(examples, 3, "{help}");
    }
    assert!(answer(&["completions", "bash"]).contains("_tilewright"));
}

#[test]
fn the_catalogue_is_listed_and_explained() {
    let list = answer(&["formats"]);
    for name in ["zN", "nZ", "zZ", "nN", "NC1HWC0", "FRACTAL_Z", "COL4_4R2_8C"] {
        assert!(list.contains(name), "{name}");
        assert!(answer(&["formats", name]).contains("For example"), "{name}");
    }
    let (code, _, err) = ask(&["formats", "NC1HWC1"]);
    assert!(code == 2 && err.contains("NC1HWC0"), "{err}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tilewright"))
        .args(["show", "(200,200):(200,1)"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_layout_is_translated_or_the_reason_said() {
    for (spec, to, text) in [
        ("f16[32,32] zN", "onednn", "BA16a16b"),
        ("f16[32,32] zN", "xla", "f16[32,32]{0,1:T(16,1)}"),
        ("f32[2,3]{0,1}", "numpy", "numpy:shape=(2,3),strides=(4,8),dtype=f32"),
        ("logical_divide((6,8):(8,1), <3,4>)", "cute", "((3,2),(4,2)):((8,24),(1,4))"),
    ] {
        assert_eq!(answer(&["translate", spec, "--to", to]), format!("{text}\n"), "{spec}");
    }
    let general = ["translate", "nChw16c", "--dims", "2,40,5,7", "--to", "pattern"];
    assert_eq!(answer(&general), "n (c1 c0:16) h w -> n c1 h w c0\n");
    let json = answer(&["translate", "f16[32,32] zN", "--to", "dnnl", "--json"]);
    assert_eq!(
        json,
        "{\"version\":1,\"notation\":\"onednn\",\"text\":\"BA16a16b\",\"layout\":\"f16[32,32] zN\",\"dims\":[32,32],\"dtype\":\"f16\"}\n"
    );
    let refused = ask(&["translate", "f16[32,32] zN", "--to", "numpy"]);
    assert_eq!((refused.0, refused.1.as_str()), (1, ""));
    assert!(refused.2.contains("numpy cannot express it: dim 1 steps by 1"), "{}", refused.2);
    let refused = ask(&["translate", "f16[32,32] zN", "--to", "numpy", "--json"]);
    assert!(refused.2.starts_with("{\"error\":{\"kind\":\"unsupported\""), "{}", refused.2);
    for (args, words) in [
        (["translate", "zN", "--to", "cute"], "give --dims"),
        (["translate", "8:1", "--to", "numpi"], "did you mean `numpy`?"),
        (["translate", "8;1", "--to", "cute"], "^"),
    ] {
        let (code, out, err) = ask(&args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}");
        assert!(err.contains(words), "{err}");
    }
}

#[test]
fn layouts_are_compared_across_notations() {
    for (a, b) in [
        ("f16[32,48] zN", "BA16a16b"),
        (
            "f16[32,48] zN",
            "linalg.pack outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [16, 16]",
        ),
        ("memref<3x5xf32>", "torch:size=(3,5),stride=(5,1)"),
        ("Layout(major_to_minor=(1, 0))", "numpy:shape=(3,5),order=F"),
        ("gguf:ne=[5,3]", "safetensors:{\"dtype\":\"F32\",\"shape\":[3,5]}"),
        ("halide:{0,3,1},{0,5,3}", "std::layout_left"),
        ("rearrange('(m1 m0) n -> m1 n m0', m0=2)", "[4,3] Ab2a"),
    ] {
        assert_eq!(answer(&["same", "-q", a, b]), "same\n", "{a} {b}");
    }
    let differ = ask(&["same", "memref<3x5xf32>", "col-major"]);
    assert_eq!((differ.0, differ.1.as_str()), (1, "differ at (0,1): 1 vs 3\n"));
}
