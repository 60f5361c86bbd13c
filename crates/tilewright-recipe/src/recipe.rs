//! A recipe: rules by which the tensors of one checkpoint become those of another, as a file gives them.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_scan::did_you_mean;

use crate::{
    config::ConfigJson,
    error::{Error, Errors, Faults, InFile, TextPlace},
    kind,
    rule::{
        Reference, Rule,
        expression::Axis,
        name::{Name, NamePiece, Offset, Rename},
    },
    tensor::Glob,
    value::{
        condition::{Condition, Note, Requirement},
        models::{Conditions, Contradiction},
        quantity::{Quantity, QuantityValue},
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

// The names in sizes and conditions of a recipe. Each must be a size of the recipe, or match tensors of a rule.
//
// Otherwise the recipe is refused: a condition with a misspelled name would never be checked. A pattern of names in a
// condition is compared with the patterns of the rules. Law: two patterns meet if and only if some name is matched by both.

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

/// A letter of a pattern of names, or any number of letters.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    Letter(char),
    Any,
    /// Any letters but dots.
    Word,
    Figures,
}

/// A pattern of whole names.
#[derive(Debug)]
struct NamePattern(Vec<Token>);

impl NamePattern {
    /// The pattern of a glob, in which `*` is any text.
    fn of_glob(glob: &str) -> NamePattern {
        NamePattern(
            glob.chars().map(|c| if c == '*' { Token::Any } else { Token::Letter(c) }).collect(),
        )
    }

    /// The pattern of the names that a rule takes or makes, and the glob that shows it in messages.
    fn of_name(name: &Name) -> (String, NamePattern) {
        let (mut shown, mut tokens) = (String::new(), Vec::new());
        for piece in &name.pieces {
            match piece {
                NamePiece::Literal(text) => {
                    shown.push_str(text);
                    tokens.extend(text.chars().map(Token::Letter));
                }
                NamePiece::Text { dots, .. } => {
                    shown.push('*');
                    tokens.push(if *dots { Token::Any } else { Token::Word });
                }
                NamePiece::Number(_) => {
                    shown.push('*');
                    tokens.push(Token::Figures);
                }
            }
        }
        (shown, NamePattern(tokens))
    }

    /// The number of its tokens: letters, and texts of any length.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if some name is matched by both. The time grows with the product of their lengths.
    fn meets(&self, other: &NamePattern) -> bool {
        let (one, other) = (&self.0, &other.0);
        // row[to] is true if the first `at` tokens of the one and the first `to` of the other may be the same text.
        let mut row = vec![false; other.len() + 1];
        row[0] = true;
        for at in 0..=one.len() {
            let mut next = vec![false; other.len() + 1];
            for to in 0..=other.len() {
                if !row[to] {
                    continue;
                }
                let (a, b) = (one.get(at), other.get(to));
                if a.is_some_and(|a| a.is_any()) {
                    next[to] = true;
                }
                if b.is_some_and(|b| b.is_any()) {
                    row[to + 1] = true;
                }
                match (a, b) {
                    (Some(Token::Letter(a)), Some(Token::Letter(b))) => next[to + 1] |= a == b,
                    (Some(a), Some(Token::Letter(b))) if a.takes(*b) => row[to + 1] = true,
                    (Some(Token::Letter(a)), Some(b)) if b.takes(*a) => next[to] = true,
                    _ => {}
                }
            }
            if at == one.len() {
                return row[other.len()];
            }
            // Most pairs differ early: no place in the other is reached any more.
            if !next.contains(&true) {
                return false;
            }
            row = next;
        }
        false
    }
}

impl Token {
    /// Returns true if the token matches texts of any length with this letter.
    fn takes(self, letter: char) -> bool {
        match self {
            Token::Letter(_) => false,
            Token::Any => true,
            Token::Word => letter != '.',
            Token::Figures => letter.is_ascii_digit(),
        }
    }

    fn is_any(self) -> bool {
        !matches!(self, Token::Letter(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::matches;

    /// All texts of some letters, up to a length.
    fn texts(letters: &[char], most: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..most {
            let longer =
                |text: &String| letters.iter().map(|c| format!("{text}{c}")).collect::<Vec<_>>();
            last = last.iter().flat_map(longer).collect();
            all.extend(last.clone());
        }
        all
    }

    #[test]
    fn patterns_meet_where_a_text_is_of_both() {
        let patterns = texts(&['a', 'b', '*'], 4);
        // A text that two such patterns share may be as short as both together.
        let names = texts(&['a', 'b'], 7);
        for (one, other) in
            patterns.iter().flat_map(|one| patterns.iter().map(move |other| (one, other)))
        {
            let both = names.iter().any(|name| matches(one, name) && matches(other, name));
            assert_eq!(
                NamePattern::of_glob(one).meets(&NamePattern::of_glob(other)),
                both,
                "{one} {other}"
            );
        }
    }

    #[test]
    fn fields_take_what_they_read() {
        let name =
            |text: &str| NamePattern::of_name(&Name::within(text, (0, text.len())).unwrap()).1;
        for (text, glob, expected) in [
            ("blk.{L}.w", "blk.*.w", true),
            ("blk.{L}.w", "blk.12.w", true),
            ("blk.{L}.w", "blk.q.w", false),
            ("blk.{x:name}.w", "blk.q.w", true),
            ("blk.{x:name}.w", "blk.q.r.w", false),
            ("blk.{x:*}.w", "blk.q.r.w", true),
            ("{p:*}.self_attn.q_proj.{w:name}", "*.self_attn.q_proj.weight", true),
            ("{p:*}.self_attn.q_proj.{w:name}", "*.self_attn.qproj.weight", false),
        ] {
            assert_eq!(name(text).meets(&NamePattern::of_glob(glob)), expected, "{text} {glob}");
        }
    }
}
