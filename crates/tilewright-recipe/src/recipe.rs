//! A recipe: rules by which the tensors of one checkpoint become those of another, as a file gives them.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_scan::did_you_mean;

use crate::{
    config::ConfigJson,
    error::{Error, Errors},
    kind,
    rule::{Rule, name::Rename},
    value::{
        condition::{Condition, Note, Requirement},
        models::{Conditions, Contradiction},
        quantity::Quantity,
    },
};

/// Rules by which the tensors of one checkpoint become those of another.
///
/// A recipe is a TOML file: `[[map]]` tables with `from` and `to`, and the entries that hold for all of them. It prints itself
/// as a table, and [`inverse`](Recipe::inverse) is the way back.
///
/// ```
/// use tilewright_recipe::Recipe;
/// let recipe = Recipe::parse(
///     r#"
/// pass = ["*norm*"]
/// [[map]]
/// from = ["experts.{e}.w1.weight : i h", "experts.{e}.w3.weight : i' h"]
/// to = "experts.gate_up_proj : e (i + i') h"
/// "#,
/// )?;
/// assert_eq!(recipe.inverse().inverse(), recipe);
/// // Every fault is told, each with its line.
/// let errors = Recipe::parse("passs = []\n[[map]]\nfrom = 'a : i h'\nto = 'b : e i h'").unwrap_err();
/// assert_eq!(
///     errors.to_string(),
///     "line 1: no key `passs`; did you mean `pass`?\n\
///      line 2: the destination's term `e·h·i` has no source; the source's term `h·i` has no destination"
/// );
/// # Ok::<(), tilewright_recipe::Errors>(())
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipe {
    pub(crate) title: Option<String>,
    pub(crate) source: Option<String>,
    /// The configurations that it is for.
    pub(crate) serves: Conditions,
    /// Those of its result, which the inverse is for, where these are others.
    pub(crate) inverse_serves: Option<Conditions>,
    pub(crate) require: Vec<Requirement>,
    pub(crate) note: Vec<Note>,
    /// Sizes that a person gives where they do not follow, with descriptions.
    pub(crate) give: BTreeMap<String, String>,
    /// The changes to `config.json`, and those of the inverse.
    pub(crate) config: ConfigJson,
    pub(crate) config_back: ConfigJson,
    pub(crate) pass: Vec<String>,
    pub(crate) drop: Vec<String>,
    /// The tensors that the recipe which this one undoes has dropped.
    pub(crate) lost: Vec<String>,
    /// Second names that tensors of the result get.
    pub(crate) tie: Vec<[String; 2]>,
    /// Second names that go.
    pub(crate) untie: Vec<[String; 2]>,
    /// Axes of one size in the whole recipe.
    pub(crate) same: BTreeSet<String>,
    /// Axes that number instances from 0 without a hole, and that all rules have all of.
    pub(crate) every: BTreeSet<String>,
    pub(crate) sizes: BTreeMap<String, Quantity>,
    /// By the name of a padding axis without `~`: what it fills up, to which multiple.
    pub(crate) pad_to: BTreeMap<String, (String, Quantity)>,
    /// Changes of names, in their order.
    pub(crate) renames: Vec<Rename>,
    pub(crate) rules: Vec<Rule>,
    /// True if the caller allows that rules round.
    pub(crate) rounding: bool,
}

/// The name under which a caller allows that rules round.
pub(crate) const ROUND: &str = "round";

impl Recipe {
    /// All its sizes.
    pub(crate) fn quantities(&self) -> impl Iterator<Item = &Quantity> {
        let of_rules = self.rules.iter().flat_map(|rule| rule.sizes.values());
        let pads = self.pad_to.values().map(|(_, multiple)| multiple);
        self.sizes.values().chain(of_rules).chain(pads)
    }

