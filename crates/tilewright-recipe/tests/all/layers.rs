//! Tensors that are left out, and configurations that describe another model: shipped recipes refuse both.

use serde_json::{Value, json};
use tilewright_core::Dtype;
use tilewright_recipe::{Assembly, Recipe, Sizes, Tensor, shipped};

fn recipe(name: &str) -> Recipe {
    shipped().iter().find(|one| one.name == name).unwrap().recipe().unwrap()
}

/// A model of three layers in the names of Llama: 4 heads of queries and 2 of keys, each of 2 rows.
fn llama() -> Vec<Tensor> {
    let mut all = vec![
        Tensor::new("model.embed_tokens.weight", Dtype::F32, [10, 8]),
        Tensor::new("model.norm.weight", Dtype::F32, [8]),
        Tensor::new("lm_head.weight", Dtype::F32, [10, 8]),
    ];
    for layer in 0..3 {
        let mut add = |name: &str, extents: &[u64]| {
            let name = format!("model.layers.{layer}.{name}.weight");
            all.push(Tensor::new(name, Dtype::F32, extents.to_vec()));
        };
        add("self_attn.q_proj", &[8, 8]);
        add("self_attn.k_proj", &[4, 8]);
        add("self_attn.v_proj", &[4, 8]);
        add("self_attn.o_proj", &[8, 8]);
        add("mlp.gate_proj", &[12, 8]);
        add("mlp.up_proj", &[12, 8]);
        add("mlp.down_proj", &[8, 12]);
        add("input_layernorm", &[8]);
        add("post_attention_layernorm", &[8]);
    }
    all
}

/// The same in the names of Phi-3.
fn phi3() -> Vec<Tensor> {
    let fused = |mut tensor: Tensor| {
        if tensor.name.contains("k_proj")
            || tensor.name.contains("v_proj")
            || tensor.name.contains("up_proj")
        {
            return None;
        }
        if tensor.name.contains("q_proj") {
            tensor.extents[0] = 16;
        }
        if tensor.name.contains("gate_proj") {
            tensor.extents[0] = 24;
        }
        tensor.name =
            tensor.name.replace("q_proj", "qkv_proj").replace("gate_proj", "gate_up_proj");
        Some(tensor)
    };
    llama().into_iter().filter_map(fused).collect()
}

/// A configuration of the model above, with some keys that are others; null takes a key away.
fn config(changes: Value) -> Value {
    let mut config = json!({
        "hidden_size": 8, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 12,
        "vocab_size": 10, "num_hidden_layers": 3, "tie_word_embeddings": false,
    });
    let all = config.as_object_mut().unwrap();
    all.extend(changes.as_object().unwrap().clone());
    all.retain(|_, value| !value.is_null());
    config
}

fn without(tensors: &[Tensor], part: &str) -> Vec<Tensor> {
    tensors.iter().filter(|tensor| !tensor.name.contains(part)).cloned().collect()
}

fn solved(recipe: &Recipe, tensors: &[Tensor], config: &Value) -> Result<Assembly, String> {
    let sizes: Sizes = match recipe.title() {
        Some(title) if title.contains("Megatron") => Sizes::from([("T".into(), 2)]),
        _ => Sizes::new(),
    };
    recipe.solve(tensors, Some(config), &sizes).map_err(|errors| errors.to_string())
}

#[track_caller]
fn refused(recipe: &Recipe, tensors: &[Tensor], config: &Value, says: &str) {
    let error = solved(recipe, tensors, config).expect_err(says);
    assert!(error.contains(says), "{error}");
}

/// Recipes from the names of Llama.
fn of_llama() -> Vec<Recipe> {
    ["llama-hf-to-gguf", "llama-hf-to-megatron"]
        .map(recipe)
        .into_iter()
        .chain([recipe("llama-original-to-hf").inverse(), recipe("internlm2-to-llama").inverse()])
        .collect()
}

#[test]
fn layers_count_from_0_without_a_hole_and_all_have_the_same_tensors() {
    for recipe in of_llama() {
        let (whole, config) = (llama(), config(json!({})));
        assert_eq!(solved(&recipe, &whole, &config).err(), None, "{:?}", recipe.title());
        let says = "there is no tensor \"model.layers.1.";
        refused(&recipe, &without(&whole, "layers.1."), &config, says);
        let says = "model.layers.2.mlp.down_proj.weight";
        refused(&recipe, &without(&whole, "layers.2.mlp.down_proj"), &config, says);
        let says = "config.num_hidden_layers = 3, L = 2";
        let error = solved(&recipe, &without(&whole, "layers.2."), &config).unwrap_err();
        assert!(
            error.contains("L = 2") && error.contains("num_hidden_layers = 3"),
            "{says}: {error}"
        );
    }
}

