//! Shard files that are missing, or that the program does not know: messages, and the options that resolve them.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

fn tilewright(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    command.current_dir(folder).args(args).output().unwrap()
}

/// Returns standard output and standard error of a run that must end with this code.
fn ends(folder: &Path, code: i32, args: &[&str]) -> (String, String) {
    let output = tilewright(folder, args);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}: {out}{err}");
    (out, err)
}

/// Writes a file of U8 tensors.
fn file(path: &Path, tensors: &[(&str, &[u64])], metadata: &str) {
    let (mut header, mut end) = (format!("{{\"__metadata__\":{metadata}"), 0);
    for (name, dims) in tensors {
        let bytes = dims.iter().product::<u64>();
        header += &format!(
            ",{name:?}:{{\"dtype\":\"U8\",\"shape\":{dims:?},\"data_offsets\":[{end},{}]}}",
            end + bytes
        );
        end += bytes;
    }
    header += "}";
    let data: Vec<u8> = (0..end).map(|at| at as u8).collect();
    let length = (header.len() as u64).to_le_bytes();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, [&length[..], header.as_bytes(), &data].concat()).unwrap();
}

/// Writes a checkpoint of torch in shards: two rows of `w` in each file.
fn dcp(folder: &Path, files: u64) {
    for number in 0..files {
        let places = format!("{{\\\"w\\\":{{\\\"saved_offsets\\\":[{},0]}}}}", 2 * number);
        let metadata = format!("{{\"DCP_SHARDING_INFO\":\"{places}\"}}");
        let name = format!("shard-{:05}-model-00001-of-00001.safetensors", number + 1);
        file(&folder.join(name), &[("w", &[2, 3])], &metadata);
    }
}

#[test]
fn assumed_extents_are_said_until_they_are_answered() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    dcp(&at.join("in"), 2);
    let note = "warning: nothing states the extents of 1 tensor, so they are taken to end with the last shard: \"w\" [4, 3]. A last shard file \
                that is missing makes them smaller; give them with --extents FILE, or accept them with --trust-extents\n";
    for (number, words) in [
        &["reshard", "in", "OUT", "-q"][..],
        &["-q", "reshard", "in", "OUT", "--dry-run"],
        &["reshard", "plan", "in", "OUT", "-o", "plan", "-q"],
        &["reshard", "simulate", "in", "-q"],
    ]
    .into_iter()
    .enumerate()
    {
        let out = format!("out{number}");
        let words: Vec<&str> =
            words.iter().map(|word| if *word == "OUT" { out.as_str() } else { word }).collect();
        assert_eq!(ends(at, 0, &words).1, note, "{words:?}");
    }
    let json = |more: &[&str]| {
        let (out, err) =
            ends(at, 0, &[&["reshard", "in", "never", "--dry-run", "--json"][..], more].concat());
        assert_eq!(err, "");
        let value: serde_json::Value = serde_json::from_str(&out).unwrap();
        value["assumed"].clone()
    };
    assert_eq!(json(&[]), serde_json::json!([{"name": "w", "dims": [4, 3]}]));
    fs::write(at.join("extents.json"), "{\"w\": [4, 3]}").unwrap();
    fs::write(at.join("extents.toml"), "w = [4, 3]").unwrap();
    for answer in [
        &["--trust-extents"][..],
        &["--extents", "extents.json"],
        &["--extents", "extents.toml"],
        &["--extents", "w=[4,3]"],
    ] {
        let words = [&["reshard", "in", "never", "--dry-run"][..], answer].concat();
        assert_eq!(ends(at, 0, &words).1, "", "{answer:?}");
    }
    assert_eq!(json(&["--extents", "extents.toml"]), serde_json::json!([]));

    // The last file is missing: the tensor is shorter, unless its extents are stated.
    dcp(&at.join("in"), 3);
    fs::write(at.join("more.toml"), "w = [6, 3]").unwrap();
    fs::remove_file(at.join("in/shard-00003-model-00001-of-00001.safetensors")).unwrap();
    let (_, err) = ends(at, 2, &["reshard", "in", "never", "--extents", "more.toml"]);
    assert_eq!(
        err,
        "error: tensor `w` [6,3]: no piece holds [4,6) × [0,3); a shard file may be missing\n"
    );
    fs::File::create(at.join("long")).unwrap().set_len((16 << 20) + 1).unwrap();
    fs::write(at.join("bytes"), [0xff]).unwrap();
    for (given, says) in [
        ("long", "--extents: long: 16777217 bytes, at most 16777216 are read"),
        ("bytes", "--extents: bytes: the text is not UTF-8"),
        (
            "none.json",
            "--extents none.json: expected a file, or GLOB=DIMS such as 'embed.weight=[50257,64]'",
        ),
        ("w=4,3", "--extents w=4,3: expected a file, or GLOB=DIMS"),
        ("plan", "--extents plan: tensor "),
    ] {
        let (_, err) = ends(at, 2, &["reshard", "in", "never", "--extents", given]);
        assert!(err.contains(says), "{err}");
    }
    assert!(!at.join("never").exists());
}

