//! The shipped recipes: on the pairs of the corpus with the configuration of their models, and what is guessed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tilewright_core::Dtype;
use tilewright_recipe::{Recipe, Sizes, Tensor, guess, shipped};

use crate::{
    corpus,
    interpreter::{Array, run},
    pairs::assert_same,
};

/// Family, recipe, the configuration where the corpus has none, and sizes that are given.
type Case = (&'static str, &'static str, Value, &'static [(&'static str, u64)]);

fn cases() -> Vec<Case> {
    let heads = json!({"num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 64, "dtype": "float32"});
    vec![
        ("deepseek_v3", "moe-experts-to-fused", Value::Null, &[]),
        ("ernie4_5_vl_moe", "ernie4.5-vl-moe-to-hf", Value::Null, &[]),
        (
            "falcon_split",
            "falcon-qkv-to-split",
            json!({"num_attention_heads": 4, "num_kv_heads": 2}),
            &[],
        ),
        ("gpt2_linear", "gpt2-conv1d-to-linear", json!({"n_head": 4}), &[]),
        ("gpt_neox_split", "gpt-neox-qkv-to-split", heads.clone(), &[]),
        ("gpt_oss_split", "gpt-oss-to-split", json!({"num_local_experts": 4}), &[]),
        ("llama_gguf", "llama-hf-to-gguf", heads.clone(), &[]),
        ("llama_meta", "llama-original-to-hf", json!({"n_heads": 4, "n_kv_heads": 2}), &[]),
        ("megatron_tp2", "llama-hf-to-megatron", heads.clone(), &[("T", 2), ("m", 12)]),
        ("mixtral", "mixtral-experts-to-fused", Value::Null, &[]),
        ("nomic_bert", "nomic-bert-to-hf", Value::Null, &[]),
        ("olmo_hybrid", "olmo-hybrid-to-hf", Value::Null, &[]),
        ("phi3_split", "phi3-to-split", heads, &[]),
        (
            "qwen2_vl_patch",
            "qwen2-vl-patch-to-linear",
            json!({"vision_config": {"in_channels": 3, "temporal_patch_size": 2, "patch_size": 4}}),
            &[],
        ),
        ("qwen3_moe", "moe-experts-to-fused", Value::Null, &[]),
        ("step3p7_vision", "step3p7-vision-to-hf", Value::Null, &[]),
    ]
}

fn recipe(name: &str) -> Recipe {
    let shipped =
        shipped().iter().find(|one| one.name == name).unwrap_or_else(|| panic!("no recipe {name}"));
    shipped.recipe().unwrap_or_else(|errors| panic!("{name}: {errors}"))
}

/// What a recipe makes of arrays, and its recipe back.
fn made(
    recipe: &Recipe,
    arrays: &BTreeMap<String, Array>,
    config: Option<&Value>,
    sizes: &Sizes,
) -> (BTreeMap<String, Array>, Recipe) {
    let sources: Vec<Array> = arrays.values().cloned().collect();
    let assembly = recipe.solve(&corpus::heads(&sources), config, sizes);
    let assembly = assembly.unwrap_or_else(|errors| panic!("{recipe}\n{errors}"));
    (run(&assembly, &sources).unwrap(), Recipe::parse(&assembly.metadata[0].1).unwrap())
}

#[test]
fn every_family_has_a_shipped_recipe_that_makes_its_pair() {
    let cases = cases();
    assert_eq!(cases.iter().map(|case| case.0).collect::<Vec<_>>(), corpus::families());
    for (family, name, given, sizes) in cases {
        let config = corpus::config(family).unwrap_or(given);
        let sizes: Sizes = sizes.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect();
        let recipe = recipe(name);
        let (mut before, after) =
            (corpus::arrays(family, "before"), corpus::arrays(family, "after"));
        let (forth, back) = made(&recipe, &before, Some(&config), &sizes);
        assert_same(&forth, &after, family);
        before.retain(|name, _| name != "rope.freqs");
        assert_same(&made(&recipe.inverse(), &after, Some(&config), &sizes).0, &before, family);
        assert_same(&made(&back, &after, None, &Sizes::new()).0, &before, family);
    }
}

#[test]
fn what_fits_is_guessed_and_nothing_else() {
    for (family, name, given, sizes) in cases().into_iter().step_by(tilewright_testing::cases(1, 3))
    {
        let config = corpus::config(family).unwrap_or(given);
        for (which, inverse) in [("before", false), ("after", true)] {
            let heads: Vec<_> =
                corpus::arrays(family, which).into_values().map(|(head, _)| head).collect();
            let found = guess(&heads, Some(&config)).fits;
            println!(
                "{family} {which}: {:?}",
                found
                    .iter()
                    .map(|one| (one.name, one.inverse, one.open.is_some()))
                    .collect::<Vec<_>>()
            );
            let this = found.iter().find(|one| one.name == name && one.inverse == inverse);
            let this = this.unwrap_or_else(|| panic!("{family} {which}: {found:?}"));
            assert!(
                sizes.is_empty() == this.open.is_none() || inverse,
                "{family} {which}: {:?}",
                this.open
            );
        }
    }
}

/// Recipes for which the corpus has no pair go there and back.
#[test]
fn the_other_recipes_give_back_what_they_were_given() {
    let config = |heads: u64| json!({"num_attention_heads": heads, "num_key_value_heads": 2, "multi_query_group_num": 2, "num_local_experts": 4, "dtype": "bfloat16"});
    let tested: BTreeSet<&str> = cases().iter().map(|case| case.1).collect();
    let others = [
        ("gpt_neox_split", "bloom-qkv-to-split"),
        ("falcon_split", "falcon-7b-qkv-to-split"),
        ("phi3_split", "chatglm-to-split"),
        ("falcon_split", "internlm2-to-llama"),
        ("llama_gguf", "qwen-hf-to-megatron"),
        ("qwen3_moe", "moe-experts-to-mlx"),
    ];
    // `gguf.rs` has recorded models of these.
    let gguf = shipped().iter().map(|one| one.name).filter(|name| name.ends_with("-to-gguf"));
    let named: BTreeSet<&str> =
        others.iter().map(|(_, name)| *name).chain(tested).chain(gguf).collect();
    assert_eq!(named, shipped().iter().map(|one| one.name).collect());
    for (family, name) in others {
        // Two query heads, a key and a value are a quarter of the rows each.
        let mut config = config(if name == "falcon-7b-qkv-to-split" { 2 } else { 4 });
        let recipe = recipe(name);
        let before = renamed(family, name);
        if let Some((head, _)) = before.get("model.layers.0.self_attn.q_proj.weight") {
            config["head_dim"] = json!(head.extents[0] / 4);
            config["vocab_size"] = json!(before["model.embed_tokens.weight"].0.extents[0]);
        }
        let ranks = [("T".to_owned(), 2), ("m".to_owned(), 12)];
        let sizes = if name.ends_with("megatron") { ranks.into() } else { Sizes::new() };
        let (forth, back) = made(&recipe, &before, Some(&config), &sizes);
        assert_ne!(forth.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
        assert_same(&made(&recipe.inverse(), &forth, Some(&config), &sizes).0, &before, name);
        assert_same(&made(&back, &forth, None, &Sizes::new()).0, &before, name);
    }
}

/// Arrays of a family under the names that a recipe for another one wants.
fn renamed(family: &str, recipe: &str) -> BTreeMap<String, Array> {
    let which = if family == "llama_meta" { "after" } else { "before" };
    let names: &[(&str, &str)] = match recipe {
        "bloom-qkv-to-split" => &[
            ("gpt_neox.embed_in", "transformer.word_embeddings"),
            ("gpt_neox.final_layer_norm", "transformer.ln_f"),
            ("gpt_neox.layers", "transformer.h"),
            (".attention.", ".self_attention."),
        ],
        "chatglm-to-split" => &[
            ("model.embed_tokens", "transformer.embedding.word_embeddings"),
            ("model.norm", "transformer.encoder.final_layernorm"),
            ("lm_head", "transformer.output_layer"),
            ("model.layers", "transformer.encoder.layers"),
            (".self_attn.qkv_proj", ".self_attention.query_key_value"),
            (".self_attn.o_proj", ".self_attention.dense"),
            (".mlp.gate_up_proj", ".mlp.dense_h_to_4h"),
            (".mlp.down_proj", ".mlp.dense_4h_to_h"),
        ],
        "internlm2-to-llama" => &[
            ("transformer.word_embeddings", "model.tok_embeddings"),
            ("transformer.ln_f.weight", "model.norm.weight"),
            ("transformer.ln_f.bias", "output.weight"),
            ("transformer.h.", "model.layers."),
            ("self_attention.query_key_value", "attention.wqkv"),
            ("self_attention.dense", "attention.wo"),
            ("mlp.dense_4h_to_h", "feed_forward.w2"),
            ("mlp.dense_h_to_4h", "feed_forward.w1"),
            ("ln_attn.weight", "attention_norm.weight"),
            ("ln_mlp.weight", "ffn_norm.weight"),
            ("ln_attn.bias", "feed_forward.w3.weight"),
            ("ln_mlp.bias", ""),
        ],
        _ => &[],
    };
    let arrays = corpus::arrays(family, which);
    let rename = |(name, (mut head, bytes)): (String, Array)| {
        let to = names.iter().fold(name.clone(), |name, (from, to)| name.replace(from, to));
        head.name.clone_from(&to);
        let keep = !names.iter().any(|(from, to)| to.is_empty() && name.contains(from));
        keep.then_some((to, (head, bytes)))
    };
    arrays.into_iter().filter_map(rename).collect()
}

/// Shapes alone do not tell these models apart: the rows of a head are the same whatever its parts are.
#[test]
fn configurations_tell_bloom_and_the_falcons_apart() {
    let rows =
        Tensor::new("transformer.h.0.self_attention.query_key_value.weight", Dtype::F32, [24, 8]);
    let falcon = |multi: bool, new: bool| json!({"model_type": "falcon", "num_attention_heads": 4, "num_kv_heads": 4, "multi_query": multi, "new_decoder_architecture": new});
    for (config, name) in [
        (json!({"model_type": "bloom", "n_head": 4}), "bloom-qkv-to-split"),
        (falcon(false, false), "bloom-qkv-to-split"),
        (falcon(true, false), "falcon-7b-qkv-to-split"),
        (falcon(true, true), "falcon-qkv-to-split"),
    ] {
        let found = guess(std::slice::from_ref(&rows), Some(&config));
        let fits: Vec<&str> = found.fits.iter().map(|one| one.name).collect();
        assert_eq!(fits, [name], "{config}");
        let against = found.near.iter().filter(|one| !one.inverse && !one.against.is_empty());
        assert!(against.count() >= 2, "{config}: {found:?}");
    }
}
