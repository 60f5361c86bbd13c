//! `convert --recipe` as a program: the pairs of the corpus, which the real libraries made, both ways, bit for bit.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use tilewright::files::{Input, Reading, open};

pub(crate) fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/recipes")
}

/// Returns the folders of the corpus, sorted.
pub(crate) fn families() -> Vec<PathBuf> {
    let entries = fs::read_dir(corpus()).unwrap().map(|entry| entry.unwrap().path());
    let mut families: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    families.sort();
    families
}

pub(crate) fn tilewright(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    command.current_dir(folder).args(args).output().unwrap()
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8([output.stdout.clone(), output.stderr.clone()].concat()).unwrap()
}

pub(crate) fn done(folder: &Path, args: &[&str]) -> String {
    let output = tilewright(folder, args);
    assert!(output.status.success(), "{args:?}: {}", said(&output));
    said(&output)
}

pub(crate) fn refused(folder: &Path, args: &[&str], code: i32) -> String {
    let output = tilewright(folder, args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", said(&output));
    said(&output)
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns every tensor by name: its type, its dims and its stored bytes.
pub(crate) fn tensors(path: &Path) -> Vec<(String, String, Vec<u64>, Vec<u8>)> {
    let input: Input = open(path, &Reading::default()).unwrap();
    let files: Vec<Vec<u8>> = input.files().map(|path| fs::read(path).unwrap()).collect();
    let bytes = |tensor: &tilewright::files::Tensor| {
        let [piece] = tensor.pieces() else { panic!("{:?} in pieces", tensor.name()) };
        files[piece.file()][piece.at() as usize..][..piece.bytes() as usize].to_vec()
    };
    let row = |tensor: &tilewright::files::Tensor| {
        (tensor.name().into(), tensor.dtype().name().into(), tensor.dims().to_vec(), bytes(tensor))
    };
    let mut all: Vec<_> = input.tensors().iter().map(row).collect();
    all.sort();
    all
}

/// Returns the tensors without those that a recipe drops.
pub(crate) fn kept(path: &Path, dropped: &[&str]) -> Vec<(String, String, Vec<u64>, Vec<u8>)> {
    let mut all = tensors(path);
    all.retain(|(name, ..)| !dropped.contains(&name.as_str()));
    all
}

#[test]
fn all_pairs_become_one_another() {
    let mut families = 0;
    for family in self::families() {
        families += 1;
        let folder = tilewright_testing::folder();
        let at = folder.path();
        let [before, after] =
            ["before", "after"].map(|name| family.join(format!("{name}.safetensors")));
        let recipe = family.join("recipe.toml");
        fs::create_dir(at.join("in")).unwrap();
        fs::copy(&before, at.join("in/model.safetensors")).unwrap();
        let config = family.join("config.json");
        if config.exists() {
            fs::copy(&config, at.join("in/config.json")).unwrap();
        }
        let dropped: &[&str] = if family.ends_with("llama_meta") || family.ends_with("llama_gguf") {
            &["rope.freqs", "rope_freqs"]
        } else {
            &[]
        };
        let memories = ["4096", "20000", "1G"];
        let first = tilewright_testing::cases(0, families % memories.len());
        for memory in memories.into_iter().skip(first).take(tilewright_testing::cases(3, 1)) {
            let run = ["--verify", "--memory", memory, "--threads", "2", "-q"];
            done(at, &[&["convert", "in", "out", "--recipe", text(&recipe)], &run[..]].concat());
            assert_eq!(tensors(&at.join("out")), tensors(&after), "{family:?}");
            assert_eq!(at.join("out/config.json").exists(), config.exists());
            // By the recipe that the result records, and by the recipe that made the result.
            done(at, &[&["convert", "out", "back", "--inverse"], &run[..]].concat());
            let inverse = [
                "convert",
                text(&after),
                "i.safetensors",
                "--recipe",
                text(&recipe),
                "--inverse",
                "--force",
            ];
            done(at, &[&inverse, &run[..]].concat());
            for back in ["back", "i.safetensors"] {
                assert_eq!(tensors(&at.join(back)), kept(&before, dropped), "{family:?} {back}");
            }
            fs::remove_dir_all(at.join("out")).unwrap();
            fs::remove_dir_all(at.join("back")).unwrap();
        }
    }
    assert_eq!(families, 16);
}

#[test]
fn a_model_becomes_gguf_with_the_metadata_of_another_and_comes_back() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let [before, gguf, recipe] = ["before.safetensors", "after.gguf", "recipe.toml"]
        .map(|name| corpus().join("llama_gguf").join(name));
    let convert = ["convert", text(&before), "o.gguf", "--recipe", text(&recipe)];
    let text_of = refused(at, &convert, 2);
    let says = "take its metadata from a .gguf file; give it with --metadata FROM";
    assert!(text_of.contains(says), "{text_of}");
    done(at, &[&convert[..], &["--metadata", text(&gguf), "--verify"]].concat());
    assert_eq!(tensors(&at.join("o.gguf")), tensors(&gguf));
    let [own, model] =
        [at.join("o.gguf"), gguf].map(|path| open(path, &Reading::default()).unwrap());
    let pairs = |input: &Input| {
        input.metadata().map(|(key, text)| (key.to_owned(), text.to_owned())).collect::<Vec<_>>()
    };
    let mut kept = pairs(&own);
    kept.retain(|(key, _)| !key.starts_with("tilewright."));
    assert_eq!(kept, pairs(&model));
    assert_eq!(kept.len() + 1, pairs(&own).len());
    done(at, &["convert", "o.gguf", "back.safetensors", "--inverse", "--verify"]);
    assert_eq!(tensors(&at.join("back.safetensors")), tensors(&before));
}

#[test]
fn a_checkpoint_of_several_files_stays_one_and_its_files_have_the_size_asked_for() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let family = corpus().join("qwen3_moe");
    let [before, after, recipe] =
        ["before.safetensors", "after.safetensors", "recipe.toml"].map(|name| family.join(name));
    done(at, &["reshard", text(&before), "in", "--max-shard-size", "20K"]);
    fs::copy(family.join("config.json"), at.join("in/config.json")).unwrap();
    done(
        at,
        &["convert", "in", "out", "--recipe", text(&recipe), "--max-shard-size", "16K", "--verify"],
    );
    assert_eq!(tensors(&at.join("out")), tensors(&after));
    let shards = fs::read_dir(at.join("out")).unwrap().map(|entry| entry.unwrap());
    let sizes: Vec<u64> = shards
        .filter(|it| it.path().extension().is_some_and(|it| it == "safetensors"))
        .map(|it| it.metadata().unwrap().len())
        .collect();
    assert!(sizes.len() > 3 && sizes.iter().all(|size| *size < 16 * 1024 + 4096), "{sizes:?}");
    // As one file, which cannot have shards, and as files beside others, where a second run needs `--force`.
    let one =
        ["convert", "in", "one.safetensors", "--recipe", text(&recipe), "--max-shard-size", "16K"];
    assert!(refused(at, &one, 2).contains("one.safetensors: the result of one file is one file"));
    assert!(!at.join("one.safetensors").exists());
    let none = ["convert", "in", "none", "--recipe", text(&recipe), "--max-shard-size", "0"];
    assert!(refused(at, &none, 2).contains("1 byte or more"));
    let twice =
        ["convert", "in", "none", "--recipe", text(&recipe), "--size", "e=4", "--size", "e=5"];
    assert!(refused(at, &twice, 2).contains("`e` is given as 4 and as 5"));
    assert!(!at.join("none").exists());
    done(at, &["convert", "in", "one.safetensors", "--recipe", text(&recipe)]);
    assert_eq!(tensors(&at.join("one.safetensors")), tensors(&after));
    let index = [
        "convert",
        "in/model.safetensors.index.json",
        "n.safetensors.index.json",
        "--recipe",
        text(&recipe),
    ];
    done(at, &index);
    assert_eq!(tensors(&at.join("n.safetensors.index.json")), tensors(&after));
    assert!(refused(at, &index, 2).contains("needs --force"));
    done(at, &[&index[..], &["--force"]].concat());
    assert_eq!(tensors(&at.join("n.safetensors.index.json")), tensors(&after));
    done(at, &["convert", "n.safetensors.index.json", "back.safetensors.index.json", "--inverse"]);
    assert_eq!(tensors(&at.join("back.safetensors.index.json")), tensors(&before));
}

