//! Assigns tensors to rules. Law: every tensor is taken once.
//!
//! Numbers in names tell the instances of rules apart, as those of layers do. They count from 0 without a hole, and each
//! rule takes tensors of all of them ([`check_layers`]).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error::{Error, Faults},
    kind,
    recipe::Recipe,
    rule::{
        Reference, Rule,
        expression::{Axis, Node, Sizes},
        name::{NamePiece, NameValues, Number, Offset},
    },
    solve::given::Given,
    tensor::{Tensor, matches_any},
};

/// The tensors that an instance of a rule takes: by reference and by the numbers of the names, places in the list.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) rule: usize,
    pub(crate) texts: BTreeMap<String, String>,
    /// The values of the axes that number instances.
    pub(crate) keys: BTreeMap<Axis, u64>,
    pub(crate) found: Vec<BTreeMap<Vec<u64>, usize>>,
}

/// The key that distinguishes instances of a rule: texts, and values of axes.
type ClaimKey = (BTreeMap<String, String>, BTreeMap<Axis, u64>);

/// The use of each tensor: taken by an instance, untied, passed or dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claims {
    pub(crate) instances: Vec<Instance>,
    /// Second names that go, and their first ones.
    pub(crate) untied: Vec<(usize, usize)>,
    /// Tensors that are passed through.
    pub(crate) passed: Vec<usize>,
    pub(crate) dropped: Vec<usize>,
}

/// A tensor that a rule takes.
struct Taken {
    reference: usize,
    read: NameValues,
}

/// Assigns the tensors to rules; their names are different.
pub(crate) fn of(
    recipe: &Recipe,
    given: &[Given],
    tensors: &[Tensor],
    faults: &mut Faults,
) -> Claims {
    let mut claims = Claims::default();
    let set_aside = set_aside(recipe, tensors, &mut claims, faults);
    let mut claimed: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let mut beyond: BTreeMap<usize, Error> = BTreeMap::new();
    for (at, rule) in rest_last(recipe) {
        let free = |place: &usize| {
            !set_aside.contains(place)
                && (!rule.rest || is_left(recipe, &tensors[*place], claimed.get(place)))
                && (!rule.rest || !beyond.contains_key(place))
        };
        let free: Vec<usize> = (0..tensors.len()).filter(free).collect();
        if let Some(error) = unknown_offset(rule, &given[at]) {
            faults.push(error);
            continue;
        }
        let mut instances: BTreeMap<ClaimKey, Instance> = BTreeMap::new();
        let keys = rule.keys();
        let mut matched = rule.optional;
        for (place, tensor) in free.into_iter().map(|place| (place, &tensors[place])) {
            for taken in takers(rule, &given[at], (place, tensor), &mut beyond, faults) {
                matched = true;
                if let Some(first) = claimed.insert(place, (at, taken.reference)) {
                    faults.push(claimed_twice(recipe, &tensor.name, first, (at, taken.reference)));
                    continue;
                }
                let keys = key_values(rule, &taken, &keys);
                let instance = instances
                    .entry((taken.read.texts.clone(), keys.clone()))
                    .or_insert_with(|| Instance {
                        rule: at,
                        texts: taken.read.texts.clone(),
                        keys,
                        found: vec![BTreeMap::new(); rule.from.references.len()],
                    });
                instance.found[taken.reference].insert(taken.read.numbers, place);
            }
        }
        if !matched {
            faults.push(unmatched(rule));
        }
        claims.instances.extend(instances.into_values());
    }
    let left = (0..tensors.len())
        .filter(|place| !set_aside.contains(place) && !claimed.contains_key(place));
    for place in left {
        match beyond.remove(&place) {
            Some(error) => faults.push(error),
            None if matches_any(&recipe.pass, &tensors[place].name) => claims.passed.push(place),
            None => faults.push(unclaimed(&tensors[place].name)),
        }
    }
    claims
}

/// The rules by number: those that take the rest come after all others.
fn rest_last(recipe: &Recipe) -> impl Iterator<Item = (usize, &Rule)> {
    let of = |rest| recipe.rules.iter().enumerate().filter(move |(_, rule)| rule.rest == rest);
    of(false).chain(of(true))
}

/// Returns true if a rule for the rest may take a tensor: no other rule does, or another rule for the rest, and `pass` does
/// not name it.
fn is_left(recipe: &Recipe, tensor: &Tensor, claimed: Option<&(usize, usize)>) -> bool {
    match claimed {
        Some((other, _)) => recipe.rules[*other].rest,
        None => !matches_any(&recipe.pass, &tensor.name),
    }
}

