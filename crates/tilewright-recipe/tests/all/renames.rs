//! Renames, rules for the rest, and numbers with a factor: names move, and the inverse restores every one of them.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tilewright_core::Dtype;
use tilewright_recipe::{Recipe, Sizes, Tensor, kind};

fn recipe(text: &str) -> Recipe {
    Recipe::parse(text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn tensors<T: AsRef<str>>(names: &[T]) -> Vec<Tensor> {
    names.iter().map(|name| Tensor::new(name.as_ref(), Dtype::F32, [2])).collect()
}

/// The names that a recipe gives to tensors: by old names, the new ones.
fn names<T: AsRef<str>>(
    text: &str,
    of: &[T],
) -> Result<BTreeMap<String, String>, (&'static str, String)> {
    let fault = |errors: tilewright_recipe::Errors| (errors.first().kind(), errors.to_string());
    let heads = tensors(of);
    let assembly =
        Recipe::parse(text).and_then(|it| it.solve(&heads, None, &Sizes::new())).map_err(fault)?;
    // The recorded recipe and the inverse restore the names.
    let made: Vec<Tensor> =
        assembly.made.iter().map(|made| Tensor::new(&made.name, F, [2])).collect();
    for back in [recipe(&assembly.metadata[0].1), recipe(text).inverse()] {
        let again =
            back.solve(&made, None, &Sizes::new()).unwrap_or_else(|it| panic!("{back}\n{it}"));
        let again: BTreeSet<&str> = again.made.iter().map(|made| &*made.name).collect();
        assert_eq!(again, of.iter().map(AsRef::as_ref).collect(), "{back}");
    }
    assert_eq!(recipe(text).inverse().inverse(), recipe(text));
    assert_eq!(recipe(&recipe(text).to_toml()).to_toml(), recipe(text).to_toml());
    let source = |part: &tilewright_recipe::Part| match part.origin {
        tilewright_recipe::Origin::Source { tensor, .. } => heads[tensor].name.clone(),
        tilewright_recipe::Origin::Fill(_) => panic!("a name has no padding"),
    };
    Ok(assembly.made.iter().map(|made| (source(&made.parts[0]), made.name.clone())).collect())
}

const F: Dtype = Dtype::F32;

fn rest(from: &str, to: &str) -> String {
    format!("[[map]]\nfrom = '{from}'\nto = '{to}'\nrest = true\n")
}

fn rename(from: &str, to: &str) -> String {
    format!("[[rename]]\nfrom = '{from}'\nto = '{to}'\n")
}

#[test]
fn a_rule_for_the_rest_takes_what_no_other_rule_takes() {
    let text = "pass = ['head']\n[[map]]\nfrom = 'lm.embed'\nto = 'model.embed'\n".to_owned()
        + &rest("lm.{r:*}", "model.lm.{r:*}")
        + &rest("vision.{r:*}", "model.vision.{r:*}");
    let of = ["head", "lm.embed", "lm.norm", "lm.q.w", "vision.q.w"];
    let got = names(&text, &of).unwrap();
    let expected = ["head", "model.embed", "model.lm.norm", "model.lm.q.w", "model.vision.q.w"];
    assert_eq!(got.values().collect::<Vec<_>>(), expected);
    // The order of rules does not matter.
    let swapped = rest("{r:*}", "model.{r:*}") + "[[map]]\nfrom = 'b'\nto = 'c'";
    assert_eq!(names(&swapped, &["b", "d"]).unwrap()["d"], "model.d");
}

#[test]
fn rules_for_the_rest_refuse_what_other_rules_refuse() {
    let fault = |text: &str, of: &[&str]| names(text, of).unwrap_err();
    let two = rest("a.{r:*}", "x.{r:*}") + &rest("{p:*}.w", "y.{p:*}");
    assert_eq!(fault(&two, &["a.w", "a.b", "c.w"]).0, kind::CLAIMED);
    let (kind, says) = fault(&rest("a.{r:*}", "x.{r:*}"), &["a.w", "b.w"]);
    assert_eq!((kind, says.contains("no rule takes \"b.w\"")), (kind::UNCLAIMED, true));
    let (kind, _) = fault(&("pass = ['*']\n".to_owned() + &rest("a.{r:*}", "x.{r:*}")), &["a.w"]);
    assert_eq!(kind, kind::UNMATCHED);
    // A number beyond its axis is not taken as the rest.
    let numbered = "[sizes]\ne = 2\n[[map]]\nfrom = 'x.{e}.w : i'\nto = 'w : e i'\n".to_owned()
        + &rest("{r:*}", "z.{r:*}");
    let of = ["x.0.w", "x.1.w", "x.2.w", "v"];
    let (kind, says) = fault(&numbered, &of);
    assert_eq!((kind, says.contains("has only 2 of `e`")), (kind::UNCLAIMED, true), "{says}");
}

#[test]
fn a_rest_that_the_inverse_would_not_restore_is_refused() {
    let text =
        "[[map]]\nfrom = 'b'\nto = 'c'\noptional = true\n".to_owned() + &rest("a.{r:*}", "{r:*}");
    assert_eq!(names(&text, &["a.d", "b"]).unwrap()["a.d"], "d");
    let (kind, says) = names(&text, &["a.c", "a.d"]).unwrap_err();
    assert_eq!(kind, kind::CLAIMED);
    assert!(says.contains("\"a.c\" becomes \"c\", and the inverse would not restore it"), "{says}");
    // One that `pass` would keep in the inverse.
    let text = "pass = ['head']\n".to_owned() + &rest("m.{r:*}", "{r:*}");
    assert!(names(&text, &["m.x"]).is_ok());
    assert_eq!(names(&text, &["m.x", "m.head"]).unwrap_err().0, kind::CLAIMED);
}

#[test]
fn renames_are_applied_in_their_order_before_the_rules() {
    let text = "pass = ['*']\n".to_owned()
        + &rename("blocks.{L}.{x:*}", "layers.{L}.{x:*}")
        + &rename("{p:*}.norm1.{x:*}", "{p:*}.norm2.{x:*}")
        + &rename("{p:*}.norm0.{x:*}", "{p:*}.norm1.{x:*}")
        + "[[map]]\nfrom = 'layers.{L}.norm1.w'\nto = 'layers.{L}.first'\n";
    let got = names(&text, &["blocks.0.norm0.w", "blocks.0.norm1.w", "blocks.0.q.w", "head"]);
    let got = got.unwrap();
    let expected = ["layers.0.first", "layers.0.norm2.w", "layers.0.q.w", "head"];
    assert_eq!(got.values().collect::<Vec<_>>(), expected);
    // The other order would call both norms the same.
    let wrong = "pass = ['*']\n".to_owned()
        + &rename("{p:*}.norm0.{x:*}", "{p:*}.norm1.{x:*}")
        + &rename("{p:*}.norm1.{x:*}", "{p:*}.norm2.{x:*}");
    let (kind, says) = names(&wrong, &["a.norm0.w", "a.norm1.w"]).unwrap_err();
    assert_eq!(
        (kind, says.contains("both be called \"a.norm2.w\"")),
        (kind::TWICE, true),
        "{says}"
    );
}

#[test]
fn renames_are_refused_that_lose_names_or_match_none() {
    let fault = |text: &str, of: &[&str]| names(&format!("pass = ['*']\n{text}"), of).unwrap_err();
    let (kind, says) = fault(&rename("a.{x:*}", "b.{x:*}"), &["a.w", "b.v"]);
    assert_eq!(kind, kind::NAME);
    assert!(
        says.contains(
            "\"b.v\" is called \"b.v\" by the renames, and the inverse would call it \"a.v\""
        ),
        "{says}"
    );
    assert_eq!(fault(&rename("a.{x:*}", "b.{x:*}"), &["c"]).0, kind::UNMATCHED);
    let optional =
        "pass = ['*']\n".to_owned() + &rename("a.{x:*}", "b.{x:*}") + "optional = true\n";
    assert!(names(&optional, &["c"]).is_ok());
    assert_eq!(fault(&rename("{x:*}.n.{y:*}", "{x:*}.m.{y:*}"), &["a.n.n.n.b"]).0, kind::NAME);
    for (from, to, says) in [
        ("a.{x:*}", "b", "the field `{x:…}` is in one name only"),
        ("a.{L}", "b.{M}", "is in one name only"),
        ("a : i", "b : i", "a rename has names and no axes"),
        ("a.{(L M)}", "b.{L}.{M}", "a number in a rename is a single axis"),
    ] {
        let (kind, text) = fault(&rename(from, to), &["a.1"]);
        assert_eq!((kind, text.contains(says)), (kind::NAME, true), "{text}");
    }
    assert_eq!(fault("[[rename]]\nfrom = 'a'\n", &["a"]).0, kind::KEY);
}

#[test]
fn even_and_odd_numbers_are_rules_of_their_own() {
    let text = "[[map]]\nfrom = 'h.{2L}.w'\nto = 'l.{L}.attention'\n[[map]]\nfrom = 'h.{2L+1}.w'\nto = 'l.{L}.mlp'\n";
    let of: Vec<String> = (0..6).map(|at| format!("h.{at}.w")).collect();
    let got = names(text, &of).unwrap();
    assert_eq!((&*got["h.4.w"], &*got["h.5.w"]), ("l.2.attention", "l.2.mlp"));
    // Every number is one of them: the digits and the factor give the number back.
    for (factor, offset, width) in
        (1..5).flat_map(|f| (0..5).flat_map(move |o| (0..3).map(move |w| (f, o, w))))
    {
        let field = match width {
            0 => format!("{{{factor}L+{offset}}}"),
            _ => format!("{{{factor}L+{offset}:0{width}}}"),
        };
        let text = format!("pass = ['*']\n[[map]]\nfrom = 'a.{field}'\nto = 'b.{{L}}'\n");
        let all = (0..20u64).map(|number| format!("a.{number:0width$}")).collect::<Vec<String>>();
        let got = names(&text, &all).unwrap();
        for (number, name) in (0..).zip(&all) {
            let digits = u64::checked_sub(number, offset).filter(|above| above % factor == 0);
            let expected = digits.map_or(name.clone(), |above| format!("b.{}", above / factor));
            assert_eq!(got[name], expected, "{field} {name}");
        }
    }
    for text in ["a.{0L}", "a.{2}", "a.{9223372036854775808L}"] {
        assert_eq!(
            names(&format!("[[map]]\nfrom = '{text}'\nto = 'b.{{L}}'"), &["a.0"]).unwrap_err().0,
            kind::NAME
        );
    }
    // A hole in the numbers that are stacked is named by the number in the file.
    let stacked = "[[map]]\nfrom = 'h.{2e}.w : i'\nto = 'w : e i'\n";
    let errors = recipe(stacked).solve(&tensors(&["h.0.w", "h.4.w"]), None, &Sizes::new());
    assert!(errors.unwrap_err().to_string().contains("\"h.2.w\" is missing"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// Random chains on random names: the names come back, or the recipe is refused.
    #[test]
    fn random_chains_restore_all_names_or_are_refused(
        chain in prop::collection::vec(("[ab]", "[ab]", 0usize..4), 0..4),
        names_of in prop::collection::btree_set("[ab](\\.[ab]){0,3}", 1..6),
        rests in prop::collection::vec(("[ab]", "[ab]"), 0..2),
    ) {
        let mut text = "pass = ['*.a']\n".to_owned();
        for (from, to, kind) in &chain {
            let shape = |part: &str| match kind {
                0 => format!("{part}.{{x:*}}"),
                1 => format!("{{x:*}}.{part}"),
                2 => format!("{{x:name}}.{part}.{{y:*}}"),
                _ => part.to_owned(),
            };
            text += &(rename(&shape(from), &shape(to)) + "optional = true\n");
        }
        for (from, to) in &rests {
            text += &(rest(&format!("{from}.{{x:*}}"), &format!("{to}.c.{{x:*}}")) + "optional = true\n");
        }
        text += &(rest("{x:name}", "d.{x:name}") + "optional = true\n");
        let of: Vec<String> = names_of.into_iter().collect();
        // `names` checks both ways back.
        let _ = names(&text, &of);
    }
}
