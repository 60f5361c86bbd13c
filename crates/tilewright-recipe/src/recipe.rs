//! A recipe: rules by which the tensors of one checkpoint become those of another, as a file says them.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_core::{Dtype, Fill};
use tilewright_scan::did_you_mean;

use crate::{
    config::ConfigJson,
    error::{Error, Errors, Kind, Place},
    rule::reference::Reference,
    rule::{Rule, Side},
    text::parts::{configs, give, list, note, requirement},
    text::toml_file::{File, Table, Value},
    value::known,
    value::models::{Conditions, Contradiction},
    value::quantity::Quantity,
    value::requirement::{Note, Requirement},
};

/// The most sizes in a table.
const MOST_SIZES: usize = 1 << 12;

/// The most steps of computing sizes for all rules that have their own.
const MOST_STEPS: usize = 1 << 26;

/// The most rules of a recipe.
const MOST_RULES: usize = 1 << 16;

/// The keys of a recipe and of a rule.
const KEYS: [&str; 18] = [
    "title",
    "source",
    "for",
    "inverse_for",
    "require",
    "note",
    "pass",
    "drop",
    "lost",
    "tie",
    "untie",
    "same",
    "every",
    "give",
    "config",
    "sizes",
    "pad_to",
    "map",
];
const RULE_KEYS: [&str; 12] = [
    "from",
    "to",
    "optional",
    "some",
    "layout",
    "from_layout",
    "copies",
    "varying",
    "fill",
    "dtype",
    "from_dtype",
    "sizes",
];

/// Rules by which the tensors of one checkpoint become those of another.
///
/// A recipe is a TOML file: `[[map]]` tables with `from` and `to`, and what is said once for all of them. It prints itself
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
    /// Sizes that a person gives where they do not follow, and what they are.
    pub(crate) give: BTreeMap<String, String>,
    /// What becomes of `config.json`, and in the inverse.
    pub(crate) config: ConfigJson,
    pub(crate) config_back: ConfigJson,
    pub(crate) pass: Vec<String>,
    pub(crate) drop: Vec<String>,
    /// What the recipe that this one undoes has dropped.
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
    pub(crate) rules: Vec<Rule>,
}

impl Recipe {
    /// Reads a recipe.
    ///
    /// # Errors
    /// All faults at once: a text that is no TOML; keys and values that recipes do not have; operations that compute; names
    /// and axes that cannot be read; rules whose two sides are not the same sum of terms. A file has at most 4 MiB and
    /// 65,536 rules.
    ///
    /// ```
    /// use tilewright_recipe::{Kind, Recipe};
    /// assert!(Recipe::parse("[[map]]\nfrom = 'w : i o'\nto = 'w : o i'").is_ok());
    /// let errors = Recipe::parse("[[map]]\nfrom = 'norm'\nto = 'norm'\nop = 'w - 1'").unwrap_err();
    /// assert_eq!(errors.first().kind(), Kind::Arithmetic);
    /// assert_eq!(errors.to_string(), "line 4: `op` is refused: recipes move elements and never compute");
    /// ```
    pub fn parse(text: &str) -> Result<Recipe, Errors> {
        let (mut file, table) = File::open(text)?;
        let place = Place { line: 1, ..Place::default() };
        let table = file.table(table.get_ref(), place, &KEYS);
        let recipe = recipe(&mut file, &table);
        // A rule that cannot be read has names that are not known.
        if file.faults.is_empty() {
            known::check(&recipe, &mut file.faults);
        }
        file.faults.or(recipe)
    }

    /// The recipe that undoes this one: the two sides of every rule swapped. What is dropped does not come back.
    ///
    /// ```
    /// use tilewright_recipe::Recipe;
    /// let recipe = Recipe::parse("drop = ['rope.freqs']\n[[map]]\nfrom = 'w : i o'\nto = 'v : o i'")?;
    /// let back = recipe.inverse();
    /// assert!(back.to_string().contains("v : o i  ->  w : i o"));
    /// assert_eq!(back.lost().collect::<Vec<_>>(), ["rope.freqs"]);
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    #[must_use]
    pub fn inverse(&self) -> Recipe {
        Recipe {
            serves: self.inverse_serves.as_ref().unwrap_or(&self.serves).clone(),
            inverse_serves: self.inverse_serves.as_ref().map(|_| self.serves.clone()),
            drop: self.lost.clone(),
            lost: self.drop.clone(),
            tie: self.untie.clone(),
            untie: self.tie.clone(),
            rules: self.rules.iter().map(Rule::inverse).collect(),
            require: self.require.iter().map(Requirement::inverse).collect(),
            note: self.note.iter().map(Note::inverse).collect(),
            config: self.config_back.clone(),
            config_back: self.config.clone(),
            ..self.clone()
        }
    }

    /// What a configuration says against this recipe. A key that the configuration does not have says nothing.
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

