//! Messages about the result of a recipe, also with `-q`: unchecked facts, and further files that its reader needs.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::{Value, json};

const KEEP: &str = "pass = ['*']\n[config]\nkeep = true\n";
const CHANGE: &str =
    "pass = ['*']\n[config]\nset = '{\"model_type\": \"two\"}'\nremove = ['auto_map']\n";
const LEAVE: &str = "pass = ['*']\n[config]\nleave = 'nobody reads it'\n";

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/recipes/llama_gguf").join(name)
}

/// Makes a folder with a model, as a folder and as a file, and its configuration.
fn model() -> tempfile::TempDir {
    let folder = tilewright_testing::folder();
    fs::create_dir(folder.path().join("in")).unwrap();
    fs::copy(corpus("before.safetensors"), folder.path().join("in/model.safetensors")).unwrap();
    fs::copy(corpus("after.gguf"), folder.path().join("m.gguf")).unwrap();
    let config = json!({"num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 64, "dtype": "float32"});
    fs::write(folder.path().join("in/config.json"), config.to_string()).unwrap();
    folder
}

fn convert(folder: &Path, from: &str, to: &str, with: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    let args = [&["convert", from, to, "--force"], with].concat();
    command.current_dir(folder).args(args).output().unwrap()
}

/// Returns stderr of a conversion that must succeed.
#[track_caller]
fn told(folder: &Path, from: &str, to: &str, with: &[&str]) -> Vec<String> {
    let output = convert(folder, from, to, with);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    text.lines().map(str::to_owned).collect()
}

fn recipe(folder: &Path, text: &str) {
    fs::write(folder.join("r.toml"), text).unwrap();
}

#[test]
fn notes_of_a_recipe_stay_with_q_and_are_a_field_of_json() {
    let model = model();
    let at = model.path();
    let note = "whether heads are rotated in halves is not checked";
    recipe(at, &format!("note = [\"{note}\"]\n{KEEP}"));
    for (out, quiet) in [("o1", &[][..]), ("o2", &["-q"])] {
        let all = told(at, "in", out, &[&["--recipe", "r.toml"], quiet].concat());
        assert!(all.contains(&format!("warning: {note}")), "{all:?}");
    }
    let output = convert(at, "in", "o3", &["--recipe", "r.toml", "--json", "-q"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["notes"], json!([note]));
    // A recipe that does not state the change of the configuration leaves the configuration unchecked.
    recipe(at, "pass = ['*']\n");
    let all = told(at, "in", "o4", &["--recipe", "r.toml", "-q"]);
    assert!(all.iter().any(|line| line.contains("does not say whether it describes")), "{all:?}");
    recipe(at, LEAVE);
    assert!(told(at, "in", "o5", &["--recipe", "r.toml", "-q"]).is_empty());
    assert_eq!(told(at, "in", "o6", &["--recipe", "r.toml"]).len(), 1);
}

#[test]
fn names_of_gguf_in_a_file_of_another_kind_are_told() {
    let model = model();
    let at = model.path();
    let with = ["--recipe", "llama-hf-to-gguf", "-q"];
    for out in ["o", "o.safetensors"] {
        let all = told(at, "in", out, &with);
        let named: Vec<&String> =
            all.iter().filter(|line| line.contains("readers of GGUF")).collect();
        assert!(
            named.len() == 1 && named[0].ends_with("decides its kind: .gguf"),
            "{out}: {all:?}"
        );
    }
    let with = [&with[..], &["--metadata", "m.gguf"]].concat();
    let all = told(at, "in", "o.gguf", &with);
    assert!(!all.iter().any(|line| line.contains("readers of GGUF")), "{all:?}");
    // Metadata of one kind of file apply to results of that kind.
    for out in ["p", "p.safetensors"] {
        let output = convert(at, "in", out, &with);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("the ending of the result's name decides its kind: .gguf"), "{said}");
    }
}

#[test]
fn without_an_ending_the_result_is_of_the_kind_of_its_input() {
    let model = model();
    let at = model.path();
    let with = ["--recipe", "llama-hf-to-gguf", "--inverse", "-q"];
    // A GGUF file of another program does not record a recipe, nor the element type of its source.
    let output = convert(at, "m.gguf", "hf", &["--inverse"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("records no recipe; name the one to undo; `recipe guess` lists"),
        "{said}"
    );
    let output = convert(at, "m.gguf", "hf.safetensors", &with);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.lines().count() == 1, "{said}");
    assert!(said.contains("state it as `dtype` in config.json"), "{said}");
    fs::copy(at.join("in/config.json"), at.join("config.json")).unwrap();
    let output = convert(at, "m.gguf", "hf", &with);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the ending of the result's name decides its kind"), "{said}");
    assert!(said.contains("`.safetensors`"), "{said}");
    assert!(told(at, "m.gguf", "hf.safetensors", &with).len() == 1);
}

#[test]
fn a_result_that_is_a_file_says_that_it_lacks_the_configuration() {
    let model = model();
    let at = model.path();
    let input = "in/model.safetensors";
    for (text, expected) in [
        (KEEP, Some("a library that loads the result needs it")),
        ("pass = ['*']\n", Some("a library that loads the result needs it")),
        (CHANGE, Some("needs it with {\"model_type\":\"two\"} and without auto_map")),
        (LEAVE, None),
    ] {
        recipe(at, text);
        let all = told(at, input, "o.safetensors", &["--recipe", "r.toml", "-q"]);
        match expected {
            None => assert!(all.is_empty(), "{all:?}"),
            Some(expected) => {
                assert!(
                    all.len() == 1
                        && all[0]
                            .starts_with("warning: config.json beside the input is not copied"),
                    "{all:?}"
                );
                assert!(all[0].ends_with(expected), "{all:?}");
            }
        }
    }
    recipe(at, KEEP);
    assert!(told(at, "in", "o", &["--recipe", "r.toml", "-q"]).is_empty());
    fs::remove_file(at.join("in/config.json")).unwrap();
    assert!(told(at, input, "o.safetensors", &["--recipe", "r.toml", "-q"]).is_empty());
}
