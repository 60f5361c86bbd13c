//! Tensors that a rule rounds from f32 to bf16: only if the caller allows it, and each is reported.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_core::Dtype;

use crate::{
    error::{Error, Faults, InFile},
    kind,
    recipe::{ROUND, Recipe},
    rule::Rule,
    solve::equations::Solved,
    tensor::Tensor,
};

/// The most tensors that a note names.
const MOST_NAMED: usize = 8;

/// Returns the tensors of the source that are rounded, and sentences that name them.
pub(crate) fn of(
    recipe: &Recipe,
    solved: &[Solved],
    tensors: &[Tensor],
    faults: &mut Faults,
) -> (BTreeSet<usize>, Vec<String>) {
    let taken = |is: fn(&Rule) -> bool| -> BTreeSet<usize> {
        let meant = solved.iter().filter(|one| is(&recipe.rules[one.instance.rule]));
        meant
            .flat_map(|one| one.instance.found.iter().flat_map(BTreeMap::values))
            .copied()
            .collect()
    };
    let rounded = taken(|rule| rule.round && rule.to.dtype == Some(Dtype::Bf16));
    let back = taken(|rule| rule.round && rule.to.dtype == Some(Dtype::F32));
    let rule = recipe.rules.iter().find(|rule| rule.round);
    if let Some(rule) = rule.filter(|_| !rounded.is_empty() && !recipe.rounding) {
        let names = named(&rounded, tensors);
        let says = format!("{names} would be rounded from f32 to bf16");
        faults.push(Error::new(kind::REQUIRE, says).allowed_by(Some(ROUND)).on(&rule.place));
    }
    let say = |of: &BTreeSet<usize>, says: &str| {
        let verb = if of.len() == 1 { "is" } else { "are" };
        (!of.is_empty()).then(|| format!("{} {verb} {says}", named(of, tensors)))
    };
    let told = [
        say(&rounded, "rounded from f32 to bf16"),
        say(&back, "f32 again, but with the values that were rounded to bf16"),
    ];
    (rounded, told.into_iter().flatten().collect())
}

/// Names of tensors, up to a number.
fn named(tensors: &BTreeSet<usize>, all: &[Tensor]) -> String {
    let names: Vec<String> =
        tensors.iter().take(MOST_NAMED).map(|place| format!("{:?}", all[*place].name)).collect();
    let more = match tensors.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.join(", ") + &more
}
