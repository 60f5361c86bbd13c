//! Sizes that a configuration states: shipped recipes compare each with the tensors, in both directions.

use serde_json::{Value, json};
use tilewright_core::Dtype;
use tilewright_recipe::{Assembly, Recipe, Sizes, Tensor, shipped};

use crate::corpus;

/// A name, with `#` for the number of a layer or of an expert, and its extents.
type Row = (&'static str, &'static [u64]);

fn recipe(name: &str) -> Recipe {
    shipped().iter().find(|one| one.name == name).unwrap().recipe().unwrap()
}

fn solved(recipe: &Recipe, tensors: &[Tensor], config: &Value) -> Result<Assembly, String> {
    recipe.solve(tensors, Some(config), &Sizes::new()).map_err(|errors| errors.to_string())
}

/// Refuses each of these keys where it is one more than the tensors say, and with all of them as they are nothing.
fn each_key_counts(recipe: &Recipe, tensors: &[Tensor], config: &Value, keys: &[&str]) {
    assert_eq!(solved(recipe, tensors, config).err(), None);
    for key in keys {
        let mut other = config.clone();
        other[*key] = (config[*key].as_u64().unwrap() + 1).into();
        assert!(solved(recipe, tensors, &other).is_err(), "{key}: {recipe}");
    }
}

const EMBEDDINGS: [Row; 3] = [
    ("model.embed_tokens.weight", &[10, 8]),
    ("model.norm.weight", &[8]),
    ("lm_head.weight", &[10, 8]),
];

/// 4 heads of queries and 2 of keys, each of 2 rows.
const ATTENTION: [Row; 6] = [
    ("model.layers.#.self_attn.q_proj.weight", &[8, 8]),
    ("model.layers.#.self_attn.k_proj.weight", &[4, 8]),
    ("model.layers.#.self_attn.v_proj.weight", &[4, 8]),
    ("model.layers.#.self_attn.o_proj.weight", &[8, 8]),
    ("model.layers.#.input_layernorm.weight", &[8]),
    ("model.layers.#.post_attention_layernorm.weight", &[8]),
];

