//! Sizes that are known before a tensor is seen: from the caller, the recipe, its rules and the configuration.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_scan::did_you_mean;

use crate::{
    error::{Error, Faults},
    kind,
    recipe::Recipe,
    rule::{Reference, Rule, expression::Sizes},
    tensor::{Dims, Lack, Tensor},
    value::{
        condition::Condition,
        quantity::{Quantity, QuantityValue, Scope},
    },
};

/// The sizes that are known for a rule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    pub(crate) sizes: Sizes,
    /// The origin of each of them.
    pub(crate) from: BTreeMap<String, String>,
    /// Sizes of the recipe that nothing gives yet, and why.
    pub(crate) lacks: BTreeMap<String, (Quantity, String)>,
}

/// The sources of sizes besides the recipe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside<'a> {
    pub(crate) config: Option<&'a serde_json::Value>,
    /// The dims that the recipe asks for.
    pub(crate) dims: &'a Dims,
    /// They come before all others.
    pub(crate) sizes: &'a Sizes,
}

impl<'a> Outside<'a> {
    /// Returns the values that expressions use: these sizes are known, and those of `later` may become known.
    pub(crate) fn scope(self, sizes: &'a Sizes, later: &'a BTreeSet<String>) -> Scope<'a> {
        Scope { config: self.config, dims: self.dims, sizes, later }
    }
}

/// The dims that a recipe asks for.
pub(crate) fn dims(recipe: &Recipe, tensors: &[Tensor]) -> Dims {
    let sizes = recipe.quantities().filter_map(Quantity::expression);
    let values = sizes.chain(recipe.conditions().flat_map(Condition::values));
    let globs = values.flat_map(QuantityValue::parts).filter_map(|part| match part {
        QuantityValue::Dim(glob) => Some(glob),
        _ => None,
    });
    let mut dims = Dims::new();
    for glob in globs {
        dims.entry(glob.clone()).or_insert_with(|| glob.of(tensors));
    }
    dims
}

