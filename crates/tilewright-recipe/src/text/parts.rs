//! The keys of a recipe besides its rules: conditions, notes, sizes that people give, and `config.json`.

use std::collections::BTreeMap;

use crate::{
    config::{ConfigChange, ConfigJson},
    error::{Error, InFile},
    kind,
    text::toml_file::{File, TomlTable, TomlValue},
    value::condition::Condition,
    value::requirement::{Direction, Must, Note, Requirement},
};

const REQUIRE_KEYS: [&str; 6] = ["that", "tensor", "if", "say", "way", "allow"];
const NOTE_KEYS: [&str; 3] = ["say", "if", "way"];
const CONFIG_KEYS: [&str; 5] = ["keep", "set", "remove", "leave", "back"];
const BACK_KEYS: [&str; 4] = ["keep", "set", "remove", "leave"];

/// The entries of a list, each read by `one`; none where the key is missing.
pub(crate) fn list<T>(
    file: &mut File<'_>,
    table: &TomlTable<'_, '_>,
    key: &str,
    one: fn(&mut File<'_>, &TomlValue<'_>) -> Option<T>,
) -> Vec<T> {
    let values = table.get(key).map(|value| file.values(key, value)).unwrap_or_default();
    values.into_iter().filter_map(|value| one(file, value)).collect()
}

/// A condition as a text, or a table with more fields.
pub(crate) fn requirement(file: &mut File<'_>, value: &TomlValue<'_>) -> Option<Requirement> {
    let what = "a condition as a text, or a table with `that` or `tensor`";
    if value.get_ref().as_str().is_some() {
        let that = condition(file, "require", value)?;
        let (way, must) = (Direction::Both, Must::That(that));
        return Some(Requirement { way, allow: None, when: None, must, say: None });
    }
    let table = file.inner("require", value, (what, &REQUIRE_KEYS))?;
    let tensor = text(file, &table, "tensor");
    let that = table.get("that").map(|value| condition(file, "that", value));
    let (must, way) = match (that, tensor) {
        (Some(that), None) => (Must::That(that?), Direction::Both),
        // The names of the result are those of one direction.
        (None, Some(tensor)) => (Must::Tensor(tensor), Direction::Forth),
        _ => {
            let says = "an entry of `require` has `that`, a condition, or `tensor`, which the result must have";
            file.faults.push(Error::new(kind::KEY, says).on(&table.place));
            return None;
        }
    };
    let (when, way) = (when(file, &table)?, direction(file, &table, way)?);
    let (allow, say) = (text(file, &table, "allow"), text(file, &table, "say"));
    Some(Requirement { way, allow, when, must, say })
}

/// A sentence, or a table with a condition.
pub(crate) fn note(file: &mut File<'_>, value: &TomlValue<'_>) -> Option<Note> {
    if let Some(say) = value.get_ref().as_str() {
        return Some(Note { way: Direction::Forth, when: None, say: say.to_owned() });
    }
    let what = "a sentence, or a table with `say`";
    let table = file.inner("note", value, (what, &NOTE_KEYS))?;
    let (when, way) = (when(file, &table)?, direction(file, &table, Direction::Forth)?);
    let say = text(file, &table, "say");
    if say.is_none() {
        let says = "the note lacks `say`";
        file.faults.push(Error::new(kind::KEY, says).on(&table.place));
    }
    Some(Note { way, when, say: say? })
}

/// Reads the sizes that people give, with their descriptions.
pub(crate) fn give(file: &mut File<'_>, value: &TomlValue<'_>) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (name, value) in file.free("give", value) {
        let what = "the size, as a text";
        all.extend(file.text(name, value, what).map(|(text, _)| (name.to_owned(), text)));
    }
    all
}

/// Reads the changes to `config.json`, and those of the inverse.
pub(crate) fn configs(file: &mut File<'_>, value: &TomlValue<'_>) -> (ConfigJson, ConfigJson) {
    let what = ("a table", &CONFIG_KEYS[..]);
    let Some(table) = file.inner("config", value, what) else { return Default::default() };
    let back = table.get("back").and_then(|value| {
        let table = file.inner("back", value, ("a table", &BACK_KEYS))?;
        config(file, &table)
    });
    (config(file, &table).unwrap_or_default(), back.unwrap_or_default())
}

fn config(file: &mut File<'_>, table: &TomlTable<'_, '_>) -> Option<ConfigJson> {
    let keep = table.get("keep").is_some_and(|value| file.truth("keep", value));
    let leave = text(file, table, "leave");
    let set = table.get("set").map(|value| object(file, value));
    let remove: Vec<String> = table
        .get("remove")
        .map(|value| file.texts("remove", value))
        .unwrap_or_default()
        .into_iter()
        .map(|(text, _)| text)
        .collect();
    for path in &remove {
        table.get("remove").into_iter().for_each(|value| file.path(path, value));
    }
    let changes = set.is_some() || !remove.is_empty();
    match (keep, changes, leave) {
        (false, false, None) => Some(ConfigJson::Unsaid),
        (true, false, None) => Some(ConfigJson::Keep),
        (false, true, None) => {
            let change = ConfigChange { set: set.unwrap_or(Some(Default::default()))?, remove };
            Some(ConfigJson::Change(change))
        }
        (false, false, Some(why)) => Some(ConfigJson::Leave(why)),
        _ => {
            let says = "`config` has `keep`, or `set` and `remove`, or `leave`";
            file.faults.push(Error::new(kind::KEY, says).on(&table.place));
            None
        }
    }
}

/// A JSON object as a text.
fn object(
    file: &mut File<'_>,
    value: &TomlValue<'_>,
) -> Option<serde_json::Map<String, serde_json::Value>> {
    let what = "a JSON object as a text, as in '{\"model_type\": \"llama\"}'";
    let (text, place) = file.text("set", value, what)?;
    match serde_json::from_str(&text) {
        Ok(serde_json::Value::Object(object)) => {
            object.keys().for_each(|path| file.path(path, value));
            Some(object)
        }
        _ => {
            let says = format!("`set` is {what}");
            file.faults.push(Error::new(kind::KEY, says).on(&place));
            None
        }
    }
}

fn text(file: &mut File<'_>, table: &TomlTable<'_, '_>, key: &str) -> Option<String> {
    Some(file.text(key, table.get(key)?, "a text")?.0)
}

fn condition(file: &mut File<'_>, key: &str, value: &TomlValue<'_>) -> Option<Condition> {
    let (text, place) = file.text(key, value, "a condition as a text")?;
    file.faults.take(Condition::parse(&text, &place))
}

/// The condition under `if`; the outer one is none where it cannot be read.
fn when(file: &mut File<'_>, table: &TomlTable<'_, '_>) -> Option<Option<Condition>> {
    match table.get("if") {
        None => Some(None),
        Some(value) => condition(file, "if", value).map(Some),
    }
}

fn direction(
    file: &mut File<'_>,
    table: &TomlTable<'_, '_>,
    without: Direction,
) -> Option<Direction> {
    let Some(value) = table.get("way") else { return Some(without) };
    let (text, place) = file.text("way", value, "`forth`, `back` or `both`")?;
    let way = Direction::spelled(&text);
    if way.is_none() {
        let says = format!("`way` is `forth`, `back` or `both`, and not `{text}`");
        file.faults.push(Error::new(kind::KEY, says).on(&place));
    }
    way
}
