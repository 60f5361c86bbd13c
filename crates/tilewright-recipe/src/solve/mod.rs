//! A recipe for the tensors of a checkpoint: who takes what, the sizes of all axes, and every tensor as parts of others.

mod build;
mod checks;
mod claims;
mod equations;
mod given;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tilewright_core::Dtype;

use self::{
    build::Built,
    claims::Claims,
    equations::Solved,
    given::{Given, Outside},
};
use crate::{
    assembly::{Assembly, Digit, Equal, Made, Origin, Part},
    config::ConfigJson,
    error::{Error, Errors, Faults},
    kind,
    recipe::Recipe,
    rule::{
        self, Reference, Rule, SideTerms, TermPair,
        expression::Sizes,
        name::{self, Offset},
        of_piece,
    },
    tensor::{LONGEST_NAME, Tensor, elements},
    value::{
        condition::{Condition, Requirement},
        quantity::{Quantity, Scope},
    },
};
use build::Work;

/// Result of the rules, before names are changed and anything is recorded.
struct RuleResult {
    solved: Vec<Solved>,
    made: Vec<Made>,
    equal: Vec<Equal>,
    sizes: Sizes,
    /// The tensors of the source that are rounded.
    rounded: BTreeSet<usize>,
    /// The tensors of the source that are not or only in part in the result.
    dropped: BTreeSet<usize>,
    /// Sentences about what is lost.
    told: Vec<String>,
}

impl Recipe {
    /// Solves the recipe for these tensors.
    ///
    /// The metadata holds, below [`RECIPE_KEY`], the recipe back with the sizes that were found: it needs no other.
    ///
    /// `config` is the content of the `config.json` of the weights. `sizes` come before those of the recipe and of the
    /// configuration.
    ///
    /// # Errors
    /// All faults at once, each with its [kind](crate::Error::kind): tensors that are missing, or that no rule takes or two; names that two
    /// tensors would have; dims that do not divide; sizes that do not follow or differ; element types that differ.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_recipe::{Recipe, Sizes, Tensor};
    /// let recipe = Recipe::parse(
    ///     r#"
    /// [[map]]
    /// from = "h.{L}.attn.weight : h (o + o' + o'')"
    /// to = ["h.{L}.q.weight : o h", "h.{L}.k.weight : o' h", "h.{L}.v.weight : o'' h"]
    /// "#,
    /// )?;
    /// let fused = Tensor::new("h.0.attn.weight", Dtype::F32, [8, 24]);
    /// let assembly = recipe.solve(std::slice::from_ref(&fused), None, &Sizes::new())?;
    /// let names: Vec<&str> = assembly.made.iter().map(|made| made.name.as_str()).collect();
    /// assert_eq!(names, ["h.0.k.weight", "h.0.q.weight", "h.0.v.weight"]);
    /// assert_eq!(assembly.made[0].extents, [8, 8]);
    ///
    /// let uneven = Tensor { extents: vec![8, 25], ..fused };
    /// let errors = recipe.solve(&[uneven], None, &Sizes::new()).unwrap_err();
    /// let says = r#"line 3: dim 1 of "h.0.attn.weight" is 25, and no size of `o` makes `(o + o' + o'')` that"#;
    /// assert_eq!(errors.to_string(), says);
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn solve(
        &self,
        tensors: &[Tensor],
        config: Option<&Value>,
        sizes: &Sizes,
    ) -> Result<Assembly, Errors> {
        let mut faults = Faults::default();
        let against = config.map(|config| self.contradictions(config)).unwrap_or_default();
        against.iter().for_each(|found| faults.push(found.into()));
        check_input(tensors, &mut faults);
        let mut faults = faults.or(()).map(|()| Faults::default())?;
        let tensors = &self.renamed(tensors, &mut faults);
        let faults = faults.or(()).map(|()| Faults::default())?;
        let outside = Outside { config, dims: &given::dims(self, tensors), sizes };
        self.assemble(tensors, outside, faults)
    }

    /// The tensors by the names that the rules know.
    fn renamed(&self, tensors: &[Tensor], faults: &mut Faults) -> Vec<Tensor> {
        let names = tensors.iter().map(|tensor| tensor.name.as_str());
        let names = name::rename_all(&self.renames, false, names, faults);
        let of = |(tensor, name): (&Tensor, String)| Tensor { name, ..tensor.clone() };
        tensors.iter().zip(names).map(of).collect()
    }

