//! Tensors and parts of tensors that a recipe drops, and those that were dropped before: all are reported.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    recipe::Recipe,
    rule::{Rule, expression::Axis},
    solve::{claims::Claims, equations::Solved},
    tensor::Tensor,
};

/// The number of dropped tensors that a sentence names.
const NAMED: usize = 3;

/// Returns a sentence about the tensors with elements that are dropped.
pub(crate) fn tensors(claims: &Claims, tensors: &[Tensor]) -> Option<String> {
    let dropped = claims.dropped.iter().filter_map(|place| tensors.get(*place));
    let names: Vec<String> = dropped
        .filter(|tensor| tensor.elements() != Some(0))
        .map(|tensor| format!("`{}`", tensor.name))
        .collect();
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let verb = if names.len() == 1 { "is" } else { "are" };
    let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| format!("{named}{more} {verb} dropped: not in the result"))
}

/// Returns the places of the tensors with elements that are dropped, all or some of them.
pub(crate) fn places(
    recipe: &Recipe,
    (claims, solved): (&Claims, &[Solved]),
    tensors: &[Tensor],
) -> BTreeSet<usize> {
    let in_part = solved.iter().flat_map(|one| {
        let rule = &recipe.rules[one.instance.rule];
        let gone = |axis: &Axis| {
            rule.drop.contains(&axis.to_string()) && one.sizes.get(axis.base()) != Some(&0)
        };
        let references = rule.from.references.iter().zip(&one.instance.found);
        let cut = references.filter(move |(it, _)| it.axes().any(gone));
        cut.flat_map(|(_, found)| found.values().copied())
    });
    let all = claims.dropped.iter().copied().chain(in_part);
    all.filter(|place| tensors[*place].elements() != Some(0)).collect()
}

/// Returns a sentence for each part.
pub(crate) fn told(recipe: &Recipe, solved: &[Solved]) -> Vec<String> {
    let mut parts: BTreeMap<String, u64> = BTreeMap::new();
    for one in solved {
        let rule = &recipe.rules[one.instance.rule];
        let said = |(axis, side, what): (&String, String, &str)| {
            let size = one.sizes.get(axis)?;
            (*size > 0).then(|| format!("`{axis}` = {size} of {side} {what}"))
        };
        let names = |rule: &Rule, is_from: bool| {
            let side = if is_from { &rule.from } else { &rule.to };
            side.references.iter().map(|it| format!("`{}`", it.text)).collect::<Vec<_>>().join(", ")
        };
        let gone = rule.drop.iter().map(|axis| (axis, names(rule, true), "is dropped"));
        let lost = rule.lost.iter();
        let lost = lost.map(|axis| (axis, names(rule, false), "was dropped and holds the fill"));
        for sentence in gone.chain(lost).filter_map(said) {
            *parts.entry(sentence).or_default() += 1;
        }
    }
    let many = |(says, count): (String, u64)| match count {
        1 => says,
        _ => format!("{says} ({count} times)"),
    };
    parts.into_iter().map(many).collect()
}
