//! Parts of tensors: pieces of unequal extents, parts that are dropped, and elements that are rounded.

use std::collections::BTreeMap;

use tilewright_core::Dtype;
use tilewright_recipe::{Recipe, Sizes, Tensor, kind};

use crate::interpreter::{Array, run};

fn recipe(text: &str) -> Recipe {
    Recipe::parse(text).unwrap_or_else(|errors| panic!("{errors}"))
}

/// An array of numbers from `first` on.
fn array(name: &str, extents: &[u64], first: u32) -> Array {
    let head = Tensor::new(name, Dtype::U32, extents);
    let count = head.elements().unwrap() as u32;
    (head, (first..first + count).flat_map(u32::to_le_bytes).collect())
}

fn heads(arrays: &[Array]) -> Vec<Tensor> {
    arrays.iter().map(|(head, _)| head.clone()).collect()
}

/// What a recipe makes of arrays, and the recipe that it records.
fn applied(recipe: &Recipe, arrays: &[Array]) -> (BTreeMap<String, Array>, Recipe, Vec<String>) {
    let assembly = recipe
        .solve(&heads(arrays), None, &Sizes::new())
        .unwrap_or_else(|errors| panic!("{errors}"));
    let back = self::recipe(&assembly.metadata[0].1);
    (run(&assembly, arrays).unwrap(), back, assembly.notes)
}

fn fault(text: &str, tensors: &[Tensor]) -> (&'static str, String) {
    let errors = Recipe::parse(text)
        .and_then(|recipe| recipe.solve(tensors, None, &Sizes::new()))
        .expect_err("it must be refused");
    (errors.first().kind(), errors.to_string())
}

const PIECES: &str = "[[map]]\nfrom = 't.{s+1} : n d'\nto = 't : (s n) d'\nunequal = { n = 's' }\n";

#[test]
fn pieces_of_any_extents_become_one_tensor_and_come_apart_again() {
    // All lists of up to four pieces of 0 to 3 rows, or of up to three.
    let lists = (1..tilewright_testing::cases(5usize, 4)).flat_map(|count| {
        (0..4usize.pow(count as u32))
            .map(move |code| (0..count).map(|at| code as u64 >> (2 * at) & 3).collect::<Vec<u64>>())
    });
    for rows in lists {
        let mut first = 1;
        let mut pieces = Vec::new();
        for (at, rows) in rows.iter().enumerate() {
            pieces.push(array(&format!("t.{}", at + 1), &[*rows, 2], first));
            first += 2 * *rows as u32;
        }
        let recipe = recipe(PIECES);
        let (made, back, _) = applied(&recipe, &pieces);
        assert_eq!(made["t"], array("t", &[rows.iter().sum(), 2], 1), "{rows:?}");
        let list: Vec<Array> = made.values().cloned().collect();
        let named = pieces.iter().map(|it| (it.0.name.clone(), it.clone())).collect();
        assert_eq!(applied(&back, &list).0, named, "{back}");
        // The recorded recipe is exact both ways too, and so is one that states the sizes.
        assert_eq!(applied(&back.inverse(), &pieces).0, made);
        let stated = PIECES.replace("'s' }", &format!("{{ by = 's', sizes = {rows:?} }} }}"));
        assert_eq!(applied(&self::recipe(&stated).inverse(), &list).0, named);
    }
}

#[test]
fn pieces_may_be_inner_digits_of_layers_beside_other_tensors() {
    let text = "[[map]]\nfrom = ['l.{L}.t.{s} : n d', 'l.{L}.last : m d']\nto = 'l.{L}.t : d (s n + m)'\nunequal = { n = 's' }\n";
    let mut pieces = Vec::new();
    // The layers have other sizes.
    for layer in 0..2u64 {
        for (at, rows) in [2 + layer, 1].into_iter().enumerate() {
            pieces.push(array(
                &format!("l.{layer}.t.{at}"),
                &[rows, 3],
                1 + 100 * layer as u32 + 10 * at as u32,
            ));
        }
        pieces.push(array(&format!("l.{layer}.last"), &[2, 3], 50 + 100 * layer as u32));
    }
    let (made, back, _) = applied(&recipe(text), &pieces);
    assert_eq!(made["l.1.t"].0.extents, [3, 6]);
    let bytes = &made["l.0.t"].1;
    let row: Vec<u32> =
        bytes.as_chunks::<4>().0[..5].iter().map(|it| u32::from_le_bytes(*it)).collect();
    assert_eq!(row, [1, 4, 11, 50, 53]);
    let list: Vec<Array> = made.values().cloned().collect();
    let named: BTreeMap<_, _> = pieces.iter().map(|it| (it.0.name.clone(), it.clone())).collect();
    assert_eq!(applied(&back, &list).0, named);
}

