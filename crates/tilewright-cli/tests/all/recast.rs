//! `convert --recipe` as a program: the pairs of the corpus, which the real libraries made, both ways, bit for bit.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use tilewright::files::{Input, Reading, open};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/recipes")
}

fn tilewright(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    command.current_dir(folder).args(args).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8([output.stdout.clone(), output.stderr.clone()].concat()).unwrap()
}

fn done(folder: &Path, args: &[&str]) -> String {
    let output = tilewright(folder, args);
    assert!(output.status.success(), "{args:?}: {}", said(&output));
    said(&output)
}

fn refused(folder: &Path, args: &[&str], code: i32) -> String {
    let output = tilewright(folder, args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", said(&output));
    said(&output)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Every tensor by name: its type, its dims and its bytes as they are stored.
fn tensors(path: &Path) -> Vec<(String, String, Vec<u64>, Vec<u8>)> {
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

/// The same without what a recipe drops.
fn kept(path: &Path, dropped: &[&str]) -> Vec<(String, String, Vec<u64>, Vec<u8>)> {
    let mut all = tensors(path);
    all.retain(|(name, ..)| !dropped.contains(&name.as_str()));
    all
}

#[test]
fn all_pairs_become_one_another() {
    let mut families = 0;
    for entry in fs::read_dir(corpus()).unwrap() {
        let family = entry.unwrap().path();
        if !family.is_dir() {
            continue;
        }
        families += 1;
        let folder = tempfile::tempdir().unwrap();
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
        for memory in ["4096", "20000", "1G"] {
            let run = ["--verify", "--memory", memory, "--threads", "2", "-q"];
            done(at, &[&["convert", "in", "out", "--recipe", text(&recipe)], &run[..]].concat());
            assert_eq!(tensors(&at.join("out")), tensors(&after), "{family:?}");
            assert_eq!(at.join("out/config.json").exists(), config.exists());
            // By the recipe that the result records, and by the one that made it.
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
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let [before, gguf, recipe] = ["before.safetensors", "after.gguf", "recipe.toml"]
        .map(|name| corpus().join("llama_gguf").join(name));
    let convert = ["convert", text(&before), "o.gguf", "--recipe", text(&recipe)];
    let text_of = refused(at, &convert, 2);
    assert!(text_of.contains("take its metadata from a .gguf file"), "{text_of}");
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
    let folder = tempfile::tempdir().unwrap();
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
    // As one file, which has no shards, and as files beside others, where a second run needs to be told.
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
    let folder = tempfile::tempdir().unwrap();
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

/// A row stands for one tensor.
fn plan_lines(row: &Value) -> usize {
    usize::from(row["name"].is_string() && row["to"].is_string() && row["bytes_out"].is_u64())
}

#[test]
fn what_cannot_be_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
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
    // It was converted already.
    says(&[after, "o.safetensors", "--recipe", recipe], 2, "no rule takes");
    says(&[before, "o.safetensors", "--recipe", "none.toml"], 3, "none.toml: ");
    says(
        &[before, "o.safetensors", "--recipe", recipe, "--size", "n"],
        2,
        "expected AXIS=N, such as n=32",
    );
    says(&[before, "o.safetensors", "--recipe", recipe, "--to", "zN"], 2, "cannot be used with");
    says(&[before, "o.safetensors", "--to", "zN", "--metadata", after], 2, "--recipe");
    says(&[before, "-", "--recipe", recipe], 2, "standard output");
    says(&[before, before, "--recipe", recipe, "--force"], 2, "is the input");
    says(&[before, "o.npz", "--recipe", recipe], 2, "a recipe's result is .safetensors");
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

/// Files beside the tensors are compared as the recipe lets them go along.
#[test]
fn verification_compares_what_goes_along_with_a_recipe() {
    let folder = tempfile::tempdir().unwrap();
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
    // Of the length that it had.
    fs::write(at.join("out/tokenizer.json"), "[]").unwrap();
    differs("\"tokenizer.json\", which goes along, has 0x5b at byte 0, had 0x7b");
    fs::write(at.join("out/tokenizer.json"), "{}").unwrap();
    fs::copy(at.join("in/config.json"), at.join("out/config.json")).unwrap();
    differs("\"config.json\", which goes along, is not as the recipe changes it");
    fs::remove_file(at.join("out/config.json")).unwrap();
    differs("\"config.json\", which goes along, is missing from out");
    fs::remove_dir_all(at.join("out")).unwrap();
    made("keep = true");
    same();
    fs::write(at.join("out/config.json"), "{}").unwrap();
    differs("\"config.json\", which goes along, has 2 bytes, had ");
    fs::remove_dir_all(at.join("out")).unwrap();
    // What the recipe leaves out is of no interest.
    made("leave = 'it describes another'");
    assert!(!at.join("out/config.json").exists());
    same();
}

#[test]
fn a_layout_in_a_recipe_is_noted_and_read_through_on_the_way_back() {
    let folder = tempfile::tempdir().unwrap();
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
    // By the way of a plain file.
    fs::write(at.join("r.toml"), recipe.replace("layout = 'zN'\n", "")).unwrap();
    done(at, &["convert", "in.safetensors", "plain.safetensors", "--recipe", "r.toml"]);
    assert_eq!(done(at, &["same-data", "plain.safetensors", "zn.safetensors"]), "same\n");
}

#[test]
fn widened_tensors_come_back_and_what_lost_a_bit_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let header = r#"{"n":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}}"#;
    // Among them a NaN with a payload.
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

/// A GGUF file of metadata alone: numbers as u32, texts, and lists of texts by their length.
fn metadata(path: &Path, pairs: &[(&str, Value)]) {
    let string = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let mut bytes = [&b"GGUF"[..], &3u32.to_le_bytes(), &0u64.to_le_bytes()].concat();
    bytes.extend((pairs.len() as u64).to_le_bytes());
    for (key, value) in pairs {
        bytes.extend(string(key));
        match value {
            Value::String(text) => {
                bytes.extend(8u32.to_le_bytes());
                bytes.extend(string(text));
            }
            Value::Array(all) => {
                bytes.extend([&9u32.to_le_bytes()[..], &4u32.to_le_bytes()].concat());
                bytes.extend((all.len() as u64).to_le_bytes());
                bytes.extend(
                    all.iter().flat_map(|one| (one.as_u64().unwrap() as u32).to_le_bytes()),
                );
            }
            number => {
                bytes.extend(4u32.to_le_bytes());
                bytes.extend((number.as_u64().unwrap() as u32).to_le_bytes());
            }
        }
    }
    fs::write(path, bytes).unwrap();
}

/// The metadata of the model in the corpus, with some of another value; null leaves a key out.
fn changed<'a>(
    architecture: &'a str,
    keys: &'a mut Vec<String>,
    changes: &[(&'a str, Value)],
) -> Vec<(&'a str, Value)> {
    let own: [(&str, Value); 8] = [
        ("context_length", 64.into()),
        ("embedding_length", 32.into()),
        ("block_count", 2.into()),
        ("feed_forward_length", 48.into()),
        ("attention.head_count", 4.into()),
        ("attention.head_count_kv", 2.into()),
        ("rope.dimension_count", 8.into()),
        ("vocab_size", 64.into()),
    ];
    let own: Vec<(&str, Value)> = own
        .into_iter()
        .map(|(key, value)| {
            let changed = changes.iter().find(|(own, _)| *own == key);
            (key, changed.map_or(value, |(_, value)| value.clone()))
        })
        .collect();
    let more = changes.iter().filter(|(key, _)| own.iter().all(|(own, _)| own != key)).cloned();
    let all: Vec<(&str, Value)> = own.iter().cloned().chain(more).collect();
    *keys = all.iter().map(|(key, _)| format!("{architecture}.{key}")).collect();
    let keys: &'a Vec<String> = keys;
    let mut pairs = vec![("general.architecture", Value::from(architecture))];
    pairs.extend(keys.iter().map(String::as_str).zip(all.into_iter().map(|(_, value)| value)));
    pairs.retain(|(_, value)| !value.is_null());
    pairs
}

/// An architecture, other values of its keys, and what is said.
type Changed<'a> = (&'a str, &'a [(&'a str, Value)], &'a str);

#[test]
fn metadata_of_another_model_are_refused_by_key_value_and_tensor() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let [before, recipe] =
        ["before.safetensors", "recipe.toml"].map(|name| corpus().join("llama_gguf").join(name));
    let convert = |with: &[&str]| {
        let args = [
            "convert",
            text(&before),
            "o.gguf",
            "--recipe",
            text(&recipe),
            "--metadata",
            "m.gguf",
            "--force",
        ];
        tilewright(at, &[&args[..], with].concat())
    };
    let cases: [Changed<'_>; 21] = [
        ("llama", &[("context_length", Value::Null)], "lack `llama.context_length`"),
        (
            "qwen2",
            &[],
            "`general.architecture` is \"qwen2\", and there is no tensor \"blk.0.attn_q.bias\"",
        ),
        ("qwen3", &[], "there is no tensor \"blk.0.attn_q_norm.weight\""),
        ("gpt2", &[], "`general.architecture` is \"gpt2\""),
        (
            "llama",
            &[("block_count", 7.into())],
            "`llama.block_count` is 7, and the tensors have 2 blocks, blk.0 to blk.1",
        ),
        (
            "llama",
            &[("block_count", 1.into())],
            "`llama.block_count` is 1, and the tensors have 2 blocks",
        ),
        (
            "llama",
            &[("embedding_length", 64.into())],
            "`llama.embedding_length` is 64, and \"token_embd.weight\" is [64, 32]",
        ),
        (
            "llama",
            &[("feed_forward_length", 32.into())],
            "`llama.feed_forward_length` is 32, and \"blk.0.ffn_down.weight\" is [32, 48]",
        ),
        (
            "llama",
            &[("feed_forward_length", vec![48, 49].into())],
            "`llama.feed_forward_length` is 49, and \"blk.1.ffn_down.weight\"",
        ),
        ("llama", &[("vocab_size", 65.into())], "`llama.vocab_size` is 65"),
        (
            "llama",
            &[("attention.head_count_kv", 4.into())],
            "`llama.attention.head_count_kv` is 4 and `llama.attention.key_length` is missing, which means 8, which make 32, and \"blk.0.attn_k.weight\" is [16, 32]",
        ),
        (
            "llama",
            &[("attention.head_count_kv", Value::Null)],
            "`llama.attention.head_count_kv` is missing, which means 4",
        ),
        (
            "llama",
            &[("attention.key_length", 16.into())],
            "`llama.attention.head_count` is 4 and `llama.attention.key_length` is 16, which make 64",
        ),
        (
            "llama",
            &[("attention.value_length", 4.into())],
            "`llama.attention.head_count_kv` is 2 and `llama.attention.value_length` is 4, which make 8, and \"blk.0.attn_v.weight\" is [16, 32]",
        ),
        ("llama", &[("attention.head_count", Value::Null)], "lack `llama.attention.head_count`"),
        (
            "llama",
            &[("attention.head_count", 0.into())],
            "`llama.attention.head_count` is 0, and readers of GGUF need a number above 0",
        ),
        (
            "llama",
            &[("attention.head_count", "four".into())],
            "`llama.attention.head_count` is four, and readers of GGUF need a number above 0",
        ),
        (
            "llama",
            &[("attention.head_count", vec![4, 0].into())],
            "`llama.attention.head_count` is 0 and `llama.attention.key_length` is missing, which means 0, which make 0, and \"blk.1.attn_q.weight\"",
        ),
        (
            "llama",
            &[("expert_count", 8.into())],
            "`llama.expert_count` is 8, and no tensor holds experts",
        ),
        ("unheard", &[("block_count", 3.into())], "`unheard.block_count` is 3"),
        ("clip-like", &[("embedding_length", 1.into())], "`clip-like.embedding_length` is 1"),
    ];
    for (architecture, changes, expected) in cases {
        let mut keys = Vec::new();
        metadata(&at.join("m.gguf"), &changed(architecture, &mut keys, changes));
        let output = convert(&[]);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{architecture} {changes:?}: {said}");
        assert!(said.contains(expected) && said.contains("--trust-metadata"), "{said}");
        assert!(!at.join("o.gguf").exists());
    }
    // Metadata that describe no model.
    let mut keys = Vec::new();
    let own = changed("llama", &mut keys, &[]);
    for (kind, expected) in [
        (None, "the metadata lack `general.architecture`"),
        (
            Some("adapter"),
            "`general.type` is \"adapter\", and \"token_embd.weight\" is a tensor of a whole model",
        ),
    ] {
        let is_own = |key: &str| kind.is_some() || key != "general.architecture";
        let own = own.iter().filter(|(key, _)| is_own(key)).cloned();
        let pairs: Vec<(&str, Value)> =
            own.chain(kind.map(|kind| ("general.type", kind.into()))).collect();
        metadata(&at.join("m.gguf"), &pairs);
        let said = said(&convert(&[]));
        assert!(said.contains(expected) && said.contains("--trust-metadata"), "{said}");
        assert!(!at.join("o.gguf").exists());
    }
    // A person can know better, and says so.
    assert_eq!(convert(&["--trust-metadata"]).status.code(), Some(0));
    // What fits is written: also with lists for each block, and an architecture that is not known, which is said.
    for (architecture, changes, expected) in [
        ("llama", vec![("attention.head_count_kv", vec![2, 2].into())], ""),
        ("llama", vec![("attention.key_length", 8.into())], ""),
        ("unheard", vec![], "not compared with the architecture \"unheard\""),
    ] {
        let mut keys = Vec::new();
        metadata(&at.join("m.gguf"), &changed(architecture, &mut keys, &changes));
        // What is not checked is said with `-q`, too.
        let output = convert(&["--verify", "-q"]);
        let said = said(&output);
        assert!(output.status.success() && said.contains(expected), "{changes:?}: {said}");
        assert_eq!(said.lines().count(), 1 + usize::from(!expected.is_empty()), "{said}");
    }
    // What a recipe makes is of its own architecture, where the tensors alone do not tell.
    let mut keys = Vec::new();
    metadata(&at.join("m.gguf"), &changed("llama", &mut keys, &[]));
    let other = [
        "convert",
        text(&before),
        "o.gguf",
        "--recipe",
        "qwen-hf-to-gguf",
        "--metadata",
        "m.gguf",
        "--force",
    ];
    let wrong = refused(at, &other, 2);
    assert!(
        wrong.contains(
            "`general.architecture` is \"llama\", and the recipe is for \"qwen2\" and \"qwen3\""
        ),
        "{wrong}"
    );
    // A list of tokens has the length of the vocabulary, whose rows are tensors.
    let mut keys = Vec::new();
    let mut pairs = changed("llama", &mut keys, &[]);
    pairs.push(("tokenizer.ggml.tokens", vec![1; 63].into()));
    metadata(&at.join("m.gguf"), &pairs);
    let wrong = said(&convert(&[]));
    assert!(
        wrong.contains(
            "`tokenizer.ggml.tokens` has 63 tokens, and \"token_embd.weight\" is [64, 32]"
        ),
        "{wrong}"
    );
}

#[test]
fn metadata_that_contradict_the_configuration_or_the_solved_sizes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let before = corpus().join("llama_gguf/before.safetensors");
    fs::create_dir(at.join("in")).unwrap();
    fs::copy(before, at.join("in/model.safetensors")).unwrap();
    let own = r#"{"model_type": "llama", "num_attention_heads": 4, "num_key_value_heads": 2, "hidden_size": 32, "tie_word_embeddings": true"#;
    let run = |config: &str, changes: &[(&str, Value)], with: &[&str]| {
        fs::write(at.join("in/config.json"), format!("{own}{config}}}")).unwrap();
        let mut keys = Vec::new();
        metadata(&at.join("m.gguf"), &changed("llama", &mut keys, changes));
        let args = ["convert", "in/model.safetensors", "o.gguf", "--recipe", "llama-hf-to-gguf"];
        let more = ["--metadata", "m.gguf", "--force", "--allow", "rope_freqs.weight"];
        tilewright(at, &[&args[..], &more[..], with].concat())
    };
    let yarn = [("rope.scaling.type", "yarn".into()), ("rope.scaling.factor", 4.into())];
    let twice = [
        ("attention.head_count", 8.into()),
        ("attention.head_count_kv", 4.into()),
        ("rope.dimension_count", 4.into()),
    ];
    // The products of heads fit, and a person can know better.
    let output = run("", &twice, &[]);
    let text_of = said(&output);
    assert_eq!(output.status.code(), Some(2), "{text_of}");
    for key in ["head_count` is 8", "head_count_kv` is 4", "dimension_count` is 4"] {
        assert!(text_of.contains(key), "{key}: {text_of}");
    }
    assert!(run("", &twice, &["--trust-metadata"]).status.success());
    let theta = r#", "rope_parameters": {"rope_type": "default", "rope_theta": 500000.0}"#;
    let scaled = r#", "rope_scaling": {"type": "yarn", "factor": 4.0}"#;
    for (config, changes, expected) in [
        (theta, &[][..], "`llama.rope.freq_base` is missing, which means 10000"),
        (scaled, &[], "`llama.rope.scaling.type` is \"none\""),
        (scaled, &[yarn[0].clone(), ("rope.scaling.factor", 2.into())], "scaling.factor` is 2"),
        ("", &yarn, "`llama.rope.scaling.type` is \"yarn\""),
    ] {
        let output = run(config, changes, &[]);
        let text_of = said(&output);
        assert_eq!(output.status.code(), Some(2), "{config} {changes:?}: {text_of}");
        assert!(text_of.contains(expected), "{expected}: {text_of}");
    }
    for (config, changes) in [
        ("", &[][..]),
        (theta, &[("rope.freq_base", 500_000.into())]),
        (scaled, &yarn),
        (r#", "rope_theta": 10000.0"#, &[]),
        (r#", "rope_scaling": {"rope_type": "dynamic", "factor": 2.0}, "rope_theta": 7.0"#, &[]),
    ] {
        let output = run(config, changes, &[]);
        assert!(output.status.success(), "{config} {changes:?}: {}", said(&output));
    }
    // On the way back the file's own sizes are those of the recipe, and contradict others.
    assert!(run("", &[], &[]).status.success());
    let back = ["convert", "o.gguf", "b.safetensors", "--recipe", "llama-hf-to-gguf", "--inverse"];
    let back = [&back[..], &["--force"]].concat();
    fs::write(at.join("config.json"), r#"{"dtype": "float32"}"#).unwrap();
    done(at, &back);
    assert_eq!(tensors(&at.join("b.safetensors")), tensors(&at.join("in/model.safetensors")));
    let other = r#"{"dtype": "float32", "num_attention_heads": 8, "num_key_value_heads": 4, "hidden_size": 32}"#;
    fs::write(at.join("config.json"), other).unwrap();
    assert!(refused(at, &back, 2).contains("head_count` is 4"));
    for name in ["b.safetensors", "config.json"] {
        fs::remove_file(at.join(name)).unwrap();
    }
    let unnamed = refused(at, &["convert", "o.gguf", "b", "--inverse"], 2);
    assert!(unnamed.contains("end it with `.safetensors`"), "{unnamed}");
}

#[test]
fn the_file_type_is_that_of_most_matrices() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let [before, recipe] =
        ["before.safetensors", "recipe.toml"].map(|name| corpus().join("llama_gguf").join(name));
    for (is, becomes) in
        [(15, Some("MOSTLY_Q4_K_M")), (1, Some("MOSTLY_F16")), (0, None), (777, None)]
    {
        let mut keys = Vec::new();
        let mut pairs = changed("llama", &mut keys, &[]);
        pairs.push(("general.file_type", is.into()));
        metadata(&at.join("m.gguf"), &pairs);
        let args = [
            "convert",
            text(&before),
            "o.gguf",
            "--recipe",
            text(&recipe),
            "--metadata",
            "m.gguf",
            "--force",
        ];
        let said = done(at, &args);
        let input = open(at.join("o.gguf"), &Reading::default()).unwrap();
        let written = input.metadata().find(|(key, _)| *key == "general.file_type").unwrap().1;
        assert_eq!(written, "0", "{said}");
        assert_eq!(
            said.contains("`general.file_type` is 0, ALL_F32, after the tensors"),
            is != 0,
            "{said}"
        );
        assert!(becomes.is_none_or(|name| said.contains(&format!("say {is}, {name}"))), "{said}");
        let trusted = done(at, &[&args[..], &["--trust-metadata"]].concat());
        assert!(!trusted.contains("file_type"), "{trusted}");
        let input = open(at.join("o.gguf"), &Reading::default()).unwrap();
        assert!(
            input
                .metadata()
                .any(|(key, text)| key == "general.file_type" && text == is.to_string())
        );
    }
}

/// Changes one bit of a tensor's element; answers its coordinate.
fn change(path: &Path, name: &str, element: u64) -> Vec<u64> {
    let input = open(path, &Reading::default()).unwrap();
    let tensor = input.tensors().iter().find(|tensor| tensor.name() == name).unwrap();
    let [piece] = tensor.pieces() else { panic!("{name} in pieces") };
    let file = input.files().nth(piece.file()).unwrap().to_path_buf();
    let count: u64 = tensor.dims().iter().product();
    let at = piece.at() + element * (piece.bytes() / count);
    let coord =
        tensor.dims().iter().rev().fold((element, Vec::new()), |(rest, mut coord), extent| {
            coord.insert(0, rest % extent);
            (rest / extent, coord)
        });
    let mut bytes = fs::read(&file).unwrap();
    bytes[at as usize] ^= 1;
    fs::write(&file, bytes).unwrap();
    coord.1
}

#[test]
fn results_are_verified_by_the_recipe_that_they_record_and_a_changed_element_is_found() {
    let mut changed = 0;
    for entry in fs::read_dir(corpus()).unwrap() {
        let family = entry.unwrap().path();
        if !family.is_dir() {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let before = family.join("before.safetensors");
        let recipe = family.join("recipe.toml");
        done(at, &["convert", text(&before), "out.safetensors", "--recipe", text(&recipe), "-q"]);
        done(at, &["convert", "out.safetensors", "back.safetensors", "--inverse", "-q"]);
        let verify = |out: &str, against: &str, more: &[&str]| {
            tilewright(at, &[&["verify", out, "--against", against, "-q"], more].concat())
        };
        for (out, against) in
            [("out.safetensors", text(&before)), ("back.safetensors", "out.safetensors")]
        {
            for more in [&["--memory", "20000", "--threads", "3"][..], &[]] {
                let output = verify(out, against, more);
                assert!(output.status.success(), "{family:?} {out}: {}", said(&output));
            }
            for pair in [[out, against], [against, out]] {
                done(at, &["same-data", pair[0], pair[1], "-q"]);
            }
            let whole = fs::read(at.join(out)).unwrap();
            let names: Vec<(String, u64)> = {
                let input = open(at.join(out), &Reading::default()).unwrap();
                let size = |it: &tilewright::files::Tensor| it.dims().iter().product::<u64>();
                input.tensors().iter().map(|it| (it.name().to_owned(), size(it))).collect()
            };
            for (number, (name, size)) in
                names.iter().enumerate().filter(|(_, (_, size))| *size > 0)
            {
                // Not every tensor of each family: some of each kind.
                if number % 5 > 1 && names.len() > 12 {
                    continue;
                }
                let element = [0, size / 2, size - 1][number % 3];
                let coord = change(&at.join(out), name, element);
                let output = verify(out, against, &[]);
                let text = said(&output);
                assert_eq!(output.status.code(), Some(1), "{family:?} {name} {element}: {text}");
                assert!(text.contains(&format!("tensor {name:?} has ")), "{text}");
                assert!(
                    text.contains(&format!(" at {coord:?}, expected ")),
                    "{family:?} {name}: {text}"
                );
                let text = refused(at, &["same-data", against, out, "-q"], 1);
                assert!(text.contains(name), "{text}");
                fs::write(at.join(out), &whole).unwrap();
                changed += 1;
            }
        }
    }
    assert!(changed > 200, "{changed}");
}

#[test]
fn a_result_of_another_source_or_recipe_does_not_verify() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let [before, gguf, recipe] = ["before.safetensors", "after.gguf", "recipe.toml"]
        .map(|name| corpus().join("llama_gguf").join(name));
    let convert = [
        "convert",
        text(&before),
        "o.gguf",
        "--recipe",
        text(&recipe),
        "--metadata",
        text(&gguf),
        "-q",
    ];
    done(at, &convert);
    done(at, &["verify", "o.gguf", "--against", text(&before)]);
    assert!(done(at, &["same-data", text(&before), "o.gguf"]).contains("same"));
    // Another model of the same shapes: two tensors change places.
    fs::write(
        at.join("swap.toml"),
        "pass = ['*']\n[[map]]\nfrom = 'model.layers.{L}.mlp.gate_proj.weight'\nto = 'model.layers.{L}.mlp.up_proj.weight'\n[[map]]\nfrom = 'model.layers.{L}.mlp.up_proj.weight'\nto = 'model.layers.{L}.mlp.gate_proj.weight'",
    )
    .unwrap();
    done(at, &["convert", text(&before), "swapped.safetensors", "--recipe", "swap.toml"]);
    done(at, &["verify", "swapped.safetensors", "--against", text(&before)]);
    let text_of = refused(at, &["verify", "o.gguf", "--against", "swapped.safetensors"], 1);
    assert!(
        text_of.contains("tensor \"blk.0.ffn_gate.weight\" has ")
            && text_of.contains(" at [0, 0], expected "),
        "{text_of}"
    );
    let text_of = refused(at, &["same-data", "o.gguf", "swapped.safetensors"], 1);
    assert!(
        text_of.contains("blk.0.ffn_gate.weight") && text_of.contains("blk.1.ffn_up.weight"),
        "{text_of}"
    );
    // A tensor less, and one more.
    fs::write(at.join("less.toml"), "pass = ['*']\ndrop = ['model.norm.weight']").unwrap();
    done(at, &["convert", text(&before), "less.safetensors", "--recipe", "less.toml"]);
    let text_of = refused(at, &["verify", "o.gguf", "--against", "less.safetensors"], 1);
    assert!(
        text_of.contains("was not made for less.safetensors")
            && text_of.contains("model.norm.weight"),
        "{text_of}"
    );
    // By itself a result says which tensors it has, and not what they hold.
    let text_of = refused(at, &["verify", "o.gguf"], 2);
    assert!(
        text_of.contains("names, types and dims of the recipe that it records")
            && text_of.contains("--against"),
        "{text_of}"
    );
    let mut bytes = fs::read(at.join("o.gguf")).unwrap();
    let name = bytes.windows(12).position(|it| it == b"blk.1.ffn_up").unwrap();
    bytes[name + 11] = b'q';
    fs::write(at.join("renamed.gguf"), bytes).unwrap();
    let text_of = refused(at, &["verify", "renamed.gguf"], 1);
    assert!(
        text_of.contains("not those of the recipe that it records")
            && text_of.contains("blk.1.ffn_uq.weight"),
        "{text_of}"
    );
    let text_of = refused(at, &["verify", "renamed.gguf", "--against", text(&before)], 1);
    assert!(text_of.contains("tensor \"blk.1.ffn_uq.weight\": the recipe"), "{text_of}");
    // A result that is converted again is what it was.
    done(at, &["convert", "swapped.safetensors", "z.safetensors", "--to", "zN", "--skip-unfit"]);
    done(at, &["verify", "z.safetensors", "--against", "swapped.safetensors"]);
    done(at, &["verify", "z.safetensors", "--against", text(&before)]);
    done(at, &["same-data", text(&before), "z.safetensors"]);
    let some = ["verify", "o.gguf", "--against", "swapped.safetensors", "--tensor", "*attn*"];
    done(at, &some);
}

/// A safetensors file of one tensor of f32.
fn floats(name: &str, dims: [usize; 2]) -> Vec<u8> {
    let data: Vec<u8> = (0..dims[0] * dims[1]).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let header = format!(
        r#"{{"{name}":{{"dtype":"F32","shape":{dims:?},"data_offsets":[0,{}]}}}}"#,
        data.len()
    );
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()
}

/// Swizzles, index tables and big-endian elements are read and written, verified at once and later, and come back.
#[test]
fn every_layout_and_byte_order_is_read_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("a.safetensors"), floats("a", [8, 16])).unwrap();
    let swizzled = "S<2,1,3> o (8,16):(16,1)";
    done(at, &["convert", "a.safetensors", "in.safetensors", "--to", swizzled]);
    let targets = [
        "S<1,2,4> o (16,8):(8,1)",
        "table(0; 15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0) row-major",
        "{1,0:T(4,8)(3,1)}",
    ];
    for (number, layout) in targets.iter().enumerate() {
        let (recipe, out) = (format!("{number}.toml"), format!("{number}.safetensors"));
        let rule = format!("[[map]]\nfrom = 'a : r c'\nto = 'b : c r'\nlayout = '{layout}'\n");
        fs::write(at.join(&recipe), rule).unwrap();
        let said = done(at, &["recipe", "check", &recipe, "--on", "in.safetensors"]);
        assert!(said.contains("fits: 1 tensor"), "{said}");
        let said = done(at, &["convert", "in.safetensors", &out, "--recipe", &recipe, "--verify"]);
        assert!(said.contains("verified"), "{said}");
        for source in ["in.safetensors", "a.safetensors"] {
            let said = done(at, &["verify", &out, "--against", source]);
            assert!(said.starts_with("same"), "{layout}: {said}");
            assert_eq!(done(at, &["same-data", &out, source]), "same\n");
        }
        let back = format!("{number}.back.safetensors");
        done(at, &["convert", &out, &back, "--inverse", "--verify"]);
        assert_eq!(tensors(&at.join(back)), tensors(&at.join("a.safetensors")), "{layout}");
        // An element that is changed is found, at its coordinate.
        let mut bytes = fs::read(at.join(&out)).unwrap();
        let data = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        bytes[data] ^= 1;
        fs::write(at.join(&out), bytes).unwrap();
        let said = refused(at, &["verify", &out, "--against", "in.safetensors"], 1);
        assert!(said.contains("tensor \"b\" has"), "{said}");
    }
    // A layout that does not fit is told before a conversion.
    let rule = "[[map]]\nfrom = 'a : r c'\nto = 'b : c r'\nlayout = 'S<2,1,3> o (8,16):(16,1)'\n";
    fs::write(at.join("unfit.toml"), rule).unwrap();
    let said = refused(at, &["recipe", "check", "unfit.toml", "--on", "in.safetensors"], 2);
    assert!(said.contains("tensor \"b\" of dims [16, 8]"), "{said}");
    fs::write(at.join("unfit.toml"), rule.replace("S<2,1,3> o", "nonsense")).unwrap();
    let said = refused(at, &["recipe", "check", "unfit.toml"], 2);
    assert!(said.starts_with("error: unfit.toml: layout \"nonsense"), "{said}");
}

/// Padding that a layout promises is compared with its fill, too.
#[test]
fn padding_of_a_result_is_verified_later() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("a.safetensors"), floats("a", [3, 5])).unwrap();
    for layout in ["zN[M0=4,C0=4]", "table(0; 2,0,1) zN[M0=4,C0=4]"] {
        let rule = format!("[[map]]\nfrom = 'a : r c'\nto = 'b : r c'\nlayout = '{layout}'\n");
        fs::write(at.join("zn.toml"), rule).unwrap();
        let run = ["--recipe", "zn.toml", "--verify", "--force"];
        done(at, &[&["convert", "a.safetensors", "b.safetensors"], &run[..]].concat());
        let verify = ["verify", "b.safetensors", "--against", "a.safetensors"];
        assert!(done(at, &verify).starts_with("same"));
        let mut bytes = fs::read(at.join("b.safetensors")).unwrap();
        let len = bytes.len();
        bytes[len - 1] ^= 1;
        fs::write(at.join("b.safetensors"), bytes).unwrap();
        let said = refused(at, &verify, 1);
        assert!(said.contains("in the padding at offset 31"), "{layout}: {said}");
    }
}

/// A tensor that is passed from a big-endian file keeps its values, and what a recipe dropped is told on the way back.
#[test]
fn passed_tensors_keep_their_values_and_dropped_ones_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("a.safetensors"), floats("array", [2, 3])).unwrap();
    let mut header = "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }".to_owned();
    header += "\n";
    let data: Vec<u8> = (0..6).flat_map(|i| (i as f32).to_be_bytes()).collect();
    let len = (header.len() as u16).to_le_bytes();
    let bytes = [b"\x93NUMPY\x01\0", &len[..], header.as_bytes(), &data].concat();
    fs::write(at.join("big.npy"), bytes).unwrap();
    fs::write(at.join("pass.toml"), "pass = ['*']").unwrap();
    done(at, &["convert", "big.npy", "out.safetensors", "--recipe", "pass.toml", "--verify"]);
    assert_eq!(tensors(&at.join("out.safetensors")), tensors(&at.join("a.safetensors")));
    assert_eq!(done(at, &["same-data", "out.safetensors", "big.npy"]), "same\n");

    // An array without a header is read as it is said to lie.
    let data: Vec<u8> = [0, 3, 1, 4, 2, 5].iter().flat_map(|i| (*i as f32).to_le_bytes()).collect();
    fs::write(at.join("bare.bin"), data).unwrap();
    let run = ["--recipe", "pass.toml", "--verify", "--force"];
    for said in
        [&["--from", "f32[2,3]{0,1}"][..], &["--from", "{0,1}", "--dims", "2,3", "--dtype", "f32"]]
    {
        done(at, &[&["convert", "raw:bare.bin", "bare.safetensors"], said, &run[..]].concat());
        assert_eq!(done(at, &["same-data", "bare.safetensors", "a.safetensors"]), "same\n");
    }
    let said = ["convert", "a.safetensors", "b.safetensors", "--from", "zN"];
    let said = refused(at, &[&said[..], &run[..]].concat(), 2);
    assert!(said.contains("as the file states them"), "{said}");

    fs::write(at.join("drop.toml"), "drop = ['array']").unwrap();
    done(at, &["convert", "a.safetensors", "none.safetensors", "--recipe", "drop.toml"]);
    let said = done(at, &["convert", "none.safetensors", "back.safetensors", "--inverse", "-q"]);
    assert!(said.contains("array was dropped, and does not come back"), "{said}");
}
