//! Folders of shards in `fingerprint`, `same-data` and `verify`, results of `reshard` in GGUF, and messages about plans.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn data(name: &str) -> String {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/data");
    corpus.join(name).to_str().unwrap().to_owned()
}

fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    command.current_dir(folder).args(args).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8([output.stdout.clone(), output.stderr.clone()].concat()).unwrap()
}

fn done(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    assert!(output.status.success(), "{args:?}: {}", said(&output));
    said(&output)
}

fn refused(folder: &Path, args: &[&str], code: i32) -> String {
    let output = run(folder, args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", said(&output));
    said(&output)
}

/// Makes shards of a checkpoint, two ways of tensor parallelism, and returns its path.
fn cut(at: &Path) -> String {
    let llm = data("tiny_llm_mixed.safetensors");
    done(
        at,
        &["reshard", &llm, "tp2", "--mesh", "tp=2", "--rule", "*proj.weight=[Shard(0)]", "-q"],
    );
    llm
}

fn flip(path: PathBuf, from_end: usize) {
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.len() - from_end;
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn shards_have_the_fingerprints_of_the_checkpoint_and_verify_against_it() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let llm = cut(at);
    assert_eq!(done(at, &["fingerprint", "tp2"]), done(at, &["fingerprint", &llm]));
    let some = ["--tensor", "*q_proj*"];
    let of = |path| done(at, &[&["fingerprint", path][..], &some].concat());
    assert_eq!(of("tp2"), of(&llm));
    assert_eq!(done(at, &["same-data", &llm, "tp2"]), "same\n");
    assert_eq!(
        done(
            at,
            &[
                "same-data",
                "tp2",
                &llm,
                "--from-mesh",
                "tp=2",
                "--from-rule",
                "*proj.weight=column",
                "--from-rule",
                "*=P()"
            ]
        ),
        "same\n"
    );
    assert!(done(at, &["verify", "tp2", "--against", &llm]).starts_with("same: "));
    assert!(done(at, &["verify", &llm, "--against", "tp2"]).starts_with("same: "));
    // The files record the rules, so none are needed to join them.
    done(at, &["reshard", "tp2", "whole", "-q"]);
    assert_eq!(done(at, &["same-data", "whole", &llm]), "same\n");

    // Rules of the caller are for files that record none.
    let other = ["same-data", "tp2", &llm, "--from-mesh", "tp=2", "--from-rule", "*=P()"];
    assert_eq!(done(at, &other), "same\n");
    for (words, says) in [
        (
            &["verify", "tp2"][..],
            "fingerprints of shards are not compared with recorded ones; name the checkpoint with --against",
        ),
        (&["verify", "tp2", "--against", &llm, "--to", "zN"], "--to does not apply to shards"),
        (
            &["same-data", &llm, &llm, "--from-mesh", "tp=2"],
            "--from-mesh needs a folder with several files",
        ),
        (&["fingerprint", "tp2", "--from", "GPTQ", "--dtype", "u4"], "reshard them first"),
    ] {
        let text = refused(at, words, 2);
        assert!(text.contains(says), "{words:?}: {text}");
    }
}

#[test]
fn a_damaged_shard_is_a_difference_or_a_copy_that_differs() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let llm = cut(at);
    // The last tensor of a file is one that every rank has.
    flip(at.join("tp2/rank_00001-of-00002.safetensors"), 1);
    let text = refused(at, &["same-data", &llm, "tp2"], 3);
    assert!(
        text.contains("rank_00001-of-00002.safetensors: tensor ")
            && text.contains(" differs from its copy in "),
        "{text}"
    );
    assert!(text.contains("first at ["), "{text}");
    flip(at.join("tp2/rank_00001-of-00002.safetensors"), 1);
    assert_eq!(done(at, &["same-data", &llm, "tp2"]), "same\n");

    let one = [
        "reshard",
        &data("tiny_cnn_f32.safetensors"),
        "dp2",
        "--mesh",
        "dp=2",
        "--rule",
        "*=[Shard(0)]",
        "-q",
    ];
    done(at, &one);
    flip(at.join("dp2/rank_00001-of-00002.safetensors"), 1);
    let text = refused(at, &["verify", "dp2", "--against", &data("tiny_cnn_f32.safetensors")], 1);
    assert!(text.contains("tensor ") && text.contains(", expected 0x"), "{text}");
    let text = refused(at, &["same-data", &data("tiny_cnn_f32.safetensors"), "dp2"], 1);
    assert!(text.contains(" differs at ("), "{text}");
}