/// Sets aside the tensors that are dropped, and second names that are removed.
fn set_aside(
    recipe: &Recipe,
    tensors: &[Tensor],
    claims: &mut Claims,
    faults: &mut Faults,
) -> BTreeSet<usize> {
    let dropped = |place: &usize| matches_any(&recipe.drop, &tensors[*place].name);
    claims.dropped = (0..tensors.len()).filter(dropped).collect();
    let at = |name: &str| tensors.iter().position(|tensor| tensor.name == name);
    for [first, second] in &recipe.untie {
        match (at(first), at(second)) {
            (Some(first), Some(second)) if first != second => claims.untied.push((first, second)),
            (None, Some(_)) => {
                faults.push(Error::new(
                    kind::TIE,
                    format!("`{second}` is a second name of `{first}`, which is missing"),
                ));
            }
            (Some(_) | None, _) => {}
        }
    }
    let untied = claims.untied.iter().map(|(_, second)| *second);
    claims.dropped.iter().copied().chain(untied).collect()
}

/// The references of a rule that take a tensor. A number beyond the size of its axis is recorded, for the case that nobody
/// takes the tensor.
fn takers(
    rule: &Rule,
    given: &Given,
    (place, tensor): (usize, &Tensor),
    beyond: &mut BTreeMap<usize, Error>,
    faults: &mut Faults,
) -> Vec<Taken> {
    let mut takers = Vec::new();
    for (at, reference) in rule.from.references.iter().enumerate() {
        match reference.name.read(&tensor.name, &given.sizes) {
            Err(()) => {
                let says = format!(
                    "the name {:?} can be read in two ways by `{}`",
                    tensor.name, reference.text
                );
                faults.push(reference.error(kind::NAME, says));
            }
            Ok(None) => {}
            Ok(Some(read)) => {
                let over = reference
                    .numbers()
                    .zip(&read.numbers)
                    .find_map(|(number, value)| over(number, *value, &given.sizes));
                match over {
                    None => takers.push(Taken { reference: at, read }),
                    Some((axes, size)) => {
                        let says = format!(
                            "no rule takes {:?}: `{}` has only {size} of `{axes}`",
                            tensor.name, reference.text
                        );
                        beyond.insert(place, reference.error(kind::UNCLAIMED, says));
                    }
                }
            }
        }
    }
    takers
}

/// The axes of a number and their size, if the value is not below it.
fn over(number: &Number, value: u64, sizes: &Sizes) -> Option<(String, u128)> {
    let size = number.node.size(&|axis| sizes.get(axis.base()).copied())?;
    (u128::from(value) >= size).then(|| (number.node.to_string(), size))
}

/// The values of the axes that number instances.
fn key_values(rule: &Rule, taken: &Taken, keys: &BTreeSet<Axis>) -> BTreeMap<Axis, u64> {
    let numbers = rule.from.references[taken.reference].numbers().zip(&taken.read.numbers);
    let key = |(number, value): (&Number, &u64)| match &number.node {
        Node::Axis(axis) if keys.contains(axis) => Some((axis.clone(), *value)),
        Node::Axis(_) | Node::Rest | Node::Product(_) | Node::Sum(_) => None,
    };
    numbers.filter_map(key).collect()
}

fn unknown_offset(rule: &Rule, given: &Given) -> Option<Error> {
    let references = rule.from.references.iter();
    let mut offsets = references
        .flat_map(|reference| reference.numbers().map(move |number| (reference, &number.offset)));
    let (reference, name) = offsets.find_map(|(reference, offset)| match offset {
        Offset::Size(name) if !given.sizes.contains_key(name) => Some((reference, name)),
        Offset::Size(_) | Offset::By(_) => None,
    })?;
    let why = given.why(name).map(|why| format!("; {why}")).unwrap_or_default();
    let says = format!("`{}` counts from `{name}`, whose size must be given{why}", reference.text);
    Some(reference.error(kind::UNSOLVED, says))
}

fn claimed_twice(
    recipe: &Recipe,
    name: &str,
    first: (usize, usize),
    second: (usize, usize),
) -> Error {
    let reference =
        |(rule, reference): (usize, usize)| &recipe.rules[rule].from.references[reference];
    let (first, second) = (reference(first), reference(second));
    let says = format!(
        "{name:?} is taken twice: by `{}` (line {}) and by `{}`",
        first.text, first.place.line, second.text
    );
    second.error(kind::CLAIMED, says)
}

fn unmatched(rule: &Rule) -> Error {
    let references = &rule.from.references;
    let texts: Vec<String> =
        references.iter().map(|reference| format!("`{}`", reference.text)).collect();
    let says = format!(
        "no tensor matches {}; if it may take nothing, add `optional = true`",
        tilewright_scan::alternatives(&texts)
    );
    match references.first() {
        Some(first) => first.error(kind::UNMATCHED, says),
        None => rule.error(kind::UNMATCHED, says),
    }
}