#[test]
fn what_files_state_is_answered_by_name() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    file(&at.join("model.safetensors"), &[("norm", &[4]), ("w", &[8, 3])], "{}");
    let cut = ["--mesh", "tp=4", "--rule", "w=column", "--as", "dcp"];
    ends(at, 0, &[&["reshard", "model.safetensors", "dcp"][..], &cut].concat());
    fs::remove_file(at.join("dcp/shard-00004-model-00001-of-00001.safetensors")).unwrap();
    let (_, err) = ends(at, 2, &["reshard", "dcp", "whole", "-q"]);
    let said = "error: tensor `w` [8,3]: no piece holds [6,8) × [0,3); a shard file may be missing; tilewright.extents states \
                [8, 3]; give them with --extents FILE, or accept them with --trust-extents\n";
    assert_eq!(err, said);
    ends(at, 0, &["reshard", "dcp", "whole", "--trust-extents"]);
}

/// Folders that are not one file of tensors are described in the errors of every command that opens them.
#[test]
fn folders_of_shards_say_what_they_are() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    dcp(&at.join("torch"), 2);
    for rank in 0..2 {
        file(&at.join(format!("ranks/model-rank-{rank}.safetensors")), &[("w", &[2, 3])], "{}");
        file(&at.join(format!("parts/part-{rank}.safetensors")), &[(["a", "b"][rank], &[2])], "{}");
    }
    for words in [
        &["info", "FOLDER"][..],
        &["convert", "FOLDER", "out", "--to", "zN"],
        &["recipe", "guess", "FOLDER"],
    ] {
        let said = |name: &str| {
            let words: Vec<&str> =
                words.iter().map(|word| if *word == "FOLDER" { name } else { word }).collect();
            ends(at, 2, &words).1
        };
        let text = said("torch");
        assert!(
            text.contains("a torch checkpoint in shards")
                && text.contains("use `tilewright reshard`"),
            "{text}"
        );
        let text = said("ranks");
        assert!(text.contains("look like files of ranks; join them with `tilewright reshard`; files that record no rules need --from-mesh"), "{text}");
        let text = said("parts");
        assert!(text.contains("name one of them") && !text.contains("ranks"), "{text}");
    }
    let (_, err) = ends(at, 2, &["reshard", "ranks", "out"]);
    assert!(err.contains("files that record no rules need --from-mesh"), "{err}");
    fs::write(at.join("config.json"), "{\"model_type\": \"llama\"}").unwrap();
    fs::write(at.join("broken.json"), "{").unwrap();
    for name in ["config.json", "broken.json"] {
        let (_, err) = ends(at, 3, &["info", name]);
        assert!(err.contains("not a checkpoint index"), "{err}");
    }
    // An index names a file that does not exist.
    let index = "{\"weight_map\":{\"a\":\"part-0.safetensors\",\"b\":\"part-9.safetensors\"}}";
    fs::write(at.join("parts/model.safetensors.index.json"), index).unwrap();
    let (_, err) = ends(at, 3, &["reshard", "parts", "out"]);
    assert!(err.contains("part-9.safetensors"), "{err}");
}

