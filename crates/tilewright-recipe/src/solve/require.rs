//! The conditions of a recipe: checked with the sizes that are known at first, and again with those that were solved.

use std::collections::BTreeMap;

use crate::{
    error::{Error, Faults, InFile},
    kind,
    recipe::Recipe,
    rule::expression::Sizes,
    solve::{equations::Solved, given::Outside},
    text::globs::matches,
    value::condition::Condition,
    value::quantity::Scope,
    value::requirement::{Must, Requirement},
};

/// The most divisors that an error offers.
const MOST_OFFERED: usize = 16;

/// Tells the conditions that fail.
pub(crate) fn check(
    recipe: &Recipe,
    (outside, scope): (Outside<'_>, Scope<'_>),
    faults: &mut Faults,
) {
    for required in recipe.require.iter().filter(|one| one.way.is_now()) {
        let Must::That(condition) = &required.must else { continue };
        if !applies(required, scope, faults)
            || faults.take(condition.known(scope)) != Some(Some(false))
        {
            continue;
        }
        let message = match &required.say {
            None => condition.fault(scope) + &choices(recipe, outside, scope, condition),
            Some(say) => with_values(say, &condition.said(scope)),
        };
        let error = Error::new(kind::REQUIRE, message);
        faults.push(error.allowed_by(required.allow.as_deref()));
    }
}

/// Tells tensors that the result must have and has not.
pub(crate) fn check_result<'a>(
    recipe: &Recipe,
    scope: Scope<'_>,
    names: impl Iterator<Item = &'a str> + Clone,
    faults: &mut Faults,
) {
    for required in recipe.require.iter().filter(|one| one.way.is_now()) {
        let Must::Tensor(glob) = &required.must else { continue };
        if !applies(required, scope, faults) || names.clone().any(|name| matches(glob, name)) {
            continue;
        }
        let values = required.when.as_ref().map(|when| when.said(scope)).unwrap_or_default();
        let says = match &required.say {
            Some(say) => say.clone(),
            None => format!("the result needs a tensor `{glob}`, which no rule makes"),
        };
        let error = Error::new(kind::REQUIRE, with_values(&says, &values));
        faults.push(error.allowed_by(required.allow.as_deref()));
    }
}

/// Returns the recipe's notes about a result.
pub(crate) fn notes(recipe: &Recipe, scope: Scope<'_>, faults: &mut Faults) -> Vec<String> {
    let notes = recipe.note.iter().filter(|note| note.way.is_now());
    let held = notes.filter_map(|note| match &note.when {
        None => Some(note.say.clone()),
        Some(when) => {
            faults.take(when.is_met(scope))?.then(|| with_values(&note.say, &when.said(scope)))
        }
    });
    held.collect()
}

/// The sizes that all instances agree about, with those that were known before.
pub(crate) fn agreed(before: &Sizes, solved: &[Solved]) -> Sizes {
    let mut found: BTreeMap<&str, Option<u64>> = BTreeMap::new();
    for (name, size) in solved.iter().flat_map(|one| &one.sizes) {
        let known = found.entry(name).or_insert(Some(*size));
        if *known != Some(*size) {
            *known = None;
        }
    }
    let mut sizes = before.clone();
    for (name, size) in found {
        if let Some(size) = size {
            sizes.entry(name.to_owned()).or_insert(size);
        }
    }
    sizes
}

/// Returns true if the `if` of a requirement holds; a condition that fails to evaluate is a fault.
fn applies(required: &Requirement, scope: Scope<'_>, faults: &mut Faults) -> bool {
    let met = |when: &Condition| faults.take(when.is_met(scope)).unwrap_or(false);
    required.when.as_ref().is_none_or(met)
}

fn with_values(say: &str, values: &str) -> String {
    if values.is_empty() { say.to_owned() } else { format!("{say} ({values})") }
}

/// `; choose T from 1, 2`: the values that divide everything that a given size must divide.
fn choices(
    recipe: &Recipe,
    outside: Outside<'_>,
    scope: Scope<'_>,
    condition: &Condition,
) -> String {
    let failed = condition.divisors().find(|(name, _)| outside.sizes.contains_key(*name));
    let Some((name, _)) = failed else { return String::new() };
    let all = recipe.require.iter().filter(|one| {
        one.way.is_now() && one.when.as_ref().is_none_or(|when| when.holds(scope) == Ok(true))
    });
    let all = all.filter_map(|one| match &one.must {
        Must::That(condition) => Some(condition),
        Must::Tensor(_) => None,
    });
    let divided = all.flat_map(Condition::divisors);
    let divided = divided.filter(|(one, _)| *one == name);
    let common =
        divided.filter_map(|(_, value)| value.of(scope).ok()).fold(0, tilewright_core::gcd);
    let offered: Vec<String> = (1..=common.min(1 << 16))
        .filter(|one| common % one == 0)
        .take(MOST_OFFERED)
        .map(|one| one.to_string())
        .collect();
    if offered.is_empty() {
        String::new()
    } else {
        format!("; choose {name} from {}", offered.join(", "))
    }
}