#[test]
fn unequal_pieces_are_refused_with_holes_or_other_sizes() {
    let tensors = |numbers: &[u64]| -> Vec<Tensor> {
        numbers.iter().map(|at| Tensor::new(format!("t.{at}"), Dtype::F32, [at + 1, 2])).collect()
    };
    let (kind, says) = fault(PIECES, &tensors(&[1, 3]));
    assert_eq!(
        (kind, says.contains("no tensor matches `t.{s+1} : n d`")),
        (kind::MISSING, true),
        "{says}"
    );
    assert_eq!(fault(PIECES, &tensors(&[0])).0, kind::UNMATCHED);
    let stated = PIECES.replace("'s' }", "{ by = 's', sizes = [2, 4] } }");
    let (kind, says) = fault(&stated, &tensors(&[1, 2]));
    assert_eq!((kind, says.contains("`n_1` is 4")), (kind::EXTENT, true), "{says}");
    // The inverse without sizes does not know where to cut.
    let back = recipe(PIECES).inverse().to_toml();
    let (kind, says) = fault(&back, &[Tensor::new("t", Dtype::F32, [5, 2])]);
    assert_eq!(
        (kind, says.contains("state them: unequal = { n = { by = \"s\", sizes")),
        (kind::UNSOLVED, true),
        "{says}"
    );
    for (from, to, unequal) in [
        ("t.{s} : n d", "t : (n s) d", "n = 's'"),
        ("t.{s} : n d", "u.{s} : n d", "n = 's'"),
        ("t.{s} : n d", "t : (s n) d", "m = 's'"),
        ("t.{s} : n d", "t : (s n) d", "n = 'n'"),
        ("t.{s} : n n_1", "t : (s n) n_1", "n = 's'"),
        ("t.{s} : n n'", "t : (s n) n'", "n = 's'"),
    ] {
        let text =
            format!("[[map]]\nfrom = \"{from}\"\nto = \"{to}\"\nunequal = {{ {unequal} }}\n");
        assert_eq!(fault(&text, &[]).0, kind::TERMS, "{text}");
    }
    let many: Vec<u64> = (1..1100).collect();
    assert_eq!(fault(PIECES, &tensors(&many)).0, kind::LIMIT);
    for value in
        ["{ n = { sizes = [1] } }", "{ n = 3 }", "{ n = { by = 's', sizes = ['x'] } }", "3"]
    {
        let text = PIECES.replace("{ n = 's' }", value);
        assert!(Recipe::parse(&text).is_err(), "{text}");
    }
}

const ROWS: &str =
    "[[map]]\nfrom = 'head : (v + x) h'\nto = 'head : v h'\ndrop = ['x']\nsizes = { v = 3 }\n";