#[test]
fn a_model_that_is_there_twice_is_read_once() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    file(&at.join("in/model.safetensors"), &[("w", &[2, 3])], "{}");
    file(&at.join("in/consolidated.safetensors"), &[("layers.w", &[2, 3])], "{}");
    let said = "model.safetensors is read, and not consolidated.safetensors beside it";
    for words in [
        &["info", "in"][..],
        &["convert", "in", "converted", "--to", "col-major"],
        &["reshard", "in", "whole"],
    ] {
        let (_, err) = ends(at, 0, words);
        assert!(err.contains(said), "{words:?}: {err}");
    }
    assert_eq!(ends(at, 0, &["same-data", "whole", "in/model.safetensors"]).0, "same\n");
    // Another file beside them makes the input ambiguous.
    file(&at.join("in/other.safetensors"), &[("x", &[2])], "{}");
    assert!(ends(at, 2, &["info", "in"]).1.contains("name one of them"));
}

/// Rules of makers: the error for a bare word lists both texts, and a run accepts the given one.
#[test]
fn rules_of_makers_are_named() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    // Row r of the array [q; k; v] of 8 query heads, 4 key heads and 4 value heads of 6 rows; Megatron's groups of it.
    let head = |part: u64, head: u64| {
        (0..6).map(move |row| ([0, 48, 72][part as usize] + 6 * head + row) as u8)
    };
    let group =
        |n: u64| head(0, 2 * n).chain(head(0, 2 * n + 1)).chain(head(1, n)).chain(head(2, n));
    for rank in 0..2u64 {
        let rows: Vec<u8> = (2 * rank..2 * rank + 2).flat_map(group).collect();
        let path = at.join(format!("in/rank_{rank}.safetensors"));
        file(&path, &[("qkv", &[48])], "{}");
        let header = fs::read(&path).unwrap();
        fs::write(&path, [&header[..header.len() - 48], &rows].concat()).unwrap();
    }
    let run = |rule: &str, code: i32| {
        let _ = fs::remove_dir_all(at.join("out"));
        let rule = format!("*=[96] @ {rule}");
        ends(at, code, &["reshard", "in", "out", "--from-mesh", "tp=2", "--from-rule", &rule]).1
    };
    let rows = || {
        let bytes = fs::read(at.join("out/model.safetensors")).unwrap();
        bytes[bytes.len() - 96..].to_vec()
    };
    let err = run("qkv(h=8,g=4,d=6)", 2);
    assert!(err.contains("write `megatron:qkv(h=8,g=4,d=6)` or `vllm:qkv(h=8,g=4,d=6)`"), "{err}");
    run("megatron:qkv(h=8,g=4,d=6,array=concat)", 0);
    assert_eq!(rows(), (0..96).collect::<Vec<u8>>());
    run("megatron:qkv(h=8,g=4,d=6)", 0);
    assert_eq!(rows(), (0..4).flat_map(group).collect::<Vec<u8>>());
    let spec = "f32[96,48] @ mesh(tp=2) megatron:qkv(h=8,g=4,d=6)";
    let (out, _) = ends(at, 0, &["explain", spec]);
    assert!(
        out.contains("heads      8 query heads, 4 key heads and 4 value heads of 6 rows each"),
        "{out}"
    );
    assert!(out.contains("mesh(tp=2) megatron:qkv(h=8,g=4,d=6)"), "{out}");
    let (_, err) = ends(at, 2, &["shards", "f32[96] @ mesh(tp=4) vocab(pad=64)"]);
    assert!(err.contains("write `megatron:vocab(pad=64)` or `vllm:vocab(pad=64)`"), "{err}");
}