#[test]
fn optional_tensors_are_in_all_layers_or_in_none() {
    let recipe = recipe("llama-hf-to-gguf");
    let mut tensors = llama();
    tensors.extend((0..2).map(|layer| {
        Tensor::new(format!("model.layers.{layer}.self_attn.v_proj.bias"), Dtype::F32, [4])
    }));
    let says = "there is no tensor \"model.layers.2.self_attn.v_proj.bias\"";
    refused(&recipe, &tensors, &config(json!({})), says);
    tensors.push(Tensor::new("model.layers.2.self_attn.v_proj.bias", Dtype::F32, [4]));
    assert_eq!(solved(&recipe, &tensors, &config(json!({}))).err(), None);
    let says = "attention has biases";
    refused(&recipe, &llama(), &config(json!({"attention_bias": true})), says);
    let megatron = self::recipe("llama-hf-to-megatron");
    refused(&megatron, &llama(), &config(json!({"attention_bias": true})), says);
}

#[test]
fn a_recipe_says_which_numbers_are_whole() {
    let text = "every = ['L']\n[[map]]\nfrom = 'l.{L}.a'\nto = 'm.{L}.a'\n[[map]]\nfrom = 'l.{L}.b'\nto = 'm.{L}.b'\n";
    let tensors = |names: &[&str]| -> Vec<Tensor> {
        names.iter().map(|name| Tensor::new(*name, Dtype::F32, [2])).collect()
    };
    let partly = tensors(&["l.0.a", "l.1.a", "l.1.b"]);
    let solve = |text: &str, tensors: &[Tensor]| {
        let made = Recipe::parse(text).unwrap().solve(tensors, None, &Sizes::new());
        made.map(|made| made.made.len()).map_err(|errors| errors.to_string())
    };
    let says = "line 6: there is no tensor \"l.0.b\": the recipe takes tensors of every `L` from 0 to 1; if only some of them may have it, add `some = true`";
    assert_eq!(solve(text, &partly), Err(says.to_owned()));
    let some = format!("{text}some = true");
    assert_eq!(solve(&some, &partly), Ok(3));
    assert_eq!(solve(&text.replace("every = ['L']", ""), &partly), Ok(3));
    let says = "there is no tensor \"l.1.a\"";
    let hole = solve(&some, &tensors(&["l.0.a", "l.0.b", "l.2.a", "l.2.b"])).unwrap_err();
    assert!(hole.contains(says), "{hole}");
    // The number of a layer is no size: its count is, in conditions.
    let counted = format!("require = ['L == 2', \"count('l.*.b') == 1\"]\n{some}");
    assert_eq!(solve(&counted, &partly), Ok(3));
    assert!(solve(&counted, &tensors(&["l.0.a", "l.0.b"])).unwrap_err().contains("L = 1"));
}

#[test]
fn a_phi3_has_all_tensors_and_its_configuration() {
    let (whole, recipe) = (phi3(), recipe("phi3-to-split"));
    assert_eq!(solved(&recipe, &whole, &config(json!({}))).err(), None);
    for part in [
        "layers.2.self_attn.qkv",
        "layers.1.self_attn.o",
        "layers.1.mlp.gate",
        "layers.0.mlp.down",
        "layers.1.input",
        "layers.2.",
    ] {
        assert!(solved(&recipe, &without(&whole, part), &config(json!({}))).is_err(), "{part}");
    }
    for (key, value) in [
        ("hidden_size", 16),
        ("vocab_size", 12),
        ("intermediate_size", 13),
        ("num_hidden_layers", 4),
    ] {
        // A size of heads makes the width of the embeddings another question.
        let config = config(json!({key: value, "head_dim": 2}));
        refused(&recipe, &whole, &config, &format!("config.{key} = {value}"));
    }
    let nested = config(json!({"rope_parameters": {"partial_rotary_factor": 0.75}}));
    refused(&recipe, &whole, &nested, "turns whole heads");
    let scaled = config(json!({"rope_parameters": {"rope_type": "longrope"}}));
    assert_eq!(solved(&recipe, &whole, &scaled).unwrap().notes.len(), 1);
    let plain = config(json!({"rope_parameters": {"rope_type": "default"}}));
    assert_eq!(solved(&recipe, &whole, &plain).unwrap().notes.len(), 0);
}