    /// The same recipe for any configuration: of what the recipe is for, nothing is checked.
    ///
    /// ```
    /// use serde_json::json;
    /// use tilewright_recipe::Recipe;
    /// let recipe = Recipe::parse("for = { model_type = 'llama' }\n[[map]]\nfrom = 'a'\nto = 'b'")?;
    /// assert!(recipe.for_any_config().contradictions(&json!({"model_type": "yi"})).is_empty());
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    #[must_use]
    pub fn for_any_config(self) -> Recipe {
        Recipe { serves: Conditions::default(), inverse_serves: None, ..self }
    }

    /// The same recipe without the conditions of these names: a person knows better. A condition has a name where its
    /// error offers one.
    ///
    /// # Errors
    /// A name that no condition has.
    ///
    /// ```
    /// use tilewright_recipe::{Recipe, Sizes};
    /// let recipe = Recipe::parse("require = [{ that = '1 == 2', allow = 'odd' }]")?;
    /// let errors = recipe.solve(&[], None, &Sizes::new()).unwrap_err();
    /// assert!(errors.to_string().ends_with("to convert all the same, allow `odd`"));
    /// assert!(recipe.allowing(["odd"])?.solve(&[], None, &Sizes::new()).is_ok());
    /// assert!(recipe.allowing(["even"]).is_err());
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn allowing<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<Recipe, Errors> {
        let mut recipe = self.clone();
        for name in names {
            let is_it = |one: &Requirement| one.allow.as_deref() == Some(name);
            if !self.require.iter().any(is_it) {
                let all = self.require.iter().filter_map(|one| one.allow.as_deref());
                let near = did_you_mean(name, all);
                let says = format!("no condition of the recipe is called `{name}`{near}");
                return Err(Error::new(Kind::Require, says).into());
            }
            recipe.require.retain(|one| !is_it(one));
        }
        Ok(recipe)
    }

    /// How many rules it has.
    ///
    /// ```
    /// use tilewright_recipe::Recipe;
    /// assert_eq!(Recipe::parse("[[map]]\nfrom = 'a'\nto = 'b'")?.rules(), 1);
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn rules(&self) -> usize {
        self.rules.len()
    }

    /// What the file says the recipe is for.
    ///
    /// ```
    /// use tilewright_recipe::Recipe;
    /// assert_eq!(Recipe::parse("title = 'GPT-2'")?.title(), Some("GPT-2"));
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Where the file says its facts are from.
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

fn recipe(file: &mut File<'_>, table: &Table<'_, '_>) -> Recipe {
    let pairs = |file: &mut File<'_>, key: &str| {
        table.get(key).map(|value| file.pairs(key, value)).unwrap_or_default()
    };
    let line = |file: &mut File<'_>, key: &str| Some(file.text(key, table.get(key)?, "a text")?.0);
    let mut recipe = Recipe {
        title: line(file, "title"),
        source: line(file, "source"),
        serves: table
            .get("for")
            .map(|value| Conditions::read(file, "for", value))
            .unwrap_or_default(),
        inverse_serves: table
            .get("inverse_for")
            .map(|value| Conditions::read(file, "inverse_for", value)),
        require: list(file, table, "require", requirement),
        note: list(file, table, "note", note),
        give: table.get("give").map(|value| give(file, value)).unwrap_or_default(),
        config: ConfigJson::Unsaid,
        config_back: ConfigJson::Unsaid,
        pass: names(file, table, "pass"),
        drop: names(file, table, "drop"),
        lost: names(file, table, "lost"),
        tie: pairs(file, "tie"),
        untie: pairs(file, "untie"),
        same: names(file, table, "same"),
        every: names(file, table, "every"),
        sizes: table.get("sizes").map(|value| sizes(file, "sizes", value)).unwrap_or_default(),
        pad_to: table.get("pad_to").map(|value| pad_to(file, value)).unwrap_or_default(),
        rules: Vec::new(),
    };
    if let Some(value) = table.get("config") {
        (recipe.config, recipe.config_back) = configs(file, value);
    }
    let tables = table.get("map").map(|value| file.tables("map", value)).unwrap_or_default();
    if tables.len() > MOST_RULES {
        file.faults.push(Error::new(Kind::Limit, format!("more than {MOST_RULES} rules")));
        return recipe;
    }
    for (table, place) in tables {
        let table = file.table(table, place, &RULE_KEYS);
        recipe.rules.extend(rule(file, &table));
    }
    let own = recipe.rules.iter().map(|rule| rule.sizes.len()).filter(|own| *own > 0);
    let steps = own.map(|own| (recipe.sizes.len() + own).pow(2)).fold(0, usize::saturating_add);
    if steps > MOST_STEPS {
        let says =
            "more sizes of rules than are computed: each rule computes those of the recipe again";
        file.faults.push(Error::new(Kind::Limit, says));
    }
    recipe
}