#[test]
fn a_plan_has_a_line_for_each_tensor_and_writes_nothing() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let family = corpus().join("mixtral");
    let [before, recipe] = ["before.safetensors", "recipe.toml"].map(|name| family.join(name));
    let dry = ["convert", text(&before), "o.safetensors", "--recipe", text(&recipe), "--dry-run"];
    let plan = done(at, &dry);
    let line = plan.lines().find(|line| line.contains("gate_up_proj")).unwrap();
    assert!(
        line.contains(": relayout of ") && line.contains(" more, ") && line.ends_with(" bytes"),
        "{line}"
    );
    let plan: Value = serde_json::from_str(&done(at, &[&dry[..], &["--json"]].concat())).unwrap();
    assert_eq!(plan["dry_run"], true);
    let rows = plan["tensors"].as_array().unwrap();
    assert_eq!(rows.len(), plan_lines(&rows[0]) + rows.len() - 1);
    assert!(rows.iter().all(|row| row["how"] == "copy" || row["how"] == "relayout"));
    assert_eq!(fs::read_dir(at).unwrap().count(), 0);
}

/// Returns 1 for a row that describes one tensor, else 0.
fn plan_lines(row: &Value) -> usize {
    usize::from(row["name"].is_string() && row["to"].is_string() && row["bytes_out"].is_u64())
}