#[test]
fn a_head_that_is_not_tied_is_there_and_one_that_is_tied_is_noted() {
    let all = [
        (recipe("phi3-to-split"), phi3()),
        (recipe("phi3-to-split").inverse(), llama()),
        (recipe("llama-original-to-hf").inverse(), llama()),
        (recipe("llama-hf-to-gguf"), llama()),
    ];
    for (recipe, tensors) in all {
        let headless = without(&tensors, "lm_head");
        refused(&recipe, &headless, &config(json!({})), "does not tie it to the embeddings");
        let tied = config(json!({"tie_word_embeddings": true}));
        assert_eq!(solved(&recipe, &headless, &tied).err(), None);
    }
    let tied = config(json!({"tie_word_embeddings": true}));
    for (recipe, tensors) in [("phi3-to-split", phi3()), ("llama-hf-to-gguf", llama())] {
        let notes = solved(&self::recipe(recipe), &tensors, &tied).unwrap().notes;
        assert!(notes[0].contains("config.json ties lm_head.weight"), "{notes:?}");
    }
    // These tie where the key is missing.
    for (recipe, model) in [("llama-hf-to-gguf", "smollm3"), ("ernie4.5-hf-to-gguf", "ernie4_5")] {
        let tied = config(json!({"model_type": model, "tie_word_embeddings": null}));
        let headless = without(&llama(), "lm_head");
        assert_eq!(solved(&self::recipe(recipe), &headless, &tied).err(), None);
        let untied = config(json!({"model_type": model}));
        refused(&self::recipe(recipe), &headless, &untied, "does not tie");
    }
}

#[test]
fn a_qwen_has_its_heads_and_its_norms() {
    let recipe = recipe("qwen-hf-to-gguf");
    let mut biased = llama();
    biased.extend((0..3).flat_map(|layer| {
        [("q", 8), ("k", 4), ("v", 4)].map(|(one, rows)| {
            let name = format!("model.layers.{layer}.self_attn.{one}_proj.bias");
            Tensor::new(name, Dtype::F32, [rows])
        })
    }));
    let mut norms = llama();
    norms.extend((0..3).flat_map(|layer| {
        ["q", "k"].map(|one| {
            Tensor::new(
                format!("model.layers.{layer}.self_attn.{one}_norm.weight"),
                Dtype::F32,
                [2],
            )
        })
    }));
    let of = |model: &str, more: Value| {
        let mut config = config(more);
        config["model_type"] = json!(model);
        config
    };
    assert_eq!(solved(&recipe, &biased, &of("qwen2", json!({}))).err(), None);
    refused(&recipe, &llama(), &of("qwen2", json!({})), "a Qwen2 has biases");
    refused(
        &recipe,
        &without(&biased, "1.self_attn.v_proj.bias"),
        &of("qwen2", json!({})),
        "v_proj.bias",
    );
    let mut both = norms.clone();
    both.extend(biased.iter().filter(|one| one.name.ends_with("bias")).cloned());
    refused(&recipe, &both, &of("qwen3", json!({})), "attention has no biases");
    assert_eq!(solved(&recipe, &both, &of("qwen3", json!({"attention_bias": true}))).err(), None);
    assert_eq!(solved(&recipe, &norms, &of("qwen3", json!({}))).err(), None);
    refused(&recipe, &llama(), &of("qwen3", json!({})), "a Qwen3 has a norm of queries");
    refused(&recipe, &norms, &of("qwen2", json!({})), "a Qwen2 has no norms");
    let says = "config.num_attention_heads = 2";
    refused(
        &recipe,
        &biased,
        &of("qwen2", json!({"num_attention_heads": 2, "num_key_value_heads": 2})),
        "config.num_key_value_heads = 2",
    );
    let wide = of("qwen2", json!({"num_attention_heads": 2, "hidden_size": 20}));
    refused(&recipe, &biased, &wide, says);
    refused(
        &recipe,
        &biased,
        &of("qwen2", json!({"hidden_size": 16, "head_dim": 2})),
        "config.hidden_size = 16",
    );
}

#[test]
fn megatron_is_told_which_scaling_it_takes_from_arguments() {
    let recipe = recipe("llama-hf-to-megatron");
    refused(
        &recipe,
        &llama(),
        &config(json!({"hidden_size": 16, "head_dim": 2})),
        "config.hidden_size = 16",
    );
    for scaling in ["llama3", "yarn"] {
        let config = config(json!({"rope_scaling": {"rope_type": scaling}}));
        let notes = solved(&recipe, &llama(), &config).unwrap().notes;
        assert!(notes.iter().any(|note| note.contains("rotary frequencies")), "{notes:?}");
    }
}
