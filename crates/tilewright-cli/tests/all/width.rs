//! Output fits its width: `COLUMNS`, else the width of the terminal. In a pipe, pictures and help have 100 characters, and no line
//! of text is cut.

use std::process::Command;

const COMMANDS: [&str; 18] = [
    "convert",
    "verify",
    "fingerprint",
    "same-data",
    "reshard",
    "info",
    "show",
    "explain",
    "translate",
    "index",
    "same",
    "emit",
    "eval",
    "formats",
    "recognise",
    "infer",
    "bench",
    "completions",
];

/// Returns stdout with this value of `COLUMNS`; `None` is a pipe without it.
fn printed(columns: Option<usize>, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    command.args(args).env_remove("COLUMNS");
    columns.map(|columns| command.env("COLUMNS", columns.to_string()));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

/// Checks that every line of a command fits 80, 100 and 120 columns, and 100 in a pipe if it draws or helps; other commands cut
/// nothing in a pipe.
fn fits(args: &[&str]) {
    for columns in [80, 100, 120] {
        let text = printed(Some(columns), args);
        assert!(widest(&text) <= columns && !text.is_empty(), "{columns} {args:?}:\n{text}");
    }
    let text = printed(None, args);
    match args[0] == "show" || args.contains(&"--help") {
        true => assert!(widest(&text) <= 100, "{args:?}:\n{text}"),
        false => assert!(!text.contains(" characters more"), "{args:?}:\n{text}"),
    }
}

const SPECS: [&str; 7] = [
    "f16[4096,4096] zN",
    "bf16[20,200]{1,0:T(8,128)(2,1)}",
    "f32[2,3,4,5] row-major",
    "((2,2,2,2,2),(2,2,2,2,2)):((1,4,16,64,256),(2,8,32,128,512))",
    "f16[100,100] zN^T",
    "(3,2):(-1,3)",
    "u4[128,256] MARLIN",
];

#[test]
fn layouts_fit_their_width() {
    for spec in SPECS {
        fits(&["explain", spec]);
        fits(&["show", spec]);
        fits(&["show", spec, "--tiles"]);
    }
    fits(&["show", "f16[64,64] row-major", "f16[64,64] zN"]);
    fits(&["show", "f16[64,64] row-major", "f16[64,64] zN", "--tiles"]);
    fits(&["show", "Sw<3,3,3> o (8,64):(64,1)", "--banks", "8", "--dtype", "f16"]);
    fits(&["show", "f16[64,256] zN", "--banks", "8"]);
    fits(&["show", "(6,2):(8,2) o (4,3):(3,1)"]);
    fits(&["show", "((4,8),(2,2,2)):((32,1),(16,8,128))", "--tile", "16,16"]);
    for spec in SPECS {
        for cells in ["--memory", "--names", "--numbers"] {
            fits(&["show", spec, cells]);
        }
    }
    fits(&["show", SPECS[0], "--memory", "--numbers"]);
    // No output is as long as the array.
    assert!(printed(None, &["show", "f16[4096,4096] zN"]).len() < 20_000);
}

/// Two layouts with long names, and steps of the algebra, in the colours of a terminal.
#[test]
fn pictures_in_colour_fit_and_show_more_than_one_column() {
    let long = "((2,2,2,2,2,2,2),(2,2,2,2,2,2,2)):\
                ((1,4,16,64,256,1024,4096),(2,8,32,128,512,2048,8192))";
    let step = format!("{long} o (128,128):(128,1)");
    let rows = "[128,128] row-major";
    for args in [vec![long, long], vec![long, rows], vec![rows, long], vec![long], vec![&*step]] {
        for columns in [Some(80), Some(100), Some(120), None] {
            let all: Vec<&str> =
                ["show"].iter().chain(&args).chain(&["--color", "always"]).copied().collect();
            let text = colourless(&printed(columns, &all));
            assert!(widest(&text) <= columns.unwrap_or(100), "{columns:?} {args:?}:\n{text}");
            // The numbers of the columns are above the cells, for more than one column.
            let columns_named = |line: &str| line.split_whitespace().take(3).eq(["0", "1", "2"]);
            assert!(text.lines().any(columns_named), "{columns:?} {args:?}:\n{text}");
        }
    }
}

/// Returns the text without the codes that switch colours.
fn colourless(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn what_is_left_out_is_said() {
    let memory = printed(Some(80), &["show", "f16[4096,4096] zN", "--memory"]);
    assert!(memory.ends_with(" more cells\n") && memory.lines().count() == 2, "{memory}");
    let grid = printed(Some(80), &["show", "f16[4096,4096] zN"]);
    assert!(grid.trim_end().lines().last().unwrap().starts_with("left out: "), "{grid}");
    let long = "((2,2,2,2,2),(2,2,2,2,2)):((1,4,16,64,256),(2,8,32,128,512))";
    let explained = printed(Some(80), &["explain", long]);
    assert!(explained.contains(" characters more\n"), "{explained}");
    let formats = printed(Some(80), &["formats", "ascend"]);
    assert!(formats.contains("… 1 more"), "{formats}");
}

#[test]
fn an_explanation_begins_with_the_array_and_folds_what_cannot_say_it() {
    let text = printed(Some(100), &["explain", "f16[100,100] zN"]);
    let titles: Vec<&str> =
        text.lines().skip(1).map(|line| line.get(..19).unwrap_or(line).trim()).collect();
    assert_eq!(titles[..3], ["dims", "element", "order of dims"]);
    let (facts, others) = text.split_once("in other notations\n").unwrap();
    assert!(facts.lines().skip(1).all(|line| line.starts_with("  ")), "{facts}");
    assert!(!others.contains("one stride per dim"), "{others}");
    let folded = others.split("refused by").nth(1).unwrap();
    assert!(
        ["numpy", "torch", "order", "--all"].iter().all(|word| folded.contains(word)),
        "{folded}"
    );
    let all = printed(Some(100), &["explain", "f16[100,100] zN", "--all"]);
    assert_eq!(
        all.matches("cannot express it: ").count(),
        folded.split("--all").next().unwrap().matches(',').count() + 1
    );
    assert!(all.contains("NumPy has one"), "{all}");
}

#[test]
fn formats_are_grouped_and_found() {
    fits(&["formats"]);
    let all = printed(Some(120), &["formats"]);
    for group in [
        "Ascend: matrices in fractals",
        "NVIDIA: matrices of cuBLASLt",
        "Intel: operands of VNNI and AMX",
    ] {
        assert!(all.contains(&format!("{group}\n  ")), "{group}");
    }
    let found = |word| {
        let text = printed(Some(120), &["formats", word]);
        text.lines()
            .filter(|line| line.starts_with("  "))
            .map(|line| line.split_whitespace().next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(found("tenstorrent"), ["TT_TILE", "TT_TILE_16x32", "TT_TILE_32x16"]);
    assert_eq!(found("marlin"), found("Marlin"));
    assert!(found("marlin").contains(&"MARLIN".to_owned()));
    assert!(found("shuffle_matrix").contains(&"TRTLLM_SHUFFLE_A_16".to_owned()));
    let shuffled = printed(Some(100), &["formats", "shuffle_weight"]);
    for words in ["AITER_SHUFFLE_16x16", "[…, N, K], which is out, in", "AITER_SHUFFLE_32x16"] {
        assert!(shuffled.contains(words), "{words}: {shuffled}");
    }
    fits(&["formats", "shuffle_weight"]);
    fits(&["formats", "zN"]);
    // A narrow line gives at least the number of other names of a format, if it has any.
    let json: serde_json::Value =
        serde_json::from_str(&printed(None, &["formats", "--json"])).unwrap();
    let narrow = printed(Some(80), &["formats"]);
    for format in json["formats"].as_array().unwrap() {
        let head = format!("  {} ", format["name"].as_str().unwrap());
        let line = narrow.lines().find(|line| line.starts_with(&head)).unwrap();
        let named = line.contains("  = ") || line.contains(" name");
        assert_eq!(named, !format["aliases"].as_array().unwrap().is_empty(), "{line}");
    }
    let marlin = printed(Some(100), &["formats", "MARLIN"]);
    assert!(marlin.contains("MARLIN^T") && marlin.contains("[out, in]"), "{marlin}");
    assert!(!printed(Some(100), &["formats", "zN"]).contains("^T"));
}

#[test]
fn help_fits_and_its_examples_are_whole() {
    fits(&["--help"]);
    let wide = |command: &str| printed(Some(200), &[command, "--help"]);
    for command in COMMANDS {
        fits(&[command, "--help"]);
        let narrow = printed(Some(80), &[command, "--help"]);
        let examples = wide(command);
        let examples = examples.split("Examples:\n").nth(1).unwrap();
        assert!(narrow.contains(examples), "{narrow}");
    }
    // The text below the options is wrapped by hand, also in the widest terminal.
    for args in COMMANDS.iter().map(|command| vec![*command, "--help"]).chain([vec!["--help"]]) {
        let help = printed(Some(200), &args);
        let (_, below) = help.split_once("General options:\n").unwrap();
        let (_, below) = below.split_once("\n\n").unwrap();
        assert!(!below.is_empty() && widest(below) <= 80, "{args:?}:\n{below}");
    }
    let verify = printed(None, &["verify", "--help"]);
    assert!(verify.contains("The layout that the converted file must have"), "{verify}");
    assert!(!verify.contains("The layout of the result"), "{verify}");
    for command in ["info", "infer", "verify", "convert"] {
        let help = printed(None, &[command, "--help"]);
        assert!(help.contains("npz") && help.to_lowercase().contains("gguf"), "{help}");
    }
    let convert = printed(None, &["convert", "--help"]);
    let headings = ["Layouts and tensors:", "The run:", "The array:", "General options:"];
    let at = headings.map(|heading| convert.find(heading).expect(heading));
    assert!(at.is_sorted(), "{convert}");
}

#[test]
fn lists_fit_their_width() {
    let data = |name: &str| format!("{}/../../corpus/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let model = data("tiny_llm_mixed.safetensors");
    fits(&["eval", "--functions"]);
    fits(&["bench", "--list"]);
    fits(&["info", &model]);
    let folder = tilewright_testing::folder();
    let result = folder.path().join("a.safetensors");
    let to = ["--to", "{1,0:T(8,128)(2,1)}", "--skip-unfit", "--dry-run"];
    let dry = [&["convert", &model, result.to_str().unwrap()], &to[..]].concat();
    fits(&dry);
    // If a line does not fit, layouts and numbers have one line each, and nothing is omitted.
    let some = [&dry[..], &["--tensor", "*k_proj.weight"]].concat();
    let (wide, narrow) = (printed(Some(400), &some), printed(Some(100), &some));
    assert!(wide.contains("%), ") && !wide.contains("\n    "), "{wide}");
    assert_eq!(narrow.replace("\n    ", ", "), wide);
    assert!(printed(Some(60), &dry).contains(" characters more\n"));
}

#[test]
fn nothing_is_cut_in_a_pipe() {
    for args in [
        &["eval", "--functions"][..],
        &["bench", "--list"],
        &["formats"],
        &["formats", "MARLIN"],
        &["explain", "u4[128,256] MARLIN"],
    ] {
        let piped = printed(None, args);
        assert!(widest(&piped) > 100 && !piped.contains(" characters more"), "{args:?}: {piped}");
        assert!(widest(&printed(Some(100), args)) <= 100, "{args:?}");
    }
    // A picture within a text has the usual width.
    let marlin = printed(None, &["formats", "MARLIN"]);
    let (_, picture) = marlin.split_once("+--").unwrap();
    assert!(widest(picture) <= 100, "{marlin}");
    // A list in a message is long, and an end that is left out is marked.
    let folder = tilewright_testing::folder();
    let path = folder.path().join("a.npy");
    for (fields, whole) in [(6, true), (60, false)] {
        let fields: Vec<String> = (0..fields).map(|at| format!("('field{at}', '<f4')")).collect();
        let text = format!(
            "{{'descr': [{}], 'fortran_order': False, 'shape': (3,), }}\n",
            fields.join(", ")
        );
        let head = [b"\x93NUMPY\x01\0", &(text.len() as u16).to_le_bytes()[..]].concat();
        std::fs::write(&path, [&head, text.as_bytes()].concat()).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_tilewright")).arg("info").arg(&path).output();
        let said = String::from_utf8(output.unwrap().stderr).unwrap();
        assert!(said.contains("a structured dtype") && said.contains("'field5', '<f4'"), "{said}");
        assert_eq!(said.contains('…'), !whole, "{said}");
    }
}

#[test]
fn columns_that_are_no_number_are_ignored() {
    let text = |columns: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
        let output = command.args(["show", "(4,100):(100,1)"]).env("COLUMNS", columns).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    for columns in ["", "0", "wide", "-3"] {
        assert_eq!(text(columns), printed(None, &["show", "(4,100):(100,1)"]), "{columns}");
    }
    assert!(widest(&text("1")) > 1);
}

#[test]
fn a_format_may_be_transposed_everywhere() {
    let said = |args: &[&str]| printed(None, args).trim().to_owned();
    assert_eq!(said(&["translate", "bf16[20,8] VNNI^T", "--to", "CUTE"]), "(20,(2,4)):(2,(1,40))");
    assert_eq!(
        said(&["translate", "VNNI^T", "--dims", "20,8", "--dtype", "bf16", "--to", "format"]),
        "VNNI^T"
    );
    assert_eq!(said(&["same", "f16[32,48] zN^T", "f16[32,48] nZ"]), "same");
    assert_eq!(
        said(&["recognise", "u4[128,64]E(4) MARLIN^T"]).split_whitespace().next(),
        Some("MARLIN^T")
    );
    let folder = tilewright_testing::folder();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_llm_mixed.safetensors");
    let [tiled, back] =
        ["a", "b"].map(|name| folder.path().join(name).with_extension("safetensors"));
    let [tiled, back] = [&tiled, &back].map(|path| path.to_str().unwrap());
    printed(
        None,
        &["convert", data, tiled, "--rule", "*proj.weight=zN^T", "--skip-unfit", "--verify", "-q"],
    );
    assert!(printed(None, &["info", tiled]).contains("zN^T"));
    printed(None, &["convert", tiled, back, "--to", "row-major", "--verify", "-q"]);
    assert!(printed(None, &["verify", back, "--against", data, "-q"]).contains("same"));
}
