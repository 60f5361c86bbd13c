//! No text and no list of tensors makes the library panic, run for long, or use memory without bound.

use proptest::prelude::*;
use tilewright_core::Dtype;
use tilewright_recipe::{Expression, Recipe, Sizes, Tensor, kind};

/// Texts near to references.
fn reference() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "a",
        "b",
        "c'",
        "~v",
        "(",
        ")",
        " + ",
        " ",
        "…",
        "...",
        ":2",
        ":0",
        ":9223372036854775807",
        "{L}",
        "{e}",
        "{x:*}",
        "{y:name}",
        "{(a b)}",
        "{a+3}",
        "{v+t}",
        "{e:02}",
        "{2a}",
        "{3e+1}",
        ".",
        "w",
        " : ",
        "{",
        "}",
        "é",
        "\u{0}",
        "99999999999999999999",
        "'",
        ":",
        "+",
        "~",
    ]);
    prop::collection::vec(token, 0..14).prop_map(|tokens| tokens.concat())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\u{0}', "\\u0000"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,60}") {
        _ = Expression::parse(&text);
        _ = Recipe::parse(&text);
    }

    #[test]
    fn any_rule_is_solved_or_refused(
        from in prop::collection::vec(reference(), 1..3),
        to in prop::collection::vec(reference(), 1..3),
        names in prop::collection::vec("[a.w0-3]{0,6}", 0..4),
        extents in prop::collection::vec(prop::sample::select(vec![0, 1, 2, 6, 1 << 40, u64::MAX]), 0..4),
        size in prop::sample::select(vec![0, 1, 2, 1 << 20, i64::MAX as u64, u64::MAX]),
        more in prop::sample::select(vec![
            "",
            "rest = true",
            "drop = ['a']",
            "lost = ['b']",
            "unequal = { a = 'e' }",
            "unequal = { a = { by = 'b', sizes = [1, 0, 9223372036854775807] } }",
            "round = true\nfrom_dtype = 'f32'\ndtype = 'bf16'",
        ]),
        renames in prop::collection::vec((reference(), reference()), 0..3),
    ) {
        let list = |texts: &[String]| texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ");
        let mut text = format!("pass = [\"*\"]\n[[map]]\nfrom = [{}]\nto = [{}]\noptional = true\n{more}\n", list(&from), list(&to));
        for (from, to) in &renames {
            let one = format!("[[rename]]\nfrom = {}\nto = {}\noptional = true\n", quoted(from), quoted(to));
            // Most pairs of texts are no rename; those stay away, so that the rules are tried.
            text += if Recipe::parse(&one).is_ok() { &one } else { "" };
        }
        if let Ok(recipe) = Recipe::parse(&text) {
            assert_eq!(Recipe::parse(&recipe.to_toml()).unwrap().to_toml(), recipe.to_toml());
            _ = recipe.to_string();
            let tensors: Vec<Tensor> = names.iter().map(|name| Tensor::new(name.clone(), Dtype::F32, extents.clone())).collect();
            for name in ["a", "v", "~v", "t", "c"] {
                _ = recipe.solve(&tensors, None, &Sizes::from([(name.into(), size)]));
                _ = recipe.inverse().solve(&tensors, None, &Sizes::from([(name.into(), size)]));
            }
            _ = recipe.solve(&tensors, None, &Sizes::new());
        }
    }
}

fn kind(recipe: &str, tensors: &[Tensor]) -> &'static str {
    match Recipe::parse(recipe) {
        Ok(recipe) => recipe.solve(tensors, None, &Sizes::new()).unwrap_err().first().kind(),
        Err(errors) => errors.first().kind(),
    }
}