#[test]
fn what_cannot_be_is_refused_and_nothing_is_written() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let family = corpus().join("mixtral");
    let [before, after, recipe] =
        ["before.safetensors", "after.safetensors", "recipe.toml"].map(|name| family.join(name));
    let (before, after, recipe) = (text(&before), text(&after), text(&recipe));
    let says = |args: &[&str], code: i32, words: &str| {
        let text = refused(at, &[&["convert"], args].concat(), code);
        assert!(text.contains(words), "{args:?}: {text}");
    };
    says(&[before, "o.safetensors", "--inverse"], 2, "records no recipe");
    // The input is already converted.
    says(&[after, "o.safetensors", "--recipe", recipe], 2, "no rule takes");
    says(&[before, "o.safetensors", "--recipe", "none.toml"], 3, "none.toml: ");
    says(
        &[before, "o.safetensors", "--recipe", recipe, "--size", "n"],
        2,
        "expected AXIS=N, such as n=32",
    );
    says(&[before, "o.safetensors", "--recipe", recipe, "--to", "zN"], 2, "cannot be used with");
    says(&[before, "o.safetensors", "--to", "zN", "--metadata", after], 2, "--recipe");
    says(&[before, before, "--recipe", recipe, "--force"], 2, "is the input");
    fs::write(
        at.join("r.toml"),
        "pass = ['*']\n[[map]]\nfrom = 'model.norm.weight'\nto = 'norm'\nop = 'w - 1'",
    )
    .unwrap();
    says(
        &[before, "o.safetensors", "--recipe", "r.toml"],
        2,
        "recipes move elements and never compute",
    );
    fs::remove_file(at.join("r.toml")).unwrap();
    assert_eq!(fs::read_dir(at).unwrap().count(), 0);
}

