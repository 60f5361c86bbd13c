//! Sizes that are known before a tensor is seen: from the caller, the recipe, its rules and the configuration.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_scan::did_you_mean;

use crate::{
    condition::Condition,
    dims::Dims,
    error::{Error, Faults, Kind},
    expression::Sizes,
    quantity::{Lack, Quantity, Scope, Value},
    recipe::Recipe,
    reference::Reference,
    requirement::Requirement,
    rule::Rule,
    tensor::Tensor,
};

/// What is known for a rule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    pub(crate) sizes: Sizes,
    /// Where each of them is from.
    pub(crate) from: BTreeMap<String, String>,
    /// Sizes of the recipe that nothing gives yet, and why.
    pub(crate) lacks: BTreeMap<String, (Quantity, String)>,
}

/// Where sizes come from besides the recipe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside<'a> {
    pub(crate) config: Option<&'a serde_json::Value>,
    /// The dims that the recipe asks for.
    pub(crate) dims: &'a Dims,
    /// They come before all others.
    pub(crate) sizes: &'a Sizes,
}

impl<'a> Outside<'a> {
    /// What expressions are computed from, where these sizes are known.
    pub(crate) fn scope(self, sizes: &'a Sizes) -> Scope<'a> {
        Scope { config: self.config, dims: self.dims, sizes }
    }
}

/// The dims that a recipe asks for.
pub(crate) fn dims(recipe: &Recipe, tensors: &[Tensor]) -> Dims {
    let pads = recipe.pad_to.values().map(|(_, multiple)| multiple);
    let of_rules = recipe.rules.iter().flat_map(|rule| rule.sizes.values());
    let sizes = recipe.sizes.values().chain(of_rules).chain(pads);
    let conditions = recipe.require.iter().flat_map(Requirement::conditions);
    let conditions = conditions.chain(recipe.note.iter().filter_map(|note| note.when.as_ref()));
    let values =
        sizes.filter_map(Quantity::expression).chain(conditions.flat_map(Condition::values));
    let globs = values.flat_map(Value::parts).filter_map(|part| match part {
        Value::Dim(glob) => Some(glob),
        _ => None,
    });
    let mut dims = Dims::new();
    for glob in globs {
        dims.entry(glob.clone()).or_insert_with(|| glob.of(tensors));
    }
    dims
}

/// What is known for all rules.
pub(crate) fn of_recipe(recipe: &Recipe, outside: Outside<'_>, faults: &mut Faults) -> Given {
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
                format!("a size is given for `{name}`, which is not an axis of the recipe{near}"),
            ));
        }
    }
    let mut given = Given { sizes: outside.sizes.clone(), ..Given::default() };
    given.from = outside.sizes.keys().map(|name| (name.clone(), "given".to_owned())).collect();
    given.settle(&recipe.sizes, outside, faults);
    given
}

/// What is known for a rule: its own sizes come before those of the recipe.
pub(crate) fn of_rule(
    (recipe, all): (&Recipe, &Given),
    rule: &Rule,
    outside: Outside<'_>,
    faults: &mut Faults,
) -> Given {
    let mut given = all.clone();
    if !rule.sizes.is_empty() {
        let mut wanted = recipe.sizes.clone();
        wanted.extend(rule.sizes.clone());
        given = Given { sizes: outside.sizes.clone(), from: all.from.clone(), ..Given::default() };
        given.settle(&wanted, outside, faults);
    }
    stated(rule, &mut given, faults);
    if let Some(config) = outside.config {
        for axis in rule.references().flat_map(Reference::axes) {
            let value = config.get(axis.base()).and_then(serde_json::Value::as_u64);
            if let Some(value) = value {
                let name = axis.base().to_owned();
                given.from.entry(name.clone()).or_insert_with(|| format!("config.{name}"));
                given.sizes.entry(name).or_insert(value);
            }
        }
    }
    given
}

impl Given {
    /// Computes these sizes. They may need each other: each turn settles one at least, or it is the last.
    fn settle(
        &mut self,
        wanted: &BTreeMap<String, Quantity>,
        outside: Outside<'_>,
        faults: &mut Faults,
    ) {
        let known = |name: &String| outside.sizes.contains_key(name);
        let mut open: Vec<_> = wanted.iter().filter(|(name, _)| !known(name)).collect();
        loop {
            let before = open.len();
            self.lacks.clear();
            open.retain(|(name, quantity)| !self.learn(name, quantity, outside, faults));
            if open.len() == before {
                break;
            }
        }
    }

    /// Computes a size; false where it lacks something.
    fn learn(
        &mut self,
        name: &str,
        quantity: &Quantity,
        outside: Outside<'_>,
        faults: &mut Faults,
    ) -> bool {
        let scope = outside.scope(&self.sizes);
        match quantity.value(scope) {
            Ok(value) => {
                // A size that is another one by its name is from where that one is.
                let taken = quantity.taken(scope);
                let from = self.from.get(&taken).filter(|from| *from != "given").cloned();
                self.from.insert(name.to_owned(), from.unwrap_or(taken));
                self.sizes.insert(name.to_owned(), value);
                true
            }
            Err(Lack::Absent(why)) => {
                self.lacks.insert(name.to_owned(), (quantity.clone(), why));
                false
            }
            Err(Lack::Wrong(why)) => {
                let says = format!("the size of `{name}`, {quantity}: {why}");
                faults.push(Error::new(Kind::Size, says));
                true
            }
        }
    }

    /// Why a size that the recipe wants from elsewhere has no value.
    pub(crate) fn why(&self, name: &str) -> Option<String> {
        self.lacks.get(name).map(|(quantity, why)| format!("{quantity}: {why}"))
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
            faults.push(rule.error(Kind::Size, says));
        }
    }
}