/// Returns the sizes that are known for all rules.
pub(crate) fn of_recipe(
    recipe: &Recipe,
    (outside, axes): (Outside<'_>, &BTreeSet<String>),
    faults: &mut Faults,
) -> Given {
    for name in outside.sizes.keys() {
        if !axes.contains(name) && !recipe.sizes.contains_key(name) {
            let near = did_you_mean(name, axes.iter().map(String::as_str));
            faults.push(Error::new(
                kind::SIZE,
                format!("a size is given for `{name}`, which is not an axis of the recipe{near}"),
            ));
        }
    }
    let mut given = Given { sizes: outside.sizes.clone(), ..Given::default() };
    given.from = outside.sizes.keys().map(|name| (name.clone(), "given".to_owned())).collect();
    given.settle(&recipe.sizes, outside, faults);
    check(&recipe.sizes, (outside.sizes, outside.scope(&given.sizes, axes)), faults);
    given
}

/// Returns the sizes that are known for a rule: its own sizes come before those of the recipe.
pub(crate) fn of_rule(
    (recipe, all): (&Recipe, &Given),
    rule: &Rule,
    (outside, axes): (Outside<'_>, &BTreeSet<String>),
    faults: &mut Faults,
) -> Given {
    let mut given = all.clone();
    if !rule.sizes.is_empty() {
        let mut wanted = recipe.sizes.clone();
        wanted.extend(rule.sizes.clone());
        given = Given { sizes: outside.sizes.clone(), from: all.from.clone(), ..Given::default() };
        given.settle(&wanted, outside, faults);
        let scope = outside.scope(&given.sizes, axes);
        check(&rule.sizes, (outside.sizes, scope), faults);
    }
    stated(rule, &mut given, faults);
    given.configure(rule, (recipe, outside), faults);
    given
}

impl Given {
    /// Computes these sizes, in the order in which they need each other. Those that need each other in a circle are computed
    /// together, as if none of them were known.
    fn settle(
        &mut self,
        wanted: &BTreeMap<String, Quantity>,
        outside: Outside<'_>,
        faults: &mut Faults,
    ) {
        self.lacks.clear();
        let known = |name: &String| outside.sizes.contains_key(name);
        let mut open: BTreeSet<String> =
            wanted.keys().filter(|name| !known(name)).cloned().collect();
        while !open.is_empty() {
            let settled = self.round(wanted, &open, (outside, &open), faults);
            let settled = match settled.is_empty() {
                true => self.round(wanted, &open, (outside, &BTreeSet::new()), faults),
                false => settled,
            };
            open.retain(|name| !settled.contains(name));
        }
    }

    /// Computes those of the open sizes whose values wait for none of `later`, each as if the others were not known. Answers
    /// which ones are settled.
    fn round(
        &mut self,
        wanted: &BTreeMap<String, Quantity>,
        open: &BTreeSet<String>,
        (outside, later): (Outside<'_>, &BTreeSet<String>),
        faults: &mut Faults,
    ) -> BTreeSet<String> {
        let scope = outside.scope(&self.sizes, later);
        let (mut settled, mut found, mut absent) = (BTreeSet::new(), Vec::new(), Vec::new());
        for (name, quantity) in wanted.iter().filter(|(name, _)| open.contains(*name)) {
            match quantity.value(scope) {
                Ok(value) => found.push((name, value, quantity.taken(scope))),
                Err(Lack::Later(_)) => {}
                Err(Lack::Absent(why)) => absent.push((name, quantity, why)),
                Err(Lack::Wrong(why)) => {
                    faults.push(wrong(name, quantity, &why));
                    settled.insert(name.clone());
                }
            }
        }
        for (name, value, taken) in found {
            // A size that is another one by its name is from where that one is.
            let from = self.from.get(&taken).filter(|from| *from != "given").cloned();
            self.from.insert(name.clone(), from.unwrap_or(taken));
            self.sizes.insert(name.clone(), value);
            settled.insert(name.clone());
        }
        // In a circle, what is absent may follow from what was just computed.
        if settled.is_empty() || !later.is_empty() {
            for (name, quantity, why) in absent {
                settled.insert(name.clone());
                self.lacks.insert(name.clone(), (quantity.clone(), why));
            }
        }
        settled
    }

    /// Adds sizes of axes that are called as keys of the configuration are.
    fn configure(
        &mut self,
        rule: &Rule,
        (recipe, outside): (&Recipe, Outside<'_>),
        faults: &mut Faults,
    ) {
        for name in rule.references().flat_map(Reference::axes).map(|axis| axis.base()) {
            let value = outside.config.and_then(|config| config.get(name)?.as_u64());
            let Some(value) = value else { continue };
            let from = self.from.entry(name.to_owned()).or_insert_with(|| format!("config.{name}"));
            let size = *self.sizes.entry(name.to_owned()).or_insert(value);
            let is_own = recipe.sizes.contains_key(name) || rule.sizes.contains_key(name);
            if from == "given" && size != value && !is_own {
                let says = format!("`{name}` is given as {size}, and config.{name} is {value}");
                faults.push(Error::new(kind::SIZE, says));
            }
        }
    }

    /// Returns the reason why a size that the recipe wants from elsewhere lacks a value.
    pub(crate) fn why(&self, name: &str) -> Option<String> {
        self.lacks.get(name).map(|(quantity, why)| format!("{quantity}: {why}"))
    }
}

/// Returns the error of a size whose expression fails.
pub(crate) fn wrong(name: &str, quantity: &Quantity, why: &str) -> Error {
    Error::new(kind::SIZE, format!("the size of `{name}`, {quantity}: {why}"))
}

/// Tells sizes that a person gives otherwise than the recipe computes them. A number in the recipe is a default.
///
/// Where nothing becomes known `later`, a size that is made of others alone cannot be given without them: what the recipe
/// requires of these would not be checked.
pub(crate) fn check(
    wanted: &BTreeMap<String, Quantity>,
    (given, scope): (&Sizes, Scope<'_>),
    faults: &mut Faults,
) {
    for (name, size) in given {
        let Some(quantity @ Quantity::Text { .. }) = wanted.get(name) else { continue };
        let is_made = quantity.is_of_sizes() && scope.later.is_empty();
        let says = match quantity.value(scope) {
            Ok(value) if value == *size => continue,
            Ok(value) => format!(
                "`{name}` is given as {size}, and the recipe computes {value} from {}",
                quantity.taken(scope)
            ),
            Err(Lack::Wrong(why)) => {
                format!("`{name}` is given as {size}, and the recipe computes {quantity}: {why}")
            }
            Err(Lack::Absent(why)) if is_made => format!(
                "`{name}` is given as {size}, and the recipe computes {quantity}: {why}; give that instead"
            ),
            Err(Lack::Absent(_) | Lack::Later(_)) => continue,
        };
        faults.push(Error::new(kind::SIZE, says));
    }
}

/// Adds the sizes that the texts of the rule state.
fn stated(rule: &Rule, given: &mut Given, faults: &mut Faults) {
    for (axis, size) in rule.stated().unwrap_or_default() {
        let known = *given.sizes.entry(axis.clone()).or_insert(size);
        given.from.entry(axis.clone()).or_insert_with(|| "the rule".to_owned());
        given.lacks.remove(&axis);
        if known != size {
            let says = format!("`{axis}` has the size {size} in the rule, and {known} is given");
            faults.push(rule.error(kind::SIZE, says));
        }
    }
}