/// Files beside the tensors are verified if the recipe copies them.
#[test]
fn verification_compares_what_goes_along_with_a_recipe() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let header = r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}"#;
    let bytes =
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[1, 2, 3, 4]].concat();
    fs::create_dir(at.join("in")).unwrap();
    fs::write(at.join("in/model.safetensors"), bytes).unwrap();
    fs::write(at.join("in/tokenizer.json"), "{}").unwrap();
    fs::write(at.join("in/config.json"), r#"{"model_type": "one", "b": 1}"#).unwrap();
    let made = |config: &str| {
        fs::write(
            at.join("r.toml"),
            format!("[config]\n{config}\n[[map]]\nfrom = 'a'\nto = 'z'\n"),
        )
        .unwrap();
        done(at, &["convert", "in", "out", "--recipe", "r.toml", "--force"]);
    };
    let differs = |words: &str| {
        let text = refused(at, &["verify", "out", "--against", "in"], 1);
        assert!(text.contains(words), "{text}");
    };
    let same = || assert!(done(at, &["verify", "out", "--against", "in"]).contains("same"));
    made("set = '{\"model_type\": \"two\"}'");
    same();
    // The file keeps its length.
    fs::write(at.join("out/tokenizer.json"), "[]").unwrap();
    differs("\"tokenizer.json\", which must be copied, has 0x5b at byte 0, had 0x7b");
    fs::write(at.join("out/tokenizer.json"), "{}").unwrap();
    fs::copy(at.join("in/config.json"), at.join("out/config.json")).unwrap();
    differs("\"config.json\", which must be copied, differs from what the recipe writes");
    fs::remove_file(at.join("out/config.json")).unwrap();
    differs("\"config.json\", which must be copied, is missing from out");
    fs::remove_dir_all(at.join("out")).unwrap();
    made("keep = true");
    same();
    fs::write(at.join("out/config.json"), "{}").unwrap();
    differs("\"config.json\", which must be copied, has 2 bytes, had ");
    fs::remove_dir_all(at.join("out")).unwrap();
    // Files that the recipe does not copy are ignored.
    made("leave = 'it describes another'");
    assert!(!at.join("out/config.json").exists());
    same();
}

#[test]
fn a_layout_in_a_recipe_is_noted_and_read_through_on_the_way_back() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let data: Vec<u8> = (0..40 * 24).flat_map(|i: u16| i.to_le_bytes()).collect();
    let header = r#"{"a":{"dtype":"BF16","shape":[20,24],"data_offsets":[0,960]},"b":{"dtype":"BF16","shape":[20,24],"data_offsets":[960,1920]}}"#;
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat();
    fs::write(at.join("in.safetensors"), bytes).unwrap();
    let recipe = "[[map]]\nfrom = ['a : (i x:1) h', 'b : (i y:1) h']\nto = 'ab : h (i (x + y))'\nlayout = 'zN'\n";
    fs::write(at.join("r.toml"), recipe).unwrap();
    done(at, &["convert", "in.safetensors", "zn.safetensors", "--recipe", "r.toml", "--verify"]);
    let input = open(at.join("zn.safetensors"), &Reading::default()).unwrap();
    assert_eq!(input.tensors()[0].layout().to_spec(), "bf16[24,40] zN");
    done(at, &["convert", "zn.safetensors", "back.safetensors", "--inverse", "--verify"]);
    assert_eq!(tensors(&at.join("back.safetensors")), tensors(&at.join("in.safetensors")));
    // The recipe without the layout makes the same data.
    fs::write(at.join("r.toml"), recipe.replace("layout = 'zN'\n", "")).unwrap();
    done(at, &["convert", "in.safetensors", "plain.safetensors", "--recipe", "r.toml"]);
    assert_eq!(done(at, &["same-data", "plain.safetensors", "zn.safetensors"]), "same\n");
}

#[test]
fn widened_tensors_come_back_and_what_lost_a_bit_is_named() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let header = r#"{"n":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}}"#;
    // The data contains a NaN with a payload.
    let data = [0x80u8, 0x3f, 0, 0, 0xa5, 0x7f, 1, 0x80];
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat();
    fs::write(at.join("in.safetensors"), bytes).unwrap();
    fs::write(at.join("r.toml"), "[[map]]\nfrom = 'n'\nto = 'm'\ndtype = 'f32'\n").unwrap();
    done(at, &["convert", "in.safetensors", "wide.safetensors", "--recipe", "r.toml", "--verify"]);
    done(at, &["convert", "wide.safetensors", "back.safetensors", "--inverse", "--verify"]);
    assert_eq!(tensors(&at.join("back.safetensors")), tensors(&at.join("in.safetensors")));
    let mut wide = fs::read(at.join("wide.safetensors")).unwrap();
    let last = wide.len() - 8;
    wide[last] = 1;
    fs::write(at.join("wide.safetensors"), wide).unwrap();
    let text = refused(at, &["convert", "wide.safetensors", "none.safetensors", "--inverse"], 3);
    assert!(
        text.contains(r#"tensor "n" of bf16 would lose bits: "m" of f32 has 0x7fa50001 at [2]"#),
        "{text}"
    );
    assert!(!at.join("none.safetensors").exists());
}
