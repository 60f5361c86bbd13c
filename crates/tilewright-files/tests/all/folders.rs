//! Folders: which of their files is opened, which are copied, and that a result is whole or absent.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use tilewright_files::{
    Collection, Conversion, Error, Reading, Request, Verdict, Watch, open, verify,
};

use crate::common::*;

/// Writes a checkpoint of one file with other files beside it.
fn model(folder: &TempDir) -> PathBuf {
    let model = folder.path().join("model");
    fs::create_dir(&model).unwrap();
    fs::write(model.join("model.safetensors"), one("BF16", &[20, 30], &noise(1200))).unwrap();
    for name in ["config.json", "tokenizer.json", ".gitattributes", "README.md"] {
        fs::write(model.join(name), name).unwrap();
    }
    model
}

/// Runs a conversion and returns its warnings.
fn run(from: &Path, to: &Path, request: Request) -> Result<Vec<String>, Error> {
    let input = open(from, &Reading::default())?;
    let conversion = Conversion::prepare(&input, to, request)?;
    conversion.run(&())?;
    Ok(conversion.warnings().collect())
}

pub(crate) fn inside(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_folder_is_converted_with_its_small_files() {
    let folder = folder();
    let (from, out) = (model(&folder), folder.path().join("out"));
    assert_eq!(run(&from, &out, to("zN").verify(true)).unwrap(), Vec::<String>::new());
    assert_eq!(inside(&out), inside(&from));
    assert_eq!(names(&folder), ["model", "out"]);
    assert_eq!(fs::read(out.join("tokenizer.json")).unwrap(), b"tokenizer.json");
    let input = open(&out, &Reading::default()).unwrap();
    assert_eq!(input.tensors()[0].layout().to_spec(), "bf16[20,30] zN");
    assert!(matches!(verify(&out, &from, &Request::new(), &()).unwrap(), Verdict::Same { .. }));
    // Back, into an empty folder whose name ends with a slash.
    let back = folder.path().join("back");
    fs::create_dir(&back).unwrap();
    run(&out, &folder.path().join("back/"), to("row-major")).unwrap();
    for name in inside(&from) {
        let [was, is] = [&from, &back].map(|folder| fs::read(folder.join(&name)).unwrap());
        assert!(name == "model.safetensors" || was == is, "{name}");
    }
    assert_eq!(tensor(back.join("model.safetensors"), "t").2, noise(1200));
}

#[test]
fn what_stays_behind_is_named() {
    let folder = folder();
    let (from, out) = (model(&folder), folder.path().join("out"));
    fs::create_dir(from.join("onnx")).unwrap();
    fs::write(from.join("pytorch_model.bin"), "weights").unwrap();
    fs::write(from.join("extra.npy"), npy("<f4", false, "(2,)", &[0; 8])).unwrap();
    fs::File::create(from.join("long.txt")).unwrap().set_len((64 << 20) + 1).unwrap();
    fs::File::create(from.join("most.txt")).unwrap().set_len(64 << 20).unwrap();
    fs::write(from.join(".model.safetensors.tilewright-1-1.tmp"), "of a killed run").unwrap();
    let said = run(&from, &out, to("col-major")).unwrap();
    let expected = [
        "not taken along: extra.npy (weights of another file)",
        "long.txt (67108865 bytes, more than 67108864)",
        "onnx (a folder)",
        "pytorch_model.bin (weights of another file)",
    ];
    assert_eq!(said, [expected.join(", ")]);
    let own = [".gitattributes", "README.md", "config.json", "model.safetensors"];
    assert_eq!(inside(&out), [&own[..], &["most.txt", "tokenizer.json"]].concat());
    for i in 0..20 {
        fs::create_dir(from.join(format!("d{i:02}"))).unwrap();
    }
    let said = run(&from, &folder.path().join("b"), to("col-major")).unwrap();
    assert!(said[0].contains("d00 (a folder)") && said[0].ends_with("and 16 more"), "{said:?}");
}

#[test]
#[cfg(unix)]
fn links_are_followed_and_a_link_to_nothing_is_refused() {
    use std::os::unix::fs::symlink;
    let folder = folder();
    let (from, out) = (model(&folder), folder.path().join("out"));
    // As in the cache of a hub, every file is a link to a blob.
    let hub = folder.path().join("hub");
    fs::create_dir(&hub).unwrap();
    for name in inside(&from) {
        symlink(format!("../model/{name}"), hub.join(name)).unwrap();
    }
    run(&hub, &out, to("zN").verify(true)).unwrap();
    assert_eq!(inside(&out), inside(&from));
    assert!(inside(&out).iter().all(|name| !out.join(name).is_symlink()));
    symlink("nowhere", hub.join("vocab.json")).unwrap();
    let error = run(&hub, &folder.path().join("b"), to("zN")).unwrap_err();
    assert!(error.is_io() && error.to_string().contains("vocab.json"), "{error}");
    assert_eq!(names(&folder), ["hub", "model", "out"]);
}

#[test]
fn a_sharded_checkpoint_is_a_folder() {
    let folder = folder();
    let from = model(&folder);
    fs::rename(from.join("model.safetensors"), from.join("1.safetensors")).unwrap();
    let header = r#"{"u":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]}}"#;
    fs::write(from.join("2.safetensors"), safetensors(header, &[1, 2, 3, 4])).unwrap();
    let index = r#"{"weight_map":{"t":"1.safetensors","u":"2.safetensors"}}"#;
    let name = "model.safetensors.index.json";
    let said = |from: &Path| open(from, &Reading::default()).unwrap_err();
    let error = said(&from);
    let two = "holds 2 files *.safetensors, such as 1";
    assert!(error.is_usage() && error.to_string().contains(two), "{error}");
    fs::write(from.join(name), index).unwrap();
    // The index of weights of another format does not count.
    fs::write(from.join("pytorch_model.bin.index.json"), index).unwrap();
    assert_eq!(Collection::open(&from).unwrap().names().count(), 2);
    let out = folder.path().join("out");
    run(&from, &out, to("col-major").verify(true)).unwrap();
    fs::remove_file(from.join("pytorch_model.bin.index.json")).unwrap();
    assert_eq!(inside(&out), inside(&from));
    let input = open(&out, &Reading::default()).unwrap();
    assert_eq!((input.format(), input.tensors().len()), ("sharded safetensors", 2));
    fs::write(from.join("b.safetensors.index.json"), index).unwrap();
    assert!(said(&from).to_string().contains("holds 2 files *.index.json"));
}

/// Parts that no index lists are not a checkpoint, even if only one is left; a file that is named is opened.
#[test]
fn parts_without_their_index_say_that_it_is_missing() {
    let folder = folder();
    let from = model(&folder);
    let part = |number: u32| from.join(format!("model-{number:05}-of-00002.safetensors"));
    fs::rename(from.join("model.safetensors"), part(1)).unwrap();
    let said = || open(&from, &Reading::default()).unwrap_err();
    let missing = "named as parts of one checkpoint, and its index *.safetensors.index.json is missing: \
                   put it into the folder";
    assert!(said().is_usage() && said().to_string().contains(missing), "{}", said());
    let header = r#"{"u":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]}}"#;
    fs::write(part(2), safetensors(header, &[1, 2, 3, 4])).unwrap();
    assert!(said().to_string().contains(missing), "{}", said());
    assert_eq!(open(part(2), &Reading::default()).unwrap().tensors().len(), 1);
    // The only part of one is whole.
    fs::remove_file(part(2)).unwrap();
    fs::rename(part(1), from.join("model-00001-of-00001.safetensors")).unwrap();
    assert_eq!(open(&from, &Reading::default()).unwrap().tensors().len(), 1);
}

struct Stop;

impl Watch for Stop {
    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn what_is_refused() {
    let folder = folder();
    let from = model(&folder);
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("empty")).unwrap();
    fs::write(at("file"), "precious").unwrap();
    let error = open(at("empty"), &Reading::default()).unwrap_err();
    let said = "no checkpoint: no file *.index.json, *.safetensors, *.gguf, *.npz";
    assert!(error.is_io() && error.to_string().contains(said), "{error}");
    // A folder that is not empty is never replaced, and neither is a file.
    for (out, said) in [
        ("model", "the folder is not empty"),
        ("file", "it exists and is not a folder"),
        ("a.safetensors", "a folder becomes a folder"),
        ("none/out", "folder"),
    ] {
        for force in [false, true] {
            let error = run(&from, &at(out), to("zN").force(force)).unwrap_err();
            assert!(error.to_string().contains(said), "{out}: {error}");
        }
    }
    assert_eq!(run(&from, &at("model"), to("zN")).unwrap_err().kind(), "exists");
    assert!(run(&from, &at("out"), to("NCHW")).unwrap_err().is_usage());
    let input = open(&from, &Reading::default()).unwrap();
    let conversion = Conversion::prepare(&input, at("out"), to("zN")).unwrap();
    assert!(conversion.run(&Stop).unwrap_err().is_cancelled());
    assert_eq!(names(&folder), ["empty", "file", "model"]);
    // It is written only once.
    conversion.run(&()).unwrap();
    assert_eq!(conversion.run(&()).unwrap_err().kind(), "exists");
    assert_eq!(conversion.out(), at("out"));
    for i in 0..1001 {
        fs::write(from.join(format!("{i}.txt")), "").unwrap();
    }
    let error = run(&from, &at("b"), to("zN")).unwrap_err();
    assert!(error.to_string().contains("1005 files are beside"), "{error}");
}

#[test]
fn verification_compares_what_goes_along() {
    let folder = folder();
    let (from, out) = (model(&folder), folder.path().join("out"));
    fs::write(from.join("config.json"), noise(200_000)).unwrap();
    run(&from, &out, to("zN")).unwrap();
    let said = || match verify(&out, &from, &Request::new().memory(4096), &()).unwrap() {
        Verdict::Same { .. } => "same".to_owned(),
        Verdict::Differs(found) => found.to_string(),
    };
    assert_eq!(said(), "same");
    for at in [0, 4095, 4096, 199_999] {
        let mut wrong = noise(200_000);
        wrong[at] ^= 1;
        fs::write(out.join("config.json"), &wrong).unwrap();
        let [is, was] = [wrong[at], wrong[at] ^ 1];
        let text = format!(
            r#""config.json", which must be copied, has {is:#x} at byte {at}, had {was:#x}"#
        );
        assert_eq!(said(), text);
    }
    fs::write(out.join("config.json"), &noise(200_000)[1..]).unwrap();
    assert!(said().contains("has 199999 bytes, had 200000"), "{}", said());
    fs::remove_file(out.join("config.json")).unwrap();
    assert!(
        said().contains(r#""config.json", which must be copied, is missing from"#),
        "{}",
        said()
    );
    // Files that were added later are not compared, and neither is a folder beside a file.
    fs::write(out.join("config.json"), noise(200_000)).unwrap();
    fs::write(out.join("later.txt"), "").unwrap();
    assert_eq!(said(), "same");
    fs::remove_file(out.join("config.json")).unwrap();
    let file = out.join("model.safetensors");
    assert!(matches!(verify(&file, &from, &Request::new(), &()).unwrap(), Verdict::Same { .. }));
}

#[test]
#[cfg(unix)]
fn links_and_the_folder_itself_are_named_as_the_reason() {
    let folder = tilewright_testing::folder();
    let at = folder.path();
    let model = at.join("model");
    fs::create_dir(&model).unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/data/tiny_cnn_f32.safetensors");
    fs::copy(path, model.join("model.safetensors")).unwrap();
    fs::create_dir(at.join("empty")).unwrap();
    std::os::unix::fs::symlink("empty", at.join("link")).unwrap();
    let refused = |out: &Path| {
        let input = open(&model, &Reading::default()).unwrap();
        let request = to("col-major").skip_unfit(true);
        Conversion::prepare(&input, out, request).unwrap_err()
    };
    let error = refused(&at.join("link"));
    let said = "it is a link to empty, which a folder does not replace; choose another path";
    assert!(error.kind() == "exists" && error.to_string().ends_with(said), "{error}");
    // The folder of the result is not one of the source.
    for out in [model.join("out"), model.join("a/../b")] {
        let error = refused(&out);
        assert!(error.kind() == "same-file" && error.to_string().contains("is inside"), "{error}");
    }
    let error = refused(at);
    assert!(error.kind() == "same-file", "{error}");
    // A link to nothing beside the tensors.
    std::os::unix::fs::symlink("nowhere", model.join("tokenizer.json")).unwrap();
    let error = refused(&at.join("out"));
    let said = "tokenizer.json: cannot follow the link to nowhere";
    assert!(error.is_io() && error.to_string().contains(said), "{error}");
}