/// Every message about the folder that a run leaves names the folder.
#[test]
fn a_folder_that_is_left_is_named() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    file(&at.join("model.safetensors"), &[("a", &[64]), ("b", &[64])], "{}");
    ends(at, 0, &["reshard", "plan", "model.safetensors", "out", "-o", "plan"]);
    ends(at, 0, &["reshard", "run", "plan", "--rank", "0", "--world", "2"]);
    let named = |err: &str| assert!(err.contains("out.partial-"), "{err}");
    named(&ends(at, 1, &["reshard", "finish", "plan"]).1);
    fs::create_dir(at.join("out")).unwrap();
    fs::write(at.join("out/note"), "").unwrap();
    named(&ends(at, 2, &["reshard", "run", "plan"]).1);
    named(&ends(at, 2, &["reshard", "finish", "plan"]).1);
    // A run that another request replaced.
    fs::remove_dir_all(at.join("out")).unwrap();
    named(&ends(at, 0, &["reshard", "model.safetensors", "out", "--memory", "1M"]).1);
}

/// Copies that are trusted are no padding, and their padding is looked at as well.
#[test]
fn padding_of_trusted_copies_is_refused() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    for rank in 0..4 {
        file(&at.join(format!("in/rank_{rank}.safetensors")), &[("w", &[4, 3]), ("n", &[5])], "{}");
    }
    let args =
        ["in", "out", "--from-mesh", "dp=2,tp=2", "--from-rule", "w=[5,3] @ megatron:vocab(pad=4)"];
    let args = [&args[..], &["--from-rule", "n=P()", "--trust-replicas"]].concat();
    let whole = |more: &[&'static str]| [&["reshard"], &args[..], more].concat();
    let said = ends(at, 0, &whole(&["--dry-run"])).1;
    assert!(said.contains("18 values of padding in the files of \"w\" are dropped"), "{said}");
    assert!(ends(at, 2, &whole(&[])).1.contains("has a value other than 0 at [1, 0]"));
    ends(at, 0, &[&["reshard", "plan"], &args[..], &["-o", "plan"]].concat());
    assert!(
        ends(at, 2, &["reshard", "run", "plan"]).1.contains("has a value other than 0 at [1, 0]")
    );
    // Copies without padding are none.
    fs::remove_file(at.join("plan")).unwrap();
    let args =
        ["in", "out", "--from-mesh", "dp=2,tp=2", "--from-rule", "n=P()", "--trust-replicas"];
    ends(
        at,
        0,
        &[&["reshard", "plan"], &args[..], &["--from-rule", "w=P('tp')", "-o", "plan"]].concat(),
    );
    ends(at, 0, &["reshard", "run", "plan"]);
}

/// Padding of a vocabulary is counted, and dropped only if it is zero, or if the caller says so.
#[test]
fn padding_with_values_is_refused() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    for rank in 0..2 {
        file(&at.join(format!("in/rank_{rank}.safetensors")), &[("w", &[4, 3])], "{}");
    }
    let rule = ["--from-mesh", "tp=2", "--from-rule", "w=[5,3] @ megatron:vocab(pad=4)"];
    let run = |more: &[&str], code: i32| {
        ends(at, code, &[&["reshard", "in", "out"], &rule[..], more].concat()).1
    };
    let count = "9 values of padding in the files of \"w\" are dropped";
    assert!(run(&["--dry-run"], 0).contains(count));
    let said = run(&[], 2);
    let place =
        "rank_1.safetensors has a value other than 0 at [1, 0], which its rule calls padding";
    assert!(said.contains(place) && said.contains("--drop-padding drops it"), "{said}");
    assert!(!at.join("out").exists());
    assert!(run(&["--drop-padding"], 0).contains(count));
    fs::remove_dir_all(at.join("out")).unwrap();
    // Zeros are dropped without a question.
    let mut bytes = fs::read(at.join("in/rank_1.safetensors")).unwrap();
    let end = bytes.len();
    bytes[end - 9..].fill(0);
    fs::write(at.join("in/rank_1.safetensors"), bytes).unwrap();
    assert!(run(&["--memory", "64K"], 0).contains(count));
    let whole = fs::read(at.join("out/model.safetensors")).unwrap();
    assert!(whole.ends_with(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2]));
}
