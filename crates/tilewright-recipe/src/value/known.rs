//! The names in sizes and conditions of a recipe. Each must be a size of the recipe, or match tensors of a rule.
//!
//! Otherwise the recipe is refused: a condition with a misspelled name would never be checked.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_scan::did_you_mean;

use crate::{
    error::{Error, Faults, InFile, TextPlace},
    kind,
    recipe::Recipe,
    rule::{Rule, expression::Axis, name::Offset, reference::Reference},
    text::pattern::NamePattern,
    value::{
        dims::Glob,
        quantity::{Quantity, QuantityValue},
    },
};

/// The most steps of comparing patterns with names.
const MOST_STEPS: usize = 1 << 26;

/// The most names that a misspelled one is compared with, and the most misspelled names that are reported.
const MOST_NEAR: usize = 1000;
const MOST_TOLD: usize = 32;

/// The names that a recipe knows.
struct KnownNames<'a> {
    sizes: BTreeSet<&'a str>,
    /// Names of tensors as patterns, as they are shown and as tokens.
    names: BTreeMap<String, NamePattern>,
    /// Patterns that were compared, and whether a tensor may be called so.
    globs: BTreeMap<&'a str, bool>,
    steps: usize,
}

/// Tells names that are neither a size nor a pattern of tensors of the recipe.
pub(crate) fn check(recipe: &Recipe, faults: &mut Faults) {
    let mut known = KnownNames::of(recipe);
    let mut told = 0;
    for (values, place) in expressions(recipe) {
        for part in values.into_iter().flat_map(QuantityValue::parts) {
            match known.fault(part) {
                Ok(()) => {}
                Err(error) if error.kind() == kind::LIMIT => return faults.push(error),
                Err(_) if told == MOST_TOLD => return,
                Err(error) => {
                    told += 1;
                    faults.push(error.on(place));
                }
            }
        }
    }
    let listed = recipe.give.keys().map(|name| ("give", name));
    for (key, name) in listed.chain(recipe.every.iter().map(|name| ("every", name))) {
        if !known.sizes.contains(name.as_str()) {
            let near = near(name, known.sizes.iter().copied());
            let says = format!(
                "`{key}` names `{name}`, which is neither an axis nor a size of the recipe{near}"
            );
            faults.push(Error::new(kind::KEY, says));
        }
    }
}

/// The known names that nearly are this one, as the end of a sentence.
fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    did_you_mean(name, known.filter(|one| one.len() <= 2 * name.len()).take(MOST_NEAR))
}

/// The values of all conditions and sizes, with their places.
fn expressions(recipe: &Recipe) -> Vec<(Vec<&QuantityValue>, &TextPlace)> {
    let sizes = recipe.quantities();
    let sizes = sizes.filter_map(|one: &Quantity| Some((vec![one.expression()?], one.place()?)));
    let conditions = recipe.conditions();
    sizes.chain(conditions.map(|one| (one.values().collect(), &one.place))).collect()
}

impl<'a> KnownNames<'a> {
    fn of(recipe: &'a Recipe) -> KnownNames<'a> {
        let references = || recipe.rules.iter().flat_map(Rule::references);
        let axes = references().flat_map(Reference::axes).map(Axis::base);
        let offsets =
            references().flat_map(Reference::numbers).filter_map(|one| match &one.offset {
                Offset::Size(name) => Some(name.as_str()),
                Offset::By(_) => None,
            });
        let of_rules = recipe.rules.iter().flat_map(|rule| rule.sizes.keys());
        let own = recipe.sizes.keys().chain(of_rules).map(String::as_str);
        let listed = [&recipe.pass, &recipe.drop, &recipe.lost].into_iter().flatten();
        let tied = recipe.tie.iter().chain(&recipe.untie).flatten();
        let globs = listed.chain(tied).map(|glob| (glob.clone(), NamePattern::of_glob(glob)));
        KnownNames {
            sizes: axes.chain(offsets).chain(own).collect(),
            names: references().map(|one| NamePattern::of_name(&one.name)).chain(globs).collect(),
            globs: BTreeMap::new(),
            steps: 0,
        }
    }

    /// Refuses a part of an expression that is not known.
    fn fault(&mut self, part: &'a QuantityValue) -> Result<(), Error> {
        let says = match part {
            QuantityValue::Size(name) if !self.sizes.contains(name.as_str()) => {
                let near = near(name, self.sizes.iter().copied());
                format!(
                    "`{name}` is not a size of the recipe: no rule has such an axis, and [sizes] does not list it{near}"
                )
            }
            QuantityValue::Dim(Glob { names, .. }) if !self.may_be(names)? => {
                let near = near(names, self.names.keys().map(String::as_str));
                format!("{part} names tensors that no rule takes or makes{near}")
            }
            _ => return Ok(()),
        };
        Err(Error::new(kind::NAME, says))
    }

    /// Returns true if a tensor of the recipe may have a name of this pattern.
    fn may_be(&mut self, glob: &'a str) -> Result<bool, Error> {
        if let Some(known) = self.globs.get(glob) {
            return Ok(*known);
        }
        let pattern = NamePattern::of_glob(glob);
        let mut found = false;
        for name in self.names.values() {
            self.steps += (pattern.len() + 1) * (name.len() + 1);
            if self.steps > MOST_STEPS {
                let says =
                    "its conditions name too many tensors to compare them with those of the rules";
                return Err(Error::new(kind::LIMIT, says));
            }
            if pattern.meets(name) {
                found = true;
                break;
            }
        }
        self.globs.insert(glob, found);
        Ok(found)
    }
}
