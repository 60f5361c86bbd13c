//! The way back as a recipe that needs nothing else: the inverse, with the sizes that were found.
//!
//! A size is written once for all rules where they agree, in a rule where its instances agree, and else in a rule for
//! each instance, whose layers are numbers and not fields.
//!
//! The rules of a recipe name their tensors, so their two sides swap. A rule for the rest takes what others leave, and in the
//! inverse others may take its results. [`check_return`] solves such a recipe back and refuses it unless each tensor of
//! the result becomes its sources again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tilewright_core::Dtype;

use crate::{
    assembly::{Made, Origin},
    config::ConfigJson,
    error::{Error, Faults},
    kind,
    recipe::Recipe,
    rule::{Reference, Rule, SideTerms, expression::Sizes, name::Offset, unequal::of_piece},
    solve::{
        equations::Solved,
        given::{self, Outside},
    },
    tensor::Tensor,
    value::{
        condition::{Condition, Requirement},
        quantity::{Quantity, Scope},
    },
};

/// The key of the metadata that holds the recipe back.
pub const RECIPE_KEY: &str = "tilewright.recipe";

/// The most rules that instances are written apart in.
const MOST_APART: usize = 4096;

/// Facts of an instance that are written: sizes by name, the element type before it was widened, and the sizes of unequal
/// pieces.
type InstanceFacts = (BTreeMap<String, u64>, Option<Dtype>, BTreeMap<String, Vec<u64>>);

