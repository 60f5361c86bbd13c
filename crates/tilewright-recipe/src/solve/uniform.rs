//! Axes in names have one size in all instances of a rule, and axes that the recipe calls the same one size everywhere.

use std::collections::BTreeMap;

use crate::{
    error::Faults,
    kind,
    recipe::Recipe,
    solve::equations::{Solved, said},
};

/// Tells sizes that differ from those of the first instance.
pub(crate) fn check(recipe: &Recipe, solved: &[Solved], faults: &mut Faults) {
    // By rule, or for the whole recipe.
    let mut first: BTreeMap<(Option<usize>, &str), &Solved> = BTreeMap::new();
    for one in solved {
        let rule = &recipe.rules[one.instance.rule];
        let counted = rule.counted().into_iter().filter(|axis| !rule.varying.contains(axis));
        let counted: Vec<String> = counted.collect();
        let keys = |axis: &str| one.instance.keys.keys().any(|key| key.base() == axis);
        let same = recipe.same.iter().filter(|axis| one.sizes.contains_key(*axis) && !keys(axis));
        let stands = |axis: &str| {
            rule.references().flat_map(|reference| reference.axes()).any(|one| one.base() == axis)
        };
        let same = same.filter(|axis| stands(axis)).map(|axis| (None, axis));
        for (scope, axis) in counted.iter().map(|axis| (Some(one.instance.rule), axis)).chain(same)
        {
            let Some((name, size)) = one.sizes.get_key_value(axis.as_str()) else { continue };
            let other = *first.entry((scope, name.as_str())).or_insert(one);
            let theirs = other.sizes.get(name).copied().unwrap_or(*size);
            if theirs != *size {
                let line = recipe.rules[other.instance.rule].place.line;
                let says = format!(
                    "`{axis}` is {size}{}, and {theirs}{} in the rule of line {line}; {}",
                    said(&one.instance),
                    said(&other.instance),
                    match scope {
                        Some(_) => "if the sizes may differ, add `varying`",
                        None => "`same` requires one size everywhere",
                    }
                );
                faults.push(rule.error(kind::VARYING, says));
            }
        }
    }
}