    /// Applies the rules to tensors that are renamed already.
    fn assemble(
        &self,
        tensors: &[Tensor],
        outside: Outside<'_>,
        mut faults: Faults,
    ) -> Result<Assembly, Errors> {
        let RuleResult { solved, made, equal, sizes, rounded, dropped, told } =
            self.stage(tensors, outside, &mut faults)?;
        let none = BTreeSet::new();
        let scope = outside.scope(&sizes, &none);
        let mut notes = checks::notes(self, scope, &mut faults);
        let lost = self.lost().map(|names| format!("{names} was dropped and cannot be restored"));
        notes.extend(lost);
        notes.extend(told);
        let names = || made.iter().map(|made| made.name.as_str());
        if faults.is_empty() {
            checks::check_result(self, scope, names(), &mut faults);
        }
        let mut faults = faults.or(()).map(|()| Faults::default())?;
        let outer = name::rename_all(&self.renames, true, names(), &mut faults);
        faults.or(())?;
        let back = back(self, &solved, (tensors, scope));
        if self.rules.iter().any(|rule| rule.rest) {
            let mut faults = Faults::default();
            check_return((self, &back), (tensors, &made), &mut faults);
            faults.or(())?;
        }
        let said =
            |(name, quantity): (&String, &Quantity)| Some((quantity.key()?, *sizes.get(name)?));
        let solved = self.sizes.iter().filter_map(said).collect();
        let metadata = vec![(RECIPE_KEY.to_owned(), back.to_toml())];
        let result = self.inverse_serves.as_ref().unwrap_or(&self.serves).clone();
        let called = |(made, name): (Made, String)| Made { name, ..made };
        let mut made: Vec<Made> = made.into_iter().zip(outer).map(called).collect();
        made.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Assembly {
            made,
            equal,
            rounded,
            dropped,
            result,
            solved,
            metadata,
            config: self.config.clone(),
            notes,
        })
    }

    /// Solves the rules for tensors that are renamed already.
    fn stage(
        &self,
        tensors: &[Tensor],
        outside: Outside<'_>,
        faults: &mut Faults,
    ) -> Result<RuleResult, Errors> {
        if self.rules.iter().any(|rule| !rule.unequal.is_empty()) {
            let mut written = self.clone();
            for rule in &mut written.rules {
                *rule = rule::written_out(rule, tensors, outside.sizes)?;
            }
            return written.plain(tensors, outside, faults);
        }
        self.plain(tensors, outside, faults)
    }

    /// Solves rules without unequal pieces, or with pieces that are written out.
    fn plain(
        &self,
        tensors: &[Tensor],
        outside: Outside<'_>,
        faults: &mut Faults,
    ) -> Result<RuleResult, Errors> {
        // A condition that fails is a better error than those of the sizes that follow.
        let mut unmet = Faults::default();
        let axes = self.axes();
        let all = given::of_recipe(self, (outside, &axes), faults);
        // Sizes of axes may follow from the shapes.
        let later = axes.iter().chain(self.sizes.keys()).cloned().collect();
        checks::check_requirements(self, (outside, outside.scope(&all.sizes, &later)), &mut unmet);
        unmet.or(())?;
        let of_rule = |rule| given::of_rule((self, &all), rule, (outside, &axes), faults);
        let given: Vec<Given> = self.rules.iter().map(of_rule).collect();
        let mut claims = claims::of(self, &given, tensors, faults);
        let counts = claims::check_layers(self, &claims.instances, faults);
        let instances = std::mem::take(&mut claims.instances);
        let solve = |instance: claims::Instance| {
            let given = &given[instance.rule];
            equations::solve((self, given, outside), instance, tensors, faults)
        };
        let solved: Vec<Solved> = instances.into_iter().filter_map(solve).collect();
        let mut sizes = checks::agreed(&all.sizes, &solved);
        sizes.extend(counts);
        self.ask(&sizes, faults);
        let none = BTreeSet::new();
        let scope = outside.scope(&sizes, &none);
        checks::check_requirements(self, (outside, scope), faults);
        given::check(&self.sizes, (outside.sizes, scope), faults);
        checks::check_uniform(self, &solved, faults);
        let (rounded, mut told) = checks::rounded(self, &solved, tensors, faults);
        told.extend(checks::dropped_tensors(&claims, tensors));
        told.extend(checks::dropped_parts(self, &solved));
        let dropped = checks::dropped_places(self, (&claims, &solved), tensors);
        let built = self.build(&solved, (tensors, &claims), outside, faults);
        let (made, equal) = built.finish();
        let broken = made.iter().filter_map(|made| checks::broken_blocks(made, tensors));
        broken.for_each(|error| faults.push(error));
        Ok(RuleResult { solved, made, equal, sizes, rounded, dropped, told })
    }

    /// If the only faults are sizes that do not follow, asks for the sizes that a person gives instead of the axes.
    fn ask(&self, sizes: &Sizes, faults: &mut Faults) {
        let unknown = self.give.iter().filter(|(name, _)| !sizes.contains_key(*name));
        let errors: Vec<Error> = unknown
            .map(|(name, what)| {
                let says =
                    format!("the size `{name}` does not follow from the shapes; give it: {what}");
                Error::new(kind::UNSOLVED, says)
            })
            .collect();
        if faults.are_all(kind::UNSOLVED) && !errors.is_empty() {
            faults.replace(kind::UNSOLVED, errors);
        }
    }

    /// The names of the sizes of all axes.
    fn axes(&self) -> BTreeSet<String> {
        let references = self.rules.iter().flat_map(Rule::references);
        references.flat_map(Reference::axes).map(|axis| axis.base().to_owned()).collect()
    }

    fn build(
        &self,
        solved: &[Solved],
        (tensors, claims): (&[Tensor], &Claims),
        outside: Outside<'_>,
        faults: &mut Faults,
    ) -> Built {
        let mut built = Built::default();
        let pairs: Vec<Vec<TermPair>> =
            self.rules.iter().map(|rule| rule.pairs().unwrap_or_default()).collect();
        for solved in solved {
            let rule = &self.rules[solved.instance.rule];
            let work = Work { rule, solved, tensors };
            match built.instance(work, &pairs[solved.instance.rule], outside.config) {
                // An unknown size is reported once for all instances.
                Err(error) if error.kind() == kind::UNSOLVED => {
                    let what = error.message().to_owned();
                    faults.unsolved(&what, error);
                }
                result => _ = faults.take(result),
            }
        }
        for place in &claims.passed {
            faults.take(built.whole(unchanged(tensors, *place), "pass"));
        }
        for [first, second] in &self.tie {
            let made = built.get(first).map(|made| Made { name: second.clone(), ..made.clone() });
            match made {
                Some(made) => _ = faults.take(built.whole(made, "tie")),
                // A tensor that is missing because of another fault is not a fault of its own.
                None if !faults.is_empty() => {}
                None => faults.push(Error::new(
                    kind::TIE,
                    format!("`{second}` should be a second name of `{first}`, which is not made"),
                )),
            }
        }
        for (first, second) in &claims.untied {
            match untied(tensors, (*first, *second)) {
                Ok(equal) => built.equal(equal),
                Err(error) => faults.push(error),
            }
        }
        built
    }
}

