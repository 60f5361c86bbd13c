//! Renames: names of tensors changed by patterns, one after the other, before the rules or after them.
//!
//! A recipe applies its renames to every tensor. A rename matches a whole name, and the texts and numbers of its fields stay.
//!
//! Law: the renames of the inverse, in the opposite order, restore every name. A list of names for which that does not hold
//! is refused, and so are two tensors that get one name.
//!
//! ```text
//! blocks.{L}.{x:*}  ->  layers.{L}.{x:*}        blocks.3.norm0.weight  ->  layers.3.norm0.weight
//! {p:*}.norm0.weight  ->  {p:*}.norm1.weight                           ->  layers.3.norm1.weight
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error::{Error, Faults, TextPlace},
    kind,
    rule::expression::{Axis, Node, Sizes},
    rule::name::Offset,
    rule::reference::Reference,
    tensor::LONGEST_NAME,
};

/// A change of names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rename {
    pub(crate) place: TextPlace,
    pub(crate) from: Reference,
    pub(crate) to: Reference,
    /// True if it may match no name.
    pub(crate) optional: bool,
    /// True if it applies to the result, after the rules.
    pub(crate) after: bool,
}

/// The fields of a name: texts and numbers.
type NameFields = (BTreeMap<String, String>, BTreeMap<Axis, u64>);

impl Rename {
    /// Returns the rename that undoes this one.
    pub(crate) fn inverse(&self) -> Rename {
        Rename { from: self.to.clone(), to: self.from.clone(), after: !self.after, ..self.clone() }
    }

    /// Returns what is wrong with it: fields that one side lacks, or that are not texts and single numbers.
    pub(crate) fn fault(&self) -> Option<Error> {
        let sides = [&self.from, &self.to];
        if let Some(side) = sides.into_iter().find(|side| !side.axes_text().is_empty()) {
            let says = "a rename has names and no axes; `[[map]]` moves elements";
            return Some(side.error(kind::NAME, says));
        }
        let single = |side: &Reference| {
            side.numbers().all(|number| {
                matches!((&number.node, &number.offset), (Node::Axis(_), Offset::By(_)))
            })
        };
        if let Some(side) = sides.into_iter().find(|side| !single(side)) {
            let says = "a number in a rename is a single axis, such as `{L}`, `{L+1}` or `{2L+1}`";
            return Some(side.error(kind::NAME, says));
        }
        let fields = |side: &Reference| -> BTreeSet<String> {
            let axes = side.axes().map(ToString::to_string);
            axes.chain(side.name.texts().into_iter().map(|text| format!("{text}:"))).collect()
        };
        let (from, to) = (fields(&self.from), fields(&self.to));
        let field = from.symmetric_difference(&to).next()?;
        let field =
            field.strip_suffix(':').map_or_else(|| field.clone(), |text| format!("{text}:…"));
        Some(self.to.error(kind::NAME, format!("the field `{{{field}}}` is in one name only")))
    }

    /// Returns the new name; none if the pattern does not match.
    fn apply(&self, name: &str) -> Result<Option<String>, Error> {
        let none = Sizes::new();
        let Ok(read) = self.from.name.read(name, &none) else {
            let says = format!("{name:?} can be read in two ways by `{}`", self.from.text);
            return Err(self.from.error(kind::NAME, says));
        };
        let Some((texts, axes)) =
            read.and_then(|read| fields(&self.from, read.texts, &read.numbers))
        else {
            return Ok(None);
        };
        let numbers: Vec<u64> = self.to.axes().filter_map(|axis| axes.get(axis)).copied().collect();
        let beyond = || {
            let says = format!("{name:?} would get a number of more than 64 bits");
            self.to.error(kind::NAME, says)
        };
        let new = self.to.name.write(&texts, &numbers, &none).ok_or_else(beyond)?;
        if new.len() > LONGEST_NAME {
            let says = format!("a rename makes a name of more than {LONGEST_NAME} bytes");
            return Err(self.to.error(kind::LIMIT, says));
        }
        Ok(Some(new))
    }
}

/// The fields; none if one axis would have two values.
fn fields(
    reference: &Reference,
    texts: BTreeMap<String, String>,
    numbers: &[u64],
) -> Option<NameFields> {
    let mut axes = BTreeMap::new();
    for (axis, value) in reference.axes().zip(numbers) {
        if *axes.entry(axis.clone()).or_insert(*value) != *value {
            return None;
        }
    }
    Some((texts, axes))
}

/// Returns the names after the renames of one stage, in their order.
///
/// Faults: renames that match nothing, two tensors with one name, and names that the inverse would not restore.
pub(crate) fn all<'a>(
    renames: &[Rename],
    after: bool,
    names: impl Iterator<Item = &'a str> + Clone,
    faults: &mut Faults,
) -> Vec<String> {
    let chain: Vec<&Rename> = renames.iter().filter(|rename| rename.after == after).collect();
    let mut used = vec![false; chain.len()];
    let mut one = |name: &str| faults.take(chained(&chain, name, &mut used));
    let all: Vec<String> =
        names.clone().map(|name| one(name).unwrap_or_else(|| name.to_owned())).collect();
    let idle = chain.iter().zip(used).filter(|(rename, used)| !used && !rename.optional);
    idle.for_each(|(rename, _)| {
        let says = format!(
            "no name matches `{}`; if it may match nothing, add `optional = true`",
            rename.from.text
        );
        faults.push(rename.from.error(kind::UNMATCHED, says));
    });
    if !chain.is_empty() {
        let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, new) in names.zip(&all) {
            match seen.insert(new, name) {
                Some(other) => faults.push(Error::new(
                    kind::TWICE,
                    format!("{other:?} and {name:?} would both be called {new:?} by the renames"),
                )),
                None => not_restored(&chain, name, new).into_iter().for_each(|it| faults.push(it)),
            }
        }
    }
    all
}

/// The error that the inverse would not restore a name.
fn not_restored(chain: &[&Rename], name: &str, new: &str) -> Option<Error> {
    let back: Vec<Rename> = chain.iter().rev().map(|rename| rename.inverse()).collect();
    let back: Vec<&Rename> = back.iter().collect();
    let old = match chained(&back, new, &mut vec![false; back.len()]) {
        Ok(old) if old == name => return None,
        Ok(old) => old,
        Err(error) => return Some(error),
    };
    let says = format!(
        "{name:?} is called {new:?} by the renames, and the inverse would call it {old:?}; write a rename that matches fewer names"
    );
    Some(Error::new(kind::NAME, says))
}

/// A name after all renames of a chain.
fn chained(chain: &[&Rename], name: &str, used: &mut [bool]) -> Result<String, Error> {
    let mut name = name.to_owned();
    for (rename, used) in chain.iter().zip(used) {
        if let Some(new) = rename.apply(&name)? {
            (name, *used) = (new, true);
        }
    }
    Ok(name)
}
