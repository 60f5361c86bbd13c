//! `recipe` as a user calls it.

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

/// Returns the exit code, standard output and standard error.
fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    let Output { status, stdout, stderr } =
        program.arg("recipe").args(args).current_dir(folder).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn recipes_of_the_corpus_fit_their_pairs_in_both_directions() {
    let folder = tilewright_testing::folder();
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
    let folder = tilewright_testing::folder();
    for (name, says) in [
        (
            "llama-original-to-fh",
            "did you mean `llama-original-to-hf`? `recipe list` lists all names\n",
        ),
        ("bread", "a shipped recipe; `recipe list` lists all names\n"),
        (&"a".repeat(100_000), "; `recipe list` lists all names\n"),
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
    let folder = tilewright_testing::folder();
    let lines = fs::read_to_string(corpus("errors.jsonl")).unwrap();
    let mut codes = Vec::new();
    for case in lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        // Cases with `without` need an input without some tensors, for which there are no files.
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
    // Terms, axes and text are wrong in the file; the other faults need the tensors.
    assert_eq!(codes, [2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2]);
}

#[test]
fn sizes_are_given_on_the_command_line() {
    let folder = tilewright_testing::folder();
    let on = corpus("llama_meta/before.safetensors");
    let run = |args: &[&str]| {
        run(folder.path(), &[&["check", "llama-original-to-hf", "--on", &on], args].concat())
    };
    let (code, text, _) = run(&[]);
    assert!(code == Some(1) && text.contains("the size `n` does not follow"), "{text}");
    let (code, text, _) = run(&["--size", "n=4", "--size", "g=2"]);
    assert!(
        code == Some(0)
            && text.ends_with("not in the result: rope.freqs\nfits: 22 tensors become 21\n"),
        "{text}"
    );
    let (code, text, _) = run(&["--size", "n=4", "--size", "q=2"]);
    assert!(
        code == Some(1)
            && text.contains("a size is given for `q`, which is not an axis of the recipe"),
        "{text}"
    );
    let (code, _, said) = run(&["--size", "n"]);
    assert!(code == Some(2) && said.contains("--size") && said.contains("n=32"), "{said}");
}

#[test]
fn recipes_are_listed_shown_and_guessed() {
    let folder = tilewright_testing::folder();
    let run = |args: &[&str]| run(folder.path(), args);
    let (code, list, _) = run(&["list"]);
    assert_eq!((code, list.lines().count()), (Some(0), 50));
    for line in list.lines().step_by(tilewright_testing::cases(1, 5)) {
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
    assert_eq!(
        (code, offered(&text)),
        (Some(0), vec!["mixtral-experts-to-fused", "mixtral-hf-to-gguf"])
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
    assert_eq!(code, Some(1));
    assert!(text.starts_with("no shipped recipe fits\nthe tensors have other names"), "{text}");
    let (code, _, said) = run(&["check", "mixtral-experts-to-fusd"]);
    assert!(code == Some(2) && said.contains("mixtral-experts-to-fused"), "{said}");
    let (code, _, said) = run(&["check", "no/such.toml"]);
    assert!(code == Some(3) && said.contains("no/such.toml"), "{said}");
}

/// Returns the recipes that an answer of `guess` offers.
fn offered(text: &str) -> Vec<&str> {
    let rows = text.lines().filter(|line| line.contains("  ") && !line.starts_with([' ', 'n']));
    rows.map(|line| line.split("  ").next().unwrap()).collect()
}

/// Writes a checkpoint into a folder: the tensors of a pair of the corpus, and a configuration.
fn checkpoint(folder: &Path, tensors: &str, config: &Value) {
    fs::create_dir_all(folder).unwrap();
    fs::copy(corpus(tensors), folder.join("model.safetensors")).unwrap();
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
}

#[test]
fn a_recipe_that_the_configuration_contradicts_is_not_offered_and_the_answer_says_why() {
    let folder = tilewright_testing::folder();
    let heads = |config: Value| {
        let mut all = serde_json::json!({
            "num_attention_heads": 4, "num_key_value_heads": 2, "num_kv_heads": 2, "n_head": 4, "vocab_size": 64
        });
        all.as_object_mut().unwrap().extend(config.as_object().unwrap().clone());
        all
    };
    let llama = "llama_gguf/before.safetensors";
    let neox = "gpt_neox_split/before.safetensors";
    let falcon = "falcon_split/before.safetensors";
    let group = serde_json::json!({
        "model_type": "falcon", "multi_query": true, "new_decoder_architecture": true
    });
    for (tensors, config, offers, not, is_near) in [
        (
            llama,
            serde_json::json!({"model_type": "llama"}),
            "llama-hf-to-gguf",
            "qwen-hf-to-gguf",
            true,
        ),
        (
            neox,
            serde_json::json!({"model_type": "gpt_neox"}),
            "gpt-neox-qkv-to-split",
            "bloom-qkv-to-split",
            false,
        ),
        (falcon, group, "falcon-qkv-to-split", "bloom-qkv-to-split", true),
    ] {
        let at = folder.path().join("c");
        checkpoint(&at, tensors, &heads(config.clone()));
        let (code, text, _) = run(folder.path(), &["guess", "c"]);
        let all = offered(&text);
        assert!(
            code == Some(0) && all.contains(&offers) && !all.contains(&not),
            "{config}: {text}"
        );
        // The answer names the other family even if its tensors have these names.
        let lines = text.lines().filter(|line| line.starts_with(&format!("not {not}: ")));
        let lines: Vec<bool> = lines.map(|line| line.contains("but the recipe is for")).collect();
        assert_eq!(lines, if is_near { vec![true] } else { vec![] }, "{text}");
        let (_, json, _) = run(folder.path(), &["guess", "c", "--json"]);
        let answer: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(answer["model"]["model_type"], config["model_type"]);
        let near = answer["near"].as_array().unwrap();
        let is_it = |one: &&Value| one["name"] == not && one["inverse"] == false;
        let against: Vec<&Value> =
            near.iter().filter(is_it).map(|one| &one["against"][0]["is"]).collect();
        let says = |is: &Value| is.is_boolean() || *is == config["model_type"];
        assert!(against.len() == usize::from(is_near) && against.into_iter().all(says), "{json}");
        // A recipe that is not offered is refused too, unless the user overrides it.
        let (code, text, _) = run(folder.path(), &["check", not, "--on", "c"]);
        assert!(
            code == Some(1) && text.contains("the configuration contradicts the recipe: `"),
            "{text}"
        );
        let (_, text, _) = run(folder.path(), &["check", not, "--on", "c", "--any-config"]);
        assert!(!text.contains("contradicts"), "{text}");
        // If the names do not fit either, the message begins with the configuration.
        let convert = |more: &[&str]| {
            let args = ["convert", "c", "o", "--recipe", not, "--dry-run"];
            let mut program = Command::new(env!("CARGO_BIN_EXE_tilewright"));
            let output = program.args(args).args(more).current_dir(folder.path()).output().unwrap();
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        };
        let (code, said) = convert(&[]);
        assert!(code == Some(2) && said.contains("contradicts the recipe: `"), "{said}");
        assert!(said.contains("--any-config") || said.lines().count() > 1, "{said}");
        assert!(!convert(&["--any-config"]).1.contains("contradicts"));
    }
}

#[test]
fn a_recipe_for_the_model_that_nearly_fits_is_told_first() {
    let folder = tilewright_testing::folder();
    let config = serde_json::json!({
        "model_type": "qwen2", "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 64
    });
    checkpoint(&folder.path().join("c"), "llama_gguf/before.safetensors", &config);
    let (code, text, _) = run(folder.path(), &["guess", "c"]);
    let second = text.lines().nth(1).unwrap();
    assert!(code == Some(1) && second.starts_with("not qwen-hf-to-gguf: "), "{text}");
    assert!(
        second.contains("a Qwen2 has biases") && text.contains("not llama-hf-to-gguf: "),
        "{text}"
    );
}

#[test]
fn where_several_recipes_fit_the_answer_says_what_decides() {
    let folder = tilewright_testing::folder();
    let (code, text, _) = run(folder.path(), &["guess", &corpus("llama_gguf/before.safetensors")]);
    assert!(code == Some(0) && offered(&text).contains(&"qwen-hf-to-gguf"), "{text}");
    assert!(
        text.contains("no configuration gives `model_type`: ")
            && text.contains("qwen-hf-to-gguf is for `model_type` \"qwen2\" and \"qwen3\""),
        "{text}"
    );
    // What the key leaves together is told apart by the names of the results.
    assert!(
        text.contains("llama-hf-to-megatron is for `model_type` \"llama\" and \"mistral\", and makes rank{T:02}.")
            && text.contains("\"smollm3\", and makes blk.{L}.attn_q.weight"),
        "{text}"
    );
    // With a configuration, the purpose of the result decides.
    let config = serde_json::json!({"model_type": "llama", "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 64});
    checkpoint(&folder.path().join("c"), "llama_gguf/before.safetensors", &config);
    let (_, text, _) = run(folder.path(), &["guess", "c"]);
    let decides = text.lines().find(|line| line.starts_with("choose by the names")).unwrap();
    assert!(decides.contains("; llama-hf-to-gguf makes blk.{L}.attn_q.weight; "), "{text}");
    let (_, json, _) = run(folder.path(), &["guess", "c", "--json"]);
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert!(answer["decide"].as_str().unwrap().starts_with("choose by"), "{json}");
    // A GGUF file states its own architecture.
    let (_, text, _) = run(folder.path(), &["guess", &corpus("llama_gguf/after.gguf")]);
    let all = offered(&text);
    assert!(
        all.contains(&"llama-hf-to-gguf (inverse)") && !all.contains(&"qwen-hf-to-gguf (inverse)"),
        "{text}"
    );
    assert!(
        text.contains("not qwen-hf-to-gguf (inverse): `general.architecture` is \"llama\""),
        "{text}"
    );
}

#[test]
fn names_that_share_a_word_are_suggested() {
    let folder = tilewright_testing::folder();
    let (code, _, said) = run(folder.path(), &["show", "mixtral"]);
    assert_eq!(code, Some(2));
    for name in ["`mixtral-experts-to-fused`", "`mixtral-hf-to-gguf`"] {
        assert!(said.contains(name), "{said}");
    }
    let (_, _, said) = run(folder.path(), &["show", "Falcon"]);
    assert!(said.contains("`falcon-7b-qkv-to-split`"), "{said}");
}