/// Returns the recipe that undoes this one.
///
/// Law: it accepts the result. Conditions are kept as far as the `config.json` of the result decides them, with the numbers that
/// were found; the others held. Changes of `config.json` are undone by the values that it had.
pub(crate) fn back(
    recipe: &Recipe,
    solved: &[Solved],
    (tensors, scope): (&[Tensor], Scope<'_>),
) -> Recipe {
    let mut back = bare(recipe, scope);
    let mut facts: Vec<BTreeMap<String, u64>> = Vec::new();
    for (at, rule) in recipe.rules.iter().enumerate() {
        let instances: Vec<(&Solved, InstanceFacts)> = solved
            .iter()
            .filter(|one| one.instance.rule == at)
            .map(|one| (one, of(rule, one, tensors)))
            .collect();
        let same = instances.windows(2).all(|pair| pair[0].1 == pair[1].1);
        let apart = match same || back.rules.len() + instances.len() > MOST_APART {
            true => None,
            false => instances
                .iter()
                .map(|(one, facts)| Some((alone(rule, one)?, facts)))
                .collect::<Option<Vec<_>>>(),
        };
        let agreed = (rule.clone(), instances.first().map(|(_, facts)| facts).filter(|_| same));
        let rules = match apart {
            Some(apart) => apart.into_iter().map(|(rule, facts)| (rule, Some(facts))).collect(),
            None => vec![agreed],
        };
        for (rule, found) in rules {
            let (sizes, before, pieces) = found.cloned().unwrap_or_default();
            let mut rule = rule.inverse();
            rule.to.dtype = rule.to.dtype.or(before);
            for (axis, sizes) in pieces {
                rule.unequal.entry(axis).and_modify(|unequal| unequal.sizes = sizes);
            }
            back.rules.push(rule);
            facts.push(sizes);
        }
    }
    write_sizes(&mut back, facts);
    back
}

/// Returns the recipe that undoes this one, without rules: what it says about models and their configuration.
fn bare(recipe: &Recipe, scope: Scope<'_>) -> Recipe {
    let (config, changed) = match (&recipe.config, scope.config) {
        (ConfigJson::Change(change), Some(config)) => {
            (ConfigJson::Change(change.undone(config)), Some(change.applied(config)))
        }
        _ => (recipe.config_back.clone(), None),
    };
    let inverse = recipe.inverse();
    let serves = match changed.as_ref().or(scope.config) {
        Some(config) => inverse.serves.clone().with_values_of(config),
        None => inverse.serves.clone(),
    };
    Recipe {
        serves,
        require: required(recipe, scope, changed.as_ref()),
        note: Vec::new(),
        every: BTreeSet::new(),
        give: BTreeMap::new(),
        config,
        rules: Vec::new(),
        pad_to: BTreeMap::new(),
        sizes: BTreeMap::new(),
        ..inverse
    }
}

/// Returns the conditions on the configuration, each once: those of the recipe, and that sizes have the values that they had.
/// Those that fail for the `changed` configuration are left out.
fn required(recipe: &Recipe, scope: Scope<'_>, changed: Option<&Value>) -> Vec<Requirement> {
    let own = recipe.require.iter().filter_map(|one| one.settled(scope));
    let sizes = recipe.sizes.values().filter_map(Quantity::expression);
    let kept = sizes.filter_map(|value| Condition::kept(value, scope));
    let after = Scope { config: changed.or(scope.config), ..scope };
    let mut all: Vec<Requirement> = Vec::new();
    for one in own.chain(kept.map(Requirement::of_config)) {
        let is_new = all.iter().all(|other| !other.says_as(&one));
        if is_new && one.conditions().all(|condition| condition.known(after) != Ok(Some(false))) {
            all.push(one);
        }
    }
    all
}

/// Writes sizes once, where all rules that have them agree.
fn write_sizes(back: &mut Recipe, facts: Vec<BTreeMap<String, u64>>) {
    let mut values: BTreeMap<&str, BTreeSet<Option<u64>>> = BTreeMap::new();
    for (rule, sizes) in back.rules.iter().zip(&facts) {
        for name in names(rule) {
            values.entry(name).or_default().insert(sizes.get(name).copied());
        }
    }
    let agreed = values.iter().filter_map(|(name, values)| match (values.len(), values.first()) {
        (1, Some(Some(value))) => Some(((*name).to_owned(), Quantity::Number(*value))),
        _ => None,
    });
    back.sizes = agreed.collect();
    for (rule, sizes) in back.rules.iter_mut().zip(facts) {
        let own = sizes.into_iter().filter(|(name, _)| !back.sizes.contains_key(name));
        rule.sizes = own.map(|(name, size)| (name, Quantity::Number(size))).collect();
    }
}

/// The names of the sizes that a rule needs: of axes that number no instances, and of offsets.
fn names(rule: &Rule) -> BTreeSet<&str> {
    let keys = rule.keys();
    let axes = rule
        .references()
        .flat_map(Reference::axes)
        .filter(|axis| !keys.contains(axis))
        .map(|axis| axis.base());
    let offsets =
        rule.references().flat_map(Reference::numbers).filter_map(|number| match &number.offset {
            Offset::Size(name) => Some(name.as_str()),
            Offset::By(_) => None,
        });
    axes.chain(offsets).collect()
}

fn of(rule: &Rule, solved: &Solved, tensors: &[Tensor]) -> InstanceFacts {
    let size = |name: &str| solved.sizes.get(name).map(|size| (name.to_owned(), *size));
    let sizes = names(rule).into_iter().filter_map(size).collect();
    let first = solved.instance.found.iter().flat_map(BTreeMap::values).next();
    let before = first.map(|place| tensors[*place].dtype).filter(|_| rule.to.dtype.is_some());
    let pieces = rule.unequal.keys().map(|axis| {
        let size = |at: usize| solved.sizes.get(&of_piece(axis, at)).copied();
        (axis.clone(), (0..).map_while(size).collect())
    });
    (sizes, before, pieces.collect())
}

/// The rule for one instance alone, where names can express it.
fn alone(rule: &Rule, solved: &Solved) -> Option<Rule> {
    let side = |side: &SideTerms| -> Option<SideTerms> {
        let one = |reference: &Reference| {
            let name = reference.name.fixed(
                &solved.instance.texts,
                &solved.instance.keys,
                &solved.sizes,
            )?;
            Reference::parse(&format!("{name}{}", reference.axes_text()), &reference.place).ok()
        };
        Some(SideTerms {
            references: side.references.iter().map(one).collect::<Option<_>>()?,
            ..side.clone()
        })
    };
    Some(Rule {
        from: side(&rule.from)?,
        to: side(&rule.to)?,
        varying: BTreeSet::new(),
        ..rule.clone()
    })
}

/// A tensor of the recipe's source, and one that is made of it.
type Links = BTreeSet<(String, String)>;

/// Tells tensors that the inverse would not give back.
pub(crate) fn check_return(
    (recipe, back): (&Recipe, &Recipe),
    (tensors, made): (&[Tensor], &[Made]),
    faults: &mut Faults,
) {
    let heads: Vec<Tensor> =
        made.iter().map(|made| Tensor::new(&made.name, made.dtype, &*made.extents)).collect();
    // A run of the inverse asks for permission to round, so this check allows it.
    let back = &back.clone().rounding();
    let (sizes, dims) = (Sizes::new(), given::dims(back, &heads));
    let outside = Outside { config: None, dims: &dims, sizes: &sizes };
    let mut wrong = Faults::default();
    let again = match back.stage(&heads, outside, &mut wrong).and_then(|stage| wrong.or(stage.made))
    {
        Ok(again) => again,
        Err(errors) => {
            let says = format!("the inverse would not restore the input: {}", errors.first());
            return faults.push(Error::new(kind::CLAIMED, says));
        }
    };
    let forth = links(made, tensors, &recipe.tie);
    let back: Links =
        links(&again, &heads, &recipe.untie).into_iter().map(|(of, made)| (made, of)).collect();
    if let Some((of, name)) = forth.symmetric_difference(&back).next() {
        let says = format!(
            "{of:?} becomes {name:?}, and the inverse would not restore it; add a rule or a `pass` for it"
        );
        faults.push(Error::new(kind::CLAIMED, says));
    }
}

/// Which tensor is made of which, without second names.
fn links(made: &[Made], tensors: &[Tensor], ties: &[[String; 2]]) -> Links {
    let is_second = |name: &str| ties.iter().any(|[_, second]| second == name);
    let of = |made: &Made| {
        let name = made.name.clone();
        let sources = made.parts.iter().filter_map(|part| match part.origin {
            Origin::Source { tensor, .. } => Some(tensors[tensor].name.clone()),
            Origin::Fill(_) => None,
        });
        sources.map(|source| (source, name.clone())).collect::<Vec<_>>()
    };
    made.iter().filter(|made| !is_second(&made.name)).flat_map(of).collect()
}
