//! The configurations that a recipe is for: keys of `config.json`, each with the values that it may have.
//!
//! Names and shapes alone cannot tell Llama from Qwen, nor Falcon from BLOOM: their rules fit each other's tensors, and the
//! result is wrong. So a recipe names the models that it is for, and a configuration that names another is refused.
//!
//! Law: a key that the configuration does not have contradicts nothing.

use std::{collections::BTreeMap, fmt};

use serde_json::Value;

use crate::{
    config::{self, short},
    error::Error,
    kind,
    text::toml_file::{self, File},
};

/// The most values that an error lists.
const LISTED: usize = 8;

/// Keys of a configuration, each with the values that it may have.
///
/// ```
/// use serde_json::json;
/// use tilewright_recipe::{Recipe, Sizes};
/// let recipe = Recipe::parse("inverse_for = { 'general.architecture' = 'llama' }\npass = ['*']")?;
/// // What the recipe makes is of such a model.
/// let made = recipe.solve(&[], None, &Sizes::new())?;
/// assert_eq!(made.result.contradictions(&json!({"general.architecture": "qwen2"})).len(), 1);
/// # Ok::<(), tilewright_recipe::Errors>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions(BTreeMap<String, Vec<Value>>);

/// A contradiction: the value of a configuration, and the values that the recipe is for.
///
/// ```
/// use tilewright_recipe::Recipe;
/// let recipe = Recipe::parse("for = { model_type = ['llama', 'mistral'] }\n[[map]]\nfrom = 'a'\nto = 'b'")?;
/// let found = recipe.contradictions(&serde_json::json!({"model_type": "qwen2"}));
/// assert_eq!(found[0].to_string(), r#"`model_type` is "qwen2", but the recipe is for "llama" and "mistral""#);
/// assert!(recipe.contradictions(&serde_json::json!({"model_type": "llama"})).is_empty());
/// # Ok::<(), tilewright_recipe::Errors>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// The key, with dots between the keys of tables in tables.
    pub key: String,
    /// Its value in the configuration.
    pub is: Value,
    /// The values that the recipe is for.
    pub wanted: Vec<Value>,
}

/// A key of the configuration, with the values that a recipe is for.
///
/// ```
/// let guess = &tilewright_recipe::guess(&[], Some(&serde_json::json!({"model_type": "gpt2"}))).near[0];
/// assert_eq!((guess.name, guess.known[0].key.as_str()), ("gpt2-conv1d-to-linear", "model_type"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The key, with dots between the keys of tables in tables.
    pub key: String,
    /// The values.
    pub values: Vec<Value>,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.key, list(&self.values))
    }
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Contradiction { key, is, wanted } = self;
        write!(f, "`{key}` is {}, but the recipe is for {}", short(is), list(wanted))
    }
}

impl Conditions {
    /// Reads the table under `key` of a recipe.
    pub(crate) fn read(
        file: &mut File<'_>,
        key: &str,
        value: &toml_file::TomlValue<'_>,
    ) -> Conditions {
        let entries = file.free(key, value);
        let read = entries.into_iter().map(|(name, value)| {
            file.path(name, value);
            (name.to_owned(), file.scalars(name, value))
        });
        Conditions(read.collect())
    }

    /// Returns true if one of the keys begins with this text.
    ///
    /// ```
    /// use tilewright_recipe::{Recipe, Sizes};
    /// let recipe = Recipe::parse("inverse_for = { 'general.architecture' = 'llama' }\npass = ['*']")?;
    /// assert!(recipe.solve(&[], None, &Sizes::new())?.result.has_key_with("general."));
    /// # Ok::<(), tilewright_recipe::Errors>(())
    /// ```
    pub fn has_key_with(&self, prefix: &str) -> bool {
        self.0.keys().any(|key| key.starts_with(prefix))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[Value])> {
        self.0.iter().map(|(key, values)| (key.as_str(), values.as_slice()))
    }

    /// The conditions that a configuration does not meet.
    ///
    /// ```
    /// use tilewright_recipe::Assembly;
    /// assert!(Assembly::default().result.contradictions(&serde_json::json!({})).is_empty());
    /// ```
    pub fn contradictions(&self, config: &Value) -> Vec<Contradiction> {
        let one = |(key, wanted): (&str, &[Value])| {
            let is = config::value(config, key)?;
            let met = wanted.contains(is)
                || is.as_array().is_some_and(|all| all.iter().any(|one| wanted.contains(one)));
            (!met).then(|| Contradiction {
                key: key.to_owned(),
                is: is.clone(),
                wanted: wanted.to_vec(),
            })
        };
        self.iter().filter_map(one).collect()
    }

    /// Returns the conditions with the configuration's own values in place of those that it contradicts. Without one where its
    /// value is a list or a table, which no condition states.
    pub(crate) fn with_values_of(mut self, config: &Value) -> Conditions {
        for Contradiction { key, is, .. } in self.contradictions(config) {
            if is.is_array() || is.is_object() {
                self.0.remove(&key);
            } else {
                self.0.insert(key, vec![is]);
            }
        }
        self
    }

    /// The keys that a configuration has, and those that it does not have.
    pub(crate) fn split(&self, config: Option<&Value>) -> [Vec<Condition>; 2] {
        let has =
            |one: &Condition| config.and_then(|config| config::value(config, &one.key)).is_some();
        let one = |(key, values): (&str, &[Value])| Condition {
            key: key.to_owned(),
            values: values.to_vec(),
        };
        let (known, open) = self.iter().map(one).partition(has);
        [known, open]
    }
}

impl From<&Contradiction> for Error {
    fn from(found: &Contradiction) -> Error {
        Error::new(kind::CONFIG, format!("the configuration contradicts the recipe: {found}"))
    }
}

/// Values as a part of a sentence.
pub(crate) fn list(values: &[Value]) -> String {
    let mut texts: Vec<String> = values.iter().take(LISTED).map(short).collect();
    if values.len() > LISTED {
        texts.push(format!("{} others", values.len() - LISTED));
    }
    match texts.split_last() {
        None => "no value".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
    }
}