    /// All its conditions: those of requirements and those of notes.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &Condition> {
        let required = self.require.iter().flat_map(Requirement::conditions);
        required.chain(self.note.iter().filter_map(|note| note.when.as_ref()))
    }

    /// The recipe that undoes this one: the two sides of every rule swapped. Dropped tensors do not come back.
    ///
    /// ```
    /// use tilewright_recipe::Recipe;
    /// let recipe = Recipe::parse("drop = ['rope.freqs']\n[[map]]\nfrom = 'w : i o'\nto = 'v : o i'")?;
    /// let back = recipe.inverse();
    /// assert!(back.to_string().contains("v : o i  ->  w : i o"));
    /// assert_eq!(back.lost().collect::<Vec<_>>(), ["rope.freqs"]);
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn inverse(&self) -> Recipe {
        Recipe {
            serves: self.inverse_serves.as_ref().unwrap_or(&self.serves).clone(),
            inverse_serves: self.inverse_serves.as_ref().map(|_| self.serves.clone()),
            drop: self.lost.clone(),
            lost: self.drop.clone(),
            tie: self.untie.clone(),
            untie: self.tie.clone(),
            renames: self.renames.iter().rev().map(Rename::inverse).collect(),
            rules: self.rules.iter().map(Rule::inverse).collect(),
            require: self.require.iter().map(Requirement::inverse).collect(),
            note: self.note.iter().map(Note::inverse).collect(),
            config: self.config_back.clone(),
            config_back: self.config.clone(),
            ..self.clone()
        }
    }

    /// Returns the values of a configuration that contradict this recipe. A key that it lacks is not a contradiction.
    ///
    /// ```
    /// use serde_json::json;
    /// use tilewright_recipe::Recipe;
    /// let recipe = Recipe::parse("for = { multi_query = true }\n[[map]]\nfrom = 'a'\nto = 'b'")?;
    /// assert_eq!(recipe.contradictions(&json!({"multi_query": false})).len(), 1);
    /// assert!(recipe.contradictions(&json!({"n_head": 4})).is_empty());
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn contradictions(&self, config: &serde_json::Value) -> Vec<Contradiction> {
        self.serves.contradictions(config)
    }

    /// Removes the conditions on the model, so that the recipe serves any configuration.
    ///
    /// ```
    /// use serde_json::json;
    /// use tilewright_recipe::Recipe;
    /// let recipe = Recipe::parse("for = { model_type = 'llama' }\n[[map]]\nfrom = 'a'\nto = 'b'")?;
    /// assert!(recipe.for_any_config().contradictions(&json!({"model_type": "yi"})).is_empty());
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn for_any_config(self) -> Recipe {
        Recipe { serves: Conditions::default(), inverse_serves: None, ..self }
    }

    /// Removes the conditions of these names, for a person who knows better. A condition has a name where its
    /// error offers one.
    ///
    /// # Errors
    /// A name that no condition has.
    ///
    /// ```
    /// use tilewright_recipe::{Recipe, Sizes};
    /// let recipe = Recipe::parse("require = [{ that = '1 == 2', allow = 'odd' }]")?;
    /// let errors = recipe.solve(&[], None, &Sizes::new()).unwrap_err();
    /// assert!(errors.to_string().ends_with("to convert anyway, allow `odd`"));
    /// assert!(recipe.allowing(["odd"])?.solve(&[], None, &Sizes::new()).is_ok());
    /// assert!(recipe.allowing(["even"]).is_err());
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn allowing<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<Recipe, Errors> {
        let mut recipe = self.clone();
        for name in names {
            let is_it = |one: &Requirement| one.allow.as_deref() == Some(name);
            if name == ROUND && self.rules.iter().any(|rule| rule.round) {
                recipe.rounding = true;
                continue;
            }
            if !self.require.iter().any(is_it) {
                let all = self.require.iter().filter_map(|one| one.allow.as_deref()).chain([ROUND]);
                let near = did_you_mean(name, all);
                let says = format!("no condition of the recipe is called `{name}`{near}");
                return Err(Error::new(kind::REQUIRE, says).into());
            }
            recipe.require.retain(|one| !is_it(one));
        }
        Ok(recipe)
    }

    /// Allows that rules with `round = true` round f32 to bf16.
    ///
    /// ```
    /// use tilewright_core::Dtype;
    /// use tilewright_recipe::{Recipe, Sizes, Tensor};
    /// let text = "[[map]]\nfrom = 'bias'\nto = 'bias'\nfrom_dtype = 'f32'\ndtype = 'bf16'\nround = true";
    /// let (recipe, bias) = (Recipe::parse(text)?, [Tensor::new("bias", Dtype::F32, [4])]);
    /// let refused = recipe.solve(&bias, None, &Sizes::new()).unwrap_err();
    /// assert!(refused.to_string().ends_with("to convert anyway, allow `round`"));
    /// let rounded = recipe.rounding().solve(&bias, None, &Sizes::new())?;
    /// assert_eq!(rounded.made[0].dtype, Dtype::Bf16);
    /// assert_eq!(rounded.notes, ["\"bias\" is rounded from f32 to bf16"]);
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn rounding(self) -> Recipe {
        Recipe { rounding: true, ..self }
    }

    /// The number of rules.
    ///
    /// ```
    /// use tilewright_recipe::Recipe;
    /// assert_eq!(Recipe::parse("[[map]]\nfrom = 'a'\nto = 'b'")?.rules(), 1);
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn rules(&self) -> usize {
        self.rules.len()
    }

    /// The layouts that rules name, of results and of sources.
    ///
    /// ```
    /// use tilewright_recipe::Recipe;
    /// let recipe = Recipe::parse("[[map]]\nfrom = 'a : x y'\nto = 'b : y x'\nlayout = 'zN'")?;
    /// assert!(recipe.layouts().eq(["zN"]));
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn layouts(&self) -> impl Iterator<Item = &str> {
        let sides = self.rules.iter().flat_map(|rule| [&rule.from, &rule.to]);
        sides.flat_map(|side| side.layout.iter().map(String::as_str))
    }

    /// The title that the file gives the recipe.
    ///
    /// ```
    /// use tilewright_recipe::Recipe;
    /// assert_eq!(Recipe::parse("title = 'GPT-2'")?.title(), Some("GPT-2"));
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The source of the recipe's facts, as the file states it.
    ///
    /// ```
    /// use tilewright_recipe::Recipe;
    /// assert_eq!(Recipe::parse("title = 'GPT-2'")?.source(), None);
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// The names that this recipe cannot bring back, for the recipe that it undoes has dropped them.
    ///
    /// ```
    /// use tilewright_recipe::Recipe;
    /// let recipe = Recipe::parse("drop = ['*.inv_freq']")?;
    /// assert_eq!((recipe.lost().count(), recipe.inverse().lost().count()), (0, 1));
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn lost(&self) -> impl Iterator<Item = &str> {
        self.lost.iter().map(String::as_str)
    }
}