#[test]
fn a_part_that_is_dropped_is_reported_and_comes_back_as_the_fill() {
    for rows in 3..6u64 {
        let source = array("head", &[rows, 2], 1);
        let (made, back, notes) = applied(&recipe(ROWS), std::slice::from_ref(&source));
        assert_eq!(made["head"], array("head", &[3, 2], 1));
        let says = format!("`x` = {} of `head : (v + x) h` is dropped", rows - 3);
        assert_eq!(notes, if rows > 3 { vec![says] } else { Vec::new() });
        let list: Vec<Array> = made.values().cloned().collect();
        let (again, _, notes) = applied(&back, &list);
        let mut zeros = source.clone();
        zeros.1[24..].fill(0);
        assert_eq!(again["head"], zeros);
        assert_eq!(notes.len(), usize::from(rows > 3), "{notes:?}");
    }
    let (kind, says) =
        fault(&recipe(ROWS).inverse().to_toml(), &[Tensor::new("head", Dtype::F32, [3, 2])]);
    assert_eq!((kind, says.contains("the size of `x`")), (kind::UNSOLVED, true), "{says}");
    for (drop, to) in [("y", "v h"), ("v", "v h"), ("x", "(v + x) h"), ("h", "v h")] {
        let text = ROWS
            .replace("['x']", &format!("['{drop}']"))
            .replace("head : v h", &format!("head : {to}"));
        assert_eq!(fault(&text, &[]).0, kind::TERMS, "{text}");
    }
    // Without `drop` the part is a fault of the rule.
    assert_eq!(fault(&ROWS.replace("drop = ['x']\n", ""), &[]).0, kind::TERMS);
}

/// A rule for the rest is checked by the inverse, and the inverse of the way back rounds.
#[test]
fn the_way_back_of_a_rounding_recipe_may_have_a_rule_for_the_rest() {
    let text = "[[map]]\nfrom = 'a'\nto = 'a'\nfrom_dtype = 'f32'\ndtype = 'bf16'\nround = true\n[[map]]\nfrom = 'old.{r:*}'\nto = 'new.{r:*}'\nrest = true\n";
    let tensors: Vec<Tensor> = ["a", "old.w"].map(|name| Tensor::new(name, Dtype::F32, [2])).into();
    let assembly = recipe(text).allowing(["round"]).unwrap().solve(&tensors, None, &Sizes::new());
    let assembly = assembly.unwrap();
    let made: Vec<Tensor> = assembly
        .made
        .iter()
        .map(|made| Tensor::new(&made.name, made.dtype, made.extents.clone()))
        .collect();
    let back = recipe(&assembly.metadata[0].1).solve(&made, None, &Sizes::new()).unwrap();
    assert!(back.made.iter().all(|made| made.dtype == Dtype::F32) && back.rounded.is_empty());
}

#[test]
fn f32_is_rounded_only_if_rule_and_caller_say_so() {
    let text = "pass = ['w']\n[[map]]\nfrom = '{p:name}.bias'\nto = '{p:name}.bias'\nfrom_dtype = 'f32'\ndtype = 'bf16'\nround = true\n";
    let tensors: Vec<Tensor> =
        ["a.bias", "b.bias", "w"].map(|name| Tensor::new(name, Dtype::F32, [2])).into();
    let (kind, says) = fault(text, &tensors);
    assert_eq!(kind, kind::REQUIRE);
    assert!(says.contains("\"a.bias\", \"b.bias\" would be rounded from f32 to bf16"), "{says}");
    let assembly = recipe(text).allowing(["round"]).unwrap().solve(&tensors, None, &Sizes::new());
    let assembly = assembly.unwrap();
    assert_eq!(assembly.rounded, [0, 1].into());
    assert_eq!(assembly.notes, ["\"a.bias\", \"b.bias\" are rounded from f32 to bf16"]);
    // The way back widens, and needs no word of the caller.
    let made: Vec<Tensor> = assembly
        .made
        .iter()
        .map(|made| Tensor::new(&made.name, made.dtype, made.extents.clone()))
        .collect();
    let back = recipe(&assembly.metadata[0].1).solve(&made, None, &Sizes::new()).unwrap();
    assert!(back.made.iter().all(|made| made.dtype == Dtype::F32) && back.rounded.is_empty());
    assert!(back.notes[0].contains("that were rounded"), "{:?}", back.notes);
    // A recipe that does not round has nothing to allow, and a rule without `round` stays exact.
    assert!(recipe("pass = ['w']").allowing(["round"]).is_err());
    let exact = recipe(&text.replace("round = true\n", "")).solve(&tensors, None, &Sizes::new());
    assert!(exact.unwrap().rounded.is_empty());
    let (kind, _) = fault(&text.replace("'bf16'", "'f16'"), &tensors);
    assert_eq!(kind, kind::KEY);
}