fn unclaimed(name: &str) -> Error {
    Error::new(
        kind::UNCLAIMED,
        format!("no rule takes {name:?}, and neither `pass` nor `drop` names it"),
    )
}

/// The position of numbers in names: the text before them, their axis, and the text of their field.
type Position = (String, Axis, String);

/// The numbers that a reference takes under some texts.
struct Series<'a> {
    reference: &'a Reference,
    /// True if it may lack numbers.
    some: bool,
    instance: &'a Instance,
    numbers: BTreeSet<u64>,
}

/// Tells numbers that are left out. Returns how many there are, by axes that count the same everywhere.
pub(crate) fn check_layers(recipe: &Recipe, instances: &[Instance], faults: &mut Faults) -> Sizes {
    let mut counts: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for ((_, axis, _), series) in positions(recipe, instances) {
        if !recipe.every.contains(axis.base()) {
            continue;
        }
        let Some(all) = series.iter().find(|one| !one.some) else { continue };
        let whole: BTreeSet<u64> = series.iter().flat_map(|one| &one.numbers).copied().collect();
        let last = whole.last().copied().unwrap_or_default();
        match (0u64..).zip(&whole).find(|(wanted, number)| wanted != *number) {
            Some((hole, _)) => faults.push(missing_number(all, &axis, (hole, last))),
            None => {
                for one in series.iter().filter(|one| !one.some) {
                    let first = whole.difference(&one.numbers).next();
                    first
                        .into_iter()
                        .for_each(|lacks| faults.push(missing_number(one, &axis, (*lacks, last))));
                }
            }
        }
        counts.entry(axis.base().to_owned()).or_default().insert(whole.len() as u64);
    }
    let one =
        |(axis, counts): (String, BTreeSet<u64>)| Some((axis, *counts.first()?, counts.len()));
    let alike = counts.into_iter().filter_map(one).filter(|(.., counts)| *counts == 1);
    alike.map(|(axis, count, _)| (axis, count)).collect()
}

/// All series by the positions of their numbers.
fn positions<'a>(
    recipe: &'a Recipe,
    instances: &'a [Instance],
) -> BTreeMap<Position, Vec<Series<'a>>> {
    type Key<'a> = (Position, usize, usize, &'a BTreeMap<String, String>);
    let mut all: BTreeMap<Key<'_>, Series<'_>> = BTreeMap::new();
    for instance in instances {
        let rule = &recipe.rules[instance.rule];
        for (at, reference) in rule.from.references.iter().enumerate() {
            for (position, number) in numbers(reference, instance) {
                let series =
                    Series { reference, some: rule.some, instance, numbers: BTreeSet::new() };
                let key = (position, instance.rule, at, &instance.texts);
                all.entry(key).or_insert(series).numbers.insert(number);
            }
        }
    }
    let mut positions: BTreeMap<Position, Vec<Series<'_>>> = BTreeMap::new();
    for ((position, ..), series) in all {
        positions.entry(position).or_default().push(series);
    }
    positions
}

/// The numbers of a reference that tell instances apart, and their positions.
fn numbers(reference: &Reference, instance: &Instance) -> Vec<(Position, u64)> {
    let mut found = Vec::new();
    let mut before = String::new();
    for piece in &reference.name.pieces {
        if let NamePiece::Number(number) = piece
            && let Node::Axis(axis) = &number.node
            && let Some(value) = instance.keys.get(axis)
        {
            found.push(((before.clone(), axis.clone(), number.to_string()), *value));
        }
        before.push_str(&written(piece, instance, &instance.keys));
    }
    found
}

/// A piece of a name with what is known of it.
fn written(piece: &NamePiece, instance: &Instance, keys: &BTreeMap<Axis, u64>) -> String {
    match piece {
        NamePiece::Literal(text) => text.clone(),
        NamePiece::Text { name, .. } => instance.texts.get(name).cloned().unwrap_or_default(),
        NamePiece::Number(number) => match (&number.node, &number.offset) {
            (Node::Axis(axis), Offset::By(_)) if keys.contains_key(axis) => {
                number.written(keys[axis], &Sizes::new()).unwrap_or_default()
            }
            (node, _) => format!("{{{node}}}"),
        },
    }
}

/// The error that a rule takes nothing with a number.
fn missing_number(series: &Series<'_>, axis: &Axis, (number, last): (u64, u64)) -> Error {
    let Series { reference, instance, .. } = series;
    let mut keys = instance.keys.clone();
    keys.insert(axis.clone(), number);
    let name: String =
        reference.name.pieces.iter().map(|piece| written(piece, instance, &keys)).collect();
    let says = format!(
        "there is no tensor \"{name}\": the recipe takes tensors of every `{axis}` from 0 to {last}; if only some of them may have it, add `some = true`"
    );
    reference.error(kind::MISSING, says)
}