/// The names under a key; none where the key is missing.
fn names<C: FromIterator<String>>(file: &mut File<'_>, table: &Table<'_, '_>, key: &str) -> C {
    let texts = table.get(key).map(|value| file.texts(key, value)).unwrap_or_default();
    texts.into_iter().map(|(text, _)| text).collect()
}

fn quantity(file: &mut File<'_>, key: &str, value: &Value<'_>) -> Option<Quantity> {
    match file.number_or_text(key, value)? {
        Ok(number) => Some(Quantity::Number(number)),
        Err((text, place)) => file.faults.take(Quantity::parse(&text, &place)),
    }
}

fn sizes(file: &mut File<'_>, key: &str, value: &Value<'_>) -> BTreeMap<String, Quantity> {
    let mut sizes = BTreeMap::new();
    let entries = file.free(key, value);
    if entries.len() > MOST_SIZES {
        file.faults.push(Error::new(Kind::Limit, format!("more than {MOST_SIZES} sizes")));
        return sizes;
    }
    for (name, value) in entries {
        sizes.extend(quantity(file, name, value).map(|quantity| (name.to_owned(), quantity)));
    }
    sizes
}

fn pad_to(file: &mut File<'_>, value: &Value<'_>) -> BTreeMap<String, (String, Quantity)> {
    let what = "an axis and the multiple that it is filled up to, as in [\"v\", 128]";
    let mut all = BTreeMap::new();
    for (name, value) in file.free("pad_to", value) {
        let Some([axis, multiple]) = file.two(name, value, what) else { continue };
        let axis = file.text(name, axis, what);
        let multiple = quantity(file, name, multiple);
        if let (Some((axis, _)), Some(multiple)) = (axis, multiple) {
            all.insert(name.trim_start_matches('~').to_owned(), (axis, multiple));
        }
    }
    all
}

fn rule(file: &mut File<'_>, table: &Table<'_, '_>) -> Option<Rule> {
    let from = side(file, table, ("from", "from_layout", "from_dtype"));
    let to = side(file, table, ("to", "layout", "dtype"));
    let rule = Rule {
        place: table.place.clone(),
        from: from?,
        to: to?,
        optional: table.get("optional").is_some_and(|value| file.truth("optional", value)),
        some: table.get("some").is_some_and(|value| file.truth("some", value)),
        copies: names(file, table, "copies"),
        varying: names(file, table, "varying"),
        fill: table.get("fill").and_then(|value| fill(file, value)).unwrap_or(Fill::Zero),
        sizes: table.get("sizes").map(|value| sizes(file, "sizes", value)).unwrap_or_default(),
    };
    let pairs = file.faults.take(rule.pairs())?;
    for fault in rule.faults(&pairs) {
        file.faults.push(fault);
    }
    Some(rule)
}

fn side(
    file: &mut File<'_>,
    table: &Table<'_, '_>,
    (key, layout, dtype): (&str, &str, &str),
) -> Option<Side> {
    let texts = table.get(key).map(|value| file.texts(key, value)).unwrap_or_default();
    if texts.is_empty() {
        let says = format!("a rule without `{key}`, which names a tensor or several");
        file.faults.push(Error::new(Kind::Key, says).on(&table.place));
    }
    let count = texts.len();
    let read = |(text, place): &(String, Place)| file.faults.take(Reference::parse(text, place));
    let references: Vec<Reference> = texts.iter().filter_map(read).collect();
    let layout = table.get(layout).map(|value| file.texts(layout, value)).unwrap_or_default();
    let dtype = table.get(dtype).and_then(|value| element_type(file, dtype, value));
    let layout = layout.into_iter().map(|(text, _)| text).collect();
    (count > 0 && references.len() == count).then_some(Side { references, layout, dtype })
}

fn element_type(file: &mut File<'_>, key: &str, value: &Value<'_>) -> Option<Dtype> {
    let (text, place) = file.text(key, value, "an element type, as \"f32\"")?;
    let dtype = Dtype::spelled(&text);
    if dtype.is_none() {
        let says =
            format!("`{text}` is not an element type; `{key}` widens bf16 and f16 exactly, to f32");
        file.faults.push(Error::new(Kind::Key, says).on(&place));
    }
    dtype
}

fn fill(file: &mut File<'_>, value: &Value<'_>) -> Option<Fill> {
    let (text, place) = match file.number_or_text("fill", value)? {
        Ok(0) => return Some(Fill::Zero),
        Ok(number) => (number.to_string(), Place { line: 0, ..Place::default() }),
        Err(text) => text,
    };
    let fill = text.parse::<Fill>().map_err(|error| {
        let error = Error::new(Kind::Key, format!("`fill`: {error}"));
        if place.line > 0 { error.on(&place) } else { error }
    });
    file.faults.take(fill)
}
