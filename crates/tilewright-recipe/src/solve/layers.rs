//! Numbers that tell the instances of rules apart, as those of layers: they count from 0 without a hole, and each rule takes
//! tensors of all of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error::{Error, Faults},
    kind,
    recipe::Recipe,
    rule::expression::{Axis, Node, Sizes},
    rule::name::{NamePiece, Offset},
    rule::reference::Reference,
    solve::claims::Instance,
};

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
pub(crate) fn check(recipe: &Recipe, instances: &[Instance], faults: &mut Faults) -> Sizes {
    let mut counts: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for ((_, axis, _), series) in positions(recipe, instances) {
        if !recipe.every.contains(axis.base()) {
            continue;
        }
        let Some(all) = series.iter().find(|one| !one.some) else { continue };
        let whole: BTreeSet<u64> = series.iter().flat_map(|one| &one.numbers).copied().collect();
        let last = whole.last().copied().unwrap_or_default();
        match (0u64..).zip(&whole).find(|(wanted, number)| wanted != *number) {
            Some((hole, _)) => faults.push(missing(all, &axis, (hole, last))),
            None => {
                for one in series.iter().filter(|one| !one.some) {
                    let first = whole.difference(&one.numbers).next();
                    first
                        .into_iter()
                        .for_each(|lacks| faults.push(missing(one, &axis, (*lacks, last))));
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
fn missing(series: &Series<'_>, axis: &Axis, (number, last): (u64, u64)) -> Error {
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
