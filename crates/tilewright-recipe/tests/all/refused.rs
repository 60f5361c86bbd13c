//! Recipes that must be refused, and tensors that a recipe does not fit: with the axis or the name at fault.

use serde_json::Value;
use tilewright_core::Dtype;
use tilewright_recipe::{Errors, Recipe, Sizes, Tensor, kind};

use crate::corpus;

fn refusal(recipe: &str, tensors: &[Tensor]) -> Errors {
    match Recipe::parse(recipe) {
        Err(errors) => errors,
        Ok(recipe) => recipe.solve(tensors, None, &Sizes::new()).expect_err("it must be refused"),
    }
}

/// What must stand in the message: the axis or the name at fault.
const WORDS: [(&str, &str, &[&str]); 17] = [
    (
        "one name for gate and up: the same term twice",
        kind::TERMS,
        &["`e h i` appears twice", "line 3"],
    ),
    (
        "a destination leaves up out",
        kind::TERMS,
        &["the source's term `e·h·i'` has no destination"],
    ),
    (
        "a destination has a term no source has",
        kind::TERMS,
        &["the destination's term `e·h·z` has no source"],
    ),
    (
        "a destination forgets the expert axis",
        kind::TERMS,
        &["the source's terms `e·h·i`, `e·h·i'` have no destination"],
    ),
    (
        "two rules claim one tensor",
        kind::CLAIMED,
        &["experts.{0..3}.down_proj.weight\" is taken twice", "line 6", "(8 tensors)"],
    ),
    (
        "two rules write one tensor",
        kind::TWICE,
        &["model.layers.0.mlp.experts.down_proj", "`{p:*}.experts.down_proj : e h i`"],
    ),
    (
        "a tensor that no rule takes and pass does not name",
        kind::UNCLAIMED,
        &["\"lm_head.weight\"", "\"model.norm.weight\""],
    ),
    (
        "rank differs",
        kind::RANK,
        &["has 2 dims, [32,24]", "`{p:*}.experts.{e}.down_proj.weight : h` says 1"],
    ),
    (
        "a size that does not divide",
        kind::EXTENT,
        &["dim 0 of", "is 32, and no size of `h` makes `(h a)` that, with a = 5"],
    ),
    (
        "sizes that do not follow",
        kind::UNSOLVED,
        &["the size of `h`", "the size of `a`", "does not follow"],
    ),
    (
        "a rule that matches nothing",
        kind::UNMATCHED,
        &["no tensor matches `visual.{r:*}`", "line 9"],
    ),
    (
        "an axis twice in one term",
        kind::TERMS,
        &["the axis `h` appears twice in the term `e h h`; call another axis of equal size `h'`"],
    ),
    ("text that cannot be read", kind::EXPRESSION, &["expected an axis or `(`, found `&`"]),
    ("a bracket is missing", kind::EXPRESSION, &["expected `)`, an axis or `+`, found the end"]),
    (
        "an expert is missing in the middle",
        kind::MISSING,
        &[
            "\"model.layers.0.mlp.experts.1.up_proj.weight\" is missing: of `e` only these numbers exist: 0, 2, 3",
        ],
    ),
    (
        "the last expert's down_proj is missing in one layer",
        kind::VARYING,
        &["`e` is 3 for p = \"model.layers.1.mlp\""],
    ),
    (
        "the last expert's down_proj is missing in all layers: e is declared to be the same everywhere",
        kind::VARYING,
        &["`e` is 3"],
    ),
];

#[test]
fn recipes_of_the_corpus_that_are_wrong_are_refused() {
    let text = std::fs::read_to_string(corpus::folder().join("errors.jsonl")).unwrap();
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(cases.len(), WORDS.len());
    for (case, (why, kind, words)) in cases.iter().zip(WORDS) {
        let said = |key: &str| case.get(key).and_then(Value::as_str);
        assert_eq!(said("why"), Some(why));
        let arrays = corpus::arrays(said("family").unwrap(), said("input").unwrap());
        let kept = |name: &str| said("without").is_none_or(|part| !name.contains(part));
        let tensors: Vec<Tensor> =
            arrays.into_values().map(|(head, _)| head).filter(|head| kept(&head.name)).collect();
        let errors = refusal(said("recipe").unwrap(), &tensors);
        let text = errors.to_string();
        println!("--- {why}\n{text}");
        assert_eq!(errors.first().kind(), kind, "{why}\n{text}");
        for word in words {
            assert!(text.contains(word), "{why}: no `{word}` in\n{text}");
        }
    }
}

#[test]
fn tensors_are_a_list_of_different_names() {
    let recipe = "pass = ['*']";
    let tensor = Tensor::new("a", Dtype::F32, [2]);
    let errors = refusal(recipe, &[tensor.clone(), tensor]);
    assert_eq!(
        (errors.first().kind(), errors.to_string()),
        (kind::INPUT, "two tensors are called \"a\"".into())
    );
    let errors = refusal(recipe, &[Tensor::new("a", Dtype::F32, [1 << 33, 1 << 33])]);
    assert_eq!(errors.first().kind(), kind::LIMIT);
}
