//! `config.json`, the file next to the weights that tells a library how to load them: its values by path, and changes to it.
//!
//! A path has dots between keys, as in `text_config.num_experts` or `experts.0`. Law: a key that has the dots itself, as those
//! of GGUF files do, comes before the path through tables and lists. Null counts as absent.

use serde_json::{Map, Value};

use crate::{error::Error, kind};

/// The changes that make the `config.json` of a result from that of its source.
///
/// ```
/// use tilewright_recipe::{ConfigJson, Recipe, Sizes};
/// let recipe = Recipe::parse("[config]\nset = '{\"model_type\": \"llama\"}'\nremove = ['auto_map']")?;
/// let config = serde_json::json!({"model_type": "phi3", "auto_map": {}});
/// let assembly = recipe.solve(&[], Some(&config), &Sizes::new())?;
/// let ConfigJson::Change(change) = &assembly.config else { panic!() };
/// assert_eq!(change.set["model_type"], "llama");
/// assert_eq!(change.remove, ["auto_map"]);
/// // The inverse recipe records the old values of the keys.
/// let back = Recipe::parse(&assembly.metadata[0].1)?;
/// let ConfigJson::Change(change) = back.solve(&[], None, &Sizes::new())?.config else { panic!() };
/// assert_eq!(change.set, *config.as_object().unwrap());
/// # Ok::<(), tilewright_recipe::Errors>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum ConfigJson {
    /// The recipe does not mention it: it is copied, and whether it describes the result is not known.
    #[default]
    Unsaid,
    /// It describes the result as it is.
    Keep,
    /// It describes the result with these changes.
    Change(ConfigChange),
    /// It does not describe the result and is not copied: the reason, as a clause.
    Leave(String),
}

/// Keys of a `config.json` that change. A key with dots, such as `text_config.model_type`, is a path into tables.
///
/// ```
/// let change = tilewright_recipe::ConfigChange::default();
/// assert!(change.set.is_empty() && change.remove.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConfigChange {
    /// New values by key.
    pub set: Map<String, Value>,
    /// Keys that go.
    pub remove: Vec<String>,
}

impl ConfigChange {
    /// Returns a configuration with this change. Objects on the path of a new value are made if they are missing.
    pub(crate) fn applied(&self, config: &Value) -> Value {
        let mut config = config.clone();
        for key in &self.remove {
            let (path, last) =
                key.rsplit_once('.').map_or((None, key.as_str()), |(p, k)| (Some(p), k));
            let mut path = path.into_iter().flat_map(|path| path.split('.'));
            let table = path.try_fold(&mut config, |at, key| at.get_mut(key));
            if let Some(table) = table.and_then(Value::as_object_mut) {
                table.shift_remove(last);
            }
        }
        for (key, value) in &self.set {
            let at = key.split('.').fold(&mut config, |at, key| {
                if !at.is_object() {
                    *at = Value::Object(Map::new());
                }
                &mut at[key]
            });
            *at = value.clone();
        }
        config
    }

    /// The change that undoes this one on a configuration. Tables that a new value makes go with it.
    pub(crate) fn undone(&self, config: &Value) -> ConfigChange {
        let mut back = ConfigChange::default();
        for key in self.set.keys().chain(&self.remove) {
            match known(config, key) {
                (path, Some(value)) if path == key || self.set.contains_key(key) => {
                    back.set.insert(path.to_owned(), value.clone());
                }
                (path, None) if self.set.contains_key(key) => {
                    let path = path.to_owned();
                    if !back.remove.contains(&path) {
                        back.remove.push(path);
                    }
                }
                _ => {}
            }
        }
        back
    }
}

/// Returns the value at a path; or the shortest part of the path without a value, or with a value other than a table.
fn known<'k, 'c>(config: &'c Value, key: &'k str) -> (&'k str, Option<&'c Value>) {
    let ends = key.match_indices('.').map(|(at, _)| at).chain([key.len()]);
    let mut found = (key, Some(config));
    let mut begin = 0;
    for end in ends {
        let own = key.get(begin..end).unwrap_or_default();
        found = (key.get(..end).unwrap_or(key), found.1.and_then(|table| table.get(own)));
        if !found.1.is_some_and(Value::is_object) {
            break;
        }
        begin = end + 1;
    }
    found
}

/// Returns the value of a configuration at a path: keys with dots between them, and places in lists. A key that has the
/// dots itself comes first, and null counts as absent.
///
/// ```
/// let config = serde_json::json!({"text_config": {"layers": [8, 4]}, "eps": null});
/// assert_eq!(tilewright_recipe::config_value(&config, "text_config.layers.1").unwrap(), 4);
/// assert!(tilewright_recipe::config_value(&config, "eps").is_none());
/// ```
pub fn value<'a>(config: &'a Value, path: &str) -> Option<&'a Value> {
    let through = || {
        path.split('.').try_fold(config, |at, key| match at.as_array() {
            Some(list) => list.get(key.parse::<usize>().ok()?),
            None => at.get(key),
        })
    };
    config.get(path).or_else(through).filter(|value| !value.is_null())
}

/// Refuses a path with an empty key.
pub(crate) fn check(path: &str) -> Result<(), Error> {
    match path.split('.').any(str::is_empty) {
        false => Ok(()),
        true => {
            let says =
                format!("`{path}` has an empty key; the keys of a path have one dot between them");
            Err(Error::new(kind::KEY, says))
        }
    }
}

/// A value for a message, cut where it is long.
pub(crate) fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A change and its inverse leave a configuration as it was, whatever tables the change makes or replaces.
    #[test]
    fn an_undone_change_leaves_no_tables() {
        let configs = [
            json!({}),
            json!({"k": {}}),
            json!({"k": {"a": 1}}),
            json!({"k": 3, "z": {"b": null}}),
            json!({"k": {"a": {"b": [1]}}, "z": 2}),
        ];
        let keys = ["k", "k.a", "k.a.b", "k.b", "z", "z.b"];
        for config in &configs {
            for (set, also) in keys.iter().flat_map(|set| keys.map(|also| (*set, also))) {
                let apart = |a: &str, b: &str| !format!("{a}.").starts_with(&format!("{b}."));
                for removes in [false, true] {
                    let mut change = ConfigChange::default();
                    change.set.insert(set.to_owned(), json!(7));
                    if apart(set, also) && apart(also, set) {
                        match removes {
                            true => change.remove.push(also.to_owned()),
                            false => _ = change.set.insert(also.to_owned(), json!("x")),
                        }
                    }
                    let made = change.applied(config);
                    let back = change.undone(config).applied(&made);
                    assert_eq!(back, *config, "{change:?} of {config}");
                }
            }
        }
    }

    #[test]
    fn paths_lead_through_tables_and_lists_and_whole_keys_come_first() {
        let config =
            serde_json::json!({"a": {"b": [7, {"c": 8}], "n": null}, "a.n": 9, "d.e": null});
        for (path, expected) in [
            ("a.b.0", Some(7)),
            ("a.b.1.c", Some(8)),
            ("a.b.2", None),
            ("a.b.c", None),
            ("a.n", Some(9)),
            ("d.e", None),
            ("d", None),
        ] {
            assert_eq!(value(&config, path).and_then(Value::as_u64), expected, "{path}");
        }
    }

    #[test]
    fn empty_keys_are_refused() {
        for (path, is_path) in [
            ("a", true),
            ("a.b.0", true),
            ("", false),
            ("a..b", false),
            (".a", false),
            ("a.", false),
        ] {
            assert_eq!(check(path).is_ok(), is_path, "{path:?}");
        }
    }
}
