//! Checks of a solution, and reports about it.
//!
//! - The conditions of a recipe are checked with the sizes that are known at first, and again with those that were solved.
//! - An axis in names has one size in all instances of a rule. Axes that the recipe calls the same have one size everywhere.
//! - Elements of some types share bytes: recipes move whole blocks of them, in their order.
//! - A rule rounds tensors from f32 to bf16 only if the caller allows it.
//! - Tensors and parts that are rounded or dropped are reported, and those that were dropped before.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_core::Dtype;

use crate::{
    assembly::{Made, Origin, Part},
    error::{Error, Faults, InFile},
    kind,
    recipe::{ROUND, Recipe},
    rule::{
        Rule,
        expression::{Axis, Sizes},
    },
    solve::{
        claims::Claims,
        equations::{Solved, said},
        given::Outside,
    },
    tensor::{Tensor, matches},
    value::{
        condition::{Condition, Must, Requirement},
        quantity::Scope,
    },
};

/// The most divisors that an error offers.
const MOST_OFFERED: usize = 16;

/// Tells the conditions that fail.
pub(crate) fn check_requirements(
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

/// Tells sizes that differ from those of the first instance.
pub(crate) fn check_uniform(recipe: &Recipe, solved: &[Solved], faults: &mut Faults) {
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

/// The refusal of a result that takes blocks apart.
pub(crate) fn broken_blocks(made: &Made, tensors: &[Tensor]) -> Option<Error> {
    let elements = u64::from(made.dtype.block()?.elements);
    let rows = |extents: &[u64]| extents.last().is_none_or(|row| row.is_multiple_of(elements));
    let whole = |part: &Part| {
        let multiple = |number: u64| number.is_multiple_of(elements);
        let run = part
            .digits
            .last()
            .is_some_and(|digit| (digit.source, digit.made) == (1, 1) && multiple(digit.extent));
        let outer = part
            .digits
            .iter()
            .rev()
            .skip(1)
            .all(|digit| multiple(digit.source) && multiple(digit.made));
        match part.origin {
            Origin::Source { tensor, offset } => {
                run && outer
                    && multiple(offset)
                    && multiple(part.offset)
                    && rows(&tensors[tensor].extents)
            }
            Origin::Fill(_) => false,
        }
    };
    if rows(&made.extents) && made.parts.iter().all(whole) {
        return None;
    }
    let says = format!(
        "{:?} would take blocks of {elements} elements of {} apart, which needs arithmetic; only whole rows of blocks can move",
        made.name,
        made.dtype.name()
    );
    Some(Error::new(kind::ARITHMETIC, says))
}

/// The number of rounded tensors that a sentence names, and of dropped ones.
const MOST_ROUNDED: usize = 8;
const MOST_DROPPED: usize = 3;

/// Returns the tensors of the source that are rounded, and sentences that name them.
pub(crate) fn rounded(
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
    let names = |places: &BTreeSet<usize>| {
        let names: Vec<String> =
            places.iter().map(|place| format!("{:?}", tensors[*place].name)).collect();
        first_of(&names, MOST_ROUNDED)
    };
    let rounded = taken(|rule| rule.round && rule.to.dtype == Some(Dtype::Bf16));
    let back = taken(|rule| rule.round && rule.to.dtype == Some(Dtype::F32));
    let rule = recipe.rules.iter().find(|rule| rule.round);
    if let Some(rule) = rule.filter(|_| !rounded.is_empty() && !recipe.rounding) {
        let says = format!("{} would be rounded from f32 to bf16", names(&rounded));
        faults.push(Error::new(kind::REQUIRE, says).allowed_by(Some(ROUND)).on(&rule.place));
    }
    let say = |of: &BTreeSet<usize>, says: &str| {
        let verb = if of.len() == 1 { "is" } else { "are" };
        (!of.is_empty()).then(|| format!("{} {verb} {says}", names(of)))
    };
    let told = [
        say(&rounded, "rounded from f32 to bf16"),
        say(&back, "f32 again, but with the values that were rounded to bf16"),
    ];
    (rounded, told.into_iter().flatten().collect())
}

/// Returns a sentence about the tensors with elements that are dropped.
pub(crate) fn dropped_tensors(claims: &Claims, tensors: &[Tensor]) -> Option<String> {
    let dropped = claims.dropped.iter().filter_map(|place| tensors.get(*place));
    let names: Vec<String> = dropped
        .filter(|tensor| tensor.elements() != Some(0))
        .map(|tensor| format!("`{}`", tensor.name))
        .collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    (!names.is_empty())
        .then(|| format!("{} {verb} dropped: not in the result", first_of(&names, MOST_DROPPED)))
}

/// The first names of a list, up to a number, and how many more there are.
fn first_of(names: &[String], most: usize) -> String {
    let first = names[..names.len().min(most)].join(", ");
    match names.len().saturating_sub(most) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Returns the places of the tensors with elements that are dropped, all or some of them.
pub(crate) fn dropped_places(
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
pub(crate) fn dropped_parts(recipe: &Recipe, solved: &[Solved]) -> Vec<String> {
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
