//! Metadata of GGUF files that recipes take from another file. Metadata that contradict the tensors are refused.

use std::{fs, path::Path};

use serde_json::Value;
use tilewright::files::{Reading, open};

use crate::recast::{corpus, done, refused, said, tensors, text, tilewright};

/// Writes a GGUF file of metadata alone: numbers as u32, texts, and lists of texts by their length.
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

/// Returns the metadata of the model in the corpus with other values for some keys; null removes a key.
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

/// An architecture, other values of its keys, and the expected message.
type Changed<'a> = (&'a str, &'a [(&'a str, Value)], &'a str);

#[test]
fn metadata_of_another_model_are_refused_by_key_value_and_tensor() {
    let folder = tilewright_testing::folder();
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
    // The metadata do not describe a model.
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
    // A user who knows better can override the refusal.
    assert_eq!(convert(&["--trust-metadata"]).status.code(), Some(0));
    // Metadata that fit are written: also with lists for each block, and with an unknown architecture, which is reported.
    for (architecture, changes, expected) in [
        ("llama", vec![("attention.head_count_kv", vec![2, 2].into())], ""),
        ("llama", vec![("attention.key_length", 8.into())], ""),
        ("unheard", vec![], "not compared with the architecture \"unheard\""),
    ] {
        let mut keys = Vec::new();
        metadata(&at.join("m.gguf"), &changed(architecture, &mut keys, &changes));
        // Unchecked metadata are reported with `-q`, too.
        let output = convert(&["--verify", "-q"]);
        let said = said(&output);
        assert!(output.status.success() && said.contains(expected), "{changes:?}: {said}");
        assert_eq!(said.lines().count(), 1 + usize::from(!expected.is_empty()), "{said}");
    }
    // The result of a recipe has the architecture of the recipe, if the tensors alone do not decide.
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
            "`general.architecture` is \"llama\", but the recipe is for \"qwen2\" and \"qwen3\""
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
    let folder = tilewright_testing::folder();
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
    // The products of heads fit, and a user can override the rest.
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
    // On the way back, the file's own sizes are those of the recipe, and contradict others.
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
    let folder = tilewright_testing::folder();
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
            said.contains("`general.file_type` is 0, ALL_F32, by the tensors"),
            is != 0,
            "{said}"
        );
        assert!(becomes.is_none_or(|name| said.contains(&format!("say {is}, {name}"))), "{said}");
        // `reshard` says the same about the same tensors.
        let again = ["reshard", "o.gguf", "r.gguf", "--metadata", "m.gguf", "--force"];
        let resharded = done(at, &again);
        let note = said.lines().find(|line| line.contains("file_type"));
        let its = resharded.lines().find(|line| line.contains("file_type"));
        assert_eq!(note, its, "{resharded}");
        assert!(!done(at, &[&again[..], &["--trust-metadata"]].concat()).contains("file_type"));
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