#[test]
fn results_in_gguf_are_those_of_their_source() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let quantised = data("tiny_quantised.gguf");
    let text = done(at, &["reshard", &quantised, "out.gguf", "--verify"]);
    assert!(text.contains("as hf in 1 file") && !text.contains("note"), "{text}");
    assert!(fs::read(at.join("out.gguf")).unwrap() == fs::read(&quantised).unwrap());
    done(
        at,
        &[
            "reshard",
            &quantised,
            "tp2",
            "--format",
            "gguf",
            "--mesh",
            "tp=2",
            "--rule",
            "*ffn*=[Shard(0)]",
            "-q",
        ],
    );
    assert_eq!(done(at, &["same-data", &quantised, "tp2"]), "same\n");
    // Files of ranks are named as parts of one file, and no file says that it is one.
    for args in [&["info", "tp2"][..], &["convert", "tp2", "o.gguf", "--to", "row-major"]] {
        assert!(refused(at, args, 2).contains("they look like files of ranks"), "{args:?}");
    }
    let cut = [
        "reshard",
        &quantised,
        "tp3",
        "--format",
        "gguf",
        "--mesh",
        "tp=3",
        "--rule",
        "*ffn_up*=[Shard(1)]",
    ];
    let text = refused(at, &cut, 2);
    assert!(
        text.contains("cuts a block of q4_0 at [0, 22]") && text.contains("keep the tensor whole"),
        "{text}"
    );
    let cnn = data("tiny_cnn_f32.safetensors");
    let text = refused(at, &["reshard", &cnn, "cnn.gguf"], 2);
    assert!(text.contains("give it with --metadata FROM"), "{text}");
    let simulate = ["reshard", "simulate", &cnn, "--format", "gguf", "--metadata", &quantised];
    let text = done(at, &simulate);
    assert!(text.contains("1 file, "), "{text}");
    let text = done(at, &["reshard", &cnn, "cnn.gguf", "--metadata", &quantised]);
    assert!(text.contains("note: metadata that gguf does not get: format"), "{text}");
    let unknown = "note: the names of the tensors are not compared with the architecture \"tiny\"";
    assert!(text.contains(unknown), "{text}");
    assert_eq!(done(at, &["same-data", "cnn.gguf", &cnn]), "same\n");
    let text = refused(at, &["reshard", &cnn, "cnn.gguf", "--metadata", &cnn], 2);
    assert!(text.contains("the metadata are those of"), "{text}");
}

/// Writes a GGUF file of one f32 tensor of four elements with this name and alignment.
fn gguf(path: PathBuf, name: &str, alignment: u32) {
    let text = |text: &str| [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat();
    let number = |number: u32| number.to_le_bytes().to_vec();
    let parts = [
        b"GGUF".to_vec(),
        number(3),
        [1u64, 2].map(u64::to_le_bytes).concat(),
        [text("general.architecture"), number(8), text("tiny")].concat(),
        [text("general.alignment"), number(4), number(alignment)].concat(),
        [text(name), number(1), 4u64.to_le_bytes().to_vec(), number(0), vec![0; 8]].concat(),
    ];
    let (mut file, grain) = (parts.concat(), alignment as usize);
    file.resize(file.len().next_multiple_of(grain), 0);
    file.extend([1u8; 16]);
    file.resize(file.len().next_multiple_of(grain), 0);
    fs::write(path, file).unwrap();
}

#[test]
fn names_that_ggml_refuses_are_told_wherever_a_gguf_file_is_written() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    fs::write(at.join("r.toml"), "pass = ['*']\n").unwrap();
    for (name, is_told) in [("x".repeat(63), false), ("x".repeat(64), true)] {
        gguf(at.join("in.gguf"), &name, 32);
        for args in [
            &["convert", "in.gguf", "o.gguf", "--to", "col-major"][..],
            &["convert", "in.gguf", "o.gguf", "--recipe", "r.toml"],
            &["reshard", "in.gguf", "o.gguf"],
        ] {
            let text = done(at, &[args, &["--force"]].concat());
            assert_eq!(text.contains("more than 63 bytes, and ggml refuses"), is_told, "{text}");
        }
    }
}

#[test]
fn a_result_of_another_alignment_is_its_source() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    gguf(at.join("in.gguf"), "w", 32);
    gguf(at.join("model.gguf"), "w", 64);
    done(at, &["reshard", "in.gguf", "out.gguf", "--metadata", "model.gguf"]);
    assert!(fs::metadata(at.join("out.gguf")).unwrap().len().is_multiple_of(64));
    let text = done(at, &["verify", "out.gguf", "--against", "in.gguf"]);
    assert!(text.starts_with("same: "), "{text}");
}

#[test]
fn a_simulated_result_has_no_path() {
    let folder = tilewright_testing::folder();
    let cnn = data("tiny_cnn_f32.safetensors");
    let text = refused(folder.path(), &["reshard", "simulate", &cnn, "--format", "gguf"], 2);
    assert!(text.starts_with("error: OUT/model.gguf: .gguf needs model metadata"), "{text}");
}

