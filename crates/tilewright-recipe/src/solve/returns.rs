//! Solves a recipe with a rule for the rest back: each tensor of the result must become its sources again.
//!
//! The rules of a recipe name their tensors, so their two sides swap. A rule for the rest takes what others leave, and in the
//! inverse others may take its results. Then the recipe is refused.

use std::collections::BTreeSet;

use crate::{
    assembly::{Made, Origin},
    error::{Error, Faults},
    kind,
    recipe::Recipe,
    rule::expression::Sizes,
    solve::given::{self, Outside},
    tensor::Tensor,
};

/// A tensor of the recipe's source, and one that is made of it.
type Links = BTreeSet<(String, String)>;

/// Tells tensors that the inverse would not give back.
pub(crate) fn check(
    (recipe, back): (&Recipe, &Recipe),
    (tensors, made): (&[Tensor], &[Made]),
    faults: &mut Faults,
) {
    let heads: Vec<Tensor> =
        made.iter().map(|made| Tensor::new(&made.name, made.dtype, &*made.extents)).collect();
    // A run of the inverse asks for permission to round, so this check allows it.
    let back = &back.clone().rounding();
    let (sizes, dims) = (Sizes::new(), given::dims(back, &heads));
    let outside = Outside { config: None, dims: &dims, sizes: &sizes };
    let mut wrong = Faults::default();
    let again = match back.stage(&heads, outside, &mut wrong).and_then(|stage| wrong.or(stage.made))
    {
        Ok(again) => again,
        Err(errors) => {
            let says = format!("the inverse would not restore the input: {}", errors.first());
            return faults.push(Error::new(kind::CLAIMED, says));
        }
    };
    let forth = links(made, tensors, &recipe.tie);
    let back: Links =
        links(&again, &heads, &recipe.untie).into_iter().map(|(of, made)| (made, of)).collect();
    if let Some((of, name)) = forth.symmetric_difference(&back).next() {
        let says = format!(
            "{of:?} becomes {name:?}, and the inverse would not restore it; add a rule or a `pass` for it"
        );
        faults.push(Error::new(kind::CLAIMED, says));
    }
}

/// Which tensor is made of which, without second names.
fn links(made: &[Made], tensors: &[Tensor], ties: &[[String; 2]]) -> Links {
    let is_second = |name: &str| ties.iter().any(|[_, second]| second == name);
    let of = |made: &Made| {
        let name = made.name.clone();
        let sources = made.parts.iter().filter_map(|part| match part.origin {
            Origin::Source { tensor, .. } => Some(tensors[tensor].name.clone()),
            Origin::Fill(_) => None,
        });
        sources.map(|source| (source, name.clone())).collect::<Vec<_>>()
    };
    made.iter().filter(|made| !is_second(&made.name)).flat_map(of).collect()
}