/// Names must be different, and elements countable.
fn check_input(tensors: &[Tensor], faults: &mut Faults) {
    let mut names = BTreeSet::new();
    for tensor in tensors {
        if !names.insert(&tensor.name) {
            faults
                .push(Error::new(kind::INPUT, format!("two tensors are called {:?}", tensor.name)));
        }
        if tensor.name.len() > LONGEST_NAME {
            let says = format!("a tensor's name has more than {LONGEST_NAME} bytes");
            faults.push(Error::new(kind::LIMIT, says));
        }
        if tensor.elements().is_none() {
            faults.push(Error::new(
                kind::LIMIT,
                format!("{:?} has more than 2^63 elements", tensor.name),
            ));
        }
    }
}

/// A tensor that is passed through.
fn unchanged(tensors: &[Tensor], place: usize) -> Made {
    let Tensor { name, dtype, extents } = tensors[place].clone();
    let digits = run(&extents);
    let part = Part { origin: Origin::Source { tensor: place, offset: 0 }, offset: 0, digits };
    let parts = if elements(&extents) == Some(0) { Vec::new() } else { vec![part] };
    Made { name, dtype, extents, layout: None, parts }
}

/// All elements in their order.
fn run(extents: &[u64]) -> Vec<Digit> {
    match elements(extents) {
        None | Some(1) => Vec::new(),
        Some(extent) => vec![Digit { extent, source: 1, made: 1 }],
    }
}

/// A second name must hold what the first one holds.
fn untied(tensors: &[Tensor], (first, second): (usize, usize)) -> Result<Equal, Error> {
    let (one, two) = (&tensors[first], &tensors[second]);
    if (one.dtype, &one.extents) != (two.dtype, &two.extents) {
        let says = format!(
            "{:?} and its second name {:?} have different dims or element types",
            one.name, two.name
        );
        return Err(Error::new(kind::TIE, says));
    }
    let origin = |tensor| Origin::Source { tensor, offset: 0 };
    let why = format!("{:?} and its second name {:?}", one.name, two.name);
    Ok(Equal { first: origin(first), second: origin(second), digits: run(&one.extents), why })
}

// The way back as a recipe that needs nothing else: the inverse, with the sizes that were found.
//
// A size is written once for all rules where they agree, in a rule where its instances agree, and else in a rule for
// each instance, whose layers are numbers and not fields.
//
// The rules of a recipe name their tensors, so their two sides swap. A rule for the rest takes what others leave, and in the
// inverse others may take its results. [`check_return`] solves such a recipe back and refuses it unless each tensor of
// the result becomes its sources again.

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