fn tensors(rows: &[Row]) -> Vec<Tensor> {
    let of_layers = |(name, extents): &Row| {
        let layers = if name.contains('#') { 0..2 } else { 0..1 };
        layers
            .map(|layer| {
                Tensor::new(name.replacen('#', &layer.to_string(), 1), Dtype::Bf16, *extents)
            })
            .collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    for row in rows {
        for tensor in of_layers(row) {
            match tensor.name.contains('#') {
                false => all.push(tensor),
                true => all.extend((0..3).map(|expert| Tensor {
                    name: tensor.name.replace('#', &expert.to_string()),
                    ..tensor.clone()
                })),
            }
        }
    }
    all
}

fn config(more: Value) -> Value {
    let mut config = json!({
        "hidden_size": 8, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 2, "vocab_size": 10,
        "num_hidden_layers": 2, "tie_word_embeddings": false, "dtype": "bfloat16",
    });
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    config
}

const COMMON: [&str; 5] = [
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "vocab_size",
    "num_hidden_layers",
];

/// The recipe, more tensors of the model, more of its configuration, and the keys of these.
fn for_gguf() -> Vec<(&'static str, Vec<Row>, Value, Vec<&'static str>)> {
    let experts: [Row; 4] = [
        ("model.layers.#.mlp.experts.#.gate_proj.weight", &[6, 8]),
        ("model.layers.#.mlp.experts.#.up_proj.weight", &[6, 8]),
        ("model.layers.#.mlp.experts.#.down_proj.weight", &[8, 6]),
        ("model.layers.#.mlp.gate.weight", &[3, 8]),
    ];
    vec![
        (
            "glm4-hf-to-gguf",
            vec![
                ("model.layers.#.mlp.gate_up_proj.weight", &[24, 8]),
                ("model.layers.#.mlp.down_proj.weight", &[8, 12]),
                ("model.layers.#.post_self_attn_layernorm.weight", &[8]),
                ("model.layers.#.post_mlp_layernorm.weight", &[8]),
            ],
            json!({"model_type": "glm4", "intermediate_size": 12}),
            vec!["intermediate_size"],
        ),
        (
            "glm4-moe-hf-to-gguf",
            [
                &experts[..],
                &[
                    ("model.layers.#.mlp.gate.e_score_correction_bias", &[3]),
                    ("model.layers.#.mlp.shared_experts.gate_proj.weight", &[6, 8]),
                    ("model.layers.#.mlp.shared_experts.up_proj.weight", &[6, 8]),
                    ("model.layers.#.mlp.shared_experts.down_proj.weight", &[8, 6]),
                ],
            ]
            .concat(),
            json!({"model_type": "glm4_moe", "n_routed_experts": 3, "moe_intermediate_size": 6}),
            vec!["n_routed_experts", "moe_intermediate_size"],
        ),
        (
            "qwen3-moe-hf-to-gguf",
            experts.to_vec(),
            json!({"model_type": "qwen3_moe", "num_experts": 3, "moe_intermediate_size": 6}),
            vec!["num_experts", "moe_intermediate_size"],
        ),
        (
            "gpt-oss-hf-to-gguf",
            vec![
                ("model.layers.#.self_attn.q_proj.bias", &[8]),
                ("model.layers.#.self_attn.k_proj.bias", &[4]),
                ("model.layers.#.self_attn.v_proj.bias", &[4]),
                ("model.layers.#.self_attn.o_proj.bias", &[8]),
                ("model.layers.#.self_attn.sinks", &[4]),
                ("model.layers.#.mlp.experts.gate_up_proj", &[3, 8, 12]),
                ("model.layers.#.mlp.experts.gate_up_proj_bias", &[3, 12]),
                ("model.layers.#.mlp.experts.down_proj", &[3, 6, 8]),
                ("model.layers.#.mlp.experts.down_proj_bias", &[3, 8]),
                ("model.layers.#.mlp.router.weight", &[3, 8]),
                ("model.layers.#.mlp.router.bias", &[3]),
            ],
            json!({"model_type": "gpt_oss", "num_local_experts": 3, "intermediate_size": 6}),
            vec!["num_local_experts", "intermediate_size"],
        ),
    ]
}

#[test]
fn a_configuration_of_another_model_is_refused_on_the_way_to_gguf_and_back() {
    for (name, more, own, keys) in for_gguf() {
        let recipe = recipe(name);
        let sources = tensors(&[&EMBEDDINGS[..], &ATTENTION, &more].concat());
        let keys = [&COMMON[..], &keys].concat();
        let config = config(own);
        each_key_counts(&recipe, &sources, &config, &keys);
        let made = solved(&recipe, &sources, &config).unwrap().made;
        let made: Vec<Tensor> =
            made.into_iter().map(|one| Tensor::new(one.name, one.dtype, one.extents)).collect();
        each_key_counts(&recipe.inverse(), &made, &config, &keys);
        // Without `head_dim`, heads share the width.
        let mut short = config.clone();
        short.as_object_mut().unwrap().remove("head_dim");
        each_key_counts(&recipe, &sources, &short, &keys);
        // A router of more rows than there are experts.
        let mut routed = sources.clone();
        let router = routed
            .iter_mut()
            .find(|one| one.name.ends_with("router.weight") || one.name.ends_with("gate.weight"));
        if let Some(router) = router {
            router.extents[0] = 4;
            assert!(solved(&recipe, &routed, &config).is_err(), "{name}");
        }
    }
}

#[test]
fn a_configuration_of_another_model_is_refused_by_recipes_between_libraries() {
    let linear = ["linear_num_key_heads", "linear_num_value_heads", "intermediate_size"];
    let heads = [
        "num_hidden_layers",
        "hidden_size",
        "num_attention_heads",
        "intermediate_size",
        "patch_size",
    ];
    let moe = ["moe_intermediate_size", "num_local_experts"];
    let gpt_oss = json!({
        "num_local_experts": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "hidden_size": 32,
        "vocab_size": 64, "num_hidden_layers": 2, "intermediate_size": 24,
    });
    let deepseek = [
        "hidden_size",
        "vocab_size",
        "num_hidden_layers",
        "n_routed_experts",
        "moe_intermediate_size",
    ];
    for (family, name, config, keys) in [
        ("olmo_hybrid", "olmo-hybrid-to-hf", None, [&COMMON[..], &linear].concat()),
        ("step3p7_vision", "step3p7-vision-to-hf", None, heads.to_vec()),
        ("qwen3_moe", "moe-experts-to-fused", None, [&COMMON[..], &moe].concat()),
        (
            "gpt_oss_split",
            "gpt-oss-to-split",
            Some(gpt_oss),
            [&COMMON[..], &["num_local_experts", "intermediate_size"]].concat(),
        ),
        // One layer more may predict further tokens.
        ("deepseek_v3", "moe-experts-to-fused", None, deepseek.to_vec()),
    ] {
        let recipe = recipe(name);
        let config = config.unwrap_or_else(|| corpus::config(family).unwrap());
        let of = |which: &str| -> Vec<Tensor> {
            corpus::arrays(family, which).into_values().map(|(head, _)| head).collect()
        };
        each_key_counts(&recipe, &of("before"), &config, &keys);
        each_key_counts(&recipe.inverse(), &of("after"), &config, &keys);
    }
    // A size that is listed for each layer.
    let mut listed = corpus::config("qwen3_moe").unwrap();
    listed["moe_intermediate_size"] = json!([24, 24]);
    let tensors: Vec<Tensor> =
        corpus::arrays("qwen3_moe", "before").into_values().map(|(head, _)| head).collect();
    assert_eq!(solved(&recipe("moe-experts-to-fused"), &tensors, &listed).err(), None);
    // Fewer layers than the tensors have.
    let few = |family: &str, name: &str| {
        let mut config = corpus::config(family).unwrap();
        config["num_hidden_layers"] = 0.into();
        let tensors: Vec<Tensor> =
            corpus::arrays(family, "before").into_values().map(|(head, _)| head).collect();
        solved(&recipe(name), &tensors, &config).is_err()
    };
    assert!(few("qwen3_moe", "moe-experts-to-fused") && few("deepseek_v3", "moe-experts-to-fused"));
}

#[test]
fn buffers_of_pythia_are_left() {
    let of_layer = |name: &str, extents: &[u64]| {
        Tensor::new(format!("gpt_neox.layers.0.{name}"), Dtype::F16, extents)
    };
    let mut tensors = vec![
        Tensor::new("gpt_neox.embed_in.weight", Dtype::F16, [10, 8]),
        Tensor::new("gpt_neox.final_layer_norm.weight", Dtype::F16, [8]),
        Tensor::new("embed_out.weight", Dtype::F16, [10, 8]),
        of_layer("attention.query_key_value.weight", &[24, 8]),
        of_layer("attention.dense.weight", &[8, 8]),
        of_layer("mlp.dense_h_to_4h.weight", &[12, 8]),
    ];
    let buffers = [
        Tensor::new("gpt_neox.layers.0.attention.bias", Dtype::Pred, [1, 1, 4, 4]),
        of_layer("attention.masked_bias", &[]),
        of_layer("attention.rotary_emb.inv_freq", &[2]),
    ];
    let config = json!({"model_type": "gpt_neox", "num_attention_heads": 4, "hidden_size": 8, "vocab_size": 10, "num_hidden_layers": 1});
    let recipe = recipe("gpt-neox-qkv-to-split");
    let without = solved(&recipe, &tensors, &config).unwrap();
    tensors.extend(buffers);
    let with = solved(&recipe, &tensors, &config).unwrap();
    assert_eq!(with.made, without.made);
    assert_eq!(with.made.len(), 8);
}
