//! Sizes that are known before a tensor is seen: from the caller, the recipe, its rules and the configuration.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_scan::did_you_mean;

use crate::{
    error::{Error, Faults, Kind},
    expression::Sizes,
    quantity::{Lack, Quantity},
    recipe::Recipe,
    reference::Reference,
    rule::Rule,
};

/// What is known for a rule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    pub(crate) sizes: Sizes,
    /// Why a size that the recipe wants from elsewhere has no value.
    pub(crate) lacks: BTreeMap<String, String>,
}

/// Where sizes come from besides the recipe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside<'a> {
    pub(crate) config: Option<&'a serde_json::Value>,
    /// They come before all others.
    pub(crate) sizes: &'a Sizes,
}

/// What is known for each rule.
pub(crate) fn of_rules(recipe: &Recipe, outside: Outside<'_>, faults: &mut Faults) -> Vec<Given> {
    let axes: BTreeSet<&str> = recipe
        .rules
        .iter()
        .flat_map(Rule::references)
        .flat_map(Reference::axes)
        .map(|axis| axis.base())
        .collect();
    for name in outside.sizes.keys() {
        if !axes.contains(name.as_str()) && !recipe.sizes.contains_key(name) {
            let near = did_you_mean(name, axes.iter().copied());
            faults.push(Error::new(
                Kind::Size,
                format!("a size is given for `{name}`, which is no axis of the recipe{near}"),
            ));
        }
    }
    recipe.rules.iter().map(|rule| of_rule(recipe, rule, outside, faults)).collect()
}

fn of_rule(recipe: &Recipe, rule: &Rule, outside: Outside<'_>, faults: &mut Faults) -> Given {
    let mut wanted: BTreeMap<&str, &Quantity> =
        recipe.sizes.iter().map(|(name, size)| (name.as_str(), size)).collect();
    wanted.extend(rule.sizes.iter().map(|(name, size)| (name.as_str(), size)));
    wanted.retain(|name, _| !outside.sizes.contains_key(*name));
    let mut given = Given { sizes: outside.sizes.clone(), lacks: BTreeMap::new() };
    // Sizes may need each other: each turn settles one at least, or it is the last.
    loop {
        let before = wanted.len();
        given.lacks.clear();
        wanted.retain(|name, quantity| match quantity.value(outside.config, &given.sizes) {
            Ok(value) => {
                given.sizes.insert((*name).to_owned(), value);
                false
            }
            Err(Lack::Absent(why)) => {
                given.lacks.insert((*name).to_owned(), format!("{quantity}: {why}"));
                true
            }
            Err(Lack::Wrong(why)) => {
                faults.push(Error::new(
                    Kind::Size,
                    format!("the size of `{name}`, {quantity}: {why}"),
                ));
                false
            }
        });
        if wanted.len() == before {
            break;
        }
    }
    stated(rule, &mut given, faults);
    if let Some(config) = outside.config {
        for axis in rule.references().flat_map(Reference::axes) {
            let value = config.get(axis.base()).and_then(serde_json::Value::as_u64);
            if let Some(value) = value {
                given.sizes.entry(axis.base().to_owned()).or_insert(value);
            }
        }
    }
    given
}

/// Adds the sizes that the texts of the rule state.
fn stated(rule: &Rule, given: &mut Given, faults: &mut Faults) {
    for (axis, size) in rule.stated().unwrap_or_default() {
        let known = *given.sizes.entry(axis.clone()).or_insert(size);
        given.lacks.remove(&axis);
        if known != size {
            let says = format!("`{axis}` has the size {size} in the rule, and {known} is given");
            faults.push(rule.error(Kind::Size, says));
        }
    }
}