#[test]
fn large_things_are_refused_by_bounds() {
    let rule = |from: &str, to: &str| format!("[[map]]\nfrom = \"{from}\"\nto = \"{to}\"");
    // Terms that double with each bracket.
    let sums = "(a + b) ".repeat(40);
    assert_eq!(kind(&rule(&format!("x : {sums}"), "y : a"), &[]), kind::EXPRESSION);
    let fields = "{(a + b)}".repeat(30);
    assert_eq!(kind(&rule(&format!("x{fields}"), "y"), &[]), kind::LIMIT);
    assert_eq!(kind(&rule(&"x".repeat(5000), "y"), &[]), kind::LIMIT);
    assert_eq!(kind(&rule(&format!("x : {}", "(".repeat(3000)), "y"), &[]), kind::EXPRESSION);
    assert_eq!(kind(&format!("pass = {}", "[".repeat(100_000)), &[]), kind::TOML);
    assert_eq!(kind(&"#".repeat(5 << 20), &[]), kind::LIMIT);
    // One tensor for each index of a dim of 2^40: beyond the limit of tensors.
    let tensor = Tensor::new("x", Dtype::F32, [1 << 40]);
    assert_eq!(kind(&rule("x : e", "y.{e} : "), std::slice::from_ref(&tensor)), kind::LIMIT);
    let copies = format!(
        "{}\ncopies = ['c']\nsizes = {{ c = 9223372036854775807 }}",
        rule("x : e", "y : c e")
    );
    assert_eq!(kind(&copies, std::slice::from_ref(&tensor)), kind::LIMIT);
    // Sizes without end: a table of too many, and all of them again for each rule.
    let many = |count: usize| (0..count).map(|at| format!("s{at} = 1\n")).collect::<String>();
    assert_eq!(kind(&format!("[sizes]\n{}", many(5000)), &[]), kind::LIMIT);
    let each = format!("{}\nsizes = {{ e = 1 }}\n", rule("x : e", "y : e")).repeat(200);
    assert_eq!(kind(&format!("[sizes]\n{}{each}", many(4000)), &[]), kind::LIMIT);
    // Patterns of conditions, compared with all names.
    let globs: Vec<String> =
        (0..300).map(|at| format!("\"count('*{at}{}') == 0\"", "*a".repeat(400))).collect();
    let names = format!("{}\n", rule(&format!("{}b", "a".repeat(3000)), "y")).repeat(300);
    let errors = Recipe::parse(&format!("require = [{}]\n{names}", globs.join(","))).unwrap_err();
    assert_eq!(errors.iter().last().unwrap().kind(), kind::LIMIT);
    // Renames that make names longer than names are.
    let long = "[[rename]]\nfrom = 'x{a:*}'\nto = 'xxxxxxxxx{a:*}'\n".repeat(500);
    assert_eq!(kind(&long, &[Tensor::new("xy", Dtype::F32, [1])]), kind::LIMIT);
    let many = "[[rename]]\nfrom = 'x{a:*}'\nto = 'y{a:*}'\n".repeat(2000);
    assert_eq!(kind(&many, &[]), kind::LIMIT);
    // Names that are longer than names are.
    let long = Tensor::new("x.".repeat(4000), Dtype::F32, [1]);
    assert_eq!(kind(&rule("{a:*}.{b:*}.{c:*}.y", "{a:*}{b:*}{c:*}"), &[long]), kind::LIMIT);
}

#[test]
fn a_checkpoint_of_many_tensors_is_solved() {
    let recipe = tilewright_recipe::shipped()
        .iter()
        .find(|one| one.name == "moe-experts-to-fused")
        .unwrap()
        .recipe()
        .unwrap();
    let mut tensors = vec![Tensor::new("lm_head.weight", Dtype::Bf16, [64, 32])];
    let layers = tilewright_testing::cases(61, 16);
    for layer in 0..layers {
        for expert in 0..128 {
            for (name, extents) in [("gate", [24, 32]), ("up", [24, 32]), ("down", [32, 24])] {
                let name = format!("model.layers.{layer}.mlp.experts.{expert}.{name}_proj.weight");
                tensors.push(Tensor::new(name, Dtype::Bf16, extents));
            }
        }
    }
    let assembly = recipe.solve(&tensors, None, &Sizes::new()).unwrap();
    assert_eq!(assembly.made.len(), 1 + 2 * layers);
    assert_eq!(assembly.made.iter().map(|made| made.parts.len()).sum::<usize>(), tensors.len());
}
