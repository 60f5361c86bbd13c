//! Recorded pairs: what a recipe makes of one checkpoint is the other one, bit for bit, in both directions.

use std::collections::BTreeMap;

use tilewright_recipe::{RECIPE_KEY, Recipe, Sizes};

use crate::{
    corpus,
    interpreter::{Array, run},
};

/// What a recipe makes of arrays.
pub(crate) fn applied(
    recipe: &Recipe,
    arrays: &BTreeMap<String, Array>,
    config: Option<&serde_json::Value>,
) -> BTreeMap<String, Array> {
    let sources: Vec<Array> = arrays.values().cloned().collect();
    let assembly = recipe
        .solve(&corpus::heads(&sources), config, &Sizes::new())
        .unwrap_or_else(|errors| panic!("{errors}"));
    run(&assembly, &sources).unwrap()
}

/// Both have the same tensors, bit for bit.
pub(crate) fn assert_same(
    got: &BTreeMap<String, Array>,
    expected: &BTreeMap<String, Array>,
    what: &str,
) {
    let names = |arrays: &BTreeMap<String, Array>| arrays.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(got), names(expected), "{what}");
    for (name, (head, bytes)) in expected {
        let (got, data) = &got[name];
        assert_eq!(got, head, "{what}");
        assert!(data == bytes, "{what}: {name} differs");
    }
}

#[test]
fn recipes_of_the_corpus_make_the_pairs_in_both_directions() {
    let families = corpus::families();
    assert_eq!(families.len(), 16);
    for family in families {
        let recipe = Recipe::parse(&corpus::recipe(&family))
            .unwrap_or_else(|errors| panic!("{family}: {errors}"));
        let (before, after) = (corpus::arrays(&family, "before"), corpus::arrays(&family, "after"));
        assert_same(&applied(&recipe, &before, None), &after, &family);
        let mut kept = before.clone();
        kept.retain(|name, _| name != "rope.freqs");
        assert_eq!(kept.len() < before.len(), family == "llama_meta");
        assert_same(&applied(&recipe.inverse(), &after, None), &kept, &family);
        // The way back that the metadata holds needs no sizes.
        let sources: Vec<Array> = before.values().cloned().collect();
        let assembly = recipe.solve(&corpus::heads(&sources), None, &Sizes::new()).unwrap();
        let [(key, back)] = &assembly.metadata[..] else {
            panic!("{family}: {:?}", assembly.metadata)
        };
        assert_eq!(key, RECIPE_KEY);
        let back =
            Recipe::parse(back).unwrap_or_else(|errors| panic!("{family}: {back}\n{errors}"));
        assert_same(&applied(&back, &after, None), &kept, &family);
    }
}
