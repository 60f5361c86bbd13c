//! A value of a configuration by its path: keys with dots between them, as in `text_config.num_experts` or `experts.0`.
//!
//! Law: a key that has the dots itself, as those of GGUF files do, comes before the path through tables and lists. Null counts
//! as absent.

use serde_json::Value;

use crate::{error::Error, kind};

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
    use super::*;

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
