//! What recipes say besides axes: ties, drops, element types, copies, padding, numbers that count from others, layouts.

use std::collections::BTreeMap;

use serde_json::json;
use tilewright_core::Dtype;
use tilewright_recipe::{Assembly, Origin, Recipe, Sizes, Tensor, kind};

use crate::interpreter::{Array, run, width};

fn recipe(text: &str) -> Recipe {
    Recipe::parse(text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn heads(list: &[(&str, Dtype, &[u64])]) -> Vec<Tensor> {
    list.iter().map(|(name, dtype, extents)| Tensor::new(*name, *dtype, *extents)).collect()
}

/// Arrays of different bytes, none of them 0.
fn arrays(heads: &[Tensor]) -> Vec<Array> {
    let mut next = 0u32;
    let mut byte = || {
        next += 1;
        (next * 7 % 251 + 1) as u8
    };
    let bytes = |head: &Tensor| head.elements().unwrap() as usize * width(head.dtype);
    heads.iter().map(|head| (head.clone(), (0..bytes(head)).map(|_| byte()).collect())).collect()
}

fn solve(text: &str, tensors: &[Tensor]) -> Assembly {
    recipe(text).solve(tensors, None, &Sizes::new()).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The first fault of a recipe for some tensors, and all of them as a text.
fn fault(text: &str, tensors: &[Tensor]) -> (&'static str, String) {
    let errors = match Recipe::parse(text) {
        Ok(recipe) => recipe.solve(tensors, None, &Sizes::new()).expect_err("it must be refused"),
        Err(errors) => errors,
    };
    (errors.first().kind(), errors.to_string())
}

/// What is made of arrays, and what its recorded way back makes of that.
fn round(text: &str, sources: &[Array]) -> (BTreeMap<String, Array>, BTreeMap<String, Array>) {
    let tensors: Vec<Tensor> = sources.iter().map(|(head, _)| head.clone()).collect();
    let assembly = solve(text, &tensors);
    let made = run(&assembly, sources).unwrap();
    let list: Vec<Array> = made.values().cloned().collect();
    let heads: Vec<Tensor> = list.iter().map(|(head, _)| head.clone()).collect();
    let back = run(&solve(&assembly.metadata[0].1, &heads), &list).unwrap();
    (made, back)
}

fn named(sources: &[Array]) -> BTreeMap<String, Array> {
    sources.iter().map(|array| (array.0.name.clone(), array.clone())).collect()
}

const F: Dtype = Dtype::F32;

#[test]
fn a_second_name_holds_the_same_and_goes_if_it_is_equal() {
    let text = "tie = [['embed', 'head']]\npass = ['embed']";
    let sources = arrays(&heads(&[("embed", F, &[4, 2])]));
    let (made, back) = round(text, &sources);
    assert_eq!(made["head"].1, made["embed"].1);
    assert_eq!(back, named(&sources));
    // Two that differ are no second names, and the rest of the tensors must be claimed.
    let mut two: Vec<Array> = made.into_values().collect();
    two[1].1[0] ^= 1;
    let heads: Vec<Tensor> = two.iter().map(|(head, _)| head.clone()).collect();
    let assembly = recipe(text).inverse().solve(&heads, None, &Sizes::new()).unwrap();
    assert_eq!(run(&assembly, &two).unwrap_err(), "\"embed\" and its second name \"head\"");
    // Without a second name there is nothing to compare; without the first one it is the only one.
    let back = recipe(text).inverse();
    assert_eq!(back.solve(&heads[..1], None, &Sizes::new()).unwrap().made.len(), 1);
    let errors = back.solve(&heads[1..], None, &Sizes::new()).unwrap_err();
    assert_eq!(errors.first().kind(), kind::TIE);
    let other = [heads[0].clone(), Tensor { extents: vec![2, 4], ..heads[1].clone() }];
    assert_eq!(back.solve(&other, None, &Sizes::new()).unwrap_err().first().kind(), kind::TIE);
    let (kind, says) = fault("tie = [['wte', 'head']]\npass = ['embed']", &heads[..1]);
    assert_eq!(
        (kind, says.as_str()),
        (kind::TIE, "`head` should be a second name of `wte`, which is not made")
    );
}

#[test]
fn what_is_dropped_is_no_tensor_of_the_result_and_does_not_come_back() {
    let text = "drop = ['*.inv_freq']\n[[map]]\nfrom = 'a.{r:*}'\nto = 'b.{r:*}'";
    let tensors = heads(&[("a.w", F, &[2]), ("a.inv_freq", F, &[2])]);
    let assembly = solve(text, &tensors);
    assert_eq!(assembly.made.len(), 1);
    let back = recipe(&assembly.metadata[0].1);
    assert_eq!(back.lost().collect::<Vec<_>>(), ["*.inv_freq"]);
    assert!(back.to_string().contains("does not come back: *.inv_freq"));
    assert_eq!(back.inverse().solve(&tensors, None, &Sizes::new()).unwrap().made, assembly.made);
}

#[test]
fn rules_act_at_once_so_swaps_need_no_order() {
    let text = "[[map]]\nfrom = 'norm0'\nto = 'norm1'\n[[map]]\nfrom = 'norm1'\nto = 'norm0'";
    let sources = arrays(&heads(&[("norm0", F, &[2]), ("norm1", F, &[2])]));
    let (made, back) = round(text, &sources);
    assert_eq!((&made["norm0"].1, &made["norm1"].1), (&sources[1].1, &sources[0].1));
    assert_eq!(back, named(&sources));
}

#[test]
fn numbers_count_from_others_and_stop_at_sizes() {
    let text = "[sizes]\nt = 2\n[[map]]\nfrom = 'x.{t}.w : i'\nto = 'text : t i'\n[[map]]\nfrom = 'x.{v+t}.w : i'\nto = 'vision : v i'\n[[map]]\nfrom = 'l.{L}.w'\nto = 'm.{L+1:03}.w'";
    let list: Vec<(String, Dtype, Vec<u64>)> = (0..5)
        .map(|at| (format!("x.{at}.w"), F, vec![if at < 2 { 3 } else { 4 }]))
        .chain([("l.11.w".to_owned(), F, vec![1])])
        .collect();
    let tensors: Vec<Tensor> =
        list.into_iter().map(|(name, dtype, extents)| Tensor::new(name, dtype, extents)).collect();
    let sources = arrays(&tensors);
    let (made, back) = round(text, &sources);
    let extents = |name: &str| made[name].0.extents.clone();
    assert_eq!((extents("text"), extents("vision")), (vec![2, 3], vec![3, 4]));
    assert!(made.contains_key("m.012.w"));
    assert_eq!(back, named(&sources));
    // A tensor beyond the size is not passed through in silence.
    let text = "pass = ['*']\n[sizes]\ne = 'config.experts'\n[[map]]\nfrom = 'x.{e}.w : i'\nto = 'all : e i'";
    let five = heads(&[("x.0.w", F, &[2]), ("x.1.w", F, &[2]), ("x.2.w", F, &[2])]);
    let solve =
        |experts: u64| recipe(text).solve(&five, Some(&json!({"experts": experts})), &Sizes::new());
    assert!(solve(3).is_ok());
    let says = "line 5: no rule takes \"x.2.w\": `x.{e}.w : i` has only 2 of `e`";
    assert_eq!(solve(2).unwrap_err().to_string(), says);
    let says = "line 5: \"x.3.w\" is missing: of `e` only these numbers exist: 0, 1, 2";
    assert_eq!(solve(4).unwrap_err().to_string(), says);
}

#[test]
fn norms_are_widened_exactly_and_narrowed_where_no_bit_is_lost() {
    let text = "pass = ['w']\n[[map]]\nfrom = '{x:name}.norm'\nto = '{x:name}_norm'\ndtype = 'f32'";
    let mut sources = arrays(&heads(&[
        ("a.norm", Dtype::Bf16, &[3]),
        ("b.norm", F, &[3]),
        ("w", Dtype::Bf16, &[2, 2]),
    ]));
    sources[1].1[0] = 1;
    let (made, back) = round(text, &sources);
    assert_eq!(
        (made["a_norm"].0.dtype, made["b_norm"].0.dtype, made["w"].0.dtype),
        (F, F, Dtype::Bf16)
    );
    assert_eq!(back, named(&sources));
    // The inverse that is derived alone asks the configuration.
    let inverse = recipe(text).inverse();
    let wide = heads(&[("a_norm", F, &[3]), ("w", Dtype::Bf16, &[2, 2])]);
    let errors = inverse.solve(&wide, None, &Sizes::new()).unwrap_err();
    assert_eq!(errors.first().kind(), kind::UNSOLVED);
    for config in
        [json!({"dtype": "bfloat16"}), json!({"text_config": {"torch_dtype": "bfloat16"}})]
    {
        let assembly = inverse.solve(&wide, Some(&config), &Sizes::new()).unwrap();
        assert_eq!(assembly.made[0].dtype, Dtype::Bf16);
    }
    let (kind, says) = fault(text, &heads(&[("a.norm", Dtype::F8e4m3fn, &[3]), ("w", F, &[1])]));
    assert_eq!(kind, kind::DTYPE, "{says}");
    for (key, dtype) in [("dtype", "bf16"), ("dtype", "s32"), ("from_dtype", "bf16")] {
        let (kind, says) = fault(&format!("[[map]]\nfrom = 'a'\nto = 'b'\n{key} = '{dtype}'"), &[]);
        assert_eq!(kind, kind::ARITHMETIC);
        assert!(says.contains("recipes move elements and never compute"), "{says}");
    }
}

#[test]
fn what_computes_is_refused_by_name() {
    for key in ["op", "scale", "add", "quantize", "exp", "function", "cast"] {
        let (kind, says) = fault(&format!("[[map]]\nfrom = 'a'\nto = 'b'\n{key} = 1"), &[]);
        let expected =
            format!("line 4: `{key}` is refused: recipes move elements and never compute");
        assert_eq!((kind, says), (kind::ARITHMETIC, expected));
    }
    let (kind, says) = fault("[[map]]\nfrom = 'a : h - 1'\nto = 'b : h'", &[]);
    assert_eq!(kind, kind::EXPRESSION);
    assert!(says.contains("recipes move elements and never compute"), "{says}");
}

#[test]
fn pieces_of_one_tensor_have_one_element_type() {
    let text = "[[map]]\nfrom = ['q : i', 'k : j']\nto = 'qk : (i + j)'";
    let (kind, says) = fault(text, &heads(&[("q", F, &[2]), ("k", Dtype::Bf16, &[3])]));
    assert_eq!(
        (kind, says.as_str()),
        (kind::DTYPE, "line 3: \"qk\" would be made of f32 and of bf16")
    );
}

#[test]
fn sizes_that_differ_between_layers_are_recorded_for_each_layer() {
    let text = "[[map]]\nfrom = ['{p:*}.{L}.q : q h', '{p:*}.{L}.k : k h']\nto = '{p:*}.{L}.qk : (q + k) h'";
    let sources = arrays(&heads(&[
        ("m.0.q", F, &[4, 2]),
        ("m.0.k", F, &[2, 2]),
        ("m.1.q", F, &[3, 2]),
        ("m.1.k", F, &[3, 2]),
    ]));
    let (_, back) = round(text, &sources);
    assert_eq!(back, named(&sources));
    // Experts that differ between layers, too.
    let text = "[[map]]\nfrom = '{L}.x.{e} : i'\nto = '{L}.x : e i'\nvarying = ['e']";
    let sources = arrays(&heads(&[("0.x.0", F, &[2]), ("0.x.1", F, &[2]), ("1.x.0", F, &[2])]));
    let (_, back) = round(text, &sources);
    assert_eq!(back, named(&sources));
    let strict = text.replace("varying = ['e']", "");
    let tensors: Vec<Tensor> = sources.iter().map(|(head, _)| head.clone()).collect();
    let (kind, says) = fault(&strict, &tensors);
    assert_eq!(kind, kind::VARYING);
    assert!(says.contains("`e` is 1 for L = 1, and 2 for L = 0"), "{says}");
}

#[test]
fn padding_is_filled_and_must_be_the_fill() {
    let text = "[pad_to]\nv = ['v', 4]\n[[map]]\nfrom = 'embed : v h'\nto = 'word : (v + ~v) h'\nfill = 'one'";
    let sources = arrays(&heads(&[("embed", F, &[5, 2])]));
    let (made, back) = round(text, &sources);
    assert_eq!(made["word"].0.extents, [8, 2]);
    assert_eq!(made["word"].1[5 * 2 * 4..], 1f32.to_le_bytes().repeat(6));
    assert_eq!(back, named(&sources));
    let heads = [made["word"].0.clone()];
    let inverse = recipe(text).inverse();
    let assembly = inverse.solve(&heads, None, &Sizes::from([("v".into(), 5)])).unwrap();
    assert!(matches!(assembly.equal[0].second, Origin::Fill(0x3f80_0000)));
    let errors = inverse.solve(&heads, None, &Sizes::from([("v".into(), 3)])).unwrap_err();
    let says = "line 3: `~v` is 5, and 1 fill 3 of `v` up to a multiple of 4";
    assert_eq!(errors.to_string(), says);
    let errors = inverse.solve(&heads, None, &Sizes::new()).unwrap_err();
    assert_eq!(errors.first().kind(), kind::UNSOLVED);
}

#[test]
fn ranks_hold_copies_which_must_be_equal() {
    let text = "[sizes]\nT = 3\n[[map]]\nfrom = 'norm'\nto = 'rank{T:02}.norm'\ncopies = ['T']\n[[map]]\nfrom = 'k : (g d) h'\nto = 'kk : (g c d) h'\ncopies = ['c']\nsizes = { c = 2, g = 2 }";
    let sources = arrays(&heads(&[("norm", F, &[2]), ("k", F, &[4, 3])]));
    let (made, back) = round(text, &sources);
    assert_eq!(
        made.keys().collect::<Vec<_>>(),
        ["kk", "rank00.norm", "rank01.norm", "rank02.norm"]
    );
    assert_eq!(back, named(&sources));
}

#[test]
fn layouts_go_to_the_results_they_are_for() {
    let text = "[[map]]\nfrom = 'a : (i + j) h'\nto = ['b : i h', 'c : j h']\nlayout = ['zN', 'row-major']\n[[map]]\nfrom = 'd'\nto = 'e'\nlayout = 'nZ'";
    let tensors = heads(&[("a", F, &[4, 2]), ("d", F, &[2, 2])]);
    let assembly = recipe(text).solve(&tensors, None, &Sizes::from([("i".into(), 1)])).unwrap();
    let layouts: Vec<Option<&str>> =
        assembly.made.iter().map(|made| made.layout.as_deref()).collect();
    assert_eq!(layouts, [Some("zN"), Some("row-major"), Some("nZ")]);
    let (kind, _) = fault("[[map]]\nfrom = 'a'\nto = 'b'\nlayout = ['zN', 'nZ']", &[]);
    assert_eq!(kind, kind::KEY);
}

#[test]
fn sizes_come_from_the_caller_the_recipe_and_the_configuration_in_this_order() {
    let text = "[sizes]\nn = 'config.heads'\n[[map]]\nfrom = 'q : (n d) h'\nto = 'p : n d h'";
    let tensors = heads(&[("q", F, &[12, 5])]);
    let extents = |config: Option<serde_json::Value>, sizes: &[(&str, u64)]| {
        let sizes: Sizes = sizes.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect();
        recipe(text)
            .solve(&tensors, config.as_ref(), &sizes)
            .map(|assembly| assembly.made[0].extents.clone())
    };
    assert_eq!(extents(Some(json!({"heads": 4})), &[]).unwrap(), [4, 3, 5]);
    assert_eq!(extents(Some(json!({"heads": null})), &[("n", 2)]).unwrap(), [2, 6, 5]);
    assert_eq!(extents(None, &[("d", 1)]).unwrap(), [12, 1, 5]);
    // An axis may be called as the configuration calls it.
    assert_eq!(extents(Some(json!({"heads": null, "d": 6})), &[]).unwrap(), [2, 6, 5]);
    let says = "line 4: the size of `n` in `q : (n d) h` does not follow from the shapes; give it (config.heads: there is no configuration)";
    assert!(
        extents(None, &[]).unwrap_err().to_string().contains(says),
        "{}",
        extents(None, &[]).unwrap_err()
    );
    let errors = extents(Some(json!({"heads": "many"})), &[]).unwrap_err();
    assert!(
        errors.to_string().contains("config.heads is \"many\", which is not a size"),
        "{errors}"
    );
    let errors = extents(None, &[("m", 1)]).unwrap_err();
    assert!(
        errors
            .to_string()
            .starts_with("a size is given for `m`, which is not an axis of the recipe"),
        "{errors}"
    );
    let (kind, says) =
        fault(&text.replace("(n d)", "(n:3 d)").replace("'config.heads'", "4"), &tensors);
    assert_eq!(
        (kind, says.as_str()),
        (kind::SIZE, "line 3: `n` has the size 3 in the rule, and 4 is given")
    );
}

#[test]
fn names_that_are_read_in_two_ways_are_refused() {
    let tensors = heads(&[("a.b.a.b.a", F, &[1])]);
    let (kind, says) = fault("[[map]]\nfrom = '{p:*}.b.{r:*}'\nto = '{r:*}.c.{p:*}'", &tensors);
    assert_eq!(kind, kind::NAME);
    assert!(says.contains("\"a.b.a.b.a\" can be read in two ways by `{p:*}.b.{r:*}`"), "{says}");
    let (kind, _) =
        fault("[[map]]\nfrom = 'x{a}{b}'\nto = 'y.{a}.{b}'", &heads(&[("x123", F, &[1])]));
    assert_eq!(kind, kind::NAME);
}

#[test]
fn empty_tensors_and_scalars_are_tensors() {
    let text = "pass = ['none', 'one']\n[[map]]\nfrom = ['a : i h', 'b : j h']\nto = 'c : (i + j) h'\n[[map]]\nfrom = 's : '\nto = 't : () ()'";
    let sources = arrays(&heads(&[
        ("a", F, &[0, 2]),
        ("b", F, &[3, 2]),
        ("s", F, &[]),
        ("none", F, &[0, 4]),
        ("one", F, &[]),
    ]));
    let (made, back) = round(text, &sources);
    assert_eq!((&made["c"].1, &made["t"].0.extents[..]), (&sources[1].1, &[1, 1][..]));
    assert_eq!(back, named(&sources));
}

#[test]
fn blocks_of_elements_move_whole() {
    let text = "[[map]]\nfrom = '{e}.w : i h'\nto = 'all : e i h'";
    let q8 = Dtype::Q8_0;
    let assembly = solve(text, &heads(&[("0.w", q8, &[4, 64]), ("1.w", q8, &[4, 64])]));
    assert_eq!(assembly.made[0].extents, [2, 4, 64]);
    for text in [
        "[[map]]\nfrom = 'w : i h'\nto = 'v : h i'",
        "[[map]]\nfrom = 'w : i (g d:16)'\nto = 'v : g i d'",
    ] {
        let (kind, says) = fault(text, &heads(&[("w", q8, &[32, 64])]));
        assert_eq!(kind, kind::ARITHMETIC);
        assert!(says.contains("\"v\" would take blocks of 32 elements of q8_0 apart"), "{says}");
    }
}

#[test]
fn a_configuration_of_another_model_is_refused_and_the_inverse_has_its_own() {
    let recipe = recipe(
        "for = { model_type = ['a', 'b'], wide = true, 't.n' = [1, 2] }\ninverse_for = { model_type = 'c' }\n[[map]]\nfrom = 'x'\nto = 'y'",
    );
    let heads = heads(&[("x", Dtype::F32, &[2])]);
    let says = |recipe: &Recipe, config: serde_json::Value| -> Vec<String> {
        recipe.contradictions(&config).iter().map(ToString::to_string).collect()
    };
    for config in [
        serde_json::json!({}),
        serde_json::json!({"model_type": "b", "wide": true, "t": {"n": 2}}),
        serde_json::json!({"model_type": null, "t": 3}),
        serde_json::json!({"model_type": ["z", "a"], "t.n": 1}),
        serde_json::json!([1]),
    ] {
        assert_eq!(says(&recipe, config), [""; 0]);
    }
    let wrong = serde_json::json!({"model_type": "c", "wide": false, "t": {"n": 3}});
    assert_eq!(
        says(&recipe, wrong.clone()),
        [
            "`model_type` is \"c\", but the recipe is for \"a\" and \"b\"",
            "`t.n` is 3, but the recipe is for 1 and 2",
            "`wide` is false, but the recipe is for true"
        ]
    );
    let errors = recipe.solve(&heads, Some(&wrong), &Sizes::new()).unwrap_err();
    assert!(errors.iter().all(|error| error.kind() == kind::CONFIG), "{errors}");
    let any = recipe.clone().for_any_config();
    let assembly = any.solve(&heads, Some(&wrong), &Sizes::new()).unwrap();
    // The way back is for this file alone.
    assert!(!assembly.metadata[0].1.contains("for"), "{:?}", assembly.metadata);
    let back = recipe.inverse();
    assert_eq!(says(&back, wrong), [""; 0]);
    assert_eq!(says(&back, serde_json::json!({"model_type": "a"})).len(), 1);
    assert_eq!(back.inverse(), recipe);
    for recipe in [recipe, back] {
        assert_eq!(Recipe::parse(&recipe.to_toml()).unwrap().to_toml(), recipe.to_toml());
    }
    let errors = Recipe::parse("for = { a = 1.5, b = [['c']] }").unwrap_err();
    assert_eq!(errors.iter().count(), 2);
}
