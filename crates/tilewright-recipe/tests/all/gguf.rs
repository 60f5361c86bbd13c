//! Recipes to GGUF on every family that `corpus/recipes/gguf.jsonl` holds: names, extents and bits are those that llama.cpp's
//! own converter makes.

use std::{collections::BTreeMap, fs};

use serde_json::Value;
use tilewright_core::Dtype;
use tilewright_recipe::{Recipe, Sizes, Tensor, guess, shipped};

use crate::{
    corpus,
    interpreter::{Array, run},
    pairs::assert_same,
};

/// A recorded family.
struct Family {
    name: String,
    recipe: &'static str,
    config: Value,
    before: BTreeMap<String, Array>,
    /// Extents and checksum of each tensor of the result.
    after: BTreeMap<String, (Vec<u64>, String)>,
}

fn extents(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|extent| extent.as_u64().unwrap()).collect()
}

/// FNV-1a of 64 bits, in hexadecimal.
fn checksum(bytes: &[u8]) -> String {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
}

/// Tensor number `at`, whose element j is 8192 at + j.
fn numbered(at: usize, name: &str, extents: Vec<u64>) -> (String, Array) {
    let count = extents.iter().product::<u64>() as usize;
    let bytes = (0..count).flat_map(|j| ((8192 * at + j) as f32).to_le_bytes()).collect();
    (name.to_owned(), (Tensor::new(name, Dtype::F32, extents), bytes))
}

fn family(line: &str) -> Family {
    let case: Value = serde_json::from_str(line).unwrap();
    let text = |key: &str| case[key].as_str().unwrap().to_owned();
    let before = case["before"].as_object().unwrap().iter().enumerate();
    let after = case["after"].as_object().unwrap().iter();
    let named = shipped().iter().find(|one| one.name == text("recipe")).unwrap();
    Family {
        name: text("family"),
        recipe: named.name,
        config: case["config"].clone(),
        before: before.map(|(at, (name, dims))| numbered(at, name, extents(dims))).collect(),
        after: after
            .map(|(name, made)| {
                (name.clone(), (extents(&made[0]), made[1].as_str().unwrap().to_owned()))
            })
            .collect(),
    }
}

fn families() -> Vec<Family> {
    let text = fs::read_to_string(corpus::folder().join("gguf.jsonl")).unwrap();
    text.lines().map(family).collect()
}

fn recipe(name: &str) -> Recipe {
    shipped().iter().find(|one| one.name == name).unwrap().recipe().unwrap()
}

fn heads(arrays: &BTreeMap<String, Array>) -> Vec<Tensor> {
    arrays.values().map(|(head, _)| head.clone()).collect()
}

/// What a recipe makes of arrays, and the recipe back that it records.
fn made(
    recipe: &Recipe,
    arrays: &BTreeMap<String, Array>,
    config: Option<&Value>,
) -> (BTreeMap<String, Array>, Recipe) {
    let assembly = recipe.solve(&heads(arrays), config, &Sizes::new());
    let assembly = assembly.unwrap_or_else(|errors| panic!("{recipe}\n{errors}"));
    let sources: Vec<Array> = arrays.values().cloned().collect();
    (run(&assembly, &sources).unwrap(), Recipe::parse(&assembly.metadata[0].1).unwrap())
}

#[test]
fn every_recipe_to_gguf_makes_what_llama_cpp_does_and_goes_back() {
    let families = families();
    for name in shipped().iter().map(|one| one.name).filter(|name| name.ends_with("-to-gguf")) {
        assert!(families.iter().any(|family| family.recipe == name), "no family for {name}");
    }
    for Family { name, recipe: by, config, before, after } in families {
        let recipe = recipe(by);
        let (forth, back) = made(&recipe, &before, Some(&config));
        assert_eq!(forth.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>(), "{name}");
        for (tensor, (head, bytes)) in &forth {
            let (extents, sum) = &after[tensor];
            assert_eq!((&head.extents, head.dtype), (extents, Dtype::F32), "{name}: {tensor}");
            assert_eq!(checksum(bytes), *sum, "{name}: {tensor}");
        }
        assert_same(&made(&recipe.inverse(), &forth, Some(&config)).0, &before, &name);
        assert_same(&made(&back, &forth, None).0, &before, &name);
    }
}

#[test]
fn the_recipe_of_a_family_is_guessed_and_no_other_to_gguf() {
    let some = families().into_iter().step_by(tilewright_testing::cases(1, 4));
    for Family { name, recipe, config, before, .. } in some {
        let found = guess(&heads(&before), Some(&config)).fits;
        let to_gguf: Vec<&str> = found
            .iter()
            .filter(|one| one.name.ends_with("-to-gguf") && !one.inverse)
            .map(|one| one.name)
            .collect();
        assert_eq!(to_gguf, [recipe], "{name}: {found:?}");
    }
}

/// A configuration of another model, and one with another number of layers, are refused.
#[test]
fn a_configuration_that_contradicts_the_tensors_is_refused() {
    for Family { name, recipe: by, config, before, .. } in families() {
        let mut other = config.clone();
        other["model_type"] = "other".into();
        let recipe = recipe(by);
        let contradictions = recipe.contradictions(&other);
        assert!(contradictions.iter().any(|one| one.key == "model_type"), "{name}");
        assert!(recipe.contradictions(&config).is_empty(), "{name}");
        let key = if config.get("n_layer").is_some() { "n_layer" } else { "num_hidden_layers" };
        let mut deeper = config.clone();
        deeper[key] = 3.into();
        let errors = recipe.solve(&heads(&before), Some(&deeper), &Sizes::new()).unwrap_err();
        assert!(errors.to_string().contains(key), "{name}: {errors}");
    }
}
