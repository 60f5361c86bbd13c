//! Parts of tensors that a rule drops, and those that were dropped before: both are reported.

use std::collections::BTreeMap;

use crate::{recipe::Recipe, rule::Rule, solve::equations::Solved};

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
