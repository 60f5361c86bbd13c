//! What a recipe requires is decided or refused, and never passed over: conditions that are wrong, misspelled names, sizes that
//! a person gives, and sizes that wait for one another.

use serde_json::{Value, json};
use tilewright_core::Dtype;
use tilewright_recipe::{Assembly, Errors, Recipe, Sizes, Tensor, kind, shipped};

const RULE: &str = "\n[[map]]\nfrom = 'q.{L}.w : (n d) h'\nto = 'p.{L}.w : n d h'";

fn tensors() -> Vec<Tensor> {
    vec![Tensor::new("q.0.w", Dtype::F32, [12, 5])]
}

fn solved(text: &str, config: Value, sizes: &[(&str, u64)]) -> Result<Assembly, Errors> {
    let sizes: Sizes = sizes.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect();
    Recipe::parse(text)?.solve(&tensors(), Some(&config), &sizes)
}

fn refused(text: &str, config: Value, sizes: &[(&str, u64)]) -> String {
    match solved(text, config, sizes) {
        Ok(_) => panic!("not refused: {text}"),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn a_condition_that_is_wrong_refuses_the_input_and_says_why() {
    let config = || json!({"n": 4, "rows": 7, "name": "llama", "rate": 1.5});
    for (condition, says) in [
        ("'config.rows // n == 3'", "7 // 4 leaves a remainder of 3 (config.rows = 7, n = 4)"),
        ("'config.name * n == 4'", "config.name is \"llama\", which is not a size"),
        ("'config.rate * n == 6'", "config.rate is 1.5, which is not a size"),
        ("'config.name > 3'", "`config.name > 3` compares numbers: config.name = \"llama\""),
        ("'n divides config.name'", "compares numbers"),
        ("\"dim('q.*.w', 2) == 5\"", "\"q.0.w\" has no dim 2"),
        ("{ that = 'n == 4', if = 'config.rows // n == 1' }", "leaves a remainder"),
        ("{ tensor = 'p.0.w', if = 'config.name > 3' }", "compares numbers"),
    ] {
        let text = format!("require = [{condition}]\n[sizes]\nn = 'config.n'{RULE}");
        let error = refused(&text, config(), &[]);
        assert!(
            error.contains("cannot be decided: ") && error.contains(says),
            "{condition}: {error}"
        );
    }
    let note = format!("note = [{{ if = 'config.name > 3', say = 'so' }}]\n[sizes]\nn = 4{RULE}");
    assert!(refused(&note, config(), &[]).contains("compares numbers"));
    // What is not known refuses nothing.
    for condition in [
        "config.missing // 5 == 3",
        "config.missing > 3",
        "config.name == 'qwen' and config.name > 3",
    ] {
        let text = format!(
            "require = [{{ that = 'n == 4', if = \"{condition}\" }}]\n[sizes]\nn = 'config.n'{RULE}"
        );
        assert!(solved(&text, config(), &[]).is_ok(), "{condition}");
    }
}

#[test]
fn dims_that_differ_decide_nothing_silently() {
    let text = "require = [\"dim('q.*.w', 0) == 12\"]\npass = ['q.*']";
    let mut tensors = tensors();
    tensors.push(Tensor::new("q.1.w", Dtype::F32, [8, 5]));
    let errors = Recipe::parse(text).unwrap().solve(&tensors, None, &Sizes::new()).unwrap_err();
    let says = "cannot be decided: dim 0 is 12 in \"q.0.w\" and 8 in \"q.1.w\"";
    assert!(errors.to_string().contains(says), "{errors}");
}

#[test]
fn names_that_no_recipe_has_are_refused_when_it_is_read() {
    for (head, says, line) in [
        (
            "require = ['heds == 4']",
            "`heds` is not a size of the recipe: no rule has such an axis, and [sizes] does not list it; did you mean `heads`?",
            1,
        ),
        ("require = [{ that = 'n == 4', if = 'hheads == 1' }]", "did you mean `heads`?", 1),
        (
            "require = [\"dim('q.*.v', 0) == 12\"]",
            "dim('q.*.v', 0) names tensors that no rule takes or makes; did you mean `q.*.w`?",
            1,
        ),
        ("require = [\"dim('w.*.w', 0) == 12\"]", "names tensors that no rule takes", 1),
        (
            "require = [{ tensor = 'p.0.w', if = \"count('q.x.w') == 0\" }]",
            "count('q.x.w') names tensors",
            1,
        ),
        ("note = [{ if = 'dd > 1', say = 's' }]", "`dd` is not a size of the recipe", 1),
        (
            "title = 't'\nevery = ['l']",
            "`every` names `l`, which is neither an axis nor a size of the recipe",
            0,
        ),
        ("[give]\nnn = 'heads'", "`give` names `nn`", 0),
        ("[sizes]\nd = 'heds or 3'", "did you mean `heads`?", 2),
        ("[pad_to]\nv = ['n', 'm * 2']", "`m` is not a size of the recipe", 2),
    ] {
        let tail = if head.contains("[sizes]") { "\nheads = 4" } else { "\n[sizes]\nheads = 4" };
        let errors = Recipe::parse(&format!("{head}{tail}{RULE}")).unwrap_err();
        let error = errors.first();
        assert!(error.message().contains(says), "{head}: {error}");
        assert_eq!(error.line(), (line > 0).then_some(line), "{head}");
        assert_eq!(errors.iter().count(), 1, "{errors}");
    }
    // Names of either side, of what is passed, dropped or tied, and numbers of layers.
    for head in [
        "require = [\"count('q.*') + count('p.3.w') + count('norm') + count('old.x') + count('second') >= 1\"]\npass = ['n*m']\ndrop = ['old.*']\ntie = [['p.0.w', 'second']]",
        "require = ['L == 1', 'h == 5', 'k == 2']\nevery = ['L']\n[sizes]\nn = 4\nk = 2",
    ] {
        let tail = if head.contains("[sizes]") { "" } else { "\n[sizes]\nn = 4" };
        let recipe = Recipe::parse(&format!("{head}{tail}{RULE}"));
        assert!(recipe.is_ok(), "{head}: {}", recipe.unwrap_err());
    }
}

#[test]
fn paths_into_a_configuration_have_no_empty_keys() {
    for text in [
        "for = { 'a..b' = 1 }\npass = ['*']",
        "inverse_for = { '.a' = 1 }\npass = ['*']",
        "[config]\nset = '{\"a.\": 1}'",
        "[config]\nremove = ['a..b']",
        "[config.back]\nremove = ['']",
    ] {
        let errors = Recipe::parse(text).unwrap_err();
        assert!(errors.to_string().contains("has an empty key"), "{text}: {errors}");
        assert_eq!(errors.first().kind(), kind::KEY);
    }
    assert!(
        Recipe::parse("[sizes]\na = 'config.a..b'")
            .unwrap_err()
            .to_string()
            .contains("a key of the configuration")
    );
}

#[test]
fn a_size_that_is_given_is_compared_with_what_the_recipe_computes() {
    let text = format!("[sizes]\nn = 'config.heads'\nd = 'config.rows // n'\nm = 128{RULE}");
    let config = json!({"heads": 4, "rows": 12, "h": 5});
    assert!(solved(&text, config.clone(), &[("n", 4), ("d", 3), ("h", 5), ("m", 64)]).is_ok());
    for (given, says) in [
        (("n", 2), "`n` is given as 2, and the recipe computes 4 from config.heads"),
        (("d", 6), "`d` is given as 6, and the recipe computes 3 from config.rows // n"),
        (("h", 7), "`h` is given as 7, and config.h is 5"),
    ] {
        let error = refused(&text, config.clone(), &[given]);
        assert!(error.contains(says), "{error}");
    }
    // What the configuration does not say is given.
    assert!(solved(&text, json!({}), &[("n", 2)]).is_ok());
}

#[test]
fn sizes_within_a_recipe_do_not_pass_by_its_conditions() {
    let recipe = shipped().iter().find(|one| one.name == "llama-hf-to-megatron").unwrap();
    let recipe = recipe.recipe().unwrap();
    let mut tensors = vec![
        Tensor::new("model.embed_tokens.weight", Dtype::F32, [10, 18]),
        Tensor::new("model.norm.weight", Dtype::F32, [18]),
        Tensor::new("lm_head.weight", Dtype::F32, [10, 18]),
    ];
    for (name, extents) in [
        ("self_attn.q_proj", vec![18, 18]),
        ("self_attn.k_proj", vec![6, 18]),
        ("self_attn.v_proj", vec![6, 18]),
        ("self_attn.o_proj", vec![18, 18]),
        ("mlp.gate_proj", vec![12, 18]),
        ("mlp.up_proj", vec![12, 18]),
        ("mlp.down_proj", vec![18, 12]),
        ("input_layernorm", vec![18]),
        ("post_attention_layernorm", vec![18]),
    ] {
        tensors.push(Tensor::new(format!("model.layers.0.{name}.weight"), Dtype::F32, extents));
    }
    let solve = |config: Option<Value>, sizes: &[(&str, u64)]| {
        let sizes: Sizes = sizes.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect();
        recipe.solve(&tensors, config.as_ref(), &sizes).map_err(|errors| errors.to_string())
    };
    // 9 heads of queries and 3 of keys, each of 2 rows: one head of 3 rows a rank is none of them.
    let config = json!({"model_type": "llama", "num_attention_heads": 9, "num_key_value_heads": 3, "hidden_size": 18, "vocab_size": 10, "num_hidden_layers": 1, "intermediate_size": 12});
    assert!(solve(Some(config.clone()), &[("T", 3)]).is_ok());
    for sizes in [
        &[("T", 2)][..],
        &[("T", 2), ("g", 1), ("d", 3)],
        &[("T", 2), ("g", 1), ("d", 3), ("r", 3)],
        &[("T", 3), ("d", 1)],
        &[("T", 3), ("num_key_value_heads", 6), ("head_dim", 1)],
    ] {
        assert!(solve(Some(config.clone()), sizes).is_err(), "{sizes:?}");
    }
    // Without a configuration, what conditions are about is given, and not what follows from it.
    let error = solve(None, &[("T", 2), ("g", 1), ("d", 3), ("r", 3)]).unwrap_err();
    assert!(error.contains("give that instead"), "{error}");
    assert!(solve(None, &[("T", 3), ("head_dim", 2)]).is_ok());
    assert!(solve(None, &[("T", 3), ("head_dim", 2), ("d", 2), ("g", 1), ("r", 3)]).is_ok());
    assert!(solve(None, &[("T", 2), ("head_dim", 2)]).unwrap_err().contains("T=2 does not divide"));
}

#[test]
fn a_choice_depends_on_the_order_that_is_written_and_not_on_names() {
    // The first choice is another size, which follows from a third one.
    for (first, second, third) in [
        ("a", "b", "c"),
        ("c", "b", "a"),
        ("b", "c", "a"),
        ("b", "a", "c"),
        ("a", "c", "b"),
        ("c", "a", "b"),
    ] {
        let text = format!(
            "[sizes]\n{first} = '{second} or 5'\n{second} = '{third} + 1'\n{third} = 3\nn = '{first}'{RULE}"
        );
        let made = solved(&text, json!({}), &[]).unwrap();
        assert_eq!(made.made[0].extents, [4, 3, 5], "{text}");
    }
    // The same where the shapes tell both.
    for (one, other) in [("x", "y"), ("y", "x")] {
        let text = format!(
            "[sizes]\n{one} = '{other} or h'\n{other} = 'h + 7'\n[[map]]\nfrom = ['q.0.w : (n d) h', 'r : {one}']\nto = ['p : n d h', 's : {one}']"
        );
        let mut tensors = tensors();
        tensors.push(Tensor::new("r", Dtype::F32, [12]));
        let recipe = Recipe::parse(&text).unwrap();
        let made = recipe.solve(&tensors, None, &Sizes::from([("n".into(), 4)]));
        assert!(made.is_ok(), "{text}\n{}", made.unwrap_err());
    }
    // In a circle, each is as if the other were not known.
    for (one, other) in [("n", "z"), ("n", "a")] {
        let text = format!("[sizes]\n{one} = '{other} or 4'\n{other} = '{one} + 1'{RULE}");
        assert_eq!(solved(&text, json!({}), &[]).unwrap().made[0].extents, [4, 3, 5], "{text}");
    }
    // A condition waits for the shapes as well.
    let text = format!("require = ['(d or 7) == 3']\n[sizes]\nn = 4{RULE}");
    assert!(solved(&text, json!({}), &[]).is_ok());
}