#[test]
fn messages_about_plans_name_the_step_that_takes_the_option() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let cnn = data("tiny_cnn_f32.safetensors");
    done(at, &["reshard", "plan", &cnn, "out", "-o", "plan", "--mesh", "tp=2"]);
    done(at, &["reshard", "run", "plan"]);
    done(at, &["reshard", "finish", "plan"]);
    for step in ["finish", "run"] {
        let text = refused(at, &["reshard", step, "plan"], 2);
        assert!(
            text.contains(
                "with all files of this result; nothing is left to do if this run made them"
            ),
            "{text}"
        );
        assert!(!text.contains("remove") && !text.contains("--force"), "{text}");
    }
    fs::remove_file(at.join("out/rank_00001-of-00002.safetensors")).unwrap();
    let text = refused(at, &["reshard", "run", "plan"], 2);
    assert!(text.contains("plan again: `reshard plan … --force` replaces a checkpoint"), "{text}");
    for words in [
        &["reshard", "--memory", "1G", "plan", &cnn, "out2", "-o", "plan2"][..],
        &["reshard", "--memory=1G", "--mesh", "tp=2", "plan", &cnn, "out2", "-o", "plan2"],
    ] {
        let text = refused(at, words, 2);
        let says = "error: options of a step follow it: `reshard plan … --memory …`\n";
        assert_eq!(text, says, "{words:?}");
    }
    let json = refused(at, &["reshard", "--verify", "run", "plan", "--json"], 2);
    assert!(json.contains("give it to `reshard plan`"), "{json}");
    let text =
        refused(at, &["reshard", &cnn, "v", "--mesh", "tp=4", "--rule", "0.weight=vocab"], 2);
    assert!(text.contains("vocab(pad=N), such as vocab(pad=64)"), "{text}");
}

/// Padding with values is refused by the process that runs a plan; the advice is to plan again.
#[test]
fn padding_in_a_plan_is_dropped_by_a_new_plan() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let header = r#"{"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}"#;
    fs::create_dir(at.join("in")).unwrap();
    for rank in 0..2 {
        let bytes =
            [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[1, 2, 3, 4]].concat();
        fs::write(at.join(format!("in/rank_{rank}.safetensors")), bytes).unwrap();
    }
    let plan = [
        "reshard",
        "plan",
        "in",
        "out",
        "-o",
        "plan",
        "--from-mesh",
        "tp=2",
        "--from-rule",
        "w=[5] @ megatron:vocab(pad=4)",
    ];
    done(at, &plan);
    let text = refused(at, &["reshard", "run", "plan"], 2);
    assert!(text.contains("plan again: `reshard plan … --drop-padding` drops it"), "{text}");
    let alone = [
        "reshard",
        "in",
        "out",
        "--from-mesh",
        "tp=2",
        "--from-rule",
        "w=[5] @ megatron:vocab(pad=4)",
    ];
    assert!(refused(at, &alone, 2).contains("; --drop-padding drops it"));
}

/// A command names only options that it takes, or the command that takes them.
#[test]
fn shards_that_lack_a_part_are_rewritten_with_stated_extents() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let cnn = data("tiny_cnn_f32.safetensors");
    let rules = ["--mesh", "dp=2", "--rule", "*=[Shard(0)]", "-q"];
    done(at, &[&["reshard", &cnn, "dp2"][..], &rules].concat());
    // The extents that the files state are those of a larger tensor.
    for rank in 0..2 {
        let path = at.join(format!("dp2/rank_{rank:05}-of-00002.safetensors"));
        let bytes = fs::read(&path).unwrap();
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let header = String::from_utf8(bytes[8..8 + length].to_vec()).unwrap();
        let name = header.split("tilewright.extents\":\"{").nth(1).unwrap();
        let stated = name.split(']').next().unwrap();
        let first = stated.split('[').nth(1).unwrap().split(',').next().unwrap();
        let more = first.parse::<u64>().unwrap() + 1;
        let changed = stated.replacen(&format!("[{first}"), &format!("[{more}"), 1);
        assert_eq!(changed.len(), stated.len());
        let header = header.replacen(stated, &changed, 1);
        fs::write(path, [&bytes[..8], header.as_bytes(), &bytes[8 + length..]].concat()).unwrap();
    }
    for words in [
        &["fingerprint", "dp2"][..],
        &["same-data", &cnn, "dp2"],
        &["verify", "dp2", "--against", &cnn],
    ] {
        let text = said(&run(at, words));
        let says = "rewrite them with `tilewright reshard`, which takes --extents FILE and --trust-extents";
        assert!(text.contains(says) && !text.contains("give them with"), "{words:?}: {text}");
    }
    let text = said(&run(at, &["reshard", "dp2", "out"]));
    assert!(text.contains("give them with --extents FILE, or accept them with"), "{text}");
}
