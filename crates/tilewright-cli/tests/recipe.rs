//! `recipe`, as a user calls it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

fn corpus(path: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/recipes");
    root.join(path).display().to_string()
}

/// The exit code, standard output and standard error.
fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    let Output { status, stdout, stderr } =
        program.arg("recipe").args(args).current_dir(folder).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn recipes_of_the_corpus_fit_their_pairs_in_both_directions() {
    let folder = tempfile::tempdir().unwrap();
    for entry in
        fs::read_dir(corpus("")).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_dir())
    {
        let file = |name: &str| entry.path().join(name).display().to_string();
        let recipe = file("recipe.toml");
        let (code, text, said) =
            run(folder.path(), &["check", &recipe, "--on", &file("before.safetensors")]);
        assert!(code == Some(0) && text.contains("\nfits: "), "{recipe}: {text}{said}");
        let args = ["check", &recipe, "--inverse", "--on", &file("after.safetensors")];
        let (code, text, said) = run(folder.path(), &args);
        assert!(
            code == Some(0) && text.lines().last().unwrap().starts_with("fits: "),
            "{recipe}: {text}{said}"
        );
    }
}

#[test]
fn unknown_names_get_near_ones_and_where_all_are() {
    let folder = tempfile::tempdir().unwrap();
    for (name, says) in [
        (
            "llama-original-to-fh",
            "did you mean `llama-original-to-hf`?; `recipe list` has all names\n",
        ),
        ("bread", "a recipe that is shipped; `recipe list` has all names\n"),
        (&"a".repeat(100_000), "; `recipe list` has all names\n"),
    ] {
        let (code, text, said) = run(folder.path(), &["show", name]);
        assert!(code == Some(2) && text.is_empty() && said.ends_with(says), "{said}");
    }
    let (_, _, said) = run(folder.path(), &["show", "bread"]);
    assert!(!said.contains("did you mean"), "{said}");
    let (code, _, said) = run(folder.path(), &["show", "no/such.toml"]);
    assert!(code == Some(3) && !said.contains("recipe list"), "{said}");
}

#[test]
fn wrong_recipes_are_told_by_exit_codes_with_their_faults() {
    let folder = tempfile::tempdir().unwrap();
    let lines = fs::read_to_string(corpus("errors.jsonl")).unwrap();
    let mut codes = Vec::new();
    for case in lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        // The others leave tensors out, which no file does.
        if case.get("without").is_some() {
            continue;
        }
        fs::write(folder.path().join("r.toml"), case["recipe"].as_str().unwrap()).unwrap();
        let on = corpus("qwen3_moe/before.safetensors");
        let (code, text, said) = run(folder.path(), &["check", "r.toml", "--on", &on, "--json"]);
        match code {
            Some(1) => {
                let answer: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(answer["fits"], false);
                let fault = &answer["faults"][0];
                assert!(
                    !fault["kind"].as_str().unwrap().is_empty()
                        && !fault["message"].as_str().unwrap().is_empty()
                );
            }
            Some(2) => {
                let answer: Value = serde_json::from_str(&said).unwrap();
                assert!(
                    answer["error"]["message"].as_str().unwrap().starts_with("r.toml: line "),
                    "{said}"
                );
            }
            _ => panic!("{case}: {text}{said}"),
        }
        codes.push(code.unwrap());
    }
    // Terms, axes and text are wrong in the file; the others need the tensors.
    assert_eq!(codes, [2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2]);
}

#[test]
fn sizes_are_given_on_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let on = corpus("llama_meta/before.safetensors");
    let run = |args: &[&str]| {
        run(folder.path(), &[&["check", "llama-original-to-hf", "--on", &on], args].concat())
    };
    let (code, text, _) = run(&[]);
    assert!(code == Some(1) && text.contains("the size of `n`"), "{text}");
    let (code, text, _) = run(&["--size", "n=4", "--size", "g=2"]);
    assert!(
        code == Some(0)
            && text.ends_with("not in the result: rope.freqs\nfits: 22 tensors become 21\n"),
        "{text}"
    );
    let (code, text, _) = run(&["--size", "n=4", "--size", "q=2"]);
    assert!(
        code == Some(1) && text.contains("a size is given for `q`, which is no axis of the recipe"),
        "{text}"
    );
    let (code, _, said) = run(&["--size", "n"]);
    assert!(code == Some(2) && said.contains("--size") && said.contains("n=32"), "{said}");
}

#[test]
fn recipes_are_listed_shown_and_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| run(folder.path(), args);
    let (code, list, _) = run(&["list"]);
    assert_eq!((code, list.lines().count()), (Some(0), 22));
    for line in list.lines() {
        let name = line.split_whitespace().next().unwrap();
        let (_, forth, _) = run(&["show", name]);
        fs::write(folder.path().join("forth.toml"), &forth).unwrap();
        assert_eq!(run(&["show", "forth.toml"]).1, forth);
        let (_, back, _) = run(&["show", name, "--inverse"]);
        fs::write(folder.path().join("back.toml"), &back).unwrap();
        assert_ne!(back, forth);
        assert_eq!(run(&["show", "back.toml", "--inverse"]).1, forth);
    }
    let (code, text, _) = run(&["guess", &corpus("mixtral/before.safetensors")]);
    let names: Vec<&str> =
        text.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(
        (code, &names[..]),
        (Some(0), &["mixtral-experts-to-fused", "mixtral-hf-to-gguf"][..])
    );
    let (_, text, _) = run(&["guess", &corpus("mixtral/after.safetensors"), "--json"]);
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&answer["recipes"][0]["inverse"], &answer["recipes"][0]["open"]),
        (&Value::Bool(true), &Value::Null)
    );
    let other =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/data/tiny_cnn_f32.safetensors");
    let (code, text, _) = run(&["guess", &other.display().to_string()]);
    assert_eq!((code, text.as_str()), (Some(1), "no shipped recipe fits\n"));
    let (code, _, said) = run(&["check", "mixtral-experts-to-fusd"]);
    assert!(code == Some(2) && said.contains("mixtral-experts-to-fused"), "{said}");
    let (code, _, said) = run(&["check", "no/such.toml"]);
    assert!(code == Some(3) && said.contains("no/such.toml"), "{said}");
}
